//! Computation of statistics, part by part.
//!
//! Whole chunks are processed, as many at a time as fit into memory, each in one pass. The results of parts are merged in order, so that
//! they do not depend on threads. Values for quantiles are stored one by one until they exceed a quarter of the memory, and then as
//! samples. Chunks that a listing does not show count as fill values, without a read; if the store refuses listings, each chunk is
//! requested.

use crate::distribution::{Mode, QuantileValue, Ranks};
use crate::element_source::{ElementSource, PartData};
use crate::kind::Kind;
use crate::moments::Moments;
use crate::options::StatsOptions;
use crate::part_statistics::{Look, PartStatistics, RowTotals};
use crate::positions::{AxisPositions, Positions};
use crate::present::Present;
use crate::statistics::{Extreme, Histogram, Numbers, Quantile, Rows, Statistics, Texts, average};
use crate::totals::{Extreme as FoundExtreme, Totals};
use zarr_array::{Array, Error, ErrorKind, IntoFlow, IntoSelection, Result};
use zarr_dataset::Dataset;
use zarr_dtype::DataType;
use zarr_grid::{Region, Resolved, Selection, total_size};
use zarr_scan::ChunkParts;

/// Maximum number of rows along an axis.
const MOST_ROWS: u64 = 1 << 20;
/// Divisor of the memory for the share of values that are stored one by one.
const KEPT: u64 = 4;
/// Number of bytes for the count and the length of a string.
const TEXT: u64 = 128;

impl Statistics {
    /// Computes the statistics of the elements of an array as they are stored, without decoding by conventions.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use zarr_array::{Array, NewArray, Registry, Store};
    /// use zarr_stats::{Statistics, StatsOptions};
    ///
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    /// let new = NewArray::new(&[100], "float32").chunks(&[10]).codecs("bytes")?;
    /// let array = Array::create(&store, "/a", new, &Arc::new(registry))?;
    /// array.write(0..4, &[1.0_f32, 4.0, f32::NAN, 3.0])?;
    /// let statistics = Statistics::of(&array, 0..4, &StatsOptions::default())?;
    /// assert_eq!((statistics.elements, statistics.nan), (4, 1));
    /// assert_eq!(statistics.numbers.max.unwrap().index, Some(vec![1]));
    /// assert_eq!(statistics.numbers.quantiles[3].value.float, 3.0);
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for structs without a field, an invalid share of a quantile, an axis that the array does not have, an axis
    /// of more than 1,048,576 indices, or rows along an axis of points; [`ErrorKind::Limit`] if a chunk or the rows need more memory; and
    /// the errors of reads of arrays.
    pub fn of(array: &Array, selection: impl IntoSelection, options: &StatsOptions) -> Result<Self> {
        Self::of_with(array, selection, options, |_| {})
    }

    /// Computes statistics as [`of`](Self::of) does, and calls `progress` with the number of elements that were processed since the last
    /// call. `progress` [may cancel](IntoFlow).
    ///
    /// # Errors
    /// The errors of [`of`](Self::of), and [`ErrorKind::Cancelled`].
    pub fn of_with<F: IntoFlow>(
        array: &Array,
        selection: impl IntoSelection,
        options: &StatsOptions,
        progress: impl Fn(u128) -> F,
    ) -> Result<Self> {
        let source = ElementSource::Array { array, field: options.field.as_deref() };
        let progress = |elements: u128| progress(elements).into_result();
        of_source(&source, &selection.into_selection()?, None, false, options, &progress)
    }

    /// Computes the statistics of the values of variable `name` of a data set, decoded by the CF conventions, within the selection of the
    /// data set.
    ///
    /// # Errors
    /// The errors of [`of_with`](Self::of_with), and of reads of variables; [`ErrorKind::Argument`] if points are selected along several
    /// axes at once.
    pub fn of_variable<F: IntoFlow>(
        dataset: &Dataset,
        name: &str,
        options: &StatsOptions,
        progress: impl Fn(u128) -> F,
    ) -> Result<Self> {
        let progress = &|elements: u128| progress(elements).into_result();
        let variable = dataset.variable(name)?;
        let selection = variable.stored_selection();
        let selection = selection.ok_or_else(|| Error::argument("points of several dimensions are selected"))?;
        let Some(array) = variable.decoded_whole()? else {
            let source = ElementSource::variable(dataset, name)?;
            let places = Positions::of(&selection.resolve_on(source.array().chunk_grid())?)?;
            let places = places.leading(source.grid().rank());
            return of_source(&source, &Selection::all(), Some(places), true, options, progress);
        };
        let source = ElementSource::Array { array, field: None };
        of_source(&source, &selection, None, true, options, progress)
    }
}

/// Computes the statistics of a selection of a source. `places` are the positions of the source's elements in the array, if the source has
/// other axes than the array.
fn of_source(
    source: &ElementSource<'_>,
    selection: &Selection,
    places: Option<Positions>,
    is_decoded: bool,
    options: &StatsOptions,
    progress: &dyn Fn(u128) -> Result<()>,
) -> Result<Statistics> {
    check(options)?;
    let array = source.array();
    let resolved = selection.resolve_on(source.grid())?;
    // Of an empty selection, which reads no data: the type of the values.
    let output = resolved.output_shape();
    let none = Region::from_ranges(&vec![0..0; source.grid().rank()]);
    let is_field = options.field.is_some();
    let data_type = source.read(&none)?.data.data_type().clone();
    let kind = Kind::of(&data_type)?;
    // Version 2 has arrays without a fill value.
    let has_fill = !is_decoded && !is_field && array.metadata().fill_value.is_some();
    let fill = has_fill.then(|| array.fill_value().clone());
    let (is_masked, along, memory) = (!source.has_chunks(), options.along, options.memory);
    let look = Look { data_type, kind, fill, is_masked, along, memory };
    let rows = along.map_or(Ok(0), |axis| rows(axis, kind, &output, memory))?;
    let row_places = match (along, &places) {
        (None, _) => None,
        (Some(axis), Some(places)) => places.selected_axis(axis).cloned(),
        // Of a box the rows are in ascending order.
        (Some(axis), None) => match &resolved {
            Resolved::Box(selected) => {
                let range = selected.region.axes().get(axis);
                range.map(|&range| AxisPositions::Range { range, is_flipped: false })
            }
            _ => Positions::of(&resolved)?.axis(axis).cloned(),
        },
    };
    let most = usize::try_from(options.memory / KEPT / 8).unwrap_or(usize::MAX);
    let mut totals = Totals::new(look.keys(), rows, most, memory);
    let elements = total_size(&output, 1);
    let walked = match &resolved {
        Resolved::Box(selected) => walk(source, &selected.region, &look, &mut totals, options, progress)?,
        _ => {
            let walked = whole(source, selection, &output, &look, &mut totals, options)?;
            progress(elements)?;
            walked
        }
    };
    let counts = Counts { elements, unstored: walked.unstored, is_indexed: walked.is_indexed };
    if let Some(places) = &places {
        let extremes = totals.least.iter_mut().chain(totals.greatest.iter_mut());
        extremes.for_each(|extreme| extreme.index = places.index(&extreme.index));
    }
    let rows = along.zip(row_places);
    let shape = resolved.result_shape().to_vec();
    Ok(finish(totals, look, &counts, rows, shape, is_decoded, options))
}

/// Number of bytes of a row; rows of complex numbers have moments of the imaginary parts, too.
fn row_size(kind: Kind) -> u64 {
    let imaginary = if kind == Kind::Complex { size_of::<Moments>() } else { 0 };
    (size_of::<RowTotals>() + imaginary) as u64
}

/// Number of rows along `axis`; an error if there are too many, or if they do not fit into memory.
fn rows(axis: usize, kind: Kind, output: &[u64], memory: u64) -> Result<usize> {
    let Some(&rows) = output.get(axis) else {
        return Err(Error::argument(format!("axis {axis} of an array of {} dimensions", output.len())));
    };
    let fit = (memory / KEPT) / row_size(kind);
    match usize::try_from(rows) {
        Ok(rows) if rows as u64 <= fit.min(MOST_ROWS) => Ok(rows),
        _ if rows > MOST_ROWS => {
            let error =
                Error::argument(format!("axis {axis} has {rows} indices, of which at most {MOST_ROWS} have rows"));
            Err(error.with_hint("select fewer of them"))
        }
        _ => {
            let message = format!(
                "axis {axis} has {rows} indices, for {fit} of which there are rows in a memory of {memory} bytes"
            );
            Err(Error::new(ErrorKind::Limit, message).with_hint("select fewer of them, or give more memory"))
        }
    }
}

fn check(options: &StatsOptions) -> Result<()> {
    match options.quantiles.iter().find(|share| !(0.0..=1.0).contains(*share)) {
        Some(share) => Err(Error::argument(format!("quantile {share}: expected a share from 0 to 1"))),
        None if options.bins > 10_000 => Err(Error::argument(format!("{} bins, expected at most 10000", options.bins))),
        None => Ok(()),
    }
}

struct Counts {
    elements: u128,
    unstored: Option<u128>,
    is_indexed: bool,
}

struct WalkResult {
    unstored: Option<u128>,
    is_indexed: bool,
}

/// Statistics of a part, and what its read tells about the sizes of elements.
struct PartResult {
    /// Number of values of an element: more than one for a field that is an array.
    values: u64,
    /// Number of bytes of all elements, if they are of variable length.
    bytes: Option<u64>,
    part: PartStatistics,
}

/// Sizes that determine how much memory the statistics of a part take until they are merged.
#[derive(Clone, Copy, Debug)]
struct Results {
    /// Axis of the rows, and the number of bytes of a row; `None` without rows.
    rows: Option<(usize, u64)>,
    /// Number of bytes of a table of counts; 0 if there is no such table.
    counts: u64,
    /// Number of bytes for each element.
    element: u64,
}

impl Results {
    fn size(&self, part: &Region) -> u64 {
        let len = part.len_checked().unwrap_or(u64::MAX);
        let elements = len.saturating_mul(self.element);
        // Of few values, the values are kept.
        let counts = self.counts.min(len.saturating_mul(8));
        let rows = self.rows.and_then(|(axis, row)| Some(part.axes().get(axis)?.len.saturating_mul(row)));
        elements.saturating_add(counts).saturating_add(rows.unwrap_or(0))
    }
}

/// Processes a region part by part, and merges the statistics of the parts into `totals`.
fn walk(
    source: &ElementSource<'_>,
    region: &Region,
    look: &Look,
    totals: &mut Totals,
    options: &StatsOptions,
    progress: &dyn Fn(u128) -> Result<()>,
) -> Result<WalkResult> {
    let results = Results {
        rows: look.along.map(|axis| (axis, row_size(look.kind))),
        counts: if totals.keys().bits <= 16 { 8 << totals.keys().bits } else { 0 },
        element: if look.kind.is_textual() { TEXT } else { 0 },
    };
    let mut parts = ChunkParts::new(&source.layout(), region, options.memory, |part| results.size(part))?;
    let (unstored, first) = parts.unstored(region);
    let array = source.array();
    // Values of an element, which is more than one of a field that is an array.
    let mut values = 1;
    loop {
        let batch = parts.next_batch();
        if batch.is_empty() {
            break;
        }
        let size = |part: &Region| total_size(&part.shape(), 1);
        let elements: u128 = batch.iter().map(size).sum();
        let mode = totals.distribution.mode(u64::try_from(elements).unwrap_or(u64::MAX).saturating_mul(values));
        let looked: Vec<PartResult> = match source.read_together(&batch)? {
            Some(read) => {
                let pairs: Vec<(PartData, &Region)> = read.into_iter().zip(&batch).collect();
                array.map_parallel(pairs, |(read, region)| PartResult {
                    values: 1,
                    bytes: None,
                    part: look.part(&read, region, mode),
                })?
            }
            None => {
                let look_at = |region: &Region| {
                    let read = source.read(region)?;
                    let values = read.data.len() as u64 / region.len_checked().unwrap_or(0).max(1);
                    let bytes = read.data.variable().map(|texts| texts.map(|text| text.len() as u64).sum());
                    Ok(PartResult { values, bytes, part: look.part(&read, region, mode) })
                };
                array.map_parallel(batch.iter().collect(), look_at)?.into_iter().collect::<Result<_>>()?
            }
        };
        for (PartResult { values: of_element, bytes, part }, part_region) in looked.into_iter().zip(&batch) {
            values = of_element.max(1);
            if let Some(bytes) = bytes {
                parts.learn(part_region.len_checked().unwrap_or(0), bytes);
            }
            totals.merge(part, part_region, values, first_row(region, part_region, look.along));
        }
        progress(elements)?;
    }
    if let Some(first) = first.filter(|_| unstored > 0) {
        let index: Vec<u64> = first.axes().iter().map(|range| range.start).collect();
        let one = Region::from_ranges(&index.iter().map(|&at| at..at + 1).collect::<Vec<_>>());
        let read = source.read(&one)?;
        values = (read.data.len() as u64).max(1);
        let part = look.part(&read, &one, Mode::Keys);
        let rows = totals.rows.len().max(1) as u128;
        let all = total_size(&region.shape(), values);
        totals.repeat(&part, &index, unstored, all / rows);
        progress(unstored)?;
    }
    Ok(WalkResult { unstored: parts.are_listed().then_some(unstored), is_indexed: true })
}

/// Number of the first row of `part` among the rows of `region`.
fn first_row(region: &Region, part: &Region, along: Option<usize>) -> usize {
    let axes = along.and_then(|axis| region.axes().get(axis).zip(part.axes().get(axis)));
    axes.map_or(0, |(all, part)| usize::try_from((part.start - all.start) / all.step.max(1)).unwrap_or(usize::MAX))
}

/// Processes a selection by lists of indices, masks or coordinates as a whole, since the arguments with these lists are in memory anyway.
fn whole(
    source: &ElementSource<'_>,
    selection: &Selection,
    output: &[u64],
    look: &Look,
    totals: &mut Totals,
    options: &StatsOptions,
) -> Result<WalkResult> {
    let bytes = total_size(output, source.item_size());
    if bytes > u128::from(options.memory / 4) {
        let (memory, most) = (options.memory, options.memory / 4);
        let message = format!("{bytes} bytes are selected by lists, of which a memory of {memory} bytes allows {most}");
        return Err(Error::new(ErrorKind::Limit, message).with_hint("select ranges, which are read part by part"));
    }
    let data = source.read_selection(selection)?;
    let region = Region::whole(output);
    let values = data.data.len() as u64 / region.len_checked().unwrap_or(0).max(1);
    let mode = totals.distribution.mode(data.data.len() as u64);
    let part = look.part(&data, &region, mode);
    totals.merge(part, &region, values, 0);
    Ok(WalkResult { unstored: None, is_indexed: false })
}

fn finish(
    mut totals: Totals,
    look: Look,
    counts: &Counts,
    rows: Option<(usize, AxisPositions)>,
    shape: Vec<u64>,
    is_decoded: bool,
    options: &StatsOptions,
) -> Statistics {
    let kind = look.kind;
    // Lengths of texts, and bools of which some are missing, are integers.
    let (shown, shown_type) = match kind {
        Kind::Text | Kind::Bytes => (Kind::Number, DataType::Int64),
        Kind::Truth => (Kind::Number, if look.is_masked { DataType::Int64 } else { DataType::UInt8 }),
        kind => (kind, look.data_type.clone()),
    };
    let present = Present { data_type: shown_type, kind: shown, keys: totals.keys() };
    let values = totals.moments.count.saturating_add(totals.nan);
    let all = std::mem::take(&mut totals.rows);
    let rows = rows.map(|(axis, places)| Rows { axis, places, rows: all, present: present.clone() });
    let texts = kind.is_textual().then(|| {
        let (common, missed) = totals.words.most_common(options.common);
        Texts { distinct: totals.words.distinct(), common, missed }
    });
    Statistics {
        data_type: look.data_type,
        kind,
        is_decoded,
        shape,
        elements: counts.elements,
        values,
        unstored: counts.unstored,
        fill: look.fill.is_some().then_some(totals.fill),
        nan: totals.nan,
        numbers: numbers(totals, &present, counts.is_indexed, options),
        texts,
        rows,
    }
}

fn numbers(totals: Totals, present: &Present, is_indexed: bool, options: &StatsOptions) -> Numbers {
    let extreme = |found: Option<FoundExtreme>| {
        found.map(|found| Extreme { value: present.key(found.key), index: is_indexed.then_some(found.index) })
    };
    let range = totals.least.as_ref().zip(totals.greatest.as_ref()).map(|(least, greatest)| (least.key, greatest.key));
    let (min, max) = (extreme(totals.least), extreme(totals.greatest));
    let finite = totals.finite.map(|keys| keys.map(|key| present.key(key)));
    let average = average(&totals.moments, totals.complex.as_ref().map(|(real, imaginary)| (real, imaginary)), present);
    let ranks = totals.distribution.finish();
    let quantile = |&share: &f64| {
        let value = match ranks.quantile(share)? {
            // Samples may lack the extremes.
            _ if share == 0.0 => min.as_ref()?.value.clone(),
            _ if share == 1.0 => max.as_ref()?.value.clone(),
            QuantileValue::Key(key) => present.key(key),
            QuantileValue::Between(value, nearest) => present.computed(value, nearest),
        };
        Some(Quantile { share, value })
    };
    let (is_time, moments) = (present.kind == Kind::Time, &totals.moments);
    Numbers {
        count: moments.count,
        infinite: totals.infinite,
        integer_sum: match moments.count {
            // No values make no block that has a sum.
            0 => (present.keys.is_integer && !is_time).then_some(0),
            _ => moments.integers.filter(|_| !is_time),
        },
        sum: if is_time { f64::NAN } else { moments.sum() },
        mean: average.0,
        imaginary_mean: average.1,
        std: average.2,
        quantiles: options.quantiles.iter().filter_map(quantile).collect(),
        rank_error: ranks.error(),
        histogram: histogram(&ranks, range, present, options.bins),
        min,
        max,
        finite,
    }
}

/// Makes the histogram of values. `range` has the keys of the least and the greatest value; `None` without finite values or without bins.
fn histogram(ranks: &Ranks, range: Option<(u64, u64)>, present: &Present, bins: usize) -> Option<Histogram> {
    let (least, greatest) = range?;
    if bins == 0 {
        return None;
    }
    let whole = [least, greatest].map(present.keys.integer);
    if present.keys.is_integer && whole.iter().any(|value| present.is_whole(*value)) {
        return Some(whole_histogram(ranks, whole, present, bins));
    }
    let (least, greatest) = ((present.keys.float)(least), (present.keys.float)(greatest));
    let is_finite = least.is_finite() && greatest.is_finite();
    let (least, greatest) = if is_finite { (least, greatest) } else { ranks.finite_range()? };
    // As numpy has it: one value lies in the middle of a range of 1.
    let (low, high) = if least == greatest { (least - 0.5, greatest + 0.5) } else { (least, greatest) };
    let edge = |number: usize| match number == bins {
        true => high,
        // In halves, since the range of two floats may be too large for one.
        false => low + (high / 2.0 - low / 2.0) / bins as f64 * number as f64 * 2.0,
    };
    let edges: Vec<f64> = (0..=bins).map(edge).collect();
    let counts = ranks.histogram(&edges);
    Some(Histogram { edges: edges.into_iter().map(|edge| present.computed(edge, None)).collect(), counts })
}

/// Makes the histogram of times, or of integers with more digits than floats have. Its edges are times or integers, too.
fn whole_histogram(ranks: &Ranks, [least, greatest]: [i128; 2], present: &Present, bins: usize) -> Histogram {
    let apart = greatest.saturating_sub(least);
    // The distance of 64-bit integers times the number of bins fits 128 bits.
    let edge = |number: usize| least + apart.saturating_mul(number as i128) / (bins as i128).max(1);
    let edges: Vec<i128> = (0..=bins).map(edge).collect();
    let counts = ranks.integer_histogram(&edges);
    let shown = |&edge: &i128| present.computed(edge as f64, Some(edge));
    Histogram { edges: edges.iter().map(shown).collect(), counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of rows are those in the help of the command.
    #[test]
    fn rows_take_so_many_bytes() {
        assert_eq!((row_size(Kind::Number), row_size(Kind::Complex)), (144, 224));
    }
}
