//! Arrays as plain lists of elements: the reference for the arrays of this library.

use std::sync::Arc;
use zarr::{ArrayData, Result};
use zarr_dtype::{DataType, Heap, HeapRef};

/// Elements in C order, each as its bytes: little-endian if it has a fixed size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) shape: Vec<u64>,
    pub(super) elements: Vec<Vec<u8>>,
}

impl Model {
    /// Returns an array with the same element everywhere.
    pub(super) fn filled(shape: &[u64], element: &[u8]) -> Self {
        let len: u64 = shape.iter().product();
        Self { shape: shape.to_vec(), elements: (0..len).map(|_| element.to_vec()).collect() }
    }

    /// Parses the elements in the bytes of a file of values; `None` if they are truncated.
    pub(super) fn from_file(data_type: &DataType, shape: &[u64], mut bytes: &[u8]) -> Option<Self> {
        let mut elements = Vec::new();
        while !bytes.is_empty() {
            let mut size = data_type.item_size();
            if data_type.is_variable() {
                let (len, rest) = bytes.split_first_chunk()?;
                (size, bytes) = (usize::try_from(u32::from_le_bytes(*len)).ok()?, rest);
            }
            let (element, rest) = bytes.split_at_checked(size)?;
            elements.push(element.to_vec());
            bytes = rest;
        }
        Some(Self { shape: shape.to_vec(), elements })
    }

    /// Returns the elements in the format of a file of values.
    pub(super) fn to_file(&self, data_type: &DataType) -> Vec<u8> {
        let mut bytes = Vec::new();
        for element in &self.elements {
            if data_type.is_variable() {
                let len = u32::try_from(element.len()).unwrap_or(u32::MAX);
                bytes.extend(len.to_le_bytes());
            }
            bytes.extend(element);
        }
        bytes
    }

    /// Returns the elements that this library read.
    pub(super) fn from_data(data: &ArrayData) -> Self {
        let data_type = data.data_type();
        let elements = match data.variable() {
            Some(elements) => elements.map(<[u8]>::to_vec).collect(),
            None => {
                let items = data.items().chunks_exact(data_type.item_size());
                items.map(|item| turned(data_type, item.to_vec())).collect()
            }
        };
        Self { shape: data.shape().to_vec(), elements }
    }

    /// Returns the elements as data for this library to write.
    pub(super) fn to_data(&self, data_type: &DataType) -> Result<ArrayData> {
        if data_type.is_variable() {
            let heap = Heap::new();
            let reference = |bytes: &Vec<u8>| {
                let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                HeapRef { block: heap.add(bytes.clone()), len, offset: 0 }.to_bytes()
            };
            let items: Vec<u8> = self.elements.iter().flat_map(reference).collect();
            return ArrayData::from_items(data_type, &self.shape, &items, Some(Arc::new(heap)));
        }
        let items: Vec<u8> = self.elements.iter().flat_map(|element| turned(data_type, element.clone())).collect();
        ArrayData::from_items(data_type, &self.shape, &items, None::<Arc<Heap>>)
    }

    /// Returns the elements at these positions along each axis, as an array of `shape`.
    pub(super) fn take(&self, positions: &[Vec<u64>], shape: Vec<u64>) -> Self {
        let offsets = self.offsets(positions);
        let take = |index: usize| self.elements.get(index).cloned().unwrap_or_default();
        Self { shape, elements: offsets.into_iter().map(take).collect() }
    }

    /// Replaces the elements at these positions along each axis.
    pub(super) fn put(&mut self, positions: &[Vec<u64>], new: &Self) {
        for (index, element) in self.offsets(positions).into_iter().zip(&new.elements) {
            if let Some(slot) = self.elements.get_mut(index) {
                slot.clone_from(element);
            }
        }
    }

    /// Returns the indices in C order of the outer product of positions.
    fn offsets(&self, positions: &[Vec<u64>]) -> Vec<usize> {
        let mut offsets = vec![0];
        for (axis, &len) in positions.iter().zip(&self.shape) {
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            let at = |position: u64| usize::try_from(position).unwrap_or(usize::MAX);
            let along = |index: usize| axis.iter().map(move |&position| index * len + at(position));
            offsets = offsets.into_iter().flat_map(along).collect();
        }
        offsets
    }
}

/// Converts an element from native byte order to little-endian, or back.
pub(super) fn turned(data_type: &DataType, mut element: Vec<u8>) -> Vec<u8> {
    if cfg!(target_endian = "big")
        && let Some(scalar) = data_type.layout().scalar()
    {
        element.chunks_mut(scalar.size()).for_each(<[u8]>::reverse);
    }
    element
}
