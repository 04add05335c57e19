//! Deviations of a document from JSON.

use std::fmt;

/// Deviations from JSON that a parser accepts; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseOptions {
    /// Whether the literals `NaN`, `Infinity` and `-Infinity`, which JSON does not have, are accepted and read as
    /// [numbers](crate::Number::is_json).
    pub nan_literals: bool,
    /// Whether a comma before `}` or `]` is accepted.
    pub trailing_comma: bool,
    /// Whether several members with one name are accepted: the last one counts.
    pub duplicate_names: bool,
    /// Whether escapes of lone surrogates, as `"\ud800"`, are accepted. They are written as they were read. In the string of the value each
    /// lone surrogate is three noncharacters from U+FDD0 to U+FDDF.
    pub lone_surrogates: bool,
    /// Whether a byte order mark at the beginning is accepted, as editors on Windows write it.
    pub byte_order_mark: bool,
}

impl ParseOptions {
    /// Options that accept all deviations.
    pub const ALL: Self = Self {
        nan_literals: true,
        trailing_comma: true,
        duplicate_names: true,
        lone_surrogates: true,
        byte_order_mark: true,
    };

    /// Sets whether the literals `NaN`, `Infinity` and `-Infinity` are accepted.
    #[must_use]
    pub const fn nan_literals(mut self, accepted: bool) -> Self {
        self.nan_literals = accepted;
        self
    }

    /// Sets whether a comma before `}` or `]` is accepted.
    #[must_use]
    pub const fn trailing_comma(mut self, accepted: bool) -> Self {
        self.trailing_comma = accepted;
        self
    }

    /// Sets whether several members with one name are accepted.
    #[must_use]
    pub const fn duplicate_names(mut self, accepted: bool) -> Self {
        self.duplicate_names = accepted;
        self
    }

    /// Sets whether escapes of lone surrogates, as `"\ud800"`, are accepted.
    #[must_use]
    pub const fn lone_surrogates(mut self, accepted: bool) -> Self {
        self.lone_surrogates = accepted;
        self
    }

    /// Sets whether a byte order mark at the beginning is accepted.
    #[must_use]
    pub const fn byte_order_mark(mut self, accepted: bool) -> Self {
        self.byte_order_mark = accepted;
        self
    }
}

/// Deviation of a document from JSON, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deviation {
    /// JSON pointer to the value that deviates.
    pub pointer: String,
    /// Line of the deviation, counted from 1.
    pub line: usize,
    /// Column of the deviation in bytes, counted from 1.
    pub column: usize,
    /// Offset of the deviation in the document in bytes, counted from 0.
    pub offset: usize,
    /// Kind of the deviation.
    pub kind: DeviationKind,
}

/// Kind of a deviation from JSON. Its `Display` describes the deviation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviationKind {
    /// One of the literals `NaN`, `Infinity` and `-Infinity`, as spelled.
    NanLiteral(&'static str),
    /// Comma before `}` or `]`.
    TrailingComma,
    /// Several members with one name, which is given.
    RepeatedName(String),
    /// Escape of a lone surrogate, in a string or in the name of a member.
    LoneSurrogate,
    /// Byte order mark at the beginning of the document.
    ByteOrderMark,
}

impl fmt::Display for DeviationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NanLiteral(token) => write!(f, "the literal {token}, which JSON does not have"),
            Self::TrailingComma => f.write_str("a trailing comma"),
            Self::RepeatedName(name) => write!(f, "several members {name:?}; the last one counts"),
            Self::LoneSurrogate => f.write_str("a lone surrogate in a \\u escape: not Unicode text"),
            Self::ByteOrderMark => f.write_str("a byte order mark, which JSON does not have"),
        }
    }
}
