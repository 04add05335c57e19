//! Options of checks.

use zarr_array::Options;
use zarr_meta::Dialect;

/// Depth of a check. Each level includes the levels before it, but for [`Advice`](Self::Advice).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Checks the documents of nodes.
    Documents,
    /// Checks also the list of all keys.
    Keys,
    /// Checks also whether the layout of arrays is unusual or costly, which no other level does.
    Advice,
    /// Checks also the indexes of shards.
    Indexes,
    /// Checks also all chunks, which are decoded.
    #[default]
    Chunks,
}

/// Convention about the attributes of nodes that a check knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Convention {
    /// OME-Zarr: images, labels, plates, wells and scenes.
    Ome,
    /// GeoZarr: the conventions `proj`, `spatial` and `multiscales`.
    GeoZarr,
    /// CF, and the names of dimensions and coordinates as xarray reads them.
    Cf,
}

impl Convention {
    /// All conventions.
    pub const ALL: &[Self] = &[Self::Ome, Self::GeoZarr, Self::Cf];

    /// Name of the convention: `ome`, `geozarr` or `cf`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ome => "ome",
            Self::GeoZarr => "geozarr",
            Self::Cf => "cf",
        }
    }
}

/// Options of a check. `CheckOptions::default()` has the defaults, and a method sets each option.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckOptions {
    /// Depth of the check; by default [`Level::Chunks`].
    pub level: Level,
    /// Share of the chunks that are checked, above 0 and up to 1; by default 1. A hash of its key decides whether a chunk is in the sample.
    pub sample: f64,
    /// Whether conventions are checked; by default they are.
    pub conventions: bool,
    /// Conventions that are checked in full, with what they only recommend. A convention that no node of the store follows is then a
    /// finding. If the list is empty, all conventions are checked for what they require.
    pub named: Vec<Convention>,
    /// Dialect of the nodes that are checked; `None` for nodes of all dialects.
    pub dialect: Option<Dialect>,
    /// Options with which arrays are opened, such as threads, limits, and requests in flight.
    pub arrays: Options,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            level: Level::default(),
            sample: 1.0,
            conventions: true,
            named: Vec::new(),
            dialect: None,
            arrays: Options::default(),
        }
    }
}

impl CheckOptions {
    /// Sets [`level`](Self::level).
    #[must_use]
    pub fn level(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// Sets [`sample`](Self::sample).
    #[must_use]
    pub fn sample(self, sample: f64) -> Self {
        Self { sample, ..self }
    }

    /// Sets [`conventions`](Self::conventions).
    #[must_use]
    pub fn conventions(self, conventions: bool) -> Self {
        Self { conventions, ..self }
    }

    /// Sets [`named`](Self::named).
    #[must_use]
    pub fn named(self, named: Vec<Convention>) -> Self {
        Self { named, ..self }
    }

    /// Whether a convention is checked.
    pub(crate) fn checks(&self, convention: Convention) -> bool {
        self.conventions && (self.named.is_empty() || self.named.contains(&convention))
    }

    /// Sets [`dialect`](Self::dialect).
    #[must_use]
    pub fn dialect(self, dialect: impl Into<Option<Dialect>>) -> Self {
        Self { dialect: dialect.into(), ..self }
    }

    /// Sets [`arrays`](Self::arrays).
    #[must_use]
    pub fn arrays(self, arrays: Options) -> Self {
        Self { arrays, ..self }
    }

    /// Whether the chunk at `key` is in the sample.
    pub(crate) fn takes(&self, key: &str) -> bool {
        if self.sample >= 1.0 {
            return true;
        }
        // FNV-1a of 64 bits, and then its bits mixed, so that keys that differ in a digit fall anywhere.
        let hash = key
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        ((mixed ^ (mixed >> 33)) >> 11) as f64 / (1_u64 << 53) as f64 <= self.sample
    }
}
