//! Joining of several files into one store.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use zarr_array::{Group, Options, Registry};
use zarr_compare::{ArrayDigest, DigestOptions};
use zarr_dataset::{Dataset, DatasetOptions};
use zarr_dtype::DataType;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_json::{Map, Value};
use zarr_meta::{ArrayMetadata, Dialect, GroupMetadata, Node, NodePath};
use zarr_store::Prefix;
use zarr_store_virtual::{ChunkTable, SourceId, VirtualStore, VirtualStoreBuilder};

use crate::Input;
use crate::chunks::{Joined as JoinedChunks, Refusal, TableJoin, grid, plan};
use crate::documents::put_documents;
use crate::input::KEYS;
use crate::nodes::{FileArray, FileNodes};
use crate::places::settle;
use crate::rules::{Differences, check_members, refused};
use crate::stacked::{is_new, stack};
use crate::times::{Recount, time_units};
use crate::values::{Part, Values, in_chunks, in_one_chunk};

/// Options of [`join`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JoinOptions {
    /// Dimension along which variables are joined. It may be a dimension that no file has. `None` is allowed for a single file.
    pub concat: Option<String>,
    /// Names of the variables of the root group to include, with their coordinates. Empty: all arrays of all groups.
    pub variables: Vec<String>,
    /// Whether a joined array may have a rectilinear chunk grid, with chunks of several lengths along the dimension.
    pub rectilinear: bool,
    /// Maximum number of bytes of a variable whose elements are decoded and joined into new chunks, if the chunks of the files cannot be
    /// chunks of one array: 1 MiB by default. Larger variables are refused in this case.
    pub values: u64,
    /// Options with which the arrays of the files are opened.
    pub arrays: Options,
}

impl Default for JoinOptions {
    fn default() -> Self {
        Self { concat: None, variables: Vec::new(), rectilinear: false, values: 1 << 20, arrays: Options::default() }
    }
}

impl JoinOptions {
    /// Sets [`concat`](Self#structfield.concat).
    #[must_use]
    pub fn concat(self, concat: Option<String>) -> Self {
        Self { concat, ..self }
    }

    /// Sets [`variables`](Self#structfield.variables).
    #[must_use]
    pub fn variables(self, variables: Vec<String>) -> Self {
        Self { variables, ..self }
    }

    /// Sets [`rectilinear`](Self#structfield.rectilinear).
    #[must_use]
    pub fn rectilinear(self, rectilinear: bool) -> Self {
        Self { rectilinear, ..self }
    }

    /// Sets [`values`](Self#structfield.values).
    #[must_use]
    pub fn values(self, values: u64) -> Self {
        Self { values, ..self }
    }

    /// Sets [`arrays`](Self#structfield.arrays).
    #[must_use]
    pub fn arrays(self, arrays: Options) -> Self {
        Self { arrays, ..self }
    }
}

/// Result of [`join`]: a store that consists of files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Joined {
    /// Joined store, of Zarr v3 unless [`in_dialect`](Self::in_dialect) converted it.
    pub store: VirtualStore,
    /// Key prefixes of the dimension coordinates: arrays of one dimension that have its name.
    pub coordinates: Vec<String>,
    /// Messages about attributes that differ among the files, and of which the joined store has those of the first file, and about places on
    /// Earth that are left out. One message of each kind for each node.
    pub notes: Vec<String>,
}

/// Joins files into one store, whose chunks stay in the files.
///
/// Variables with the dimension `options.concat` are joined along the dimension, in the order of `inputs`. Their shapes along other axes,
/// data types, fill values and the attributes that define the meaning of elements must agree. Codecs and chunk shapes must agree as well,
/// except for variables of at most `options.values` bytes, whose elements are decoded and joined into new chunks. Variables without the
/// dimension must be equal in all files. The coordinate of the dimension is decoded and becomes few chunks, which are made in memory. Times
/// in other units than in the first file are converted to the units of the first file, exactly or not at all. Places on Earth (GeoZarr) become
/// those of all files where these adjoin, and are left out where they differ in another way. All other attributes are those of the first file.
///
/// A dimension that no file has is new. It becomes the first dimension of each variable, with one element for each file. Coordinates of
/// dimensions do not get the new dimension, and must be equal in all files. Other coordinates, and bounds, get it only if they differ.
///
/// # Errors
/// [`NotExpressible`](zarr_hierarchy::ErrorKind::NotExpressible), with the file and the variable, if files cannot be joined;
/// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if `inputs` is empty, or has several files and `options.concat` is `None`; [`NotFound`](zarr_hierarchy::ErrorKind::NotFound) if a variable of `options.variables` does not exist; the
/// errors of the stores.
pub fn join(inputs: &[Input], registry: &Arc<Registry>, options: &JoinOptions) -> Result<Joined> {
    join_with(inputs, registry, options, &mut |_, _| ControlFlow::Continue(()))
}

/// As [`join`], and calls `report` after each step with the number of steps that are done and of all: a step is the nodes of a file, or an
/// array of a file. Where `report` breaks, the join ends.
///
/// # Errors
/// As [`join`]; [`Cancelled`](ErrorKind::Cancelled) if `report` breaks.
pub fn join_with(
    inputs: &[Input],
    registry: &Arc<Registry>,
    options: &JoinOptions,
    report: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<Joined> {
    let Some(first) = inputs.first() else { return Err(Error::argument("found no files, expected at least one")) };
    if inputs.len() > 1 && options.concat.is_none() {
        let error = Error::argument(format!("found {} files and no dimension to join them along", inputs.len()));
        return Err(error.with_hint("--concat DIM names the dimension"));
    }
    let mut steps = Steps { done: 0, total: 0, report };
    let mut files = Vec::with_capacity(inputs.len());
    for input in inputs {
        let file = FileNodes::read(input)?;
        if files.is_empty() {
            steps.total = (file.arrays.len() as u64 + 1).saturating_mul(inputs.len() as u64);
        }
        files.push(file);
        steps.done()?;
    }
    if !options.variables.is_empty() {
        let kept = kept_arrays(&files[0], registry, options)?;
        files.iter_mut().for_each(|file| keep(file, &kept));
    }
    check_nodes(&files)?;
    let mut notes = Vec::new();
    if let Some(dimension) = &options.concat {
        if is_new(&files[0], dimension)? {
            stack(&mut files, dimension, registry, &options.arrays)?;
            notes.push(format!("{dimension} is a new dimension: no variable of {} has it", first.name));
        } else if files.len() > 1 {
            files.iter().try_for_each(|file| check_lengths(file, dimension))?;
        }
    }
    let name = name_of(inputs);
    let mut join = Join {
        files: &files,
        registry,
        options,
        builder: VirtualStore::builder(name),
        sources: HashMap::new(),
        differences: Differences::default(),
        steps,
    };
    let (mut nodes, mut coordinates) = (Vec::new(), Vec::new());
    for (path, attributes) in &files[0].groups {
        for file in &files[1..] {
            join.differences.note(path, attributes, file.groups.get(path).unwrap_or(&Map::new()));
        }
        nodes.push((path.clone(), Node::Group(GroupMetadata::new(attributes.clone()))));
    }
    for (path, array) in &files[0].arrays {
        let metadata = join.array(path)?;
        nodes.push((path.clone(), Node::Array(metadata)));
        if array.is_dimension_coordinate() {
            coordinates.push(path.key_prefix());
        }
    }
    nodes.sort_by(|(a, _), (b, _)| a.cmp(b));
    let Join { mut builder, differences, .. } = join;
    let left_out = match options.concat.as_deref() {
        Some(dimension) if files.len() > 1 => settle(&mut nodes, &files, dimension),
        _ => Vec::new(),
    };
    let nodes: Vec<(&NodePath, &Node)> = nodes.iter().map(|(path, node)| (path, node)).collect();
    put_documents(&mut builder, &nodes, Dialect::V3)?;
    notes.extend(differences.lines(&first.name));
    notes.extend(left_out);
    Ok(Joined { store: builder.build()?, coordinates, notes })
}

/// Returns the name of the joined store. It differs for different lists of files, since a resumed conversion compares the name.
fn name_of(inputs: &[Input]) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let Some((first, others)) = inputs.split_first() else { return String::new() };
    if others.is_empty() {
        return first.name.clone();
    }
    let mut hasher = DefaultHasher::new();
    inputs.iter().for_each(|input| input.name.hash(&mut hasher));
    format!("{} and {} more ({:08x})", first.name, others.len(), hasher.finish() >> 32)
}

/// Returns the paths of the arrays of `options.variables` and of their coordinates.
fn kept_arrays(file: &FileNodes<'_>, registry: &Arc<Registry>, options: &JoinOptions) -> Result<BTreeSet<NodePath>> {
    let group = Group::open(file.store(), "/", registry)?;
    let names: Vec<&str> = options.variables.iter().map(String::as_str).collect();
    let of_dataset = DatasetOptions::default().number_dimensions(true).arrays(options.arrays.clone());
    // Arrays of one group need not be one data set.
    let whole = Dataset::open_with(&group, &of_dataset);
    let dataset = whole.or_else(|_| Dataset::open_variables(&group, &names, &of_dataset))?;
    let kept = dataset.with_coordinates(&names)?;
    Ok(kept.into_iter().map(|variable| variable.stored().path().clone()).collect())
}

/// Removes all arrays that are not in `kept`, and the groups that contain no array of `kept`.
fn keep(file: &mut FileNodes<'_>, kept: &BTreeSet<NodePath>) {
    file.arrays.retain(|path, _| kept.contains(path));
    file.groups.retain(|group, _| kept.iter().any(|path| path.is_within(group)));
}

/// Checks that all files have arrays at the same paths.
fn check_nodes(files: &[FileNodes<'_>]) -> Result<()> {
    let Some((first, others)) = files.split_first() else { return Ok(()) };
    for file in others {
        if let Some(path) = first.arrays.keys().find(|path| !file.arrays.contains_key(*path)) {
            let what = format!("found no such variable, expected one as in {}", first.input.name);
            return Err(refused(&file.input.name, path, what).with_hint("--variables chooses those that are joined"));
        }
        if let Some(path) = file.arrays.keys().find(|path| !first.arrays.contains_key(*path)) {
            let what = format!("found a variable that {} does not have", first.input.name);
            return Err(refused(&file.input.name, path, what).with_hint("--variables chooses those that are joined"));
        }
    }
    Ok(())
}

/// Checks that no variable has the dimension twice, and that all variables of a group have it with the same length.
fn check_lengths(file: &FileNodes<'_>, dimension: &str) -> Result<()> {
    let mut lengths: HashMap<Option<NodePath>, u64> = HashMap::new();
    for (path, array) in &file.arrays {
        let Some(axis) = array.axis(dimension) else { continue };
        let names = array.metadata.dimension_names.iter().flatten();
        if names.filter(|name| name.as_deref() == Some(dimension)).count() > 1 {
            let what = format!("found the dimension {dimension} twice, expected it once");
            return Err(refused(&file.input.name, path, what));
        }
        let found = array.metadata.shape.get(axis).copied().unwrap_or(0);
        let expected = *lengths.entry(path.parent()).or_insert(found);
        if found != expected {
            let what = format!(
                "found {found} elements along the dimension {dimension}, expected {expected} as other variables have"
            );
            return Err(refused(&file.input.name, path, what));
        }
    }
    Ok(())
}

struct Join<'a> {
    files: &'a [FileNodes<'a>],
    registry: &'a Arc<Registry>,
    options: &'a JoinOptions,
    builder: VirtualStoreBuilder,
    /// Source in the joined store of each source of a file, by the index of the file and the source in its store.
    sources: HashMap<(usize, SourceId), SourceId>,
    differences: Differences,
    steps: Steps<'a>,
}

/// Steps of a join, and who is told about them.
struct Steps<'a> {
    done: u64,
    total: u64,
    report: &'a mut dyn FnMut(u64, u64) -> ControlFlow<()>,
}

impl Steps<'_> {
    /// Counts a step.
    fn done(&mut self) -> Result<()> {
        // Arrays that are not kept are no steps.
        self.done = (self.done + 1).min(self.total);
        match (self.report)(self.done, self.total) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::new(ErrorKind::Cancelled, "the files were not joined to the end")),
        }
    }
}

impl<'a> Join<'a> {
    /// Adds the chunks of the joined array at `path` to the store, and returns its metadata.
    fn array(&mut self, path: &NodePath) -> Result<ArrayMetadata> {
        let arrays: Vec<&'a FileArray<'a>> = self.files.iter().filter_map(|file| file.arrays.get(path)).collect();
        let Some((first, others)) = arrays.split_first() else { return Err(Error::internal("an array of no file")) };
        let axis = self.options.concat.as_deref().and_then(|dimension| first.axis(dimension));
        let recounts = match axis {
            Some(_) if !first.is_stacked => self.recounts(path)?,
            _ => vec![None; arrays.len()],
        };
        for (at, other) in others.iter().enumerate() {
            let are_times = recounts.get(at + 1).is_some_and(Option::is_some);
            check_members(&first.metadata, &other.metadata, axis, are_times)
                .map_err(|what| refused(self.file(at + 1), path, what))?;
            self.differences.note(path, &first.metadata.attributes, &other.metadata.attributes);
        }
        let (metadata, counts, table) = match axis {
            Some(axis) if arrays.len() > 1 || first.is_stacked => self.along(path, axis, &arrays, recounts)?,
            _ => {
                self.check_equal(path, &arrays)?;
                let mut join = TableJoin::new(first.chunks.counts(), 0)?;
                self.add(&mut join, 0, first, None)?;
                if arrays.len() == 1 {
                    self.steps.done()?;
                }
                (first.metadata.clone(), first.chunks.counts().to_vec(), self.built(join)?)
            }
        };
        self.builder.chunks(Prefix::new(&path.key_prefix())?, KEYS, &counts, table);
        Ok(metadata)
    }

    /// Joins the arrays of all files along `axis`. Returns the metadata, the number of chunks along each axis, and the chunk table.
    fn along(
        &mut self,
        path: &NodePath,
        axis: usize,
        arrays: &[&'a FileArray<'a>],
        recounts: Vec<Option<Recount>>,
    ) -> Result<(ArrayMetadata, Vec<u64>, ChunkTable)> {
        let first = arrays[0];
        let mut metadata = first.metadata.clone();
        let mut lengths = arrays.iter().map(|array| array.metadata.shape.get(axis).copied().unwrap_or(0));
        let length = lengths.try_fold(0_u64, u64::checked_add);
        let too_long =
            || refused(self.file(0), path, "found more elements along the dimension than numbers of 64 bits count");
        if let Some(along) = metadata.shape.get_mut(axis) {
            *along = length.ok_or_else(too_long)?;
        }
        if !first.is_stacked && first.is_dimension_coordinate() || recounts.iter().any(Option::is_some) {
            return self.of_values(path, axis, arrays, recounts, metadata);
        }
        let item = DataType::from_config(&metadata.data_type).map_or(u64::MAX, |it| it.item_size() as u64);
        let size = zarr_grid::total_size(&metadata.shape, item);
        let is_small = !first.is_stacked && size <= u128::from(self.options.values);
        let joined = match plan(arrays, axis, self.options.rectilinear) {
            Ok(joined) if !is_small || matches!(joined, JoinedChunks::Regular(_)) => joined,
            _ if is_small => return self.of_values(path, axis, arrays, recounts, metadata),
            Ok(joined) => joined,
            Err(Refusal { file, what, hint }) => return Err(refused(self.file(file), path, what).with_hint(hint)),
        };
        let filled = arrays.iter().find(|array| array.metadata.shape.get(axis).is_some_and(|length| *length > 0));
        let grid = grid(&joined, &metadata.shape, axis, filled.unwrap_or(&first))?;
        metadata.chunk_grid = grid.to_config();
        let counts = grid.grid_shape().to_vec();
        let divided = match joined {
            JoinedChunks::Divided(length) => Some(length),
            _ => None,
        };
        let mut join = TableJoin::new(&counts, axis)?;
        for (file, array) in arrays.iter().enumerate() {
            self.add(&mut join, file, array, divided)?;
            self.steps.done()?;
        }
        Ok((metadata, counts, self.built(join)?))
    }

    /// Joins the arrays of all files along `axis` by new chunks that are made of decoded elements. Returns the metadata, the number of
    /// chunks along each axis, and the chunk table.
    fn of_values(
        &mut self,
        path: &NodePath,
        axis: usize,
        arrays: &[&'a FileArray<'a>],
        recounts: Vec<Option<Recount>>,
        mut metadata: ArrayMetadata,
    ) -> Result<(ArrayMetadata, Vec<u64>, ChunkTable)> {
        let mut parts = Vec::new();
        for ((file, array), recount) in self.files.iter().zip(arrays).zip(recounts) {
            let array = file.open(array, self.registry, &self.options.arrays)?;
            parts.push(Part { name: file.input.name.clone(), array, recount });
            self.steps.done()?;
        }
        let first = arrays[0];
        let has_one = first.is_dimension_coordinate() || self.options.values < u64::MAX;
        match parts.first() {
            Some(part) if has_one => in_one_chunk(&mut metadata, axis, &part.array, self.registry)?,
            _ => in_chunks(&mut metadata, &first.grid.largest_chunk_shape())?,
        }
        let (counts, table) = Values::table(path, axis, parts, &metadata, self.registry)?;
        Ok((metadata, counts, table))
    }

    /// Returns for each file the conversion of the times at `path` to the units of the first file; `None` for files with the same units,
    /// and for all files if the first file has no time units.
    fn recounts(&self, path: &NodePath) -> Result<Vec<Option<Recount>>> {
        let bounded = self.files.iter().find_map(|file| {
            let of_bounds = |array: &FileArray<'_>| {
                let attributes = &array.metadata.attributes;
                let names = ["bounds", "climatology"].into_iter().filter_map(|name| attributes.get(name)?.as_str());
                names.into_iter().any(|name| Some(name) == path.name())
            };
            let mut arrays = file.arrays.iter();
            arrays.find(|(other, array)| other.parent() == path.parent() && of_bounds(array)).map(|(other, _)| other)
        });
        // Bounds without units or calendar have those of their variable.
        let units = |file: &FileNodes<'a>| -> Option<Map> {
            let own = &file.arrays.get(path)?.metadata.attributes;
            let of_bounded =
                bounded.and_then(|bounded| file.arrays.get(bounded)).map(|array| &array.metadata.attributes);
            let mut found = Map::new();
            for name in ["units", "calendar"] {
                if let Some(value) = own.get(name).or_else(|| of_bounded?.get(name)) {
                    found.insert(name, value.clone());
                }
            }
            time_units(&found).is_some().then_some(found)
        };
        let Some(first) = self.files.first().and_then(&units) else { return Ok(vec![None; self.files.len()]) };
        let key = |attributes: &Map| ["units", "calendar"].map(|name| attributes.get(name).cloned());
        let mut recounts = Vec::new();
        for (at, file) in self.files.iter().enumerate() {
            let Some(other) = units(file) else {
                let expected = first.get("units").map(Value::excerpt).unwrap_or_default();
                let what = format!("found no units of times, expected some as in the first file, {expected}");
                return Err(refused(self.file(at), path, what));
            };
            let other = Some(other).filter(|other| key(other) != key(&first));
            let recount = match (other, file.arrays.get(path)) {
                (Some(other), Some(array)) => {
                    let refuse = |what: String| refused(self.file(at), path, what);
                    let data_type = DataType::from_config(&array.metadata.data_type);
                    let data_type = data_type.map_err(|error| refuse(error.to_string()))?;
                    Some(Recount::new(&data_type, &array.metadata.attributes, &other, &first).map_err(refuse)?)
                }
                _ => None,
            };
            recounts.push(recount);
        }
        Ok(recounts)
    }

    /// Checks that the array at `path` has the same elements in all files.
    fn check_equal(&mut self, path: &NodePath, arrays: &[&'a FileArray<'a>]) -> Result<()> {
        let mut expected = None;
        for (file, array) in self.files.iter().zip(arrays).filter(|_| arrays.len() > 1) {
            let array = file.open(array, self.registry, &self.options.arrays)?;
            let hash = ArrayDigest::of(&array, &DigestOptions::default(), |_| {})?.hash;
            if *expected.get_or_insert(hash) != hash {
                let dimension = self.options.concat.as_deref().unwrap_or_default();
                let what = format!(
                    "found other values than in {}, expected the same: the variable does not have the dimension {dimension}",
                    self.file(0)
                );
                return Err(refused(&file.input.name, path, what));
            }
            self.steps.done()?;
        }
        Ok(())
    }

    fn add(&mut self, join: &mut TableJoin, file: usize, array: &FileArray<'_>, divided: Option<u64>) -> Result<()> {
        let input = self.files[file].input;
        let (builder, sources) = (&mut self.builder, &mut self.sources);
        let source = |id: SourceId| {
            *sources.entry((file, id)).or_insert_with(|| match input.store.source(id) {
                Some(found) => {
                    builder.source_in_state(Arc::clone(found.store()), found.key().clone(), found.state().cloned())
                }
                // The builder of that store has checked that there is one.
                None => id,
            })
        };
        join.add(array, divided, source).map_err(|fault| fault.of(input.name.clone()).into())
    }

    fn built(&self, join: TableJoin) -> Result<ChunkTable> {
        join.build().map_err(|fault| fault.of(self.file(0)).into())
    }

    fn file(&self, number: usize) -> &'a str {
        self.files.get(number).map_or("", |file| &file.input.name)
    }
}
