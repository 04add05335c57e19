//! Answers to questions.

use zarr_json::Value;

/// The answer to a question.
pub(crate) enum ApiAnswer {
    /// Facts, and a few numbers.
    Json(Value),
    /// Many numbers.
    Bytes(Vec<u8>),
}
