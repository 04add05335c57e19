//! Elements read from an array, of a data type known at run time.

use crate::buffer::Buffer;
use crate::{Error, ErrorKind, Result};
use std::sync::Arc;
use zarr_codec::{ElementSpec, View, ViewMut};
use zarr_dtype::{DataType, Element, Heap, HeapRef};
use zarr_grid::Shape;
use zarr_json::Value;

/// Block of elements in C order, of any data type and shape.
#[derive(Clone, Debug)]
pub struct ArrayData {
    data_type: DataType,
    shape: Shape,
    items: Buffer,
    heap: Option<Arc<Heap>>,
}

impl ArrayData {
    /// Makes a block of zeros, or of empty elements if they are of variable length.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if memory cannot hold them. Views have strides also where an axis is empty: the other axes have to fit, too.
    pub(crate) fn zeroed(element: &ElementSpec, shape: &[u64]) -> Result<Self> {
        let size = zarr_grid::total_size(shape, element.item_size() as u64);
        let mut data = Self {
            data_type: element.data_type.clone(),
            shape: Shape::from_slice(shape),
            items: Buffer::zeroed(usize::try_from(size).unwrap_or(usize::MAX))?,
            heap: element.new_heap(),
        };
        let dims = data.dims();
        match ViewMut::new(data.items.as_bytes_mut(), element.item_size(), &dims) {
            Ok(_) => Ok(data),
            Err(error) => Err(Error::new(ErrorKind::Limit, error.to_string())),
        }
    }

    /// Makes a block of `shape` from Rust values in C order.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if `elements` are not values of `data_type`, or their number does not fit `shape`.
    pub fn from_elements<T: Element>(data_type: &DataType, shape: &[u64], elements: &[T]) -> Result<Self> {
        let heap = Arc::new(Heap::new());
        let items = T::to_items(data_type.as_taken_by::<T>()?, elements, &heap)?;
        Self::from_items(data_type, shape, &items, data_type.is_variable().then_some(heap))
    }

    /// Makes a block of `shape` from the bytes of elements: native-endian, in C order. Elements of variable length are references into
    /// `heap`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the number of bytes in `items` does not fit `shape`.
    pub fn from_items(data_type: &DataType, shape: &[u64], items: &[u8], heap: Option<Arc<Heap>>) -> Result<Self> {
        let dims: Vec<usize> = shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
        View::new(items, data_type.item_size(), &dims)?;
        let mut buffer = Buffer::zeroed(items.len())?;
        buffer.as_bytes_mut().copy_from_slice(items);
        Ok(Self { data_type: data_type.clone(), shape: Shape::from_slice(shape), items: buffer, heap })
    }

    /// Data type of the elements.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Shape of the block: the number of elements along each axis.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Number of elements of the block.
    pub fn len(&self) -> usize {
        self.items.as_bytes().len() / self.data_type.item_size().max(1)
    }

    /// Whether the block has no elements.
    pub fn is_empty(&self) -> bool {
        self.items.as_bytes().is_empty()
    }

    /// Bytes of the elements: native-endian, in C order. Elements of variable length are 16-byte references into [`heap`](Self::heap).
    pub fn items(&self) -> &[u8] {
        self.items.as_bytes()
    }

    /// Heap with the bytes of variable-length elements; `None` if elements are of fixed size.
    pub fn heap(&self) -> Option<&Arc<Heap>> {
        self.heap.as_ref()
    }

    /// Bytes of each variable-length element, in C order; `None` if elements are of fixed size.
    pub fn variable(&self) -> Option<impl ExactSizeIterator<Item = &[u8]>> {
        let heap = self.heap.as_deref()?;
        let references = self.items().as_chunks::<{ HeapRef::SIZE }>().0;
        Some(references.iter().map(|&item| heap.get(HeapRef::from_bytes(item)).unwrap_or_default()))
    }

    /// Converts the elements to Rust values, in C order.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if `T` does not fit the data type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let data_type = self.data_type.as_taken_by::<T>()?;
        match &self.heap {
            Some(heap) => Ok(T::from_items(data_type, self.items(), heap)?),
            None => Ok(T::from_items(data_type, self.items(), &Heap::new())?),
        }
    }

    /// Returns element `index` in C order as JSON, in the notation of fill values; `null` if there is no such element.
    pub fn json(&self, index: usize) -> Value {
        self.item(index)
            .map_or(Value::Null, |item| zarr_dtype::print::to_json(&self.data_type, item, self.heap.as_deref()))
    }

    /// Returns element `index` in C order as a string for display; an empty string if there is no such element.
    pub fn text(&self, index: usize) -> String {
        self.item(index)
            .map_or_else(String::new, |item| zarr_dtype::print::to_text(&self.data_type, item, self.heap.as_deref()))
    }

    fn item(&self, index: usize) -> Option<&[u8]> {
        let size = self.data_type.item_size();
        let start = index.checked_mul(size)?;
        self.items().get(start..start.checked_add(size)?)
    }

    /// Borrows the elements as a view.
    pub fn view(&self) -> View<'_> {
        View::new(self.items(), self.data_type.item_size(), &self.dims())
            .expect("items and shape were made to fit")
            .with_heap(self.heap.clone())
    }

    /// Borrows the elements as a mutable view.
    pub fn view_mut(&mut self) -> ViewMut<'_> {
        let (dims, item, heap) = (self.dims(), self.data_type.item_size(), self.heap.clone());
        ViewMut::new(self.items.as_bytes_mut(), item, &dims).expect("items and shape were made to fit").with_heap(heap)
    }

    /// Changes the shape to `shape`, which has the same number of elements.
    pub(crate) fn reshaped(mut self, shape: Shape) -> Self {
        debug_assert_eq!(zarr_grid::element_count(&shape), zarr_grid::element_count(&self.shape));
        self.shape = shape;
        self
    }

    /// Moves the bytes of variable-length elements to a new heap, without the bytes of elements that were replaced.
    pub(crate) fn compact(&mut self) -> Result<()> {
        let Some(old) = &self.heap else { return Ok(()) };
        let items = self.items.as_bytes_mut().as_chunks_mut::<{ HeapRef::SIZE }>().0;
        let mut bytes = Vec::new();
        for &mut item in &mut *items {
            let element = old.get(HeapRef::from_bytes(item));
            bytes.extend_from_slice(element.ok_or_else(|| Error::internal("an element is not in its heap"))?);
        }
        let heap = Heap::new();
        let (block, mut offset) = (heap.add(bytes), 0);
        for item in items {
            let len = HeapRef::from_bytes(*item).len;
            *item = if len == 0 { HeapRef::default() } else { HeapRef { block, len, offset } }.to_bytes();
            offset += u64::from(len);
        }
        self.heap = Some(Arc::new(heap));
        Ok(())
    }

    /// Sets the heap into which the bytes of variable-length elements are read.
    pub(crate) fn share_heap(&mut self, heap: Option<Arc<Heap>>) {
        self.heap = heap;
    }

    fn dims(&self) -> Vec<usize> {
        self.shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect()
    }
}

/// Copies elements from `source` to `out`. The bytes of variable-length elements are copied to the heap of `out`.
pub(crate) fn copy_elements(source: &View<'_>, out: &mut ViewMut<'_>) -> Result<()> {
    let Some(heap) = source.heap().filter(|_| out.heap().is_some()) else {
        out.copy_from(source);
        return Ok(());
    };
    let mut elements = Vec::with_capacity(source.len());
    let is_whole = source.all(|item| {
        let element = HeapRef::from_item(item).and_then(|element| heap.get(element));
        elements.extend(element);
        element.is_some()
    });
    if !is_whole || elements.len() != out.len() {
        return Err(Error::internal("an element to be copied is not in its heap"));
    }
    let mut elements = elements.into_iter();
    zarr_codec::write_variable("copy", out, Vec::new(), |block| {
        if let Some(element) = elements.next() {
            block.extend_from_slice(element);
        }
        Ok(())
    })?;
    Ok(())
}
