//! Options of conversions.

use super::{Part, Shards};
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr_array::Options;
use zarr_codec::CodecList;
use zarr_grid::Region;
use zarr_hierarchy::Result;
use zarr_meta::conventions::Conventions;
use zarr_meta::{Dialect, NodePath};
use zarr_store::Store;

/// Options of a [`Conversion`](super::Conversion): a default, and a method for each.
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
    /// The dialect to write. By default the one found, or Zarr v3 where that is older than v2.
    pub dialect: Option<Dialect>,
    /// The shape of chunks (of inner chunks, if there are shards), for arrays of as many dimensions. Others keep theirs.
    pub chunks: Option<Vec<u64>>,
    /// The lengths of chunks along dimensions of these names, for arrays that have one of them; along other dimensions they stay as they
    /// are. Not beside [`chunks`](Self#structfield.chunks).
    pub chunk_lengths: BTreeMap<String, u64>,
    /// The shards. By default arrays stay sharded as they are, except arrays that get other chunks, which are not sharded.
    pub shards: Option<Shards>,
    /// The codecs of chunks, as [`NewArray::codecs`](zarr_array::NewArray::codecs) takes them.
    pub codecs: Option<CodecList>,
    /// Convert this node alone, with all below it. The groups above it are converted with it, unless it goes to a path of its
    /// own.
    pub node: Option<NodePath>,
    /// Convert these arrays alone, with the groups above them. By default all.
    pub arrays: Option<Vec<NodePath>>,
    /// The elements of arrays of the source, by path, that are converted: boxes, with steps or without. Other arrays are converted whole.
    /// The arrays that are written have the shapes of these regions, dimensions of one element included, and chunks as long as in the
    /// source, or as the region. Chunks that lie in a region as a whole are copied as they are stored, where all of them do. Levels of
    /// OME-Zarr images are not cut, and a move cuts nothing.
    pub regions: BTreeMap<NodePath, Region>,
    /// Nodes that are left out, with all below them, whether they can be read or not.
    pub exclude: Vec<NodePath>,
    /// Whether keys below groups that belong to no node are copied with their groups, as they are: tables in Parquet, XML, text files,
    /// whatever other software keeps beside arrays ([`other_keys`](zarr_hierarchy::other_keys)). Default true; not where
    /// [`arrays`](Self#structfield.arrays) are chosen.
    pub other_keys: bool,
    /// The path of the node in the target, or of the root if no node is named. Groups above it are made where there are none. By default
    /// the path in the source.
    pub to: Option<NodePath>,
    /// Whether members that the dialect cannot express are kept in the attribute [`CARRIED`](zarr_meta::CARRIED), from
    /// where a conversion back takes them. Otherwise they are left out with a note, and dimension names are an error.
    pub carry: bool,
    /// Whether documents are kept to the letter, with a warning where that gives data another meaning to xarray. By default
    /// nodes that follow a convention keep their meaning instead: see [`ForDialect::meaning`](zarr_meta::ForDialect::meaning). Metadata of
    /// OME-Zarr become those of 0.5 in Zarr v3, and of 0.4 in older versions, and the axes of images name the dimensions of levels.
    pub literal: bool,
    /// Whether arrays of objects all of whose elements are strings become arrays of the data type `string` with the codec `vlen-utf8`,
    /// which other software reads. To find that out, their elements are read when the conversion is planned. Others stay as they are. By
    /// default all do: in Zarr v3 no other software reads them ([`PlannedNode::unread`](super::PlannedNode::unread)).
    pub objects_as_strings: bool,
    /// The convention that nodes follow. By default the one by which the dimensions of an array are named.
    pub conventions: Conventions,
    /// Greatest number of bytes of memory for data. Default 1 GiB.
    pub memory: u64,
    /// The store in which elements are stored temporarily, uncompressed, when the memory is so small that each chunk of the source would
    /// be decoded three times or more: up to as many bytes as the elements of the array have, which are erased at the end. By default the
    /// target, beside the node (an SQLite file keeps its size when they are erased); in zip files, which take nothing that is erased
    /// again, chunks are decoded several times instead. A killed process leaves the elements in this store; in the target the next run of
    /// the conversion, or of the part, erases them.
    pub scratch: Option<Arc<dyn Store>>,
    /// Whether nodes that are in the way are replaced: in one step, when all is written, where the target exchanges prefixes, else they
    /// are erased first. See [`Conversion::run`](super::Conversion::run).
    pub overwrite: bool,
    /// Whether to go on where an earlier run with the same options was interrupted, whose journal is in the target. Without a
    /// journal the conversion begins as usual. It is an error while that run is still at work; whether one on another machine is, takes up
    /// to 30 s to see.
    pub resume: bool,
    /// Whether to go on where a chunk of the source cannot be read or decoded: it is reported
    /// ([`Progress::Skipped`](super::Progress::Skipped)), and its elements have the fill value in the target. A node that cannot be read or
    /// converted is left out ([`Conversion::refused`](super::Conversion::refused)). Where chunks are copied as
    /// bytes ([`Action::CopyChunks`](super::Action::CopyChunks)) nothing is decoded: a chunk that cannot be is copied as it is. Another key
    /// that cannot be read is left out, too ([`Progress::SkippedKey`](super::Progress::SkippedKey)).
    pub keep_going: bool,
    /// Do this part alone, which any process may do on any machine, at the same time as others do others. A part that was interrupted
    /// goes on where it stopped when it is run again. All parts have the same options, but for
    /// [`threads`](zarr_array::Options#structfield.threads). No node is there until [`Conversion::finish`](super::Conversion::finish).
    /// [`Conversion::abandon`](super::Conversion::abandon) gives all of them up. By default all is done by one process.
    pub part: Option<Part>,
    /// Options with which arrays are read and written.
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
            node: None,
            arrays: None,
            regions: BTreeMap::new(),
            exclude: Vec::new(),
            other_keys: true,
            to: None,
            carry: false,
            literal: false,
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
    /// The path that a node goes to.
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
