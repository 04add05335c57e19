//! Checks of chunks by their index.

mod check;
