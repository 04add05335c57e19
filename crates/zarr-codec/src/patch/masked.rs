//! Elements of a region that a mask selects.

use crate::{View, ViewMut};
use std::ops::Range;
use zarr_grid::Region;

/// Elements of a region of a chunk for which the mask has a byte other than 0.
#[derive(Clone, Debug)]
pub(super) struct Masked<'a> {
    pub(super) region: Region,
    /// Elements, in a view of the region's shape; the mask has the same shape.
    pub(super) elements: View<'a>,
    mask: View<'a>,
}

impl<'a> Masked<'a> {
    pub(super) fn new(region: Region, elements: View<'a>, mask: View<'a>) -> Self {
        Self { region, elements, mask }
    }

    pub(super) fn has_all(&self) -> bool {
        self.mask.runs(|bytes| !bytes.contains(&0))
    }

    pub(super) fn has_none(&self) -> bool {
        self.mask.runs(|bytes| bytes.iter().all(|&byte| byte == 0))
    }

    pub(super) fn permuted(&self, order: &[usize]) -> Self {
        Self {
            region: self.region.permuted(order),
            elements: self.elements.clone().permuted(order),
            mask: self.mask.clone().permuted(order),
        }
    }

    /// Returns the part `window` of the elements and of the mask, which is placed at `region` of an inner chunk.
    pub(super) fn window(&self, window: &Region, region: Region) -> Self {
        Self { region, elements: self.elements.window(window), mask: self.mask.window(window) }
    }

    /// Whether `is` returns `true` for all selected elements, which are passed as windows of consecutive elements.
    pub(super) fn all(&self, is: impl Fn(&View<'_>) -> bool) -> bool {
        each_masked(&self.mask, |run| if is(&self.elements.window(run)) { Ok(()) } else { Err(()) }).is_ok()
    }

    /// Copies the selected elements to `out`, which has the shape of the region.
    pub(super) fn copy_to(&self, out: &mut ViewMut<'_>) {
        let copied = each_masked(&self.mask, |run| {
            out.reborrow().window(run).copy_from(&self.elements.window(run));
            Ok::<_, std::convert::Infallible>(())
        });
        match copied {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    /// Calls `each` with each window of `out` that a run of selected elements covers, until `each` fails. `out` has the shape of the
    /// region.
    pub(super) fn each_window<E>(
        &self,
        out: &mut ViewMut<'_>,
        mut each: impl FnMut(ViewMut<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        each_masked(&self.mask, |run| each(out.reborrow().window(run)))
    }
}

/// Calls `each` with each run of bytes other than 0 along the last axis of `mask`, as a region of `mask`, in C order, until `each` fails.
///
/// # Errors
/// The error of `each`.
pub fn each_masked<E>(mask: &View<'_>, mut each: impl FnMut(&Region) -> Result<(), E>) -> Result<(), E> {
    let Some((&len, outer)) = mask.shape().split_last() else {
        let has = !mask.all(|item| item == [0]);
        return if has { each(&Region::default()) } else { Ok(()) };
    };
    let mut ranges: Vec<Range<u64>> = mask.shape().iter().map(|_| 0..1).collect();
    let (mut at, mut begin, mut done) = (0, None, Ok(()));
    mask.all(|item| {
        let has = item != [0];
        let is_last = at + 1 == len;
        let start = if has { *begin.get_or_insert(at) } else { begin.unwrap_or(at) };
        if begin.is_some() && (!has || is_last) {
            begin = None;
            if let Some(range) = ranges.last_mut() {
                *range = start as u64..(if has { at + 1 } else { at }) as u64;
            }
            done = each(&Region::from_ranges(&ranges));
        }
        at += 1;
        if is_last {
            at = 0;
            advance(&mut ranges, outer);
        }
        done.is_ok()
    });
    done
}

/// Moves `ranges` to the next row in C order. `outer` are the lengths of all axes but the last.
fn advance(ranges: &mut [Range<u64>], outer: &[usize]) {
    for (range, &len) in ranges.iter_mut().zip(outer).rev() {
        if range.end < len as u64 {
            *range = range.start + 1..range.end + 1;
            return;
        }
        *range = 0..1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_regions_of_a_mask_have_what_it_has_once(
            shape in proptest::collection::vec(0_usize..5, 0..4),
            seed in proptest::collection::vec(0_u8..3, 256),
        ) {
            let count: usize = shape.iter().product();
            let mask = seed.get(..count).expect("at most 64 elements");
            let view = View::new(mask, 1, &shape).expect("fits");
            let mut found = vec![0_u8; count];
            each_masked(&view, |region| {
                let mut out = ViewMut::new(&mut found, 1, &shape).expect("fits").window(region);
                let is_new = out.all_mut(|item| std::mem::replace(&mut item[0], 1) == 0);
                prop_assert!(is_new && !out.is_empty());
                Ok(())
            })?;
            let expected: Vec<u8> = mask.iter().map(|&byte| u8::from(byte != 0)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
