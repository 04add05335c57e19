//! Jobs that are given wrong replies, for tests of jobs.

mod wrong_replies;

pub use wrong_replies::{WrongReplies, succeeds_with_right_replies};
