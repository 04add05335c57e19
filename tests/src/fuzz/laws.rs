//! What must hold of everything that is taken, found out in another way than the library does: a check that is missing
//! shows itself here where it would otherwise only let wrong input pass.

pub(super) mod alone;
pub(super) mod array;
pub(super) mod codecs;
pub(super) mod elements;
pub(super) mod json;
pub(super) mod refused;
pub(super) mod selection;
pub(super) mod sizes;
pub(super) mod zip;
