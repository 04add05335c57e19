//! Numbers for people, and back.

use std::collections::BTreeMap;
pub(crate) use zarr::meta::text::{grouped, size, tuple};

/// Returns a count with its noun, which gets an `s` unless the count is 1: `1 array`, `2_500 arrays`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Lengths along dimensions, given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lengths(pub(crate) Vec<u64>);

/// Lengths of chunks along all dimensions or along named dimensions, `auto`, or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChunkLengths {
    Shape(Vec<u64>),
    ByName(BTreeMap<String, u64>),
    Auto,
    None,
}

/// Parses a shape, or lengths along named dimensions: `time=10,lat=45`.
pub(crate) fn lengths(text: &str) -> Result<ChunkLengths, String> {
    if !text.contains('=') {
        return shape(text).map(|lengths| ChunkLengths::Shape(lengths.0));
    }
    let mut lengths = BTreeMap::new();
    for part in text.split(',') {
        let expected = || format!("{part:?}: expected a dimension and its length, as time=10");
        let (name, length) = part.split_once('=').ok_or_else(expected)?;
        match shape(length).map(|lengths| lengths.0).as_deref() {
            Ok(&[length]) if !name.trim().is_empty() => {
                if lengths.insert(name.trim().to_owned(), length).is_some() {
                    return Err(format!("dimension {} is given more than once", name.trim()));
                }
            }
            _ => return Err(expected()),
        }
    }
    Ok(ChunkLengths::ByName(lengths))
}

/// Parses the lengths of shards: a shape, lengths along named dimensions, `auto` or `none`.
pub(crate) fn shard_lengths(text: &str) -> Result<ChunkLengths, String> {
    match text.trim() {
        "none" => Ok(ChunkLengths::None),
        "auto" => Ok(ChunkLengths::Auto),
        _ => lengths(text),
    }
}

/// Parses lengths separated by commas or `x`, optionally in brackets; the empty string means no dimensions.
pub(crate) fn shape(text: &str) -> Result<Lengths, String> {
    let text = text.trim();
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .or_else(|| text.strip_prefix('(').and_then(|text| text.strip_suffix(')')))
        .unwrap_or(text)
        .trim();
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    if inner.is_empty() {
        return Ok(Lengths(Vec::new()));
    }
    let length = |part: &str| {
        let digits: String = part.trim().chars().filter(|&c| c != '_').collect();
        let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = if all_digits { digits.parse::<i64>().ok() } else { None };
        number.and_then(|number| u64::try_from(number).ok()).ok_or_else(|| format!("{:?} is not a length", part.trim()))
    };
    inner.split([',', 'x']).map(length).collect::<Result<_, _>>().map(Lengths)
}

/// Parses a number of bytes: `1GiB`, `500 MB`, `2G` (binary), `1048576`.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let error = || format!("{text:?} is not a size, expected for example 512MiB");
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "ki" | "kib" => 1 << 10,
        "m" | "mi" | "mib" => 1 << 20,
        "g" | "gi" | "gib" => 1 << 30,
        "t" | "ti" | "tib" => 1 << 40,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err(error()),
    };
    let number = number.replace('_', "");
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(error);
    }
    let value = number.parse::<f64>().map_err(|_| error())? * factor as f64;
    // Far below 2^64, where the conversion is exact enough for a size.
    if (0.0..1e18).contains(&value) { Ok(value as u64) } else { Err(error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_counts() {
        for (count, text) in [(0, "0 arrays"), (1, "1 array"), (2, "2 arrays"), (2500, "2_500 arrays")] {
            assert_eq!(counted(count, "array"), text);
        }
    }

    #[test]
    fn shapes_are_parsed() {
        for (text, lengths) in [
            ("365,180,360", vec![365, 180, 360]),
            ("[2, 3]", vec![2, 3]),
            ("(7,)", vec![7]),
            ("24x721", vec![24, 721]),
            ("1_000", vec![1000]),
            ("", vec![]),
            ("()", vec![]),
        ] {
            assert_eq!(shape(text), Ok(Lengths(lengths)), "{text}");
        }
        for text in ["a", "1,,2", "-1", "1.5", "9223372036854775808", "[1", "+3"] {
            assert!(shape(text).is_err(), "{text}");
        }
        assert_eq!(shard_lengths("none"), Ok(ChunkLengths::None));
        assert_eq!(shard_lengths("auto"), Ok(ChunkLengths::Auto));
        assert_eq!(shard_lengths("4"), Ok(ChunkLengths::Shape(vec![4])));
        let named = [("lat".to_owned(), 45), ("time".to_owned(), 1_000)].into();
        assert_eq!(lengths("time=1_000, lat=45"), Ok(ChunkLengths::ByName(named)));
        for text in ["time=", "=4", "time=4,5", "time=4,time=5", "time=x", "time=4x5"] {
            assert!(lengths(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_parsed() {
        for (text, bytes) in
            [("1GiB", 1 << 30), ("1.5 KiB", 1536), ("2G", 2 << 30), ("10MB", 10_000_000), ("4096", 4096), ("7 b", 7)]
        {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "GiB", "1 XB", "-1", "1e9", "999999999999TiB"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
