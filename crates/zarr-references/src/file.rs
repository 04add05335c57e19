//! File of references in JSON: its parts, and its references in sequence.

use std::borrow::Cow;
use std::collections::HashMap;

use zarr_json::{ParseOptions, Value as Json};

use crate::ReferencesFault;
use crate::scan::Scanner;
use crate::template::{STEP, Scope, Value, Variables};

type Result<T> = std::result::Result<T, ReferencesFault>;

/// File of references whose parts were found.
pub(crate) struct File<'t> {
    text: &'t str,
    scope: Scope,
    generators: Vec<Generator>,
    /// Offset in bytes of the object of references.
    references: usize,
    limit: u64,
}

/// Value of a reference.
pub(crate) enum Entry<'t> {
    /// The value of the key, which the references contain.
    Value(Cow<'t, [u8]>),
    /// A file, or the range of the file with this offset and length in bytes.
    Target { url: Cow<'t, str>, range: Option<(u64, u64)> },
}

/// Rule that makes one reference for each combination of the values of its variables.
struct Generator {
    key: String,
    url: String,
    range: Option<(String, String)>,
    dimensions: Vec<(String, Numbers)>,
}

/// Values of a variable of a generator, in order.
enum Numbers {
    List(Vec<i64>),
    /// Values of Python's `range`, from `start` in steps of `step`.
    Steps {
        start: i64,
        step: i64,
        count: u64,
    },
}

impl Numbers {
    fn count(&self) -> u64 {
        match self {
            Self::List(list) => list.len() as u64,
            Self::Steps { count, .. } => *count,
        }
    }

    fn get(&self, index: u64) -> i64 {
        match self {
            Self::List(list) => usize::try_from(index).ok().and_then(|at| list.get(at)).copied().unwrap_or(0),
            Self::Steps { start, step, .. } => start.wrapping_add(step.wrapping_mul(index.cast_signed())),
        }
    }
}

impl<'t> File<'t> {
    /// Finds the parts of a file of references. Its generators may make at most `limit` references.
    pub(crate) fn parse(text: &'t str, limit: u64) -> Result<Self> {
        let begin = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut scanner = Scanner::new(text, begin);
        scanner.peek();
        let whole = scanner.at();
        scanner.expect(b'{', "an object of references")?;
        let (mut references, mut is_first) = (None, true);
        let scope = Scope::of_file(text.len());
        let mut file = Self { text, scope, generators: Vec::new(), references: whole, limit };
        let (mut templates, mut generators, mut version) = (None, None, None);
        while let Some(name) = scanner.member(&mut is_first)? {
            let is_object = scanner.peek() == Some(b'{');
            let range = scanner.skip()?;
            match &*name {
                "refs" if is_object => references = Some(range.start),
                "templates" => templates = Some(range),
                "gen" => generators = Some(range),
                "version" => version = Some(range),
                _ => {}
            }
        }
        scanner.end()?;
        // A file of version 0 has no other members than references.
        let Some(references) = references else { return Ok(file) };
        file.references = references;
        match version.map(|range| &text[range]) {
            None | Some("1" | "0") => {}
            Some(found) => return Err(ReferencesFault::Version { found: found.chars().take(20).collect() }),
        }
        if let Some(range) = templates {
            file.scope.templates = read_templates(text, range.start)?;
        }
        if let Some(range) = generators {
            let at = range.start;
            let parsed = zarr_json::parse(text[range].as_bytes(), ParseOptions::default());
            let fault = |found: String| ReferencesFault::Syntax {
                at: at as u64,
                found,
                expected: "a list of generators, each with key, url and dimensions".to_owned(),
            };
            let list = parsed.map_err(|error| fault(error.to_string()))?.value;
            let list = list.as_array().ok_or_else(|| fault(list.excerpt()))?;
            file.generators =
                list.iter().map(|item| generator(item).ok_or_else(|| fault(item.excerpt()))).collect::<Result<_>>()?;
        }
        Ok(file)
    }

    /// Calls `give` with each key and the value of its reference: first the references of the file, then the generated ones.
    pub(crate) fn each<E: From<ReferencesFault>>(
        &self,
        mut give: impl FnMut(&str, Entry<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut scanner = Scanner::new(self.text, self.references);
        scanner.expect(b'{', "an object of references")?;
        self.scope.restart();
        let mut is_first = true;
        while let Some(key) = scanner.member(&mut is_first)? {
            let entry = self.entry(&mut scanner)?;
            give(&key, entry)?;
        }
        let mut left = self.limit;
        for generator in &self.generators {
            generator.each(&self.scope, self.limit, &mut left, &mut give)?;
        }
        Ok(())
    }

    fn entry(&self, scanner: &mut Scanner<'t>) -> Result<Entry<'t>> {
        match scanner.peek() {
            Some(b'"') => {
                let at = scanner.at();
                let text = scanner.string()?;
                if let Some(encoded) = text.strip_prefix("base64:") {
                    use base64::Engine;
                    let decoded = base64::engine::general_purpose::STANDARD.decode(encoded);
                    let fault = |_| scanner.fault(at, "another text", "base64 behind `base64:`");
                    return decoded.map(|bytes| Entry::Value(Cow::Owned(bytes))).map_err(fault);
                }
                Ok(Entry::Value(match text {
                    Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                    Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                }))
            }
            // A document may be a JSON object instead of a string.
            Some(b'{') => Ok(Entry::Value(Cow::Borrowed(self.text[scanner.skip()?].as_bytes()))),
            Some(b'[') => {
                scanner.expect(b'[', "a list")?;
                let url = self.url(scanner.string()?)?;
                let range = if scanner.take(b',') {
                    let offset = scanner.number()?;
                    scanner.expect(b',', "`,` and a length behind the offset")?;
                    Some((offset, scanner.number()?))
                } else {
                    None
                };
                scanner.expect(b']', "the end of a list of a URL, an offset and a length")?;
                Ok(Entry::Target { url, range })
            }
            _ => Err(scanner.error("a text, a document, or a list of a URL, an offset and a length")),
        }
    }

    fn url(&self, url: Cow<'t, str>) -> Result<Cow<'t, str>> {
        match url {
            Cow::Borrowed(url) => self.scope.fill_in(url, &Variables::new()),
            Cow::Owned(url) => self.scope.fill_in(&url, &Variables::new()).map(|url| Cow::Owned(url.into_owned())),
        }
    }
}

fn read_templates(text: &str, at: usize) -> Result<HashMap<String, String>> {
    let mut scanner = Scanner::new(text, at);
    scanner.expect(b'{', "an object of templates")?;
    let (mut templates, mut is_first) = (HashMap::new(), true);
    while let Some(name) = scanner.member(&mut is_first)? {
        templates.insert(name.into_owned(), scanner.string()?.into_owned());
    }
    Ok(templates)
}

fn generator(item: &Json) -> Option<Generator> {
    // A number may be written as a number or as a string.
    let text = |name: &str| match item.get(name)? {
        Json::Number(number) => Some(number.as_str().to_owned()),
        value => value.as_str().map(str::to_owned),
    };
    let range = match (item.get("offset"), item.get("length")) {
        (None, None) => None,
        _ => Some((text("offset")?, text("length")?)),
    };
    let dimensions = item.get("dimensions")?.as_object()?.iter().map(|(name, values)| {
        let values = match values {
            Json::Array(list) => Numbers::List(list.iter().map(Json::as_i64).collect::<Option<_>>()?),
            values => {
                let number = |name: &str, default| values.get(name).map_or(Some(default), Json::as_i64);
                let (start, stop, step) = (number("start", 0)?, values.get("stop")?.as_i64()?, number("step", 1)?);
                steps(start, stop, step)?
            }
        };
        Some((name.to_owned(), values))
    });
    Some(Generator { key: text("key")?, url: text("url")?, range, dimensions: dimensions.collect::<Option<_>>()? })
}

/// Returns the numbers of Python's `range`; `None` if `step` is 0.
fn steps(start: i64, stop: i64, step: i64) -> Option<Numbers> {
    let is_empty = if step > 0 { start >= stop } else { start <= stop };
    let count = if is_empty { 0 } else { stop.abs_diff(start) }.checked_add(step.unsigned_abs().checked_sub(1)?)?;
    Some(Numbers::Steps { start, step, count: if is_empty { 0 } else { count / step.unsigned_abs() } })
}

impl Generator {
    fn each<E: From<ReferencesFault>>(
        &self,
        scope: &Scope,
        limit: u64,
        left: &mut u64,
        give: &mut impl FnMut(&str, Entry<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let count = self.dimensions.iter().try_fold(1_u64, |count, (_, values)| count.checked_mul(values.count()));
        let rest = count.and_then(|count| left.checked_sub(count));
        *left = rest.ok_or(ReferencesFault::TooMany { limit })?;
        let mut variables: Variables =
            self.dimensions.iter().map(|(name, _)| (name.clone(), Value::Integer(0))).collect();
        for mut number in 0..count.unwrap_or(0) {
            scope.spend(STEP.saturating_mul(self.dimensions.len() as u64))?;
            for (name, values) in self.dimensions.iter().rev() {
                let len = values.count().max(1);
                if let Some(variable) = variables.get_mut(name) {
                    *variable = Value::Integer(values.get(number % len));
                }
                number /= len;
            }
            let key = scope.fill_in(&self.key, &variables)?;
            let url = scope.fill_in(&self.url, &variables)?;
            let range = match &self.range {
                None => None,
                Some((offset, length)) => {
                    Some((number_of(scope, &variables, offset)?, number_of(scope, &variables, length)?))
                }
            };
            give(&key, Entry::Target { url, range })?;
        }
        Ok(())
    }
}

fn number_of(scope: &Scope, variables: &Variables, text: &str) -> Result<u64> {
    let filled = scope.fill_in(text, variables)?;
    let fault = || ReferencesFault::Template {
        text: text.to_owned(),
        what: format!("found {filled:?}, expected an integer that is not negative"),
    };
    filled.trim().parse().map_err(|_| fault())
}
