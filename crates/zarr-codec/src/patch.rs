//! New elements for a part of a chunk whose other elements stay.

mod masked;

use crate::element::is_repeated;
use crate::{ElementSpec, Error, View, ViewMut};
use masked::Masked;
pub use masked::each_masked;
use std::sync::Arc;
use zarr_dtype::{Heap, HeapRef};
use zarr_grid::{ChunkGrid, ChunkOverlaps, CopyRun, ElementsByChunk, Region, SelectedElements, Shape};

/// New elements for a chunk: the elements of a region, the elements of a region that a mask selects, or single elements.
#[derive(Clone, Debug)]
pub struct Patch<'a> {
    /// Shape of the chunk.
    shape: Shape,
    elements: Elements<'a>,
}

#[derive(Clone, Debug)]
enum Elements<'a> {
    /// All elements of a region, with a view of the region's shape.
    Region(Region, View<'a>),
    /// Single elements that a selection picks.
    Selected(SelectedElements<'a>, Output<'a>),
    /// Elements of a region that a mask selects.
    Masked(Masked<'a>),
}

/// Elements of a whole selection, in C order.
#[derive(Clone, Debug)]
struct Output<'a> {
    items: &'a [u8],
    /// Number of bytes of an element.
    item: usize,
    heap: Option<Arc<Heap>>,
}

/// Result of [`Patch::by_chunk`]: a [`Patch`] that is divided among the chunks of a grid.
#[derive(Debug)]
pub struct PatchByChunk<'a>(ByChunk<'a>, ChunkGrid);

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one for a shard")]
enum ByChunk<'a> {
    Region(ChunkOverlaps, View<'a>),
    Selected(ElementsByChunk<'a>, Output<'a>),
    Masked(ChunkOverlaps, Masked<'a>),
}

impl<'a> Patch<'a> {
    /// Returns a patch of all elements of `region` of a chunk of `shape`. `elements` has the shape of the region.
    pub fn region(shape: &[u64], region: Region, elements: View<'a>) -> Self {
        Self { shape: shape.into(), elements: Elements::Region(region, elements) }
    }

    /// Returns a patch of the elements of a selection that lie in a chunk of `shape`. `output` has the elements of the whole selection, in
    /// C order.
    ///
    /// # Errors
    /// [`Error::Buffer`] if `output` is not contiguous.
    pub fn selected(shape: &[u64], selected: SelectedElements<'a>, output: &View<'a>) -> Result<Self, Error> {
        let (item, heap) = (output.item_size(), output.heap().cloned());
        let items = output.as_contiguous().ok_or_else(|| misfit(output.size(), output.shape(), item))?;
        Ok(Self { shape: shape.into(), elements: Elements::Selected(selected, Output { items, item, heap }) })
    }

    /// Returns a patch of the elements of `region` of a chunk of `shape` for which `mask` has a byte other than 0. `elements` and `mask`
    /// have the shape of the region.
    ///
    /// # Errors
    /// [`Error::Buffer`] if the shapes differ, or if an item of the mask is not one byte.
    pub fn masked(shape: &[u64], region: Region, elements: View<'a>, mask: View<'a>) -> Result<Self, Error> {
        let lens = region.axes().iter().map(|axis| axis.len);
        for (view, is_item) in [(&elements, true), (&mask, mask.item_size() == 1)] {
            if !is_item || !view.shape().iter().map(|&len| len as u64).eq(lens.clone()) {
                return Err(misfit(view.size(), view.shape(), view.item_size()));
            }
        }
        Ok(Self { shape: shape.into(), elements: Elements::Masked(Masked::new(region, elements, mask)) })
    }

    /// Returns the shape of the chunk.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Returns the region and its elements if the patch is of all elements of a region; `None` otherwise.
    pub fn as_region(&self) -> Option<(&Region, &View<'a>)> {
        match &self.elements {
            Elements::Region(region, elements) => Some((region, elements)),
            Elements::Selected(..) | Elements::Masked(_) => None,
        }
    }

    /// Returns the elements if the patch is of all elements of the whole chunk, given as a region; `None` otherwise.
    pub fn as_whole(&self) -> Option<&View<'a>> {
        self.as_region().filter(|(region, _)| region.is_whole(&self.shape)).map(|(_, elements)| elements)
    }

    /// Whether the patch replaces every element of the chunk.
    pub fn covers(&self) -> bool {
        match &self.elements {
            Elements::Region(region, _) => region.is_whole(&self.shape),
            Elements::Selected(selected, _) => selected.cover(&self.shape),
            Elements::Masked(masked) => masked.region.is_whole(&self.shape) && masked.has_all(),
        }
    }

    /// Whether all new elements are the fill value, and chunks that consist of the fill value may be left out ([`ElementSpec::may_omit`]).
    pub fn may_omit(&self, element: &ElementSpec) -> bool {
        match &self.elements {
            Elements::Region(_, elements) => element.may_omit(elements),
            Elements::Selected(selected, output) => {
                element.may_omit_empty_chunks
                    && selected.runs(&self.shape, |run| output.run(run).is_ok_and(|run| output.are_fill(run, element)))
            }
            Elements::Masked(masked) => element.may_omit_empty_chunks && masked.all(|window| element.may_omit(window)),
        }
    }

    /// Returns the patch of the transposed chunk, whose axis `i` is axis `order[i]` of this chunk.
    ///
    /// # Panics
    /// If `order` is no permutation of the axes: orders come from codecs, which check theirs when built.
    #[must_use]
    pub fn permuted(&self, order: &[usize]) -> Self {
        let shape = order.iter().filter_map(|&axis| self.shape.get(axis).copied()).collect();
        let elements = match &self.elements {
            Elements::Region(region, elements) => {
                Elements::Region(region.permuted(order), elements.clone().permuted(order))
            }
            Elements::Selected(selected, output) => Elements::Selected(selected.permuted(order), output.clone()),
            Elements::Masked(masked) => Elements::Masked(masked.permuted(order)),
        };
        Self { shape, elements }
    }

    /// Divides the patch among the chunks of `grid`, a grid of inner chunks on the chunk.
    ///
    /// # Errors
    /// [`Error::Argument`] if elements do not lie in the grid.
    pub fn by_chunk(&self, grid: &ChunkGrid) -> Result<PatchByChunk<'a>, Error> {
        let divided = match &self.elements {
            Elements::Region(region, elements) => ByChunk::Region(grid.intersect(region), elements.clone()),
            Elements::Selected(selected, output) => {
                let divided = selected.by_chunk(grid).map_err(|error| Error::Argument { what: error.to_string() })?;
                ByChunk::Selected(divided, output.clone())
            }
            Elements::Masked(masked) => ByChunk::Masked(grid.intersect(&masked.region), masked.clone()),
        };
        Ok(PatchByChunk(divided, grid.clone()))
    }

    /// Copies the new elements into `chunk`, which has the shape of the chunk. A patch of single elements needs a contiguous `chunk` in C
    /// order. Bytes of elements of variable length are copied to the heap of `chunk`; the heap of the new elements does not grow, however
    /// often they are written.
    ///
    /// # Errors
    /// [`Error::Buffer`] if `chunk` has another shape or order, [`Error::Encode`] if elements are not in the heap that they refer to.
    pub fn apply(&self, chunk: &mut ViewMut<'_>) -> Result<(), Error> {
        if !chunk.shape().iter().map(|&len| len as u64).eq(self.shape.iter().copied()) {
            return Err(misfit(chunk.size(), chunk.shape(), chunk.item_size()));
        }
        match &self.elements {
            Elements::Region(region, elements) => chunk.reborrow().window(region).copy_from(elements),
            Elements::Masked(masked) => masked.copy_to(&mut chunk.reborrow().window(&masked.region)),
            Elements::Selected(selected, output) => {
                let (size, item) = (chunk.size(), chunk.item_size());
                let Some(target) = chunk.as_contiguous().filter(|_| item == output.item) else {
                    return Err(misfit(size, &[], item));
                };
                each(selected, &self.shape, |run| {
                    copy(output.run(run)?, slice(target, run.from, run.len, item)?);
                    Ok(())
                })?;
            }
        }
        chunk.heap().cloned().map_or(Ok(()), |heap| self.move_to(&heap, chunk))
    }

    /// Copies the bytes of the new elements of variable length to `heap`, and makes the items of `chunk` refer to the copies.
    fn move_to(&self, heap: &Heap, chunk: &mut ViewMut<'_>) -> Result<(), Error> {
        let source = self.heap();
        let mut bytes = Vec::new();
        self.each_item(chunk, |item| {
            bytes.extend_from_slice(content(source, item)?);
            Ok(())
        })?;
        let block = heap.add(bytes);
        let mut offset = 0;
        self.each_item(chunk, |item| {
            let len = HeapRef::from_item(item).map_or(0, |element| element.len);
            let moved = if len == 0 { HeapRef::default() } else { HeapRef { block, len, offset } };
            item.copy_from_slice(&moved.to_bytes());
            offset += u64::from(len);
            Ok(())
        })
    }

    /// Calls `body` with each new item in `chunk`, always in the same order, until `body` fails.
    fn each_item(
        &self,
        chunk: &mut ViewMut<'_>,
        mut body: impl FnMut(&mut [u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match &self.elements {
            Elements::Region(region, _) => each_of(&mut chunk.reborrow().window(region), &mut body),
            Elements::Masked(masked) => masked
                .each_window(&mut chunk.reborrow().window(&masked.region), |mut window| {
                    each_of(&mut window, &mut body)
                }),
            Elements::Selected(selected, output) => {
                let size = chunk.size();
                let target = chunk.as_contiguous().ok_or_else(|| misfit(size, &[], output.item))?;
                each(selected, &self.shape, |run| {
                    slice(target, run.from, run.len, output.item)?.chunks_mut(output.item).try_for_each(&mut body)
                })
            }
        }
    }

    /// Heap with the bytes of new elements of variable length; `None` for elements of fixed length.
    fn heap(&self) -> Option<&Arc<Heap>> {
        match &self.elements {
            Elements::Region(_, elements) | Elements::Masked(Masked { elements, .. }) => elements.heap(),
            Elements::Selected(_, output) => output.heap.as_ref(),
        }
    }
}

impl PatchByChunk<'_> {
    /// Returns the patch of the grid's chunk at index `chunk`; `None` if no element of that chunk is replaced.
    pub fn at(&self, chunk: &[u64]) -> Option<Patch<'_>> {
        match &self.0 {
            ByChunk::Region(overlaps, elements) => {
                let overlap = overlaps.get(overlaps.position(chunk)?);
                let elements = elements.window(&overlap.output());
                Some(Patch { shape: overlap.shape, elements: Elements::Region(overlap.region, elements) })
            }
            ByChunk::Selected(divided, output) => {
                let elements = Elements::Selected(divided.at(chunk)?, output.clone());
                Some(Patch { shape: self.1.chunk_shape(chunk), elements })
            }
            ByChunk::Masked(overlaps, masked) => {
                let overlap = overlaps.get(overlaps.position(chunk)?);
                let masked = masked.window(&overlap.output(), overlap.region);
                if masked.has_none() {
                    return None;
                }
                let elements = match masked.has_all() {
                    true => Elements::Region(masked.region, masked.elements),
                    false => Elements::Masked(masked),
                };
                Some(Patch { shape: overlap.shape, elements })
            }
        }
    }
}

impl Output<'_> {
    /// Returns the items of `run` in the output of the selection.
    fn run(&self, run: CopyRun) -> Result<&[u8], Error> {
        let (start, len) = (run.to as usize * self.item, run.len as usize * self.item);
        self.items
            .get(start..)
            .and_then(|items| items.get(..len))
            .ok_or_else(|| misfit(self.items.len(), &[], self.item))
    }

    /// Whether all `items` are the fill value of `element`.
    fn are_fill(&self, items: &[u8], element: &ElementSpec) -> bool {
        let fill = element.fill.bytes();
        if !element.is_variable() {
            return is_repeated(items, fill);
        }
        items.chunks(HeapRef::SIZE).all(|item| content(self.heap.as_ref(), item).is_ok_and(|content| content == fill))
    }
}

/// Returns the bytes of the element of variable length whose reference is `item`.
fn content<'h>(heap: Option<&'h Arc<Heap>>, item: &[u8]) -> Result<&'h [u8], Error> {
    let content = HeapRef::from_item(item).and_then(|element| match heap {
        Some(heap) => heap.get(element),
        None => (element.len == 0).then_some(&[][..]),
    });
    content.ok_or_else(|| Error::Encode { codec: "heap", what: "an element is not in the heap".to_owned() })
}

/// Calls `body` with each item of `view` until `body` fails.
fn each_of(view: &mut ViewMut<'_>, body: &mut impl FnMut(&mut [u8]) -> Result<(), Error>) -> Result<(), Error> {
    let mut done = Ok(());
    view.all_mut(|item| {
        done = body(item);
        done.is_ok()
    });
    done
}

/// Calls `body` with each run of selected elements of a chunk of `shape`, until `body` fails.
fn each(
    selected: &SelectedElements<'_>,
    shape: &[u64],
    mut body: impl FnMut(CopyRun) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut done = Ok(());
    selected.runs(shape, |run| {
        done = body(run);
        done.is_ok()
    });
    done
}

fn slice(items: &mut [u8], start: u64, len: u64, item: usize) -> Result<&mut [u8], Error> {
    let size = items.len();
    let items = items.get_mut(start as usize * item..).and_then(|items| items.get_mut(..len as usize * item));
    items.ok_or_else(|| misfit(size, &[], item))
}

/// Copies bytes; copies of 1, 4 or 8 bytes are inlined.
fn copy(source: &[u8], target: &mut [u8]) {
    fn items<const N: usize>(source: &[u8], target: &mut [u8]) -> bool {
        match (<&[u8; N]>::try_from(source), <&mut [u8; N]>::try_from(&mut *target)) {
            (Ok(source), Ok(target)) => {
                *target = *source;
                true
            }
            _ => false,
        }
    }
    if !(items::<4>(source, target) || items::<8>(source, target) || items::<1>(source, target)) {
        target.copy_from_slice(source);
    }
}

fn misfit(found: usize, shape: &[usize], item: usize) -> Error {
    Error::Buffer { found: found as u64, shape: shape.into(), item }
}
