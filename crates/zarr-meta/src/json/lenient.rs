//! What texts hold beyond JSON.

use std::fmt;

/// What to accept beyond JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leniency {
    /// The bare tokens `NaN`, `Infinity` and `-Infinity`, read as [numbers](super::Number::is_json).
    pub bare_nan: bool,
    /// A comma before `}` or `]`.
    pub trailing_comma: bool,
    /// Several members of one name: the last one counts.
    pub duplicate_names: bool,
    /// Escapes of surrogates that are no pair, as `"\ud800"`. They are written as they were read; in the text that is returned
    /// they are three noncharacters from U+FDD0 to U+FDDF each.
    pub lone_surrogates: bool,
}

impl Leniency {
    /// All of it.
    pub const ALL: Self = Self { bare_nan: true, trailing_comma: true, duplicate_names: true, lone_surrogates: true };
}

/// A liberty that a text took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oddity {
    /// The JSON pointer of the value.
    pub pointer: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
    /// The offset in the text in bytes, from 0.
    pub offset: usize,
    /// What was met.
    pub kind: OddityKind,
}

/// Which liberty a text took; displayed in words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OddityKind {
    /// One of the bare tokens `NaN`, `Infinity` and `-Infinity`.
    BareToken(&'static str),
    /// A comma before `}` or `]`.
    TrailingComma,
    /// Several members of this name.
    RepeatedName(String),
    /// Surrogates that are no pair, in a text or in the name of a member.
    LoneSurrogate,
}

impl fmt::Display for OddityKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BareToken(token) => write!(f, "the bare token {token}"),
            Self::TrailingComma => f.write_str("a trailing comma"),
            Self::RepeatedName(name) => write!(f, "several members {name:?}, of which the last one counts"),
            Self::LoneSurrogate => f.write_str("a lone surrogate in a \\u escape, which is no Unicode text"),
        }
    }
}
