//! Options of a pyramid.

use super::super::{Part, Shards};
use std::collections::BTreeMap;
use zarr_array::Options;
use zarr_codec::CodecList;
use zarr_grid::Region;
use zarr_reduce::Method;

/// Options of a [`Pyramid`](super::Pyramid).
///
/// ```
/// use zarr_convert::{Method, PyramidOptions};
///
/// let options = PyramidOptions::default().factor("y", 2).factor("x", 2).levels(3).method(Method::Median);
/// assert_eq!(options.levels, Some(3));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PyramidOptions {
    /// Factor from each level to the next along axes, by the name of a dimension or its index. Along other axes the factor is 1. By default
    /// 2 along the last two axes.
    pub factors: BTreeMap<String, u64>,
    /// Number of levels that are coarser than the source; `None` for the number by which the last one fits one chunk along the axes of the
    /// factors.
    pub levels: Option<usize>,
    /// How a block of elements becomes one element.
    pub method: Method,
    /// Whether missing elements are left out: NaN, and those that are equal to the attributes `_FillValue` and `missing_value`, or without
    /// both to the fill value of the array. A block of missing elements becomes the first of these values, or NaN if it has NaN alone. A mean
    /// of integers that is equal to such a value is missing in the next level. [`Method::Nearest`] takes the element at the centre all the
    /// same.
    pub skip_missing: bool,
    /// Shape of chunks (of inner chunks, if there are shards) of all levels. By default that of the source. Chunks are no longer than their
    /// level.
    pub chunks: Option<Vec<u64>>,
    /// Chunk length per dimension name. Along other dimensions chunks are as long as in the source.
    pub chunk_lengths: BTreeMap<String, u64>,
    /// Shape of the shards of all levels; [`Shards::Auto`] for shards of at most about 64 MiB that fit the memory. By default levels have
    /// shards as the source has, unless they get other chunks.
    pub shards: Option<Shards>,
    /// Codecs of chunks. By default those of the source.
    pub codecs: Option<CodecList>,
    /// Greatest number of bytes of memory for data. Default 256 MiB. It decides where [parts](Self::part) begin and end, so all parts and
    /// [`finish`](super::Pyramid::finish) need the same.
    pub memory: u64,
    /// Whether existing levels are replaced. They are erased first. A group is never replaced, and beside the source no array of another
    /// data type or number of dimensions, or that is as large as the source.
    pub overwrite: bool,
    /// Whether to resume an interrupted run with the same options, whose journal is beside the first level. Chunks that it has written are
    /// read where coarser levels need them, so levels with lossy codecs may differ from those of a run without interruption.
    pub resume: bool,
    /// Region of the source that has changed: only the chunks of existing levels that depend on it are computed, and written in place. Each
    /// chunk has its old elements or its new ones if that is interrupted; the same call computes them again. The factors and the method are
    /// to be those of the levels.
    pub region: Option<Region>,
    /// Level that is computed of the next finer one, which exists; others stay as they are. If the level exists, it keeps its chunks and
    /// codecs, and is written in place as for a region; with [`overwrite`](Self::overwrite) it is replaced.
    pub level: Option<usize>,
    /// Part that is computed, of several that processes on any machines share: chunks of all levels, as far as they depend on no other part.
    /// A part that was interrupted goes on when it is run again. The levels exist after [`finish`](super::Pyramid::finish), which computes
    /// the chunks that depend on several parts. No part replaces levels, or chunks of levels that exist.
    pub part: Option<Part>,
    /// Options for reading and writing arrays.
    pub options: Options,
}

impl Default for PyramidOptions {
    fn default() -> Self {
        Self {
            factors: BTreeMap::new(),
            levels: None,
            method: Method::Mean,
            skip_missing: false,
            chunks: None,
            chunk_lengths: BTreeMap::new(),
            shards: None,
            codecs: None,
            memory: 256 << 20,
            overwrite: false,
            resume: false,
            region: None,
            level: None,
            part: None,
            options: Options::default(),
        }
    }
}

/// Defines a method that sets each of some members.
macro_rules! setters {
    ($($name:ident: $type:ty;)*) => {
        $(
            #[doc = concat!("Sets [`", stringify!($name), "`](Self#structfield.", stringify!($name), ").")]
            #[must_use]
            pub fn $name(mut self, $name: $type) -> Self {
                self.$name = $name.into();
                self
            }
        )*
    };
}

impl PyramidOptions {
    /// Sets the [factor](Self#structfield.factors) along an axis, by the name of a dimension or its index.
    #[must_use]
    pub fn factor(mut self, axis: impl Into<String>, factor: u64) -> Self {
        self.factors.insert(axis.into(), factor);
        self
    }

    /// Sets the number of [levels](Self#structfield.levels).
    #[must_use]
    pub fn levels(mut self, levels: usize) -> Self {
        self.levels = Some(levels);
        self
    }

    /// Sets the one [level](Self#structfield.level) that is computed.
    #[must_use]
    pub fn level(mut self, level: usize) -> Self {
        self.level = Some(level);
        self
    }

    setters! {
        method: Method;
        skip_missing: bool;
        chunks: impl Into<Option<Vec<u64>>>;
        chunk_lengths: BTreeMap<String, u64>;
        shards: impl Into<Option<Shards>>;
        codecs: impl Into<Option<CodecList>>;
        memory: u64;
        overwrite: bool;
        resume: bool;
        region: impl Into<Option<Region>>;
        part: impl Into<Option<Part>>;
        options: Options;
    }
}
