//! Empty crate, whose manifest enables the features with which `cargo test --workspace` builds dependencies.
