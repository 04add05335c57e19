//! Reduction of floats, with sums in binary64.

use super::Reduce;
use std::cmp::Ordering;

/// Implements [`Reduce`] for a float type.
macro_rules! float {
    ($type:ty) => {
        impl Reduce for $type {
            type Sum = f64;

            fn add_row(sums: &mut [f64], row: &[$type]) {
                sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
            }

            fn means(sums: &[f64], rows: u32, factor: usize, out: &mut [$type]) {
                let (pairs, last) = sums.as_chunks::<2>();
                if factor == 2 {
                    let count = f64::from(rows) * 2.0;
                    out.iter_mut().zip(pairs).for_each(|(out, [a, b])| *out = ((a + b) / count) as $type);
                    if let (Some(out), [sum]) = (out.get_mut(pairs.len()), last) {
                        *out = Self::mean(*sum, rows);
                    }
                    return;
                }
                for (out, block) in out.iter_mut().zip(sums.chunks(factor)) {
                    *out = Self::mean(block.iter().sum(), rows.saturating_mul(block.len() as u32));
                }
            }

            fn add(sum: f64, value: $type) -> f64 {
                sum + f64::from(value)
            }

            fn join(sum: f64, other: f64) -> f64 {
                sum + other
            }

            fn mean(sum: f64, count: u32) -> $type {
                (sum / f64::from(count)) as $type
            }

            fn keep_least(kept: &mut [$type], row: &[$type]) {
                kept.iter_mut()
                    .zip(row)
                    .for_each(|(kept, &value)| *kept = if value < *kept || value.is_nan() { value } else { *kept });
            }

            fn keep_greatest(kept: &mut [$type], row: &[$type]) {
                kept.iter_mut()
                    .zip(row)
                    .for_each(|(kept, &value)| *kept = if value > *kept || value.is_nan() { value } else { *kept });
            }

            fn is_nan(self) -> bool {
                <$type>::is_nan(self)
            }

            fn order(self, other: $type) -> Ordering {
                self.partial_cmp(&other).unwrap_or(Ordering::Equal)
            }
        }
    };
}

float!(f32);
float!(f64);
