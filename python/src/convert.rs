//! Conversions to other dialects, chunks and codecs.

use crate::array::ArrayHandle;
use crate::cache::ProcessCache;
use crate::consolidated::{Dropped, watching_above};
use crate::errors::OrException;
use crate::group::GroupHandle;
use crate::interrupt::Interrupt;
use crate::labels::{GivenLabel, labels_of};
use crate::location::{Access, Again, Located, Named, Origin, address_and_path, open_asked};
use crate::runtime;
use crate::selection;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use zarr::convert::{Action, Conversion, ConvertOptions, Migration, Part, PlannedNode, Progress, Shards, SkippedChunk};
use zarr::dataset::{Dataset, DatasetOptions, DimensionSelection};
use zarr::hierarchy::open_node;
use zarr::meta::NodePath;
use zarr::meta::conventions::{Convention, Conventions};
use zarr::store::{StoreAddress, StoreOptions, schemes};
use zarr::{Dialect, Error, Group, Result, Selection, Store};

/// Store, path of a node in it, and options of the store.
pub(crate) type Address<'py> = (Named<'py>, Option<String>, Vec<(String, String)>);

/// Store that a conversion writes to.
pub(crate) enum Target {
    Address(StoreAddress, StoreOptions),
    Store(Arc<dyn Store>),
}

impl Target {
    /// Finds the store, and the path of the node that the address names; the path is `None` if it names none.
    ///
    /// # Errors
    /// The exceptions of the address.
    pub(crate) fn find(py: Python<'_>, (store, path, options): Address<'_>) -> PyResult<(Self, Option<String>)> {
        Ok(match store {
            Named::Address(url) => {
                let (address, path) = address_and_path(&url, path).or_exception(py)?;
                (Self::Address(address, options.into_iter().collect()), path)
            }
            Named::Asked(asked) => (Self::Store(open_asked(&asked, false)?), path),
        })
    }

    /// Returns the name by which a program opens the store again.
    pub(crate) fn again(&self) -> Again {
        match self {
            Self::Address(address, options) => Again::of_address(address, options),
            Self::Store(_) => Again::Object,
        }
    }

    pub(crate) fn open(self) -> Result<Arc<dyn Store>> {
        Ok(match self {
            Self::Address(address, options) => schemes().create(&address, &options)?,
            Self::Store(store) => store,
        })
    }
}

/// Node that a conversion reads.
#[derive(FromPyObject)]
pub(crate) enum Source<'py> {
    Array(PyRef<'py, ArrayHandle>),
    Group(PyRef<'py, GroupHandle>),
    Address(Address<'py>),
}

impl Source<'_> {
    /// Opens the store of the node; a node that is open has its own access.
    ///
    /// # Errors
    /// The exceptions of the address and of the store.
    pub(crate) fn open(self, py: Python<'_>, access: Access) -> PyResult<Located> {
        self.open_cached(py, access, None)
    }

    /// Opens the store of the node like [`open`](Self::open), with a cache; a node that is open has its own.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub(crate) fn open_cached(
        self,
        py: Python<'_>,
        access: Access,
        cache: Option<Arc<ProcessCache>>,
    ) -> PyResult<Located> {
        match self {
            Self::Array(array) => array.location(py),
            Self::Group(group) => group.location(py),
            Self::Address((store, path, options)) => Origin::find(py, store, path, options, access, cache),
        }
    }
}

/// Lengths of chunks or shards.
#[derive(Clone, FromPyObject)]
pub(crate) enum Lengths {
    /// Lengths along all dimensions; for shards, an empty list means no shards.
    Shape(Vec<u64>),
    ByName(BTreeMap<String, u64>),
    /// The string `"auto"`.
    Word(String),
}

/// Options of a conversion, from a `dict`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    dialect: Option<String>,
    chunks: Option<Lengths>,
    shards: Option<Lengths>,
    codecs: Option<String>,
    variables: Option<Vec<String>>,
    /// Selections by label: the dimension, the kind of the selection, and its labels.
    sel: Vec<(String, String, Vec<Option<GivenLabel>>)>,
    /// Selections by index: the dimension, and a part of a selection.
    isel: Vec<(String, Py<PyTuple>)>,
    exclude: Vec<String>,
    other_files: bool,
    memory: u64,
    scratch: Option<String>,
    carry: bool,
    literal: bool,
    objects_as_strings: bool,
    convention: Option<String>,
    overwrite: bool,
    resume: bool,
    keep_going: bool,
    part: Option<(u64, u64)>,
    finish: bool,
    dry_run: bool,
}

/// Returns the shards that are asked for.
pub(crate) fn shards_of(shards: Option<Lengths>) -> Result<Option<Shards>> {
    Ok(match shards {
        None => None,
        Some(Lengths::Shape(shape)) if shape.is_empty() => Some(Shards::None),
        Some(Lengths::Shape(shape)) => Some(Shards::Of(shape)),
        Some(Lengths::ByName(lengths)) => Some(Shards::ByName(lengths)),
        Some(Lengths::Word(text)) if text == "auto" => Some(Shards::Auto),
        Some(Lengths::Word(text)) => return Err(not_lengths("shards", &text)),
    })
}

/// Shape of chunks, and lengths of chunks by dimension name.
type ChunkLengths = (Option<Vec<u64>>, BTreeMap<String, u64>);

/// Returns the shape of the chunks that are asked for, and their lengths by dimension name.
pub(crate) fn chunks_of(chunks: Option<Lengths>) -> Result<ChunkLengths> {
    Ok(match chunks {
        None => (None, BTreeMap::new()),
        Some(Lengths::Shape(shape)) => (Some(shape), BTreeMap::new()),
        Some(Lengths::ByName(lengths)) => (None, lengths),
        Some(Lengths::Word(text)) => return Err(not_lengths("chunks", &text)),
    })
}

fn not_lengths(of: &str, word: &str) -> Error {
    Error::argument(format!("{of}: found {word:?}, expected lengths"))
}

impl Settings {
    /// Takes the selections, and returns them as the region of a data set.
    fn region(&mut self, py: Python<'_>) -> PyResult<DimensionSelection> {
        let mut region = DimensionSelection::default();
        for (dimension, kind, labels) in std::mem::take(&mut self.sel) {
            if let Some(labels) = labels_of(&kind, labels)? {
                region = region.sel(&dimension, labels);
            }
        }
        for (dimension, part) in &self.isel {
            let Selection::Axes(axes) = selection::selection("axes", part.bind(py))? else {
                return Err(PyValueError::new_err("a selection of another kind"));
            };
            let axis = axes.into_iter().next().ok_or_else(|| PyValueError::new_err("a selection of nothing"))?;
            region = region.isel(dimension, axis);
        }
        Ok(region)
    }

    fn options(&self) -> Result<ConvertOptions> {
        let shards = shards_of(self.shards.clone())?;
        let (chunks, chunk_lengths) = chunks_of(self.chunks.clone())?;
        let conventions = match self.convention.as_deref() {
            None => Conventions::Detect,
            Some("none") => Conventions::Ignore,
            Some("xarray") => Conventions::Assume(Convention::Xarray),
            Some("nczarr") => Conventions::Assume(Convention::NcZarr),
            Some(other) => {
                let message = format!("convention {other:?}: expected \"xarray\", \"nczarr\" or \"none\"");
                return Err(Error::argument(message));
            }
        };
        let codecs = self.codecs.as_deref().map(zarr::codec::CodecList::parse).transpose()?;
        if let Some(codecs) = &codecs {
            codecs.to_configs(&zarr::registry::default().codecs)?;
        }
        Ok(ConvertOptions::default()
            .dialect(self.dialect.as_deref().map(str::parse::<Dialect>).transpose()?)
            .chunks(chunks)
            .chunk_lengths(chunk_lengths)
            .exclude(self.exclude.iter().map(|path| path.parse()).collect::<std::result::Result<_, _>>()?)
            .shards(shards)
            .codecs(codecs)
            .other_keys(self.other_files)
            .memory(self.memory)
            .carry(self.carry)
            .literal(self.literal)
            .objects_as_strings(self.objects_as_strings)
            .conventions(conventions)
            .overwrite(self.overwrite)
            .resume(self.resume)
            .keep_going(self.keep_going)
            .part(self.part.map(|(number, of)| Part::new(number, of)).transpose()?))
    }
}

/// Progress of a conversion.
#[derive(Default)]
struct Events {
    total: Option<u128>,
    done: u128,
    skipped: Vec<SkippedChunk>,
    /// Messages about files that belong to no node and were left out.
    files: Vec<String>,
    /// Approximate number of items that earlier runs left out, about which nothing else is known.
    more: u64,
}

impl Events {
    fn add(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::Done(bytes) => self.done = self.done.saturating_add(bytes),
            Progress::Skipped(chunk) => self.skipped.push(chunk.clone()),
            Progress::SkippedKey(key) => self.files.push(format!("left out: {key}")),
            Progress::MoreSkipped(more) => self.more = self.more.saturating_add(more),
            _ => {}
        }
    }
}

/// Converted node: its path in the source and in the target, its dialect, the kind of conversion, its size in bytes, the differences with
/// whether each is a loss, a warning, and the reasons why no other software reads it.
type Node = (String, String, &'static str, &'static str, u128, Vec<(String, bool)>, Option<String>, Vec<String>);

/// Chunk that was left out: the path of its array, its index, its key, and the reason why it cannot be read.
type Skipped = (String, Vec<u64>, Option<String>, String);

/// Outcome of a conversion: nodes, chunks that were left out, the approximate number of items that earlier runs left out, warnings, and the
/// reasons why nodes cannot be converted.
type Outcome = (Vec<Node>, Vec<Skipped>, u64, Vec<String>, Vec<String>);

fn node(node: &PlannedNode) -> Node {
    let how = match node.how {
        Action::Group => "group",
        Action::Keep => "kept",
        Action::CopyChunks => "copied",
        Action::Reencode => "recoded",
    };
    let notes = node.notes.iter().map(|note| (note.to_string(), note.is_loss)).collect();
    let (from, to) = (node.source.path.to_string(), node.path.to_string());
    let unread = node.unread.iter().map(|unread| unread.what.clone()).collect();
    (from, to, node.dialect.name(), how, node.size, notes, node.warning.clone(), unread)
}

/// Converts the nodes below `source`, and returns the outcome. Calls `progress` with the number of converted bytes and the total.
///
/// # Errors
/// The exceptions of the addresses, the stores, the plan and the conversion, and of `progress`.
#[pyfunction]
pub(crate) fn convert(
    py: Python<'_>,
    source: Source<'_>,
    target: Address<'_>,
    mut settings: Settings,
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let options = settings.options().or_exception(py)?;
    let region = settings.region(py)?;
    let (interrupt, events) = (Interrupt::default(), Mutex::new(Events::default()));
    let known = || events.lock().unwrap_or_else(PoisonError::into_inner);
    let mut told = None;
    let mut tell = |py: Python<'_>| {
        let (total, done) = {
            let events = known();
            (events.total, events.done)
        };
        let (Some(progress), Some(total)) = (&progress, total) else { return Ok(()) };
        if told != Some(done) {
            told = Some(done);
            progress.call1(py, (done, total))?;
        }
        Ok(())
    };
    let Located { store, path, dialect, .. } = source.open(py, Access::Read)?;
    let (target, to) = Target::find(py, target)?;
    let again = target.again();
    let work = || {
        // `keep_going` leaves out chunks that cannot be read, so that an interruption must not look like such a chunk.
        let source = if settings.keep_going { store } else { interrupt.over(&store) };
        let path: NodePath = path.parse()?;
        if let Some(dialect) = dialect {
            check_dialect(&source, &path, dialect)?;
        }
        let named = (path.to_string() != "/").then_some(path);
        let to: Option<NodePath> = to.map(|to| to.parse()).transpose()?;
        let made = to.as_ref().or(named.as_ref()).map_or_else(|| "/".to_owned(), ToString::to_string);
        let options = options.node(named.clone()).to(to);
        let options = match &settings.variables {
            None => options,
            Some(names) => {
                let path = named.map_or_else(|| "/".to_owned(), |path| path.to_string());
                let group = Group::open(&source, &path, &zarr::registry::default())?;
                options.arrays(of_variables(&group, names)?)
            }
        };
        let registry = zarr::registry::default();
        let within = options.node.clone().unwrap_or_else(NodePath::root);
        let ignore = source.capabilities().list;
        let dataset_options = DatasetOptions::default().ignore_consolidated(ignore);
        let region = region.clone().exclude(options.exclude.clone()).arrays(options.arrays.clone());
        let options = options.regions(region.regions(&source, &within, &registry, &dataset_options)?);
        if settings.dry_run {
            let examined = Conversion::examine(&source, &registry, options)?;
            let examined = outcome(&examined.conversion, (Vec::new(), 0), &examined.refused, &[&source]);
            return Ok((Ok(examined), Dropped::default()));
        }
        let options = match settings.scratch {
            None => options,
            Some(url) => {
                let (address, _) = address_and_path(&url, Some(String::new()))?;
                options.scratch(schemes().create(&address, &StoreOptions::default())?)
            }
        };
        let conversion = Conversion::plan(&source, &registry, options)?;
        known().total = Some(conversion.size());
        // Nothing is created at the target before the plan is complete.
        let store = interrupt.over(&target.open()?);
        Migration::check_settled(&store)?;
        let report = |event: Progress<'_>| {
            known().add(event);
            if interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let (done, dropped) = watching_above(&store, &made, || match settings.finish {
            true => conversion.finish(&store, report),
            false => conversion.run(&store, report),
        });
        if let Err(error) = done {
            return Ok((Err(error), dropped));
        }
        let skipped = {
            let mut events = known();
            (std::mem::take(&mut events.skipped), events.more)
        };
        let mut outcome = outcome(&conversion, skipped, conversion.refused(), &[&source, &store]);
        outcome.3.append(&mut known().files);
        Ok((Ok(outcome), dropped))
    };
    let (outcome, dropped) = runtime::run_watched(py, &interrupt, &mut tell, work)?;
    dropped.warn(py, &again)?;
    let outcome = outcome.or_exception(py)?;
    tell(py)?;
    Ok(outcome)
}

/// Returns the paths of the arrays of named variables of a data set, and of their coordinates.
fn of_variables(group: &Group, names: &[String]) -> Result<Vec<NodePath>> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let dataset = Dataset::open(group)?;
    let kept = dataset.with_coordinates(&names)?;
    Ok(kept.into_iter().map(|variable| variable.stored().path().clone()).collect())
}

/// Returns an error if a conversion, which opens the node again, would find it in another dialect than the open node.
fn check_dialect(store: &Arc<dyn Store>, path: &NodePath, dialect: Dialect) -> Result<()> {
    let found = open_node(&**store, &path.to_string(), None)?;
    if found.dialect == dialect {
        return Ok(());
    }
    let (open, other) = (dialect.name(), found.dialect.name());
    Err(Error::argument(format!(
        "{store}: {path}: found a source that is open as {open} and is stored as {other} too, of which {other} would be converted"
    )))
}

fn outcome(
    conversion: &Conversion,
    (mut skipped, more): (Vec<SkippedChunk>, u64),
    refused: &[Error],
    stores: &[&Arc<dyn Store>],
) -> Outcome {
    skipped.sort();
    let skipped =
        skipped.into_iter().map(|chunk| (chunk.path.to_string(), chunk.chunk, chunk.key, chunk.cause)).collect();
    let unconsolidated = conversion.unconsolidated().iter().map(|group| {
        format!("{group}: no consolidated metadata is written: zarr-python 3 opens no array of a group whose consolidated metadata name a type or codec that it does not have")
    });
    let warnings = conversion
        .left_out()
        .iter()
        .cloned()
        .chain(unconsolidated)
        .chain(stores.iter().flat_map(|store| store.take_warnings()));
    let refused = refused.iter().map(ToString::to_string).collect();
    (conversion.nodes().iter().map(node).collect(), skipped, more, warnings.collect(), refused)
}
