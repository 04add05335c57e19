//! Tests across the crates: stores of other software must be read, and damaged data must not break anything.
//!
//! # Places of tests
//! - Tests of private items are beside the code.
//! - Tests of the public items of one crate are in its folder `tests`. Those of crates that the profile `dev` optimises are modules of
//!   `tests/tests/crates`, which is built once and not optimised: test programs of such crates take long to build.
//! - Tests across crates are in `tests/tests/all`, checks of processes in `tests/src/processes`.
//!
//! A test of a statement in the text of a format is marked with the name of the statement, as `// clause: d2022-57`, from `tests/clauses`;
//! `docs/conformance.md` is generated from both.

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
