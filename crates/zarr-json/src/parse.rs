//! JSON parser whose errors have locations, and which accepts the deviations of old writers on demand.

use crate::deviations::{Deviation, DeviationKind, ParseOptions};
use crate::members::Member;
use crate::names::well_known;
use crate::pointer::escaped;
use crate::recent::Recent;
use crate::{Map, Number, Value, number::number_len};
use apart::Apart;
use std::borrow::Cow;
use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};
use std::fmt;
use std::ops::Range;

mod apart;
mod text;

pub use apart::{ApartError, MemberText, ParsedApart, begins_in, parse_apart};

/// Maximum depth of nested arrays and objects. Real documents stay below ten.
const MAX_DEPTH: usize = 128;

/// Maximum number of deviations in one document. `MAX_POINTERS` is the maximum number of bytes of the pointers to all of them. Consolidated
/// metadata of 16 MiB has space for 56,000 arrays, each with a `NaN` literal in its attributes and a pointer of some 60 bytes.
const MAX_DEVIATIONS: usize = 1 << 18;
const MAX_POINTERS: usize = 32 << 20;

/// Byte order mark.
const MARK: char = '\u{feff}';

/// Parsed document: its value, and its deviations from JSON.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Parsed {
    /// Value of the document.
    pub value: Value,
    /// Deviations that the [`ParseOptions`] accepted, in the order of the document.
    pub deviations: Vec<Deviation>,
}

/// Error in a document that is not JSON, with its location.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
#[non_exhaustive]
pub struct SyntaxError {
    /// Line of the error, counted from 1.
    pub line: usize,
    /// Column of the error in bytes, counted from 1.
    pub column: usize,
    /// Offset of the error in the document in bytes, counted from 0.
    pub offset: usize,
    /// Message that describes the error, without its location.
    pub what: String,
}

impl fmt::Debug for SyntaxError {
    /// Shows the message, as `Display` does, for a `fn main() -> Result` that prints errors with `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Value {
    /// Parses a document of strict JSON (RFC 8259; several members with one name are an error).
    ///
    /// # Errors
    /// [`SyntaxError`] with line and column.
    pub fn from_json(text: &str) -> Result<Self, SyntaxError> {
        parse(text.as_bytes(), ParseOptions::default()).map(|parsed| parsed.value)
    }
}

/// Parses one JSON value that makes up all of `text`.
///
/// # Errors
/// [`SyntaxError`]; also for text that is not UTF-8 or nests deeper than 128 levels, and for deviations that `options` do not
/// accept.
pub fn parse(text: &[u8], options: ParseOptions) -> Result<Parsed, SyntaxError> {
    let mut parser = Parser::new(text, options)?;
    let value = parser.whole();
    parser.recent.keep();
    Ok(Parsed { value: value?, deviations: parser.deviations })
}

fn error_at(text: &[u8], at: usize, what: &str) -> SyntaxError {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    SyntaxError {
        line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
        column: before.len() - line_start + 1,
        offset: before.len(),
        what: what.to_owned(),
    }
}

struct Parser<'t> {
    /// Whole document as a string.
    checked: &'t str,
    /// Bytes of the document.
    text: &'t [u8],
    at: usize,
    options: ParseOptions,
    /// Members and items that lead to the current value.
    path: Vec<Step>,
    /// Members so far of all unfinished objects, the innermost last. An object gets its own memory when it is finished and its size is
    /// known.
    members: Vec<Member>,
    /// Items so far of all unfinished arrays, the innermost last.
    items: Vec<Value>,
    recent: Recent,
    /// Whether the whole document is ASCII.
    is_ascii: bool,
    /// Whether the last string had lone surrogates.
    lone_surrogates: bool,
    deviations: Vec<Deviation>,
    /// Number of bytes of the pointers to all deviations.
    pointers: usize,
    /// Offset up to which lines are counted. `line` is the number of the line at this offset, and `line_start` the offset at which that
    /// line begins.
    counted: usize,
    line: usize,
    line_start: usize,
    /// Object whose members are not parsed into values, but returned as ranges of the document.
    apart: Apart<'t>,
}

/// Names of the members of an object so far.
///
/// A search through all names for duplicates would be quadratic in the length of hostile objects, and a map costs more than a search for
/// small objects, which nearly all are.
#[derive(Default)]
struct Seen {
    /// Index of the member of each name; empty while there are only a few members.
    indices: HashMap<String, usize>,
    /// Indices of the members whose name came more than once.
    repeated: HashSet<usize>,
}

impl Seen {
    /// Index of the member `name`; `None` if the name is new, and then it is the name of the next member.
    fn index(&mut self, members: &[Member], name: &str) -> Option<usize> {
        const FEW: usize = 16;
        if members.len() <= FEW {
            return members.iter().position(|(member, _)| member == name);
        }
        if self.indices.is_empty() {
            self.indices.extend(members.iter().zip(0..).map(|((member, _), index)| (member.to_string(), index)));
        }
        match self.indices.entry(name.to_owned()) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(new) => {
                new.insert(members.len());
                None
            }
        }
    }
}

/// Step of a JSON pointer: a member name, given by its range in the document, or an index.
enum Step {
    Member(Range<usize>),
    Item(usize),
}

impl<'t> Parser<'t> {
    fn new(text: &'t [u8], options: ParseOptions) -> Result<Self, SyntaxError> {
        let checked = std::str::from_utf8(text).map_err(|error| error_at(text, error.valid_up_to(), "not UTF-8"))?;
        Ok(Self {
            checked,
            text,
            at: 0,
            options,
            path: Vec::new(),
            members: Vec::new(),
            items: Vec::new(),
            recent: Recent::take(),
            is_ascii: checked.is_ascii(),
            lone_surrogates: false,
            deviations: Vec::new(),
            pointers: 0,
            counted: 0,
            line: 1,
            line_start: 0,
            apart: Apart::default(),
        })
    }

    fn note(&mut self, kind: DeviationKind) -> Result<(), SyntaxError> {
        let mut pointer = String::new();
        for step in &self.path {
            pointer.push('/');
            match step {
                Step::Member(name) => {
                    let name = String::from_utf8_lossy(self.text.get(name.clone()).unwrap_or_default());
                    pointer.push_str(&escaped(&name));
                }
                Step::Item(index) => pointer.push_str(&index.to_string()),
            }
        }
        self.pointers += pointer.len();
        if self.deviations.len() == MAX_DEVIATIONS || self.pointers > MAX_POINTERS {
            let what = format!("{kind}, after {} deviations from JSON", self.deviations.len());
            return Err(error_at(self.text, self.at, &what));
        }
        // Counting lines from the beginning each time would be quadratic.
        let new = self.text.get(self.counted..self.at).unwrap_or_default();
        self.line += new.iter().filter(|&&byte| byte == b'\n').count();
        self.line_start =
            new.iter().rposition(|&byte| byte == b'\n').map_or(self.line_start, |at| self.counted + at + 1);
        self.counted = self.at;
        let column = self.at - self.line_start + 1;
        self.deviations.push(Deviation { pointer, line: self.line, column, offset: self.at, kind });
        Ok(())
    }

    /// Notes a deviation if the string that was read last had lone surrogates.
    fn note_surrogates(&mut self) -> Result<(), SyntaxError> {
        if std::mem::take(&mut self.lone_surrogates) { self.note(DeviationKind::LoneSurrogate) } else { Ok(()) }
    }

    fn error(&self, what: &str) -> SyntaxError {
        let found = match self.text.get(self.at) {
            None => "the end of the text".to_owned(),
            Some(&byte) if byte.is_ascii_graphic() => format!("`{}`", char::from(byte)),
            Some(&byte) => format!("byte {byte:#04x}"),
        };
        error_at(self.text, self.at, &format!("{what}, found {found}"))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token.as_bytes());
        if found {
            self.at += token.len();
        }
        found
    }

    fn whole(&mut self) -> Result<Value, SyntaxError> {
        if self.checked.starts_with(MARK) {
            if !self.options.byte_order_mark {
                return Err(error_at(
                    self.text,
                    0,
                    "a byte order mark, which JSON does not have: save the text without",
                ));
            }
            self.note(DeviationKind::ByteOrderMark)?;
            self.at = MARK.len_utf8();
        }
        self.skip_space();
        let value = self.value(0)?;
        self.skip_space();
        match self.peek() {
            None => Ok(value),
            Some(_) => Err(self.error("expected the end of the text")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        if depth > MAX_DEPTH {
            return Err(error_at(self.text, self.at, "nested deeper than 128 levels"));
        }
        self.check_limit()?;
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => {
                let text = self.string()?.into_owned();
                self.note_surrogates()?;
                Ok(Value::String(text))
            }
            Some(b'-' | b'0'..=b'9') if !self.rest().starts_with(b"-I") => self.number(),
            _ if self.take("true") => Ok(Value::Bool(true)),
            _ if self.take("false") => Ok(Value::Bool(false)),
            _ if self.take("null") => Ok(Value::Null),
            _ => self.nan_literal(),
        }
    }

    fn nan_literal(&mut self) -> Result<Value, SyntaxError> {
        for token in ["NaN", "Infinity", "-Infinity"] {
            if self.options.nan_literals && self.take(token) {
                self.note(DeviationKind::NanLiteral(token))?;
                return Ok(Value::Number(Number::from_checked(token)));
            }
        }
        Err(self.error("expected a value"))
    }

    fn number(&mut self) -> Result<Value, SyntaxError> {
        match number_len(self.rest()).and_then(|len| self.checked.get(self.at..self.at + len)) {
            Some(text) => {
                self.at += text.len();
                Ok(Value::Number(Number::from_checked(text)))
            }
            None => Err(self.error("malformed number")),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        self.at += 1;
        let begin = self.items.len();
        loop {
            self.skip_space();
            let len = self.items.len() - begin;
            if self.closes(b']', len == 0)? {
                break;
            }
            self.path.push(Step::Item(len));
            let item = self.value(depth + 1)?;
            self.items.push(item);
            self.path.pop();
            self.skip_space();
            if !self.comma_or(b']')? {
                break;
            }
        }
        Ok(Value::Array(self.items.drain(begin..).collect()))
    }

    fn object(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        self.at += 1;
        let begin = self.members.len();
        let mut seen = Seen::default();
        loop {
            self.skip_space();
            if self.closes(b'}', self.members.len() == begin)? {
                break;
            }
            if self.peek() != Some(b'"') {
                return Err(self.error("expected a member name"));
            }
            let name_at = self.at;
            let name = self.string()?;
            self.path.push(Step::Member(name_at + 1..self.at.saturating_sub(1)));
            self.note_surrogates()?;
            self.skip_space();
            if !self.take(":") {
                return Err(self.error("expected `:`"));
            }
            self.skip_space();
            let known = well_known(&name);
            let value = match self.apart.is_next(&name, depth) {
                true => self.on_way(depth + 1)?,
                false => self.member_value(known, depth + 1)?,
            };
            let (_, members) = self.members.split_at_mut(begin);
            match seen.index(members, &name) {
                None => {
                    let name = known.map_or_else(|| Cow::Owned(name.into_owned()), Cow::Borrowed);
                    self.members.push((name, value));
                }
                Some(_) if !self.options.duplicate_names => {
                    return Err(error_at(self.text, name_at, &format!("a second member {name:?}")));
                }
                Some(index) => {
                    if let Some((_, earlier)) = members.get_mut(index) {
                        *earlier = value;
                    }
                    if seen.repeated.insert(index) {
                        self.note(DeviationKind::RepeatedName(name.into_owned()))?;
                    }
                }
            }
            self.path.pop();
            self.skip_space();
            if !self.comma_or(b'}')? {
                break;
            }
        }
        Ok(Value::Object(Map::from_members(self.members.drain(begin..).collect())))
    }

    /// Parses the value of a member. `name` is the name of the member if that is a well-known one: its value is copied if the same text was
    /// parsed recently.
    fn member_value(&mut self, name: Option<&'static str>, depth: usize) -> Result<Value, SyntaxError> {
        let (Some(name), Some(b'{' | b'[')) = (name, self.peek()) else { return self.value(depth) };
        if let Some((value, len)) = self.recent.get(name, self.rest(), depth) {
            self.at += len;
            return Ok(value.clone());
        }
        let (start, deviations) = (self.at, self.deviations.len());
        let value = self.value(depth)?;
        if self.deviations.len() == deviations {
            let text = self.text.get(start..self.at).unwrap_or_default();
            self.recent.put(name, text, depth, &value);
        }
        Ok(value)
    }

    /// Reads the closing bracket if it is next: `empty` says that there was no item yet, else it follows a trailing comma. Returns whether
    /// it was next.
    fn closes(&mut self, bracket: u8, empty: bool) -> Result<bool, SyntaxError> {
        if self.peek() != Some(bracket) {
            return Ok(false);
        }
        if !empty {
            if !self.options.trailing_comma {
                return Err(self.error("expected a value after `,`"));
            }
            self.note(DeviationKind::TrailingComma)?;
        }
        self.at += 1;
        Ok(true)
    }

    /// Reads a comma or the closing bracket. Returns true after a comma, if another item may follow.
    fn comma_or(&mut self, bracket: u8) -> Result<bool, SyntaxError> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == bracket => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.error(&format!("expected `,` or `{}`", char::from(bracket)))),
        }
    }
}

#[cfg(test)]
mod tests;
