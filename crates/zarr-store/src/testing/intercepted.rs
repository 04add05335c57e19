//! Store whose calls a function answers first, for tests.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::{AccessProfile, Answer, Call, Capabilities, Pinned, Result, Store, fallback_blocking};

/// Function that answers a call in place of the store, or returns it.
type Ask = dyn for<'c> Fn(&dyn Store, Call<'c>) -> Result<ControlFlow<Answer, Call<'c>>> + Send + Sync;

/// Function that changes the capabilities of the store.
type Capable = dyn Fn(Capabilities) -> Capabilities + Send + Sync;

/// Store for tests over another store: a function is asked for each call first.
///
/// The function answers the call, fails, or returns it. Of the calls that it returns, [`Call::Get`], [`Call::Set`], [`Call::Erase`],
/// [`Call::ListDir`], [`Call::ListPrefix`] and [`Call::Lock`] are passed to the store below. All others, also kinds that do not exist yet,
/// are answered by these as [`fallback_blocking`] does, so that the function sees each value that is read or changed. A function
/// that passes further calls to the store below answers them by its first argument, the store below. A pinned store in an answer is
/// wrapped with the same function.
///
/// # Example
/// ```
/// use std::ops::ControlFlow::Continue;
/// use zarr_store::{Call, Error, Key, MemoryStore, Operation, StoreExt, testing::Intercepted};
///
/// let store = Intercepted::new(MemoryStore::new(), |store, call| match &call {
///     Call::Set { key, .. } if key.as_str() == "a" => {
///         Err(Error::ReadOnly { store: store.to_string(), operation: Operation::Set })
///     }
///     _ => Ok(Continue(call)),
/// });
/// let [a, b] = [Key::new("a")?, Key::new("b")?];
/// store.set_all(&b, b"value")?;
/// assert!(store.set_many(&[(&b, b"other"), (&a, b"value")]).is_err());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Intercepted {
    store: Arc<dyn Store>,
    ask: Arc<Ask>,
    capable: Arc<Capable>,
}

impl Intercepted {
    /// Wraps a store. `ask` is called with the store and each call: it returns [`ControlFlow::Break`] with the answer, or
    /// [`ControlFlow::Continue`] with the call.
    #[must_use]
    pub fn new(
        store: impl Store + 'static,
        ask: impl for<'c> Fn(&dyn Store, Call<'c>) -> Result<ControlFlow<Answer, Call<'c>>> + Send + Sync + 'static,
    ) -> Self {
        Self { store: Arc::new(store), ask: Arc::new(ask), capable: Arc::new(|capabilities| capabilities) }
    }

    /// Sets the function that makes the capabilities out of those of the store below.
    #[must_use]
    pub fn with_capabilities(self, capable: impl Fn(Capabilities) -> Capabilities + Send + Sync + 'static) -> Self {
        Self { capable: Arc::new(capable), ..self }
    }
}

impl fmt::Display for Intercepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl fmt::Debug for Intercepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Intercepted").field(&self.store).finish()
    }
}

impl Store for Intercepted {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        let answer = match (self.ask)(&*self.store, call)? {
            ControlFlow::Break(answer) => answer,
            ControlFlow::Continue(
                call @ (Call::Get { .. }
                | Call::Set { .. }
                | Call::Erase { .. }
                | Call::ListDir { .. }
                | Call::ListPrefix { .. }
                | Call::Lock { .. }),
            ) => self.store.call(call)?,
            ControlFlow::Continue(call) => fallback_blocking(self, call)?,
        };
        Ok(answer.map_pinned(|pinned| match pinned {
            Pinned::Blocking(store) => Pinned::Blocking(Arc::new(Self { store, ..self.clone() })),
            pinned @ Pinned::Async(_) => pinned,
        }))
    }

    fn capabilities(&self) -> Capabilities {
        (self.capable)(self.store.capabilities())
    }

    fn access_profile(&self) -> AccessProfile {
        self.store.access_profile()
    }

    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        self.store.parent()
    }

    fn take_warnings(&self) -> Vec<String> {
        self.store.take_warnings()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::contract;
    use crate::{Durability, Error, Key, MemoryStore, Operation, Prefix, SetOptions, StoreExt};
    use std::ops::ControlFlow::{Break, Continue};
    use std::sync::Mutex;

    #[test]
    fn a_store_whose_calls_are_all_returned_keeps_the_contract() {
        let store = Intercepted::new(MemoryStore::new(), |_, call| Ok(Continue(call)));
        contract(&store.with_capabilities(|below| below.exchanges(false).erases_at_once(false)));
    }

    /// Every call that reads or changes values comes to the function as gets, sets and erases.
    #[test]
    fn no_change_passes_the_function_by() {
        let memory = Arc::new(MemoryStore::new());
        let [a, b] = ["a", "b"].map(|name| Key::new(name).unwrap());
        memory.set_all(&b, b"before").unwrap();
        let store = Intercepted::new(Arc::clone(&memory), |_, call| match &call {
            Call::Set { .. } | Call::Erase { .. } => Err(Error::Job("refused")),
            _ => Ok(Continue(call)),
        });
        let options = SetOptions::default();
        store.set(&a, b"1", &options).unwrap_err();
        store.set_pieces(&a, &[b"1", b"2"], &options).unwrap_err();
        let stream = store.begin_set(&a, 1, &options).unwrap();
        store.append_to_set(&a, &stream, vec!["23".into()]).unwrap();
        store.finish_set(&a, &stream, "1".into()).unwrap_err();
        store.set_many(&[(&a, b"1")]).unwrap_err();
        store.create_many(&[(&a, b"1")], Durability::default()).unwrap_err();
        store.set_partial(&b, &[(0, b"1")]).unwrap_err();
        store.erase(&b).unwrap_err();
        store.erase_prefix(&Prefix::root()).unwrap_err();
        assert_eq!(memory.list().unwrap().len(), 1);
        assert_eq!(memory.get_all(&b).unwrap().as_deref(), Some(&b"before"[..]));
    }

    #[test]
    fn pinned_stores_have_the_same_function() {
        let operations = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&operations);
        let store = Intercepted::new(MemoryStore::new(), move |_, call| {
            if let Call::Pin { .. } = call {
                return Ok(Break(Answer::Pinned(Some(Pinned::Blocking(Arc::new(MemoryStore::new()))))));
            }
            noted.lock().unwrap().push(call.operation());
            Ok(Continue(call))
        });
        let pinned = store.pin(&Prefix::root()).unwrap().unwrap();
        assert!(!pinned.exists(&Key::new("a").unwrap()).unwrap());
        assert_eq!(*operations.lock().unwrap(), [Operation::Get]);
    }
}
