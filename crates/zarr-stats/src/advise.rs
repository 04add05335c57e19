//! Advice on the layout of arrays: which chunks, shards and codecs suit the reads and writes that are done.
//!
//! ```text
//! Access, Storage, Prices   what is done, where, and for how much
//!    │
//! Problem    shapes of chunks and shards, compared roughly (search)
//!    │
//! RequestCounter            requests and bytes of the best of them, by plans of the reader (count), and of those beside them (climb)
//!    │
//! Sample     codecs, measured on elements of the array for few shapes (sample)
//!    │
//! Advice     at most three layouts, none of which is worse than another in all accesses
//! ```
//!
//! An access takes `latency × max(rounds, requests / concurrency) + bytes / bandwidth + decoding or encoding`. Requests and bytes are those
//! that [`zarr_array::Array::plan`] counts, for places that are spread over the array; decoding is measured on this machine, and so is
//! what a read takes beside it: a little for each read, each chunk and each byte of the result.

mod access;
mod choose;
mod chunk_store;
mod climb;
mod cost;
mod count;
mod options;
mod overhead;
mod probe;
mod search;
mod storage;
mod subject;

pub use crate::sample::Measured;
pub use access::Access;
pub use cost::{AccessCost, Layout, LayoutCost, PLACES};
pub use count::{CountedLayout, RequestCount, RequestCounter};
pub use options::AdviseOptions;
pub use storage::{Prices, Storage};
pub use subject::Subject;

use crate::bench::candidates;
use crate::lossless::keeps_numbers;
use crate::sample::Sample;
use climb::Counted;
use cost::Costs;
use search::{AxisLengths, Problem};
use subject::{chain_json, unmeasured};
use zarr_array::{Error, Result};
use zarr_grid::total_size;

/// Number of codecs that are measured for the shapes of the layouts in the end.
const FINALISTS: usize = 3;

/// Advice on an array.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Advice {
    /// Layout that the array has; `None` for the description of one, and for a layout with more parts than are planned.
    pub present: Option<LayoutCost>,
    /// Recommended layouts, at most three: first the one in which no access is far from its best, then those that are better for one
    /// access and worse for another.
    pub layouts: Vec<LayoutCost>,
    /// Index of the access for which each of [`layouts`](Self::layouts) is recommended; `None` for the first.
    pub best_for: Vec<Option<usize>>,
    /// Smallest number of seconds of each access among all layouts that were counted.
    pub least: Vec<f64>,
    /// Number of layouts that were counted.
    pub counted: usize,
    /// Number of bytes of elements on which codecs were measured; 0 if there was nothing to measure on, so that elements count as they are.
    pub sample: u64,
    /// Accesses in the order of the costs of a layout: first the reads, then the writes.
    pub accesses: Vec<Access>,
    reads: usize,
}

impl Advice {
    /// Gives advice on an array.
    ///
    /// # Errors
    /// [`zarr_array::ErrorKind::Argument`] if there are no reads and no writes, or if the array has no dimension that they name; the errors of reads
    /// of the sample.
    pub fn on(subject: &Subject, options: &AdviseOptions) -> Result<Self> {
        let (axes, sample) = prepared(subject, options)?;
        let costs = Costs::new(subject, &axes, options)?;
        let present = costs.of_present(sample.as_ref())?;
        let finalists = finalists(&measure(subject, sample.as_ref(), options)?, options);
        let Some(first) = finalists.first() else {
            return Err(Error::argument("no codecs that lose nothing could be measured"));
        };
        let problem = Problem {
            shape: &subject.shape,
            item: subject.item,
            accesses: &axes,
            storage: &options.storage,
            codecs: first,
            has_shards: subject.has_shards,
        };
        let counted = Counted::of(costs, problem, first)?.layouts;
        let least = choose::least(&counted, axes.len());
        let chosen = choose::choose(&counted, &least);
        let mut layouts = Vec::with_capacity(chosen.len());
        for &(number, _) in &chosen {
            if let Some(layout) = counted.get(number) {
                layouts.push(costs.with_best_codecs(layout, &finalists, sample.as_ref())?);
            }
        }
        let best_for = chosen.into_iter().map(|(_, best_for)| best_for).collect();
        let sample = sample.map_or(0, |sample| sample.data.items().len() as u64);
        let accesses = options.reads.iter().chain(&options.writes).cloned().collect();
        Ok(Self {
            present,
            layouts,
            best_for,
            least,
            counted: counted.len(),
            sample,
            accesses,
            reads: options.reads.len(),
        })
    }

    /// Whether an access, given by its index, is a write.
    pub fn is_write(&self, access: usize) -> bool {
        access >= self.reads
    }

    /// Costs of the layout that a stored array has; `None` for the description of one, and for a layout with more parts than are planned.
    ///
    /// # Errors
    /// As those of [`on`](Self::on).
    pub fn present_cost(subject: &Subject, options: &AdviseOptions) -> Result<Option<LayoutCost>> {
        let (axes, sample) = prepared(subject, options)?;
        Costs::new(subject, &axes, options)?.of_present(sample.as_ref())
    }

    /// Costs of a layout of the array that was found for another one, such as another variable of its data set. The codecs are measured on
    /// the elements of this array.
    ///
    /// # Errors
    /// As those of [`on`](Self::on), and [`zarr_array::ErrorKind::Argument`] if the array cannot have the codecs.
    pub fn layout_cost(subject: &Subject, layout: &Layout, options: &AdviseOptions) -> Result<LayoutCost> {
        let (axes, sample) = prepared(subject, options)?;
        let codecs = codecs_of(subject, sample.as_ref(), layout, options)?;
        Costs::new(subject, &axes, options)?.of_layout(&layout.chunks, layout.shards.clone(), &codecs)
    }

    /// Costs of a layout of the array whose codecs are as small and fast as they were measured before.
    ///
    /// # Errors
    /// As those of [`on`](Self::on).
    pub fn cost_of(subject: &Subject, layout: &Layout, options: &AdviseOptions) -> Result<LayoutCost> {
        let axes = axes(subject, options)?;
        Costs::new(subject, &axes, options)?.of_layout(&layout.chunks, layout.shards.clone(), &layout.codecs)
    }

    /// Costs of the layout that an array has, and of one with other shapes that was found for another array of its data set. The codecs are
    /// those of that layout, or those of this array if it cannot have them or if they may lose something of its elements.
    ///
    /// # Errors
    /// As those of [`on`](Self::on).
    pub fn compare(
        subject: &Subject,
        layout: &Layout,
        options: &AdviseOptions,
    ) -> Result<(Option<LayoutCost>, LayoutCost)> {
        let (axes, sample) = prepared(subject, options)?;
        let costs = Costs::new(subject, &axes, options)?;
        let present = costs.of_present(sample.as_ref())?;
        // A sample does not tell that codecs lose nothing of all elements, nor of those that are written later.
        let codecs = codecs_of(subject, sample.as_ref(), layout, options).ok();
        let codecs = codecs.filter(|codecs| codecs.is_lossless && codecs.configs.iter().all(keeps_numbers));
        let own = || {
            let text = subject.present.as_ref().map(|present| chain_json(&present.codecs));
            let measured = sample.as_ref().zip(text).and_then(|(sample, text)| {
                sample.measure(&layout.chunks, std::slice::from_ref(&text), options.time).ok()?.pop()
            });
            measured.unwrap_or_else(|| unmeasured(subject))
        };
        let codecs = codecs.unwrap_or_else(own);
        Ok((present, costs.of_layout(&layout.chunks, layout.shards.clone(), &codecs)?))
    }
}

/// Measures the codecs of a layout on the elements of an array. An error if the array cannot have them.
fn codecs_of(subject: &Subject, sample: Option<&Sample>, layout: &Layout, options: &AdviseOptions) -> Result<Measured> {
    let texts = std::slice::from_ref(&layout.codecs.codecs);
    let measured = match sample {
        Some(sample) => sample.measure(&layout.chunks, texts, options.time)?.pop(),
        None => None,
    };
    // Without elements the creation of an array tells whether it can have the codecs.
    Ok(measured.unwrap_or_else(|| Measured {
        codecs: layout.codecs.codecs.clone(),
        configs: layout.codecs.configs.clone(),
        ..unmeasured(subject)
    }))
}

/// Returns the accesses of an array in terms of its axes.
fn axes(subject: &Subject, options: &AdviseOptions) -> Result<Vec<AxisLengths>> {
    let reads = options.reads.iter().map(|access| (access, false));
    let axes = reads.chain(options.writes.iter().map(|access| (access, true))).map(|(access, is_write)| {
        Ok(AxisLengths { lengths: access.lengths(&subject.shape, &subject.names)?, is_write })
    });
    let axes = axes.collect::<Result<Vec<_>>>()?;
    if axes.is_empty() {
        return Err(Error::argument("found no reads and no writes, expected at least one"));
    }
    Ok(axes)
}

/// Returns the accesses of an array in terms of its axes, and its sample if it has elements to measure on.
fn prepared(subject: &Subject, options: &AdviseOptions) -> Result<(Vec<AxisLengths>, Option<Sample>)> {
    let axes = axes(subject, options)?;
    let sample = subject.sampled.as_ref().map(|sampled| Sample::of(&sampled.array, &sampled.stored, options.sample));
    Ok((axes, sample.transpose()?.flatten()))
}

/// Measures the codecs of the array and the candidates, for chunks of the sample of about 1 MiB.
fn measure(subject: &Subject, sample: Option<&Sample>, options: &AdviseOptions) -> Result<Vec<Measured>> {
    const CHUNK: u64 = 1 << 20;
    let Some(sample) = sample else { return Ok(vec![unmeasured(subject)]) };
    let own = subject.present.as_ref().map(|present| chain_json(&present.codecs));
    let mut texts: Vec<String> = own.into_iter().collect();
    match (options.codecs.as_slice(), &subject.sampled) {
        ([], Some(sampled)) => texts.extend(candidates(sampled.array.data_type())),
        (given, _) => texts.extend(given.iter().cloned()),
    }
    // A part of the sample, so that codecs meet chunks as they will be.
    let mut chunk = sample.data.shape().to_vec();
    while total_size(&chunk, subject.item) > u128::from(CHUNK) {
        let Some(longest) = chunk.iter_mut().max() else { break };
        *longest = longest.div_ceil(2);
    }
    let mut measured = sample.measure(&chunk, &texts, options.time)?;
    for codecs in &mut measured {
        // The codecs that the array has were chosen for it. Of others a sample does not tell that they lose nothing of all elements.
        let is_own = subject.present.as_ref().is_some_and(|present| present.codecs == codecs.configs);
        codecs.is_lossless &= is_own || codecs.configs.iter().all(keeps_numbers);
    }
    Ok(measured)
}

/// The lossless codecs with the shortest times for reading, and writing if something is written.
fn finalists(measured: &[Measured], options: &AdviseOptions) -> Vec<Measured> {
    let seconds = |codecs: &Measured| {
        let encode = if options.writes.is_empty() { 0.0 } else { 1.0 / codecs.encode };
        1.0 / codecs.ratio.max(1e-9) / options.storage.bandwidth
            + 1.0 / codecs.decode / storage::threads() as f64
            + encode
    };
    let mut sorted: Vec<Measured> = measured.iter().filter(|codecs| codecs.is_lossless).cloned().collect();
    sorted.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    sorted.truncate(FINALISTS);
    sorted
}
