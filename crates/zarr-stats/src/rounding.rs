//! Rounding of floating-point numbers to few mantissa bits, within a bound of the error of all elements.

use crate::bench::LargestError;
use crate::float_form::{FloatForm, Limits, is_packed, marks};
use crate::information::Unmeasurable;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use zarr_array::{Array, Error, Result};
use zarr_grid::Region;
use zarr_scan::{ChunkParts, Layout};

/// Bounds of a look at all elements of an array. `RoundingOptions::default()` has the defaults, and a method sets each option.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RoundingOptions {
    /// Maximum number of bytes of elements in memory, by default 1 GiB.
    pub memory: u64,
    /// Elements that are looked at; all, if there is none.
    pub region: Option<Region>,
}

impl Default for RoundingOptions {
    fn default() -> Self {
        Self { memory: 1 << 30, region: None }
    }
}

impl RoundingOptions {
    /// Sets the [memory](Self#structfield.memory).
    #[must_use]
    pub fn memory(self, memory: u64) -> Self {
        Self { memory, ..self }
    }

    /// Sets the [region](Self#structfield.region).
    #[must_use]
    pub fn region(self, region: Option<Region>) -> Self {
        Self { region, ..self }
    }
}

/// Bound of the error of rounded numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ErrorBound {
    /// Largest difference.
    Absolute(f64),
    /// Largest ratio of a difference to the number.
    Relative(f64),
}

/// Parses a number, `0.01`, as an absolute bound, and a percentage, `1%`, as a relative one.
impl FromStr for ErrorBound {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (number, is_relative) = text.trim().strip_suffix('%').map_or((text.trim(), false), |number| (number, true));
        let number = number.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
        let wrong = || Error::argument(format!("found {text:?}, expected a number above 0, or a percentage"));
        let number = number.ok_or_else(wrong)?;
        Ok(if is_relative { Self::Relative(number / 100.0) } else { Self::Absolute(number) })
    }
}

impl ErrorBound {
    /// Whether `rounded` may stand for `number`.
    fn allows(self, number: f64, rounded: f64) -> bool {
        if !number.is_finite() {
            return true;
        }
        let difference = (number - rounded).abs();
        match self {
            Self::Absolute(most) => difference <= most,
            Self::Relative(most) => difference <= most * number.abs(),
        }
    }

    /// Returns the smallest number of mantissa bits to which all elements of an array may be rounded by the codec `bitround`: every stored
    /// element is looked at. Marks of missing data (the fill value, and the attributes `_FillValue` and `missing_value`), NaN and infinite
    /// numbers stay what they are, and no other number becomes one of them. Numbers stay on their side of the limits of valid ones (`valid_min`,
    /// `valid_max`, `valid_range`). The inner error says why the elements cannot be rounded.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, NewArray, Registry, Store};
    /// # use zarr_stats::{ErrorBound, RoundingOptions};
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    /// let array = Array::create(&store, "/a", NewArray::new(&[3], "float32").codecs("bytes")?, &Arc::new(registry))?;
    /// array.write(.., &[1.0_f32, 1.25, 1.4])?;
    /// // 1.4 becomes 1.375.
    /// assert_eq!("2%".parse::<ErrorBound>()?.keepbits(&array, &RoundingOptions::default())?, Ok(3));
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of the read; [`zarr_array::ErrorKind::Limit`] if a chunk that cannot be read in parts takes more than a quarter of the
    /// memory.
    pub fn keepbits(self, array: &Array, options: &RoundingOptions) -> Result<Result<u32, Unmeasurable>> {
        let rounding = match Rounding::of(array)? {
            Ok(rounding) => rounding,
            Err(why) => return Ok(Err(why)),
        };
        let (form, mantissa) = (rounding.form, rounding.form.mantissa());
        let keep = AtomicU32::new(rounding.marks.iter().map(|&mark| form.kept(mark).1).max().unwrap_or(1));
        let look = |elements: &[u64]| {
            let mut enough = keep.load(Ordering::Relaxed);
            for &bits in elements {
                let holds = |keep: u32| {
                    let rounded = form.value(form.round_bits(bits, keep));
                    rounding.stays(bits, rounded) && self.allows(form.value(bits), rounded)
                };
                // More bits never make an error larger, nor a mark of another number.
                while enough < mantissa && !holds(enough) {
                    enough += 1;
                }
                // They may take a number over a limit that fewer bits round it away from.
                if rounding.is_near_limit(form.value(bits), enough) {
                    let failing = (enough..mantissa).rev().find(|&keep| !holds(keep));
                    enough = failing.map_or(enough, |keep| keep + 1);
                }
            }
            keep.fetch_max(enough, Ordering::Relaxed);
        };
        if rounding.fill.iter().any(|&bits| !form.value(bits).is_finite()) {
            look(&rounding.fill);
        }
        let found = rounding.pass(array, options, look)?;
        Ok(if found { Ok(keep.into_inner()) } else { Err(Unmeasurable::TooFew(0)) })
    }
}

impl LargestError {
    /// Returns the largest differences that rounding to `keep` mantissa bits makes in the stored elements of an array; all are looked at. The
    /// inner error says why the elements cannot be rounded: a number would become infinite or a mark of missing data (the fill value, or
    /// one of the attributes `_FillValue` and `missing_value`), a mark or NaN would become another number, or a number would pass a limit of
    /// valid ones (`valid_min`, `valid_max`, `valid_range`).
    ///
    /// # Errors
    /// As those of [`ErrorBound::keepbits`].
    pub fn of_rounding(array: &Array, keep: u32, options: &RoundingOptions) -> Result<Result<Self, Unmeasurable>> {
        let rounding = match Rounding::of(array)? {
            Ok(rounding) => rounding,
            Err(why) => return Ok(Err(why)),
        };
        let form = rounding.form;
        let found = Mutex::new((Self::default(), None));
        let look = |elements: &[u64]| {
            let (mut error, mut changed) = (Self::default(), None);
            for &bits in elements {
                let (from, to) = (form.value(bits), form.value(form.round_bits(bits, keep)));
                if !rounding.stays(bits, to) {
                    changed = Some(Unmeasurable::Changed { bits: keep, from, to });
                    break;
                }
                error.add(from, to);
            }
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.0.merge(error);
            found.1 = found.1.or(changed);
        };
        if rounding.fill.iter().any(|&bits| !form.value(bits).is_finite()) {
            look(&rounding.fill);
        }
        rounding.pass(array, options, look)?;
        let (error, changed) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(changed.map_or(Ok(error), Err))
    }
}

/// Numbers of an array that are rounded.
#[derive(Debug)]
struct Rounding {
    form: FloatForm,
    /// Marks of missing data.
    marks: Vec<f64>,
    /// Limits of valid numbers, if there are some.
    limits: Option<Limits>,
    /// Bits of the fill value, which is encoded beside the elements that are stored.
    fill: Vec<u64>,
}

impl Rounding {
    /// Finds the form of the numbers of an array. The inner error says why these cannot be rounded.
    fn of(array: &Array) -> Result<Result<Self, Unmeasurable>> {
        let Some(form) = FloatForm::of(array.data_type()) else { return Ok(Err(Unmeasurable::NotFloat)) };
        if is_packed(array)? {
            return Ok(Err(Unmeasurable::Packed));
        }
        let (marks, limits) = (marks(form, array)?, Limits::of(form, array)?);
        Ok(Ok(Self { form, marks, limits, fill: form.bits(array.fill_value().bytes()) }))
    }

    /// Whether a number, given by its bits, has the same meaning when it is rounded: NaN, an infinite number or a mark stays what it is,
    /// no other number becomes one, and a valid number stays valid.
    fn stays(&self, bits: u64, rounded: f64) -> bool {
        let number = self.form.value(bits);
        if number.is_nan() {
            return rounded.is_nan();
        }
        // Zeros as fill values are numbers as others: most writers do not choose their fill value.
        let is_mark = |number: f64| number != 0.0 && self.marks.contains(&number);
        if !number.is_finite() || is_mark(number) {
            return number == rounded;
        }
        let is_kept = |limits: Limits| limits.has(number) == limits.has(rounded);
        rounded.is_finite() && !is_mark(rounded) && self.limits.is_none_or(is_kept)
    }

    /// Whether a number is so near a limit that rounding to `keep` mantissa bits may take it there.
    fn is_near_limit(&self, number: f64, keep: u32) -> bool {
        let distance = number.abs() * (-f64::from(keep)).exp2();
        number.is_finite() && self.limits.is_some_and(|limits| limits.are_near(number, distance))
    }

    /// Looks at the bits of all stored elements of an array, part by part, on several threads. Returns whether any is a number that is neither
    /// missing nor zero: an array of zeros has no numbers yet.
    fn pass(&self, array: &Array, options: &RoundingOptions, look: impl Fn(&[u64]) + Sync) -> Result<bool> {
        let (grid, part, item) = (array.chunk_grid(), array.part_shape().to_vec(), u64::from(self.form.width() / 8));
        let layout = Layout { array, grid, is_stored: true, part, item };
        let whole = Region::whole(array.shape());
        let region = options.region.as_ref().unwrap_or(&whole);
        let mut parts = ChunkParts::new(&layout, region, options.memory, |_| 0)?;
        let is_number = |&bits: &u64| {
            let number = self.form.value(bits);
            number.is_finite() && number != 0.0 && !self.marks.contains(&number)
        };
        let found = AtomicBool::new(false);
        loop {
            let batch = parts.next_batch();
            if batch.is_empty() {
                return Ok(found.into_inner());
            }
            let looked = array.map_parallel(batch, |region| {
                let elements = self.form.bits(array.read_data(&region)?.items());
                if !found.load(Ordering::Relaxed) && elements.iter().any(is_number) {
                    found.store(true, Ordering::Relaxed);
                }
                look(&elements);
                Ok(())
            })?;
            looked.into_iter().collect::<Result<Vec<()>>>()?;
        }
    }
}
