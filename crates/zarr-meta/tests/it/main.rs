//! Laws and examples for whole documents.

#[cfg(test)]
mod arbitrary;
#[cfg(test)]
mod consolidated;
#[cfg(test)]
mod convert;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod probe;
#[cfg(test)]
mod store;
#[cfg(test)]
mod v2;
#[cfg(test)]
mod v3;
#[cfg(test)]
mod write_back;
