//! Tests across the crates: stores of other software must be read, and nothing may break on damaged data.
//!
//! Tests nothing that one crate can test alone; laws of a crate stand in that crate.

mod bad;
mod check;
mod conformance;
mod expected;
mod fixtures;
pub mod fuzz;
mod guide;
pub mod matrix;
mod mutate;
pub mod processes;
pub mod random;
mod report;
mod rewrite;
mod roundtrip;
mod values;

pub use conformance::check_archive;
pub use expected::{
    Contents, Encoding, Expected, ExpectedArray, ExpectedData, ExpectedFill, ExpectedNode, Outcome, Refusal, Step,
};
pub use fixtures::{ARCHIVES, Case, cases};
pub use random::Random;
pub use report::{ArrayResult, CaseResult, Fault, Report, Verdict};
pub use roundtrip::{Roundtrips, Tally, roundtrip_archive};
