//! Current state of an open node: changes replace it, one after the other.

use crate::consolidated::watching;
use crate::errors::OrException;
use crate::location::Origin;
use crate::runtime;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use zarr::{Array, Group, Result, Store};

/// Opened node in a store.
pub(crate) trait InStore: Clone + Send + Sync {
    /// Returns the store of the node.
    fn store(&self) -> &Arc<dyn Store>;

    /// Returns the path of the node.
    fn path(&self) -> String;

    /// Returns the same node in `store`, which must have the same values.
    ///
    /// # Errors
    /// The errors about a node that cannot be in the store.
    fn through(&self, store: &Arc<dyn Store>) -> Result<Self>;
}

impl InStore for Array {
    fn store(&self) -> &Arc<dyn Store> {
        self.store()
    }

    fn path(&self) -> String {
        self.path().to_string()
    }

    fn through(&self, store: &Arc<dyn Store>) -> Result<Self> {
        Ok(self.through(store))
    }
}

impl InStore for Group {
    fn store(&self) -> &Arc<dyn Store> {
        self.store()
    }

    fn path(&self) -> String {
        self.path().to_string()
    }

    fn through(&self, store: &Arc<dyn Store>) -> Result<Self> {
        Self::from_found(store, self.found().clone(), self.registry())
    }
}

/// Current state of the array or group of a handle.
#[derive(Debug)]
pub(crate) struct Current<T> {
    node: RwLock<T>,
    /// Lock that is held during a change, so that the state after two changes is that of the later one.
    turn: Mutex<()>,
}

impl<T: InStore> Current<T> {
    /// Returns the state of an opened node.
    pub(crate) fn new(node: T) -> Self {
        Self { node: RwLock::new(node), turn: Mutex::new(()) }
    }

    /// Returns a copy of the current node.
    pub(crate) fn get(&self) -> T {
        self.node.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the current node in `store`, which must have the same values as the store of the node.
    ///
    /// # Errors
    /// The errors about a node that cannot be in the store.
    pub(crate) fn get_in(&self, store: &Arc<dyn Store>) -> Result<T> {
        self.get_adapted(|node| Ok(if Arc::ptr_eq(store, node.store()) { None } else { Some(node.through(store)?) }))
    }

    /// Returns the current node as `adapt` returns it, which must be a node of the same values, and keeps that as the current one; `None` is
    /// for a node that needs no change.
    ///
    /// # Errors
    /// The errors of `adapt`.
    pub(crate) fn get_adapted(&self, adapt: impl Fn(&T) -> Result<Option<T>>) -> Result<T> {
        let node = self.get();
        if adapt(&node)?.is_none() {
            return Ok(node);
        }
        // The lock is held meanwhile, so that no change by another thread is lost.
        let mut node = self.node.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(adapted) = adapt(&node)? {
            *node = adapted;
        }
        Ok(node.clone())
    }

    fn set(&self, node: T) {
        *self.node.write().unwrap_or_else(PoisonError::into_inner) = node;
    }

    /// Changes the node, in the store of `origin`, without the lock of the interpreter. Warns of consolidated metadata that the change
    /// drops. Checks for signals if `is_long`.
    ///
    /// # Errors
    /// The errors of the change, after which the node is unchanged.
    pub(crate) fn change<R: Send>(
        &self,
        py: Python<'_>,
        origin: &Origin,
        is_long: bool,
        change: impl FnOnce(&mut T) -> Result<R> + Send,
    ) -> PyResult<R> {
        let work = |store: &Arc<dyn Store>| {
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let node = self.get();
            let own = Arc::clone(node.store());
            let mut changed = node.through(store)?;
            let (result, dropped) = watching(store, &node.path(), || change(&mut changed));
            if result.is_ok() {
                self.set(changed.through(&own)?);
            }
            Ok((result, dropped))
        };
        let store = Arc::clone(self.get().store());
        let (result, dropped) = runtime::run_in_if(py, &store, is_long, work, |(result, _)| result.is_ok())?;
        dropped.warn(py, &origin.again())?;
        result.or_exception(py)
    }
}
