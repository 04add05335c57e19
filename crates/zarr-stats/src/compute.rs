//! Computing statistics, part by part.

use crate::distribution::{Mode, Quantile as Found, Ranks};
use crate::kind::Kind;
use crate::options::StatsOptions;
use crate::part::{Look, Part, Row};
use crate::present::Present;
use crate::source::{PartData, Source};
use crate::statistics::{Extreme, Histogram, Numbers, Quantile, Rows, Statistics, Texts, average};
use crate::totals::{Extreme as FoundExtreme, Totals};
use crate::walk::Parts;
use zarr_array::{Array, Error, ErrorKind, IntoSelection, Result};
use zarr_dataset::Dataset;
use zarr_dtype::DataType;
use zarr_grid::{Region, Resolved, Selection, total_size};

/// Rows of one axis.
const MOST_ROWS: u64 = 1 << 20;
/// Of the memory, a share for values that are kept one by one.
const KEPT: u64 = 4;

impl Statistics {
    /// Of the elements of an array as they are stored.
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
    /// [`ErrorKind::Argument`] for structs without a field, a share that is none, an axis that the array has not, or one of more than
    /// 1,048,576 indices; [`ErrorKind::Limit`] if a chunk or the rows need more memory; and as reads of arrays.
    pub fn of(array: &Array, selection: impl IntoSelection, options: &StatsOptions) -> Result<Self> {
        Self::of_with(array, selection, options, &|_| {})
    }

    /// As [`of`](Self::of), and calls a function with how many more elements are done.
    ///
    /// # Errors
    /// As there.
    pub fn of_with(
        array: &Array,
        selection: impl IntoSelection,
        options: &StatsOptions,
        progress: &dyn Fn(u128),
    ) -> Result<Self> {
        let source = Source::Array { array, field: options.field.as_deref() };
        of_source(&source, &selection.into_selection()?, false, options, progress)
    }

    /// Of the values of a variable of a data set, decoded by the CF conventions, with the selection that it has there.
    ///
    /// # Errors
    /// As [`of`](Self::of), and as reads of variables; [`ErrorKind::Argument`] for points that are selected along several axes at once.
    pub fn of_variable(dataset: &Dataset, name: &str, options: &StatsOptions, progress: &dyn Fn(u128)) -> Result<Self> {
        let variable = dataset.variable(name)?;
        let Some(array) = variable.decoded()? else {
            let source = Source::variable(dataset, name)?;
            return of_source(&source, &Selection::all(), true, options, progress);
        };
        let selection = variable.stored_selection();
        let selection = selection.ok_or_else(|| Error::argument("points of several dimensions are selected"))?;
        let source = Source::Array { array, field: None };
        of_source(&source, &selection, true, options, progress)
    }
}

fn of_source(
    source: &Source<'_>,
    selection: &Selection,
    is_decoded: bool,
    options: &StatsOptions,
    progress: &dyn Fn(u128),
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
    let fill = (!is_decoded && !is_field).then(|| array.fill_value().clone());
    let look = Look { data_type, kind, fill, is_masked: !source.has_chunks(), along: options.along };
    let rows = options.along.map_or(Ok(0), |axis| rows(axis, &output, options.memory))?;
    let most = usize::try_from(options.memory / KEPT / 8).unwrap_or(usize::MAX);
    let mut totals = Totals::new(look.keys(), rows, most);
    let elements = total_size(&output, 1);
    let walked = match &resolved {
        Resolved::Box(selected) => walk(source, &selected.region, &look, &mut totals, options, progress)?,
        _ => whole(source, selection, &output, &look, &mut totals, options)?,
    };
    let counts = Counts { elements, unstored: walked.unstored, is_indexed: walked.is_indexed };
    let (first, step) = match (&resolved, options.along) {
        (Resolved::Box(selected), Some(axis)) => {
            selected.region.axes().get(axis).map_or((0, 1), |range| (range.start, range.step))
        }
        _ => (0, 1),
    };
    let rows = options.along.map(|axis| (axis, first, step));
    let shape = resolved.result_shape().to_vec();
    Ok(finish(totals, look, &counts, rows, shape, is_decoded, options))
}

/// The number of rows along an axis.
fn rows(axis: usize, output: &[u64], memory: u64) -> Result<usize> {
    let Some(&rows) = output.get(axis) else {
        return Err(Error::argument(format!("axis {axis} of an array of {} dimensions", output.len())));
    };
    let fit = (memory / KEPT) / size_of::<Row>() as u64;
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

struct Walked {
    unstored: Option<u128>,
    is_indexed: bool,
}

/// Goes through a region part by part.
fn walk(
    source: &Source<'_>,
    region: &Region,
    look: &Look,
    totals: &mut Totals,
    options: &StatsOptions,
    progress: &dyn Fn(u128),
) -> Result<Walked> {
    let mut parts = Parts::new(source, region, options.memory)?;
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
        let looked: Vec<(u64, Part)> = match source.read_together(&batch)? {
            Some(read) => {
                let pairs: Vec<(PartData, &Region)> = read.into_iter().zip(&batch).collect();
                array.map_parallel(pairs, |(read, region)| (1, look.part(&read, region, mode)))?
            }
            None => {
                let look_at = |region: &Region| {
                    let read = source.read(region)?;
                    let values = read.data.len() as u64 / region.len_checked().unwrap_or(0).max(1);
                    Ok((values, look.part(&read, region, mode)))
                };
                array.map_parallel(batch.iter().collect(), look_at)?.into_iter().collect::<Result<_>>()?
            }
        };
        for ((of_element, part), part_region) in looked.into_iter().zip(&batch) {
            values = of_element.max(1);
            totals.merge(part, part_region, values, first_row(region, part_region, look.along));
        }
        progress(elements);
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
        progress(unstored);
    }
    let can_list = source.has_chunks() && array.store().capabilities().list;
    Ok(Walked { unstored: can_list.then_some(unstored), is_indexed: true })
}

/// The number of the first row of a part among those of the region.
fn first_row(region: &Region, part: &Region, along: Option<usize>) -> usize {
    let axes = along.and_then(|axis| region.axes().get(axis).zip(part.axes().get(axis)));
    axes.map_or(0, |(all, part)| usize::try_from((part.start - all.start) / all.step.max(1)).unwrap_or(usize::MAX))
}

/// Reads lists of indices, masks and coordinates as a whole: the arguments that hold them are in memory anyway.
fn whole(
    source: &Source<'_>,
    selection: &Selection,
    output: &[u64],
    look: &Look,
    totals: &mut Totals,
    options: &StatsOptions,
) -> Result<Walked> {
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
    Ok(Walked { unstored: None, is_indexed: false })
}

fn finish(
    mut totals: Totals,
    look: Look,
    counts: &Counts,
    rows: Option<(usize, u64, u64)>,
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
    let values = totals.moments.count + totals.nan;
    let all = std::mem::take(&mut totals.rows);
    let rows = rows.map(|(axis, first, step)| Rows { axis, first, step, rows: all, present: present.clone() });
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
    let (min, max) = (extreme(totals.least), extreme(totals.greatest));
    let average = average(&totals.moments, totals.complex.as_ref().map(|(real, imaginary)| (real, imaginary)), present);
    let ranks = totals.distribution.finish();
    let quantile = |&share: &f64| {
        let value = match ranks.quantile(share)? {
            // Samples may lack the extremes.
            _ if share == 0.0 => min.as_ref()?.value.clone(),
            _ if share == 1.0 => max.as_ref()?.value.clone(),
            Found::Key(key) => present.key(key),
            Found::Between(value) => present.computed(value),
        };
        Some(Quantile { share, value })
    };
    let (is_time, moments) = (present.kind == Kind::Time, &totals.moments);
    Numbers {
        count: moments.count,
        infinite: totals.infinite,
        integer_sum: moments.integers.filter(|_| !is_time),
        sum: if is_time { f64::NAN } else { moments.sum() },
        mean: average.0,
        imaginary_mean: average.1,
        std: average.2,
        quantiles: options.quantiles.iter().filter_map(quantile).collect(),
        rank_error: ranks.error(),
        histogram: histogram(&ranks, min.as_ref().zip(max.as_ref()), present, options.bins),
        min,
        max,
    }
}

fn histogram(
    ranks: &Ranks,
    extremes: Option<(&Extreme, &Extreme)>,
    present: &Present,
    bins: usize,
) -> Option<Histogram> {
    let (min, max) = extremes?;
    let (least, greatest) = (min.value.float, max.value.float);
    let is_finite = least.is_finite() && greatest.is_finite();
    let (least, greatest) = if is_finite { (least, greatest) } else { ranks.finite_range()? };
    if bins == 0 {
        return None;
    }
    // As numpy has it: one value lies in the middle of a range of 1.
    let (low, high) = if least == greatest { (least - 0.5, greatest + 0.5) } else { (least, greatest) };
    let edge = |number: usize| match number == bins {
        true => high,
        // In halves, since the range of two floats may be too large for one.
        false => low + (high / 2.0 - low / 2.0) / bins as f64 * number as f64 * 2.0,
    };
    let edges: Vec<f64> = (0..=bins).map(edge).collect();
    let counts = ranks.histogram(&edges);
    Some(Histogram { edges: edges.into_iter().map(|edge| present.computed(edge)).collect(), counts })
}
