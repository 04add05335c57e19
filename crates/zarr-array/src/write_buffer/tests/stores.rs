//! Arrays for tests, and stores that fail or wait on demand.

use crate::{Array, NewArray, Options, Registry, Store};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use zarr_codec::CodecEntry;
use zarr_store::{
    AccessProfile, Answer, AsyncStore, Asynchronous, BoxFuture, ByteRange, Bytes, Call, Capabilities, Counted, Error,
    Fetched, GetOptions, Key, Listing, MemoryStore, Operation, Prefix, Result, SetOptions, StoreExt, Version, fallback,
    fallback_blocking,
};

pub(super) fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    let codecs = [zarr_codec_bytes::BYTES, zarr_codec_sharding::SHARDING_INDEXED, zarr_codec_zstd::ZSTD];
    let others: [CodecEntry; 3] =
        [zarr_codec_checksum::CRC32C, zarr_codec_transpose::TRANSPOSE, zarr_codec_vlen::VLEN_UTF8];
    codecs.into_iter().chain(others).for_each(|codec| registry.codecs.add(codec));
    Arc::new(registry)
}

/// Codecs of shards with compressed inner chunks of the shape `inner`.
pub(super) fn shards(inner: &str) -> String {
    format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {inner}, "codecs": [
            {{"name": "bytes", "configuration": {{"endian": "little"}}}}, {{"name": "zstd", "configuration":
            {{"level": 1, "checksum": false}}}}], "index_codecs": [{{"name": "bytes", "configuration":
            {{"endian": "little"}}}}, {{"name": "crc32c"}}], "index_location": "end"}}}}]"#
    )
}

/// Codecs of shards with inner chunks of strings, of the shape `inner`.
pub(super) fn text_shards(inner: &str) -> String {
    let bytes = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
    shards(inner).replacen(bytes, r#"{"name": "vlen-utf8"}"#, 1)
}

/// Array of 70 x 100 numbers in chunks of 20 x 30, and its store.
pub(super) fn array(codecs: &str) -> (Arc<Counted<Faulty>>, Array) {
    let counted = Arc::new(Counted::new(Faulty::default()));
    let store: Arc<dyn Store> = Arc::clone(&counted) as _;
    let new = NewArray::new(&[70, 100], "int32").chunks(&[20, 30]).codecs(codecs).unwrap();
    // The requests for chunks are counted, without the looks whether the array is still there.
    let new = new.options(Options::default().trust_missing(true));
    let array = Array::create(&store, "/a", new, &registry()).unwrap();
    counted.take();
    (counted, array)
}

pub(super) fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

/// Store that refuses to set some keys, and waits before it sets one key.
#[derive(Debug, Default)]
pub(super) struct Faulty {
    store: MemoryStore,
    refused: Mutex<Vec<String>>,
    gate: Mutex<Option<Arc<Gate>>>,
    has_no_conditions: AtomicBool,
}

/// Gate that holds the set of one key.
#[derive(Debug)]
struct Gate {
    key: String,
    /// Whether the set has begun, and whether it may continue.
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

/// Set that is held at the gate. It continues when this is dropped.
#[derive(Debug)]
pub(super) struct Stopped(Arc<Gate>);

impl Stopped {
    /// Waits until the set has begun.
    pub(super) fn reached(&self) {
        let Gate { state, changed, .. } = &*self.0;
        drop(changed.wait_while(state.lock().unwrap(), |(reached, _)| !*reached).unwrap());
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.state.lock().unwrap().1 = true;
        self.0.changed.notify_all();
    }
}

impl Gate {
    fn pass(&self) {
        self.state.lock().unwrap().0 = true;
        self.changed.notify_all();
        drop(self.changed.wait_while(self.state.lock().unwrap(), |(_, is_open)| !*is_open).unwrap());
    }
}

impl Faulty {
    /// Refuses sets of keys that begin with one of `keys`, in place of those refused before.
    pub(super) fn refuse(&self, keys: &[&str]) {
        *self.refused.lock().unwrap() = keys.iter().map(|&key| key.to_owned()).collect();
    }

    /// Holds the next set of `key`.
    pub(super) fn stop_at(&self, key: &str) -> Stopped {
        let gate = Gate { key: key.to_owned(), state: Mutex::default(), changed: Condvar::new() };
        Stopped(Arc::clone(self.gate.lock().unwrap().insert(Arc::new(gate))))
    }

    pub(super) fn without_conditions(&self) {
        self.has_no_conditions.store(true, SeqCst);
    }

    pub(super) fn get_all(&self, key: &Key) -> Result<Option<Bytes>> {
        StoreExt::get_all(&self.store, key)
    }

    fn check(&self, key: &Key) -> Result<()> {
        let gate = self.gate.lock().unwrap().take_if(|gate| gate.key == key.as_str());
        gate.iter().for_each(|gate| gate.pass());
        match self.refused.lock().unwrap().iter().any(|refused| key.as_str().starts_with(refused.as_str())) {
            true => Err(Error::io(self, Operation::Set, key.as_str(), std::io::Error::other("full"))),
            false => Ok(()),
        }
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Faulty {
    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        self.check(key)?;
        self.store.set(key, value, options)
    }
}

impl Store for Faulty {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Set { key, value, options } => Answer::Set(self.set(&key, &value, &options)?),
            call @ (Call::GetMany { .. }
            | Call::SetPieces { .. }
            | Call::BeginSet { .. }
            | Call::AppendToSet { .. }
            | Call::FinishSet { .. }
            | Call::SetMany { .. }
            | Call::CreateMany { .. }
            | Call::Copy { .. }
            | Call::ExchangePrefixes { .. }
            | Call::ListSizes { .. }
            | Call::Pin { .. }
            | Call::IsInPlace) => return fallback_blocking(self, call),
            call => return self.store.call(call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities().conditional(!self.has_no_conditions.load(SeqCst))
    }

    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        self.store.parent()
    }

    fn take_warnings(&self) -> Vec<String> {
        self.store.take_warnings()
    }

    fn access_profile(&self) -> AccessProfile {
        self.store.access_profile()
    }
}

/// Async store whose sets begin and do not end while it is stopped.
#[derive(Clone, Debug, Default)]
pub(super) struct Beginning {
    store: Arc<MemoryStore>,
    is_stopped: Arc<AtomicBool>,
    began: Arc<Mutex<Vec<Key>>>,
}

impl Beginning {
    pub(super) fn stop(&self) {
        self.is_stopped.store(true, SeqCst);
    }

    /// Lets sets end again; panics if no set has begun.
    pub(super) fn go_on(&self) {
        let began: MutexGuard<'_, Vec<Key>> = self.began.lock().unwrap();
        assert!(!began.is_empty());
        self.is_stopped.store(false, SeqCst);
    }
}

impl fmt::Display for Beginning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Beginning {
    async fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        self.store.get(key, ranges, options)
    }

    async fn set(&self, key: &Key, value: Bytes, options: &SetOptions) -> Result<Option<Version>> {
        if self.is_stopped.load(SeqCst) {
            self.began.lock().unwrap().push(key.clone());
            std::future::pending::<()>().await;
        }
        self.store.set(key, &value, options)
    }

    async fn erase(&self, key: &Key) -> Result<()> {
        self.store.erase(key)
    }

    async fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        self.store.list_dir(prefix)
    }
}

impl AsyncStore for Beginning {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            Ok(match call {
                Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options).await?),
                Call::Set { key, value, options } => Answer::Set(self.set(&key, value.into_bytes(), &options).await?),
                Call::Erase { key } => self.erase(&key).await?.into(),
                Call::ListDir { prefix } => Answer::Listing(self.list_dir(&prefix).await?),
                call => return fallback(Asynchronous(self), call).await,
            })
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.store.access_profile()
    }
}
