//! Durability of writes: which writes survive a loss of power.

use crate::Precondition;

/// Changes that survive a loss of power after a set or an erase has returned. The end of the process loses nothing at any level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// No change is guaranteed to survive. [`flush`](crate::StoreExt::flush) makes all earlier writes durable at once, which is much
    /// faster.
    #[default]
    None,
    /// The bytes of the new value are on the disk before it replaces the old value: after a loss of power the key has the old or the new
    /// value.
    File,
    /// The bytes of the new value and its name are on the disk: after a loss of power the key has the new value.
    Full,
}

/// Options of a set: precondition and durability.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetOptions {
    /// Condition that must hold for the value to be set.
    pub when: Precondition,
    /// Minimum durability of the value when the set has returned, as far as the store can provide it.
    pub durability: Durability,
}

/// Options without a precondition and without durability.
pub(crate) static ALWAYS: SetOptions = SetOptions { when: Precondition::None, durability: Durability::None };

impl SetOptions {
    /// Returns options with the precondition `when`, without durability.
    #[must_use]
    pub fn when(when: Precondition) -> Self {
        Self { when, durability: Durability::None }
    }

    /// Sets the durability.
    #[must_use]
    pub fn durable(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }
}
