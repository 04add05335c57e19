//! Data type and fill value of the elements that codecs work on.

use crate::{Error, View, ViewMut};
use std::sync::Arc;
use zarr_dtype::{DataType, FillValue, Heap, HeapRef, Layout};

/// Data type and fill value of the elements of an array or of the output of a codec in a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementSpec {
    /// Data type of the elements.
    pub data_type: DataType,
    /// Value of elements of chunks that are not stored.
    pub fill: FillValue,
    /// Whether all software reads elements of missing chunks as [`fill`](Self::fill). If `false`, every chunk is stored: the metadata has
    /// no fill value, or spells it so that other software reads another value.
    pub may_omit_empty_chunks: bool,
}

impl ElementSpec {
    /// Makes the description of elements of `data_type` with the fill value `fill`. Chunks of fill values may be omitted, since
    /// [`may_omit_empty_chunks`](Self::may_omit_empty_chunks) is true.
    pub const fn new(data_type: DataType, fill: FillValue) -> Self {
        Self { data_type, fill, may_omit_empty_chunks: true }
    }

    /// Returns the elements after a codec encoded `self`: of `data_type`, with the encoded fill value `fill`.
    #[must_use]
    pub const fn encoded(&self, data_type: DataType, fill: FillValue) -> Self {
        Self { data_type, fill, may_omit_empty_chunks: self.may_omit_empty_chunks }
    }

    /// Returns the elements as codecs store them: an extension data type is replaced by its storage data type.
    #[must_use]
    pub fn stored(&self) -> Self {
        self.encoded(self.data_type.storage().clone(), self.fill.clone())
    }

    /// Returns the layout of an element in memory.
    pub fn layout(&self) -> Layout {
        self.data_type.layout()
    }

    /// Returns the number of bytes of an item of a view: of an element of fixed length, or of the heap reference of an element of variable
    /// length.
    pub fn item_size(&self) -> usize {
        self.data_type.item_size()
    }

    /// Whether elements have variable length, with their bytes in a heap.
    pub fn is_variable(&self) -> bool {
        self.data_type.is_variable()
    }

    /// Sets all items of `out` to the fill value.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if elements are of variable length and the view has no heap.
    pub fn fill(&self, out: &mut ViewMut<'_>) -> Result<(), Error> {
        match self.fill.item() {
            Some(item) => out.fill(item),
            None => {
                let reference = in_heap(out.heap(), self.fill.bytes())?;
                out.fill(&reference.to_bytes());
            }
        }
        Ok(())
    }

    /// Whether a chunk or an inner chunk may be left out of the store: all elements are the fill value, and all software reads a missing
    /// chunk as the fill value.
    pub fn may_omit(&self, chunk: &View<'_>) -> bool {
        self.may_omit_empty_chunks && self.is_fill(chunk)
    }

    /// Whether all items of `view` are bitwise equal to the fill value.
    fn is_fill(&self, view: &View<'_>) -> bool {
        let fill = self.fill.bytes();
        if !self.is_variable() {
            return view.runs(|items| is_repeated(items, fill));
        }
        match view.heap() {
            None => view.is_empty(),
            Some(heap) => view.all(|item| HeapRef::from_item(item).and_then(|at| heap.get(at)) == Some(fill)),
        }
    }

    /// Returns a new heap if elements have variable length, and `None` otherwise.
    pub fn new_heap(&self) -> Option<Arc<Heap>> {
        self.is_variable().then(|| Arc::new(Heap::new()))
    }
}

/// Whether `items` consist of repetitions of `item` only.
pub(crate) fn is_repeated(items: &[u8], item: &[u8]) -> bool {
    // The first item is equal to `item`, and each further item to its predecessor: one comparison of memory with itself.
    match items.split_at_checked(item.len()) {
        Some((first, others)) => first == item && items.get(..others.len()) == Some(others),
        None => items.is_empty(),
    }
}

/// Copies `bytes` to `heap` and returns a reference to the copy.
fn in_heap(heap: Option<&Arc<Heap>>, bytes: &[u8]) -> Result<HeapRef, Error> {
    let heap = heap.ok_or_else(|| Error::Unsupported {
        codec: "fill value",
        what: "elements of variable length need a view with a heap".to_owned(),
    })?;
    if bytes.is_empty() {
        return Ok(HeapRef::default());
    }
    let len = u32::try_from(bytes.len()).map_err(|_| Error::Limit {
        what: "fill value",
        found: bytes.len() as u64,
        limit: u64::from(u32::MAX),
    })?;
    Ok(HeapRef { block: heap.add(bytes.to_vec()), len, offset: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(name: &str, fill: &[u8]) -> ElementSpec {
        let zero = crate::testing::element(name);
        ElementSpec { fill: FillValue::from_bytes(&zero.data_type, fill).unwrap(), ..zero }
    }

    #[test]
    fn chunks_of_fill_values_are_told_from_others_by_each_bit() {
        for (name, fill) in
            [("uint8", &[7_u8][..]), ("float32", &1.5_f32.to_ne_bytes()), ("int64", &[0; 8]), ("r24", &[1, 2, 3])]
        {
            let (element, item) = (element(name, fill), fill.len());
            // Columns 0 and 2 of three, in both orders of the axes.
            let mut bytes = fill.repeat(4 * 3);
            for order in [[0, 1], [1, 0]] {
                let every = zarr_grid::Region::new([
                    zarr_grid::AxisRange::new(0, 4),
                    zarr_grid::AxisRange { start: 0, len: 2, step: 2 },
                ]);
                let every = every.unwrap();
                assert!(element.may_omit(&View::new(&bytes, item, &[4, 3]).unwrap().permuted(&order)));
                for at in 0..bytes.len() {
                    bytes[at] ^= 0x80;
                    let all = View::new(&bytes, item, &[4, 3]).unwrap();
                    assert!(!element.may_omit(&all.clone().permuted(&order)), "{name} {at}");
                    let is_between = at / item % 3 == 1;
                    assert_eq!(element.may_omit(&all.window(&every).permuted(&order)), is_between, "{name} {at}");
                    bytes[at] ^= 0x80;
                }
            }
            assert!(element.may_omit(&View::new(&[], item, &[0, 3]).unwrap()));
            let kept = ElementSpec { may_omit_empty_chunks: false, ..element };
            assert!(!kept.may_omit(&View::new(&bytes, item, &[4, 3]).unwrap()));
        }
    }
}
