//! Stores whose requests fail once an operation is to end.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zarr::store::{
    AsyncStore, BoxFuture, ByteRange, Bytes, Copied, CopySource, Error, Fetched, GetInto, GetOptions, Key, Operation,
    Result, SetOptions, SetStream, Store, Version, delegate, delegate_async,
};

/// Whether an operation is to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on it is.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn check(&self, store: &dyn fmt::Display, operation: Operation, key: &Key) -> Result<()> {
        match self.0.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(Error::io(store, operation, key.to_string(), io::ErrorKind::Interrupted.into())),
        }
    }
}

/// Another store, for one operation that may be interrupted. Requests that are under way are not ended.
#[derive(Debug)]
pub(crate) struct Interruptible<S> {
    store: S,
    interrupt: Interrupt,
}

impl<S> Interruptible<S> {
    /// A store for an operation.
    pub(crate) fn new(store: S, interrupt: &Interrupt) -> Self {
        Self { store, interrupt: interrupt.clone() }
    }
}

impl<S: fmt::Display> fmt::Display for Interruptible<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[deny(clippy::missing_trait_methods)]
impl Store for Interruptible<Arc<dyn Store>> {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        self.interrupt.check(self, Operation::Get, key)?;
        self.store.get(key, ranges, options)
    }

    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<GetInto> {
        self.interrupt.check(self, Operation::Get, key)?;
        self.store.get_into(key, into)
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        self.interrupt.check(self, Operation::Set, key)?;
        self.store.set(key, value, options)
    }

    fn set_pieces(&self, key: &Key, pieces: &[&[u8]], options: &SetOptions) -> Result<Option<Version>> {
        self.interrupt.check(self, Operation::Set, key)?;
        self.store.set_pieces(key, pieces, options)
    }

    fn begin_set(&self, key: &Key, head: u64, options: &SetOptions) -> Result<SetStream> {
        self.interrupt.check(self, Operation::Set, key)?;
        self.store.begin_set(key, head, options)
    }

    fn append_to_set(&self, key: &Key, stream: &SetStream, pieces: Vec<Bytes>) -> Result<()> {
        self.interrupt.check(self, Operation::Set, key)?;
        self.store.append_to_set(key, stream, pieces)
    }

    fn finish_set(&self, key: &Key, stream: &SetStream, head: Bytes) -> Result<Option<Version>> {
        self.interrupt.check(self, Operation::Set, key)?;
        self.store.finish_set(key, stream, head)
    }

    fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        if let Some((key, _)) = values.first() {
            self.interrupt.check(self, Operation::Set, key)?;
        }
        self.store.set_many(values)
    }

    fn set_partial(&self, key: &Key, parts: &[(u64, &[u8])]) -> Result<()> {
        self.interrupt.check(self, Operation::Set, key)?;
        self.store.set_partial(key, parts)
    }

    fn copy(&self, from: &CopySource, to: &Key) -> Result<Copied> {
        self.interrupt.check(self, Operation::Set, to)?;
        self.store.copy(from, to)
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        Some(Arc::new(Interruptible::new(self.store.as_async()?, &self.interrupt)))
    }

    delegate! { |this| this.store;
        copy_source, erase, list_dir, list_prefix, erase_prefix, rename_prefix, exchange_prefixes, find_link, parent,
        try_lock, take_warnings, flush, barrier, capabilities, access_profile
    }
}

#[deny(clippy::missing_trait_methods)]
impl AsyncStore for Interruptible<Arc<dyn AsyncStore>> {
    fn get<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::Get, key)?;
            self.store.get(key, ranges, options).await
        })
    }

    fn set<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::Set, key)?;
            self.store.set(key, value, options).await
        })
    }

    fn set_pieces<'a>(
        &'a self,
        key: &'a Key,
        pieces: Vec<Bytes>,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::Set, key)?;
            self.store.set_pieces(key, pieces, options).await
        })
    }

    fn begin_set<'a>(&'a self, key: &'a Key, head: u64, options: &'a SetOptions) -> BoxFuture<'a, Result<SetStream>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::Set, key)?;
            self.store.begin_set(key, head, options).await
        })
    }

    fn append_to_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        pieces: Vec<Bytes>,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::Set, key)?;
            self.store.append_to_set(key, stream, pieces).await
        })
    }

    fn finish_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        head: Bytes,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::Set, key)?;
            self.store.finish_set(key, stream, head).await
        })
    }

    fn copy<'a>(&'a self, from: &'a CopySource, to: &'a Key) -> BoxFuture<'a, Result<Copied>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::Set, to)?;
            self.store.copy(from, to).await
        })
    }

    delegate_async! { |this| this.store;
        copy_source, erase, list_dir, list_prefix, erase_prefix, rename_prefix, exchange_prefixes, try_lock, pause,
        take_warnings, flush, barrier, capabilities, access_profile
    }
}
