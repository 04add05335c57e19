//! Errors of conversions between JSON values and Rust types by serde.

use std::fmt::{self, Display, Write};

use serde::de::{Expected, Unexpected};

/// Error for a JSON value that does not fit a Rust type, or for a Rust value that has no form in JSON.
///
/// The displayed error begins with the JSON pointer (RFC 6901) of the value: `/bounds/2: found string "x", expected f64`.
#[derive(Clone, PartialEq, Eq)]
pub struct SerdeError {
    /// Tokens of the pointer to the value, the last one first: each level adds its token when it passes the error on.
    tokens: Vec<String>,
    message: String,
}

impl fmt::Debug for SerdeError {
    /// Shows the message, as `Display` does, for a `fn main() -> Result` that prints errors with `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl SerdeError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { tokens: Vec::new(), message: message.into() }
    }

    /// Adds the member or element `token` in front of the pointer of the error.
    #[must_use]
    pub(crate) fn within(mut self, token: impl Display) -> Self {
        self.tokens.push(token.to_string().replace('~', "~0").replace('/', "~1"));
        self
    }

    /// Message without the pointer: the value found and the type expected.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// JSON pointer to the value, relative to the value that was converted.
    pub fn pointer(&self) -> String {
        self.tokens.iter().rev().fold(String::new(), |mut pointer, token| {
            let _ = write!(pointer, "/{token}");
            pointer
        })
    }
}

impl Display for SerdeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.tokens {
            [] => f.write_str(&self.message),
            _ => write!(f, "{}: {}", self.pointer(), self.message),
        }
    }
}

impl std::error::Error for SerdeError {}

impl serde::ser::Error for SerdeError {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}

impl serde::de::Error for SerdeError {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!("found {}, expected {expected}", Found(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(len: usize, expected: &dyn Expected) -> Self {
        Self::new(format!("found {len} elements, expected {expected}"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("member {field:?} is missing"))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("found member {field:?}, expected one of {expected:?}"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("found {variant:?}, expected one of {expected:?}"))
    }
}

/// Value that serde found, shown in terms of JSON.
struct Found<'a>(Unexpected<'a>);

impl Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unexpected::Unit => f.write_str("null"),
            Unexpected::Bool(value) => write!(f, "{value}"),
            Unexpected::Unsigned(value) => write!(f, "{value}"),
            Unexpected::Signed(value) => write!(f, "{value}"),
            Unexpected::Float(value) => write!(f, "{value}"),
            Unexpected::Str(value) => {
                let short: String = value.chars().take(60).collect();
                write!(f, "string {short:?}{}", if short.len() < value.len() { "..." } else { "" })
            }
            Unexpected::Seq => f.write_str("an array"),
            Unexpected::Map => f.write_str("an object"),
            other => write!(f, "{other}"),
        }
    }
}
