//! Laws of all accepted input, checked in another way than the library does: a missing check fails here, where it would
//! otherwise only let wrong input pass.

pub(super) mod alone;
pub(super) mod array;
pub(super) mod codecs;
pub(super) mod elements;
pub(super) mod json;
pub(super) mod refused;
pub(super) mod selection;
pub(super) mod sizes;
pub(super) mod zip;
