//! Values that a program gives codecs of its own, instead of configurations in documents.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A value of any type that can be compared.
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

    /// The value, if it is of this type.
    pub(crate) fn get<T: Any>(&self) -> Option<&T> {
        (&*self.0 as &dyn Any).downcast_ref()
    }
}

impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.is(&*other.0 as &dyn Any)
    }
}
