//! Store that refuses writes.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::capabilities::refuse;
use crate::{Answer, Below, Call, Capabilities, Key, Operation, Result, Store, StoreBase, Wrapper};

/// Store that refuses every write to another store with [`crate::Error::ReadOnly`].
#[derive(Clone, Debug)]
pub struct ReadOnly<S>(pub S);

impl<S: fmt::Display> fmt::Display for ReadOnly<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<S: StoreBase> Wrapper for ReadOnly<S> {
    type Below = S;
    type Over<T: StoreBase + 'static> = ReadOnly<T>;

    fn below(&self) -> &S {
        &self.0
    }

    fn over<T: StoreBase + 'static>(&self, below: T) -> ReadOnly<T> {
        ReadOnly(below)
    }

    async fn answer<'a, B: Below + 'a>(&'a self, below: B, call: Call<'a>) -> Result<Answer> {
        match call {
            Call::Lock { .. } => refuse(self, Operation::Set),
            call if call.is_change() => refuse(self, call.operation()),
            call => below.call(call).await,
        }
    }

    fn copied<'k>(&self, key: &'k Key) -> Option<Cow<'k, Key>> {
        Some(Cow::Borrowed(key))
    }

    fn parent_over(&self, parent: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(Arc::new(ReadOnly(parent)))
    }

    fn capabilities_over(&self, below: Capabilities) -> Capabilities {
        below.write(false).conditional(false).durable(false).exchanges(false)
    }
}
