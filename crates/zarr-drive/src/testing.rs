//! Test helpers that give wrong replies to jobs.

mod wrong_replies;

pub use wrong_replies::{WrongReplies, succeeds_with_right_replies};
