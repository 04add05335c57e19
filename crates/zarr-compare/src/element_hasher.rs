//! Form in which elements are hashed: little-endian, one after another in C order.

use crate::fold::Fold;
use zarr_codec::View;
use zarr_dtype::{ByteOrder, DataType, HeapRef, SwapRun};
use zarr_hierarchy::{Error, Result};

/// Number of bytes of elements of variable length that are collected before they are hashed.
const BLOCK: usize = 64 << 10;

/// Hasher for the elements of a data type.
#[derive(Debug)]
pub(crate) struct ElementHasher {
    data_type: DataType,
    swaps: Vec<SwapRun>,
    /// Floats that count as equal; `None` if elements are hashed as they are.
    fold: Option<Fold>,
}

impl ElementHasher {
    pub(crate) fn new(data_type: &DataType, fold: Fold) -> Self {
        let swaps = data_type.layout().swaps(&ByteOrder::Little);
        let fold = (!fold.is_idle(data_type)).then_some(fold);
        Self { data_type: data_type.clone(), swaps, fold }
    }

    /// Hashes the elements of a view in C order. `scratch` is a buffer that calls reuse.
    pub(crate) fn update(&self, view: &View<'_>, scratch: &mut Vec<u8>, hasher: &mut blake3::Hasher) -> Result<()> {
        if self.data_type.is_variable() {
            return self.update_variable(view, scratch, hasher);
        }
        if let Some(bytes) = view.as_contiguous().filter(|_| self.swaps.is_empty() && self.fold.is_none()) {
            hasher.update(bytes);
            return Ok(());
        }
        scratch.clear();
        match self.fold {
            None => view.append_swapped(&self.swaps, scratch)?,
            Some(fold) => {
                view.append_to(scratch)?;
                fold.apply(&self.data_type, scratch);
                self.data_type.layout().swap(&ByteOrder::Little, scratch);
            }
        }
        hasher.update(scratch);
        Ok(())
    }

    /// Hashes elements of variable length: for each, its length in bytes as 64 bits, and its bytes.
    fn update_variable(&self, view: &View<'_>, scratch: &mut Vec<u8>, hasher: &mut blake3::Hasher) -> Result<()> {
        let lost = || Error::internal("an element to be hashed is not in its heap");
        let heap = view.heap().ok_or_else(lost)?;
        let inner = match self.data_type.storage() {
            DataType::VlenArray(inner) => Some(&**inner),
            _ => None,
        };
        scratch.clear();
        let is_whole = view.all(|item| {
            let Some(content) = HeapRef::from_item(item).and_then(|element| heap.get(element)) else { return false };
            scratch.extend_from_slice(&(content.len() as u64).to_le_bytes());
            let start = scratch.len();
            scratch.extend_from_slice(content);
            if let (Some(inner), Some(items)) = (inner, scratch.get_mut(start..)) {
                self.fold.unwrap_or_default().apply(inner, items);
                inner.layout().swap(&ByteOrder::Little, items);
            }
            if scratch.len() >= BLOCK {
                hasher.update(scratch);
                scratch.clear();
            }
            true
        });
        hasher.update(scratch);
        if is_whole { Ok(()) } else { Err(lost()) }
    }
}
