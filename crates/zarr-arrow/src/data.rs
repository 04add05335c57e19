//! Arrays of Arrow in memory: buffers that share their owners, children and a dictionary.

use crate::words::Words;
use bytemuck::AnyBitPattern;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use zarr_dataset::Values;
use zarr_dtype::Heap;

/// Bytes of an array, which live as long as any clone of the buffer.
#[derive(Clone)]
pub struct Buffer {
    owner: Arc<Owner>,
    range: Range<usize>,
}

/// Owner of bytes, which are never changed and never move.
#[derive(Debug)]
pub(crate) enum Owner {
    /// Values as they were read.
    Values(Values),
    /// Block of the heap of strings.
    Block(Arc<Heap>, u32),
    /// Bytes that were made for the array.
    Words(Words),
    /// Bytes of the strings that were made for the array, one after another.
    Texts(Vec<u8>),
}

impl Owner {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Values(values) => values.data().items(),
            Self::Block(heap, block) => heap.block(*block).unwrap_or_default(),
            Self::Words(words) => words.bytes(),
            Self::Texts(bytes) => bytes,
        }
    }
}

impl Buffer {
    /// Returns all bytes of an owner.
    pub(crate) fn whole(owner: Arc<Owner>) -> Self {
        let range = 0..owner.bytes().len();
        Self { owner, range }
    }

    /// Returns the bytes from `start` to the end of an owner.
    pub(crate) fn from_start(owner: Arc<Owner>, start: usize) -> Self {
        let len = owner.bytes().len();
        Self { owner, range: start.min(len)..len }
    }

    pub(crate) fn of_words(words: Words) -> Self {
        Self::whole(Arc::new(Owner::Words(words)))
    }

    /// Bytes of the buffer.
    pub fn bytes(&self) -> &[u8] {
        self.owner.bytes().get(self.range.clone()).unwrap_or_default()
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.range.len()).finish_non_exhaustive()
    }
}

/// Array of Arrow, of any type: a part of its buffers, its children and its dictionary. Clones and slices share the buffers.
#[derive(Clone, Debug)]
pub struct Data {
    pub(crate) len: usize,
    pub(crate) offset: usize,
    /// Number of nulls among the `len` elements.
    pub(crate) nulls: usize,
    /// Buffers in the order of the C data interface, the bitmap of validity first, unless the type has none.
    pub(crate) buffers: Vec<Option<Buffer>>,
    /// Whether the first buffer is a bitmap of validity.
    pub(crate) has_validity: bool,
    pub(crate) children: Vec<Data>,
    /// Number of elements of the children for each element; `None` if children are not sliced with the array.
    pub(crate) child_len: Option<usize>,
    pub(crate) dictionary: Option<Arc<Data>>,
    /// Size in bytes of an element in the second buffer, if that has elements of one size one after another; `None` for bits and offsets.
    pub(crate) item_size: Option<usize>,
}

impl Data {
    /// Makes an array of `len` elements with a bitmap of validity, if there are nulls, and further buffers.
    pub(crate) fn new(len: usize, validity: Option<Validity>, buffers: impl IntoIterator<Item = Buffer>) -> Self {
        let nulls = validity.as_ref().map_or(0, |validity| validity.nulls);
        let first = validity.map(|validity| validity.bits);
        Self {
            len,
            offset: 0,
            nulls,
            buffers: std::iter::once(first).chain(buffers.into_iter().map(Some)).collect(),
            has_validity: true,
            children: Vec::new(),
            child_len: None,
            dictionary: None,
            item_size: None,
        }
    }

    /// Sets the size in bytes of the elements in the second buffer.
    pub(crate) fn items(mut self, size: usize) -> Self {
        self.item_size = Some(size);
        self
    }

    /// Sets children, of which each element of the array has `child_len`.
    pub(crate) fn children(mut self, children: Vec<Self>, child_len: usize) -> Self {
        (self.children, self.child_len) = (children, Some(child_len));
        self
    }

    /// Makes a run-end encoded array of `len` elements.
    pub(crate) fn run_ends(len: usize, ends: Self, values: Self) -> Self {
        let (buffers, children) = (Vec::new(), vec![ends, values]);
        Self { buffers, has_validity: false, children, ..Self::new(len, None, []) }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of elements before the first one in the buffers.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Number of nulls; nulls of the values of run-end and dictionary encoded arrays are not counted.
    pub fn null_count(&self) -> usize {
        self.nulls
    }

    /// Buffers in the order of the C data interface; `None` for the bitmap of validity of an array without nulls.
    pub fn buffers(&self) -> &[Option<Buffer>] {
        &self.buffers
    }

    /// Arrays of the fields of a struct, of the elements of lists, or the ends and values of runs.
    pub fn child_data(&self) -> &[Self] {
        &self.children
    }

    /// Values that the elements of a dictionary encoded array are indices of; `None` for other arrays.
    pub fn dictionary(&self) -> Option<&Self> {
        self.dictionary.as_deref()
    }

    /// Whether element `index` is null. Nulls of the values of run-end and dictionary encoded arrays do not count.
    pub fn is_null(&self, index: usize) -> bool {
        let bits = self.buffers.first().filter(|_| self.has_validity).and_then(Option::as_ref);
        bits.is_some_and(|bits| !bit(bits.bytes(), self.offset + index))
    }

    /// Returns the elements, if they are stored as values of the size of `T` one after another; `None` for other arrays, such as bools,
    /// which are bits.
    pub fn values<T: AnyBitPattern>(&self) -> Option<&[T]> {
        let [_, Some(values)] = self.buffers.as_slice() else { return None };
        if self.item_size != Some(size_of::<T>()) {
            return None;
        }
        let values: &[T] = bytemuck::try_cast_slice(values.bytes()).ok()?;
        values.get(self.offset..self.offset.checked_add(self.len)?)
    }

    /// Returns elements `start..start + len`, which must be there.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if there is no memory for a bitmap of validity.
    pub(crate) fn slice(&self, start: usize, len: usize) -> crate::Result<Self> {
        let mut slice = self.clone();
        slice.len = len;
        if let Some(child_len) = self.child_len {
            // Parents without an offset are understood by more readers.
            let child = |child: &Self| child.slice(start * child_len, len * child_len);
            slice.children = self.children.iter().map(child).collect::<crate::Result<_>>()?;
            if let Some(Some(bits)) = slice.buffers.first_mut() {
                let moved = (start..start + len).map(|index| bit(bits.bytes(), index));
                let ((moved, _), _) = packed(len, moved)?;
                *bits = Buffer::of_words(moved);
            }
        } else {
            slice.offset += start;
        }
        if self.nulls != 0 {
            slice.nulls = (0..len).filter(|&index| slice.is_null(index)).count();
        }
        if slice.nulls == 0 && slice.has_validity {
            slice.buffers.iter_mut().take(1).for_each(|bits| *bits = None);
        }
        Ok(slice)
    }
}

/// Bitmap of validity: a bit for each element, 0 for nulls.
#[derive(Clone, Debug)]
pub(crate) struct Validity {
    bits: Buffer,
    nulls: usize,
}

impl Validity {
    /// Makes the bitmap of elements of which `is_null` says whether they are null; `None` if there are no nulls.
    pub(crate) fn new(is_null: impl ExactSizeIterator<Item = bool>) -> crate::Result<Option<Self>> {
        let (bits, valid) = packed(is_null.len(), is_null.map(|null| !null))?;
        let nulls = bits.1 - valid;
        Ok((nulls != 0).then(|| Self { bits: Buffer::of_words(bits.0), nulls }))
    }
}

/// Packs bools into bits, the lowest bit first. Returns the bits with their number, and how many are set.
pub(crate) fn packed(count: usize, values: impl Iterator<Item = bool>) -> crate::Result<((Words, usize), usize)> {
    let mut bits = Words::zeroed(count.div_ceil(8))?;
    let (mut values, mut set) = (values, 0);
    let mut left = count;
    for byte in bits.bytes_mut() {
        let mut packed = 0;
        for (number, value) in values.by_ref().take(left.min(8)).enumerate() {
            packed |= u8::from(value) << number;
        }
        left = left.saturating_sub(8);
        set += packed.count_ones() as usize;
        *byte = packed;
    }
    Ok(((bits, count), set))
}

pub(crate) fn bit(bits: &[u8], index: usize) -> bool {
    bits.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bitmap_that_memory_has_no_room_for_is_an_error() {
        let validity = Validity::new([true, false].into_iter()).unwrap();
        let data = Data::new(2, validity, []).children(Vec::new(), 1);
        assert!(data.slice(1, 1).unwrap().buffers[0].is_none());
        let huge = data.slice(0, usize::MAX).unwrap_err();
        assert_eq!(huge.kind(), crate::ErrorKind::Limit);
    }
}
