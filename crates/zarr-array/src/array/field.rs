//! Reading one field of the structs of an array.

use super::Array;
use crate::{ArrayData, Error, Result, plan};
use zarr_codec::{Dims, ElementSpec, View, ViewMut};
use zarr_dtype::{DataType, Field, FillValue};
use zarr_grid::{AxisRange, ChunkGrid, IntoSelection, Region, Resolved, Shape};

/// Structs are decoded in pieces of about so many bytes, unless a chunk has more.
const PIECE: u64 = 32 << 20;

impl Array {
    /// Reads a selection of one field of the structs that the elements are. The fields of a field that is a struct are
    /// taken from the result, by [`ArrayData::field`]; a field that is an array gives further dimensions.
    ///
    /// Whole structs are held in memory for a few chunks at a time, or, where the selection picks single indices, for
    /// all of it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use zarr_array::{Array, NewArray, Registry, Store};
    /// use zarr_dtype::struct_element;
    /// use zarr_store::MemoryStore;
    ///
    /// #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
    /// #[repr(C)]
    /// struct Point {
    ///     x: f32,
    ///     y: f32,
    /// }
    /// struct_element!(Point { x, y });
    ///
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::ENTRY);
    /// # let registry = Arc::new(registry);
    /// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    /// let new = NewArray::new(&[3], r#"[["x", "<f4"], ["y", "<f4"]]"#)
    ///     .codecs_text(r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#)?;
    /// let array = Array::create(&store, "/a", new, &registry)?;
    /// array.write(.., &[Point { x: 1.0, y: 2.0 }, Point { x: 3.0, y: 4.0 }, Point { x: 5.0, y: 6.0 }])?;
    /// assert_eq!(array.read::<Point>(1)?[0].x, 3.0);
    /// assert_eq!(array.read_field("y", ..)?.to_vec::<f32>()?, [2.0, 4.0, 6.0]);
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if there is no such field, and as [`read`](Self::read).
    pub fn read_field(&self, name: &str, what: impl IntoSelection) -> Result<ArrayData> {
        self.read_field_in_pieces(name, what, PIECE)
    }

    fn read_field_in_pieces(&self, name: &str, what: impl IntoSelection, size: u64) -> Result<ArrayData> {
        let resolved = self.resolve(what)?;
        let selected = match &resolved {
            Resolved::Box(selected) => selected,
            _ => return self.read_resolved(&resolved)?.field(name),
        };
        let mut data = field_data(self.data_type(), name, &resolved.output_shape())?;
        let (offset, inner) = (data.offset, data.inner.clone());
        let out = data.elements.view_mut();
        // Shards decode in parts.
        let parts = self.is_sharded().then(|| ChunkGrid::regular(self.shape(), &self.part_shape()).ok()).flatten();
        let grid = parts.as_ref().unwrap_or(&self.core.grid);
        let pieces = Pieces { array: self, grid, size, offset, item: out.item_size(), inner: &inner };
        pieces.read(&selected.region, plan::turned(out, &selected.flipped)).map_err(|error| self.core.place(error))?;
        let shape = resolved.result_shape().iter().chain(data.shape.iter()).copied().collect();
        Ok(data.elements.reshaped(shape))
    }
}

impl ArrayData {
    /// One field of the structs that the elements are. A field that is an array gives further dimensions.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if there is no such field.
    pub fn field(&self, name: &str) -> Result<Self> {
        let mut data = field_data(self.data_type(), name, self.shape())?;
        let source = self.view();
        let mut out = data.elements.view_mut();
        let item = out.item_size();
        out.copy_from(&source.part(data.offset, item, &data.inner)?);
        drop(out);
        Ok(data.elements)
    }
}

/// Room for the items of a field.
struct FieldData {
    elements: ArrayData,
    /// Bytes of a struct in front of the field.
    offset: usize,
    /// The shape of the field, empty if it is no array.
    shape: Vec<u64>,
    /// The same, as views have it.
    inner: Dims,
}

fn field_data(data_type: &DataType, name: &str, shape: &[u64]) -> Result<FieldData> {
    let DataType::Struct(fields) = data_type else {
        return Err(Error::argument(format!("field {name:?} of elements of type {data_type}, which have no fields")));
    };
    let Some((range, field)) = fields.get(name) else {
        let names: Vec<&str> = fields.fields().iter().map(|Field { name, .. }| name.as_str()).collect();
        return Err(Error::argument(format!("no field {name:?}, there are {names:?}")));
    };
    let data_type = field.data_type.clone();
    let element = ElementSpec { fill: FillValue::zero(&data_type), data_type };
    let all: Shape = shape.iter().chain(&field.shape).copied().collect();
    Ok(FieldData {
        elements: ArrayData::zeroed(&element, &all)?,
        offset: range.start,
        shape: field.shape.clone(),
        // A struct that fits into memory has no longer arrays.
        inner: field.shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect(),
    })
}

/// A region of structs, read in pieces of which one field is kept.
struct Pieces<'a> {
    array: &'a Array,
    /// Where the region may be cut.
    grid: &'a ChunkGrid,
    /// Bytes of a piece.
    size: u64,
    offset: usize,
    item: usize,
    inner: &'a [usize],
}

impl Pieces<'_> {
    /// Reads a region; `out` has its shape and that of the field.
    fn read(&self, region: &Region, mut out: ViewMut<'_>) -> Result<()> {
        let core = &self.array.core;
        if region.is_empty() {
            return Ok(());
        }
        let size = zarr_grid::element_count(&region.shape())
            .and_then(|count| count.checked_mul(core.element().item_size() as u64))
            .ok_or_else(|| Error::argument("the selection has more bytes than can be addressed"))?;
        if size > self.size
            && let Some((axis, at)) = middle(self.grid, region)
        {
            for part in halves(region.axes(), axis, at) {
                let window =
                    part.out.iter().copied().chain(self.inner.iter().map(|&len| AxisRange::new(0, len as u64)));
                let out = out.reborrow().window(&Region::new(window)?);
                self.read(&Region::new(part.inner)?, out)?;
            }
            return Ok(());
        }
        let mut structs = ArrayData::zeroed(core.element(), &region.shape())?;
        self.array.read_region(region, structs.view_mut(), true)?;
        let view: View<'_> = structs.view();
        out.copy_from(&view.part(self.offset, self.item, self.inner)?);
        Ok(())
    }
}

/// Where to cut a region in two along chunks: the axis, and how many of its positions come first.
fn middle(grid: &ChunkGrid, region: &Region) -> Option<(usize, u64)> {
    let cuts = grid.meet(region);
    let (axis, cut) = cuts.axes().iter().enumerate().find(|(_, axis)| axis.len() > 1)?;
    Some((axis, cut.get(cut.len() / 2).out))
}

/// A part of a region, and where it is in the output of the region.
struct Half {
    inner: Vec<AxisRange>,
    out: Vec<AxisRange>,
}

fn halves(axes: &[AxisRange], axis: usize, at: u64) -> [Half; 2] {
    let half = |first: u64, len: Option<u64>| {
        let mut half =
            Half { inner: axes.to_vec(), out: axes.iter().map(|axis| AxisRange::new(0, axis.len)).collect() };
        if let (Some(inner), Some(out)) = (half.inner.get_mut(axis), half.out.get_mut(axis)) {
            let len = len.unwrap_or(inner.len - first);
            *inner = AxisRange { start: inner.start + first * inner.step, len, step: inner.step };
            *out = AxisRange::new(first, len);
        }
        half
    };
    [half(0, Some(at)), half(at, None)]
}

#[cfg(test)]
mod tests;
