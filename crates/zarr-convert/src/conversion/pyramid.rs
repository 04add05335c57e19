//! Pyramids: levels of an array, each with fewer elements than the one before it.
//!
//! Each level is computed of the next finer one (the crate `zarr-reduce`), and integers are rounded once a level. The source is read unit by unit
//! for all levels (`tree.rs`): the elements of a unit stay in memory until the coarser unit has its part of them, so memory depends on
//! the sizes of units and on the number of levels, and not on the size of the source (`write.rs`).
//!
//! Units consist of whole chunks of the source where memory suffices for these, and each chunk is then read once. Where it does not, units
//! grow along the axes where growth saves most reads (`work_plan.rs`), and chunks are read for each unit that they meet, as they are where a
//! grid is rectilinear. Each piece that is read of a unit of a sharded source reads the indexes of its shards.
//!
//! Several processes can share the work (`in_parts.rs`): each has leaves that follow one another, and the units of all levels above these.
//!
//! Levels get their documents after their chunks. Until then a journal beside the first level says which units are stored; a run that
//! resumes reads these where coarser units need them. A mark below each level tells whether its chunks are still there.

mod image;
mod in_parts;
mod levels;
mod map_levels;
mod options;
mod place;
mod run;
#[cfg(test)]
mod tests;
mod tree;
mod work_plan;
mod write;

use super::StorePlaces;
pub use levels::Level;
use levels::Names;
pub use options::PyramidOptions;
use std::ops::Range;
use std::sync::Arc;
use work_plan::WorkPlan;
use zarr_array::Array;
use zarr_hierarchy::{Error, ErrorKind, IntoFlow, Result};
use zarr_meta::NodePath;
pub use zarr_reduce::Method;
use zarr_reduce::Reducer;
use zarr_store::Store;

/// Planned pyramid of an array.
///
/// ```
/// use std::sync::Arc;
/// use zarr_array::{Array, NewArray, Registry, Store};
/// use zarr_convert::{Pyramid, PyramidOptions};
/// use zarr_store::MemoryStore;
///
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let registry = Arc::new(registry);
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let new = NewArray::new(&[4, 4], "uint8").chunks(&[2, 2]).codecs("bytes")?;
/// let source = Array::create(&store, "/image/0", new, &registry)?;
/// source.write(.., &[1_u8, 2, 5, 5, 3, 4, 5, 5, 0, 0, 9, 9, 0, 1, 9, 9])?;
///
/// let pyramid = Pyramid::plan(&source, None, PyramidOptions::default())?;
/// assert_eq!(pyramid.levels()[0].path.to_string(), "/image/1");
/// pyramid.run(|_| {})?;
/// assert_eq!(Array::open(&store, "/image/1", &registry)?.read::<u8>(..)?, [2, 5, 0, 9]);
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pyramid {
    source: Array,
    /// Shape of the array that the pyramid is of: of the source, or of a finer array if one level alone is written.
    shape: Vec<u64>,
    target: Arc<dyn Store>,
    /// Group of the levels.
    group: NodePath,
    /// Whether the levels are beside the source, and not in a group with a copy of it.
    is_beside: bool,
    /// Whether chunks of levels that exist are written in place.
    is_update: bool,
    /// Paths of the levels that are not written, as one level alone is.
    others: Vec<NodePath>,
    /// Warning about the metadata of an image that does not get the levels, or about parts that leave most work to the end.
    warning: Option<String>,
    levels: Vec<Level>,
    options: PyramidOptions,
    work: WorkPlan,
}

/// Function that is told the number of bytes that were done, and may cancel.
type Report<'a> = dyn Fn(u128) -> std::ops::ControlFlow<()> + Sync + 'a;

impl Pyramid {
    /// Plans the levels of `source`. Reads metadata only.
    ///
    /// Without a `target` the levels are written beside the source, whose name ends with a number: those of `/image/0` are `/image/1`,
    /// `/image/2`.. A `target` is a store and the path of a group, in which level `0` is a copy of the source.
    ///
    /// # Errors
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if the method does not take the data type of the source, options do not fit the
    /// source or one another, or memory does not suffice; the errors of reading metadata.
    pub fn plan(source: &Array, target: Option<(&Arc<dyn Store>, NodePath)>, options: PyramidOptions) -> Result<Self> {
        let located = |error: Error| {
            error.at(|location| {
                location.store.get_or_insert_with(|| source.store().to_string());
                location.path.get_or_insert_with(|| source.path().to_string());
            })
        };
        Self::planned(source, target, options).map_err(located)
    }

    fn planned(source: &Array, target: Option<(&Arc<dyn Store>, NodePath)>, options: PyramidOptions) -> Result<Self> {
        let takes = Reducer::check(source.data_type(), options.method);
        takes.map_err(|unfit| Error::argument(unfit.to_string()))?;
        options.check(source)?;
        let places = target.as_ref().map(|(store, _)| StorePlaces::of(store, source.store()));
        if let (Some(StorePlaces::Overlapping), Some((store, _))) = (places, &target) {
            let message = format!("found {store} for levels, which overlaps the store of the array");
            return Err(Error::argument(message).with_hint("name the same store, or one that is apart"));
        }
        let is_beside = |group: &NodePath| {
            let is_above = Some(group) == source.path().parent().as_ref();
            places == Some(StorePlaces::Equal) && is_above && Names::beside(source.path()).is_some()
        };
        let target = target.filter(|(_, group)| !is_beside(group));
        let is_beside = target.is_none();
        let (store, names, copies) = match target {
            Some((store, group)) => (store, Names::within(group), true),
            None => {
                let names = Names::beside(source.path()).ok_or_else(|| {
                    let message = "levels beside an array need a number at the end of its name, such as 0 or s0";
                    Error::argument(message).with_hint("name a group for the levels, in the same store or another")
                })?;
                (source.store(), names, false)
            }
        };
        let group = names.of(0)?.parent().unwrap_or_else(NodePath::root);
        let mut levels = levels::plan(source, &names, copies, &options, source.registry())?;
        let names = place::dimensions(source)?;
        levels.iter_mut().try_for_each(|level| place::scale(level, source, names.as_ref(), options.method))?;
        if places == Some(StorePlaces::Equal) {
            levels.iter().try_for_each(|level| check_apart(source.path(), &level.path))?;
        }
        let all: Vec<NodePath> = levels.iter().map(|level| level.path.clone()).collect();
        let shape = source.shape().to_vec();
        let source = match options.level {
            None => source.clone(),
            Some(number) => one_level(source, store, &mut levels, number, &options)?,
        };
        let is_update = update_of(&source, store, &mut levels, &options)?;
        let others = all.into_iter().filter(|path| levels.iter().all(|level| level.path != *path)).collect();
        let work = WorkPlan::new(&source, &**store, &levels, &options, options.part.is_some())?;
        let target = Arc::clone(store);
        let mut planned =
            Self { source, shape, target, group, is_beside, is_update, others, warning: None, levels, options, work };
        let warnings = [image::warning(&planned)?, planned.few_leaves()];
        planned.warning = warnings.into_iter().flatten().reduce(|first, second| format!("{first}; {second}"));
        Ok(planned)
    }

    /// Levels that are written, the finest first.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Path of the group of the levels.
    pub fn group(&self) -> &NodePath {
        &self.group
    }

    /// Store of the source.
    pub fn source_store(&self) -> &Arc<dyn Store> {
        self.source.store()
    }

    /// Whether chunks of existing levels are written in place: of a [region](PyramidOptions#structfield.region), or of
    /// [one level](PyramidOptions#structfield.level). Each chunk has its old elements or its new ones if that is interrupted, and another
    /// run computes all of them again.
    pub fn is_update(&self) -> bool {
        self.is_update
    }

    /// Warning about OME-Zarr images beside the source that cannot be read, so that the levels are not added to them; or about
    /// [parts](PyramidOptions#structfield.part) that are too small, which leave most chunks of coarser levels to [`finish`](Self::finish).
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Store of the levels.
    pub fn target(&self) -> &Arc<dyn Store> {
        &self.target
    }

    /// Size of the elements of the source that are read, in bytes; with a [part](PyramidOptions#structfield.part) of those that it reads.
    pub fn size(&self) -> u128 {
        let item = self.source.data_type().item_size() as u64;
        if let Some(part) = self.options.part {
            let tree = &self.work.tree;
            return tree.source_len(part.range(tree.leaves())).saturating_mul(u128::from(item));
        }
        match &self.options.region {
            Some(region) => zarr_grid::total_size(&region.shape(), item),
            None => zarr_grid::total_size(self.source.shape(), item),
        }
    }

    /// Computes and writes the levels, or [a part](PyramidOptions#structfield.part) of their chunks. Calls `progress` with the number of bytes
    /// of elements of the source that were done since the last call; in a resumed run first with those that were done before.
    ///
    /// The document of a level is written after its chunks, those of an OME-Zarr image after all levels: if the source is a level of an
    /// image, the levels are added to it.
    ///
    /// # Errors
    /// [`Exists`](zarr_hierarchy::ErrorKind::Exists) if there is a node at the path of a level, or a run was interrupted, and
    /// [`PyramidOptions::overwrite`] or [`PyramidOptions::resume`] is not set; if another run is active; if what is to be replaced is a
    /// group, or an array beside the source that cannot be a level of it; or for a part, if the pyramid is given up or finished, or another
    /// writer has created a node at the path of a level. [`Argument`](zarr_hierarchy::ErrorKind::Argument) for a part if
    /// the options differ from those of other parts (with the option), or the store shows values at a flush alone. The errors of reading and
    /// writing arrays. [`Cancelled`](zarr_hierarchy::ErrorKind::Cancelled) if `progress` cancels.
    pub fn run<F: IntoFlow>(&self, progress: impl Fn(u128) -> F + Sync) -> Result<()> {
        let report = |bytes: u128| progress(bytes).into_flow();
        match self.options.part {
            Some(part) => self.write_part(part, &report),
            None => self.write(&report),
        }
    }
}

impl PyramidOptions {
    /// Checks the options that do not depend on levels.
    fn check(&self, source: &Array) -> Result<()> {
        if self.part.is_some() {
            self.check_in_parts("part")?;
        }
        let Some(region) = &self.region else { return Ok(()) };
        if self.level.is_some() || self.resume || self.overwrite {
            let message = "region: found level, resume or overwrite beside it, expected none of them";
            return Err(
                Error::argument(message).with_hint("a region of the array changes chunks of all levels in place")
            );
        }
        if region.axes().iter().any(|axis| axis.step != 1) {
            return Err(Error::argument("region: found a step, expected ranges without steps"));
        }
        Ok(region.check(source.shape())?)
    }

    /// Checks that no option is set that `step`, a step of a pyramid in parts, does not take.
    fn check_in_parts(&self, step: &str) -> Result<()> {
        let options = [
            ("region", self.region.is_some()),
            ("level", self.level.is_some()),
            ("resume", self.resume),
            ("overwrite", self.overwrite),
        ];
        let found: Vec<&str> = options.into_iter().filter_map(|(name, is_set)| is_set.then_some(name)).collect();
        if found.is_empty() {
            return Ok(());
        }
        let message = format!("{step}: found {} beside it, expected none", found.join(", "));
        Err(Error::argument(message).with_hint("a part that was interrupted goes on when it is run again"))
    }

    /// Whether the caller chose chunks, shards or codecs.
    fn chooses_layout(&self) -> bool {
        self.chunks.is_some() || !self.chunk_lengths.is_empty() || self.shards.is_some() || self.codecs.is_some()
    }
}

/// Checks that a level in the store of the source neither holds it nor lies in it.
fn check_apart(source: &NodePath, level: &NodePath) -> Result<()> {
    if !level.is_within(source) && !source.is_within(level) {
        return Ok(());
    }
    let message = match level == source {
        true => format!("found {level} for a level, which is the array itself"),
        false => format!("found {level} for a level, but it and the array {source} lie in one another"),
    };
    Err(Error::argument(message).with_hint("name another group for the levels"))
}

/// Takes the chunks, codecs and attributes of existing levels if these are changed in place. Returns whether they are.
fn update_of(source: &Array, store: &Arc<dyn Store>, levels: &mut [Level], options: &PyramidOptions) -> Result<bool> {
    let is_one = options.level.is_some() && !options.overwrite && !options.resume;
    if options.region.is_none() && !is_one {
        return Ok(false);
    }
    for level in levels {
        let array = match Array::open(store, &level.path.to_string(), source.registry()) {
            Err(error) if error.is_not_found() && is_one => return Ok(false),
            Err(error) if is_one && error.kind() != ErrorKind::Store => {
                let error = Error::new(ErrorKind::Exists, format!("found no array that can be opened: {error}"));
                return Err(error.with_hint("--overwrite replaces a broken array, but no group").at_path(&level.path));
            }
            array => array?,
        };
        check_like(&array, level)?;
        if options.chooses_layout() {
            let message = "found chunks, shards or codecs for a level that exists, expected none";
            let hint = if is_one { "--overwrite replaces the level" } else { "its own are kept" };
            return Err(Error::new(ErrorKind::Exists, message).with_hint(hint).at_path(&level.path));
        }
        *level = level.like(&array, options)?;
    }
    Ok(true)
}

/// Returns the array of which level `number` is computed, and keeps this level alone.
fn one_level(
    source: &Array,
    store: &Arc<dyn Store>,
    levels: &mut Vec<Level>,
    number: usize,
    options: &PyramidOptions,
) -> Result<Array> {
    let (least, most) = (levels.first().map_or(0, |level| level.number), levels.last().map_or(0, |level| level.number));
    let Some(at) = levels.iter().position(|level| level.number == number) else {
        return Err(Error::argument(format!("level: found {number}, expected {least} to {most}")));
    };
    let finer = match at.checked_sub(1) {
        None => source.clone(),
        Some(finer) => {
            let finer = &levels[finer];
            let array =
                Array::open(store, &finer.path.to_string(), source.registry())?.with(options.options.clone())?;
            check_like(&array, finer)?;
            array
        }
    };
    levels.retain(|level| level.number == number);
    levels.iter_mut().for_each(|level| level.factors.clone_from(&level.step));
    Ok(finer)
}

/// Checks that an existing array has the shape and the data type of a level.
fn check_like(array: &Array, level: &Level) -> Result<()> {
    let (found, expected) = (array.metadata(), level.node.target.as_array());
    let is_like = expected.is_some_and(|expected| expected.data_type == found.data_type);
    if is_like && found.shape == level.shape {
        return Ok(());
    }
    let message = match is_like {
        true => format!("found an array of {:?}, expected level {} of {:?}", found.shape, level.number, level.shape),
        false => {
            let expected = expected.map_or("its source", |expected| expected.data_type.name.as_str());
            format!("found an array of {}, expected level {} of {expected}", found.data_type.name, level.number)
        }
    };
    let hint = if is_like { "; --overwrite replaces it" } else { "" };
    let error = Error::new(ErrorKind::Exists, message);
    let error = error.with_hint(format!("the factors and the source are to be those of the level{hint}"));
    Err(error.at(|location| {
        location.store = Some(array.store().to_string());
        location.path = Some(array.path().to_string());
    }))
}

/// Ranges of the elements of a region, whose steps are left out.
fn ranges(region: &zarr_grid::Region) -> Vec<Range<u64>> {
    region.axes().iter().map(|axis| axis.start..axis.last().map_or(axis.start, |last| last + 1)).collect()
}
