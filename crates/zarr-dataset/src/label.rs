//! Labels: values of a coordinate that select indices.

use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;
use zarr_json::Value;

/// Value of a coordinate by which an index is selected, as a number or string of the program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Label {
    /// Integer; for a coordinate of times, nanoseconds since 1970.
    Integer(i128),
    /// Floating-point number.
    Number(f64),
    /// String. For a coordinate of times, a date in ISO 8601 or a part of one: `2020`, `2020-01`, `2020-01-31T12:00`. For coordinates of
    /// other types, a string that is parsed as a number, as `true` or `false`, or as a duration such as `12 h`.
    Text(String),
}

/// Labels to select along a dimension: one label, a list, or all labels between two labels.
///
/// A label is matched exactly, unless the labels are made by [`nearest`](Self::nearest), [`pad`](Self::pad) or
/// [`backfill`](Self::backfill). A partial date stands for all times within it; in a list, or with an inexact match, for its first time.
///
/// ```
/// use zarr_dataset::Labels;
///
/// let one = Labels::from(52.5);
/// let some = Labels::from(["a", "b"]);
/// let near = Labels::nearest(52.4);
/// let some_near = Labels::nearest([52.4, 48.1]);
/// let all_of_winter = Labels::between("2019-12", "2020-02");
/// assert_ne!(near, one);
/// ```
///
/// [Parsed](std::str::FromStr), labels are those of `zarr read --sel`, whatever the type of the coordinate:
///
/// | text | labels |
/// |---|---|
/// | `52.5` | the label |
/// | `500,850` | a list; one of a single label ends in a comma |
/// | `60..50`, `2020..`, `..2020` | from one to the other, both included |
/// | `52.4~` | the nearest label |
/// | `"a,b"` | a label with one of these marks in it, in double quotes as in JSON |
///
/// Labels are printed in this form, too. Labels without such a form are described: `at or before 52.4`.
///
/// ```
/// # use zarr_dataset::Labels;
/// let labels: Labels = "2019-12..2020-02".parse()?;
/// assert_eq!(labels, Labels::between("2019-12", "2020-02"));
/// assert_eq!(labels.to_string(), "2019-12..2020-02");
/// assert_eq!(Labels::from(["a,b", "c"]).to_string(), r#""a,b", c"#);
///
/// let error = "1,,2".parse::<Labels>().unwrap_err();
/// assert_eq!(error.to_string(), r#"label 2, "": expected a label; an empty string is """#);
/// # Ok::<(), zarr_dataset::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    pub(crate) find: Find,
    pub(crate) method: Method,
    /// Whether the coordinate is searched by bisection, however small it is.
    pub(crate) is_sorted: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Find {
    One(Label),
    List(Vec<Label>),
    Slice(Option<Label>, Option<Label>),
}

/// Way in which a label matches a value of the coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Exact,
    Nearest,
    /// Last value at or before the label.
    Pad,
    /// First value at or behind the label.
    Backfill,
}

impl Labels {
    fn new(find: Find) -> Self {
        Self { find, method: Method::Exact, is_sorted: false }
    }

    /// Selects the nearest label, or the nearest one for each label of a list. If two are equally near, the greater one.
    pub fn nearest(labels: impl Into<Self>) -> Self {
        Self { method: Method::Nearest, ..labels.into() }
    }

    /// Selects the last label at or before this label, in the order of the coordinate: for latitudes that descend, the next one to the
    /// north.
    pub fn pad(labels: impl Into<Self>) -> Self {
        Self { method: Method::Pad, ..labels.into() }
    }

    /// Selects the first label at or behind this label, in the order of the coordinate.
    pub fn backfill(labels: impl Into<Self>) -> Self {
        Self { method: Method::Backfill, ..labels.into() }
    }

    /// Selects the labels from `first` to `last`, both included, in the order of the coordinate: from north to south if latitudes descend.
    pub fn between(first: impl Into<Label>, last: impl Into<Label>) -> Self {
        Self::new(Find::Slice(Some(first.into()), Some(last.into())))
    }

    /// Selects all labels at or behind `first`, in the order of the coordinate.
    pub fn from_first(first: impl Into<Label>) -> Self {
        Self::new(Find::Slice(Some(first.into()), None))
    }

    /// Selects all labels at or before `last`, in the order of the coordinate.
    pub fn to_last(last: impl Into<Label>) -> Self {
        Self::new(Find::Slice(None, Some(last.into())))
    }

    /// Searches the coordinate by bisection, however small it is: of `n` chunks, log2(n) + 2 are read for a label, and twice that number
    /// for a slice. Without this, a coordinate of up to 2^18 values is read as a whole.
    ///
    /// An unsorted coordinate is an error if the values that are read are unsorted; otherwise labels may not be found in it.
    #[must_use]
    pub fn assume_sorted(self) -> Self {
        Self { is_sorted: true, ..self }
    }
}

impl<L: Into<Label>> From<L> for Labels {
    fn from(label: L) -> Self {
        Self::new(Find::One(label.into()))
    }
}

impl<L: Into<Label>> From<Vec<L>> for Labels {
    fn from(labels: Vec<L>) -> Self {
        Self::new(Find::List(labels.into_iter().map(Into::into).collect()))
    }
}

impl<L: Into<Label>, const N: usize> From<[L; N]> for Labels {
    fn from(labels: [L; N]) -> Self {
        Self::new(Find::List(labels.into_iter().map(Into::into).collect()))
    }
}

macro_rules! labels {
    ($($kind:ident: $($number:ty),*;)*) => { $($(
        impl From<$number> for Label {
            fn from(value: $number) -> Self {
                Self::$kind(value.into())
            }
        }
    )*)* };
}

labels! {
    Integer: i8, i16, i32, i64, i128, u8, u16, u32, u64, bool;
    Number: f32, f64;
    Text: &str, String;
}

impl FromStr for Labels {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let outside = positions_outside_of_quotes(text);
        let is_at = |at: &usize, mark: &str| text.get(*at..).is_some_and(|rest| rest.starts_with(mark));
        if let Some(at) = outside.iter().copied().find(|at| is_at(at, "..")) {
            let (first, last) = (text.get(..at).unwrap_or_default(), text.get(at + 2..).unwrap_or_default());
            return match (first.trim(), last.trim()) {
                ("", "") => Err(unfit(1, "", "a label before or behind ..")),
                (first, "") => Ok(Self::from_first(one(1, first)?)),
                ("", last) => Ok(Self::to_last(one(2, last)?)),
                (first, last) => Ok(Self::between(one(1, first)?, one(2, last)?)),
            };
        }
        let commas: Vec<usize> = outside.iter().copied().filter(|at| is_at(at, ",")).collect();
        if !commas.is_empty() {
            let (mut labels, mut start) = (Vec::new(), 0);
            for end in commas.into_iter().chain([text.len()]) {
                let part = text.get(start..end).unwrap_or_default();
                // A list of one label ends in a comma.
                if !(part.trim().is_empty() && end == text.len()) {
                    labels.push(one(labels.len() + 1, part)?);
                }
                start = end + 1;
            }
            return Ok(Self::from(labels));
        }
        match text.trim_end().strip_suffix('~') {
            Some(near) => Ok(Self::nearest(one(1, near)?)),
            None => Ok(Self::from(one(1, text)?)),
        }
    }
}

/// Parses label number `number` from its string form.
fn one(number: usize, text: &str) -> Result<Label> {
    let text = text.trim();
    if text.is_empty() {
        return Err(unfit(number, text, "a label; an empty string is \"\""));
    }
    if !text.starts_with('"') {
        return Ok(Label::from(text));
    }
    match Value::from_json(text) {
        Ok(Value::String(text)) => Ok(Label::from(text)),
        _ => Err(unfit(number, text, "a string in double quotes, as in JSON")),
    }
}

fn unfit(number: usize, found: &str, expected: &str) -> Error {
    Error::argument(format!("label {number}, {found:?}: expected {expected}"))
}

/// Returns a label in the form that [`one`] parses: a number or a string, in quotes if it contains a mark.
fn written(label: &Label) -> String {
    let Label::Text(text) = label else { return label.to_string() };
    let has_mark =
        text.contains([',', '"']) || text.contains("..") || text.starts_with('.') || text.ends_with(['.', '~']);
    match has_mark || text.is_empty() || text.trim() != text {
        true => Value::from(text.as_str()).to_string(),
        false => text.clone(),
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |labels: &[Label]| labels.iter().map(written).collect::<Vec<_>>().join(", ");
        let text = match &self.find {
            Find::One(label) => written(label),
            Find::List(labels) => match labels.as_slice() {
                [] => "no labels".to_owned(),
                [one] if self.method == Method::Exact => format!("{},", written(one)),
                labels => list(labels),
            },
            Find::Slice(first, last) => {
                let end = |label: &Option<Label>| label.as_ref().map(written).unwrap_or_default();
                format!("{}..{}", end(first), end(last))
            }
        };
        match (self.method, &self.find) {
            (Method::Exact, _) => f.write_str(&text),
            (Method::Nearest, Find::One(_)) => write!(f, "{text}~"),
            (Method::Nearest, _) => write!(f, "nearest to {text}"),
            (Method::Pad, _) => write!(f, "at or before {text}"),
            (Method::Backfill, _) => write!(f, "at or behind {text}"),
        }
    }
}

/// Returns the offsets of the characters that are not in double quotes.
fn positions_outside_of_quotes(text: &str) -> Vec<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let mut outside = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if !is_quoted => outside.push(at),
            _ => {}
        }
    }
    outside
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Text(value) => write!(f, "{value:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn labels_are_parsed_as_the_command_writes_them() {
        let parsed = |text: &str| text.parse::<Labels>().unwrap();
        assert_eq!(parsed("50~"), Labels::nearest("50"));
        assert_eq!(parsed("-1.5..2"), Labels::between("-1.5", "2"));
        assert_eq!(parsed("0.5.."), Labels::from_first("0.5"));
        assert_eq!(parsed(" ..1e3 "), Labels::to_last("1e3"));
        assert_eq!(parsed("1, 2.5,3"), Labels::from(["1", "2.5", "3"]));
        assert_eq!(parsed("1,"), Labels::from(["1"]));
        assert_eq!(parsed("\"a,b..c~\""), Labels::from("a,b..c~"));
        assert_eq!(parsed("\"a,\\\"b\",c"), Labels::from(["a,\"b", "c"]));
        assert_eq!(parsed("\"a~\"~"), Labels::nearest("a~"));
        assert_eq!(parsed("\"\""), Labels::from(""));
        let empty = "expected a label; an empty string is \"\"";
        let quoted = "expected a string in double quotes, as in JSON";
        for (text, message) in [
            ("", format!("label 1, \"\": {empty}")),
            ("~", format!("label 1, \"\": {empty}")),
            ("..", "label 1, \"\": expected a label before or behind ..".to_owned()),
            ("1,,2", format!("label 2, \"\": {empty}")),
            ("\"a", format!("label 1, \"\\\"a\": {quoted}")),
            ("a..\"b\"c", format!("label 2, \"\\\"b\\\"c\": {quoted}")),
        ] {
            assert_eq!(text.parse::<Labels>().unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn labels_without_a_text_are_described() {
        assert_eq!(Labels::pad(52.4).to_string(), "at or before 52.4");
        assert_eq!(Labels::backfill("2020-01").to_string(), "at or behind 2020-01");
        assert_eq!(Labels::nearest([1, 2]).to_string(), "nearest to 1, 2");
    }

    /// Generates labels of the characters that are marks in the text of labels, and of any characters.
    fn label() -> impl Strategy<Value = String> {
        prop_oneof!["[-0-9a-z.,~\"\\\\ ]{0,6}", "\\PC{0,4}"]
    }

    proptest! {
        #[test]
        fn labels_are_printed_as_they_are_parsed(
            labels in prop::collection::vec(label(), 1..4),
            (one, other) in (label(), label()),
        ) {
            let all = [
                Labels::from(one.as_str()),
                Labels::nearest(one.as_str()),
                Labels::between(one.as_str(), other.as_str()),
                Labels::from_first(one.as_str()),
                Labels::to_last(one.as_str()),
                Labels::from(labels),
            ];
            for labels in all {
                let text = labels.to_string();
                prop_assert_eq!(text.parse::<Labels>().ok(), Some(labels), "{}", text);
            }
        }
    }
}
