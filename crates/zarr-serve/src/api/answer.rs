//! Answers to questions.

use zarr_json::Value;

/// Answer to a question.
pub(crate) enum ApiAnswer {
    /// JSON with facts and few numbers.
    Json(Value),
    /// Bytes with many numbers.
    Bytes(Vec<u8>),
}
