//! The type and fill value of the elements of codecs.

use crate::{Error, View, ViewMut};
use std::sync::Arc;
use zarr_dtype::{DataType, FillValue, Heap, HeapRef, Layout};

/// The elements of an array between two codecs of a chain: their type and fill value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementSpec {
    /// The data type.
    pub data_type: DataType,
    /// The value of elements that are not stored.
    pub fill: FillValue,
    /// Whether all software reads elements that are not stored as [`fill`](Self::fill). If not, since the metadata leaves them
    /// undefined or spells the fill value in a way that others read as another value, no chunk is left out.
    pub may_omit_empty_chunks: bool,
}

impl ElementSpec {
    /// Elements of a type, with a fill value that all software reads alike.
    pub const fn new(data_type: DataType, fill: FillValue) -> Self {
        Self { data_type, fill, may_omit_empty_chunks: true }
    }

    /// The elements as a codec encodes them: of another type, with the fill value that this one becomes.
    #[must_use]
    pub const fn encoded(&self, data_type: DataType, fill: FillValue) -> Self {
        Self { data_type, fill, may_omit_empty_chunks: self.may_omit_empty_chunks }
    }

    /// The elements as codecs take them: elements of an extension have the type of its storage.
    #[must_use]
    pub fn stored(&self) -> Self {
        self.encoded(self.data_type.storage().clone(), self.fill.clone())
    }

    /// How elements lie in memory.
    pub fn layout(&self) -> Layout {
        self.data_type.layout()
    }

    /// Bytes of one item of a view: of the element, or of a reference into a heap where its length varies.
    pub fn item_size(&self) -> usize {
        self.data_type.item_size()
    }

    /// Whether elements have varying lengths and lie in a heap.
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

    /// Whether a chunk (or an inner chunk of a shard) of these elements may be left out: it is nothing but the fill value, and
    /// whoever misses it reads the same.
    pub fn may_omit(&self, chunk: &View<'_>) -> bool {
        self.may_omit_empty_chunks && self.is_fill(chunk)
    }

    /// Whether all items are the fill value, bit by bit.
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

    /// A heap if elements of this type need one.
    pub fn new_heap(&self) -> Option<Arc<Heap>> {
        self.is_variable().then(|| Arc::new(Heap::new()))
    }
}

/// Whether `items` are nothing but `item`, again and again.
pub(crate) fn is_repeated(items: &[u8], item: &[u8]) -> bool {
    // The first is, and each is the one before it: one comparison of the memory with itself, as fast as memory is read.
    match items.split_at_checked(item.len()) {
        Some((first, others)) => first == item && items.get(..others.len()) == Some(others),
        None => items.is_empty(),
    }
}

/// A reference to a copy of `bytes` in `heap`.
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
