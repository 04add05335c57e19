//! Reads of one field of an array whose elements are structs.

use crate::core::ArrayCore;
use crate::{Array, ArrayData, AsyncArray, Error, Result, selected_memory};
use zarr_codec::{Dims, ElementSpec, View};
use zarr_dtype::{DataType, Field, FillValue};
use zarr_grid::{AxisRange, ChunkGrid, IntoSelection, Region, Resolved, Shape};

/// Approximate size in bytes of the pieces in which structs are decoded. A piece is at least a chunk or inner chunk.
const PIECE: u64 = 32 << 20;

impl Array {
    /// Reads a selection of one field of an array whose elements are structs. `name` may lead into nested structs, with points:
    /// `"position.x"`. A field that is an array adds its dimensions to the result.
    ///
    /// Whole structs of a few chunks are in memory at a time. If the selection has lists, coordinates or a mask, the structs of the whole
    /// selection are in memory.
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
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// # let registry = Arc::new(registry);
    /// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    /// let new = NewArray::new(&[3], r#"[["x", "<f4"], ["y", "<f4"]]"#)
    ///     .codecs(r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#)?;
    /// let array = Array::create(&store, "/a", new, &registry)?;
    /// array.write(.., &[Point { x: 1.0, y: 2.0 }, Point { x: 3.0, y: 4.0 }, Point { x: 5.0, y: 6.0 }])?;
    /// assert_eq!(array.read::<Point>(1)?[0].x, 3.0);
    /// assert_eq!(array.read_field("y", ..)?.to_vec::<f32>()?, [2.0, 4.0, 6.0]);
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if there is no such field, and the errors of [`read`](Self::read).
    pub fn read_field(&self, name: &str, selection: impl IntoSelection) -> Result<ArrayData> {
        self.read_field_of(name, &self.resolve(selection)?, PIECE)
    }

    fn read_field_of(&self, name: &str, resolved: &Resolved, size: u64) -> Result<ArrayData> {
        if !matches!(resolved, Resolved::Box(_)) {
            return self.read_resolved(resolved)?.field(name).map_err(|error| self.core.locate(error));
        }
        let mut pieces = Pieces::new(&self.core, name, resolved, size).map_err(|error| self.core.locate(error))?;
        while let Some((region, mut structs)) = pieces.next()? {
            self.read_region(&region, structs.view_mut())?;
            pieces.take(&structs)?;
        }
        Ok(pieces.finish(resolved))
    }
}

impl AsyncArray {
    /// Reads a selection of one field of an array whose elements are structs, as [`Array::read_field`] does.
    ///
    /// # Errors
    /// The errors of [`Array::read_field`].
    pub async fn read_field(&self, name: &str, selection: impl IntoSelection) -> Result<ArrayData> {
        let (name, resolved) = (name.to_owned(), self.resolve(selection)?);
        self.unblock(move |array| array.read_field_of(&name, &resolved, PIECE)).await?
    }
}

impl ArrayData {
    /// Copies one field of elements that are structs. `name` may lead into nested structs, with points: `"position.x"`. A field that is an
    /// array adds its dimensions to the result.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if there is no field `name`.
    pub fn field(&self, name: &str) -> Result<Self> {
        let found = FieldPath::new(self.data_type(), name)?;
        let mut elements = found.zeroed(self.shape())?;
        elements.view_mut().copy_from(&found.part(self.view())?);
        Ok(elements)
    }
}

/// Path to a field in a struct or in nested structs.
struct FieldPath {
    data_type: DataType,
    steps: Vec<Step>,
    /// Dimensions that the field and the enclosing fields add to the result; empty if none of them is an array.
    shape: Vec<u64>,
}

/// Step of a [`FieldPath`]: a field within the enclosing struct.
struct Step {
    /// Offset of the field in its struct, in bytes.
    offset: usize,
    /// Size in bytes of the field, or of one of its elements if it is an array.
    item: usize,
    shape: Dims,
}

impl FieldPath {
    /// Finds the field `name`. Names of fields may contain points: at each level the longest matching name counts.
    fn new(data_type: &DataType, name: &str) -> Result<Self> {
        let mut found = Self { data_type: data_type.clone(), steps: Vec::new(), shape: Vec::new() };
        let mut rest = name;
        loop {
            let data_type = found.data_type.clone();
            let DataType::Struct(fields) = data_type.storage() else {
                return Err(Error::argument(format!(
                    "field {rest:?} of elements of type {data_type}, which have no fields"
                )));
            };
            let points = rest.rmatch_indices('.').map(|(at, _)| (&rest[..at], &rest[at + 1..]));
            let names = std::iter::once((rest, "")).chain(points);
            let Some((range, field, left)) = names.clone().find_map(|(name, left)| {
                let (range, field) = fields.get(name)?;
                Some((range, field, left))
            }) else {
                let names: Vec<&str> = fields.fields().iter().map(|Field { name, .. }| name.as_str()).collect();
                return Err(Error::argument(format!("no field {rest:?}, there are {names:?}")));
            };
            let is_last = field.name == rest;
            found.data_type = field.data_type.clone();
            // A struct that fits into memory has no longer arrays.
            let shape = field.shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
            found.steps.push(Step { offset: range.start, item: field.data_type.item_size(), shape });
            found.shape.extend(&field.shape);
            if is_last {
                return Ok(found);
            }
            rest = left;
        }
    }

    /// Allocates zeroed elements for the field of structs of `shape`.
    fn zeroed(&self, shape: &[u64]) -> Result<ArrayData> {
        let element = ElementSpec::new(self.data_type.clone(), FillValue::zero(&self.data_type));
        let all: Shape = shape.iter().chain(&self.shape).copied().collect();
        ArrayData::zeroed(&element, &all)
    }

    /// View of the field in each of `structs`.
    fn part<'a>(&self, structs: View<'a>) -> Result<View<'a>> {
        let part = |view: View<'a>, step: &Step| view.part(step.offset, step.item, &step.shape);
        Ok(self.steps.iter().try_fold(structs, part)?)
    }
}

/// Read of one field of a region of structs, in pieces: the field is copied from each piece, and the other fields are dropped.
struct Pieces<'a> {
    core: &'a ArrayCore,
    field: FieldPath,
    elements: ArrayData,
    /// Whether each axis of the output is in descending order.
    flipped: Vec<bool>,
    /// Grid of inner chunks, along which regions are divided; `None` to divide them along chunks.
    parts: Option<ChunkGrid>,
    /// Maximum size of a piece in bytes, unless a chunk or inner chunk has more.
    size: u64,
    /// Pieces that are still to be read, the next one last.
    left: Vec<Piece>,
    /// Window of the output to which the piece that is being read belongs.
    window: Vec<AxisRange>,
}

/// Part of a region of the array (`axes`), and its window in the output of the region.
struct Piece {
    axes: Vec<AxisRange>,
    window: Vec<AxisRange>,
}

impl<'a> Pieces<'a> {
    /// Makes the read of the field `name` of the selection `resolved`, a box, in pieces of about `size` bytes.
    fn new(core: &'a ArrayCore, name: &str, resolved: &Resolved, size: u64) -> Result<Self> {
        let field = FieldPath::new(core.data_type(), name)?;
        let elements = field.zeroed(&resolved.output_shape())?;
        let chunk = core.grid.largest_chunk_shape();
        let part = core.codecs.part_shape(&chunk);
        let parts = part.and_then(|part| ChunkGrid::regular(&core.metadata().shape, &part).ok());
        let mut pieces =
            Self { core, field, elements, flipped: Vec::new(), parts, size, left: Vec::new(), window: Vec::new() };
        if let Resolved::Box(selected) = resolved {
            pieces.flipped = selected.flipped.to_vec();
            let window = selected.region.axes().iter().map(|axis| AxisRange::new(0, axis.len)).collect();
            pieces.left.push(Piece { axes: selected.region.axes().to_vec(), window });
        }
        Ok(pieces)
    }

    /// Returns the next region of structs to read, and memory for the structs; `None` at the end.
    fn next(&mut self) -> Result<Option<(Region, ArrayData)>> {
        while let Some(piece) = self.left.pop() {
            let region = Region::new(piece.axes.iter().copied())?;
            if region.is_empty() {
                continue;
            }
            let size = zarr_grid::element_count(&region.shape())
                .and_then(|count| count.checked_mul(self.core.element().item_size() as u64))
                .ok_or_else(|| Error::argument("the selection has more bytes than can be addressed"))?;
            let grid = self.parts.as_ref().unwrap_or(&self.core.grid);
            if size > self.size
                && let Some((axis, at)) = middle(grid, &region)
            {
                let [first, second] = piece.halves(axis, at);
                self.left.extend([second, first]);
                continue;
            }
            let structs = ArrayData::zeroed(self.core.element(), &region.shape())?;
            self.window = piece.window;
            return Ok(Some((region, structs)));
        }
        Ok(None)
    }

    /// Copies the field from `structs`, the elements of the region that [`next`](Self::next) returned last.
    fn take(&mut self, structs: &ArrayData) -> Result<()> {
        let window = self.window.iter().copied();
        let window = Region::new(window.chain(self.field.shape.iter().map(|&len| AxisRange::new(0, len))))?;
        let mut out = selected_memory::flipped(self.elements.view_mut(), &self.flipped).window(&window);
        out.copy_from(&self.field.part(structs.view())?);
        Ok(())
    }

    /// Returns the field of all selected structs, in the shape of the result.
    fn finish(self, resolved: &Resolved) -> ArrayData {
        let shape = resolved.result_shape().iter().chain(&self.field.shape).copied().collect();
        self.elements.reshaped(shape)
    }
}

/// Place at which to divide a region in two along chunks: the axis, and the number of positions of the first half. `None` if the region
/// lies in one chunk.
fn middle(grid: &ChunkGrid, region: &Region) -> Option<(usize, u64)> {
    let overlaps = grid.intersect(region);
    let (axis, cut) = overlaps.axes().iter().enumerate().find(|(_, axis)| axis.len() > 1)?;
    Some((axis, cut.get(cut.len() / 2).out))
}

impl Piece {
    /// Divides the piece along `axis`: the first half has `at` positions, the second half the rest.
    fn halves(self, axis: usize, at: u64) -> [Self; 2] {
        let half = |first: u64, len: Option<u64>| {
            let mut half = Self { axes: self.axes.clone(), window: self.window.clone() };
            if let (Some(inner), Some(out)) = (half.axes.get_mut(axis), half.window.get_mut(axis)) {
                let len = len.unwrap_or(inner.len - first);
                *inner = AxisRange { start: inner.start + first * inner.step, len, step: inner.step };
                *out = AxisRange::new(out.start + first, len);
            }
            half
        };
        [half(0, Some(at)), half(at, None)]
    }
}

#[cfg(test)]
mod tests;
