//! Costs of a layout: seconds, requests, bytes and money of each access.

use super::access::places;
use super::count::{CountedLayout, RequestCount, RequestCounter};
use super::options::AdviseOptions;
use super::overhead::Overhead;
use super::search::AxisLengths;
use super::storage::threads;
use super::subject::{Present, Subject, chain_json, unmeasured};
use crate::sample::{Measured, Sample};
use zarr_array::{ErrorKind, Result};
use zarr_grid::{Region, total_size};

/// Number of places at which an access is counted.
pub const PLACES: usize = 12;
/// Ratio of seconds within which codecs are as fast as others.
const EQUAL: f64 = 1.1;
/// Number of bytes that codecs may add to a chunk of few elements.
const HEADERS: f64 = 256.0;

/// Chunks, shards and codecs of an array.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Layout {
    /// Shape of chunks; of inner chunks if there are shards.
    pub chunks: Vec<u64>,
    /// Shape of shards; `None` if there are none.
    pub shards: Option<Vec<u64>>,
    /// Codecs of chunks, as they were measured for such chunks.
    pub codecs: Measured,
}

impl Layout {
    /// Returns the layout with other shapes.
    #[must_use]
    pub fn with_shapes(&self, chunks: Vec<u64>, shards: Option<Vec<u64>>) -> Self {
        Self { chunks, shards, codecs: self.codecs.clone() }
    }
}

/// Mean cost of an access, over places that are spread over the array.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AccessCost {
    /// Seconds from the first request to the last element.
    pub seconds: f64,
    /// Number of requests.
    pub requests: f64,
    /// Number of bytes that are transferred.
    pub bytes: f64,
    /// Number of bytes of elements that are decoded and encoded.
    pub decoded: f64,
    /// Price of the requests and the transfer.
    pub price: f64,
}

/// Layout with its costs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LayoutCost {
    /// Layout that has these costs.
    pub layout: Layout,
    /// Costs of the accesses: first the reads, then the writes.
    pub accesses: Vec<AccessCost>,
    /// Number of stored bytes of all chunks.
    pub stored: f64,
    /// Number of chunks, or of shards if there are shards.
    pub objects: u128,
    /// Price of a month of storage.
    pub month: f64,
    /// Price of the requests that write all objects once.
    pub first_write: f64,
}

/// Computation of costs for one array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs<'a> {
    pub(super) subject: &'a Subject,
    pub(super) axes: &'a [AxisLengths],
    pub(super) options: &'a AdviseOptions,
    pub(super) overhead: Overhead,
}

impl<'a> Costs<'a> {
    /// Takes an array, its accesses in terms of axes, and what else is to be counted.
    pub(super) fn new(subject: &'a Subject, axes: &'a [AxisLengths], options: &'a AdviseOptions) -> Result<Self> {
        // Without a sample nothing is measured, so that costs are the same on all machines.
        let overhead = match &subject.sampled {
            Some(_) => Overhead::measured(&subject.registry)?,
            None => Overhead::default(),
        };
        Ok(Self { subject, axes, options, overhead })
    }
}

impl Costs<'_> {
    /// Costs of the layout that the array has; `None` for one with more parts than are planned.
    pub(super) fn of_present(&self, sample: Option<&Sample>) -> Result<Option<LayoutCost>> {
        let Some(present) = &self.subject.present else { return Ok(None) };
        match self.of_stored(present, sample) {
            Err(error) if error.kind() == ErrorKind::Limit => Ok(None),
            cost => cost.map(Some),
        }
    }

    fn of_stored(&self, present: &Present, sample: Option<&Sample>) -> Result<LayoutCost> {
        let text = chain_json(&present.codecs);
        // A new array may not have these codecs: then their speed is not known.
        let measure = |sample: &Sample| {
            sample.measure(&present.chunks, std::slice::from_ref(&text), self.options.time).ok()?.pop()
        };
        let mut codecs = sample.and_then(measure).unwrap_or_else(|| unmeasured(self.subject));
        codecs.configs.clone_from(&present.codecs);
        let outer = present.shards.as_ref().unwrap_or(&present.chunks);
        let mean = present.stored.filter(|&(chunks, _)| chunks > 0).map(|(chunks, bytes)| bytes as f64 / chunks as f64);
        if let Some(mean) = mean {
            // Stored bytes of shards, with their indexes.
            codecs.ratio = total_size(outer, self.subject.item) as f64 / mean.max(1.0);
        }
        let mut cost = self.of_layout(&present.chunks, present.shards.clone(), &codecs)?;
        if let Some((chunks, bytes)) = present.stored {
            let prices = &self.options.prices;
            (cost.stored, cost.objects) = (bytes as f64, u128::from(chunks));
            (cost.month, cost.first_write) = (prices.month(bytes as f64), prices.writes(chunks as f64));
        }
        Ok(cost)
    }

    /// Costs of a layout whose chunks have these codecs.
    pub(super) fn of_layout(&self, chunks: &[u64], shards: Option<Vec<u64>>, codecs: &Measured) -> Result<LayoutCost> {
        let (subject, options) = (self.subject, self.options);
        let elements = total_size(chunks, subject.item);
        let inner = shards.as_ref().map_or(1, |shards| total_size(shards, 1) / total_size(chunks, 1).max(1));
        let most = elements.max(1) as f64 * 2.0 + HEADERS;
        let size = (elements as f64 / codecs.ratio.max(1e-9)).ceil().clamp(1.0, most) as u64;
        let layout = CountedLayout::new(&subject.data_type, chunks, &codecs.codecs, size).shards(shards.clone());
        let mut counter = RequestCounter::new(&layout, options.storage.access, &subject.registry)?;
        let accesses = self.axes.iter().map(|access| self.of_access(access, &layout, &mut counter, codecs));
        let accesses = accesses.collect::<Result<Vec<_>>>()?;
        let counts =
            subject.shape.iter().zip(layout.outer()).map(|(&len, &part)| u128::from(len.div_ceil(part.max(1))));
        let objects = counts.fold(1, u128::saturating_mul);
        // Elements beyond the edges of the array compress to next to nothing; the indexes of shards do not.
        let indexes = if shards.is_some() { objects as f64 * (16.0 * inner as f64 + 4.0) } else { 0.0 };
        // Chunks with nothing but fill values are not stored, whatever their shape.
        let share = subject.present.as_ref().map_or(1.0, |present| present.share);
        let stored = share * (subject.bytes() as f64 / codecs.ratio.max(1e-9) + indexes);
        Ok(LayoutCost {
            layout: Layout { chunks: chunks.to_vec(), shards, codecs: codecs.clone() },
            accesses,
            stored,
            objects,
            month: options.prices.month(stored),
            first_write: options.prices.writes(objects as f64),
        })
    }

    /// Costs of a layout with the codecs that suit its chunks best: of those that are about as fast as the fastest, with the smallest chunks.
    pub(super) fn with_best_codecs(
        &self,
        cost: &LayoutCost,
        codecs: &[Measured],
        sample: Option<&Sample>,
    ) -> Result<LayoutCost> {
        let Some(sample) = sample else { return Ok(cost.clone()) };
        let texts: Vec<String> = codecs.iter().map(|codecs| codecs.codecs.clone()).collect();
        let mut costs = Vec::with_capacity(texts.len());
        for measured in sample.measure(&cost.layout.chunks, &texts, self.options.time)? {
            let found = self.of_layout(&cost.layout.chunks, cost.layout.shards.clone(), &measured)?;
            let score: f64 = found.accesses.iter().map(|access| access.seconds.max(1e-9).ln()).sum();
            if measured.is_lossless {
                costs.push((score, found));
            }
        }
        let least = costs.iter().map(|(score, _)| *score).fold(f64::INFINITY, f64::min);
        let most = least + EQUAL.ln() * self.axes.len() as f64;
        let fast = costs.into_iter().filter(|(score, _)| *score <= most);
        let best = fast.min_by(|(_, a), (_, b)| a.stored.total_cmp(&b.stored));
        Ok(best.map_or_else(|| cost.clone(), |(_, cost)| cost))
    }

    fn of_access(
        &self,
        access: &AxisLengths,
        layout: &CountedLayout,
        counter: &mut RequestCounter,
        codecs: &Measured,
    ) -> Result<AccessCost> {
        let shape = &self.subject.shape;
        let mut mean = AccessCost::default();
        let places = places(shape, &access.lengths, PLACES);
        for place in &places {
            let one = match access.is_write {
                true => self.of_write(&aligned(place, &access.lengths, shape), layout, counter.outer_size(), codecs),
                false => self.of_read(place, &counter.count(place)?, layout, codecs),
            };
            mean.seconds += one.seconds;
            mean.requests += one.requests;
            mean.bytes += one.bytes;
            mean.decoded += one.decoded;
            mean.price += one.price;
        }
        let count = places.len().max(1) as f64;
        let AccessCost { seconds, requests, bytes, decoded, price } = mean;
        Ok(AccessCost {
            seconds: seconds / count,
            requests: requests / count,
            bytes: bytes / count,
            decoded: decoded / count,
            price: price / count,
        })
    }

    fn of_read(&self, region: &Region, count: &RequestCount, layout: &CountedLayout, codecs: &Measured) -> AccessCost {
        let (requests, bytes, decoded) = (count.requests as f64, count.bytes as f64, count.decoded as f64);
        let workers = (count.requests.max(1) as f64).min(threads() as f64);
        // Inner chunks, where there are shards.
        let part = total_size(&layout.chunks, self.subject.item).max(1) as f64;
        let chunks = (count.chunks as f64).max(decoded / part);
        let result = total_size(&region.shape(), self.subject.item) as f64;
        let Overhead { read, chunk, byte } = self.overhead;
        let overhead = read + chunk * chunks + byte * result;
        AccessCost {
            seconds: self.transfer(count.rounds, requests, bytes) + decoded / codecs.decode / workers + overhead,
            requests,
            bytes,
            decoded,
            price: self.options.prices.reads(requests, bytes),
        }
    }

    /// Cost of a write: a request for each chunk, or shard, that it meets; one of which it has only a part is read before.
    fn of_write(&self, region: &Region, layout: &CountedLayout, size: u64, codecs: &Measured) -> AccessCost {
        let (mut met, mut whole) = (1.0, 1.0);
        for ((range, &part), &len) in region.axes().iter().zip(layout.outer()).zip(&self.subject.shape) {
            let part = part.max(1);
            let (start, end) = (range.start, range.start.saturating_add(range.len));
            met *= (end.div_ceil(part) - start / part) as f64;
            // A last chunk that ends beyond the array is whole if it is written to the end of the array.
            let last = if end >= len { end.div_ceil(part) } else { end / part };
            whole *= last.saturating_sub(start.div_ceil(part)) as f64;
        }
        let parts: f64 = met - whole;
        let elements = total_size(layout.outer(), self.subject.item) as f64;
        let (requests, bytes) = (met + parts, (met + parts) * size as f64);
        let workers = f64::max(met, 1.0).min(threads() as f64);
        let decoding = parts * elements / codecs.decode + met * elements / codecs.encode;
        let rounds = if parts > 0.0 { 2 } else { 1 };
        let prices = &self.options.prices;
        AccessCost {
            seconds: self.transfer(rounds, requests, bytes) + decoding / workers,
            requests,
            bytes,
            decoded: (met + parts) * elements,
            price: prices.reads(parts, parts * size as f64) + prices.writes(met),
        }
    }

    /// Seconds that requests take.
    fn transfer(&self, rounds: u32, requests: f64, bytes: f64) -> f64 {
        let storage = &self.options.storage;
        let waves = (requests / storage.concurrency.max(1) as f64).max(f64::from(rounds));
        storage.latency * waves + bytes / storage.bandwidth
    }
}

/// Moves a region back to a multiple of its length along each axis, as writes in order are placed.
fn aligned(region: &Region, lengths: &[u64], shape: &[u64]) -> Region {
    let axes = region.axes().iter().zip(lengths).zip(shape);
    let ranges = axes.map(|((range, &wanted), &len)| {
        let start = range.start / wanted.max(1) * wanted.max(1);
        start..start.saturating_add(wanted).min(len)
    });
    Region::from_ranges(&ranges.collect::<Vec<_>>())
}
