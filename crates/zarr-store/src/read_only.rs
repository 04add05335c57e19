//! A store that refuses writes.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::capabilities::refuse;
use crate::{
    AsyncStore, BoxFuture, Capabilities, Copied, CopySource, Durability, Key, Lock, Operation, Prefix, Result,
    SetOptions, SetStream, Store, Version,
};

/// Another store with every write refused as [`crate::Error::ReadOnly`].
#[derive(Clone, Debug)]
pub struct ReadOnly<S>(pub S);

impl<S: fmt::Display> fmt::Display for ReadOnly<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for ReadOnly<S> {
    fn set(&self, _key: &Key, _value: &[u8], _options: &SetOptions) -> Result<Option<Version>> {
        refuse(self, Operation::Set)
    }

    fn set_pieces(&self, _key: &Key, _pieces: &[&[u8]], _options: &SetOptions) -> Result<Option<Version>> {
        refuse(self, Operation::Set)
    }

    fn begin_set(&self, _key: &Key, _head: u64, _options: &SetOptions) -> Result<SetStream> {
        refuse(self, Operation::Set)
    }

    fn append_to_set(&self, _key: &Key, _stream: &SetStream, _pieces: Vec<Bytes>) -> Result<()> {
        refuse(self, Operation::Set)
    }

    fn finish_set(&self, _key: &Key, _stream: &SetStream, _head: Bytes) -> Result<Option<Version>> {
        refuse(self, Operation::Set)
    }

    fn set_many(&self, _values: &[(&Key, &[u8])]) -> Result<()> {
        refuse(self, Operation::Set)
    }

    fn create_many(&self, _values: &[(&Key, &[u8])], _durability: Durability) -> Result<()> {
        refuse(self, Operation::Set)
    }

    fn copy(&self, _from: &CopySource, _to: &Key) -> Result<Copied> {
        refuse(self, Operation::Set)
    }

    fn erase(&self, _key: &Key) -> Result<()> {
        refuse(self, Operation::Erase)
    }

    fn erase_prefix(&self, _prefix: &Prefix) -> Result<()> {
        refuse(self, Operation::Erase)
    }

    fn set_partial(&self, _key: &Key, _parts: &[(u64, &[u8])]) -> Result<()> {
        refuse(self, Operation::Set)
    }

    fn rename_prefix(&self, _from: &Prefix, _to: &Prefix) -> Result<bool> {
        refuse(self, Operation::Set)
    }

    fn exchange_prefixes(&self, _a: &Prefix, _b: &Prefix) -> Result<bool> {
        refuse(self, Operation::Set)
    }

    fn leftovers(&self, prefix: &Prefix, remove: bool) -> Result<Vec<crate::Leftover>> {
        if remove { refuse(self, Operation::Erase) } else { self.0.leftovers(prefix, false) }
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        Some(Arc::new(ReadOnly(self.0.as_async()?)))
    }

    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        self.0.parent().map(|(parent, name)| (Arc::new(ReadOnly(parent)) as Arc<dyn Store>, name))
    }

    fn pin(&self, prefix: &Prefix) -> Result<Option<Arc<dyn Store>>> {
        Ok(self.0.pin(prefix)?.map(|pinned| Arc::new(ReadOnly(pinned)) as Arc<dyn Store>))
    }

    fn try_lock(&self, _prefix: &Prefix) -> Result<Option<Lock>> {
        refuse(self, Operation::Set)
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities().write(false).conditional(false).durable(false).exchanges(false)
    }

    crate::delegate! { |this| this.0;
        get, get_into, copy_source, list_dir, list_prefix, list_sizes, find_link, is_in_place, take_warnings, flush,
        barrier, access_profile
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: AsyncStore> AsyncStore for ReadOnly<S> {
    fn set<'a>(&'a self, _: &'a Key, _: Bytes, _: &'a SetOptions) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async { refuse(self, Operation::Set) })
    }

    fn set_pieces<'a>(
        &'a self,
        _: &'a Key,
        _: Vec<Bytes>,
        _: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async { refuse(self, Operation::Set) })
    }

    fn copy<'a>(&'a self, _: &'a CopySource, _: &'a Key) -> BoxFuture<'a, Result<Copied>> {
        Box::pin(async { refuse(self, Operation::Set) })
    }

    fn begin_set<'a>(&'a self, _: &'a Key, _: u64, _: &'a SetOptions) -> BoxFuture<'a, Result<SetStream>> {
        Box::pin(async { refuse(self, Operation::Set) })
    }

    fn append_to_set<'a>(&'a self, _: &'a Key, _: &'a SetStream, _: Vec<Bytes>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { refuse(self, Operation::Set) })
    }

    fn finish_set<'a>(&'a self, _: &'a Key, _: &'a SetStream, _: Bytes) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async { refuse(self, Operation::Set) })
    }

    fn erase<'a>(&'a self, _: &'a Key) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { refuse(self, Operation::Erase) })
    }

    fn erase_prefix<'a>(&'a self, _: &'a Prefix) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { refuse(self, Operation::Erase) })
    }

    fn rename_prefix<'a>(&'a self, _: &'a Prefix, _: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async { refuse(self, Operation::Set) })
    }

    fn exchange_prefixes<'a>(&'a self, _: &'a Prefix, _: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async { refuse(self, Operation::Set) })
    }

    fn try_lock<'a>(&'a self, _: &'a Prefix) -> BoxFuture<'a, Result<Option<Lock>>> {
        Box::pin(async { refuse(self, Operation::Set) })
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities().write(false).conditional(false).durable(false).exchanges(false)
    }

    fn pin<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Arc<dyn AsyncStore>>>> {
        Box::pin(async move {
            let pinned = self.0.pin(prefix).await?;
            Ok(pinned.map(|pinned| Arc::new(ReadOnly(pinned)) as Arc<dyn AsyncStore>))
        })
    }

    crate::delegate_async! { |this| this.0;
        get, copy_source, list_dir, list_prefix, list_sizes, is_in_place, pause, take_warnings, flush, barrier, access_profile
    }
}
