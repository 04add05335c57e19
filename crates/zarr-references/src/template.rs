//! Templates: strings with expressions in `{{` and `}}`, a small part of Jinja that references use.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

use crate::ReferencesFault;

/// Value of an expression in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Integer(i64),
    Text(String),
}

impl Value {
    fn into_text(self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

/// Variables of a generated reference, or arguments of a template.
pub(crate) type Variables = HashMap<String, Value>;

/// Templates of a file, and the work that filling them in may still cause, in bytes of strings.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(crate) templates: HashMap<String, String>,
    limit: u64,
    left: Cell<u64>,
}

/// Maximum depth of templates that use each other, and of nested parentheses.
const DEPTH: usize = 32;
/// Maximum length in bytes of a filled-in template.
const LONGEST: usize = 1 << 16;
/// Maximum work for the templates of a file, in bytes of strings, in addition to [`WORK_PER_BYTE`].
const WORK: u64 = 1 << 30;
/// Maximum work for each byte of a file.
const WORK_PER_BYTE: u64 = 16;
/// Work that filling in a string counts at least, in bytes.
pub(crate) const STEP: u64 = 64;

impl Scope {
    /// Creates a scope without templates for a file of `size` bytes.
    pub(crate) fn of_file(size: usize) -> Self {
        let limit = (size as u64).saturating_mul(WORK_PER_BYTE).saturating_add(WORK);
        Self { templates: HashMap::new(), limit, left: Cell::new(limit) }
    }

    /// Sets the work that is left to its maximum.
    pub(crate) fn restart(&self) {
        self.left.set(self.limit);
    }

    /// Subtracts `work`, in bytes, from the work that is left; fails if nothing is left.
    pub(crate) fn spend(&self, work: u64) -> Result<(), ReferencesFault> {
        let left = self.left.get().saturating_sub(work);
        self.left.set(left);
        if left > 0 { Ok(()) } else { Err(ReferencesFault::Work { limit: self.limit }) }
    }

    /// Replaces the expressions in a string by their values. A string without expressions is returned unchanged.
    pub(crate) fn fill_in<'t>(&self, text: &'t str, variables: &Variables) -> Result<Cow<'t, str>, ReferencesFault> {
        if !text.contains("{{") && !text.contains("{%") {
            return Ok(Cow::Borrowed(text));
        }
        self.render(text, variables, DEPTH).map(Cow::Owned).map_err(|what| match self.left.get() {
            0 => ReferencesFault::Work { limit: self.limit },
            _ => ReferencesFault::Template { text: text.chars().take(200).collect(), what },
        })
    }

    fn count(&self, bytes: usize) -> Result<(), String> {
        self.spend(bytes as u64).map_err(|fault| fault.to_string())
    }

    fn render(&self, text: &str, variables: &Variables, depth: usize) -> Result<String, String> {
        self.spend(STEP + text.len() as u64).map_err(|fault| fault.to_string())?;
        let depth = depth.checked_sub(1).ok_or("templates that use each other more than 32 deep")?;
        if text.contains("{%") {
            return Err("found a statement, {%, which references of this version do not have".to_owned());
        }
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, behind)) = rest.split_once("{{") {
            filled.push_str(before);
            let (expression, behind) = behind.split_once("}}").ok_or("found no }} behind {{")?;
            let mut reader = Reader { scope: self, variables, text: expression, depth };
            filled.push_str(&reader.whole()?.into_text());
            check_length(filled.len())?;
            rest = behind;
        }
        filled.push_str(rest);
        check_length(filled.len())?;
        self.count(filled.len())?;
        Ok(filled)
    }
}

fn check_length(bytes: usize) -> Result<(), String> {
    if bytes <= LONGEST { Ok(()) } else { Err(format!("found a text of more than {LONGEST} bytes")) }
}

/// Parser of an expression.
struct Reader<'a> {
    scope: &'a Scope,
    variables: &'a Variables,
    text: &'a str,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn whole(&mut self) -> Result<Value, String> {
        let value = self.sum()?;
        self.text = self.text.trim_start();
        if self.text.is_empty() {
            Ok(value)
        } else {
            Err(format!("found {:?}, expected an integer, a name, or one of + - * // %", self.text))
        }
    }

    fn take(&mut self, token: &str) -> bool {
        let rest = self.text.trim_start();
        let found = rest.strip_prefix(token);
        self.text = found.unwrap_or(rest);
        found.is_some()
    }

    fn sum(&mut self) -> Result<Value, String> {
        let mut value = self.product()?;
        loop {
            if self.take("+") {
                value = match (value, self.product()?) {
                    (Value::Text(first), Value::Text(second)) => {
                        check_length(first.len().saturating_add(second.len()))?;
                        Value::Text(first + &second)
                    }
                    (first, second) => integers(first, second, i64::checked_add)?,
                };
            } else if self.take("-") {
                value = integers(value, self.product()?, i64::checked_sub)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<Value, String> {
        let mut value = self.factor()?;
        loop {
            // Python's division and remainder round down.
            if self.take("//") {
                value = integers(value, self.factor()?, |first, second| {
                    let down = first.checked_rem(second)? != 0 && (first < 0) != (second < 0);
                    first.checked_div(second)?.checked_sub(down.into())
                })?;
            } else if self.take("*") {
                value = integers(value, self.factor()?, i64::checked_mul)?;
            } else if self.take("%") {
                value = integers(value, self.factor()?, |first, second| {
                    let rest = first.checked_rem(second)?;
                    Some(if rest != 0 && (rest < 0) != (second < 0) { rest + second } else { rest })
                })?;
            } else {
                return Ok(value);
            }
        }
    }

    fn factor(&mut self) -> Result<Value, String> {
        self.depth = self.depth.checked_sub(1).ok_or("found an expression nested more than 32 deep")?;
        let value = self.atom();
        self.depth += 1;
        value
    }

    fn atom(&mut self) -> Result<Value, String> {
        if self.take("-") {
            let value = self.factor()?;
            return integers(Value::Integer(0), value, i64::checked_sub);
        }
        if self.take("(") {
            let value = self.sum()?;
            return if self.take(")") { Ok(value) } else { Err("found no ) behind (".to_owned()) };
        }
        for quote in ["'", "\""] {
            if self.take(quote) {
                let (text, rest) = self.text.split_once(quote).ok_or("found a text without an end")?;
                self.text = rest;
                check_length(text.len())?;
                return Ok(Value::Text(text.to_owned()));
            }
        }
        let word = self.word();
        if word.starts_with(|first: char| first.is_ascii_digit()) {
            return word.parse().map(Value::Integer).map_err(|_| format!("found {word:?}, expected an integer"));
        }
        if word.is_empty() {
            return Err(format!("found {:?}, expected an integer or a name", self.text));
        }
        let arguments = if self.take("(") { self.arguments()? } else { HashMap::new() };
        if let Some(value) = self.variables.get(word).filter(|_| arguments.is_empty()) {
            if let Value::Text(text) = value {
                self.scope.count(text.len())?;
            }
            return Ok(value.clone());
        }
        match self.scope.templates.get(word) {
            Some(template) => self.scope.render(template, &arguments, self.depth).map(Value::Text),
            None => Err(format!("found {word:?}, which is no template and no variable")),
        }
    }

    fn arguments(&mut self) -> Result<Variables, String> {
        let mut arguments = Variables::new();
        while !self.take(")") {
            if !arguments.is_empty() && !self.take(",") {
                return Err("found no ) behind the arguments of a template".to_owned());
            }
            let name = self.word();
            if name.is_empty() || !self.take("=") {
                return Err("found an argument without a name, expected name=value".to_owned());
            }
            let value = self.sum()?;
            arguments.insert(name.to_owned(), value);
        }
        Ok(arguments)
    }

    fn word(&mut self) -> &'a str {
        let rest = self.text.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.text = rest;
        word
    }
}

fn integers(first: Value, second: Value, of: impl Fn(i64, i64) -> Option<i64>) -> Result<Value, String> {
    match (first, second) {
        (Value::Integer(first), Value::Integer(second)) => {
            of(first, second).map(Value::Integer).ok_or_else(|| format!("found no integer for {first} and {second}"))
        }
        (Value::Text(text), _) | (_, Value::Text(text)) => Err(format!("found the text {text:?}, expected an integer")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill_in(text: &str) -> Result<String, ReferencesFault> {
        let variables =
            HashMap::from([("i".to_owned(), Value::Integer(3)), ("s".to_owned(), Value::Text("a".to_owned()))]);
        scope().fill_in(text, &variables).map(Cow::into_owned)
    }

    fn scope() -> Scope {
        let templates =
            [("u", "server.domain/path"), ("f", "{{c}}"), ("g", "{{u}}/{{f(c='x')}}"), ("loop", "{{loop}}")];
        let templates = templates.map(|(name, text)| (name.to_owned(), text.to_owned()));
        Scope { templates: templates.into(), ..Scope::of_file(0) }
    }

    #[test]
    fn work_is_bounded() {
        // Each template uses the one before ten times: 10^14 strings, all empty.
        let limit = 1 << 24;
        let mut scope = Scope { limit, left: Cell::new(limit), ..Scope::default() };
        scope.templates.insert("t0".to_owned(), String::new());
        for at in 1..15 {
            scope.templates.insert(format!("t{at}"), format!("{{{{t{}}}}}", at - 1).repeat(10));
        }
        let fault = scope.fill_in("{{t14}}", &Variables::new()).unwrap_err();
        assert!(matches!(fault, ReferencesFault::Work { limit: found } if found == limit), "{fault}");
        scope.restart();
        scope.fill_in("{{t4}}", &Variables::new()).unwrap();
        // A sum never is longer than a filled-in template may be, not even an intermediate result.
        scope.templates.insert("a".to_owned(), "x".repeat(LONGEST));
        let sum = format!("{{{{a{}}}}}", "+a".repeat(1 << 20));
        let fault = scope.fill_in(&sum, &Variables::new()).unwrap_err().to_string();
        assert!(fault.contains("a text of more than 65536 bytes"), "{fault}");
    }

    #[test]
    fn expressions_are_those_of_jinja() {
        for (text, expected) in [
            ("plain", "plain"),
            ("http://{{u}}_{{ i }}", "http://server.domain/path_3"),
            ("{{(i + 1) * 1000}}", "4000"),
            ("{{ i // 2 }} {{ -i // 2 }} {{ i % 2 }} {{ -i % 2 }} {{ 10 - i - 1 }}", "1 -2 1 1 6"),
            ("{{f(c='text')}}", "text"),
            ("{{g}}", "server.domain/path/x"),
            ("{{s + '.nc'}}", "a.nc"),
        ] {
            assert_eq!(fill_in(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn others_are_refused() {
        let deep = format!("{{{{ {}1{} }}}}", "(".repeat(100_000), ")".repeat(100_000));
        for (text, expected) in [
            ("{{v}}", "\"v\", which is no template"),
            ("{{i", "no }} behind {{"),
            ("{{i | upper}}", "| upper"),
            ("{% if i %}", "a statement"),
            ("{{i / 2}}", "/ 2"),
            ("{{i // 0}}", "no integer for 3 and 0"),
            ("{{9223372036854775807 + 1}}", "no integer for"),
            ("{{s * 2}}", "the text \"a\", expected an integer"),
            ("{{loop}}", "32 deep"),
            (&deep, "32 deep"),
        ] {
            let error = fill_in(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
