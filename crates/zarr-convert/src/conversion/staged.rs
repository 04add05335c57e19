//! A store in which a node is written elsewhere than at its path, until it replaces the node there.

use std::fmt;
use std::sync::Arc;
use zarr_store::{
    AsyncStore, ByteRange, Bytes, Copied, CopySource, Error, Fetched, GetInto, GetOptions, Key, Listing, Prefix,
    Result, SetOptions, SetStream, Store, Version,
};

/// Another store, in which all keys under one prefix lie under another one. Other keys are as they are there.
#[derive(Debug)]
pub(super) struct Staged {
    store: Arc<dyn Store>,
    /// The prefix of the node.
    path: Prefix,
    /// Where it is written.
    stage: Prefix,
}

impl Staged {
    pub(super) fn new(store: &Arc<dyn Store>, path: Prefix, stage: Prefix) -> Self {
        Self { store: Arc::clone(store), path, stage }
    }

    fn down(&self, key: &Key) -> Result<Key> {
        match self.path.strip(key) {
            Some(rest) => self.stage.join(rest),
            None => Ok(key.clone()),
        }
    }

    fn down_prefix(&self, prefix: &Prefix) -> Result<Prefix> {
        match prefix.as_str().strip_prefix(self.path.as_str()) {
            Some(rest) => Prefix::new(&format!("{}{rest}", self.stage)),
            None => Ok(prefix.clone()),
        }
    }

    /// Replaces the key in an error by the caller's key.
    fn lift(&self, mut error: Error) -> Error {
        if let Error::Range { key, .. } | Error::Precondition { key, .. } = &mut error
            && let Some(Ok(known)) = self.stage.strip(key).map(|rest| self.path.join(rest))
        {
            *key = known;
        }
        error
    }

    /// The name of what lies under a prefix below the stage.
    fn up<'t>(&self, prefix: &Prefix, found: &'t str) -> std::borrow::Cow<'t, str> {
        let is_staged = prefix.as_str().starts_with(self.path.as_str());
        match found.strip_prefix(self.stage.as_str()).filter(|_| is_staged) {
            Some(rest) => format!("{}{rest}", self.path).into(),
            None => found.into(),
        }
    }
}

impl fmt::Display for Staged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[deny(clippy::missing_trait_methods)]
impl Store for Staged {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        self.store.get(&self.down(key)?, ranges, options).map_err(|error| self.lift(error))
    }

    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<GetInto> {
        self.store.get_into(&self.down(key)?, into).map_err(|error| self.lift(error))
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        self.store.set(&self.down(key)?, value, options).map_err(|error| self.lift(error))
    }

    fn set_pieces(&self, key: &Key, pieces: &[&[u8]], options: &SetOptions) -> Result<Option<Version>> {
        self.store.set_pieces(&self.down(key)?, pieces, options).map_err(|error| self.lift(error))
    }

    fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        let keys = values.iter().map(|(key, _)| self.down(key)).collect::<Result<Vec<_>>>()?;
        let values: Vec<_> = keys.iter().zip(values).map(|(key, (_, value))| (key, *value)).collect();
        self.store.set_many(&values).map_err(|error| self.lift(error))
    }

    fn begin_set(&self, key: &Key, head: u64, options: &SetOptions) -> Result<SetStream> {
        self.store.begin_set(&self.down(key)?, head, options).map_err(|error| self.lift(error))
    }

    fn append_to_set(&self, key: &Key, stream: &SetStream, pieces: Vec<Bytes>) -> Result<()> {
        self.store.append_to_set(&self.down(key)?, stream, pieces).map_err(|error| self.lift(error))
    }

    fn finish_set(&self, key: &Key, stream: &SetStream, head: Bytes) -> Result<Option<Version>> {
        self.store.finish_set(&self.down(key)?, stream, head).map_err(|error| self.lift(error))
    }

    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        self.store.copy_source(&self.down(key).ok()?)
    }

    fn copy(&self, from: &CopySource, to: &Key) -> Result<Copied> {
        self.store.copy(from, &self.down(to)?)
    }

    fn erase(&self, key: &Key) -> Result<()> {
        self.store.erase(&self.down(key)?)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        let listing = self.store.list_dir(&self.down_prefix(prefix)?)?;
        let keys = listing.keys.iter().map(|key| Key::new(&self.up(prefix, key.as_str()))).collect::<Result<_>>()?;
        let below = listing.prefixes.iter().map(|found| Prefix::new(&self.up(prefix, found.as_str())));
        Ok(Listing::new(keys, below.collect::<Result<_>>()?))
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        let keys = self.store.list_prefix(&self.down_prefix(prefix)?)?;
        keys.iter().map(|key| Key::new(&self.up(prefix, key.as_str()))).collect()
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.store.erase_prefix(&self.down_prefix(prefix)?)
    }

    fn set_partial(&self, key: &Key, parts: &[(u64, &[u8])]) -> Result<()> {
        self.store.set_partial(&self.down(key)?, parts).map_err(|error| self.lift(error))
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        self.store.rename_prefix(&self.down_prefix(from)?, &self.down_prefix(to)?)
    }

    fn exchange_prefixes(&self, a: &Prefix, b: &Prefix) -> Result<bool> {
        self.store.exchange_prefixes(&self.down_prefix(a)?, &self.down_prefix(b)?)
    }

    fn find_link(&self, prefix: &Prefix) -> Result<Option<String>> {
        self.store.find_link(&self.down_prefix(prefix)?)
    }

    /// Its keys would be others. Stores that exchange prefixes seldom have such a form.
    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    fn try_lock(&self, prefix: &Prefix) -> Result<Option<zarr_store::Lock>> {
        self.store.try_lock(&self.down_prefix(prefix)?)
    }

    zarr_store::delegate! { |this| this.store;
        parent, take_warnings, flush, barrier, capabilities, access_profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use zarr_store::{MemoryStore, StoreExt, testing};

    fn staged(store: &Arc<dyn Store>) -> Staged {
        Staged::new(store, Prefix::new("deep/").unwrap(), Prefix::new(".stage/1/").unwrap())
    }

    #[test]
    fn keeps_the_contract() {
        // With keys elsewhere and below the prefix; all of them are erased through it.
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let below = zarr_store::Prefixed::new(staged(&store), Prefix::new("deep/").unwrap());
        testing::contract(&below);
        assert_eq!(store.list().unwrap(), []);
    }

    proptest! {
        #[test]
        fn keys_under_the_prefix_lie_elsewhere_and_others_where_they_are(
            names in proptest::collection::btree_set("(deep|deeper|x)(/[ab]){0,2}/v", 1..8),
        ) {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let staged = staged(&store);
            let old = Key::new("deep/old").unwrap();
            store.set_all(&old, b"old").unwrap();
            for name in &names {
                staged.set_all(&Key::new(name).unwrap(), name.as_bytes()).unwrap();
            }
            for name in &names {
                let key = Key::new(name).unwrap();
                let below = name.strip_prefix("deep/").map_or(name.clone(), |rest| format!(".stage/1/{rest}"));
                let (found, stored) = (staged.get_all(&key).unwrap(), store.get_all(&Key::new(&below).unwrap()).unwrap());
                prop_assert_eq!(found.as_deref(), Some(name.as_bytes()));
                prop_assert_eq!(stored.as_deref(), Some(name.as_bytes()));
            }
            let listed: Vec<String> =
                staged.list_prefix(&Prefix::new("deep/").unwrap()).unwrap().iter().map(ToString::to_string).collect();
            let expected: Vec<String> = names.iter().filter(|name| name.starts_with("deep/")).cloned().collect();
            prop_assert_eq!(listed, expected);
            staged.erase_prefix(&Prefix::new("deep/").unwrap()).unwrap();
            prop_assert!(store.exists(&old).unwrap() && !staged.exists(&old).unwrap());
        }
    }
}
