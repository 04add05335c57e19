//! Options of conversions.

use super::{Part, Shards};
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr_array::Options;
use zarr_codec::CodecList;
use zarr_geo::Georeference;
use zarr_grid::Region;
use zarr_hierarchy::Result;
use zarr_json::Map;
use zarr_meta::conventions::Conventions;
use zarr_meta::{Dialect, NodePath};
use zarr_ome::document::Window;
use zarr_ome::{NewImage, Version};
use zarr_store::Store;

/// Options of a [`Conversion`](super::Conversion), with defaults and a method for each option.
///
/// ```
/// use zarr_convert::ConvertOptions;
/// use zarr_meta::Dialect;
///
/// let options = ConvertOptions::default().dialect(Dialect::V3).chunks(vec![100, 100]).overwrite(true);
/// assert_eq!(options.chunks, Some(vec![100, 100]));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// Dialect to write. By default the dialect of the source, or Zarr v3 if that is older than v2.
    pub dialect: Option<Dialect>,
    /// Shape of chunks (of inner chunks, if there are shards) for arrays with as many dimensions as the shape has. Other arrays keep their
    /// chunks.
    pub chunks: Option<Vec<u64>>,
    /// Chunk length per dimension name, for arrays that have at least one of the named dimensions. Along other dimensions chunk lengths
    /// stay. Cannot be combined with [`chunks`](Self#structfield.chunks).
    pub chunk_lengths: BTreeMap<String, u64>,
    /// Which arrays are sharded. By default sharded arrays keep their shards, unless they get other chunks: then they are not sharded.
    pub shards: Option<Shards>,
    /// Codecs of chunks, in the form that [`NewArray::codecs`](zarr_array::NewArray::codecs) takes. By default arrays keep their codecs.
    pub codecs: Option<CodecList>,
    /// Codecs of chunks of single arrays, by their paths in the source, in place of [`codecs`](Self#structfield.codecs).
    pub array_codecs: BTreeMap<NodePath, CodecList>,
    /// Attributes that nodes get, by their paths in the source, in place of those with the same names.
    pub attributes: BTreeMap<NodePath, Map>,
    /// Node to convert, with all nodes below it. The groups above it are converted as well, unless [`to`](Self#structfield.to) names its
    /// path in the target. By default the whole hierarchy is converted.
    pub node: Option<NodePath>,
    /// Arrays to convert, with the groups above them. By default all.
    pub arrays: Option<Vec<NodePath>>,
    /// Regions of source arrays to convert, by path: boxes, with steps or without. Other arrays are converted whole. A written array has
    /// the shape of its region, including dimensions of length 1, and chunks as long as in the source or as the region. If all chunks of a
    /// region lie in the region as a whole, they are copied as they are stored. Levels of OME-Zarr images cannot have regions, and a move
    /// cannot either.
    pub regions: BTreeMap<NodePath, Region>,
    /// Nodes that are left out, with all nodes below them, even if they cannot be read.
    pub exclude: Vec<NodePath>,
    /// Whether keys below groups that belong to no node are copied unchanged with their groups: Parquet tables, XML, text and other files
    /// that other software stores beside arrays ([`other_keys`](zarr_hierarchy::other_keys)). Default true; no such keys are copied if
    /// [`arrays`](Self#structfield.arrays) are chosen.
    pub other_keys: bool,
    /// Path of the node in the target, or of the root if no node is named. Missing groups above it are created. By default the path in the
    /// source.
    pub to: Option<NodePath>,
    /// Whether members that the dialect cannot express are stored in the attribute [`CARRIED`](zarr_meta::CARRIED), from which a conversion
    /// back restores them. Otherwise they are left out with a note, and dimension names are an error.
    pub carry: bool,
    /// Whether documents keep their literal values, with a warning if data gets another meaning for xarray. By default nodes that follow a
    /// convention keep their meaning instead: see [`ForDialect::meaning`](zarr_meta::ForDialect::meaning). OME-Zarr metadata is converted
    /// to version 0.5 in Zarr v3, and to 0.4 in older versions, and the axes of images name the dimensions of levels.
    pub literal: bool,
    /// Georeferences that nodes get, by their paths in the source, of the regions that are written. By default nodes keep their attributes
    /// of GeoZarr; of an array of which a region is taken these become those of the region.
    pub georeferences: BTreeMap<NodePath, Georeference>,
    /// Image that the converted array becomes a level of: the first one that the image names, below the group at the path in the target. The
    /// group gets the metadata at the end, and the array the names of the axes. Where a region of the array is converted, it is the image of
    /// that region ([`NewImage::region`]). `None` if nodes stay what they are.
    pub image: Option<NewImage>,
    /// Windows of the channels of images that are there, by the paths of their groups in the source. Everything else of their metadata stays
    /// ([`with_windows`](zarr_ome::document::with_windows)). By default images keep their windows.
    pub channel_windows: BTreeMap<NodePath, Vec<Window>>,
    /// Version of OME-Zarr of images, plates, wells and labels. By default the version of the source, or that of the format if it changes:
    /// 0.4 in Zarr v2, 0.5 in v3.
    pub ome_version: Option<Version>,
    /// Whether parts of OME-Zarr metadata that [`ome_version`](Self#structfield.ome_version) cannot hold are left out, with a note. By
    /// default they are an error.
    pub ome_losses: bool,
    /// Whether arrays of objects become arrays of the data type `string` with the codec `vlen-utf8`, which other software reads, if all
    /// their elements are strings. To find out, planning the conversion reads their elements. By default all arrays of objects keep their
    /// data type, which in Zarr v3 no other software reads ([`PlannedNode::unread`](super::PlannedNode::unread)).
    pub objects_as_strings: bool,
    /// Convention that nodes follow. By default it is detected from the way in which the dimensions of an array are named.
    pub conventions: Conventions,
    /// Greatest number of bytes of memory for data: elements, and values on their way to and from remote stores. Default 1 GiB.
    pub memory: u64,
    /// Store in which elements are stored temporarily, uncompressed, if memory is so small that each chunk of the source would be decoded
    /// three times or more. Takes at most as many bytes as the elements of an array, which are erased at the end. By default the target,
    /// beside the node (an SQLite file keeps its size when they are erased). In zip files, where nothing can be erased, chunks are decoded
    /// several times instead. A killed process leaves the elements in the store; in the target, the next run of the conversion, or of the
    /// part, erases them.
    pub scratch: Option<Arc<dyn Store>>,
    /// Whether existing nodes at the target path are replaced: in one step at the end if the target exchanges prefixes; otherwise they are
    /// erased first. See [`Conversion::run`](super::Conversion::run).
    pub overwrite: bool,
    /// Whether to resume an interrupted run with the same options, whose journal is in the target. Without a journal the conversion begins
    /// as usual. Fails if that run is still active; for a run on another machine this check takes up to 30 s.
    pub resume: bool,
    /// Whether to continue if a chunk of the source cannot be read or decoded: the chunk is reported
    /// ([`Progress::Skipped`](super::Progress::Skipped)), and its elements have the fill value in the target. A node that cannot be read or
    /// converted is left out ([`Conversion::refused`](super::Conversion::refused)). Chunks that are copied as bytes
    /// ([`Action::CopyChunks`](super::Action::CopyChunks)) are not decoded, so a corrupt chunk is copied as it is. Keys of no node that
    /// cannot be read are left out, too ([`Progress::SkippedKey`](super::Progress::SkippedKey)).
    pub keep_going: bool,
    /// Part to convert, for conversions that several processes share, on any machines and at the same time. Running an interrupted part
    /// again resumes it. All parts need the same options, except [`threads`](zarr_array::Options#structfield.threads). No node exists until
    /// [`Conversion::finish`](super::Conversion::finish); [`Conversion::abandon`](super::Conversion::abandon) gives all parts up. By
    /// default one process converts everything.
    pub part: Option<Part>,
    /// Options for reading and writing arrays.
    pub options: Options,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        Self {
            dialect: None,
            chunks: None,
            chunk_lengths: BTreeMap::new(),
            shards: None,
            codecs: None,
            array_codecs: BTreeMap::new(),
            attributes: BTreeMap::new(),
            node: None,
            arrays: None,
            regions: BTreeMap::new(),
            exclude: Vec::new(),
            other_keys: true,
            to: None,
            carry: false,
            literal: false,
            georeferences: BTreeMap::new(),
            image: None,
            channel_windows: BTreeMap::new(),
            ome_version: None,
            ome_losses: false,
            objects_as_strings: false,
            conventions: Conventions::Detect,
            memory: 1 << 30,
            scratch: None,
            overwrite: false,
            resume: false,
            keep_going: false,
            part: None,
            options: Options::default(),
        }
    }
}

impl ConvertOptions {
    /// Returns the path in the target of the node at `path` in the source.
    pub(super) fn moved(&self, path: &NodePath) -> Result<NodePath> {
        let Some(to) = &self.to else { return Ok(path.clone()) };
        let from = self.node.as_ref().map_or(0, |node| node.names().count());
        path.names().skip(from).try_fold(to.clone(), |to, name| Ok(to.join(name)?))
    }

    /// Sets [`dialect`](Self#structfield.dialect).
    #[must_use]
    pub fn dialect(mut self, dialect: impl Into<Option<Dialect>>) -> Self {
        self.dialect = dialect.into();
        self
    }

    /// Sets [`chunks`](Self#structfield.chunks).
    #[must_use]
    pub fn chunks(mut self, chunks: impl Into<Option<Vec<u64>>>) -> Self {
        self.chunks = chunks.into();
        self
    }

    /// Sets [`chunk_lengths`](Self#structfield.chunk_lengths).
    #[must_use]
    pub fn chunk_lengths(mut self, lengths: BTreeMap<String, u64>) -> Self {
        self.chunk_lengths = lengths;
        self
    }

    /// Sets [`shards`](Self#structfield.shards).
    #[must_use]
    pub fn shards(mut self, shards: impl Into<Option<Shards>>) -> Self {
        self.shards = shards.into();
        self
    }

    /// Sets [`codecs`](Self#structfield.codecs).
    #[must_use]
    pub fn codecs(mut self, codecs: impl Into<Option<CodecList>>) -> Self {
        self.codecs = codecs.into();
        self
    }

    /// Sets [`array_codecs`](Self#structfield.array_codecs).
    #[must_use]
    pub fn array_codecs(mut self, codecs: BTreeMap<NodePath, CodecList>) -> Self {
        self.array_codecs = codecs;
        self
    }

    /// Sets [`attributes`](Self#structfield.attributes).
    #[must_use]
    pub fn attributes(mut self, attributes: BTreeMap<NodePath, Map>) -> Self {
        self.attributes = attributes;
        self
    }

    /// Returns the options with the codecs of the array at `path`; `None` if these are those of all arrays.
    pub(super) fn of_array(&self, path: &NodePath) -> Option<Self> {
        let codecs = self.array_codecs.get(path)?;
        Some(Self { codecs: Some(codecs.clone()), array_codecs: BTreeMap::new(), ..self.clone() })
    }

    /// Sets [`node`](Self#structfield.node).
    #[must_use]
    pub fn node(mut self, node: impl Into<Option<NodePath>>) -> Self {
        self.node = node.into();
        self
    }

    /// Sets [`arrays`](Self#structfield.arrays).
    #[must_use]
    pub fn arrays(mut self, arrays: impl Into<Option<Vec<NodePath>>>) -> Self {
        self.arrays = arrays.into();
        self
    }

    /// Sets [`regions`](Self#structfield.regions).
    #[must_use]
    pub fn regions(mut self, regions: BTreeMap<NodePath, Region>) -> Self {
        self.regions = regions;
        self
    }

    /// Sets [`exclude`](Self#structfield.exclude).
    #[must_use]
    pub fn exclude(mut self, exclude: Vec<NodePath>) -> Self {
        self.exclude = exclude;
        self
    }

    /// Sets [`other_keys`](Self#structfield.other_keys).
    #[must_use]
    pub fn other_keys(mut self, other_keys: bool) -> Self {
        self.other_keys = other_keys;
        self
    }

    /// Sets [`to`](Self#structfield.to).
    #[must_use]
    pub fn to(mut self, to: impl Into<Option<NodePath>>) -> Self {
        self.to = to.into();
        self
    }

    /// Sets [`carry`](Self#structfield.carry).
    #[must_use]
    pub fn carry(mut self, carry: bool) -> Self {
        self.carry = carry;
        self
    }

    /// Sets [`literal`](Self#structfield.literal).
    #[must_use]
    pub fn literal(mut self, literal: bool) -> Self {
        self.literal = literal;
        self
    }

    /// Sets [`georeferences`](Self#structfield.georeferences).
    #[must_use]
    pub fn georeferences(mut self, georeferences: BTreeMap<NodePath, Georeference>) -> Self {
        self.georeferences = georeferences;
        self
    }

    /// Sets [`image`](Self#structfield.image).
    #[must_use]
    pub fn image(mut self, image: impl Into<Option<NewImage>>) -> Self {
        self.image = image.into();
        self
    }

    /// Sets [`channel_windows`](Self#structfield.channel_windows).
    #[must_use]
    pub fn channel_windows(mut self, channel_windows: BTreeMap<NodePath, Vec<Window>>) -> Self {
        self.channel_windows = channel_windows;
        self
    }

    /// Sets [`ome_version`](Self#structfield.ome_version).
    #[must_use]
    pub fn ome_version(mut self, version: impl Into<Option<Version>>) -> Self {
        self.ome_version = version.into();
        self
    }

    /// Sets [`ome_losses`](Self#structfield.ome_losses).
    #[must_use]
    pub fn ome_losses(mut self, ome_losses: bool) -> Self {
        self.ome_losses = ome_losses;
        self
    }

    /// Sets [`objects_as_strings`](Self#structfield.objects_as_strings).
    #[must_use]
    pub fn objects_as_strings(mut self, objects_as_strings: bool) -> Self {
        self.objects_as_strings = objects_as_strings;
        self
    }

    /// Sets [`conventions`](Self#structfield.conventions).
    #[must_use]
    pub fn conventions(mut self, conventions: Conventions) -> Self {
        self.conventions = conventions;
        self
    }

    /// Sets [`memory`](Self#structfield.memory).
    #[must_use]
    pub fn memory(mut self, memory: u64) -> Self {
        self.memory = memory;
        self
    }

    /// Sets [`scratch`](Self#structfield.scratch).
    #[must_use]
    pub fn scratch(mut self, scratch: impl Into<Option<Arc<dyn Store>>>) -> Self {
        self.scratch = scratch.into();
        self
    }

    /// Sets [`overwrite`](Self#structfield.overwrite).
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Sets [`resume`](Self#structfield.resume).
    #[must_use]
    pub fn resume(mut self, resume: bool) -> Self {
        self.resume = resume;
        self
    }

    /// Sets [`keep_going`](Self#structfield.keep_going).
    #[must_use]
    pub fn keep_going(mut self, keep_going: bool) -> Self {
        self.keep_going = keep_going;
        self
    }

    /// Sets [`part`](Self#structfield.part).
    #[must_use]
    pub fn part(mut self, part: impl Into<Option<Part>>) -> Self {
        self.part = part.into();
        self
    }

    /// Sets [`options`](Self#structfield.options).
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
}
