//! Measurement of codecs on a sample of an array.

use crate::float_form::FloatForm;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zarr_array::{Array, ArrayData, Error, ErrorKind, NewArray, Registry, Result, Store, element_spec};
use zarr_codec::{CodecList, Pipeline, Warnings};
use zarr_dtype::{DataType, Heap};
use zarr_grid::{ChunkIndex, Region, total_size};
use zarr_json::{NamedConfig, Value};
use zarr_scan::stored_among;
use zarr_store::MemoryStore;

/// Codecs that are measured if the caller names none, in the notation of [`CodecList::parse`]. All are lossless.
pub const CANDIDATES: [&str; 10] = [
    "none",
    "zstd(1)",
    "zstd(3)",
    "zstd(9)",
    "blosc(lz4,5,shuffle)",
    "blosc(lz4,5,bitshuffle)",
    "blosc(zstd,5,shuffle)",
    "blosc(zstd,5,bitshuffle)",
    "gzip(5)",
    "pcodec",
];
/// Maximum number of chunks of a sample.
const MOST_CHUNKS: usize = 64;
/// Maximum size of a chunk that is measured, in bytes of its elements.
const MOST_BYTES: u64 = 1 << 30;

/// Options of a measurement of codecs. `BenchOptions::default()` has the defaults, and a method sets each option.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BenchOptions {
    /// Minimum number of bytes of elements of the sample, by default 16 MiB. The sample has as many chunks as this takes, at least 1 and at
    /// most 64.
    pub sample: u64,
    /// Time for which each codec is measured in each direction, after a first run; by default half a second.
    pub time: Duration,
    /// Bandwidth of the storage in bytes per second, by which the recommendation weighs size against speed; by default 200 MB/s.
    pub bandwidth: f64,
    /// Whether codecs that lose something may be recommended; by default they are not.
    pub lossy: bool,
}

impl Default for BenchOptions {
    fn default() -> Self {
        Self { sample: 16 << 20, time: Duration::from_millis(500), bandwidth: 200e6, lossy: false }
    }
}

impl BenchOptions {
    /// Sets the minimum number of bytes of the [sample](Self#structfield.sample).
    #[must_use]
    pub fn sample(self, sample: u64) -> Self {
        Self { sample, ..self }
    }

    /// Sets the [time](Self#structfield.time) for each codec.
    #[must_use]
    pub fn time(self, time: Duration) -> Self {
        Self { time, ..self }
    }

    /// Sets whether codecs that lose something may be [recommended](Self#structfield.lossy).
    #[must_use]
    pub fn lossy(self, lossy: bool) -> Self {
        Self { lossy, ..self }
    }

    /// Sets the [bandwidth](Self#structfield.bandwidth) of the storage.
    #[must_use]
    pub fn bandwidth(self, bandwidth: f64) -> Self {
        Self { bandwidth, ..self }
    }
}

/// Measurements of codecs on a sample of an array.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CodecBench {
    /// Indices of the chunks of the sample; for a sharded array, of the shards in which the sampled inner chunks lie.
    pub chunks: Vec<Vec<u64>>,
    /// Number of bytes of the elements of the sample. Elements of variable length count by their content.
    pub bytes: u64,
    /// Results of the codecs: first those of the array itself, and then the candidates in the given order.
    pub codecs: Vec<CodecResult>,
    /// Index in `codecs` of the recommended codecs; 0 if the array has them already, `None` if no lossless codecs could be measured.
    /// Recommended are the lossless codecs with the shortest time for reading from a storage of the given bandwidth: `stored bytes /
    /// bandwidth + bytes / decoding speed`.
    pub recommended: Option<usize>,
}

/// Result of the measurement of one list of codecs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CodecResult {
    /// Name of the candidate as it was given; `None` for the codecs of the array.
    pub name: Option<String>,
    /// Codecs of a chunk in the vocabulary of Zarr v3, as a new array of the dialect would have them.
    pub codecs: Vec<NamedConfig>,
    /// Codecs among [`codecs`](Self#structfield.codecs) that compress. If there are several, each compresses the output of the one before.
    pub compressors: Vec<NamedConfig>,
    /// Measurement, or the reason why the array cannot have these codecs.
    pub measured: Result<CodecMeasurement, String>,
}

/// Sizes and speeds of codecs, measured on one thread.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CodecMeasurement {
    /// Number of bytes of the encoded sample.
    pub stored: u64,
    /// Ratio of the bytes of the elements to the bytes of the encoded sample.
    pub ratio: f64,
    /// Speed of encoding, in bytes of elements per second: the median of all rounds.
    pub encode: f64,
    /// Speed of decoding, in bytes of elements per second: the median of all rounds.
    pub decode: f64,
    /// Whether decoding returned the same elements, bit by bit.
    pub is_lossless: bool,
    /// Largest differences between elements and decoded elements; `None` if there are none, or if elements are no floating-point numbers.
    pub error: Option<LargestError>,
}

/// Largest differences between floating-point numbers and those that stand for them. NaN for NaN is no difference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LargestError {
    /// Largest difference; infinite if a number became NaN or infinite, or the other way round.
    pub absolute: f64,
    /// Largest ratio of a difference to the number.
    pub relative: f64,
}

impl LargestError {
    /// Compares floating-point numbers with those that stand for them.
    pub fn of(numbers: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut error = Self::default();
        numbers.for_each(|(number, stands)| error.add(number, stands));
        error
    }

    /// Takes in a number and the one that stands for it.
    pub(crate) fn add(&mut self, number: f64, stands: f64) {
        if number == stands || (number.is_nan() && stands.is_nan()) {
            return;
        }
        let difference = (number - stands).abs();
        let difference = if difference.is_nan() { f64::INFINITY } else { difference };
        let ratio = difference / number.abs();
        let ratio = if ratio.is_nan() { f64::INFINITY } else { ratio };
        self.merge(Self { absolute: difference, relative: ratio });
    }

    /// Takes in the differences among other numbers.
    pub(crate) fn merge(&mut self, other: Self) {
        self.absolute = self.absolute.max(other.absolute);
        self.relative = self.relative.max(other.relative);
    }
}

impl CodecResult {
    /// Returns the codecs as JSON in the form of Zarr v3, which [`NewArray::codecs`] accepts.
    pub fn json(&self) -> Value {
        Value::from(self.codecs.iter().map(NamedConfig::to_value).collect::<Vec<_>>())
    }
}

impl CodecBench {
    /// Measures codecs in memory, on stored chunks (inner chunks, if the array is sharded) that are spread over the array. The codecs of
    /// the array are measured first. Candidates that the dialect of the array cannot express, or that do not accept its elements, are
    /// listed with the reason.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if no chunk of the array is stored; [`ErrorKind::Limit`] if a chunk has more than 1 GiB; and the errors of
    /// reads of arrays.
    pub fn of(array: &Array, candidates: &[String], options: &BenchOptions) -> Result<Self> {
        let (chunks, sample) = sample(array, options)?;
        let bytes = sample.iter().map(size).fold(0_u64, u64::saturating_add);
        let mut codecs = vec![own(array, &sample, bytes, options)];
        for text in candidates {
            let built = candidate(array, text);
            let codecs_of = built.as_ref().map(|(codecs, _)| codecs.clone()).unwrap_or_default();
            let compressors =
                built.as_ref().map(|(codecs, pipeline)| compressors(codecs, pipeline)).unwrap_or_default();
            let measured = built.and_then(|(_, pipeline)| measure(&pipeline, &sample, bytes, options));
            codecs.push(CodecResult {
                name: Some(text.clone()),
                codecs: codecs_of,
                compressors,
                measured: measured.map_err(|error| error.message().to_owned()),
            });
        }
        let seconds = |result: &CodecResult| {
            let measured = result.measured.as_ref().ok().filter(|measured| measured.is_lossless || options.lossy)?;
            Some(measured.stored as f64 / options.bandwidth + bytes as f64 / measured.decode)
        };
        let timed = codecs.iter().enumerate().filter_map(|(number, result)| Some((number, seconds(result)?)));
        let recommended = timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(number, _)| number);
        // A candidate that the array has already is no other one.
        let codecs_of = |number: usize| codecs.get(number).map(|result| &result.codecs);
        let is_own = |number: usize| codecs_of(number) == codecs_of(0);
        let recommended = recommended.map(|number| if is_own(number) { 0 } else { number });
        Ok(Self { chunks, bytes, codecs, recommended })
    }
}

/// Selects stored chunks that are spread over the array. Returns their indices, and the elements of a chunk or inner chunk of each.
fn sample(array: &Array, options: &BenchOptions) -> Result<(Vec<Vec<u64>>, Vec<ArrayData>)> {
    let overlaps = array.chunk_grid().intersect(&Region::whole(array.shape()));
    let stored = stored_among(array, &overlaps)?;
    let (part, item) = (array.part_shape(), array.data_type().item_size() as u64);
    let chunk_bytes = total_size(&part, item);
    if chunk_bytes > u128::from(MOST_BYTES) {
        let message =
            format!("a chunk has {chunk_bytes} bytes of elements, of which at most {MOST_BYTES} are measured");
        return Err(Error::new(ErrorKind::Limit, message));
    }
    let count = u64::try_from(u128::from(options.sample) / chunk_bytes.max(1)).unwrap_or(u64::MAX);
    let count = usize::try_from(count).unwrap_or(usize::MAX).clamp(1, MOST_CHUNKS);
    let len = stored.as_ref().map_or(overlaps.len(), |stored| stored.len() as u64);
    let (mut chunks, mut sample) = (Vec::new(), Vec::new());
    for number in spread(len, count) {
        let number = match &stored {
            Some(stored) => usize::try_from(number).ok().and_then(|number| stored.get(number)).copied(),
            None => Some(number),
        };
        let Some(number) = number else { continue };
        let overlap = overlaps.get(number);
        let chunk = array.chunk_grid().chunk_region(&overlap.index);
        let Some(chunk) = chunk.overlap(&Region::whole(array.shape())) else { continue };
        if let Some(data) = read(array, &chunk, &part, stored.is_some())? {
            chunks.push(overlap.index.to_vec());
            sample.push(data);
        }
    }
    if sample.is_empty() {
        let error = Error::argument("no chunk of the array is stored, so that there is nothing to measure codecs on");
        return Err(error.at(|location| {
            location.store = Some(array.store().to_string());
            location.path = Some(array.path().to_string());
        }));
    }
    Ok((chunks, sample))
}

/// Returns the middles of `count` equal parts of `0..len`; all numbers if `len` is not greater than `count`.
fn spread(len: u64, count: usize) -> impl Iterator<Item = u64> {
    let count = (count as u64).min(len);
    (0..count).map(move |number| {
        let at = (u128::from(number) * 2 + 1) * u128::from(len) / (u128::from(count) * 2);
        u64::try_from(at).unwrap_or(u64::MAX)
    })
}

/// Reads a chunk, or an inner chunk of it that has not only fill values. A chunk that has only fill values is returned only if it is known
/// to be stored (`is_stored`), else `None`.
fn read(array: &Array, chunk: &Region, part: &[u64], is_stored: bool) -> Result<Option<ArrayData>> {
    const TRIES: usize = 16;
    let counts: ChunkIndex =
        chunk.axes().iter().zip(part).map(|(range, &len)| range.len.div_ceil(len.max(1))).collect();
    let all = counts.iter().fold(1_u64, |all, &count| all.saturating_mul(count));
    let mut first = None;
    for number in spread(all, TRIES) {
        let mut rest = number;
        let mut axes = Vec::with_capacity(part.len());
        for ((range, &len), &count) in chunk.axes().iter().zip(part).zip(&counts).rev() {
            let start = range.start + rest % count.max(1) * len;
            rest /= count.max(1);
            axes.push(start..(start + len).min(range.start + range.len));
        }
        axes.reverse();
        let data = array.read_data(Region::from_ranges(&axes))?;
        if !array.fill_value().is_all_of(data.items(), data.heap().map(|heap| &**heap)) {
            return Ok(Some(data));
        }
        first.get_or_insert(data);
    }
    Ok(first.filter(|_| is_stored))
}

/// Number of bytes of elements; those of variable length count by their content.
fn size(data: &ArrayData) -> u64 {
    match data.variable() {
        Some(elements) => elements.map(|element| element.len() as u64).sum(),
        None => data.items().len() as u64,
    }
}

/// Measures the codecs of the array, or of its innermost inner chunks.
fn own(array: &Array, sample: &[ArrayData], bytes: u64, options: &BenchOptions) -> CodecResult {
    let codecs = chunk_codecs(array);
    let built = build(array, &codecs);
    let compressors = built.as_ref().map(|pipeline| compressors(&codecs, pipeline)).unwrap_or_default();
    let measured = built.and_then(|pipeline| measure(&pipeline, sample, bytes, options));
    CodecResult { name: None, codecs, compressors, measured: measured.map_err(|error| error.message().to_owned()) }
}

/// Returns the codecs of the chunks of an array; of the innermost ones, if they lie in shards, behind those that are in front of the shards.
pub fn chunk_codecs(array: &Array) -> Vec<NamedConfig> {
    let mut codecs = array.metadata().codecs.clone();
    while let Some(number) = codecs.iter().position(|codec| codec.name == "sharding_indexed") {
        let shard = codecs.split_off(number).into_iter().next();
        let inner = shard.as_ref().and_then(|shard| shard.configuration.get("codecs")).and_then(Value::as_array);
        codecs.extend(inner.unwrap_or_default().iter().filter_map(NamedConfig::from_value));
    }
    codecs
}

/// Codecs of a list that compress.
fn compressors(codecs: &[NamedConfig], pipeline: &Pipeline) -> Vec<NamedConfig> {
    pipeline.compressors().into_iter().filter_map(|number| codecs.get(number).cloned()).collect()
}

/// Builds codecs for the chunks of an array; for the innermost ones, if they lie in shards.
pub(crate) fn build(array: &Array, codecs: &[NamedConfig]) -> Result<Arc<Pipeline>> {
    let (registry, part) = (array.registry(), array.part_shape());
    let element = element_spec(array.metadata(), array.dialect(), &registry.data_types)?;
    let pipeline = registry.codecs.pipeline(codecs, &element, &part, &array.options().limits, &Warnings::default());
    Ok(pipeline?)
}

/// Parses a candidate and builds its codecs; an error if a new array of the same dialect and data type cannot have them.
fn candidate(array: &Array, text: &str) -> Result<(Vec<NamedConfig>, Arc<Pipeline>)> {
    let registry: &Arc<Registry> = array.registry();
    let part = array.part_shape();
    let name = match array.metadata().data_type.short_value() {
        Value::String(name) => name,
        value => value.to_string(),
    };
    // Shapes of no elements have chunks of some.
    let new = NewArray::new(&part, name).chunks(&part).codecs(CodecList::parse(text)?)?.dialect(array.dialect());
    let new = match &array.metadata().fill_value {
        Some(fill) => new.fill(fill.clone()),
        None => new,
    };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let created = Array::create(&store, "/", new, registry)?;
    let codecs = created.metadata().codecs.clone();
    let pipeline = build(array, &codecs)?;
    Ok((codecs, pipeline))
}

/// Measures codecs on all chunks of the sample. `bytes` is the number of bytes of its elements.
fn measure(pipeline: &Pipeline, sample: &[ArrayData], bytes: u64, options: &BenchOptions) -> Result<CodecMeasurement> {
    let mut encoded: Vec<Vec<u8>> = vec![Vec::new(); sample.len()];
    let encode = rounds(options.time, || {
        for (data, encoded) in sample.iter().zip(&mut encoded) {
            encoded.clear();
            pipeline.encode(&data.view(), encoded)?;
        }
        Ok(())
    })?;
    let mut decoded = sample.iter().map(empty).collect::<Result<Vec<_>>>()?;
    let is_variable = sample.iter().any(|data| data.heap().is_some());
    let decode = rounds(options.time, || {
        for (encoded, decoded) in encoded.iter().zip(&mut decoded) {
            if is_variable {
                // Or their heap would grow with each round.
                *decoded = empty(decoded)?;
            }
            let shape = decoded.shape().to_vec();
            pipeline.decode(encoded, &shape, &Region::whole(&shape), &mut decoded.view_mut())?;
        }
        Ok(())
    })?;
    let stored = encoded.iter().fold(0_u64, |all, encoded| all.saturating_add(encoded.len() as u64));
    let is_lossless = sample.iter().zip(&decoded).all(|(sample, decoded)| is_same(sample, decoded));
    let numbers = |data: &ArrayData| {
        let form = FloatForm::of(data.data_type())?;
        Some(form.values(data.items()))
    };
    let error = (!is_lossless).then(|| {
        let pairs = sample.iter().zip(&decoded).map(|(sample, decoded)| Some((numbers(sample)?, numbers(decoded)?)));
        let pairs = pairs.collect::<Option<Vec<_>>>()?;
        Some(LargestError::of(pairs.into_iter().flat_map(|(sample, decoded)| sample.into_iter().zip(decoded))))
    });
    let speed = |time: Duration| bytes as f64 / time.as_secs_f64().max(1e-9);
    Ok(CodecMeasurement {
        stored,
        ratio: bytes as f64 / stored.max(1) as f64,
        encode: speed(encode),
        decode: speed(decode),
        is_lossless,
        error: error.flatten(),
    })
}

/// Repeats `work` for a time, and returns the median of its durations. The first run, which fills caches and buffers, counts only if it is
/// the only one.
fn rounds(time: Duration, mut work: impl FnMut() -> Result<()>) -> Result<Duration> {
    const MOST: usize = 101;
    let begun = Instant::now();
    work()?;
    let mut times = vec![begun.elapsed()];
    let first = begun.elapsed();
    while begun.elapsed().saturating_sub(first) < time && times.len() < MOST {
        let begun = Instant::now();
        work()?;
        times.push(begun.elapsed());
    }
    if times.len() > 1 {
        times.remove(0);
    }
    times.sort_unstable();
    Ok(times.get(times.len() / 2).copied().unwrap_or(first))
}

/// Allocates memory for elements with the data type and shape of `data`.
fn empty(data: &ArrayData) -> Result<ArrayData> {
    let items = vec![0; data.items().len()];
    ArrayData::from_items(data.data_type(), data.shape(), &items, data.heap().map(|_| Arc::new(Heap::new())))
}

/// Whether two blocks of elements are the same, bit by bit.
fn is_same(a: &ArrayData, b: &ArrayData) -> bool {
    match (a.variable(), b.variable()) {
        (Some(a), Some(b)) => a.eq(b),
        _ => a.items() == b.items() && a.data_type().item_size() == b.data_type().item_size(),
    }
}

/// Returns the codecs among [`CANDIDATES`] that make sense for a data type.
pub fn candidates(data_type: &DataType) -> Vec<String> {
    let is_number = data_type.class().is_some() || data_type.storage().class().is_some();
    let makes_sense = |text: &&&str| is_number || !(text.contains("shuffle") || **text == "pcodec");
    CANDIDATES.iter().filter(makes_sense).map(|text| (*text).to_owned()).collect()
}
