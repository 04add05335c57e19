//! Parser for documents with a large object whose members are returned as ranges of the document, to be parsed one by one on demand.

use super::{Parser, Step, SyntaxError, error_at};
use crate::deviations::{DeviationKind, ParseOptions};
use crate::{Deviation, Map, Value};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Maximum number of members that are returned as ranges: names and ranges take more memory than a short member.
const MAX_ENTRIES: usize = 1 << 21;

/// Member of the object, whose value is a range of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberText {
    /// Name of the member.
    pub name: String,
    /// Range of the member's value in the document, in bytes.
    pub text: Range<usize>,
}

/// Parsed document in which the members of one object are ranges of the document.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ParsedApart {
    /// Value of the document, in which the object is empty.
    pub value: Value,
    /// Deviations in the whole document that the [`ParseOptions`] accepted, in the order of the document.
    pub deviations: Vec<Deviation>,
    /// Members of the object, each name once; `None` if the document has no such object.
    pub entries: Option<Vec<MemberText>>,
}

/// Error of [`parse_apart`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApartError {
    /// Document that is not JSON.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// Member of the object, or the part of the document around the object, that is too large.
    #[error("more than {most} bytes at offset {offset}")]
    TooLarge {
        /// Maximum number of bytes of a part.
        most: usize,
        /// Offset in bytes at which the part begins.
        offset: usize,
    },
}

/// Parses `text` as [`parse`](super::parse) does, but returns the members of one object as ranges of `text`: their values are checked, and
/// dropped. So a document of many members takes little memory beside its own bytes. `path` has the names that lead to the object. Each
/// member, and the rest of the document around the object, may have `most` bytes.
///
/// # Errors
/// The errors of [`parse`](super::parse), and if there is more text than that.
///
/// # Example
/// ```
/// use zarr_json::{ParseOptions, parse_apart};
///
/// let text = r#"{"kind": "inline", "metadata": {"a": {"shape": [4]}, "b": 1}}"#;
/// let parsed = parse_apart(text.as_bytes(), ParseOptions::default(), &["metadata"], 1000)?;
/// assert_eq!(parsed.value.to_string(), r#"{"kind":"inline","metadata":{}}"#);
/// assert_eq!(&text[parsed.entries.unwrap()[0].text.clone()], r#"{"shape": [4]}"#);
/// # Ok::<(), zarr_json::ApartError>(())
/// ```
pub fn parse_apart(text: &[u8], options: ParseOptions, path: &[&str], most: usize) -> Result<ParsedApart, ApartError> {
    let mut parser = Parser::new(text, options)?;
    parser.apart = Apart { path, most, end: Some(most), ..Apart::default() };
    let value = parser.whole().and_then(|value| match parser.is_too_far(text.len()) {
        true => Err(parser.too_large()),
        false => Ok(value),
    });
    parser.recent.keep();
    let Apart { entries, too_large, .. } = parser.apart;
    match (value, too_large) {
        (Ok(value), _) => Ok(ParsedApart { value, deviations: parser.deviations, entries }),
        (Err(_), Some(offset)) => Err(ApartError::TooLarge { most, offset }),
        (Err(error), None) => Err(error.into()),
    }
}

/// Whether the object to which the names of `path` lead begins in `text`, which may be cut off anywhere.
///
/// ```
/// use zarr_json::begins_in;
///
/// assert!(begins_in(br#"{"x": "metadata", "metadata": {"a": {"sh"#, &["metadata"]));
/// assert!(!begins_in(br#"{"x": {"metadata": {"a": {"sh"#, &["metadata"]));
/// ```
#[must_use]
pub fn begins_in(text: &[u8], path: &[&str]) -> bool {
    let valid = std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len);
    let Ok(mut parser) = Parser::new(text.get(..valid).unwrap_or_default(), ParseOptions::ALL) else { return false };
    parser.apart = Apart { path, most: usize::MAX, end: None, ..Apart::default() };
    let _ = parser.whole();
    parser.recent.keep();
    parser.apart.has_begun
}

/// State of parsing the object whose members are returned as ranges.
#[derive(Default)]
pub(super) struct Apart<'p> {
    path: &'p [&'p str],
    /// Number of names of `path` that lead to the current value.
    steps: usize,
    /// Maximum number of bytes of each part.
    most: usize,
    /// Offset at which the current part begins. `end` is the offset at which it must have ended, if there is a limit.
    start: usize,
    end: Option<usize>,
    /// Offset of the part that is too large, if any.
    too_large: Option<usize>,
    has_begun: bool,
    entries: Option<Vec<MemberText>>,
}

impl Apart<'_> {
    /// Whether member `name`, in an object at depth `depth`, leads to the object.
    pub(super) fn is_next(&self, name: &str, depth: usize) -> bool {
        self.steps == depth && self.path.get(depth).is_some_and(|next| *next == name)
    }
}

impl Parser<'_> {
    fn is_too_far(&self, at: usize) -> bool {
        self.apart.end.is_some_and(|end| at > end)
    }

    fn too_large(&mut self) -> SyntaxError {
        self.apart.too_large = Some(self.apart.start);
        error_at(self.text, self.at, "too large")
    }

    /// Checks that the current part of the document is not too large so far.
    pub(super) fn check_limit(&mut self) -> Result<(), SyntaxError> {
        if self.is_too_far(self.at) { Err(self.too_large()) } else { Ok(()) }
    }

    /// Parses the value of a member that leads to the object, or is the object.
    pub(super) fn on_way(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        if depth == self.apart.path.len() && self.peek() == Some(b'{') {
            self.entries(depth)?;
            return Ok(Value::Object(Map::new()));
        }
        self.apart.steps += 1;
        let value = self.value(depth);
        self.apart.steps -= 1;
        value
    }

    /// Parses the members of the object into ranges of the document.
    fn entries(&mut self, depth: usize) -> Result<(), SyntaxError> {
        self.check_limit()?;
        let (start, around) = (self.at, (self.apart.start, self.apart.end));
        // A second object of this name takes the place of the first.
        (self.apart.has_begun, self.apart.entries) = (true, None);
        let mut entries: Vec<MemberText> = Vec::new();
        let mut seen = Names::default();
        self.at += 1;
        loop {
            self.skip_space();
            if self.closes(b'}', entries.is_empty())? {
                break;
            }
            if self.peek() != Some(b'"') {
                return Err(self.error("expected a member name"));
            }
            let name_at = self.at;
            (self.apart.start, self.apart.end) = (name_at, Some(name_at.saturating_add(self.apart.most)));
            let name = self.string()?.into_owned();
            self.path.push(Step::Member(name_at + 1..self.at.saturating_sub(1)));
            self.note_surrogates()?;
            self.skip_space();
            if !self.take(":") {
                return Err(self.error("expected `:`"));
            }
            self.skip_space();
            let value_at = self.at;
            drop(self.value(depth + 1)?);
            self.check_limit()?;
            let text = value_at..self.at;
            match seen.index(&entries, &name) {
                None if entries.len() >= MAX_ENTRIES => {
                    return Err(error_at(self.text, name_at, &format!("expected at most {MAX_ENTRIES} members")));
                }
                None => entries.push(MemberText { name, text }),
                Some(_) if !self.options.duplicate_names => {
                    return Err(error_at(self.text, name_at, &format!("a second member {name:?}")));
                }
                Some(index) => {
                    if let Some(earlier) = entries.get_mut(index) {
                        earlier.text = text;
                    }
                    if seen.repeats(index) {
                        self.note(DeviationKind::RepeatedName(name))?;
                    }
                }
            }
            self.path.pop();
            self.skip_space();
            if !self.comma_or(b'}')? {
                break;
            }
        }
        let len = self.at - start;
        (self.apart.start, self.apart.end) = (around.0, around.1.map(|end| end.saturating_add(len)));
        self.apart.entries = Some(entries);
        Ok(())
    }
}

/// Names of the members so far. Nothing is stored while they come in ascending order, as most writers sort them.
#[derive(Default)]
struct Names {
    indices: Option<HashMap<String, usize>>,
    repeated: HashSet<usize>,
}

impl Names {
    /// Index of the entry `name`; `None` if the name is new, and then it is the name of the next entry.
    fn index(&mut self, entries: &[MemberText], name: &str) -> Option<usize> {
        if self.indices.is_none() && entries.last().is_none_or(|last| *last.name < *name) {
            return None;
        }
        let known = || entries.iter().zip(0..).map(|(entry, index)| (entry.name.clone(), index)).collect();
        let indices = self.indices.get_or_insert_with(known);
        if let Some(index) = indices.get(name) {
            return Some(*index);
        }
        indices.insert(name.to_owned(), entries.len());
        None
    }

    /// Whether the name of entry `index` comes for the second time, and not for the third.
    fn repeats(&mut self, index: usize) -> bool {
        self.repeated.insert(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn read(text: &str, path: &[&str], most: usize) -> Result<ParsedApart, ApartError> {
        parse_apart(text.as_bytes(), ParseOptions::ALL, path, most)
    }

    #[test]
    fn what_is_kept_as_text_is_what_parsing_all_gives() {
        for text in [
            r#"{"c": {"kind": 1, "metadata": {"b": {"x": NaN}, "a": [1,], "b": {"y": 2}, "b": 3}, "z": 1}, "metadata": {"q": 1}}"#,
            r#"{"c": {"metadata": {}}}"#,
            r#"{"c": {"metadata": []}}"#,
            r#"{"c": [{"metadata": {"a": 1}}]}"#,
            r#"{"x": {"metadata": {"a": 1}}}"#,
            r#"{"c": {"metadata": {"a": 1}, "metadata": {"b": 2}}}"#,
            r#"{"c": {"metadata": {"a": 1}, "metadata": 5}}"#,
            "[1, 2]",
        ] {
            let whole = parse(text.as_bytes(), ParseOptions::ALL).unwrap();
            let apart = read(text, &["c", "metadata"], 1000).unwrap();
            assert_eq!(apart.deviations, whole.deviations, "{text}");
            let object = whole.value.get("c").and_then(|c| c.get("metadata")?.as_object());
            let entries = apart.entries.filter(|_| {
                apart.value.get("c").is_some_and(|c| c.get("metadata").is_some_and(|it| it.as_object().is_some()))
            });
            let values = entries.map(|entries| {
                let value = |entry: MemberText| {
                    (entry.name, parse(text[entry.text].as_bytes(), ParseOptions::ALL).unwrap().value)
                };
                Map::from_unique(entries.into_iter().map(value))
            });
            assert_eq!(values.as_ref(), object, "{text}");
        }
        for text in
            [r#"{"c": {"metadata": {"a": 1"#, r#"{"c": {"metadata": {"a": }}}"#, r#"{"c": {"metadata": {1: 1}}}"#]
        {
            let whole = parse(text.as_bytes(), ParseOptions::ALL).unwrap_err();
            assert_eq!(read(text, &["c", "metadata"], 1000).unwrap_err(), ApartError::Syntax(whole));
        }
    }

    #[test]
    fn each_part_has_the_limit() {
        let text = |before: usize, entry: usize, after: usize| {
            let spaces = |count: usize| " ".repeat(count);
            format!(
                r#"{{"a": [{}], "m": {{"x": [{}], "y": []}}, "z": [{}]}}"#,
                spaces(before),
                spaces(entry),
                spaces(after)
            )
        };
        let many: Vec<String> = (0..100).map(|n| format!(r#""e{n:02}": [{}]"#, " ".repeat(40))).collect();
        let many = format!(r#"{{"m": {{{}}}, "z": 1}}"#, many.join(", "));
        assert_eq!(read(&many, &["m"], 100).unwrap().entries.unwrap().len(), 100);
        assert!(read(&text(20, 60, 20), &["m"], 100).is_ok());
        for (before, entry, after) in [(200, 0, 0), (0, 200, 0), (0, 0, 200), (60, 0, 60)] {
            let error = read(&text(before, entry, after), &["m"], 100).unwrap_err();
            assert!(matches!(error, ApartError::TooLarge { most: 100, .. }), "{error}");
        }
        // Of a text without the object no more is read than that.
        let values = format!("[{}", "1,".repeat(1000));
        assert!(matches!(read(&values, &["m"], 100).unwrap_err(), ApartError::TooLarge { .. }));
    }
}
