//! Selections of an array, and views of the memory from which selected elements are written or into which they are read.

use crate::core::ArrayCore;
use crate::{Error, ErrorKind, Result};
use std::borrow::Cow;
use std::sync::Arc;
use zarr_codec::{Dims, ElementSpec, View, ViewMut};
use zarr_dtype::Heap;
use zarr_grid::{IntoSelection, Resolved};

/// Resolves a selection on the grid of an array.
pub(crate) fn resolve(core: &ArrayCore, selection: impl IntoSelection) -> Result<Resolved> {
    Ok(selection.into_selection()?.resolve_on(&core.grid)?)
}

/// Shape of the result of a selection, without the axes with single indices.
pub(crate) fn result_shape(resolved: &Resolved) -> Vec<usize> {
    resolved.result_shape().iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect()
}

/// Number of elements of a selection, with `item` bytes each; an error if memory cannot hold them.
pub(crate) fn len(resolved: &Resolved, item: usize) -> Result<usize> {
    let size = zarr_grid::total_size(&resolved.output_shape(), item as u64);
    match isize::try_from(size) {
        Ok(size) => Ok(size.unsigned_abs() / item.max(1)),
        Err(_) => {
            let message = format!("the selection has {size} bytes, more than memory can hold");
            Err(Error::new(ErrorKind::Limit, message).with_hint("read it in parts"))
        }
    }
}

/// Checks that `found` is the number of selected elements.
pub(crate) fn check_len(resolved: &Resolved, found: usize) -> Result<()> {
    match zarr_grid::total_size(&resolved.output_shape(), 1) {
        expected if expected == found as u128 => Ok(()),
        expected => Err(Error::argument(format!("found {found} elements, expected {expected} for the selection"))),
    }
}

pub(crate) fn dims(shape: &[u64]) -> Result<Dims> {
    let dim =
        |&len: &u64| usize::try_from(len).map_err(|_| Error::argument(format!("{len} elements in one dimension")));
    shape.iter().map(dim).collect()
}

/// Returns C-order memory as a view in the output shape of a selection.
pub(crate) fn output<'a>(
    bytes: &'a mut [u8],
    element: &ElementSpec,
    resolved: &Resolved,
    heap: Option<Arc<Heap>>,
) -> Result<ViewMut<'a>> {
    Ok(ViewMut::new(bytes, element.item_size(), &dims(&resolved.output_shape())?)?.with_heap(heap))
}

/// Returns C-order elements as a view in the output shape of a selection.
pub(crate) fn input<'a>(
    bytes: &'a [u8],
    element: &ElementSpec,
    resolved: &Resolved,
    heap: Option<Arc<Heap>>,
) -> Result<View<'a>> {
    Ok(View::new(bytes, element.item_size(), &dims(&resolved.output_shape())?)?.with_heap(heap))
}

/// Whether each axis has a single index in the selection, so that results lack it; empty if no axis is dropped.
fn dropped(resolved: &Resolved) -> &[bool] {
    match resolved {
        Resolved::Box(selected) => &selected.dropped,
        Resolved::Orthogonal(selected) => selected.dropped(),
        Resolved::Coordinates(_) | Resolved::Mask(_) => &[],
    }
}

fn check_view(shape: &[usize], item: usize, heap: bool, element: &ElementSpec, resolved: &Resolved) -> Result<()> {
    let expected = dims(&resolved.result_shape())?;
    if shape != expected.as_slice() {
        return Err(Error::argument(format!("memory of shape {shape:?}, expected {:?}", expected.as_slice())));
    }
    check_item(shape, item, heap, element)
}

/// Checks that the items of a view have the size, and if need be the heap, of the array's elements.
pub(crate) fn check_items(data: &View<'_>, element: &ElementSpec) -> Result<()> {
    check_item(data.shape(), data.item_size(), data.heap().is_some(), element)
}

fn check_item(shape: &[usize], item: usize, heap: bool, element: &ElementSpec) -> Result<()> {
    if item != element.item_size() {
        let message =
            format!("memory with items of {item} bytes, expected {} of {}", element.item_size(), element.data_type);
        return Err(Error::argument(message));
    }
    if element.is_variable() && !heap && !shape.contains(&0) {
        return Err(Error::argument(format!("memory without a heap for elements of {}", element.data_type)));
    }
    Ok(())
}

/// Adds the axes with single indices, which results lack, to a mutable view.
pub(crate) fn with_all_axes<'a>(out: ViewMut<'a>, element: &ElementSpec, resolved: &Resolved) -> Result<ViewMut<'a>> {
    check_view(out.shape(), out.item_size(), out.heap().is_some(), element, resolved)?;
    let axes = dropped(resolved).iter().enumerate().filter(|(_, dropped)| **dropped);
    Ok(axes.fold(out, |out, (axis, _)| out.with_axis(axis)))
}

/// Adds the axes with single indices, which results lack, to a view.
pub(crate) fn view_with_all_axes<'a>(data: View<'a>, element: &ElementSpec, resolved: &Resolved) -> Result<View<'a>> {
    check_view(data.shape(), data.item_size(), data.heap().is_some(), element, resolved)?;
    let axes = dropped(resolved).iter().enumerate().filter(|(_, dropped)| **dropped);
    Ok(axes.fold(data, |data, (axis, _)| data.with_axis(axis)))
}

/// Reverses the axes of a mutable view that are selected in descending order.
pub(crate) fn flipped<'a>(out: ViewMut<'a>, flipped: &[bool]) -> ViewMut<'a> {
    let axes = flipped.iter().enumerate().filter(|(_, flipped)| **flipped);
    axes.fold(out, |out, (axis, _)| out.flipped(axis))
}

/// Reverses the axes of a view that are selected in descending order.
pub(crate) fn flipped_view<'a>(data: View<'a>, flipped: &[bool]) -> View<'a> {
    let axes = flipped.iter().enumerate().filter(|(_, flipped)| **flipped);
    axes.fold(data, |data, (axis, _)| data.flipped(axis))
}

/// Returns the elements of a view in C order, copied if they do not lie in C order.
pub(crate) fn contiguous<'a>(data: &View<'a>) -> Result<Cow<'a, [u8]>> {
    match data.as_contiguous() {
        Some(bytes) => Ok(Cow::Borrowed(bytes)),
        None => {
            let mut bytes = Vec::new();
            data.append_to(&mut bytes)?;
            Ok(Cow::Owned(bytes))
        }
    }
}

/// C-order bytes for an output that may not lie in C order in memory.
#[derive(Debug)]
pub(crate) struct ContiguousOutput<'a> {
    out: ViewMut<'a>,
    /// Copy of the output in C order; `None` if `out` lies in C order itself.
    copy: Option<Vec<u8>>,
}

impl<'a> ContiguousOutput<'a> {
    pub(crate) fn new(mut out: ViewMut<'a>) -> Result<Self> {
        let copy = match out.as_contiguous() {
            Some(_) => None,
            None => {
                let mut copy = Vec::new();
                out.as_view().append_to(&mut copy)?;
                Some(copy)
            }
        };
        Ok(Self { out, copy })
    }

    pub(crate) fn heap(&self) -> Option<Arc<Heap>> {
        self.out.heap().cloned()
    }

    pub(crate) fn bytes(&mut self) -> Result<&mut [u8]> {
        match &mut self.copy {
            Some(copy) => Ok(copy),
            None => {
                self.out.as_contiguous().ok_or_else(|| Error::internal("an output that is in no order has no copy"))
            }
        }
    }

    pub(crate) fn finish(&mut self) -> Result<()> {
        if let Some(copy) = self.copy.take() {
            let source = View::new(&copy, self.out.item_size(), self.out.shape())?;
            self.out.copy_from(&source);
        }
        Ok(())
    }
}
