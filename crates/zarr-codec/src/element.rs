//! What codecs know of the elements they carry.

use crate::{Error, View, ViewMut};
use std::sync::Arc;
use zarr_dtype::{DataType, FillValue, Heap, HeapRef, Layout};

/// The elements of an array at one place in a chain of codecs: their type and fill value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementSpec {
    /// The data type.
    pub data_type: DataType,
    /// What elements that are not stored hold.
    pub fill: FillValue,
}

impl ElementSpec {
    /// The elements as codecs see them: those of an extension are of the type they are stored as.
    #[must_use]
    pub fn stored(&self) -> Self {
        Self { data_type: self.data_type.storage().clone(), fill: self.fill.clone() }
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

    /// Whether all items are the fill value, bit by bit.
    pub fn is_fill(&self, view: &View<'_>) -> bool {
        let fill = self.fill.bytes();
        if !self.is_variable() {
            return view.all(|item| item == fill);
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
