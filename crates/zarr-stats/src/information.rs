//! Real information of the bits of floating-point numbers, after Klöwer et al. 2021 (<https://doi.org/10.1038/s43588-021-00156-2>).
//!
//! A bit has information if it tells about the same bit of a neighbour: the mutual information of both, in bits. The bits of noise have
//! none. The neighbours are those along the axis where all bits together have the most.

use crate::float_form::{FloatForm, is_packed, marks};
use crate::sample::{Sample, spread};
use std::collections::HashSet;
use std::fmt;
use zarr_array::{Array, ArrayData, Result};
use zarr_dtype::DataType;

/// Confidence with which the information of a bit must differ from that of random bits, as the quantile of the normal distribution: 99 %.
const QUANTILE: f64 = 2.575_829_303_548_9;
/// Smallest number of pairs of neighbours.
const FEW: u64 = 1000;
/// Share of elements with the other sign from which signs count as mixed.
const MIXED: f64 = 0.01;
/// Share of zeros from which the exponents of most elements say nothing about their neighbours.
const ZEROS: f64 = 0.1;
/// Number of mantissa bits that are zero in all elements from which these are taken to be rounded.
const ROUNDED: u32 = 4;
/// Share of the elements that have a value of their own, below which values are taken to be quantised.
const DISTINCT: f64 = 1.0 / 64.0;
/// Share of the numbers between the smallest and the largest element that occur, below which values are taken to be quantised.
const SPARSE: f64 = 1.0 / 8.0;
/// Largest difference of the share of set bits from one half in noise.
const BALANCED: f64 = 0.05;
/// Information behind bits without, as a share of all, from which bits are taken not to be noise.
const ARTIFICIAL: f64 = 0.01;

/// Information of the bits of an array, measured on a sample.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BitInformation {
    /// Axis along which elements have the most information about their neighbours.
    pub axis: usize,
    /// Information of each bit about the same bit of the neighbour, in bits, the sign first; 0 where it is that of random bits.
    pub bits: Vec<f64>,
    /// Number of pairs of neighbours.
    pub pairs: u64,
    /// Number of bits of the mantissa.
    pub mantissa: u32,
    /// Marks of missing data (the fill value, and the attributes `_FillValue` and `missing_value`), each with the number of mantissa bits
    /// to which it can be rounded without a change.
    pub marks: Vec<(f64, u32)>,
}

/// Reason why the information of bits does not tell how far elements may be rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Unmeasurable {
    /// Elements are no floating-point numbers.
    NotFloat,
    /// Attributes pack the elements: `scale_factor` or `add_offset`.
    Packed,
    /// No more than the given number of pairs of neighbours are not missing.
    TooFew(u64),
    /// All elements are the same.
    Constant,
    /// Elements are rounded to the given number of mantissa bits.
    Rounded(u32),
    /// Elements have few values, or bits with information behind bits without, as packed numbers do that were unpacked.
    Quantised,
    /// Elements lie on both sides of zero: the given share has the rarer sign.
    MixedSigns(f64),
    /// The given share of the elements are zeros.
    ManyZeros(f64),
    /// Rounding would change the meaning of a number: it would become, or no longer be, NaN, infinite, a mark of missing data or
    /// valid.
    Changed {
        /// Number of mantissa bits.
        bits: u32,
        /// Number that is stored.
        from: f64,
        /// Number that it would become.
        to: f64,
    },
}

impl fmt::Display for Unmeasurable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFloat => f.write_str("elements are no floating-point numbers"),
            Self::Packed => f.write_str("elements are packed by scale_factor or add_offset"),
            Self::TooFew(pairs) => {
                write!(f, "only {pairs} pairs of neighbours are not missing, at least {FEW} are needed")
            }
            Self::Constant => f.write_str("all elements are the same"),
            Self::Rounded(bits) => write!(f, "elements are rounded to {bits} mantissa bits already"),
            Self::Quantised => {
                f.write_str("elements are quantised, as packed numbers are: their last bits are no noise")
            }
            Self::MixedSigns(share) => {
                write!(
                    f,
                    "{:.1} % of the elements are on the other side of zero, where exponents tell little",
                    share * 100.0
                )
            }
            Self::ManyZeros(share) => write!(f, "{:.0} % of the elements are zeros", share * 100.0),
            Self::Changed { bits, from, to } => {
                let is_number = to.is_finite() && from.is_finite();
                let what = if is_number {
                    ", of which one marks missing data or is beyond a limit of valid numbers"
                } else {
                    ""
                };
                write!(f, "rounding to {bits} bits would change {from} to {to}{what}")
            }
        }
    }
}

impl BitInformation {
    /// Measures the information of bits on about `bytes` bytes of the elements of an array. Elements that are NaN or infinite, the fill
    /// value, or one of the attributes `_FillValue` and `missing_value`, are left out. The inner error says why the measure would mislead.
    ///
    /// # Errors
    /// The errors of the listing and of the read of the sample.
    pub fn of(array: &Array, bytes: u64) -> Result<Result<Self, Unmeasurable>> {
        let Some(form) = FloatForm::of(array.data_type()) else { return Ok(Err(Unmeasurable::NotFloat)) };
        if is_packed(array)? {
            return Ok(Err(Unmeasurable::Packed));
        }
        let stored: Vec<Vec<u64>> = match array.store().capabilities().list {
            true => spread(&array.stored_chunks()?).map(|index| index.to_vec()).collect(),
            false => Vec::new(),
        };
        let Some(sample) = Sample::of(array, &stored, bytes)? else { return Ok(Err(Unmeasurable::TooFew(0))) };
        let marks = marks(form, array)?;
        let elements = Elements::new(form, &sample.data, &marks);
        let found = elements.fault().map_or_else(|| elements.information(), Err);
        Ok(found.map(|found| Self { marks: marks.into_iter().map(|mark| form.kept(mark)).collect(), ..found }))
    }

    /// Returns the number of mantissa bits of elements of a data type; `None` if they are no floating-point numbers.
    #[must_use]
    pub fn mantissa_of(data_type: &DataType) -> Option<u32> {
        FloatForm::of(data_type).map(FloatForm::mantissa)
    }

    /// Returns the mark of missing data that needs the most mantissa bits, with their number, if rounding to `bits` bits would change it, so
    /// that readers took it for a number.
    pub fn lost_mark(&self, bits: u32) -> Option<(f64, u32)> {
        self.marks.iter().copied().max_by_key(|(_, kept)| *kept).filter(|(_, kept)| *kept > bits)
    }

    /// Number of mantissa bits that keep a share of the information, such as 0.99: at least 1.
    pub fn keep(&self, share: f64) -> u32 {
        let total: f64 = self.bits.iter().sum();
        let before = self.bits.len().saturating_sub(self.mantissa as usize);
        let mut sum = 0.0;
        let enough = self.bits.iter().position(|bit| {
            sum += bit;
            // Sums in one order are equal at the last bit with information.
            sum >= share * total
        });
        let kept = enough.map_or(self.mantissa as usize, |bit| (bit + 1).saturating_sub(before));
        u32::try_from(kept).unwrap_or(self.mantissa).clamp(1, self.mantissa)
    }
}

/// Elements of a sample.
#[derive(Debug)]
struct Elements {
    form: FloatForm,
    bits: Vec<u64>,
    /// Whether each element is not missing.
    is_there: Vec<bool>,
    shape: Vec<usize>,
}

impl Elements {
    fn new(form: FloatForm, data: &ArrayData, missing: &[f64]) -> Self {
        let bits = form.bits(data.items());
        let is_there = |&bits: &u64| {
            let value = form.value(bits);
            // Zeros as fill values are elements as others: most writers do not choose their fill value.
            value.is_finite() && (value == 0.0 || !missing.contains(&value))
        };
        let is_there = bits.iter().map(is_there).collect();
        let shape = data.shape().iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
        Self { form, bits, is_there, shape }
    }

    fn there(&self) -> impl Iterator<Item = u64> {
        self.bits.iter().zip(&self.is_there).filter(|(_, is_there)| **is_there).map(|(bits, _)| *bits)
    }

    /// Returns why the measure would mislead, as far as the elements alone show it.
    fn fault(&self) -> Option<Unmeasurable> {
        /// Maximum number of values that are counted.
        const VALUES: usize = 1 << 16;
        let first = self.there().next()?;
        let (mut least, mut most) = (u64::MAX, 0);
        let (mut count, mut zeros, mut negative) = (0_u64, 0_u64, 0_u64);
        let (mut any, mut changes) = (0, 0);
        let mut values = HashSet::new();
        let sign = 1_u64 << (self.form.width() - 1);
        for bits in self.there() {
            count += 1;
            zeros += u64::from(bits & !sign == 0);
            negative += u64::from(bits & sign != 0 && bits != sign);
            any |= bits;
            changes |= bits ^ first;
            (least, most) = (least.min(bits & !sign), most.max(bits & !sign));
            if values.len() < VALUES {
                values.insert(bits);
            }
        }
        let share = |part: u64| part as f64 / count.max(1) as f64;
        let rarer = negative.min(count - zeros - negative);
        let mantissa = self.form.mantissa();
        let unused = any.trailing_zeros().min(mantissa);
        // Few values, though many more lie between the smallest and the largest one.
        let few = (DISTINCT * count as f64).min((most - least) as f64 * SPARSE);
        if count < FEW {
            let pairs = (0..self.shape.len()).map(|axis| self.along(axis).0.pairs).max();
            Some(Unmeasurable::TooFew(pairs.unwrap_or(0)))
        } else if changes == 0 {
            Some(Unmeasurable::Constant)
        } else if share(zeros) >= ZEROS {
            Some(Unmeasurable::ManyZeros(share(zeros)))
        } else if share(rarer) >= MIXED {
            Some(Unmeasurable::MixedSigns(share(rarer)))
        } else if unused >= ROUNDED {
            Some(Unmeasurable::Rounded(mantissa - unused))
        } else if values.len() < VALUES && (values.len() as f64) < few {
            Some(Unmeasurable::Quantised)
        } else {
            None
        }
    }

    /// Measures the information along each axis, and returns that of the axis with the most.
    fn information(&self) -> Result<BitInformation, Unmeasurable> {
        let along: Vec<(BitInformation, Vec<bool>)> = (0..self.shape.len()).map(|axis| self.along(axis)).collect();
        let pairs = along.iter().map(|(found, _)| found.pairs).max().unwrap_or(0);
        let total = |found: &BitInformation| found.bits.iter().sum::<f64>();
        let enough = along.into_iter().filter(|(found, _)| found.pairs >= FEW);
        let Some((most, noise)) = enough.max_by(|a, b| total(&a.0).total_cmp(&total(&b.0))) else {
            return Err(Unmeasurable::TooFew(pairs));
        };
        let all = total(&most);
        if all <= 0.0 {
            return Err(Unmeasurable::Constant);
        }
        let before = most.bits.len() - most.mantissa as usize;
        // Noise does not end before the last bit.
        let first = noise.iter().skip(before).position(|is_noise| *is_noise).map(|first| before + first);
        let behind = first.and_then(|first| most.bits.get(first..)).unwrap_or_default();
        if behind.iter().sum::<f64>() > ARTIFICIAL * all {
            return Err(Unmeasurable::Quantised);
        }
        Ok(most)
    }

    /// Measures the information along an axis, and finds the bits that are noise: half of them are set, without information.
    fn along(&self, axis: usize) -> (BitInformation, Vec<bool>) {
        let width = self.form.width() as usize;
        let len = self.shape.get(axis).copied().unwrap_or(1);
        let step: usize = self.shape.iter().skip(axis + 1).product();
        // Numbers of pairs in which both bits are set, only the first, and only the second.
        let mut counts = vec![[0_u64; 3]; width];
        let mut pairs = 0_u64;
        let coded: Vec<u64> = self.bits.iter().map(|&bits| self.form.with_signed_exponent(bits)).collect();
        let block = step.saturating_mul(len).max(1);
        for (bits, is_there) in coded.chunks(block).zip(self.is_there.chunks(block)) {
            let next = bits.iter().skip(step).zip(is_there.iter().skip(step));
            for ((first, is_first), (second, is_second)) in bits.iter().zip(is_there).zip(next) {
                if !(*is_first && *is_second) {
                    continue;
                }
                pairs += 1;
                let (both, one, other) = (first & second, first & !second, second & !first);
                for (bit, [of_both, of_one, of_other]) in counts.iter_mut().rev().enumerate() {
                    *of_both += (both >> bit) & 1;
                    *of_one += (one >> bit) & 1;
                    *of_other += (other >> bit) & 1;
                }
            }
        }
        let least = random_information(pairs);
        let information =
            |counts: &[u64; 3]| Some(mutual_information(counts, pairs)).filter(|&bit| bit > least).unwrap_or(0.0);
        let bits: Vec<f64> = counts.iter().map(information).collect();
        let is_noise = |([both, one, _], bit): (&[u64; 3], &f64)| {
            let set = (both + one) as f64 / pairs.max(1) as f64;
            *bit == 0.0 && (set - 0.5).abs() < BALANCED
        };
        let noise = counts.iter().zip(&bits).map(is_noise).collect();
        (BitInformation { axis, bits, pairs, mantissa: self.form.mantissa(), marks: Vec::new() }, noise)
    }
}

/// Mutual information in bits of two bits that are both set, only the first, and only the second in these numbers of `pairs` pairs.
fn mutual_information([both, one, other]: &[u64; 3], pairs: u64) -> f64 {
    if pairs == 0 {
        return 0.0;
    }
    let share = |count: u64| count as f64 / pairs as f64;
    let none = pairs.saturating_sub(both + one + other);
    let (first, second) = (share(both + one), share(both + other));
    let term = |joint: f64, first: f64, second: f64| {
        if joint > 0.0 { joint * (joint / (first * second)).log2() } else { 0.0 }
    };
    let terms = [
        term(share(*both), first, second),
        term(share(*one), first, 1.0 - second),
        term(share(*other), 1.0 - first, second),
        term(share(none), 1.0 - first, 1.0 - second),
    ];
    terms.iter().sum::<f64>().max(0.0)
}

/// Information that random bits seem to have in this number of pairs, which they exceed with a probability of 1 % at most.
fn random_information(pairs: u64) -> f64 {
    let share = (0.5 + QUANTILE / (2.0 * (pairs.max(1) as f64).sqrt())).min(1.0);
    let entropy = |share: f64| if share > 0.0 { -share * share.log2() } else { 0.0 };
    1.0 - entropy(share) - entropy(1.0 - share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information_is_that_of_two_coins() {
        assert_eq!(mutual_information(&[50, 0, 0], 100), 1.0);
        assert_eq!(mutual_information(&[25, 25, 25], 100), 0.0);
        assert_eq!(mutual_information(&[0, 50, 50], 100), 1.0);
        assert_eq!(mutual_information(&[100, 0, 0], 100), 0.0);
        assert_eq!(mutual_information(&[0, 0, 0], 0), 0.0);
        // 0.5 + 0.0129 of heads in 10,000 throws.
        assert!((random_information(10_000) - 4.786e-4).abs() < 1e-6, "{}", random_information(10_000));
        assert_eq!(random_information(1), 1.0);
    }

    #[test]
    fn bits_are_kept_by_their_share() {
        let information = BitInformation { axis: 0, bits: vec![0.0; 32], pairs: 1, mantissa: 23, marks: Vec::new() };
        let mut bits = information.bits.clone();
        (bits[8], bits[9], bits[10], bits[15]) = (0.5, 0.3, 0.15, 0.05);
        let information = BitInformation { bits, ..information };
        for (share, kept) in [(0.5, 1), (0.8, 1), (0.81, 2), (0.951, 7), (1.0, 7)] {
            assert_eq!(information.keep(share), kept, "{share}");
        }
    }
}
