//! Durability: which writes survive a loss of power.

use crate::Precondition;

/// The changes that survive a loss of power once a set or erase has returned. An interrupted process loses nothing at
/// any level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// No change. [`Store::flush`](crate::Store::flush) makes all earlier writes durable at once, which is much faster.
    #[default]
    None,
    /// The bytes of the new value are on the disk before it takes its name: after loss of power there is the old value
    /// or the new one.
    File,
    /// As `File`, and the new name is on the disk too: there is the new value.
    Full,
}

/// How a value is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetOptions {
    /// The precondition.
    pub when: Precondition,
    /// The durability of the value when the set has returned: at least this, as far as the store can.
    pub durability: Durability,
}

/// Without a precondition or durability.
pub(crate) static ALWAYS: SetOptions = SetOptions { when: Precondition::None, durability: Durability::None };

impl SetOptions {
    /// If `when` holds.
    #[must_use]
    pub fn when(when: Precondition) -> Self {
        Self { when, durability: Durability::None }
    }

    /// With this durability.
    #[must_use]
    pub fn durable(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }
}
