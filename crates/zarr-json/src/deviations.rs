//! Deviations of text from JSON.

use std::fmt;

/// The deviations from JSON that a parser accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseOptions {
    /// The literals `NaN`, `Infinity` and `-Infinity`, which JSON does not have, read as [numbers](crate::Number::is_json).
    pub nan_literals: bool,
    /// A comma before `}` or `]`.
    pub trailing_comma: bool,
    /// Several members of one name: the last one counts.
    pub duplicate_names: bool,
    /// Escapes of surrogates that are no pair, as `"\ud800"`. They are written as they were read. In the string that is returned
    /// each is three noncharacters from U+FDD0 to U+FDDF.
    pub lone_surrogates: bool,
    /// A byte order mark in front, as editors on Windows put it there.
    pub byte_order_mark: bool,
}

impl ParseOptions {
    /// All deviations.
    pub const ALL: Self = Self {
        nan_literals: true,
        trailing_comma: true,
        duplicate_names: true,
        lone_surrogates: true,
        byte_order_mark: true,
    };

    /// Sets whether literals such as `NaN` are accepted.
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

    /// Sets whether several members of one name are accepted.
    #[must_use]
    pub const fn duplicate_names(mut self, accepted: bool) -> Self {
        self.duplicate_names = accepted;
        self
    }

    /// Sets whether escapes of surrogates that are no pair are accepted.
    #[must_use]
    pub const fn lone_surrogates(mut self, accepted: bool) -> Self {
        self.lone_surrogates = accepted;
        self
    }

    /// Sets whether a byte order mark in front is accepted.
    #[must_use]
    pub const fn byte_order_mark(mut self, accepted: bool) -> Self {
        self.byte_order_mark = accepted;
        self
    }
}

/// A deviation of a text from JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deviation {
    /// The JSON pointer of the value.
    pub pointer: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
    /// The offset in the text in bytes, from 0.
    pub offset: usize,
    /// Which deviation it is.
    pub kind: DeviationKind,
}

/// A kind of deviation from JSON; displayed in words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviationKind {
    /// One of the literals `NaN`, `Infinity` and `-Infinity`.
    NanLiteral(&'static str),
    /// A comma before `}` or `]`.
    TrailingComma,
    /// Several members of this name.
    RepeatedName(String),
    /// Surrogates that are no pair, in a text or in the name of a member.
    LoneSurrogate,
    /// A byte order mark in front of the text.
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
