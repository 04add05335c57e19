//! Predictors, undone row by row.

/// Undoes the differences of samples of `size` bytes, little-endian, of which pixels have `samples`.
pub(crate) fn undo_horizontal(bytes: &mut [u8], row: usize, size: usize, samples: usize) {
    macro_rules! sums {
        ($number:ty, $row:expr) => {{
            const SIZE: usize = size_of::<$number>();
            let step = samples * SIZE;
            let number = |bytes: &[u8]| bytes.try_into().map_or(0, <$number>::from_le_bytes);
            if samples == 1 {
                let mut sum: $number = 0;
                for item in $row.chunks_exact_mut(SIZE) {
                    sum = sum.wrapping_add(number(item));
                    item.copy_from_slice(&sum.to_le_bytes());
                }
            } else {
                for at in (step..$row.len()).step_by(SIZE) {
                    let sum = number(&$row[at - step..][..SIZE]).wrapping_add(number(&$row[at..at + SIZE]));
                    $row[at..at + SIZE].copy_from_slice(&sum.to_le_bytes());
                }
            }
        }};
    }
    for row in bytes.chunks_exact_mut(row.max(1)) {
        match size {
            1 => sums!(u8, row),
            2 => sums!(u16, row),
            4 => sums!(u32, row),
            _ => sums!(u64, row),
        }
    }
}

/// Undoes the predictor of floats: the bytes of a row, first all first bytes, are differences. They become little-endian.
pub(crate) fn undo_float(bytes: &mut [u8], row: usize, size: usize, samples: usize) {
    let mut before = vec![0; row];
    for row in bytes.chunks_exact_mut(row.max(1)) {
        undo_horizontal(row, row.len(), 1, samples);
        before.copy_from_slice(row);
        let count = row.len() / size;
        for (at, item) in row.chunks_exact_mut(size).enumerate() {
            for (byte, place) in item.iter_mut().rev().enumerate() {
                *place = before[byte * count + at];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_of_the_same_sample_of_pixels_before() {
        let mut bytes = [1, 10, 1, 1, 1, 255, 5, 5, 0, 1, 0, 1];
        undo_horizontal(&mut bytes, 6, 1, 2);
        assert_eq!(bytes, [1, 10, 2, 11, 3, 10, 5, 5, 5, 6, 5, 7]);
        let mut bytes = [0xff, 0, 2, 0, 0xff, 0xff];
        undo_horizontal(&mut bytes, 6, 2, 1);
        assert_eq!(bytes, [0xff, 0, 1, 1, 0, 1]);
        for (size, samples) in [(2, 1), (4, 3), (8, 2)] {
            let numbers: Vec<u8> = (0..size * samples * 5).map(|at| (at * 37 % 256) as u8).collect();
            let step = size * samples;
            let mut differences = numbers.clone();
            for at in (1..5 * samples).rev().filter(|at| *at >= samples) {
                let number = |at: usize| {
                    numbers[at * size..][..size].iter().rev().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte))
                };
                let difference = number(at).wrapping_sub(number(at - samples));
                differences[at * size..][..size].copy_from_slice(&difference.to_le_bytes()[..size]);
            }
            undo_horizontal(&mut differences, step * 5, size, samples);
            assert_eq!(differences, numbers, "{size} {samples}");
        }
    }
}
