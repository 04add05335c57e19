//! Factors of the levels of a pyramid, from the shapes of its arrays.

use crate::{Error, Result};

/// Returns for each level of a pyramid, the finest first, and for each axis the number of elements of the finest level that one element
/// stands for, by the rule of [`zarr_grid::level_factors`].
///
/// ```
/// let shapes: [&[u64]; 3] = [&[100, 30], &[50, 30], &[25, 10]];
/// assert_eq!(zarr_ome::level_factors(&shapes)?, [[1.0, 1.0], [2.0, 1.0], [4.0, 3.0]]);
/// # Ok::<(), zarr_ome::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if a shape has another number of axes than the first, or an axis is empty or longer
/// than that of the level before.
pub fn level_factors(shapes: &[&[u64]]) -> Result<Vec<Vec<f64>>> {
    let mut before = shapes.first().copied().unwrap_or_default();
    for (number, &shape) in shapes.iter().enumerate() {
        let fits =
            shape.len() == before.len() && shape.iter().zip(before).all(|(len, before)| (1..=*before).contains(len));
        if !fits {
            let message = format!("level {number}: found the shape {shape:?}, expected one that fits into {before:?}");
            return Err(Error::argument(message));
        }
        before = shape;
    }
    let of_axis = |axis: usize| {
        let lengths: Vec<u64> = shapes.iter().map(|shape| shape[axis]).collect();
        zarr_grid::level_factors(&lengths).unwrap_or_default()
    };
    let by_axis: Vec<Vec<f64>> = (0..before.len()).map(of_axis).collect();
    Ok((0..shapes.len()).map(|level| by_axis.iter().map(|factors| factors[level]).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::level_factors;

    #[test]
    fn shapes_fit_into_those_before() {
        for wrong in [&[4, 5][..], &[4, 0], &[4, 2, 3]] {
            let shapes: Vec<&[u64]> = wrong.iter().map(std::slice::from_ref).collect();
            assert!(level_factors(&shapes).unwrap_err().message().contains("that fits into"), "{wrong:?}");
        }
        assert!(level_factors(&[&[4, 4], &[2]]).is_err());
        assert_eq!(level_factors(&[]).unwrap(), Vec::<Vec<f64>>::new());
    }
}
