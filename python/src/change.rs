//! A node as it is now: changes replace it, one after the other.

use crate::runtime;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError, RwLock};
use zarr::Result;

/// The state of an array or group that a handle stands for.
#[derive(Debug)]
pub(crate) struct Current<T> {
    node: RwLock<T>,
    /// Held while a change is made, so that of two changes the later one is what stays.
    turn: Mutex<()>,
}

impl<T: Clone + Send + Sync> Current<T> {
    /// A node that was opened.
    pub(crate) fn new(node: T) -> Self {
        Self { node: RwLock::new(node), turn: Mutex::new(()) }
    }

    /// The node.
    pub(crate) fn get(&self) -> T {
        self.node.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the node.
    pub(crate) fn set(&self, node: T) {
        *self.node.write().unwrap_or_else(PoisonError::into_inner) = node;
    }

    /// Changes the node, without the lock of the interpreter.
    ///
    /// # Errors
    /// Those of the change; the node stays as it was then.
    pub(crate) fn change<R: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut T) -> Result<R> + Send,
    ) -> PyResult<R> {
        runtime::run(py, || {
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let mut node = self.get();
            let result = change(&mut node)?;
            self.set(node);
            Ok(result)
        })
    }
}
