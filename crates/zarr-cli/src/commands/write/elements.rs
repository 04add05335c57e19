//! Elements of numpy as elements of arrays.

use super::casting::{self, Casting};
use crate::failure::{Failure, Result};
use std::sync::Arc;
use zarr::codec::View;
use zarr::dtype::{DataType, Heap, HeapRef, npy_literal};

/// How elements of a file become elements of an array.
#[derive(Debug, PartialEq)]
pub(super) enum Elements {
    /// Both have the same layout in memory.
    Same { item: usize },
    /// Strings or bytes of fixed size become longer: zeros are appended.
    Longer { from: usize, to: usize },
    /// Strings of code points become strings of any length.
    Strings { from: usize },
    /// Bytes before the NULs at the end become bytes of any length.
    Bytes { from: usize },
    /// Numbers become numbers of another type.
    Cast { from: DataType, to: DataType },
}

impl Elements {
    /// How elements of a file become those of an array, by this rule where they are other numbers.
    ///
    /// # Errors
    /// If elements of one type are not elements of the other, with a hint where another rule casts them.
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

    /// `None` if elements of one type are not elements of the other.
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

    /// Hands `items`, converted to elements of `data_type`, to `f` in this shape. `fortran`: the first dimension varies fastest. `before` are
    /// the elements of the file that came before.
    pub(super) fn with_view(
        &self,
        data_type: &DataType,
        shape: &[usize],
        (items, before): (Vec<u8>, u64),
        fortran: bool,
        f: impl FnOnce(View<'_>) -> zarr::Result<()>,
    ) -> Result<()> {
        let heap = matches!(self, Self::Strings { .. } | Self::Bytes { .. }).then(|| Arc::new(Heap::new()));
        let items = self.convert(items, before, heap.as_deref())?;
        let view = |shape: &[usize]| {
            let view = View::new(&items, data_type.item_size(), shape);
            view.map(|view| view.with_heap(heap.clone())).map_err(zarr::Error::from)
        };
        let view = if fortran {
            let turned: Vec<usize> = shape.iter().rev().copied().collect();
            view(&turned)?.permuted(&(0..shape.len()).rev().collect::<Vec<_>>())
        } else {
            view(shape)?
        };
        Ok(f(view)?)
    }

    fn convert(&self, items: Vec<u8>, before: u64, heap: Option<&Heap>) -> Result<Vec<u8>> {
        match *self {
            Self::Cast { ref from, ref to } => {
                casting::cast(from, &items, to, before).map_err(|message| Failure::data("invalid-metadata", message))
            }
            Self::Same { .. } => Ok(items),
            Self::Longer { from, to } => {
                let mut longer = Vec::with_capacity(items.len() / from.max(1) * to);
                for item in items.chunks_exact(from) {
                    longer.extend_from_slice(item);
                    longer.resize(longer.len() + to - from, 0);
                }
                Ok(longer)
            }
            Self::Strings { from } => {
                let text = |item: &[u8]| text(item).map(String::into_bytes);
                in_heap(items.chunks_exact(from).map(text), heap)
            }
            Self::Bytes { from } => {
                let bytes = |item: &[u8]| {
                    let len = item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                    Ok(item.get(..len).unwrap_or_default().to_vec())
                };
                in_heap(items.chunks_exact(from).map(bytes), heap)
            }
        }
    }
}

/// Code points in the byte order of the machine, without the NULs at the end.
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

/// All elements in one block of a heap, and the references to them.
pub(super) fn in_heap(elements: impl Iterator<Item = Result<Vec<u8>>>, heap: Option<&Heap>) -> Result<Vec<u8>> {
    let Some(heap) = heap else { return Ok(Vec::new()) };
    let (mut block, mut spans) = (Vec::new(), Vec::new());
    for element in elements {
        let element = element?;
        let len = u32::try_from(element.len()).map_err(|_| Failure::usage("an element is longer than 4 GiB"))?;
        spans.push((block.len() as u64, len));
        block.extend(element);
    }
    let block = heap.add(block);
    let reference = |&(offset, len): &(u64, u32)| match len {
        0 => HeapRef::default().to_bytes(),
        len => HeapRef { block, len, offset }.to_bytes(),
    };
    Ok(spans.iter().flat_map(reference).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_types_fit() {
        let utf = |len| DataType::FixedUtf32 { len };
        assert_eq!(Elements::new(&DataType::Int8, &DataType::Int4), Some(Elements::Same { item: 1 }));
        assert_eq!(Elements::new(&utf(2), &utf(3)), Some(Elements::Longer { from: 8, to: 12 }));
        assert_eq!(Elements::new(&utf(3), &utf(2)), None);
        assert_eq!(Elements::new(&utf(3), &DataType::String), Some(Elements::Strings { from: 12 }));
        assert_eq!(Elements::new(&DataType::Int64, &DataType::Float64), None);
        assert_eq!(
            Elements::new(&DataType::RawBits(3), &DataType::RawBytes { len: 3 }),
            Some(Elements::Same { item: 3 })
        );
    }

    #[test]
    fn strings_lose_their_padding() {
        let heap = Heap::new();
        let items: Vec<u8> = [0x61_u32, 0x6771, 0, 0].map(u32::to_ne_bytes).concat();
        let converted = Elements::Strings { from: 8 }.convert(items, 0, Some(&heap)).unwrap();
        let texts: Vec<&[u8]> =
            converted.chunks(16).map(|item| heap.get(HeapRef::from_item(item).unwrap()).unwrap()).collect();
        assert_eq!(texts, ["a東".as_bytes(), b""]);
        assert!(Elements::Strings { from: 4 }.convert(vec![0xff; 4], 0, Some(&heap)).is_err());
    }
}
