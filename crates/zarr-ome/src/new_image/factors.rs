//! Factors of the levels of a pyramid, from the shapes of its arrays.

use crate::{Error, Result};

/// Returns for each level of a pyramid, the finest first, and for each axis the number of elements of the finest level that one element
/// stands for.
///
/// Each level is compared with the one before: the factor of an axis is the whole number by which its length was divided, rounded up or
/// down; of two such numbers, the one nearer to the ratio of the lengths. These factors are multiplied. Where a length was divided by no
/// whole number, the factor is that of the length and the finest one, by the same rule, or their ratio.
///
/// ```
/// let lengths: [&[u64]; 6] = [&[100], &[50], &[25], &[13], &[7], &[4]];
/// assert_eq!(zarr_ome::level_factors(&lengths)?.concat(), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
/// # Ok::<(), zarr_ome::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if a shape has another number of axes than the first, or an axis is empty or longer
/// than that of the level before.
// The crate zarr-geo has a copy of this rule, since it depends on zarr-json alone: what changes here changes there.
pub fn level_factors(shapes: &[&[u64]]) -> Result<Vec<Vec<f64>>> {
    let Some((&whole, _)) = shapes.split_first() else { return Ok(Vec::new()) };
    // For each axis the length in the level before, and the factor if it is a product of whole numbers.
    let mut before: Vec<(u64, Option<u64>)> = whole.iter().map(|&len| (len, Some(1))).collect();
    let mut levels = Vec::new();
    for (number, &shape) in shapes.iter().enumerate() {
        let is_coarser = |(&(before, _), &len): (&(u64, Option<u64>), &u64)| len > 0 && len <= before;
        if shape.len() != whole.len() || !before.iter().zip(shape).all(is_coarser) {
            let lengths: Vec<u64> = before.iter().map(|&(len, _)| len).collect();
            let message = format!("level {number}: found the shape {shape:?}, expected one that fits into {lengths:?}");
            return Err(Error::argument(message));
        }
        let factor = |((before, product), (&whole, &len)): (&mut (u64, Option<u64>), (&u64, &u64))| {
            let step = divisor(*before, len).and_then(|divisor| product.as_ref()?.checked_mul(divisor));
            (*before, *product) = (len, step.or_else(|| divisor(whole, len)));
            product.map_or(whole as f64 / len as f64, |product| product as f64)
        };
        levels.push(before.iter_mut().zip(whole.iter().zip(shape)).map(factor).collect());
    }
    Ok(levels)
}

/// Returns the whole number by which `fine` was divided, rounded up or down, where the result is `coarse`.
fn divisor(fine: u64, coarse: u64) -> Option<u64> {
    let (below, rest) = (fine.checked_div(coarse)?, fine.checked_rem(coarse)?);
    let above = below.checked_add(1)?;
    // If any number is a divisor, one of the two next to the ratio is.
    let nearest_first = if rest <= coarse - rest { [below, above] } else { [above, below] };
    nearest_first.into_iter().find(|&by| by > 0 && (fine / by == coarse || fine.div_ceil(by) == coarse))
}

#[cfg(test)]
mod tests {
    use super::level_factors;
    use proptest::prelude::*;

    fn of(lengths: &[u64]) -> Vec<f64> {
        let shapes: Vec<&[u64]> = lengths.iter().map(std::slice::from_ref).collect();
        level_factors(&shapes).unwrap().concat()
    }

    #[test]
    fn factors_are_those_from_level_to_level() {
        assert_eq!(of(&[100, 50, 25, 13, 7, 4]), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        assert_eq!(of(&[9, 5, 3]), [1.0, 2.0, 4.0]);
        assert_eq!(of(&[5, 2, 1]), [1.0, 2.0, 4.0]);
        assert_eq!(of(&[90, 30, 10, 10]), [1.0, 3.0, 9.0, 9.0]);
        // No whole number, and a whole number of the finest level after it.
        assert_eq!(of(&[1000, 667, 333]), [1.0, 1000.0 / 667.0, 3.0]);
        assert_eq!(of(&[u64::MAX, 1]), [1.0, u64::MAX as f64]);
        for wrong in [&[4, 5][..], &[4, 0], &[4, 2, 3]] {
            let shapes: Vec<&[u64]> = wrong.iter().map(std::slice::from_ref).collect();
            assert!(level_factors(&shapes).unwrap_err().message().contains("that fits into"), "{wrong:?}");
        }
        assert!(level_factors(&[&[4, 4], &[2]]).is_err());
    }

    proptest! {
        #[test]
        fn factors_of_pyramids_are_found(len in 64_u64..100_000, by in 2_u64..5, count in 1_u32..4, is_up: bool) {
            let step = |len: u64| if is_up { len.div_ceil(by) } else { len / by };
            let lengths: Vec<u64> = (0..count).scan(len, |len, _| Some(std::mem::replace(len, step(*len)))).collect();
            // A length of at least 16 tells these divisors apart.
            prop_assume!(lengths.iter().all(|&len| len >= 16));
            let expected: Vec<f64> = (0..count).map(|level| by.pow(level) as f64).collect();
            prop_assert_eq!(of(&lengths), expected);
        }
    }
}
