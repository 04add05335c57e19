//! Pointers to stores are stores.

use std::sync::Arc;

use crate::{
    ByteRange, Capabilities, Coalesce, Fetched, GetOptions, Key, Listing, Lock, Placed, Precondition, Prefix, Result,
    SetOptions, Store, Version,
};

/// Every method of [`Store`], asked of what `$self` points to.
macro_rules! forward {
    ($($pointer:ty),*) => {$(
        #[deny(clippy::missing_trait_methods)]
        impl<S: Store + ?Sized> Store for $pointer {
            fn get(&self, key: &Key, ranges: &[ByteRange], into: &mut Fetched) -> Result<bool> {
                (**self).get(key, ranges, into)
            }

            fn get_with(
                &self,
                key: &Key,
                ranges: &[ByteRange],
                options: &GetOptions,
                into: &mut Fetched,
            ) -> Result<bool> {
                (**self).get_with(key, ranges, options, into)
            }

            fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<Placed> {
                (**self).get_into(key, into)
            }

            fn set(&self, key: &Key, value: &[u8], when: &Precondition) -> Result<Version> {
                (**self).set(key, value, when)
            }

            fn set_with(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Version> {
                (**self).set_with(key, value, options)
            }

            fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
                (**self).set_many(values)
            }

            fn erase(&self, key: &Key) -> Result<()> {
                (**self).erase(key)
            }

            fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
                (**self).list_dir(prefix)
            }

            fn size(&self, key: &Key) -> Result<Option<u64>> {
                (**self).size(key)
            }

            fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
                (**self).list_prefix(prefix)
            }

            fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
                (**self).erase_prefix(prefix)
            }

            fn set_partial(&self, key: &Key, parts: &[(u64, &[u8])]) -> Result<()> {
                (**self).set_partial(key, parts)
            }

            fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
                (**self).rename_prefix(from, to)
            }

            fn find_link(&self, prefix: &Prefix) -> Result<Option<String>> {
                (**self).find_link(prefix)
            }

            fn try_lock(&self, prefix: &Prefix) -> Result<Option<Lock>> {
                (**self).try_lock(prefix)
            }

            fn take_warnings(&self) -> Vec<String> {
                (**self).take_warnings()
            }

            fn flush(&self) -> Result<()> {
                (**self).flush()
            }

            fn barrier(&self) -> Result<()> {
                (**self).barrier()
            }

            fn capabilities(&self) -> Capabilities {
                (**self).capabilities()
            }

            fn coalesce(&self) -> Coalesce {
                (**self).coalesce()
            }
        }
    )*};
}

forward!(&S, Arc<S>, Box<S>);
