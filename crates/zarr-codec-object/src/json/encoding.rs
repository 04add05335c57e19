//! Conversion of strings to bytes and back, in the encodings that Python accepts for JSON.

use std::borrow::Cow;

/// Encoding of strings as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Ascii,
    Latin1,
    /// UTF-16, in units of 2 bytes.
    Utf16(Order),
    /// UTF-32, in units of 4 bytes.
    Utf32(Order),
}

/// Byte order of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
    /// Stated by a byte order mark in front. Data without a mark are little-endian; written data have a mark and are little-endian.
    Marked,
}

/// Byte order mark U+FEFF.
const MARK: u16 = 0xfeff;

impl Encoding {
    /// Names of the supported encodings, for errors.
    pub(super) const KNOWN: &str =
        "\"utf-8\", \"ascii\", \"latin-1\", \"utf-16\" or \"utf-32\", the last two also with -le or -be";

    /// Returns the name of the encoding.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Ascii => "ascii",
            Self::Latin1 => "latin-1",
            Self::Utf16(Order::Marked) => "utf-16",
            Self::Utf16(Order::Little) => "utf-16-le",
            Self::Utf16(Order::Big) => "utf-16-be",
            Self::Utf32(Order::Marked) => "utf-32",
            Self::Utf32(Order::Little) => "utf-32-le",
            Self::Utf32(Order::Big) => "utf-32-be",
        }
    }

    /// Returns the encoding by a name that Python has for it, or `None` for other names.
    pub(super) fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase().replace(['_', ' '], "-");
        Some(match name.as_str() {
            "utf-8" | "utf8" | "u8" => Self::Utf8,
            "ascii" | "us-ascii" | "646" => Self::Ascii,
            "latin-1" | "latin1" | "latin" | "l1" | "iso-8859-1" | "iso8859-1" | "8859" | "cp819" => Self::Latin1,
            "utf-16" | "utf16" | "u16" => Self::Utf16(Order::Marked),
            "utf-16-le" | "utf-16le" => Self::Utf16(Order::Little),
            "utf-16-be" | "utf-16be" => Self::Utf16(Order::Big),
            "utf-32" | "utf32" | "u32" => Self::Utf32(Order::Marked),
            "utf-32-le" | "utf-32le" => Self::Utf32(Order::Little),
            "utf-32-be" | "utf-32be" => Self::Utf32(Order::Big),
            _ => return None,
        })
    }

    /// Decodes `bytes` to a string. An error says what is wrong with `bytes`.
    pub(super) fn decode(self, bytes: &[u8]) -> Result<Cow<'_, str>, String> {
        match self {
            Self::Ascii if !bytes.is_ascii() => Err("bytes above 127, which are not ASCII".to_owned()),
            Self::Utf8 | Self::Ascii => {
                std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| format!("not UTF-8: {error}"))
            }
            Self::Latin1 => Ok(bytes.iter().copied().map(char::from).collect()),
            Self::Utf16(order) => {
                let units: Vec<u16> = units(bytes, order, u16::from_le_bytes, u16::from_be_bytes, MARK)?;
                String::from_utf16(&units).map(Cow::Owned).map_err(|error| format!("not UTF-16: {error}"))
            }
            Self::Utf32(order) => {
                let units: Vec<u32> = units(bytes, order, u32::from_le_bytes, u32::from_be_bytes, u32::from(MARK))?;
                let text: Option<String> = units.into_iter().map(char::from_u32).collect();
                text.map(Cow::Owned).ok_or_else(|| "not UTF-32".to_owned())
            }
        }
    }

    /// Appends `text` as bytes. An error names the encoding that lacks some of the characters.
    pub(super) fn encode(self, text: &str, out: &mut Vec<u8>) -> Result<(), String> {
        let marked = |order| (order == Order::Marked).then_some(char::from_u32(u32::from(MARK))).flatten();
        match self {
            Self::Ascii if !text.is_ascii() => return Err("strings beyond the encoding ASCII".to_owned()),
            Self::Utf8 | Self::Ascii => out.extend_from_slice(text.as_bytes()),
            Self::Latin1 => {
                let bytes: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
                out.extend(bytes.map_err(|_| "strings beyond the encoding Latin-1".to_owned())?);
            }
            Self::Utf16(order) => {
                let units = marked(order).into_iter().chain(text.chars()).flat_map(|c| {
                    let mut units = [0; 2];
                    let len = c.encode_utf16(&mut units).len();
                    units.into_iter().take(len)
                });
                out.extend(
                    units.flat_map(|unit| if order == Order::Big { unit.to_be_bytes() } else { unit.to_le_bytes() }),
                );
            }
            Self::Utf32(order) => {
                let units = marked(order).into_iter().chain(text.chars()).map(u32::from);
                out.extend(
                    units.flat_map(|unit| if order == Order::Big { unit.to_be_bytes() } else { unit.to_le_bytes() }),
                );
            }
        }
        Ok(())
    }
}

/// Returns the units of `N` bytes, without a byte order mark.
fn units<const N: usize, T: PartialEq>(
    bytes: &[u8],
    order: Order,
    little: fn([u8; N]) -> T,
    big: fn([u8; N]) -> T,
    mark: T,
) -> Result<Vec<T>, String> {
    let (units, rest) = bytes.as_chunks::<N>();
    if !rest.is_empty() {
        return Err(format!("{} bytes, expected a multiple of {N}", bytes.len()));
    }
    let (read, skipped) = match (order, units.first()) {
        (Order::Big, _) => (big, 0),
        (Order::Marked, Some(first)) if big(*first) == mark => (big, 1),
        (Order::Marked, Some(first)) if little(*first) == mark => (little, 1),
        _ => (little, 0),
    };
    Ok(units.iter().skip(skipped).map(|unit| read(*unit)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected bytes are the results of `"aé".encode(name)` in Python 3.11.
    #[test]
    fn texts_equal_python() {
        let known: &[(&str, &[u8])] = &[
            ("UTF_8", b"a\xc3\xa9"),
            ("latin-1", b"a\xe9"),
            ("utf-16", b"\xff\xfea\0\xe9\0"),
            ("utf-16-le", b"a\0\xe9\0"),
            ("utf-16-be", b"\0a\0\xe9"),
            ("utf-32", b"\xff\xfe\0\0a\0\0\0\xe9\0\0\0"),
            ("utf-32-be", b"\0\0\0a\0\0\0\xe9"),
        ];
        for (name, bytes) in known {
            let encoding = Encoding::named(name).unwrap();
            let mut encoded = Vec::new();
            encoding.encode("aé", &mut encoded).unwrap();
            assert_eq!((encoded.as_slice(), &*encoding.decode(bytes).unwrap()), (*bytes, "aé"), "{name}");
        }
        assert_eq!(
            Encoding::named("utf-16").unwrap().decode(b"\xfe\xff\0a").unwrap(),
            "a",
            "a mark of the other order"
        );
        assert_eq!(Encoding::named("cp1252"), None);
    }

    #[test]
    fn undecodable_text_is_refused() {
        for (name, bytes) in [("ascii", &b"\xe9"[..]), ("utf-8", b"\xe9"), ("utf-16", b"abc"), ("utf-16-le", b"\0\xd8")]
        {
            assert!(Encoding::named(name).unwrap().decode(bytes).is_err(), "{name}");
        }
        assert!(Encoding::named("utf-32-le").unwrap().decode(&[0, 0, 0, 1]).is_err());
        for name in ["ascii", "latin-1"] {
            assert!(Encoding::named(name).unwrap().encode("€", &mut Vec::new()).is_err());
        }
    }
}
