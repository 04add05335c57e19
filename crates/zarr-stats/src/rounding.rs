//! Rounding of floating-point numbers to few mantissa bits, within a bound of the error of all elements.

use crate::float_form::{FloatForm, marks};
use crate::information::Unmeasurable;
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, Ordering};
use zarr_array::{Array, Error, Result};
use zarr_grid::Region;
use zarr_scan::{ChunkParts, Layout};

/// Memory for elements of a pass, in bytes.
const MEMORY: u64 = 256 << 20;

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
        let difference = (number - rounded).abs();
        match self {
            Self::Absolute(most) => difference <= most,
            Self::Relative(most) => difference <= most * number.abs(),
        }
    }

    /// Returns the smallest number of mantissa bits to which all elements of an array may be rounded by the codec `bitround`: every stored
    /// element is looked at. Marks of missing data (the fill value, and the attributes `_FillValue` and `missing_value`) stay as they are.
    /// The inner error says why the elements cannot be rounded.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, NewArray, Registry, Store};
    /// # use zarr_stats::ErrorBound;
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    /// let array = Array::create(&store, "/a", NewArray::new(&[3], "float32").codecs("bytes")?, &Arc::new(registry))?;
    /// array.write(.., &[1.0_f32, 1.25, 1.4])?;
    /// // 1.4 becomes 1.375.
    /// assert_eq!("2%".parse::<ErrorBound>()?.keepbits(&array)?, Ok(3));
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of the read; [`zarr_array::ErrorKind::Limit`] if a chunk takes more than 64 MiB that cannot be read in parts.
    pub fn keepbits(self, array: &Array) -> Result<Result<u32, Unmeasurable>> {
        let Some(form) = FloatForm::of(array.data_type()) else { return Ok(Err(Unmeasurable::NotFloat)) };
        let attributes = array.attributes()?;
        if ["scale_factor", "add_offset"].iter().any(|name| attributes.contains_key(name)) {
            return Ok(Err(Unmeasurable::Packed));
        }
        let marks = marks(form, array)?;
        let mantissa = form.mantissa();
        let keep = AtomicU32::new(marks.iter().map(|&mark| form.kept(mark).1).max().unwrap_or(1));
        let (grid, part, item) = (array.chunk_grid(), array.part_shape().to_vec(), u64::from(form.width() / 8));
        let layout = Layout { array, grid, is_stored: true, part, item };
        let mut parts = ChunkParts::new(&layout, &Region::whole(array.shape()), MEMORY, |_| 0)?;
        loop {
            let batch = parts.next_batch();
            if batch.is_empty() {
                return Ok(Ok(keep.into_inner()));
            }
            let looked = array.map_parallel(batch, |region| {
                let data = array.read_data(&region)?;
                let mut enough = keep.load(Ordering::Relaxed);
                for number in form.values(data.items()) {
                    if !number.is_finite() || marks.contains(&number) {
                        continue;
                    }
                    // More bits never make an error larger.
                    while enough < mantissa && !self.allows(number, form.round(number, enough)) {
                        enough += 1;
                    }
                }
                keep.fetch_max(enough, Ordering::Relaxed);
                Ok(())
            })?;
            looked.into_iter().collect::<Result<Vec<()>>>()?;
        }
    }
}
