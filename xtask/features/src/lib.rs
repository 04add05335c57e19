//! Nothing by itself: its manifest asks for the features that `cargo test --workspace` builds other software with.
