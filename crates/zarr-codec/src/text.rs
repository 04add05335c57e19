//! Codecs as strings: `zstd(3)`, or `transpose(1,0),blosc(lz4,shuffle=bitshuffle)`.

use crate::{CodecEntry, Codecs, Error};
use zarr_json::{NamedConfig, Value, nearest_name};

/// Codec parsed from a string: its name, and in parentheses the members of its configuration.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextCodec {
    text: String,
    name: String,
    /// Positional values, in the order of the codec's arguments.
    values: Vec<Value>,
    /// Values given by the names of their members.
    members: Vec<(String, Value)>,
}

/// Parses codecs that are divided by commas. `none` stands for no codec.
///
/// # Errors
/// [`Error::Argument`] for other text.
pub(crate) fn parse(text: &str) -> Result<Vec<TextCodec>, Error> {
    let items = split(text)?.into_iter().filter(|item| !item.is_empty() && *item != "none");
    items.map(TextCodec::parse).collect()
}

impl TextCodec {
    fn parse(text: &str) -> Result<Self, Error> {
        let mut codec = Self { text: text.to_owned(), name: text.to_owned(), values: Vec::new(), members: Vec::new() };
        let Some((name, rest)) = text.split_once('(') else { return Ok(codec) };
        let Some(inner) = rest.strip_suffix(')') else {
            return Err(wrong(text, "a closing parenthesis at the end is missing"));
        };
        name.trim().clone_into(&mut codec.name);
        if codec.name.is_empty() {
            return Err(wrong(text, "there is no name in front of the parenthesis"));
        }
        for argument in split(inner)?.into_iter().filter(|argument| !argument.is_empty()) {
            match member(argument) {
                Some((name, given)) => codec.members.push((name.to_owned(), value(text, given)?)),
                None if codec.members.is_empty() => codec.values.push(value(text, argument)?),
                None => return Err(wrong(text, &format!("{argument:?} comes behind named members, expected a name"))),
            }
        }
        Ok(codec)
    }

    /// Returns the name and configuration of the codec as in documents.
    ///
    /// # Errors
    /// [`Error::Unknown`] for a codec that is not in the table, [`Error::Argument`] for more values than it takes.
    pub(crate) fn to_config(&self, table: &Codecs) -> Result<NamedConfig, Error> {
        let entry = table.typed(&self.name).ok_or_else(|| unknown(&self.name, table))?;
        // A full name stays if other software reads it.
        let is_alias = entry.aliases.contains(&self.name.as_str()) && entry.short_name() != self.name;
        let mut codec = NamedConfig::new(if is_alias { &self.name } else { entry.name });
        let members = &mut codec.configuration;
        for (member, default) in entry.arguments {
            if let Some(default) = default.and_then(|json| Value::from_json(json).ok()) {
                members.insert(*member, default);
            }
        }
        let mut values = self.values.iter();
        match entry.list_argument {
            Some(member) if !self.values.is_empty() => {
                members.insert(member, values.by_ref().cloned().collect::<Vec<_>>());
            }
            _ => {}
        }
        for ((member, _), value) in entry.arguments.iter().zip(values.by_ref()) {
            members.insert(*member, value.clone());
        }
        if let Some(more) = values.next() {
            return Err(wrong(&self.text, &format!("{more} is one value too many: {}", takes(entry))));
        }
        for (member, value) in &self.members {
            members.insert(member, value.clone());
        }
        Ok(codec)
    }
}

/// Returns the error for a codec that is not in the table, with a hint at the known codec that may be meant.
pub(crate) fn unknown(name: &str, table: &Codecs) -> Error {
    let hint = table.hint(name).map_or_else(
        || {
            let mut names: Vec<_> = table.iter().map(CodecEntry::short_name).collect();
            names.sort_unstable();
            let all = format!("known codecs are {}", names.join(", "));
            nearest_name(name, names).map_or_else(|| all.clone(), |near| format!("is {near:?} meant? {all}"))
        },
        str::to_owned,
    );
    Error::Unknown { pointer: String::new(), name: name.to_owned(), hint: Some(hint) }
}

fn takes(entry: &CodecEntry) -> String {
    let names: Vec<_> = entry.arguments.iter().map(|(name, _)| *name).collect();
    match names.as_slice() {
        [] => "values need the names of their members, as in name=value".to_owned(),
        names => format!("the codec takes {}, and other members by name, as in name=value", names.join(", ")),
    }
}

fn wrong(text: &str, what: &str) -> Error {
    Error::Argument { what: format!("codec {text:?}: {what}") }
}

/// Splits `argument` at its equals sign into the name of a member and the value; `None` if the argument has no name.
fn member(argument: &str) -> Option<(&str, &str)> {
    let (name, value) = argument.split_once('=')?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| (name, value.trim()))
}

/// Parses a value of an argument: a number, `true`, `false`, `null`, a list, an object or a quoted string as in JSON; otherwise the string
/// itself.
fn value(codec: &str, text: &str) -> Result<Value, Error> {
    if text.starts_with(['[', '{', '"']) {
        return Value::from_json(text).map_err(|error| wrong(codec, &format!("{text}: {error}")));
    }
    let plain = |value: &Value| value.as_number().is_some() || matches!(value, Value::Bool(_) | Value::Null);
    Ok(Value::from_json(text).ok().filter(plain).unwrap_or_else(|| Value::from(text)))
}

/// Splits `text` at the commas outside of brackets and quotes.
fn split(text: &str) -> Result<Vec<&str>, Error> {
    let mut open = Vec::new();
    let (mut is_quoted, mut is_escaped) = (false, false);
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, char) in text.char_indices() {
        if is_quoted {
            is_quoted = char != '"' || is_escaped;
            is_escaped = char == '\\' && !is_escaped;
            continue;
        }
        match char {
            '"' => is_quoted = true,
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            ')' | ']' | '}' if open.pop() != Some(char) => {
                return Err(wrong(text, &format!("{char:?} closes nothing")));
            }
            ',' if open.is_empty() => {
                parts.push(text.get(start..at).unwrap_or_default().trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if let Some(missing) = open.pop() {
        return Err(wrong(text, &format!("a closing {missing:?} is missing")));
    }
    parts.push(text.get(start..).unwrap_or_default().trim());
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CodecList;

    fn table() -> Codecs {
        let mut table = Codecs::default();
        table.add(
            CodecEntry::bytes_to_bytes("zstd", |_| Err(Error::Argument { what: "not built".to_owned() }))
                .aliases(&["numcodecs.zstd"])
                .arguments(&[("level", Some("0")), ("checksum", Some("false"))]),
        );
        table.add(
            CodecEntry::array_to_array("transpose", |_| Err(Error::Argument { what: "not built".to_owned() }))
                .list_argument("order"),
        );
        table.add(
            CodecEntry::bytes_to_bytes("numcodecs.shuffle", |_| Err(Error::Argument { what: "not built".to_owned() }))
                .arguments(&[("elementsize", None)]),
        );
        table.add_hint("pickle", "pickles are programs");
        table
    }

    fn json(text: &str) -> String {
        let list = CodecList::parse(text).and_then(|list| list.to_configs(&table()));
        match list {
            Ok(list) => list.iter().map(|codec| codec.to_value().to_string()).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn texts_are_codecs_with_their_configurations() {
        for (text, due) in [
            ("", ""),
            ("none", ""),
            ("zstd", r#"{"name":"zstd","configuration":{"level":0,"checksum":false}}"#),
            ("zstd(3)", r#"{"name":"zstd","configuration":{"level":3,"checksum":false}}"#),
            (" zstd( -7 , true ) ", r#"{"name":"zstd","configuration":{"level":-7,"checksum":true}}"#),
            ("zstd(checksum=true)", r#"{"name":"zstd","configuration":{"level":0,"checksum":true}}"#),
            (
                "zstd(3, more=[1, {\"a\": \"),\"}])",
                r#"{"name":"zstd","configuration":{"level":3,"checksum":false,"more":[1,{"a":"),"}]}}"#,
            ),
            ("numcodecs.zstd(1)", r#"{"name":"numcodecs.zstd","configuration":{"level":1,"checksum":false}}"#),
            (
                "transpose(1, 0),shuffle(4)",
                r#"{"name":"transpose","configuration":{"order":[1,0]}} {"name":"numcodecs.shuffle","configuration":{"elementsize":4}}"#,
            ),
            ("shuffle", r#"{"name":"numcodecs.shuffle"}"#),
            (r#" ["mine", {"name": "zstd"}] "#, r#"{"name":"mine"} {"name":"zstd"}"#),
            (r#"{"name": "zstd", "configuration": {"level": 1}}"#, r#"{"name":"zstd","configuration":{"level":1}}"#),
        ] {
            assert_eq!(json(text), due, "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, due) in [
            ("zstd(3", "codec \"zstd(3\": a closing ')' is missing"),
            ("zstd 3)", "codec \"zstd 3)\": ')' closes nothing"),
            ("zstd(3)x", "codec \"zstd(3)x\": a closing parenthesis at the end is missing"),
            ("(3)", "codec \"(3)\": there is no name in front of the parenthesis"),
            (
                "zstd(level=3, true)",
                "codec \"zstd(level=3, true)\": \"true\" comes behind named members, expected a name",
            ),
            (
                "zstd(1,true,2)",
                "codec \"zstd(1,true,2)\": 2 is one value too many: the codec takes level, checksum, and other members by name, as in name=value",
            ),
            ("ztsd(3)", "unknown codec \"ztsd\" (is \"zstd\" meant? known codecs are shuffle, transpose, zstd)"),
            ("pickle", "unknown codec \"pickle\" (pickles are programs)"),
            ("[1]", "codecs: codec 0: found 1, expected a name, or an object with a name"),
        ] {
            assert_eq!(json(text), due, "{text}");
        }
        assert!(json("[\"zstd\"").starts_with("codecs: "), "{}", json("[\"zstd\""));
        assert!(json("zstd(level=[1)").contains("closes nothing"));
    }
}
