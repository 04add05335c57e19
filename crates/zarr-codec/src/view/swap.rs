//! Copies that reverse the bytes of numbers.

use super::{Geometry, View, ViewMut, copy};
use crate::Error;
use std::marker::PhantomData;
use std::ops::Range;
use zarr_dtype::SwapRun;
use zarr_grid::Region;

/// Approximate size in bytes of the blocks in which items with several kinds of numbers are copied. A block is copied once per kind; all
/// passes but the first find it in the cache.
const BLOCK: usize = 64 << 10;

impl View<'_> {
    /// Appends the elements to `out` in C order, with the bytes of each number of `runs` reversed.
    ///
    /// # Errors
    /// [`Error::Allocation`] if memory for the result cannot be allocated.
    ///
    /// # Panics
    /// If elements do not have these runs.
    pub fn append_swapped(&self, runs: &[SwapRun], out: &mut Vec<u8>) -> Result<(), Error> {
        let size = self.size();
        out.try_reserve(size).map_err(|_| Error::Allocation { size: size as u64 })?;
        let (geometry, total) =
            Geometry::contiguous(self.geometry.item, self.shape()).ok_or(Error::Allocation { size: size as u64 })?;
        debug_assert_eq!(total, size);
        let ptr = out.spare_capacity_mut().as_mut_ptr().cast();
        let mut target = ViewMut { ptr, geometry, heap: None, stream: false, life: PhantomData };
        target.copy_swapped(self, runs);
        // SAFETY: the copy wrote all elements of `target`, which are the `size` bytes behind the vector's length.
        unsafe { out.set_len(out.len() + size) };
        Ok(())
    }
}

impl ViewMut<'_> {
    /// Copies the elements of `source` to this view, with the bytes of each number of `runs` reversed. All bytes of all elements are
    /// written.
    ///
    /// # Panics
    /// If shapes or item sizes differ, or elements do not have these runs.
    pub fn copy_swapped(&mut self, source: &View<'_>, runs: &[SwapRun]) {
        assert_eq!(self.geometry.shape, source.geometry.shape, "views of one shape");
        assert_eq!(self.geometry.item, source.geometry.item, "views of one item size");
        match runs {
            [] => copy::copy(self, source, 1),
            [run] if covers(run, self.geometry.item) => copy::copy(self, source, run.width),
            _ => self.copy_in_blocks(source, runs),
        }
    }

    fn copy_in_blocks(&mut self, source: &View<'_>, runs: &[SwapRun]) {
        let len = self.shape().first().copied().unwrap_or(1);
        let rows = (BLOCK / (self.size() / len.max(1)).max(1)).max(1);
        if len <= rows {
            self.copy_runs(source, runs);
            return;
        }
        let mut ranges: Vec<Range<u64>> = self.shape().iter().map(|&len| 0..len as u64).collect();
        for start in (0..len).step_by(rows) {
            if let Some(range) = ranges.first_mut() {
                *range = start as u64..rows.min(len - start) as u64 + start as u64;
            }
            let block = Region::from_ranges(&ranges);
            self.reborrow().window(&block).copy_runs(&source.window(&block), runs);
        }
    }

    fn copy_runs(&mut self, source: &View<'_>, runs: &[SwapRun]) {
        // The bytes are read again at once, so the copy must not bypass the caches.
        copy::copy(&mut self.reborrow().streamed(false), source, 1);
        for run in runs {
            copy::copy(&mut self.reborrow().run(run), &source.run(run), run.width);
        }
    }
}

/// Whether `run` covers all bytes of an element of `item` bytes.
fn covers(run: &SwapRun, item: usize) -> bool {
    run.offset == 0 && (run.count == 1 || run.stride == run.width) && run.width.checked_mul(run.count) == Some(item)
}
