//! Conversion of elements of numpy files to elements of arrays.

use super::Input;
use super::casting::{self, Casting};
use super::spool::{Block, Spool, SpooledElements, in_heap};
use crate::failure::{Failure, Result};
use crate::npy::Header;
use std::sync::Arc;
use zarr::dtype::{DataType, Heap, npy_literal};

/// Number of bytes that are converted at once: the converted elements may take several times as many.
const BLOCK: u64 = 1 << 20;

/// Conversion of elements of a file to elements of an array.
#[derive(Debug, PartialEq)]
pub(super) enum ElementConversion {
    /// Both data types have the same layout in memory.
    Same { item: usize },
    /// Strings or bytes of fixed size become longer: zeros are appended.
    Longer { from: usize, to: usize },
    /// Strings of code points become strings of any length.
    Strings { from: usize },
    /// Bytes before the NULs at the end become bytes of any length.
    Bytes { from: usize },
    /// Numbers become numbers of another data type.
    Cast { from: DataType, to: DataType },
}

impl ElementConversion {
    /// Returns the conversion from the data type of the file `name` to that of the array. `rule` allows casts of numbers.
    ///
    /// # Errors
    /// An error if elements of one type cannot become elements of the other, with a hint if another rule casts them.
    pub(super) fn of_file(name: &str, from: &DataType, to: &DataType, rule: Option<Casting>) -> Result<Self> {
        if let Some(elements) = Self::new(from, to) {
            return Ok(elements);
        }
        let needed = Casting::between(from, to);
        if needed.zip(rule).is_some_and(|(needed, rule)| rule.has(needed)) {
            return Ok(Self::Cast { from: from.clone(), to: to.clone() });
        }
        let failure = Failure::usage(format!("{name}: elements of type {from}, expected {to}"));
        Err(match needed {
            Some(Casting::SameKind) => failure.with_hint("--cast casts them"),
            Some(Casting::Unsafe) => failure.with_hint("--cast=unsafe casts them, and cuts off fractions"),
            None => failure,
        })
    }

    /// Returns the conversion between two data types without a cast; `None` if there is none.
    fn new(from: &DataType, to: &DataType) -> Option<Self> {
        let item = from.item_size();
        match (from, to) {
            _ if npy_literal(to).is_some_and(|descr| npy_literal(from) == Some(descr)) => Some(Self::Same { item }),
            (DataType::FixedUtf32 { len }, DataType::FixedUtf32 { len: longer }) if len < longer => {
                Some(Self::Longer { from: item, to: to.item_size() })
            }
            (DataType::FixedBytes { len }, DataType::FixedBytes { len: longer }) if len < longer => {
                Some(Self::Longer { from: item, to: to.item_size() })
            }
            (DataType::FixedUtf32 { .. }, DataType::String) => Some(Self::Strings { from: item }),
            (DataType::FixedBytes { .. }, DataType::Bytes { .. }) => Some(Self::Bytes { from: item }),
            _ => None,
        }
    }

    /// Returns the size in bytes of an element during conversion: the larger of those in the file and in memory.
    pub(super) fn item_size(&self, from: &DataType, to: &DataType) -> u64 {
        (from.item_size().max(to.item_size()) as u64).max(1)
    }

    /// Reads the next `count` elements of a file of numpy, after the first `before`, and passes blocks of them to `each`. The elements are
    /// converted, except those that become strings or bytes of any length.
    ///
    /// # Errors
    /// An error if the file ends too early, or an element cannot be converted.
    fn blocks(
        &self,
        header: &Header,
        input: &mut Input,
        (before, count): (u64, u64),
        mut each: impl FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let item = header.data_type.item_size() as u64;
        let most = (BLOCK / item.max(1)).max(1);
        let mut done = 0;
        while done < count {
            let now = most.min(count - done);
            let (size, behind) = (now.saturating_mul(item), (count - done - now).saturating_mul(item));
            let mut items = input.items(size, behind)?;
            header.data_type.layout().swap(&header.order, &mut items);
            each(self.convert(items, before.saturating_add(done))?)?;
            done += now;
        }
        Ok(())
    }

    /// Returns whether the conversion may refuse some elements of the file.
    pub(super) fn may_be_refused(&self) -> bool {
        matches!(self, Self::Strings { .. } | Self::Cast { .. })
    }

    /// Checks that all elements of a file can become elements of the array.
    ///
    /// # Errors
    /// An error if the file ends too early, or an element cannot be converted.
    pub(super) fn check(&self, header: &Header, input: &mut Input) -> Result<()> {
        let count = zarr::grid::element_count(&header.shape).unwrap_or(u64::MAX);
        self.blocks(header, input, (0, count), |block| match self.is_variable() {
            true => self.contents(&block).try_for_each(|content| content.map(drop)),
            false => Ok(()),
        })
    }

    /// Reads and converts the next `count` elements of a file of numpy, after the first `before`.
    ///
    /// # Errors
    /// An error if the file ends too early, or an element cannot be converted.
    pub(super) fn read(&self, header: &Header, input: &mut Input, (before, count): (u64, u64)) -> Result<Block> {
        let mut items = Vec::new();
        let heap = self.is_variable().then(|| Arc::new(Heap::new()));
        self.blocks(header, input, (before, count), |block| {
            match heap.as_deref() {
                Some(heap) => items.extend(in_heap(self.contents(&block), Some(heap))?),
                None => items.extend_from_slice(&block),
            }
            Ok(())
        })?;
        Ok(Block { items, heap })
    }

    /// Reads and converts all elements of a file of numpy into a [`Spool`].
    ///
    /// # Errors
    /// An error if the file ends too early, or an element cannot be converted.
    pub(super) fn spool(&self, header: &Header, input: &mut Input, data_type: &DataType) -> Result<SpooledElements> {
        let mut spool = Spool::new(data_type);
        let count = zarr::grid::element_count(&header.shape).unwrap_or(u64::MAX);
        self.blocks(header, input, (0, count), |block| match self.is_variable() {
            true => self.contents(&block).try_for_each(|content| spool.push(&content?)),
            false => spool.extend(&block),
        })?;
        spool.finish()
    }

    /// Returns whether the converted elements have variable length.
    fn is_variable(&self) -> bool {
        matches!(self, Self::Strings { .. } | Self::Bytes { .. })
    }

    /// Converts elements to elements of fixed size of the array. Elements that become elements of variable length are returned unchanged.
    fn convert(&self, items: Vec<u8>, before: u64) -> Result<Vec<u8>> {
        match *self {
            Self::Cast { ref from, ref to } => {
                casting::cast(from, &items, to, before).map_err(|message| Failure::data("invalid-metadata", message))
            }
            Self::Same { .. } | Self::Strings { .. } | Self::Bytes { .. } => Ok(items),
            Self::Longer { from, to } => {
                let mut longer = Vec::with_capacity(items.len() / from.max(1) * to);
                for item in items.chunks_exact(from) {
                    longer.extend_from_slice(item);
                    longer.resize(longer.len() + to - from, 0);
                }
                Ok(longer)
            }
        }
    }

    /// Returns the contents of elements that become strings or bytes of any length.
    fn contents<'a>(&self, items: &'a [u8]) -> impl Iterator<Item = Result<Vec<u8>>> + use<'a> {
        let (from, is_text) = match *self {
            Self::Strings { from } => (from, true),
            Self::Bytes { from } => (from, false),
            _ => (1, false),
        };
        items.chunks_exact(from.max(1)).map(move |item| match is_text {
            true => text(item).map(String::into_bytes),
            false => {
                let len = item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                Ok(item.get(..len).unwrap_or_default().to_vec())
            }
        })
    }
}

/// Decodes code points in native byte order, without the NULs at the end.
fn text(item: &[u8]) -> Result<String> {
    let mut text = String::new();
    for code in item.as_chunks::<4>().0 {
        let code = u32::from_ne_bytes(*code);
        let broken = || Failure::data("invalid-metadata", format!("{code:#x} is not a code point"));
        text.push(char::from_u32(code).ok_or_else(broken)?);
    }
    text.truncate(text.trim_end_matches('\0').len());
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_types_fit() {
        let utf = |len| DataType::FixedUtf32 { len };
        assert_eq!(ElementConversion::new(&DataType::Int8, &DataType::Int4), Some(ElementConversion::Same { item: 1 }));
        assert_eq!(ElementConversion::new(&utf(2), &utf(3)), Some(ElementConversion::Longer { from: 8, to: 12 }));
        assert_eq!(ElementConversion::new(&utf(3), &utf(2)), None);
        assert_eq!(ElementConversion::new(&utf(3), &DataType::String), Some(ElementConversion::Strings { from: 12 }));
        assert_eq!(ElementConversion::new(&DataType::Int64, &DataType::Float64), None);
        assert_eq!(
            ElementConversion::new(&DataType::RawBits(3), &DataType::RawBytes { len: 3 }),
            Some(ElementConversion::Same { item: 3 })
        );
    }

    #[test]
    fn strings_lose_their_padding() {
        let items: Vec<u8> = [0x61_u32, 0x6771, 0, 0].map(u32::to_ne_bytes).concat();
        let contents: Result<Vec<Vec<u8>>> = ElementConversion::Strings { from: 8 }.contents(&items).collect();
        assert_eq!(contents.unwrap(), ["a東".as_bytes(), b""]);
        assert!(ElementConversion::Strings { from: 4 }.contents(&[0xff; 4]).next().unwrap().is_err());
        let contents: Result<Vec<Vec<u8>>> = ElementConversion::Bytes { from: 3 }.contents(b"a\0bc\0\0").collect();
        assert_eq!(contents.unwrap(), [&b"a\0b"[..], b"c"]);
    }
}
