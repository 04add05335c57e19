//! Laws of all accepted input, checked by other code than that of the library: a missing check of the library fails here instead of
//! accepting wrong input.

pub(super) mod alone;
pub(super) mod array;
pub(super) mod codecs;
pub(super) mod elements;
pub(super) mod json;
pub(super) mod refused;
pub(super) mod selection;
pub(super) mod sizes;
pub(super) mod zip;
