//! Whole numbers that lengths have in common, and by which lengths were divided.

/// Returns the greatest common divisor of `a` and `b`; the other number if one is 0.
///
/// ```
/// assert_eq!([zarr_grid::gcd(12, 18), zarr_grid::gcd(0, 5), zarr_grid::gcd(0, 0)], [6, 5, 0]);
/// ```
#[must_use]
pub fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns the least common multiple of `a` and `b`; `None` if both are 0, or if it is larger than a `u64`.
///
/// ```
/// assert_eq!([zarr_grid::lcm(4, 6), zarr_grid::lcm(0, 5), zarr_grid::lcm(u64::MAX, 2)], [Some(12), Some(0), None]);
/// ```
#[must_use]
pub fn lcm(a: u64, b: u64) -> Option<u64> {
    a.checked_div(gcd(a, b))?.checked_mul(b)
}

/// Returns for each length of an axis in the levels of a pyramid, the finest first, the number of elements of the finest level that one
/// element stands for; `None` if a length is 0 or greater than the one before.
///
/// Each length is compared with the one before: its factor is the whole number by which that was divided, rounded up or down. Of several
/// such numbers it is the factor of the level before (2 at first), or else the one nearest to the ratio of the lengths. These factors are
/// multiplied. Where a length was divided by no whole number, the factor is that of the length and the finest one, or their ratio.
///
/// ```
/// let factors = zarr_grid::level_factors(&[100, 50, 25, 13, 7, 4]);
/// assert_eq!(factors.as_deref(), Some(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0][..]));
/// ```
#[must_use]
pub fn level_factors(lengths: &[u64]) -> Option<Vec<f64>> {
    let Some(&finest) = lengths.first() else { return Some(Vec::new()) };
    let (mut before, mut usual, mut product) = (finest, 2, Some(1_u64));
    let factor = |&length: &u64| {
        if length == 0 || length > before {
            return None;
        }
        if length < before {
            let step = divisor(before, length, usual);
            let whole = step.and_then(|step| product?.checked_mul(step)).or_else(|| divisor(finest, length, usual));
            (before, usual, product) = (length, step.unwrap_or(usual), whole);
        }
        Some(product.map_or(finest as f64 / length as f64, |product| product as f64))
    };
    lengths.iter().map(factor).collect()
}

/// Returns the index in an axis of `len` elements of the first element of a level of picked elements: `steps` has the length of blocks from
/// each level to the next, and each level picks the element at the centre of each block of the level before, of two the first. A block at
/// the end of a level is as long as what is left.
///
/// ```
/// assert_eq!(zarr_grid::first_picked(100, [3, 3]), 4);
/// // Two elements are left for the second level.
/// assert_eq!(zarr_grid::first_picked(5, [3, 3]), 1);
/// ```
#[must_use]
pub fn first_picked(len: u64, steps: impl IntoIterator<Item = u64>) -> u64 {
    let (mut len, mut finer, mut index) = (len, 1_u64, 0_u64);
    for step in steps {
        let step = step.max(1);
        let centre = (step.min(len).max(1) - 1) / 2;
        index = index.saturating_add(finer.saturating_mul(centre));
        (len, finer) = (len.div_ceil(step), finer.saturating_mul(step));
    }
    index
}

/// Returns the whole number by which `fine` was divided, rounded up or down, where the result is `coarse`: `usual` if it is one.
fn divisor(fine: u64, coarse: u64, usual: u64) -> Option<u64> {
    let (below, rest) = (fine.checked_div(coarse)?, fine.checked_rem(coarse)?);
    let above = below.checked_add(1)?;
    // If any number is a divisor, one of the two next to the ratio is.
    let nearest_first = if rest <= coarse - rest { [below, above] } else { [above, below] };
    let is_divisor = |by: &u64| *by > 0 && (fine / by == coarse || fine.div_ceil(*by) == coarse);
    [usual].into_iter().chain(nearest_first).find(is_divisor)
}

#[cfg(test)]
mod tests {
    use super::{first_picked, level_factors};
    use proptest::prelude::*;

    #[test]
    fn factors_are_those_from_level_to_level() {
        let of = |lengths: &[u64]| level_factors(lengths).unwrap();
        assert!(of(&[]).is_empty());
        assert_eq!(of(&[9, 5, 3]), [1.0, 2.0, 4.0]);
        assert_eq!(of(&[5, 2, 1]), [1.0, 2.0, 4.0]);
        assert_eq!(of(&[90, 30, 10, 10]), [1.0, 3.0, 9.0, 9.0]);
        assert_eq!(of(&[100, 50, 25, 12, 6, 3, 1, 1]), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 64.0]);
        // No whole number, and a whole number of the finest level after it.
        assert_eq!(of(&[1000, 667, 333]), [1.0, 1000.0 / 667.0, 3.0]);
        assert_eq!(of(&[u64::MAX, 1]), [1.0, u64::MAX as f64]);
        for wrong in [&[4, 5][..], &[4, 0], &[4, 2, 3], &[0]] {
            assert_eq!(level_factors(wrong), None, "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn picked_elements_are_those_of_each_level(len in 1_usize..200, steps in proptest::collection::vec(1_u64..9, 0..5)) {
            let mut indices: Vec<u64> = (0..len as u64).collect();
            for &step in &steps {
                indices = indices.chunks(step as usize).map(|block| block[(block.len() - 1) / 2]).collect();
            }
            prop_assert_eq!(first_picked(len as u64, steps), indices[0]);
        }

        #[test]
        fn factors_of_pyramids_are_found(len in 64_u64..100_000, by in 2_u64..5, count in 1_u32..4, is_up: bool) {
            let step = |len: u64| if is_up { len.div_ceil(by) } else { len / by };
            let lengths: Vec<u64> = (0..count).scan(len, |len, _| Some(std::mem::replace(len, step(*len)))).collect();
            // A length of at least 16 tells these divisors apart.
            prop_assume!(lengths.iter().all(|&len| len >= 16));
            let expected: Vec<f64> = (0..count).map(|level| by.pow(level) as f64).collect();
            prop_assert_eq!(level_factors(&lengths), Some(expected));
        }
    }
}
