//! What blocking and async arrays share besides jobs: applying selections to shapes and memory.

use crate::core::ArrayCore;
use crate::{Error, ErrorKind, Result};
use crate::{NewArray, Options, Registry};
use std::borrow::Cow;
use std::sync::Arc;
use zarr_codec::{Dims, ElementSpec, View, ViewMut};
use zarr_dtype::{DataType, Element, Heap};
use zarr_grid::{ChunkIndex, ChunkKeyEncoding};
use zarr_grid::{IntoSelection, Region, Resolved, Shape};
use zarr_hierarchy::node::{self, CreateNode, FindDialect};
use zarr_meta::{ArrayMetadata, Dialect, Node};
use zarr_store::{Capabilities, Key, Listing};

/// Applies a selection to an array.
pub(crate) fn resolve(core: &ArrayCore, what: impl IntoSelection) -> Result<Resolved> {
    Ok(what.into_selection()?.resolve_on(&core.grid)?)
}

/// How many elements of `item` bytes a selection has, which are to be held in memory.
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

/// Checks that there is an element for each that is selected.
pub(crate) fn check_len(resolved: &Resolved, found: usize) -> Result<()> {
    match zarr_grid::total_size(&resolved.output_shape(), 1) {
        expected if expected == found as u128 => Ok(()),
        expected => Err(Error::argument(format!("found {found} elements, expected {expected} for the selection"))),
    }
}

fn dims(shape: &[u64]) -> Result<Dims> {
    let dim =
        |&len: &u64| usize::try_from(len).map_err(|_| Error::argument(format!("{len} elements in one dimension")));
    shape.iter().map(dim).collect()
}

/// Memory that elements are read into, of which a vector of Rust values is made.
pub(crate) enum Memory<T> {
    /// That of the vector itself.
    Elements(Vec<T>),
    /// Of items of a byte each, not all of which are values.
    Items(Vec<u8>),
}

impl<T: Element> Memory<T> {
    /// For `len` elements of `data_type`.
    pub(crate) fn zeroed(data_type: &DataType, len: usize) -> Result<Self> {
        let is_byte = size_of::<T>() == 1 && data_type.item_size() == 1 && !data_type.is_variable();
        let is_checked_byte = is_byte && T::as_bytes_mut(&mut []).is_none();
        Ok(if is_checked_byte { Self::Items(u8::zeroed_vec(len)?) } else { Self::Elements(T::zeroed_vec(len)?) })
    }

    /// `None` if elements are not read into memory of the type.
    pub(crate) fn bytes(&mut self) -> Option<&mut [u8]> {
        match self {
            Self::Elements(elements) => T::as_bytes_mut(elements),
            Self::Items(items) => Some(items),
        }
    }

    pub(crate) fn into_elements(self, data_type: &DataType) -> Result<Vec<T>> {
        match self {
            Self::Elements(elements) => Ok(elements),
            Self::Items(items) => Ok(T::from_item_vec(data_type.as_taken_by::<T>()?, items)?),
        }
    }
}

/// C-order memory as the output of a selection.
pub(crate) fn output<'a>(
    bytes: &'a mut [u8],
    element: &ElementSpec,
    resolved: &Resolved,
    heap: Option<Arc<Heap>>,
) -> Result<ViewMut<'a>> {
    Ok(ViewMut::new(bytes, element.item_size(), &dims(&resolved.output_shape())?)?.with_heap(heap))
}

/// C-order memory as the input for a selection.
pub(crate) fn input<'a>(
    bytes: &'a [u8],
    element: &ElementSpec,
    resolved: &Resolved,
    heap: Option<Arc<Heap>>,
) -> Result<View<'a>> {
    Ok(View::new(bytes, element.item_size(), &dims(&resolved.output_shape())?)?.with_heap(heap))
}

/// Axes that a selection takes a single index of, so that results lack them.
fn dropped(resolved: &Resolved) -> &[bool] {
    match resolved {
        Resolved::Box(selected) => &selected.dropped,
        Resolved::Orthogonal(selected) => selected.dropped(),
        Resolved::Points(_) => &[],
    }
}

fn check_view(shape: &[usize], item: usize, heap: bool, element: &ElementSpec, resolved: &Resolved) -> Result<()> {
    let expected = dims(&resolved.result_shape())?;
    if shape != expected.as_slice() {
        return Err(Error::argument(format!("memory of shape {shape:?}, expected {:?}", expected.as_slice())));
    }
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

/// Puts the axes back that results lack.
pub(crate) fn with_all_axes<'a>(out: ViewMut<'a>, element: &ElementSpec, resolved: &Resolved) -> Result<ViewMut<'a>> {
    check_view(out.shape(), out.item_size(), out.heap().is_some(), element, resolved)?;
    let axes = dropped(resolved).iter().enumerate().filter(|(_, dropped)| **dropped);
    Ok(axes.fold(out, |out, (axis, _)| out.with_axis(axis)))
}

/// Puts the axes back that results lack.
pub(crate) fn view_with_all_axes<'a>(data: View<'a>, element: &ElementSpec, resolved: &Resolved) -> Result<View<'a>> {
    check_view(data.shape(), data.item_size(), data.heap().is_some(), element, resolved)?;
    let axes = dropped(resolved).iter().enumerate().filter(|(_, dropped)| **dropped);
    Ok(axes.fold(data, |data, (axis, _)| data.with_axis(axis)))
}

/// An output with those axes flipped that are selected in descending order.
pub(crate) fn flipped<'a>(out: ViewMut<'a>, flipped: &[bool]) -> ViewMut<'a> {
    let axes = flipped.iter().enumerate().filter(|(_, flipped)| **flipped);
    axes.fold(out, |out, (axis, _)| out.flipped(axis))
}

/// Elements with those axes flipped that are selected in descending order.
pub(crate) fn flipped_view<'a>(data: View<'a>, flipped: &[bool]) -> View<'a> {
    let axes = flipped.iter().enumerate().filter(|(_, flipped)| **flipped);
    axes.fold(data, |data, (axis, _)| data.flipped(axis))
}

/// The elements in C order, copied if they do not lie so.
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

/// C-order bytes for an output that may not lie in C order.
#[derive(Debug)]
pub(crate) struct Staging<'a> {
    out: ViewMut<'a>,
    /// Used where `out` does not lie in C order.
    copy: Option<Vec<u8>>,
}

impl<'a> Staging<'a> {
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

/// Notes that chunks lie below `prefix` if a listing of it shows that.
pub(crate) fn settle_place(core: &ArrayCore, prefix: &str, listing: &Listing) {
    let rank = core.grid.rank();
    let shows = |keys: &ChunkKeyEncoding| {
        // What the key of some chunk would begin with if it lay in a directory of this name.
        let is_directory = |name: &str| {
            let digits = name.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
            let mut index = vec![0; rank];
            if let Some(first) = index.first_mut() {
                *first = digits.parse().unwrap_or(0);
            }
            let mut key = String::new();
            keys.write_key(&index, &mut key);
            key.split_once('/').is_some_and(|(first, _)| first == name)
        };
        listing.keys.iter().any(|key| keys.parse_key(key.name(), rank).is_some())
            || listing.prefixes.iter().any(|prefix| prefix.name().is_some_and(is_directory))
    };
    let found = core.locations().find(|(_, found, keys)| *found == prefix && shows(keys)).map(|(number, ..)| number);
    if let Some(number) = found {
        core.note_location(number);
    }
}

/// The prefixes to be listed to find out where the chunks lie: none if that is known.
pub(crate) fn possible_prefixes(core: &ArrayCore) -> Vec<String> {
    let mut prefixes: Vec<_> = core.locations().map(|(_, prefix, _)| prefix.to_owned()).collect();
    prefixes.dedup();
    if core.is_location_unknown() { prefixes } else { Vec::new() }
}

/// The metadata and the chunk grid of an array in another shape.
pub(crate) fn resized(core: &ArrayCore, shape: &[u64]) -> Result<(ArrayMetadata, zarr_grid::ChunkGrid)> {
    let rank = core.grid.rank();
    if shape.len() != rank {
        let error = Error::argument(format!("a shape of {} dimensions, expected {rank}", shape.len()));
        return Err(core.locate(error));
    }
    let grid = core.grid.resized(shape).map_err(|error| core.locate(error.into()))?;
    let chunk_grid = grid.to_config();
    Ok((ArrayMetadata { shape: shape.to_vec(), chunk_grid, ..core.metadata().clone() }, grid))
}

/// The shape of an array to which data of shape `added` is appended along `axis`, and where it goes.
pub(crate) fn appended(core: &ArrayCore, axis: usize, added: &[usize]) -> Result<(Shape, Region)> {
    let old = &core.metadata().shape;
    let fits = added.len() == old.len()
        && axis < old.len()
        && old.iter().zip(added).enumerate().all(|(other, (&old, &new))| other == axis || old == new as u64);
    if !fits {
        let message = format!("data of shape {added:?} to append along dimension {axis} of {old:?}");
        return Err(core.locate(Error::argument(message)));
    }
    let mut shape = Shape::from_slice(old);
    let overflow = || core.locate(Error::argument("the new shape overflows 64 bits"));
    let mut ranges: Vec<_> = old.iter().map(|&len| 0..len).collect();
    if let (Some(len), Some(range), Some(&more)) = (shape.get_mut(axis), ranges.get_mut(axis), added.get(axis)) {
        let end = len.checked_add(more as u64).ok_or_else(overflow)?;
        *range = *len..end;
        *len = end;
    }
    Ok((shape, Region::from_ranges(&ranges)))
}

/// The job that finds the dialect in which an array is to be created.
pub(crate) fn find_dialect(path: &str, new: &NewArray, can_list: bool) -> Result<FindDialect> {
    Ok(FindDialect::new(node::parse_path(path)?, new.dialect, new.overwrite, can_list))
}

/// The job that creates an array, after all that can be wrong with it was checked.
pub(crate) fn create(
    path: &str,
    new: &NewArray,
    dialect: Dialect,
    (store, capabilities): (String, Capabilities),
    registry: &Arc<Registry>,
) -> Result<(CreateNode, Options)> {
    let path = node::parse_path(path)?;
    let in_path = |error: Error| {
        let error = error.at_path(&path);
        let is_refused = matches!(error.kind(), ErrorKind::NotExpressible | ErrorKind::Path);
        let is_taken = new.dialect.is_none() && dialect != node::DEFAULT_DIALECT;
        match is_refused && is_taken && error.hint().is_none() {
            true => error.with_hint(format!("a new node takes the dialect of the hierarchy, which is {dialect}")),
            false => error,
        }
    };
    let node = Node::Array(new.metadata(dialect, registry).map_err(in_path)?);
    // Dimension names become attributes where the dialect has no other way to say them.
    let is_undefined = |node: &Node| node.as_array().is_some_and(|array| array.fill_value.is_none());
    let undefined = is_undefined(&node);
    let (node, _) = zarr_meta::for_dialect_from(&node, dialect, dialect).map_err(|error| in_path(error.into()))?;
    if undefined && !is_undefined(&node) {
        let message = format!("the fill value null: dialect {dialect} has no undefined one");
        return Err(in_path(Error::new(ErrorKind::NotExpressible, message)));
    }
    let job = node::create(path.clone(), dialect, &node, new.overwrite, capabilities).map_err(in_path)?;
    ArrayCore::new(job.found().clone(), store, Arc::clone(registry), new.options.clone())?;
    Ok((job, new.options.clone()))
}

/// The key of a chunk, which must be one of the grid.
pub(crate) fn chunk_key(core: &ArrayCore, chunk: &[u64]) -> Result<Key> {
    core.grid.check_index(chunk).map_err(|error| core.locate(error.into()))?;
    core.key(chunk).map_err(|error| core.locate(error))
}

/// The chunks among keys, with their keys, be they of the grid or outside of it.
pub(crate) fn all_chunk_keys(core: &ArrayCore, keys: Vec<Key>) -> Vec<(ChunkIndex, Key)> {
    let rank = core.grid.rank();
    let parse = |key: Key| {
        let index =
            core.locations().find_map(|(_, prefix, keys)| keys.parse_key(key.as_str().strip_prefix(prefix)?, rank))?;
        Some((index, key))
    };
    keys.into_iter().filter_map(parse).collect()
}

/// The chunks among keys, with their keys.
pub(crate) fn chunk_keys(core: &ArrayCore, keys: Vec<Key>) -> Vec<(ChunkIndex, Key)> {
    let parse = |key: Key| Some((core.parse_key(key.as_str())?, key));
    keys.into_iter().filter_map(parse).collect()
}

impl NewArray {
    /// Checks all that can be checked without a store: whether the array can be created at `path` (`/a/b`) of a store that holds
    /// nothing yet.
    ///
    /// # Errors
    /// As [`Array::create`](crate::Array::create).
    pub fn check(&self, path: &str, registry: &Arc<Registry>) -> Result<()> {
        let dialect = self.dialect.unwrap_or(node::DEFAULT_DIALECT);
        create(path, self, dialect, (String::new(), Capabilities::default()), registry).map(drop)
    }
}
