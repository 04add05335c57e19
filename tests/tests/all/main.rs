//! The integration tests of the workspace, in one binary.

mod concurrent;
mod conformance;
mod laws;
mod layouts;
mod model;
mod requests;
mod robustness;
mod selections;
