//! Reduction of integers, with exact sums.

use super::Reduce;
use std::cmp::Ordering;

/// Implements [`Reduce`] for an integer type with the given type of sums, which holds 65,536 elements with a reserve of half a block.
macro_rules! integer {
    ($type:ty, $sum:ty) => {
        impl Reduce for $type {
            type Sum = $sum;

            fn add_row(sums: &mut [$sum], row: &[$type]) {
                sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += <$sum>::from(value));
            }

            fn means(sums: &[$sum], rows: u32, factor: usize, out: &mut [$type]) {
                let whole = sums.len() / factor;
                let (blocks, last) = sums.split_at(whole * factor);
                match u32::try_from(factor).ok().and_then(|factor| rows.checked_mul(factor)) {
                    Some(count) if count.is_power_of_two() && factor == 2 => {
                        let shift = count.trailing_zeros();
                        let (pairs, _) = blocks.as_chunks::<2>();
                        out.iter_mut().zip(pairs).for_each(|(out, [a, b])| *out = shifted(*a + *b, shift) as $type);
                    }
                    Some(count) if count.is_power_of_two() && factor == 1 => {
                        let shift = count.trailing_zeros();
                        out.iter_mut().zip(blocks).for_each(|(out, sum)| *out = shifted(*sum, shift) as $type);
                    }
                    count => {
                        let count = count.unwrap_or(u32::MAX);
                        out.iter_mut()
                            .zip(blocks.chunks_exact(factor))
                            .for_each(|(out, block)| *out = Self::mean(block.iter().sum(), count));
                    }
                }
                if let (Some(out), false) = (out.get_mut(whole), last.is_empty()) {
                    *out = Self::mean(last.iter().sum(), rows.saturating_mul(last.len() as u32));
                }

                /// Quotient of the sum by 2^`shift`, rounded; halves to the even neighbour.
                fn shifted(sum: $sum, shift: u32) -> $sum {
                    if shift == 0 {
                        return sum;
                    }
                    let half: $sum = 1 << (shift - 1);
                    (sum + half - 1 + ((sum >> shift) & 1)) >> shift
                }
            }

            fn add(sum: $sum, value: $type) -> $sum {
                sum + <$sum>::from(value)
            }

            fn join(sum: $sum, other: $sum) -> $sum {
                sum + other
            }

            fn mean(sum: $sum, count: u32) -> $type {
                let count = count as $sum;
                let (quotient, rest) = (sum.div_euclid(count), sum.rem_euclid(count));
                let is_up = match (rest * 2).cmp(&count) {
                    Ordering::Less => false,
                    Ordering::Equal => quotient & 1 == 1,
                    Ordering::Greater => true,
                };
                // A mean lies between the least and the greatest element.
                (quotient + <$sum>::from(is_up)) as $type
            }

            fn keep_least(kept: &mut [$type], row: &[$type]) {
                kept.iter_mut().zip(row).for_each(|(kept, &value)| *kept = value.min(*kept));
            }

            fn keep_greatest(kept: &mut [$type], row: &[$type]) {
                kept.iter_mut().zip(row).for_each(|(kept, &value)| *kept = value.max(*kept));
            }

            fn is_nan(self) -> bool {
                false
            }

            fn order(self, other: $type) -> Ordering {
                self.cmp(&other)
            }
        }
    };
}

integer!(u8, u32);
integer!(u16, u32);
integer!(u32, u64);
integer!(u64, u128);
integer!(i8, i32);
integer!(i16, i32);
integer!(i32, i64);
integer!(i64, i128);
