//! Values of any type that a program passes to its own codecs, instead of configurations in documents.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// Value of any type that can be compared with other values.
#[derive(Clone, Debug)]
pub(crate) struct Given(Arc<dyn AnyValue>);

trait AnyValue: Any + Debug + Send + Sync {
    fn is(&self, other: &dyn Any) -> bool;
}

impl<T: Any + PartialEq + Debug + Send + Sync> AnyValue for T {
    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>() == Some(self)
    }
}

impl Given {
    pub(crate) fn new<T: Any + PartialEq + Debug + Send + Sync>(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// Returns the value if it has type `T`.
    pub(crate) fn get<T: Any>(&self) -> Option<&T> {
        (&*self.0 as &dyn Any).downcast_ref()
    }
}

impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.is(&*other.0 as &dyn Any)
    }
}
