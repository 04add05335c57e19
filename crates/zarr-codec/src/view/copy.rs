//! Plain nested loops over strided memory: copy, copy with byte swap, fill, visit.
//!
//! Axes are first sorted and merged, so that most copies become rows of contiguous bytes, which `zarr-kernels` copies.
//! The other copies are dispatched once on the item size and then run in loops without branches. Where source and
//! target run along different axes (transposes), the two are walked in square blocks, so that both sides stay in cache.

use super::copy_element::{Action, AsIs, AsIsAny, Axis, CopyElement, Reversed, ReversedAny};
use super::{Geometry, View, ViewMut, transpose};
use smallvec::SmallVec;
use zarr_kernels::{Isa, Rows};

type Axes = SmallVec<[Axis; 6]>;

/// Size in bytes below which copies do not bypass the caches: waiting for the writes to memory would cost more than is gained.
const STREAMED: usize = 16 << 10;

/// Side in elements of the square blocks in which transposes are copied.
const BLOCK: usize = 32;

/// Drops axes of length 1, sorts by target stride (largest first) and merges neighbouring axes that are contiguous in both target and
/// source.
fn merged(axes: impl Iterator<Item = Axis>) -> Axes {
    let mut sorted: Axes = axes.filter(|axis| axis.len != 1).collect();
    sorted.sort_by_key(|axis| (std::cmp::Reverse(axis.to.unsigned_abs()), std::cmp::Reverse(axis.from.unsigned_abs())));
    let mut axes = Axes::new();
    for axis in sorted {
        match axes.last_mut() {
            Some(outer) if runs_on(outer.to, axis.to, axis.len) && runs_on(outer.from, axis.from, axis.len) => {
                *outer = Axis { len: outer.len * axis.len, ..axis };
            }
            _ => axes.push(axis),
        }
    }
    axes
}

fn runs_on(outer: isize, inner: isize, len: usize) -> bool {
    isize::try_from(len).ok().and_then(|len| inner.checked_mul(len)) == Some(outer)
}

/// Calls `visit` with the byte offset of each element in C order until `visit` returns `false`. Returns whether `visit` always returned
/// `true`.
pub(super) fn each(geometry: &Geometry, mut visit: impl FnMut(isize) -> bool) -> bool {
    fn walk(shape: &[usize], strides: &[isize], offset: isize, visit: &mut impl FnMut(isize) -> bool) -> bool {
        match (shape, strides) {
            // A loop of its own, without a call for each element.
            (&[len], &[stride]) => (0..len as isize).all(|i| visit(offset + i * stride)),
            (&[len, ref shape @ ..], &[stride, ref strides @ ..]) => {
                (0..len as isize).all(|i| walk(shape, strides, offset + i * stride, visit))
            }
            _ => visit(offset),
        }
    }
    geometry.is_empty() || walk(&geometry.shape, &geometry.strides, 0, &mut visit)
}

/// Calls `visit` with the byte offset and the size in bytes of each run of contiguous elements until `visit` returns `false`. Returns
/// whether `visit` always returned `true`.
pub(super) fn runs(geometry: &Geometry, mut visit: impl FnMut(isize, usize) -> bool) -> bool {
    if geometry.is_empty() {
        return true;
    }
    // An axis with stride 0 repeats the same elements.
    let axes = merged(axes_of(geometry, None).filter(|axis| axis.to != 0));
    let (outer, row) = split_row(&axes);
    let (len, steps) = if row.to == geometry.item as isize { (row.len, 1) } else { (1, row.len) };
    let mut goes_on = true;
    outer_loop(outer, &mut |to, _| {
        for step in 0..steps as isize {
            goes_on = goes_on && visit(to + step * row.to, len * geometry.item);
        }
    });
    goes_on
}

/// Sets every element of `view` to `value`.
pub(super) fn fill(view: &mut ViewMut<'_>, value: &[u8]) {
    assert_eq!(value.len(), view.geometry.item, "a value of one item");
    if view.is_empty() {
        return;
    }
    let uniform = value.first().copied().filter(|first| value.iter().all(|byte| byte == first));
    if let (Some(byte), Some(bytes)) = (uniform, view.as_contiguous()) {
        bytes.fill(byte);
        return;
    }
    let item = view.geometry.item;
    let axes = merged(axes_of(&view.geometry, None));
    let (outer, row) = split_row(&axes);
    let ptr = view.ptr;
    outer_loop(outer, &mut |to, _| {
        // SAFETY: `to` is the offset of the first of `row.len` elements of the view, `row.to` bytes apart.
        unsafe { fill_row(ptr.offset(to), row, value, item, uniform) }
    });
}

/// # Safety
/// `row.len` elements of `item` bytes, `row.to` apart, the first at `to`, can be written; `value` is one element.
unsafe fn fill_row(to: *mut u8, row: Axis, value: &[u8], item: usize, uniform: Option<u8>) {
    if let (Some(byte), true) = (uniform, row.to == item as isize) {
        // SAFETY: the elements are contiguous, as the caller says.
        unsafe { std::ptr::write_bytes(to, byte, row.len * item) };
        return;
    }
    for i in 0..row.len {
        // SAFETY: element `i` of the row, as the caller says.
        unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), to.offset(i as isize * row.to), item) };
    }
}

fn axes_of<'g>(target: &'g Geometry, source: Option<&'g Geometry>) -> impl Iterator<Item = Axis> + 'g {
    target.shape.iter().enumerate().map(move |(axis, &len)| Axis {
        len,
        to: target.strides[axis],
        from: source.map_or(target.strides[axis], |source| source.strides[axis]),
    })
}

fn split_row(axes: &[Axis]) -> (&[Axis], Axis) {
    match axes.split_last() {
        Some((&row, outer)) => (outer, row),
        None => (&[], Axis { len: 1, to: 0, from: 0 }),
    }
}

/// Calls `body` with the offsets in target and source of each position of the outer axes.
fn outer_loop(axes: &[Axis], body: &mut impl FnMut(isize, isize)) {
    fn walk(axes: &[Axis], to: isize, from: isize, body: &mut impl FnMut(isize, isize)) {
        match axes.split_first() {
            None => body(to, from),
            Some((axis, [])) => {
                for i in 0..axis.len as isize {
                    body(to + i * axis.to, from + i * axis.from);
                }
            }
            Some((axis, inner)) => {
                for i in 0..axis.len as isize {
                    walk(inner, to + i * axis.to, from + i * axis.from, body);
                }
            }
        }
    }
    walk(axes, 0, 0, body);
}

/// Copies `source` to `target`, which has the same shape and item size, and reverses the bytes of scalars of `width` bytes.
pub(super) fn copy(target: &mut ViewMut<'_>, source: &View<'_>, width: usize) {
    copy_with(Isa::best(), target, source, width);
}

pub(super) fn copy_with(isa: Isa, target: &mut ViewMut<'_>, source: &View<'_>, width: usize) {
    if target.is_empty() {
        return;
    }
    let item = target.geometry.item;
    let mut axes = merged(axes_of(&target.geometry, Some(&source.geometry)));
    let parts = item / width;
    if width > 1 && parts > 1 {
        // Items of several scalars: a further axis over the scalars.
        let scalars = Axis { len: parts, to: width as isize, from: width as isize };
        axes = merged(axes.iter().copied().chain([scalars]));
    }
    let unit = if width > 1 { width } else { item };
    let run: Run = match (width, item) {
        (1, 1) => run::<AsIs<1>>,
        (1, 2) => run::<AsIs<2>>,
        (1, 4) => run::<AsIs<4>>,
        (1, 8) => run::<AsIs<8>>,
        (1, 16) => run::<AsIs<16>>,
        (1, _) => run::<AsIsAny>,
        (2, _) => run::<Reversed<2>>,
        (4, _) => run::<Reversed<4>>,
        (8, _) => run::<Reversed<8>>,
        _ => run::<ReversedAny>,
    };
    let stream = target.stream && target.size() >= STREAMED;
    let how = Action { isa, item: unit, stream };
    // SAFETY: the loops visit the offsets of the elements (or their scalars) of both views, which lie in their allocations;
    // the target is exclusively borrowed, so the two do not overlap.
    unsafe { run(target.ptr, source.ptr, &axes, how) };
    if stream {
        isa.finish_streams();
    }
}

/// Copy loop for one kind of element, chosen once per copy.
type Run = unsafe fn(*mut u8, *const u8, &[Axis], Action);

/// # Safety
/// All elements that `axes` reach from `to` and `from` lie in their allocations, and the elements of `to` are
/// exclusively borrowed.
unsafe fn run<C: CopyElement>(to: *mut u8, from: *const u8, axes: &[Axis], how: Action) {
    let (outer, row) = split_row(axes);
    let step = how.item as isize;
    if let (Some(width), true) = (C::REVERSED, (row.to == step && row.from == step) || row.len == 1) {
        let (outer, across) = split_row(outer);
        let rows = Rows { count: across.len, len: row.len * how.item, to_step: across.to, from_step: across.from };
        outer_loop(outer, &mut |t, f| {
            // SAFETY: rows of contiguous elements on both sides.
            unsafe { how.isa.copy_rows(to.offset(t), from.offset(f), rows, width, how.stream) }
        });
        return;
    }
    // The axis with the smallest stride of the source, if it is another axis than that of the target.
    let fast = outer.iter().enumerate().min_by_key(|(_, axis)| axis.from.unsigned_abs());
    match fast {
        Some((index, &across)) if across.from.unsigned_abs() < row.from.unsigned_abs() => {
            let mut rest: Axes = outer.into();
            rest.remove(index);
            let tiled = C::TILE.is_some() && row.to == step && across.from == step;
            outer_loop(&rest, &mut |t, f| {
                let (to, from) = (to.wrapping_offset(t), from.wrapping_offset(f));
                // SAFETY: offsets of elements, as above; both sides have a contiguous axis if tiled.
                unsafe {
                    if tiled {
                        transpose::plane::<C>(to, from, across, row, how)
                    } else {
                        block::<C>(to, from, across, row, step)
                    }
                }
            });
        }
        _ => outer_loop(outer, &mut |t, f| {
            for i in 0..row.len as isize {
                // SAFETY: element `i` of the row.
                unsafe { C::copy(to.offset(t + i * row.to), from.offset(f + i * row.from), how.item) };
            }
        }),
    }
}

/// Copies a plane in square blocks: `across` is the axis along which the source is contiguous or has the smallest stride, `row` that of the
/// target.
///
/// # Safety
/// The conditions of [`run`], for the elements of the plane.
unsafe fn block<C: CopyElement>(to: *mut u8, from: *const u8, across: Axis, row: Axis, item: isize) {
    for a0 in (0..across.len).step_by(BLOCK) {
        for r0 in (0..row.len).step_by(BLOCK) {
            for a in a0..(a0 + BLOCK).min(across.len) {
                let (t, f) = (a as isize * across.to, a as isize * across.from);
                for r in r0..(r0 + BLOCK).min(row.len) {
                    let r = r as isize;
                    // SAFETY: element `(a, r)` of the plane.
                    unsafe { C::copy(to.offset(t + r * row.to), from.offset(f + r * row.from), item.unsigned_abs()) };
                }
            }
        }
    }
}
