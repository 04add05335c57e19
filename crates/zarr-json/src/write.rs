//! Serialization of values as JSON.

use crate::{Map, Value, surrogate};
use std::fmt::{self, Write};

impl fmt::Display for Value {
    /// Writes compact JSON; with `{:#}` JSON indented by two spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = f.alternate().then_some(0);
        write_value(self, indent, f)
    }
}

impl fmt::Display for Map {
    /// Writes compact JSON; with `{:#}` JSON indented by two spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = f.alternate().then_some(0);
        write_map(self, indent, f)
    }
}

fn write_value(value: &Value, indent: Option<usize>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::Null => out.write_str("null"),
        Value::Bool(true) => out.write_str("true"),
        Value::Bool(false) => out.write_str("false"),
        Value::Number(number) => out.write_str(number.as_str()),
        Value::String(text) => write_text(text, out),
        Value::Array(items) if items.is_empty() => out.write_str("[]"),
        Value::Array(items) => {
            // Lists of scalars stay on one line: a shape is read at a glance.
            let inner = indent.filter(|_| items.iter().any(|item| matches!(item, Value::Array(_) | Value::Object(_))));
            out.write_char('[')?;
            for (index, item) in items.iter().enumerate() {
                separate(index, inner, indent.is_some(), out)?;
                write_value(item, inner.map(|level| level + 1), out)?;
            }
            close(inner, ']', out)
        }
        Value::Object(members) => write_map(members, indent, out),
    }
}

fn write_map(members: &Map, indent: Option<usize>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    if members.is_empty() {
        return out.write_str("{}");
    }
    out.write_char('{')?;
    for (index, (name, value)) in members.iter().enumerate() {
        separate(index, indent, indent.is_some(), out)?;
        write_text(name, out)?;
        out.write_str(if indent.is_some() { ": " } else { ":" })?;
        write_value(value, indent.map(|level| level + 1), out)?;
    }
    close(indent, '}', out)
}

fn separate(index: usize, indent: Option<usize>, spaced: bool, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    if index > 0 {
        out.write_str(if spaced && indent.is_none() { ", " } else { "," })?;
    }
    indent.map_or(Ok(()), |level| new_line(level + 1, out))
}

fn close(indent: Option<usize>, bracket: char, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    indent.map_or(Ok(()), |level| new_line(level, out))?;
    out.write_char(bracket)
}

fn new_line(level: usize, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(out, "\n{:width$}", "", width = 2 * level)
}

fn write_text(text: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    // 0xef begins the noncharacters that may be held for something else.
    let is_plain = |byte: u8| byte >= 0x20 && !matches!(byte, b'"' | b'\\' | 0x7f | 0xef);
    out.write_char('"')?;
    let mut rest = text;
    loop {
        // A byte that is not plain begins a character, so that runs end between characters.
        let plain = rest.bytes().take_while(|&byte| is_plain(byte)).count();
        let (run, after) = rest.split_at(plain);
        out.write_str(run)?;
        let mut odd = after.chars();
        match odd.next() {
            None => break,
            Some('"') => out.write_str("\\\"")?,
            Some('\\') => out.write_str("\\\\")?,
            Some('\n') => out.write_str("\\n")?,
            Some('\r') => out.write_str("\\r")?,
            Some('\t') => out.write_str("\\t")?,
            Some(c) if c.is_ascii() => write!(out, "\\u{:04x}", u32::from(c))?,
            Some(_) => {
                rest = surrogate::write(after, out)?;
                continue;
            }
        }
        rest = odd.as_str();
    }
    out.write_char('"')
}
