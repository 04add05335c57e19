//! Lists of words in messages of errors.

/// Joins words as in `a, b or c`.
pub(super) fn list(words: &[&str]) -> String {
    match words {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        words => words.concat(),
    }
}
