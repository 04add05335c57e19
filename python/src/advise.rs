//! Advice on the layouts of arrays.

use crate::convert::Source;
use crate::errors::OrException;
use crate::interrupt::Interrupt;
use crate::location::{Access as StoreAccess, Located};
use crate::runtime;
use pyo3::prelude::*;
use std::time::Duration;
use zarr::codec::CodecList;
use zarr::json::Value;
use zarr::stats::advise::{Access, Advice, AdviseOptions, LayoutCost, Prices, Storage, Subject};
use zarr::store::StoreKind;
use zarr::{Array, Dialect, Error, Result};

/// Options of advice, from a `dict`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AdviseSettings {
    reads: Vec<String>,
    writes: Vec<String>,
    at: Option<String>,
    probe: bool,
    prices: Option<String>,
    codecs: Vec<String>,
    sample_bytes: u64,
    seconds: f64,
    dialect: Option<String>,
    /// Shape, data type and names of the dimensions of an array that is not there; the source is then one with elements like its own.
    described: Option<(Vec<u64>, String, Vec<String>)>,
}

impl AdviseSettings {
    fn options(&self) -> Result<AdviseOptions> {
        let registry = zarr::registry::default();
        for codecs in &self.codecs {
            CodecList::parse(codecs)?.to_configs(&registry.codecs)?;
        }
        let parse = |texts: &[String]| texts.iter().map(|text| Access::parse(text)).collect::<Result<Vec<_>>>();
        let options = AdviseOptions::default()
            .reads(parse(&self.reads)?)
            .writes(parse(&self.writes)?)
            .codecs(self.codecs.clone())
            .sample(self.sample_bytes)
            .time(Duration::try_from_secs_f64(self.seconds).map_err(|error| Error::argument(error.to_string()))?);
        let Some(prices) = &self.prices else { return Ok(options) };
        let prices = Value::from_json(prices).map_err(|error| Error::argument(format!("prices: {error}")))?;
        Ok(options.prices(Prices::from_json(&prices)?))
    }

    /// Returns the storage that an array is read from.
    fn storage(&self, array: Option<&Array>) -> Result<Storage> {
        Ok(match (&self.at, array) {
            (Some(text), _) => text.parse()?,
            (None, Some(array)) if self.probe => Storage::probe(array)?,
            (None, Some(array)) if array.store().access_profile().kind == StoreKind::Remote => Storage::s3(),
            (None, _) => Storage::local(),
        })
    }
}

/// Cost of an access: its text, whether it is a write, seconds, requests, bytes, bytes of elements that are decoded, and the price.
type AccessFacts = (String, bool, f64, f64, f64, f64, f64);

/// Layout with its costs, as a `dict`.
#[derive(IntoPyObject)]
pub(crate) struct LayoutFacts {
    chunks: Vec<u64>,
    shards: Option<Vec<u64>>,
    codecs: String,
    ratio: f64,
    best_for: Option<String>,
    stored_bytes: f64,
    objects: u128,
    price_per_month: f64,
    price_of_writing: f64,
    accesses: Vec<AccessFacts>,
}

impl LayoutFacts {
    fn of(cost: &LayoutCost, advice: &Advice, best_for: Option<usize>) -> Self {
        let accesses = cost.accesses.iter().zip(&advice.accesses).enumerate().map(|(number, (cost, access))| {
            let is_write = advice.is_write(number);
            (access.to_string(), is_write, cost.seconds, cost.requests, cost.bytes, cost.decoded, cost.price)
        });
        let codecs = cost.layout.codecs.configs.iter().map(|codec| codec.to_value()).collect::<Vec<_>>();
        Self {
            chunks: cost.layout.chunks.clone(),
            shards: cost.layout.shards.clone(),
            codecs: Value::from(codecs).to_string(),
            ratio: cost.layout.codecs.ratio,
            best_for: best_for.and_then(|number| advice.accesses.get(number)).map(ToString::to_string),
            stored_bytes: cost.stored,
            objects: cost.objects,
            price_per_month: cost.month,
            price_of_writing: cost.first_write,
            accesses: accesses.collect(),
        }
    }
}

/// Advice, as a `dict`. The storage is its name, latency, bandwidth and number of requests at once.
#[derive(IntoPyObject)]
pub(crate) struct AdviceFacts {
    present: Option<LayoutFacts>,
    layouts: Vec<LayoutFacts>,
    storage: (String, f64, f64, usize),
    sample_bytes: u64,
}

/// Finds layouts that suit reads and writes of the array `source`, or of one that is described.
///
/// # Errors
/// The exceptions of the source, the options and the reads of the sample.
#[pyfunction]
pub(crate) fn advise(py: Python<'_>, source: Option<Source<'_>>, settings: AdviseSettings) -> PyResult<AdviceFacts> {
    let options = settings.options().or_exception(py)?;
    let located = source.map(|source| source.open(py, StoreAccess::Read)).transpose()?;
    let interrupt = Interrupt::default();
    runtime::run_long(py, &interrupt, || {
        let registry = zarr::registry::default();
        let array = match &located {
            Some(Located { store, path, .. }) => Some(Array::open(&interrupt.over(store), path, &registry)?),
            None => None,
        };
        let dialect = settings.dialect.as_deref().map(str::parse::<Dialect>).transpose()?;
        let subject = match (&settings.described, &array) {
            (Some((shape, data_type, names)), sample) => {
                let described = Subject::described(shape, data_type, names, &registry)?;
                let described = described.dialect(dialect.unwrap_or(Dialect::V3));
                sample
                    .as_ref()
                    .map_or_else(|| Ok(described.clone()), |sample| described.clone().sampled_from(sample))?
            }
            (None, Some(array)) => {
                let kept = if array.dialect() == Dialect::V2 { Dialect::V2 } else { Dialect::V3 };
                Subject::of(array)?.dialect(dialect.unwrap_or(kept))
            }
            (None, None) => return Err(Error::argument("found neither an array nor a shape, expected one of them")),
        };
        // The storage of a sample is not that of the array.
        let stored = array.as_ref().filter(|_| settings.described.is_none());
        let options = options.storage(settings.storage(stored)?);
        let advice = Advice::on(&subject, &options)?;
        let best_for = |number: usize| advice.best_for.get(number).copied().flatten();
        let layouts = advice.layouts.iter().enumerate();
        let Storage { name, latency, bandwidth, concurrency, .. } = options.storage;
        Ok(AdviceFacts {
            present: advice.present.as_ref().map(|cost| LayoutFacts::of(cost, &advice, None)),
            layouts: layouts.map(|(number, cost)| LayoutFacts::of(cost, &advice, best_for(number))).collect(),
            storage: (name, latency, bandwidth, concurrency),
            sample_bytes: advice.sample,
        })
    })
}
