//! Strings and byte strings as elements.

use super::{Element, count, with_room};
use crate::heap::content;
use crate::parse::utf32;
use crate::print::{code_points, without_nuls};
use crate::{BytesName, DataType, Error, Heap, HeapRef};

impl Element for String {
    fn name() -> String {
        "String".to_owned()
    }

    fn accepts(data_type: &DataType) -> bool {
        matches!(data_type, DataType::String | DataType::FixedUtf32 { .. } | DataType::FixedBytes { .. })
    }

    fn default_data_type() -> Result<DataType, Error> {
        Ok(DataType::String)
    }

    fn zeroed_vec(len: usize) -> Result<Vec<Self>, Error> {
        empty(len)
    }

    fn from_items(data_type: &DataType, items: &[u8], heap: &Heap) -> Result<Vec<Self>, Error> {
        Self::check(data_type)?;
        each(data_type, items, |index, item| {
            if matches!(data_type, DataType::FixedUtf32 { .. }) {
                return fixed_text(index, item);
            }
            let bytes = bytes_of(data_type, index, item, heap)?;
            std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| Error::Item {
                index,
                found: format!("byte {:#04x}", bytes.get(error.valid_up_to()).copied().unwrap_or_default()),
                expected: "UTF-8".to_owned(),
            })
        })
    }

    fn to_items(data_type: &DataType, elements: &[Self], heap: &Heap) -> Result<Vec<u8>, Error> {
        Self::check(data_type)?;
        texts_to_items(data_type, elements, heap)
    }
}

impl Element for Vec<u8> {
    fn name() -> String {
        "Vec<u8>".to_owned()
    }

    fn accepts(data_type: &DataType) -> bool {
        matches!(
            data_type,
            DataType::Bytes { .. } | DataType::RawBits(_) | DataType::RawBytes { .. } | DataType::FixedBytes { .. }
        ) || matches!(data_type, DataType::VlenArray(inner) if **inner == DataType::UInt8)
    }

    fn default_data_type() -> Result<DataType, Error> {
        Ok(DataType::Bytes { name: BytesName::default() })
    }

    fn zeroed_vec(len: usize) -> Result<Vec<Self>, Error> {
        empty(len)
    }

    fn from_items(data_type: &DataType, items: &[u8], heap: &Heap) -> Result<Vec<Self>, Error> {
        Self::check(data_type)?;
        each(data_type, items, |index, item| bytes_of(data_type, index, item, heap).map(<[u8]>::to_vec))
    }

    fn to_items(data_type: &DataType, elements: &[Self], heap: &Heap) -> Result<Vec<u8>, Error> {
        Self::check(data_type)?;
        byte_strings_to_items(data_type, elements, heap)
    }
}

/// Converts strings to items of a data type that accepts `String`.
pub(super) fn texts_to_items<T: AsRef<str>>(data_type: &DataType, texts: &[T], heap: &Heap) -> Result<Vec<u8>, Error> {
    if data_type.is_variable() {
        return to_heap(texts.iter().map(|text| text.as_ref().as_bytes()), heap);
    }
    let item_size = data_type.item_size();
    let mut items = with_room(texts.len(), item_size)?;
    for (index, text) in texts.iter().map(AsRef::as_ref).enumerate() {
        if matches!(data_type, DataType::FixedUtf32 { .. }) {
            let (found, len) = (text.chars().count(), item_size / 4);
            if found > len {
                let (found, expected) = (format!("{found} code points"), format!("at most {len}"));
                return Err(Error::Item { index, found, expected });
            }
            items.extend(utf32(text, len));
        } else {
            push_padded(index, text.as_bytes(), item_size, &mut items)?;
        }
    }
    Ok(items)
}

/// Converts byte strings to items of a data type that accepts `Vec<u8>`.
pub(super) fn byte_strings_to_items<T: AsRef<[u8]>>(
    data_type: &DataType,
    strings: &[T],
    heap: &Heap,
) -> Result<Vec<u8>, Error> {
    if data_type.is_variable() {
        return to_heap(strings.iter().map(AsRef::as_ref), heap);
    }
    let item_size = data_type.item_size();
    let mut items = with_room(strings.len(), item_size)?;
    for (index, bytes) in strings.iter().map(AsRef::as_ref).enumerate() {
        if bytes.len() != item_size && !matches!(data_type, DataType::FixedBytes { .. }) {
            let found = format!("{} bytes", bytes.len());
            return Err(Error::Item { index, found, expected: item_size.to_string() });
        }
        push_padded(index, bytes, item_size, &mut items)?;
    }
    Ok(items)
}

pub(super) fn empty<T: Clone + Default>(len: usize) -> Result<Vec<T>, Error> {
    let mut elements = with_room(len, size_of::<T>())?;
    elements.resize(len, T::default());
    Ok(elements)
}

/// Converts each of `items` by `value`.
pub(super) fn each<T>(
    data_type: &DataType,
    items: &[u8],
    value: impl Fn(usize, &[u8]) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let len = count(data_type, items)?;
    let mut elements = with_room(len, size_of::<T>())?;
    for (index, item) in items.chunks_exact(data_type.item_size()).enumerate() {
        elements.push(value(index, item)?);
    }
    Ok(elements)
}

/// Returns the bytes of the value of an element: its content in the heap, its bytes without NULs at the end, or all its bytes.
fn bytes_of<'i>(data_type: &DataType, index: usize, item: &'i [u8], heap: &'i Heap) -> Result<&'i [u8], Error> {
    match data_type {
        DataType::String | DataType::Bytes { .. } | DataType::VlenArray(_) => {
            content(item, Some(heap)).ok_or_else(|| Error::Item {
                index,
                found: format!("{:?}", HeapRef::from_item(item).unwrap_or_default()),
                expected: "a part of the heap".to_owned(),
            })
        }
        DataType::FixedBytes { .. } => Ok(without_nuls(item)),
        _ => Ok(item),
    }
}

fn fixed_text(index: usize, item: &[u8]) -> Result<String, Error> {
    // Most texts are ASCII: one byte for each code point is a good guess.
    let mut text = String::with_capacity(item.len() / 4);
    for code in code_points(item) {
        text.push(code.map_err(|code| Error::Item {
            index,
            found: format!("{code:#x}"),
            expected: "a Unicode code point".to_owned(),
        })?);
    }
    text.truncate(text.trim_end_matches('\0').len());
    Ok(text)
}

fn push_padded(index: usize, bytes: &[u8], size: usize, items: &mut Vec<u8>) -> Result<(), Error> {
    if bytes.len() > size {
        let (found, expected) = (format!("{} bytes", bytes.len()), format!("at most {size}"));
        return Err(Error::Item { index, found, expected });
    }
    items.extend_from_slice(bytes);
    items.resize(items.len() + size - bytes.len(), 0);
    Ok(())
}

/// Adds all elements to `heap` as one block, and returns the references to them as items.
pub(super) fn to_heap<'e>(
    elements: impl ExactSizeIterator<Item = &'e [u8]> + Clone,
    heap: &Heap,
) -> Result<Vec<u8>, Error> {
    let memory = |len| Error::Memory { len, item_size: 1 };
    let total = elements.clone().try_fold(0_usize, |total, element| total.checked_add(element.len()));
    let mut block: Vec<u8> = with_room(total.ok_or_else(|| memory(usize::MAX))?, 1)?;
    let mut references: Vec<HeapRef> = with_room(elements.len(), HeapRef::SIZE)?;
    for (index, bytes) in elements.enumerate() {
        let len = u32::try_from(bytes.len()).map_err(|_| Error::Item {
            index,
            found: format!("{} bytes", bytes.len()),
            expected: format!("at most {}", u32::MAX),
        })?;
        // An empty element is all zero, whatever the block: then equal items are equal elements more often.
        let offset = if len == 0 { 0 } else { u64::try_from(block.len()).map_err(|_| memory(block.len()))? };
        references.push(HeapRef { block: 0, len, offset });
        block.extend_from_slice(bytes);
    }
    let block = heap.add(block);
    let mut items = with_room(references.len(), HeapRef::SIZE)?;
    for mut reference in references {
        reference.block = if reference.len == 0 { 0 } else { block };
        items.extend_from_slice(&reference.to_bytes());
    }
    Ok(items)
}
