//! Pyramids: coarser levels of an array.

use crate::consolidated::watching_above;
use crate::convert::{Address, Lengths, Source, Target, chunks_of, shards_of};
use crate::errors::OrException;
use crate::interrupt::Interrupt;
use crate::location::{Access, Located};
use crate::runtime;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zarr::convert::{Level, Method, Migration, Part, Pyramid, PyramidOptions};
use zarr::grid::Region;
use zarr::meta::NodePath;
use zarr::store::MemoryStore;
use zarr::{Array, Error, Result, Store};

/// Options of a pyramid, from a `dict`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PyramidSettings {
    factors: BTreeMap<String, u64>,
    levels: Option<usize>,
    method: String,
    skip_missing: bool,
    chunks: Option<Lengths>,
    shards: Option<Lengths>,
    codecs: Option<String>,
    memory: u64,
    overwrite: bool,
    resume: bool,
    region: Option<Vec<(u64, u64)>>,
    level: Option<usize>,
    part: Option<(u64, u64)>,
    finish: bool,
    abandon: bool,
    dry_run: bool,
}

impl PyramidSettings {
    fn options(&self) -> Result<PyramidOptions> {
        let (chunks, chunk_lengths) = chunks_of(self.chunks.clone())?;
        let codecs = self.codecs.as_deref().map(zarr::codec::CodecList::parse).transpose()?;
        let region = self.region.as_ref().map(|ranges| {
            let ranges: Vec<Range<u64>> = ranges.iter().map(|&(start, stop)| start..stop.max(start)).collect();
            Region::from_ranges(&ranges)
        });
        let method = self.method.parse::<Method>().map_err(|error| Error::argument(error.to_string()))?;
        let mut options = PyramidOptions::default()
            .method(method)
            .skip_missing(self.skip_missing)
            .chunks(chunks)
            .chunk_lengths(chunk_lengths)
            .shards(shards_of(self.shards.clone())?)
            .codecs(codecs)
            .memory(self.memory)
            .overwrite(self.overwrite)
            .resume(self.resume)
            .region(region)
            .part(self.part.map(|(number, of)| Part::new(number, of)).transpose()?);
        options.factors.clone_from(&self.factors);
        (options.levels, options.level) = (self.levels, self.level);
        Ok(options)
    }
}

/// Level: its number, path, factors, shape, chunk shape and shard shape.
type LevelFacts = (usize, String, Vec<u64>, Vec<u64>, Vec<u64>, Option<Vec<u64>>);

fn facts(level: &Level) -> LevelFacts {
    let Level { number, path, factors, shape, chunks, shards, .. } = level;
    (*number, path.to_string(), factors.clone(), shape.clone(), chunks.clone(), shards.clone())
}

/// Writes coarser levels of the array `source`, and returns what they are. Calls `progress` with the number of bytes of its elements that
/// were done, and the total.
///
/// # Errors
/// The exceptions of the addresses, the stores, the plan and the work, and of `progress`.
#[pyfunction]
pub(crate) fn pyramid(
    py: Python<'_>,
    source: Source<'_>,
    target: Option<Address<'_>>,
    settings: PyramidSettings,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<LevelFacts>> {
    let options = settings.options().or_exception(py)?;
    let interrupt = Interrupt::default();
    let (done, total) = (AtomicU64::new(0), AtomicU64::new(0));
    let mut told = None;
    let mut tell = |py: Python<'_>| {
        let (done, total) = (done.load(Ordering::Relaxed), total.load(Ordering::Relaxed));
        if let (Some(progress), true) = (&progress, total > 0 && told != Some(done)) {
            told = Some(done);
            progress.call1(py, (done, total))?;
        }
        Ok(())
    };
    let access = if target.is_some() { Access::Read } else { Access::Write };
    let Located { origin, store, path, .. } = source.open(py, access)?;
    let target = target.map(|target| Target::find(py, target)).transpose()?;
    let again = target.as_ref().map_or_else(|| origin.again(), |(target, _)| target.again());
    let work = || {
        let source = Array::open(&interrupt.over(&store), &path, &zarr::registry::default())?;
        let planned = match target {
            None => None,
            Some((target, group)) => {
                let group: NodePath = group.as_deref().unwrap_or("/").parse()?;
                // Levels that exist are changed.
                let is_there = options.level.is_some() || options.region.is_some();
                // Nothing is created at the target before the plan is complete.
                let elsewhere: Arc<dyn Store> = Arc::new(MemoryStore::new());
                if !is_there {
                    let plan = Pyramid::plan(&source, Some((&elsewhere, group.clone())), options.clone())?;
                    if settings.dry_run {
                        return Ok((Ok(plan.levels().iter().map(facts).collect()), None));
                    }
                }
                let target = target.open()?;
                let is_same = Arc::ptr_eq(&target, &store);
                Some((if is_same { Arc::clone(source.store()) } else { interrupt.over(&target) }, group))
            }
        };
        let target = planned.as_ref().map(|(store, group)| (store, group.clone()));
        let pyramid = Pyramid::plan(&source, target, options)?;
        let levels = pyramid.levels().iter().map(facts).collect();
        if settings.dry_run {
            return Ok((Ok(levels), None));
        }
        Migration::check_settled(source.store())?;
        Migration::check_settled(pyramid.target())?;
        if settings.abandon {
            return Ok((pyramid.abandon().map(|()| levels), None));
        }
        total.store(u64::try_from(pyramid.size()).unwrap_or(u64::MAX), Ordering::Relaxed);
        let report = |bytes: u128| {
            done.fetch_add(u64::try_from(bytes).unwrap_or(u64::MAX), Ordering::Relaxed);
            if interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let first = pyramid.levels().first().map_or_else(|| "/".to_owned(), |level| level.path.to_string());
        let (ran, dropped) = watching_above(pyramid.target(), &first, || match settings.finish {
            true => pyramid.finish(report),
            false => pyramid.run(report),
        });
        Ok((ran.map(|()| levels), Some(dropped)))
    };
    let (levels, dropped) = runtime::run_watched(py, &interrupt, &mut tell, work)?;
    if let Some(dropped) = dropped {
        dropped.warn(py, &again)?;
    }
    let levels = levels.or_exception(py)?;
    tell(py)?;
    Ok(levels)
}
