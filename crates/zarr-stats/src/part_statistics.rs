//! Statistics of one part, computed on any thread.

use crate::distribution::Mode;
use crate::element_source::PartData;
use crate::keyed_number::{KeyedNumber, Keys, Time};
use crate::kind::{Kind, complex, fixed_text, small_floats};
use crate::moments::Moments;
use crate::scan::{NumberStatistics, Scratch, scan, scan_in};
use crate::words::Words;
use half::{bf16, f16};
use zarr_dtype::{DataType, FillValue};
use zarr_grid::Region;

/// Settings for scanning the parts of a source.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) data_type: DataType,
    pub(crate) kind: Kind,
    /// Fill value whose occurrences are counted; `None` if they are not counted.
    pub(crate) fill: Option<FillValue>,
    /// Whether [`PartData::missing`] may mark elements as missing.
    pub(crate) is_masked: bool,
    /// Axis along which each index gets a row; `None` without rows.
    pub(crate) along: Option<usize>,
    /// Number of bytes of memory for data.
    pub(crate) memory: u64,
}

/// Statistics of one part.
#[derive(Debug)]
pub(crate) struct PartStatistics {
    /// Statistics of the values, of the magnitudes of complex numbers, or of the lengths of strings.
    pub(crate) scanned: NumberStatistics,
    /// Moments of the real and of the imaginary parts of complex numbers; `None` for other values.
    pub(crate) complex: Option<(Moments, Moments)>,
    pub(crate) words: Option<Words>,
    /// Statistics for each index of the part along the axis of rows; empty without rows.
    pub(crate) rows: Vec<RowTotals>,
}

/// Statistics of one row: of the values at one index along an axis.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowTotals {
    pub(crate) moments: Moments,
    pub(crate) imaginary: Option<Box<Moments>>,
    pub(crate) nan: u128,
    pub(crate) least: Option<u64>,
    pub(crate) greatest: Option<u64>,
}

impl RowTotals {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.moments.merge(&other.moments);
        if let Some(other) = &other.imaginary {
            self.imaginary.get_or_insert_default().merge(other);
        }
        self.nan = self.nan.saturating_add(other.nan);
        self.least = self.least.into_iter().chain(other.least).min();
        self.greatest = self.greatest.into_iter().chain(other.greatest).max();
    }
}

/// Shape of a part for rows: the number of rows, and the length of the runs of elements of one row.
#[derive(Clone, Copy, Debug)]
struct RowShape {
    rows: usize,
    inner: usize,
}

impl RowShape {
    /// Collects the elements of one row in `into`.
    fn gather<T: Copy>(self, values: &[T], row: usize, into: &mut Vec<T>) {
        into.clear();
        for of_all in values.chunks(self.rows.saturating_mul(self.inner).max(1)) {
            let start = row.saturating_mul(self.inner);
            into.extend_from_slice(of_all.get(start..start.saturating_add(self.inner)).unwrap_or_default());
        }
    }
}

impl Look {
    /// Functions that convert keys to the values that are scanned.
    pub(crate) fn keys(&self) -> Keys {
        self.scalar().keys
    }

    /// Type of the numbers that are scanned: lengths for strings, magnitudes for complex numbers.
    fn scalar(&self) -> Scalar {
        match (self.kind, self.data_type.storage()) {
            (Kind::Time | Kind::Text | Kind::Bytes, _) => Scalar::of::<Time>(),
            (Kind::Truth, _) if self.is_masked => Scalar::of::<Time>(),
            (Kind::Complex, _) => Scalar::of::<f64>(),
            (Kind::SmallFloat, _) => Scalar::of::<f32>(),
            (_, DataType::Int2 | DataType::Int4 | DataType::Int8) => Scalar::of::<i8>(),
            (_, DataType::Int16) => Scalar::of::<i16>(),
            (_, DataType::Int32) => Scalar::of::<i32>(),
            (_, DataType::Int64) => Scalar::of::<i64>(),
            (_, DataType::UInt16) => Scalar::of::<u16>(),
            (_, DataType::UInt32) => Scalar::of::<u32>(),
            (_, DataType::UInt64) => Scalar::of::<u64>(),
            (_, DataType::Float16) => Scalar::of::<f16>(),
            (_, DataType::BFloat16) => Scalar::of::<bf16>(),
            (_, DataType::Float32) => Scalar::of::<f32>(),
            (_, DataType::Float64) => Scalar::of::<f64>(),
            _ => Scalar::of::<u8>(),
        }
    }

    /// Computes the statistics of a part, the elements of `region`. If a field is an array, each element has several values.
    pub(crate) fn part(&self, read: &PartData, region: &Region, mode: Mode) -> PartStatistics {
        let shape = self.along.and_then(|axis| self.row_shape(read, region, axis));
        match self.kind {
            Kind::Text | Kind::Bytes => self.texts(read, shape, mode),
            Kind::Complex => self.complex(read, shape, mode),
            _ => self.numbers(read, shape, mode),
        }
    }

    fn row_shape(&self, read: &PartData, region: &Region, axis: usize) -> Option<RowShape> {
        let rows = usize::try_from(region.axes().get(axis)?.len).ok()?;
        let outer = zarr_grid::element_count(region.shape().get(..axis)?)?;
        let outer = usize::try_from(outer).ok()?.checked_mul(rows)?;
        Some(RowShape { rows, inner: read.data.len().checked_div(outer)? })
    }

    fn numbers(&self, read: &PartData, shape: Option<RowShape>, mode: Mode) -> PartStatistics {
        let (items, fill) = (read.data.items(), self.fill.as_ref().and_then(FillValue::item));
        if self.kind == Kind::SmallFloat {
            let fill = fill.and_then(|fill| small_floats(&self.data_type, fill).first().copied());
            return scanned(&small_floats(&self.data_type, items), fill, shape, mode);
        }
        if let (Kind::Truth, Some(missing)) = (self.kind, &read.missing) {
            let value = |(item, missing): (&u8, &bool)| Time::of(if *missing { i64::MIN } else { i64::from(*item) });
            let values: Vec<Time> = items.iter().zip(missing).map(value).collect();
            return scanned(&values, None, shape, mode);
        }
        (self.scalar().part)(items, fill, shape, mode)
    }

    fn complex(&self, read: &PartData, shape: Option<RowShape>, mode: Mode) -> PartStatistics {
        let (real, imaginary) = complex(&self.data_type, read.data.items());
        let magnitude = |(real, imaginary): (&f64, &f64)| match real.is_nan() || imaginary.is_nan() {
            true => f64::NAN,
            false => real.hypot(*imaginary),
        };
        let magnitudes: Vec<f64> = real.iter().zip(&imaginary).map(magnitude).collect();
        let of_parts = |parts: &[f64], magnitudes: &[f64]| {
            let numbers = parts.iter().zip(magnitudes).filter(|(_, magnitude)| !magnitude.is_nan());
            moments(&numbers.map(|(part, _)| *part).collect::<Vec<f64>>())
        };
        let mut part = scanned(&magnitudes, None, shape, mode);
        part.complex = Some((of_parts(&real, &magnitudes), of_parts(&imaginary, &magnitudes)));
        if let Some(shape) = shape {
            let [mut reals, mut imaginaries, mut of_row] = <[Vec<f64>; 3]>::default();
            for (number, row) in part.rows.iter_mut().enumerate() {
                shape.gather(&real, number, &mut reals);
                shape.gather(&imaginary, number, &mut imaginaries);
                shape.gather(&magnitudes, number, &mut of_row);
                row.moments = of_parts(&reals, &of_row);
                row.imaginary = Some(Box::new(of_parts(&imaginaries, &of_row)));
            }
        }
        if let Some(fill) = self.fill.as_ref().and_then(FillValue::item) {
            let items = read.data.items().chunks_exact(fill.len().max(1));
            part.scanned.fill = items.filter(|item| *item == fill).count() as u128;
        }
        part
    }

    fn texts(&self, read: &PartData, shape: Option<RowShape>, mode: Mode) -> PartStatistics {
        let mut words = Words::new(self.memory);
        let mut lengths = Vec::with_capacity(read.data.len());
        let fill = self.fill.as_ref().map(|fill| match fill.item() {
            Some(item) => fixed_text(&self.data_type, item).into_owned(),
            None => fill.bytes().to_vec(),
        });
        let mut filled = 0;
        let mut add = |number: usize, text: &[u8]| {
            if read.missing.as_ref().and_then(|missing| missing.get(number)) == Some(&true) {
                lengths.push(Time::of(i64::MIN));
                return;
            }
            filled += u128::from(fill.as_deref() == Some(text));
            let characters = || String::from_utf8_lossy(text).chars().count();
            let length = if self.kind == Kind::Text { characters() } else { text.len() };
            lengths.push(Time::of(i64::try_from(length).unwrap_or(i64::MAX)));
            words.add(text, 1);
        };
        match read.data.variable() {
            Some(texts) => texts.enumerate().for_each(|(number, text)| add(number, text)),
            None => {
                let size = self.data_type.item_size().max(1);
                for (number, item) in read.data.items().chunks_exact(size).enumerate() {
                    add(number, &fixed_text(&self.data_type, item));
                }
            }
        }
        let mut part = scanned(&lengths, None, shape, mode);
        part.words = Some(words);
        part.scanned.fill = filled;
        part
    }
}

/// Function that scans elements in memory form, and counts those that equal a fill value.
type OfElements = fn(&[u8], Option<&[u8]>, Option<RowShape>, Mode) -> PartStatistics;

/// Type of numbers in memory form, by its functions.
struct Scalar {
    keys: Keys,
    part: OfElements,
}

impl Scalar {
    fn of<T: KeyedNumber>() -> Self {
        let part = |items: &[u8], fill: Option<&[u8]>, shape, mode| {
            let fill = fill.and_then(|fill| T::load(fill).first().copied());
            scanned(&T::load(items), fill, shape, mode)
        };
        Self { keys: Keys::of::<T>(), part }
    }
}

fn moments(values: &[f64]) -> Moments {
    let mut moments = Moments::default();
    values.chunks(512).for_each(|block| moments.merge(&Moments::block(block)));
    moments
}

fn scanned<T: KeyedNumber>(values: &[T], fill: Option<T>, shape: Option<RowShape>, mode: Mode) -> PartStatistics {
    let mut rows = Vec::new();
    if let Some(shape) = shape {
        let (mut of_row, mut scratch) = (Vec::new(), Scratch::default());
        rows.reserve_exact(shape.rows);
        for row in 0..shape.rows {
            shape.gather(values, row, &mut of_row);
            let scanned = scan_in(&mut scratch, &of_row, None, Mode::Nothing);
            let (least, greatest) = (scanned.least.map(|(key, _)| key), scanned.greatest.map(|(key, _)| key));
            rows.push(RowTotals { moments: scanned.moments, imaginary: None, nan: scanned.nan, least, greatest });
        }
    }
    PartStatistics { scanned: scan(values, fill, mode), complex: None, words: None, rows }
}
