//! Mutations of metadata documents and chunks.

use crate::random::Random;
use zarr_json::{Map, Number, Value};

/// Numbers at the limits of integer and float types.
const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "8",
    "255",
    "256",
    "65535",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "0.5",
    "1e400",
    "-0",
];

/// Greatest usual number of repetitions of a value, and of levels around it. The next constant is the rare greatest number.
const MANY: usize = 400;
const DEEP: usize = 30_000;

/// Strings that have a meaning somewhere in a document.
const TEXTS: [&str; 22] = [
    "",
    "/",
    ".",
    "..",
    "NaN",
    "0x00000000",
    "-Infinity",
    "int8",
    "float64",
    "complex128",
    "string",
    "bytes",
    "<f8",
    "|S0",
    ">U3",
    "<M8[25s]",
    "gzip",
    "transpose",
    "sharding_indexed",
    "vlen-utf8",
    "little",
    "end",
];

/// Returns a mutated form of a metadata document; `text` is its text, and `value` the parsed document.
pub(crate) fn document(random: &mut Random, text: &[u8], value: &Value) -> Vec<u8> {
    let mut damaged = match random.below(4) {
        0 => bytes(random, text),
        _ => tree(random, value),
    };
    // Several wrongs reach further than one.
    while random.below(3) == 0 {
        damaged = match Value::from_json(&String::from_utf8_lossy(&damaged)) {
            Ok(value) => tree(random, &value),
            Err(_) => bytes(random, &damaged),
        };
    }
    damaged
}

/// Returns mutated bytes: flipped, truncated, lengthened, swapped or overwritten.
pub(crate) fn bytes(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    for _ in 0..=random.below(3) {
        // Headers and indexes stand at both ends, and are hit more often than they are long.
        let index = match (random.below(4), damaged.len()) {
            (0, len) => random.below(len.min(24)),
            (1, len) => len.saturating_sub(1 + random.below(len.min(48))),
            (_, len) => random.below(len),
        };
        let other = random.below(damaged.len());
        match random.below(11) {
            0..=2 => {
                let bit = 1 << random.below(8);
                if let Some(byte) = damaged.get_mut(index) {
                    *byte ^= bit;
                }
            }
            3 => damaged.truncate(index),
            4 => {
                let value = random.number().to_le_bytes().first().copied().unwrap_or(0);
                damaged.insert(index, value);
            }
            5 => {
                let end = index.saturating_add(1 + random.below(16)).min(damaged.len());
                damaged.drain(index..end);
            }
            6 => {
                let number = match random.below(4) {
                    0 => u64::MAX,
                    1 => 0,
                    2 => 1 << random.below(64),
                    _ => random.number(),
                };
                let width = 1 << random.below(4);
                for (byte, new) in damaged.iter_mut().skip(index).zip(number.to_le_bytes()).take(width) {
                    *byte = new;
                }
            }
            7 => nudge(random, &mut damaged, index),
            8 => {
                // Opens as many levels or claims as much as a short piece of the input does so many times.
                let end = index.saturating_add(1 + random.below(8)).min(damaged.len());
                let piece = damaged.get(index..end).unwrap_or_default().repeat(many(random));
                damaged.splice(index..index, piece);
            }
            9 if index < damaged.len() && other < damaged.len() => damaged.swap(index, other),
            _ => {
                let end = index.saturating_add(random.below(64)).min(damaged.len());
                let piece = damaged.get(index..end).unwrap_or_default().to_vec();
                damaged.extend_from_slice(&piece);
            }
        }
    }
    damaged
}

/// Returns a number of repetitions: mostly a few, occasionally more levels than a stack can hold.
fn many(random: &mut Random) -> usize {
    let most = if random.below(8) == 0 { DEEP } else { MANY };
    random.below(most)
}

/// Increases or decreases a little-endian integer slightly, for sizes and offsets that are nearly right.
fn nudge(random: &mut Random, bytes: &mut [u8], index: usize) {
    let width = 1 << random.below(4);
    let by = 1 + random.below(4) as u64;
    let up = random.below(2) == 0;
    let old = bytes.iter().skip(index).take(width).rev().fold(0_u64, |old, byte| old << 8 | u64::from(*byte));
    let new = if up { old.wrapping_add(by) } else { old.wrapping_sub(by) };
    for (byte, new) in bytes.iter_mut().skip(index).take(width).zip(new.to_le_bytes()) {
        *byte = new;
    }
}

/// Returns the document with one of its values replaced, removed or repeated.
fn tree(random: &mut Random, value: &Value) -> Vec<u8> {
    let mut all = Vec::new();
    collect(value, &mut all);
    let target = random.below(all.len());
    let change = match random.below(12) {
        0..=2 => Change::Replace(Value::Number(number(random))),
        3 => Change::Replace(Value::from(*random.pick(&TEXTS).unwrap_or(&""))),
        4 => Change::Replace(special(random)),
        5 => Change::Replace(random.pick(&all).map_or(Value::Null, |value| (*value).clone())),
        6 => Change::Rename(random.pick(&TEXTS).unwrap_or(&"").to_string()),
        7 => Change::Repeat(2 + random.below(2) * random.below(MANY)),
        8 => Change::Nest(many(random)),
        9 => Change::Replace(reversed(all.get(target).copied().unwrap_or(value))),
        _ => Change::Remove,
    };
    let mut text = String::new();
    Writer { left: target, change }.write(value, &mut text);
    text.into_bytes()
}

fn collect<'a>(value: &'a Value, into: &mut Vec<&'a Value>) {
    into.push(value);
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
        Value::Object(members) => members.iter().for_each(|(_, item)| collect(item, into)),
        _ => {}
    }
}

fn number(random: &mut Random) -> Number {
    match random.below(4) {
        0 => Number::from(random.below(20)),
        _ => Number::parse(random.pick(&NUMBERS).unwrap_or(&"0")).unwrap_or_else(|| Number::from(0)),
    }
}

fn special(random: &mut Random) -> Value {
    match random.below(7) {
        0 => Value::Null,
        1 => Value::Bool(true),
        2 => Value::Bool(false),
        3 => Value::Array(Vec::new()),
        4 => Value::Object(Map::new()),
        5 => Value::Array(vec![Value::Number(number(random)); random.below(5)]),
        _ => Value::Array(vec![Value::Array(vec![Value::Number(number(random)); 2]); 2]),
    }
}

/// Reverses the items of a list: the result is valid by itself, but has another order of axes or codecs.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().rev().cloned().collect()),
        other => other.clone(),
    }
}

fn nested(value: &Value, depth: usize) -> String {
    format!("{}{value}{}", "[".repeat(depth), "]".repeat(depth))
}

/// Change of one value of a document.
enum Change {
    Replace(Value),
    Remove,
    /// The value, an item or a member, is repeated this number of times.
    Repeat(usize),
    /// The value is nested in this number of lists.
    Nest(usize),
    Rename(String),
}

/// Writer of a document with a change to one value; `left` is the number of values before it in the order of the text.
struct Writer {
    left: usize,
    change: Change,
}

impl Writer {
    /// Returns whether the next value is the one to be changed.
    fn here(&mut self) -> bool {
        let here = self.left == 0;
        self.left = self.left.wrapping_sub(1);
        here
    }

    fn write(&mut self, value: &Value, into: &mut String) {
        if self.here() {
            match &self.change {
                Change::Replace(new) => into.push_str(&new.to_string()),
                Change::Remove => {}
                Change::Nest(depth) => into.push_str(&nested(value, *depth)),
                Change::Repeat(_) | Change::Rename(_) => into.push_str(&value.to_string()),
            }
            return;
        }
        self.write_inside(value, into);
    }

    fn write_inside(&mut self, value: &Value, into: &mut String) {
        match value {
            Value::Array(items) => {
                into.push('[');
                let start = into.len();
                for item in items {
                    self.item("", item, start, into);
                }
                into.push(']');
            }
            Value::Object(members) => {
                into.push('{');
                let start = into.len();
                for (name, item) in members.iter() {
                    self.item(name, item, start, into);
                }
                into.push('}');
            }
            other => into.push_str(&other.to_string()),
        }
    }

    /// Writes an item of a list (with an empty name) or a member of an object.
    fn item(&mut self, name: &str, value: &Value, start: usize, into: &mut String) {
        let in_object = into.as_bytes().get(start.wrapping_sub(1)) == Some(&b'{');
        let mut push = |name: &str, text: &str| {
            if into.len() > start {
                into.push(',');
            }
            if in_object {
                into.push_str(&Value::from(name).to_string());
                into.push(':');
            }
            into.push_str(text);
        };
        if !self.here() {
            let mut text = String::new();
            self.write_inside(value, &mut text);
            return push(name, &text);
        }
        match &self.change {
            Change::Replace(new) => push(name, &new.to_string()),
            Change::Remove => {}
            Change::Rename(new) => push(new, &value.to_string()),
            Change::Nest(depth) => push(name, &nested(value, *depth)),
            Change::Repeat(times) => (0..*times).for_each(|_| push(name, &value.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_change_at_a_time() {
        let value = Value::from_json(r#"{"a":[1,{"b":2}],"c":null}"#).unwrap();
        let changed = |left, change| {
            let mut text = String::new();
            Writer { left, change }.write(&value, &mut text);
            text
        };
        assert_eq!(changed(9, Change::Remove), value.to_string());
        assert_eq!(changed(1, Change::Remove), r#"{"c":null}"#);
        assert_eq!(changed(2, Change::Remove), r#"{"a":[{"b":2}],"c":null}"#);
        assert_eq!(changed(4, Change::Repeat(2)), r#"{"a":[1,{"b":2,"b":2}],"c":null}"#);
        assert_eq!(changed(4, Change::Nest(2)), r#"{"a":[1,{"b":[[2]]}],"c":null}"#);
        assert_eq!(changed(5, Change::Rename("d".to_owned())), r#"{"a":[1,{"b":2}],"d":null}"#);
        assert_eq!(changed(3, Change::Replace(Value::Null)), r#"{"a":[1,null],"c":null}"#);
    }

    #[test]
    fn the_same_seed_does_the_same_damage() {
        let text = br#"{"shape":[3]}"#;
        let value = Value::from_json(std::str::from_utf8(text).unwrap()).unwrap();
        for seed in 0..100 {
            let damage = || document(&mut Random::new(seed), text, &value);
            assert_eq!(damage(), damage());
            let _ = bytes(&mut Random::new(seed), &[]);
        }
    }
}
