//! JSON text of values.

use super::{Map, Value};
use std::fmt::{self, Write};

impl fmt::Display for Value {
    /// Compact JSON; indented by two spaces with `{:#}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = f.alternate().then_some(0);
        write_value(self, indent, f)
    }
}

impl fmt::Display for Map {
    /// Compact JSON; indented by two spaces with `{:#}`.
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
            for (place, item) in items.iter().enumerate() {
                separate(place, inner, indent.is_some(), out)?;
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
    for (place, (name, value)) in members.iter().enumerate() {
        separate(place, indent, indent.is_some(), out)?;
        write_text(name, out)?;
        out.write_str(if indent.is_some() { ": " } else { ":" })?;
        write_value(value, indent.map(|level| level + 1), out)?;
    }
    close(indent, '}', out)
}

fn separate(place: usize, indent: Option<usize>, spaced: bool, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    if place > 0 {
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
    out.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            c if u32::from(c) < 0x20 || c == '\u{7f}' => write!(out, "\\u{:04x}", u32::from(c))?,
            c => out.write_char(c)?,
        }
    }
    out.write_char('"')
}
