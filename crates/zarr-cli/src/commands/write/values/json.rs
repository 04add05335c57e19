//! Elements from nested arrays of JSON, one at a time.

use super::longest_text;
use super::scan::{Scanner, add};
use crate::commands::write::spool::Spool;
use crate::failure::{Failure, Result};
use crate::number;
use zarr::dtype::{DataType, print};
use zarr::meta::json::{self, Number, ParseOptions, Value};

/// Greatest depth of nesting within an element, as for documents.
const MAX_DEPTH: usize = 128;
/// Greatest length of a number, or a name such as `true`, in bytes.
const LONGEST_TOKEN: usize = 64 << 10;

/// Reads elements, in C order, from nested arrays of these lengths. A length that is `None` is set to that of the first array at its depth.
/// A surplus element is an error.
pub(super) fn read(
    scanner: &mut Scanner<'_>,
    data_type: &DataType,
    lengths: &mut [Option<u64>],
    into: &mut Spool,
) -> Result<()> {
    // Only elements of these types are arrays or objects of many items.
    let is_nested = matches!(data_type, DataType::Object | DataType::VlenArray(_) | DataType::Struct(_));
    let longest = longest_text(data_type);
    let most_nested = if is_nested { longest } else { LONGEST_TOKEN };
    JsonElements { scanner, data_type, longest, most_nested, text: Vec::new() }.read(lengths, into)
}

struct JsonElements<'a, 's> {
    scanner: &'a mut Scanner<'s>,
    data_type: &'a DataType,
    /// Greatest length of an element, in bytes.
    longest: usize,
    /// Greatest length of an element that is an array or an object, in bytes.
    most_nested: usize,
    /// Text of the element that is being read.
    text: Vec<u8>,
}

impl JsonElements<'_, '_> {
    fn read(&mut self, lengths: &mut [Option<u64>], into: &mut Spool) -> Result<()> {
        // Number of items so far in each open array.
        let mut counts: Vec<u64> = Vec::new();
        self.skip_space()?;
        if self.scanner.offset() == 0 && self.scanner.peek()? == Some(0xef) {
            return Err(self.scanner.error("a byte order mark, which JSON does not have: save the text without"));
        }
        loop {
            // A value begins.
            let mut is_closed = false;
            match lengths.get(counts.len()) {
                None => self.element(into)?,
                Some(&len) => {
                    self.open(len)?;
                    counts.push(0);
                    self.skip_space()?;
                    is_closed = self.scanner.peek()? == Some(b']');
                    if !is_closed {
                        self.check_room(len, 0)?;
                        continue;
                    }
                }
            }
            // The value has ended, and perhaps arrays that contain it.
            loop {
                let depth = counts.len().saturating_sub(1);
                let (Some(count), Some(len)) = (counts.last_mut(), lengths.get_mut(depth)) else {
                    self.skip_space()?;
                    return match self.scanner.peek()? {
                        None => Ok(()),
                        Some(_) => Err(self.unexpected("expected the end of the text")?),
                    };
                };
                *count += u64::from(!is_closed);
                is_closed = false;
                self.skip_space()?;
                match self.scanner.peek()? {
                    Some(b',') => {
                        self.scanner.pass();
                        self.skip_space()?;
                        if self.scanner.peek()? == Some(b']') {
                            return Err(self.unexpected("expected a value after `,`")?);
                        }
                        self.check_room(*len, *count)?;
                        break;
                    }
                    Some(b']') => {
                        let expected = *len.get_or_insert(*count);
                        if *count != expected {
                            let count = number::grouped(*count);
                            return Err(self.scanner.error(&format!("an array of {count}, expected {expected}")));
                        }
                        self.scanner.pass();
                        counts.pop();
                    }
                    _ => return Err(self.unexpected("expected `,` or `]`")?),
                }
            }
        }
    }

    /// Reads the opening bracket of an array of length `len`.
    fn open(&mut self, len: Option<u64>) -> Result<()> {
        if self.scanner.peek()? == Some(b'[') {
            self.scanner.pass();
            return Ok(());
        }
        let place = self.scanner.place();
        // The value is read only for the message.
        let found = self.value(LONGEST_TOKEN, LONGEST_TOKEN)?.excerpt();
        let expected = len.map_or_else(|| "an array".to_owned(), |len| format!("an array of {len}"));
        Err(self.scanner.error_at(place, &format!("{found}, expected {expected}")))
    }

    /// Checks that an array with `count` items so far may have another item.
    fn check_room(&self, len: Option<u64>, count: u64) -> Result<()> {
        match len.filter(|&len| count >= len) {
            None => Ok(()),
            Some(len) => Err(self.scanner.error(&format!("an array of more than {len}, expected {len}"))),
        }
    }

    fn element(&mut self, into: &mut Spool) -> Result<()> {
        let (place, index) = (self.scanner.place(), into.len());
        let value = self.value(self.longest, self.most_nested)?;
        let element = print::parse(self.data_type, &value);
        let element = element.map_err(|error| self.scanner.error_at(place, &format!("value {index}: {error}")))?;
        into.push(&element)
    }

    /// Reads a value of any kind; Python's NaN literals become strings. A string of more than `longest` bytes, and an array or an object
    /// of more than `most_nested` bytes, are errors.
    fn value(&mut self, longest: usize, most_nested: usize) -> Result<Value> {
        let (place, offset) = (self.scanner.place(), self.scanner.offset());
        self.text.clear();
        match self.scanner.peek()? {
            Some(b'"') => self.string(longest)?,
            Some(b'[' | b'{') => self.brackets(most_nested)?,
            _ => self.token()?,
        }
        let text = std::str::from_utf8(&self.text).ok();
        if let Some(number) = text.and_then(Number::parse) {
            return Ok(Value::Number(number));
        }
        if self.text.is_empty() {
            return Err(self.unexpected("expected a value")?);
        }
        let options = ParseOptions::default().nan_literals(true);
        let parsed = json::parse(&self.text, options).map_err(|mut error| {
            let in_first = if error.line == 1 { place.1 - 1 } else { 0 };
            error.line += usize::try_from(place.0 - 1).unwrap_or(usize::MAX);
            error.column += usize::try_from(in_first).unwrap_or(usize::MAX);
            error.offset += usize::try_from(offset).unwrap_or(usize::MAX);
            self.scanner.broken(&error.to_string())
        })?;
        Ok(parsed.value.without_nan_literals())
    }

    /// Reads a string with its quotes, of at most `most` bytes.
    fn string(&mut self, most: usize) -> Result<()> {
        self.take(most)?;
        let mut is_escaped = false;
        while let Some(byte) = self.scanner.peek()? {
            self.take(most)?;
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads an array or an object, of at most `most` bytes.
    fn brackets(&mut self, most: usize) -> Result<()> {
        let mut depth = 0;
        while let Some(byte) = self.scanner.peek()? {
            match byte {
                b'"' => {
                    self.string(most)?;
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth -= 1,
                _ => {}
            }
            if depth > MAX_DEPTH {
                return Err(self.scanner.error(&format!("nested deeper than {MAX_DEPTH} levels")));
            }
            self.take(most)?;
            if depth == 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reads a number, or a name such as `true`.
    fn token(&mut self) -> Result<()> {
        while let Some(byte) = self.scanner.peek()? {
            if matches!(byte, b',' | b']' | b'}' | b'[' | b'{' | b'"' | b':' | b' ' | b'\t' | b'\n' | b'\r') {
                break;
            }
            self.take(LONGEST_TOKEN)?;
        }
        Ok(())
    }

    /// Moves the next byte to the text of the element, which may have at most `most` bytes.
    fn take(&mut self, most: usize) -> Result<()> {
        let Some(byte) = self.scanner.peek()? else { return Ok(()) };
        add(&mut self.text, byte, most).map_err(|what| self.scanner.error(&what))?;
        self.scanner.pass();
        Ok(())
    }

    fn skip_space(&mut self) -> Result<()> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.scanner.peek()? {
            self.scanner.pass();
        }
        Ok(())
    }

    /// Returns the error about an unexpected byte; `what` is what was expected.
    fn unexpected(&mut self, what: &str) -> Result<Failure> {
        let found = match self.scanner.peek()? {
            None => "the end of the text".to_owned(),
            Some(byte) if byte.is_ascii_graphic() => format!("`{}`", char::from(byte)),
            Some(byte) => format!("byte {byte:#04x}"),
        };
        Ok(self.scanner.error(&format!("{what}, found {found}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the elements of a JSON text, and the lengths of its arrays.
    fn elements(text: &str, lengths: &[Option<u64>]) -> Result<(Vec<i32>, Vec<Option<u64>>), String> {
        let mut lengths = lengths.to_vec();
        let mut spool = Spool::new(&DataType::Int32);
        let mut input = text.as_bytes();
        let mut scanner = Scanner::new("x.json", &mut input);
        read(&mut scanner, &DataType::Int32, &mut lengths, &mut spool).map_err(|failure| failure.line.clone())?;
        let count = spool.len();
        let items = spool.finish().unwrap().take(count).unwrap().items;
        Ok((items.as_chunks().0.iter().map(|item| i32::from_ne_bytes(*item)).collect(), lengths))
    }

    #[test]
    fn arrays_have_the_lengths_of_the_selection() {
        let known = |text: &str, shape: &[u64]| {
            let lengths: Vec<Option<u64>> = shape.iter().copied().map(Some).collect();
            elements(text, &lengths).map(|(elements, _)| elements)
        };
        assert_eq!(known(" [[1, 2],\n[3,4]] \n", &[2, 2]).unwrap(), [1, 2, 3, 4]);
        assert_eq!(known("-7", &[]).unwrap(), [-7]);
        assert_eq!(known("[]", &[0]).unwrap(), [0_i32; 0]);
        assert_eq!(known("[[], []]", &[2, 0]).unwrap(), [0_i32; 0]);
        let error = |text: &str, shape: &[u64]| known(text, shape).unwrap_err();
        assert_eq!(error("[1, 2,\n3]", &[2]), "x.json: line 2, column 1: an array of more than 2, expected 2");
        assert_eq!(error("[1]", &[2]), "x.json: line 1, column 3: an array of 1, expected 2");
        assert_eq!(error("[1, [2, 3]]", &[2, 2]), "x.json: line 1, column 2: 1, expected an array of 2");
        assert_eq!(error("[1, 2x]", &[2]), "x.json: line 1, column 6: expected the end of the text, found `x`");
        assert_eq!(error("[1,\n \"a", &[2]), "x.json: line 2, column 4: expected `\"`, found the end of the text");
        assert_eq!(error("[1,]", &[2]), "x.json: line 1, column 4: expected a value after `,`, found `]`");
        assert_eq!(error("[1,,2]", &[3]), "x.json: line 1, column 4: expected a value, found `,`");
        assert_eq!(error("[1 2]", &[2]), "x.json: line 1, column 4: expected `,` or `]`, found `2`");
        assert_eq!(error("[1] 2", &[1]), "x.json: line 1, column 5: expected the end of the text, found `2`");
        assert_eq!(error("[1", &[2]), "x.json: line 1, column 3: expected `,` or `]`, found the end of the text");
        assert_eq!(error("", &[1]), "x.json: line 1, column 1: expected a value, found the end of the text");
        assert!(error("\u{feff}[1]", &[1]).contains("a byte order mark"));
        assert!(error("[1, 2.5]", &[2]).starts_with("x.json: line 1, column 5: value 1: "));
        assert!(error(&"[".repeat(1000), &[1]).ends_with("nested deeper than 128 levels"));
        assert!(error(&"1".repeat(LONGEST_TOKEN + 1), &[]).contains("bytes of text for one element"));
    }

    #[test]
    fn the_first_array_says_a_length_that_is_not_known() {
        let (found, lengths) = elements("[[1, 2], [3, 4], [5, 6]]", &[None, Some(2)]).unwrap();
        assert_eq!((found, lengths), (vec![1, 2, 3, 4, 5, 6], vec![Some(3), Some(2)]));
        let (found, lengths) = elements("[[1, 2, 3], [4, 5, 6]]", &[Some(2), None]).unwrap();
        assert_eq!((found, lengths), (vec![1, 2, 3, 4, 5, 6], vec![Some(2), Some(3)]));
        let error = elements("[[1, 2, 3], [4, 5]]", &[Some(2), None]).unwrap_err();
        assert_eq!(error, "x.json: line 1, column 18: an array of 2, expected 3");
    }

    /// Checks that brackets in place of a string, or a value in place of an array, are refused before they are read completely.
    #[test]
    fn brackets_are_read_only_for_types_that_have_them() {
        let many = format!("[{}1]", "1,".repeat(1 << 20));
        let refused = |data_type: DataType, text: &str, lengths: &mut [Option<u64>]| {
            let mut spool = Spool::new(&data_type);
            let mut input = text.as_bytes();
            let mut scanner = Scanner::new("x.json", &mut input);
            let failure = read(&mut scanner, &data_type, lengths, &mut spool).unwrap_err();
            assert!(failure.line.contains("more than 65_536 bytes of text for one element"), "{}", failure.line);
            assert!(scanner.offset() <= 2 * LONGEST_TOKEN as u64, "{}", scanner.offset());
        };
        let object = format!("{{\"a\":{many}}}");
        let text = format!("\"{}\"", "a".repeat(1 << 20));
        for data_type in [DataType::String, DataType::FixedUtf32 { len: 100_000 }] {
            refused(data_type.clone(), &format!("[{many}]"), &mut [Some(1)]);
            refused(data_type.clone(), &format!("[{object}]"), &mut [Some(1)]);
            refused(data_type.clone(), &object, &mut [Some(1)]);
            refused(data_type, &text, &mut [Some(1)]);
        }
        let mut spool = Spool::new(&DataType::Object);
        let mut input = many.as_bytes();
        let mut scanner = Scanner::new("x.json", &mut input);
        read(&mut scanner, &DataType::Object, &mut [], &mut spool).unwrap();
        assert_eq!(spool.len(), 1);
    }

    proptest! {
        /// Checks that the reader accepts exactly the documents that the JSON parser accepts.
        #[test]
        fn texts_are_taken_as_the_parser_takes_them(text in "[\\[\\]{}\",:0-9eEn.\\- \n]{0,12}") {
            let whole = json::parse(text.as_bytes(), ParseOptions::default().nan_literals(true));
            let numbers = whole.ok().and_then(|parsed| {
                let items = parsed.value.as_array()?.to_vec();
                items.iter().map(|item| i32::try_from(item.as_i64()?).ok()).collect::<Option<Vec<_>>>()
            });
            let found = elements(&text, &[None]).ok().map(|(found, _)| found);
            if let Some(numbers) = numbers {
                prop_assert_eq!(found, Some(numbers));
            } else if let Some(found) = found {
                // Integers as floats are: 1e2.
                let whole = json::parse(text.as_bytes(), ParseOptions::default()).unwrap();
                prop_assert_eq!(found.len(), whole.value.as_array().map_or(usize::MAX, <[Value]>::len));
            }
        }
    }
}
