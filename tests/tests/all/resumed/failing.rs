//! A store that fails for good after some calls, and lists what was set.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use zarr::Store;
use zarr::store::{Answer, Call, Key, Prefix, StoreExt, Version, fallback_blocking};
use zarr_store::{
    AccessProfile, ByteRange, Capabilities, Error, Fetched, GetOptions, Listing, Lock, Operation, Result, SetOptions,
};

/// All keys and values.
pub(crate) type Contents = BTreeMap<String, Vec<u8>>;

pub(crate) fn contents(store: &Arc<dyn Store>) -> Contents {
    let keys = store.list_prefix(&Prefix::root()).unwrap();
    keys.iter().map(|key| (key.to_string(), store.get_all(key).unwrap().unwrap().to_vec())).collect()
}

/// A store in which `left` calls succeed, and none after that.
#[derive(Clone, Debug)]
pub(crate) struct Failing {
    store: Arc<dyn Store>,
    left: Arc<AtomicU64>,
    sets: Arc<Mutex<Vec<String>>>,
    /// Gets of a key that fail, whatever is left.
    broken: Option<String>,
    /// The capabilities that the store says that it has, of all that it has.
    limit: fn(Capabilities) -> Capabilities,
}

impl Failing {
    pub(crate) fn steps(left: u64) -> Arc<AtomicU64> {
        Arc::new(AtomicU64::new(left))
    }

    pub(crate) fn sharing(store: &Arc<dyn Store>, steps: &Arc<AtomicU64>) -> Self {
        Self { store: Arc::clone(store), left: Arc::clone(steps), sets: Arc::default(), broken: None, limit: |all| all }
    }

    pub(crate) fn after(store: &Arc<dyn Store>, left: u64) -> Self {
        Self::sharing(store, &Self::steps(left))
    }

    pub(crate) fn never(store: &Arc<dyn Store>) -> Self {
        Self::after(store, u64::MAX)
    }

    /// A store of which one value cannot be read.
    pub(crate) fn at_key(store: &Arc<dyn Store>, key: &str) -> Self {
        Self { broken: Some(key.to_owned()), ..Self::never(store) }
    }

    /// The store with fewer capabilities.
    pub(crate) fn limited(self, limit: fn(Capabilities) -> Capabilities) -> Self {
        Self { limit, ..self }
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.clone())
    }

    /// The keys that were set, in this order.
    pub(crate) fn sets(&self) -> Vec<String> {
        self.sets.lock().unwrap().clone()
    }

    /// The keys that were set before a key with this name was set last.
    pub(crate) fn sets_before_the_last(&self, name: &str) -> Vec<String> {
        let mut sets = self.sets();
        let last = sets.iter().rposition(|key| key.contains(name)).unwrap_or(0);
        sets.truncate(last);
        sets
    }

    fn call(&self, operation: Operation, key: &str) -> Result<()> {
        match self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)) {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::io(self, operation, key, std::io::Error::other("stopped"))),
        }
    }
}

impl fmt::Display for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Failing {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        self.call(Operation::Get, key.as_str())?;
        if self.broken.as_deref() == Some(key.as_str()) && !ranges.is_empty() {
            return Err(Error::io(self, Operation::Get, key.as_str(), std::io::Error::other("a bad sector")));
        }
        self.store.get(key, ranges, options)
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        self.call(Operation::Set, key.as_str())?;
        let version = self.store.set(key, value, options)?;
        self.sets.lock().unwrap().push(key.to_string());
        Ok(version)
    }

    fn erase(&self, key: &Key) -> Result<()> {
        self.call(Operation::Erase, key.as_str())?;
        self.store.erase(key)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        self.call(Operation::List, prefix.as_str())?;
        self.store.list_dir(prefix)
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        self.call(Operation::List, prefix.as_str())?;
        self.store.list_prefix(prefix)
    }

    fn try_lock(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        self.call(Operation::Lock, prefix.as_str())?;
        self.store.try_lock(prefix)
    }

    fn flush(&self) -> Result<()> {
        self.call(Operation::Flush, "/")?;
        self.store.flush()
    }
}

impl Store for Failing {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options)?),
            Call::Set { key, value, options } => Answer::Set(self.set(&key, &value, &options)?),
            Call::Erase { key } => self.erase(&key)?.into(),
            Call::ListDir { prefix } => Answer::Listing(self.list_dir(&prefix)?),
            Call::ListPrefix { prefix } => Answer::Keys(self.list_prefix(&prefix)?),
            Call::Lock { prefix } => Answer::Locked(self.try_lock(&prefix)?),
            Call::Flush => self.flush()?.into(),
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        (self.limit)(self.store.capabilities().erases_at_once(false))
    }

    fn access_profile(&self) -> AccessProfile {
        self.store.access_profile()
    }
}
