//! Literals of Python, limited to the kinds in headers of numpy.

use std::str::Chars;
use zarr::meta::json::{Map, Value};

/// Literal of Python.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    String(String),
    Bool(bool),
    Number(u64),
    /// Tuple or list.
    List(Vec<Literal>),
    Members(Vec<(String, Literal)>),
    None,
}

/// Greatest depth of nested literals: data types in headers nest a few levels at most.
const MAX_DEPTH: usize = 32;

impl Literal {
    /// Parses a string that holds one literal.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { rest: text };
        let literal = parser.literal(0)?;
        parser.skip_space();
        if parser.rest.is_empty() { Ok(literal) } else { Err(parser.error("the end of the header")) }
    }

    /// Converts the literal to JSON; tuples become arrays.
    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::String(text) => Value::from(text.as_str()),
            Self::Bool(value) => Value::from(*value),
            Self::Number(number) => Value::from(*number),
            Self::List(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Self::Members(members) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), value.to_value())).collect::<Map>())
            }
            Self::None => Value::Null,
        }
    }

    /// Returns the value of the member `name`; `None` if there is no such member or the literal is no dictionary.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Members(members) = self else { return None };
        members.iter().rev().find(|(member, _)| member == name).map(|(_, value)| value)
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn literal(&mut self, depth: usize) -> Result<Literal, String> {
        if depth > MAX_DEPTH {
            return Err("the header is nested too deeply".to_owned());
        }
        self.skip_space();
        match self.rest.chars().next() {
            Some(quote @ ('\'' | '"')) => self.text(quote).map(Literal::String),
            Some('(') => self.items(')', depth).map(Literal::List),
            Some('[') => self.items(']', depth).map(Literal::List),
            Some('{') => self.members(depth).map(Literal::Members),
            Some(c) if c.is_ascii_digit() => self.number(),
            _ => {
                let words = [("True", Literal::Bool(true)), ("False", Literal::Bool(false)), ("None", Literal::None)];
                let found = words.into_iter().find(|(word, _)| self.eat(word));
                found.map(|(_, literal)| literal).ok_or_else(|| self.error("a literal"))
            }
        }
    }

    /// Parses a string, with the escapes of Python's `repr`.
    fn text(&mut self, quote: char) -> Result<String, String> {
        let inner = self.rest.get(1..).unwrap_or_default();
        let mut chars = inner.chars();
        let mut text = String::new();
        loop {
            match chars.next().ok_or_else(|| self.error("a closing quote"))? {
                c if c == quote => break,
                '\\' => text.push(escape(&mut chars).ok_or_else(|| self.error("a string with escapes of Python"))?),
                c => text.push(c),
            }
        }
        self.rest = chars.as_str();
        Ok(text)
    }

    fn number(&mut self) -> Result<Literal, String> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let number = digits.parse().map_err(|_| self.error("a number of at most 64 bits"))?;
        // Python 2 wrote long integers as `7L`.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        Ok(Literal::Number(number))
    }

    fn items(&mut self, close: char, depth: usize) -> Result<Vec<Literal>, String> {
        let mut items = Vec::new();
        self.list(close, |parser| {
            items.push(parser.literal(depth + 1)?);
            Ok(())
        })?;
        Ok(items)
    }

    fn members(&mut self, depth: usize) -> Result<Vec<(String, Literal)>, String> {
        let mut members = Vec::new();
        self.list('}', |parser| {
            let Literal::String(name) = parser.literal(depth + 1)? else {
                return Err(parser.error("a name in quotes"));
            };
            parser.skip_space();
            if !parser.eat(":") {
                return Err(parser.error("a colon"));
            }
            members.push((name, parser.literal(depth + 1)?));
            Ok(())
        })?;
        Ok(members)
    }

    /// Parses items separated by commas up to `close`. A comma may follow the last item.
    fn list(&mut self, close: char, mut item: impl FnMut(&mut Self) -> Result<(), String>) -> Result<(), String> {
        self.rest = self.rest.get(1..).unwrap_or_default();
        loop {
            self.skip_space();
            if let Some(rest) = self.rest.strip_prefix(close) {
                self.rest = rest;
                return Ok(());
            }
            item(self)?;
            self.skip_space();
            if !self.eat(",") && !self.rest.starts_with(close) {
                return Err(self.error("a comma"));
            }
        }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, word: &str) -> bool {
        self.rest.strip_prefix(word).map(|rest| self.rest = rest).is_some()
    }

    fn error(&self, expected: &str) -> String {
        let found: String = self.rest.chars().take(12).collect();
        format!("found {found:?} in the header, expected {expected}")
    }
}

/// Parses the rest of an escape after the backslash, and returns the character.
fn escape(chars: &mut Chars<'_>) -> Option<char> {
    let digits = match chars.next()? {
        'n' => return Some('\n'),
        'r' => return Some('\r'),
        't' => return Some('\t'),
        c @ ('\\' | '\'' | '"') => return Some(c),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let code =
        (0..digits).try_fold(0, |code: u32, _| code.checked_mul(16)?.checked_add(chars.next()?.to_digit(16)?))?;
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals() {
        let parsed = Literal::parse(" {'a': (1, 2L,), \"b\": [True, None], } ").unwrap();
        assert_eq!(parsed.get("a"), Some(&Literal::List(vec![Literal::Number(1), Literal::Number(2)])));
        assert_eq!(parsed.get("b"), Some(&Literal::List(vec![Literal::Bool(true), Literal::None])));
        assert_eq!(Literal::parse("()"), Ok(Literal::List(Vec::new())));
        assert_eq!(Literal::parse(r"'a\'\\\xe9\u6771'"), Ok(Literal::String("a'\\é東".to_owned())));
        for text in [
            r"'\q'",
            r"'\x1'",
            r"'\ud800'",
            "",
            "(",
            "{'a' 1}",
            "(1 2)",
            "'a",
            "(,)",
            "{1: 2}",
            "1 1",
            "99999999999999999999",
        ] {
            assert!(Literal::parse(text).is_err(), "{text}");
        }
        assert!(Literal::parse(&"(".repeat(100_000)).is_err());
    }
}
