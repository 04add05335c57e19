//! Elements of float16, for which reductions compute in binary64.

use super::Reduce;
use bytemuck::{Pod, Zeroable};
use half::f16;
use std::cmp::Ordering;

/// Element of float16.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Half(f16);

impl Reduce for Half {
    type Sum = f64;

    fn add_row(sums: &mut [f64], row: &[Self]) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value.0.to_f64());
    }

    fn means(sums: &[f64], rows: u32, factor: usize, out: &mut [Self]) {
        for (out, block) in out.iter_mut().zip(sums.chunks(factor)) {
            *out = Self::mean(block.iter().sum(), rows.saturating_mul(block.len() as u32));
        }
    }

    fn add(sum: f64, value: Self) -> f64 {
        sum + value.0.to_f64()
    }

    fn join(sum: f64, other: f64) -> f64 {
        sum + other
    }

    fn mean(sum: f64, count: u32) -> Self {
        Self(f16::from_f64(sum / f64::from(count)))
    }

    fn keep_least(kept: &mut [Self], row: &[Self]) {
        for (kept, &value) in kept.iter_mut().zip(row) {
            if value.0 < kept.0 || value.0.is_nan() {
                *kept = value;
            }
        }
    }

    fn keep_greatest(kept: &mut [Self], row: &[Self]) {
        for (kept, &value) in kept.iter_mut().zip(row) {
            if value.0 > kept.0 || value.0.is_nan() {
                *kept = value;
            }
        }
    }

    fn is_nan(self) -> bool {
        self.0.is_nan()
    }

    fn order(self, other: Self) -> Ordering {
        self.0.partial_cmp(&other.0).unwrap_or(Ordering::Equal)
    }
}
