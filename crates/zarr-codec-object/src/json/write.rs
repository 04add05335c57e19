//! Writing of JSON as Python spells it.

use super::Style;
use crate::special::Special;
use std::fmt::Write;
use zarr_json::{Map, Value};

impl Style {
    pub(super) fn write_value(&self, value: &Value, level: usize, out: &mut String) -> Result<(), String> {
        match value {
            Value::Null => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Number(number) => out.push_str(number.as_str()),
            Value::String(text) => self.write_text(text, out),
            Value::Array(items) if items.is_empty() => out.push_str("[]"),
            Value::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.separate(index, level + 1, out);
                    self.write_value(item, level + 1, out)?;
                }
                self.line(level, out);
                out.push(']');
            }
            Value::Object(members) => match Special::of(value) {
                None => self.write_members(members, level, out)?,
                Some(Special::Bytes(_)) => return Err("bytes, which JSON does not have".to_owned()),
                Some(Special::Float(float)) if !self.allow_nan => {
                    return Err(format!("{float}, which \"allow_nan\" does not permit"));
                }
                Some(Special::Float(float)) => out.push_str(match float {
                    f64::INFINITY => "Infinity",
                    f64::NEG_INFINITY => "-Infinity",
                    _ => "NaN",
                }),
            },
        }
        Ok(())
    }

    fn write_members(&self, members: &Map, level: usize, out: &mut String) -> Result<(), String> {
        let mut members: Vec<(&str, &Value)> = members.iter().collect();
        if members.is_empty() {
            out.push_str("{}");
            return Ok(());
        }
        if self.sort_keys {
            members.sort_by_key(|(name, _)| *name);
        }
        out.push('{');
        for (index, (name, value)) in members.into_iter().enumerate() {
            self.separate(index, level + 1, out);
            self.write_text(name, out);
            out.push_str(&self.behind_names);
            self.write_value(value, level + 1, out)?;
        }
        self.line(level, out);
        out.push('}');
        Ok(())
    }

    /// Writes the separator and the line break before item `index`.
    fn separate(&self, index: usize, level: usize, out: &mut String) {
        if index > 0 {
            out.push_str(&self.between_items);
        }
        self.line(level, out);
    }

    fn line(&self, level: usize, out: &mut String) {
        if let Some(indent) = &self.indent {
            out.push('\n');
            out.push_str(&indent.repeat(level));
        }
    }

    fn write_text(&self, text: &str, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                ' '..='~' => out.push(c),
                // Beyond 16 bits: two escapes, of a surrogate each.
                _ if self.ensure_ascii || c < ' ' => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let _ = write!(out, "\\u{unit:04x}");
                    }
                }
                _ => out.push(c),
            }
        }
        out.push('"');
    }
}
