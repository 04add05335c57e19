//! Arrays for tests, and stores that fail or wait on demand.

use crate::{Array, NewArray, Options, Registry, Store};
use std::ops::ControlFlow::Continue;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use zarr_codec::CodecEntry;
use zarr_store::testing::{Delayed, Intercepted};
use zarr_store::{AsyncStore, Call, Counted, Error, Key, MemoryStore, Operation, Result};

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

/// Array of 70 x 100 numbers in chunks of 20 x 30, its store, and the faults of the store.
pub(super) fn array(codecs: &str) -> (Arc<Counted<Intercepted>>, Arc<Faults>, Array) {
    let faults = Arc::new(Faults::default());
    let counted = Arc::new(Counted::new(Arc::clone(&faults).store()));
    let store: Arc<dyn Store> = Arc::clone(&counted) as _;
    let new = NewArray::new(&[70, 100], "int32").chunks(&[20, 30]).codecs(codecs).unwrap();
    // The requests for chunks are counted, without the looks whether the array is still there.
    let new = new.options(Options::default().trust_missing(true));
    let array = Array::create(&store, "/a", new, &registry()).unwrap();
    counted.take();
    (counted, faults, array)
}

pub(super) fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

/// Faults of a store: it refuses to set some keys, and waits before it sets one key.
#[derive(Debug, Default)]
pub(super) struct Faults {
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

impl Faults {
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

    /// Store in memory with these faults.
    pub(super) fn store(self: Arc<Self>) -> Intercepted {
        let faults = Arc::clone(&self);
        let store = Intercepted::new(MemoryStore::new(), move |store, call| {
            if let Call::Set { key, .. } = &call {
                self.check(store, key)?;
            }
            Ok(Continue(call))
        });
        store.with_capabilities(move |below| below.conditional(!faults.has_no_conditions.load(SeqCst)))
    }

    fn check(&self, store: &dyn Store, key: &Key) -> Result<()> {
        let gate = self.gate.lock().unwrap().take_if(|gate| gate.key == key.as_str());
        gate.iter().for_each(|gate| gate.pass());
        match self.refused.lock().unwrap().iter().any(|refused| key.as_str().starts_with(refused.as_str())) {
            true => Err(Error::io(&store, Operation::Set, key.as_str(), std::io::Error::other("full"))),
            false => Ok(()),
        }
    }
}

/// Async store whose sets begin and do not end while it is stopped.
#[derive(Clone, Default)]
pub(super) struct Beginning {
    is_stopped: Arc<AtomicBool>,
    has_begun: Arc<AtomicBool>,
}

impl Beginning {
    /// Store in memory whose sets this stops.
    pub(super) fn store(&self) -> Arc<dyn AsyncStore> {
        let beginning = self.clone();
        Arc::new(Delayed::new(Arc::new(MemoryStore::new()), move |call| match call {
            Call::Set { .. } if beginning.is_stopped.load(SeqCst) => {
                beginning.has_begun.store(true, SeqCst);
                Box::pin(std::future::pending())
            }
            _ => Box::pin(std::future::ready(())),
        }))
    }

    pub(super) fn stop(&self) {
        self.is_stopped.store(true, SeqCst);
    }

    /// Lets sets end again; panics if no set has begun.
    pub(super) fn go_on(&self) {
        assert!(self.has_begun.load(SeqCst));
        self.is_stopped.store(false, SeqCst);
    }
}
