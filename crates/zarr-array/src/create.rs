//! Creation of arrays: the description of a new array, and the jobs that create it.

mod data_type;

use crate::core::ArrayCore;
use crate::{Error, ErrorKind, Options, Registry, Result};
use data_type::{parse_data_type, with_fallback};
use std::sync::Arc;
use zarr_codec::{BuildContext, Codec, CodecList, Config, ElementSpec, IntoCodecs, Warnings};
use zarr_dtype::{ByteOrder, DataType, Element, FillValue, Spelling};
use zarr_grid::ChunkGrid;
use zarr_hierarchy::node::{self, CreateNode, DroppedConsolidated, FindDialect};
use zarr_json::{Map, NamedConfig, Value};
use zarr_meta::codec_facts::{NUMCODECS, written_name};
use zarr_meta::conventions::Conventions;
use zarr_meta::{ArrayMetadata, Dialect, Documents, Node};
use zarr_store::{AccessProfile, Capabilities};

/// Approximate size in bytes of chunks whose shape is not given: small enough to read a part of an array, large enough that compressors and
/// object stores work well.
const CHUNK_SIZE: u64 = 1 << 20;

/// Maximum number of dimensions of a new array, as in numpy: zarr-python could not open an array with more. Existing arrays may have more.
const MAX_RANK: usize = 64;

/// Description of an array to create. Shape and data type are required, everything else has defaults.
///
/// ```
/// use zarr_array::NewArray;
/// let new = NewArray::new(&[1000, 1000], "float32")
///     .chunks(&[100, 100])
///     .fill(f64::NAN)
///     .dimension_names(&["y", "x"])
///     .attribute("units", "K");
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is created until it is handed to `create`"]
pub struct NewArray {
    pub(crate) shape: Vec<u64>,
    data_type: String,
    chunks: Option<Vec<u64>>,
    shards: Option<Vec<u64>>,
    grid: Option<NamedConfig>,
    codecs: Option<CodecList>,
    fill: Option<Value>,
    dimension_names: Option<Vec<Option<String>>>,
    conventions: Conventions,
    attributes: Map,
    separator: Option<char>,
    pub(crate) dialect: Option<Dialect>,
    pub(crate) overwrite: bool,
    pub(crate) options: Options,
    dropped: DroppedConsolidated,
}

impl NewArray {
    /// Describes an array of `shape`. `data_type` is the name of a data type in Zarr v3 (`"float32"`), its JSON (`{"name":
    /// "numpy.datetime64", "configuration": {..}}`), the object of a draft (`{"extension": .., "type": .., "fallback": ..}`), or a data
    /// type in numpy's spelling (`"f4"`, `"<M8[s]"`, `"datetime64[s]"`, structs as `[["a", "<i4"], ["b", "<f8", [3]]]`).
    pub fn new(shape: &[u64], data_type: impl Into<String>) -> Self {
        Self {
            shape: shape.to_vec(),
            data_type: data_type.into(),
            chunks: None,
            shards: None,
            grid: None,
            codecs: None,
            fill: None,
            dimension_names: None,
            conventions: Conventions::Detect,
            attributes: Map::new(),
            separator: None,
            dialect: None,
            overwrite: false,
            options: Options::default(),
            dropped: DroppedConsolidated::default(),
        }
    }

    /// Describes an array of `shape` with the default data type of the Rust type `T`.
    ///
    /// ```
    /// # use zarr_array::NewArray;
    /// let new = NewArray::of::<f32>(&[1000, 1000])?.chunks(&[100, 100]);
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if `T` stands for no data type of its own; see [`Element::default_data_type`].
    pub fn of<T: Element>(shape: &[u64]) -> Result<Self> {
        Ok(Self::new(shape, T::default_data_type()?.to_string()))
    }

    /// Sets the shape of chunks (of inner chunks, if there are shards). By default chunks have about 1 MiB.
    pub fn chunks(mut self, shape: &[u64]) -> Self {
        self.chunks = Some(shape.to_vec());
        self
    }

    /// Sets the shape of shards, a multiple of the shape of chunks. By default the array has no shards.
    pub fn shards(mut self, shape: &[u64]) -> Self {
        self.shards = Some(shape.to_vec());
        self
    }

    /// Sets a chunk grid that is not regular, in the vocabulary of Zarr v3.
    pub fn chunk_grid(mut self, grid: NamedConfig) -> Self {
        self.grid = Some(grid);
        self
    }

    /// Sets the codecs of chunks (of inner chunks, if there are shards). If `codecs` has no array-to-bytes codec, one is added. By default
    /// chunks are compressed.
    ///
    /// `codecs` is a string in the notation of [`CodecList`], `"delta,zstd(3)"`; a string of JSON, the `codecs` of a
    /// Zarr v3 document; one typed codec, or a tuple, an array or a vector of them: `(Delta::new(), Zstd::level(3)?)`; or names with
    /// configurations.
    ///
    /// ```
    /// # use zarr_array::NewArray;
    /// let new = NewArray::new(&[1000], "int32").codecs("delta,zstd(3)")?;
    /// let new = NewArray::new(&[1000], "int32").codecs(r#"["bytes", {"name": "gzip", "configuration": {"level": 1}}]"#)?;
    /// assert!(NewArray::new(&[1000], "int32").codecs("zstd(3").is_err());
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a string that does not describe codecs. Errors that only the registry and the data type show come when
    /// the array is created.
    pub fn codecs(mut self, codecs: impl IntoCodecs) -> Result<Self> {
        self.codecs = Some(codecs.into_codecs()?);
        Ok(self)
    }

    /// Sets the fill value, in the notation of Zarr v3: a number, `"NaN"`, `"0x7fc00001"`, `[re, im]`... The default is zero. In dialects
    /// with undefined fill values, `null` leaves the values of elements that are not stored undefined. `null` is the default in dialects
    /// whose readers take elements with the fill value for missing, as xarray does in version 2 ([`Dialect::fill_value_marks_missing`]),
    /// for arrays with dimension names and for arrays without dimensions.
    pub fn fill(mut self, value: impl Into<Value>) -> Self {
        self.fill = Some(value.into());
        self
    }

    /// Sets the names of the dimensions. An array without dimensions needs none: if the dialect stores names in an attribute, the attribute
    /// is the empty list, without which xarray does not open the group.
    pub fn dimension_names<N: AsRef<str>>(mut self, names: &[N]) -> Self {
        self.dimension_names = Some(names.iter().map(|name| Some(name.as_ref().to_owned())).collect());
        self
    }

    /// Sets the convention that the array follows, which decides the default fill value in version 2. The default is the convention of
    /// xarray if the array has dimension names, or no dimensions.
    pub fn conventions(mut self, conventions: Conventions) -> Self {
        self.conventions = conventions;
        self
    }

    /// Adds an attribute.
    pub fn attribute(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.attributes.insert(name, value);
        self
    }

    /// Sets all attributes, in place of those that were set before.
    pub fn attributes(mut self, attributes: Map) -> Self {
        self.attributes = attributes;
        self
    }

    /// Sets the dialect in which the array is stored. The default is the dialect of the existing hierarchy, and Zarr v3 in a store without
    /// nodes; see [`Array::create`](crate::Array::create).
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Sets the separator of the numbers in a chunk key, `'/'` or `'.'`. By default `/` in v3 and its drafts, and `.` in v2 and before.
    pub fn separator(mut self, separator: char) -> Self {
        self.separator = Some(separator);
        self
    }

    /// Sets whether an existing node is replaced, with everything below it. The replacement is one step if the store exchanges prefixes
    /// (directories, SQLite files, memory) and all keys of the node lie under its path (v2, v3, not the root); else the old node is erased
    /// first. By default an existing node is an error.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Notes in `dropped` the groups above the array whose consolidated metadata becomes stale and is dropped, unless the array replaces a
    /// node.
    pub fn noting_dropped(mut self, dropped: &DroppedConsolidated) -> Self {
        self.dropped = dropped.clone();
        self
    }

    /// Sets the options with which the array is read and written after its creation.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Returns the metadata with which the array would be created in `dialect`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the settings do not fit together, and for more than 64 dimensions;
    /// [`ErrorKind::UnknownExtension`] for a data type or codec that is not known.
    pub fn metadata(&self, dialect: Dialect, registry: &Registry) -> Result<ArrayMetadata> {
        if self.shape.len() > MAX_RANK {
            let error = Error::argument(format!("found {} dimensions, expected at most {MAX_RANK}", self.shape.len()));
            return Err(error.at(|location| location.pointer = Some("/shape".to_owned())));
        }
        let (data_type, order) = parse_data_type(&self.data_type, &registry.data_types)?;
        let given = with_fallback(&self.data_type);
        if given.is_some() && (dialect.is_v3() || dialect.precedes_v3()) {
            let error = Error::argument(format!("a fallback of the data type, which dialect {dialect} does not have"));
            return Err(error.at(|location| location.pointer = Some("/data_type/fallback".to_owned())));
        }
        let is_null = match &self.fill {
            Some(fill) => fill.is_null(),
            None => dialect.fill_value_marks_missing() && self.follows_convention(),
        };
        let is_undefined = is_null && data_type != DataType::Object;
        let fill = match &self.fill {
            None => FillValue::zero(&data_type),
            Some(_) if is_undefined => FillValue::zero(&data_type),
            Some(value) => FillValue::parse_as(&data_type, value, Spelling::Readable)
                .map_err(|error| Error::from(error).at(|location| location.pointer = Some("/fill_value".to_owned())))?,
        };
        let fill_value = Some(fill.to_json(&data_type)).filter(|_| !is_undefined);
        let element = ElementSpec::new(data_type.clone(), fill);
        let mut codecs = self.chain(&element, order, dialect, registry)?;
        zarr_meta::spell_out(&mut codecs);
        if dialect.is_v3() {
            zarr_meta::normalize_filter_types(&mut codecs);
        }
        let (grid, codecs) = match (&self.grid, &self.shards) {
            (Some(grid), None) => (grid.clone(), codecs),
            (Some(_), Some(_)) => return Err(Error::argument("shards and a chunk grid of its own")),
            (None, None) => (regular(&self.shape, &self.chunk_shape(&element))?, codecs),
            (None, Some(shards)) => {
                let chunks = match &self.chunks {
                    Some(chunks) => chunks.clone(),
                    None => return Err(Error::argument("shards without the shape of their inner chunks")),
                };
                let shard =
                    registry.defaults.shard.ok_or_else(|| Error::argument("no sharding codec is registered"))?;
                let mut shard = shard(&chunks, &codecs);
                if let (false, Some(Value::Array(index))) =
                    (dialect.has_index_checksums(), shard.configuration.get_mut("index_codecs"))
                {
                    index.truncate(1);
                }
                (regular(&self.shape, shards)?, vec![shard])
            }
        };
        let separator = self.separator.map(String::from);
        let keys = zarr_meta::chunk_keys(dialect, self.shape.len(), separator.as_deref(), &Documents::new());
        let (shape, data_type) = (self.shape.clone(), data_type.to_config());
        let mut metadata = ArrayMetadata::new(shape, data_type, grid, keys, fill_value, codecs);
        metadata.dimension_names.clone_from(&self.dimension_names);
        if self.shape.is_empty() && self.follows_convention() && !dialect.has_dimension_names() {
            metadata.dimension_names.get_or_insert_default();
        }
        metadata.attributes.clone_from(&self.attributes);
        if let Some(given) = given {
            // The document has it as it is given.
            metadata.extra.insert("data_type", given);
        }
        Ok(metadata)
    }

    fn follows_convention(&self) -> bool {
        match self.conventions {
            // Dimensions that are none can be named in one way only.
            Conventions::Detect => self.dimension_names.is_some() || self.shape.is_empty(),
            Conventions::Assume(_) => true,
            _ => false,
        }
    }

    fn chunk_shape(&self, element: &ElementSpec) -> Vec<u64> {
        self.chunks.clone().unwrap_or_else(|| default_chunks(&self.shape, element.item_size() as u64))
    }

    /// Returns the codecs of chunks, completed by an array-to-bytes codec if there is none.
    fn chain(
        &self,
        element: &ElementSpec,
        order: ByteOrder,
        dialect: Dialect,
        registry: &Registry,
    ) -> Result<Vec<NamedConfig>> {
        let defaults = &registry.defaults;
        let data_type = &element.data_type;
        let given = match &self.codecs {
            Some(codecs) => Some(codecs.to_configs(&registry.codecs)?),
            None => dialect.default_codecs(),
        };
        let is_text = self.codecs.as_ref().is_some_and(CodecList::is_text);
        let is_of_document = self.codecs.as_ref().is_none_or(CodecList::is_of_document);
        let Some(given) = given else {
            let serializer = defaults.serializer.map(|serializer| serializer(data_type, order));
            let compressor = defaults.compressor.map(|compressor| compressor(data_type));
            return Ok(serializer.into_iter().chain(compressor.into_iter().flatten()).collect());
        };
        let has_ids = !dialect.is_v3();
        let mut codecs: Vec<NamedConfig> = Vec::new();
        // The first codec that takes bytes, or the end: where the array has to be bytes, and its elements there.
        let mut position = given.len();
        let mut current = element.stored();
        let mut order = order;
        let mut is_bytes = false;
        for (at, codec) in given.iter().enumerate() {
            // A name that only this library reads is not written.
            let mut codec = NamedConfig { name: written_name(&codec.name, has_ids).to_owned(), ..codec.clone() };
            let is_numcodecs = codec.name.starts_with(NUMCODECS);
            // Where codecs have ids, missing members are added when the document is written.
            if !(is_numcodecs && has_ids) {
                let stored = current.data_type == *element.data_type.storage();
                codec = registry.codecs.complete(codec, if stored { data_type } else { &current.data_type });
            }
            let built = built(&mut codec, &current, registry, is_text).map_err(|error| match is_of_document {
                true => error.under(&format!("/codecs/{at}")),
                false => error.of_codec(&codec.name),
            })?;
            match built.filter(|_| !is_bytes) {
                Some(Codec::ArrayToBytes(_)) => is_bytes = true,
                Some(Codec::BytesToBytes(_)) => position = position.min(at),
                Some(Codec::ArrayToArray(built)) => {
                    current = built.encoded().clone();
                    // Little-endian is the only order in which all versions of zarr-python 3 read elements from such filters.
                    if codec.name.starts_with(NUMCODECS) && !has_ids {
                        order = ByteOrder::Little;
                    }
                }
                None => {}
            }
            if let Some(entry) = registry.codecs.get(&codec.name) {
                codec.name = entry.written(&codec.name, has_ids && !dialect.precedes_v3()).to_owned();
            }
            codecs.push(codec);
        }
        if is_bytes {
            return Ok(codecs);
        }
        let stays = current.data_type == *element.data_type.storage();
        let data_type = if stays { data_type } else { &current.data_type };
        if let Some(serializer) = defaults.serializer.map(|serializer| serializer(data_type, order)) {
            codecs.insert(position, serializer);
        }
        Ok(codecs)
    }
}

/// Builds a codec in order to find its kind and errors in its configuration, and replaces `codec.configuration` by the corrected one.
/// Returns `None` for an unknown codec, which the pipeline refuses later. If `knows_members`, members of the configuration that the codec
/// does not read are errors.
fn built(
    codec: &mut NamedConfig,
    element: &ElementSpec,
    registry: &Registry,
    knows_members: bool,
) -> Result<Option<Codec>, zarr_codec::Error> {
    let Some(entry) = registry.codecs.get(&codec.name) else { return Ok(None) };
    let config = Config::new(&codec.configuration);
    let (limits, warnings) = (zarr_codec::Limits::default(), Warnings::default());
    let context = BuildContext::new(&codec.name, &config, element, &registry.codecs, &limits, &warnings);
    let built = entry.build(&context)?;
    config.check()?;
    warnings.check()?;
    if let Some(member) = config.unread().first().filter(|_| knows_members) {
        return Err(config.error(member, "unknown member".to_owned()));
    }
    codec.configuration = config.corrected();
    Ok(Some(built))
}

fn regular(shape: &[u64], chunks: &[u64]) -> Result<NamedConfig> {
    if chunks.contains(&0) {
        return Err(Error::argument(format!("chunks {chunks:?}, expected lengths greater than 0")));
    }
    Ok(ChunkGrid::regular(shape, chunks)?.to_config())
}

/// Returns the default shape of chunks: halves the longest side of `shape` until a chunk has at most [`CHUNK_SIZE`] bytes. `item` is the
/// size of an element.
fn default_chunks(shape: &[u64], item: u64) -> Vec<u64> {
    let mut chunks: Vec<u64> = shape.iter().map(|&len| len.max(1)).collect();
    let size = |chunks: &[u64]| chunks.iter().fold(item, |size, &len| size.saturating_mul(len));
    while size(&chunks) > CHUNK_SIZE {
        match chunks.iter_mut().max() {
            Some(longest) if *longest > 1 => *longest = longest.div_ceil(2),
            _ => break,
        }
    }
    chunks
}

/// Makes the job that finds the dialect in which an array is to be created.
pub(crate) fn find_dialect(path: &str, new: &NewArray, can_list: bool, profile: &AccessProfile) -> Result<FindDialect> {
    Ok(FindDialect::new(node::parse_path(path)?, new.dialect, new.overwrite, can_list, profile))
}

/// Checks everything about a new array that can be wrong, and makes the job that creates it.
pub(crate) fn create(
    path: &str,
    new: &NewArray,
    dialect: Dialect,
    (store, capabilities): (String, Capabilities),
    registry: &Arc<Registry>,
) -> Result<(CreateNode, Options)> {
    let path = node::parse_path(path)?;
    let in_path = |error: Error| {
        let error = error.at_path(&path);
        let is_refused = matches!(error.kind(), ErrorKind::NotExpressible | ErrorKind::Path);
        let is_taken = new.dialect.is_none() && dialect != node::DEFAULT_DIALECT;
        match is_refused && is_taken && error.hint().is_none() {
            true => error.with_hint(format!("a new node takes the dialect of the hierarchy, which is {dialect}")),
            false => error,
        }
    };
    let node = Node::Array(new.metadata(dialect, registry).map_err(in_path)?);
    // Dimension names become attributes where the dialect has no other way to say them.
    let is_undefined = |node: &Node| node.as_array().is_some_and(|array| array.fill_value.is_none());
    let undefined = is_undefined(&node);
    let (node, _) = zarr_meta::for_dialect_from(&node, dialect, dialect).map_err(|error| in_path(error.into()))?;
    if undefined && !is_undefined(&node) {
        let message = format!("the fill value null: dialect {dialect} has no undefined one");
        return Err(in_path(Error::new(ErrorKind::NotExpressible, message)));
    }
    let job =
        node::create(path.clone(), dialect, &node, new.overwrite, capabilities).map_err(in_path)?.noting(&new.dropped);
    ArrayCore::new(job.found().clone(), store, Arc::clone(registry), new.options.clone())?;
    Ok((job, new.options.clone()))
}

impl NewArray {
    /// Checks, without a store, whether the array can be created at `path` (`/a/b`) of an empty store.
    ///
    /// # Errors
    /// The errors of [`Array::create`](crate::Array::create).
    pub fn check(&self, path: &str, registry: &Arc<Registry>) -> Result<()> {
        let dialect = self.dialect.unwrap_or(node::DEFAULT_DIALECT);
        create(path, self, dialect, (String::new(), Capabilities::default()), registry).map(drop)
    }
}

#[cfg(test)]
mod tests;
