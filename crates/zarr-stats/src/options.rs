//! Options of statistics: the numbers that are computed, and the memory.

/// Options of statistics. `StatsOptions::default()` has the defaults, and a method sets each option.
///
/// ```
/// use zarr_stats::StatsOptions;
/// let options = StatsOptions::default().quantiles(&[0.5]).memory(64 << 20);
/// assert_eq!(options.bins, 20);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StatsOptions {
    /// Shares at which quantiles are computed, from 0 to 1. By default 0.01, 0.05, 0.25, 0.5, 0.75, 0.95 and 0.99.
    pub quantiles: Vec<f64>,
    /// Number of bins of the histogram; 0 for no histogram. By default 20.
    pub bins: usize,
    /// Number of the most common strings that are listed; by default 10.
    pub common: usize,
    /// Axis along which each index gets a row of statistics; `None` for no rows.
    pub along: Option<usize>,
    /// Field of an array of structs whose statistics are computed; a point leads to a field of a nested struct. `None` for arrays without
    /// fields.
    pub field: Option<String>,
    /// Number of bytes of memory for data; by default 256 MiB. A chunk (an inner chunk of a shard) may take a quarter of it.
    pub memory: u64,
}

impl Default for StatsOptions {
    fn default() -> Self {
        let quantiles = vec![0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];
        Self { quantiles, bins: 20, common: 10, along: None, field: None, memory: 256 << 20 }
    }
}

impl StatsOptions {
    /// Sets the [shares](Self#structfield.quantiles) at which quantiles are computed.
    #[must_use]
    pub fn quantiles(self, quantiles: &[f64]) -> Self {
        Self { quantiles: quantiles.to_vec(), ..self }
    }

    /// Sets the number of [bins](Self#structfield.bins) of the histogram.
    #[must_use]
    pub fn bins(self, bins: usize) -> Self {
        Self { bins, ..self }
    }

    /// Sets the number of the most [common](Self#structfield.common) strings that are listed.
    #[must_use]
    pub fn common(self, common: usize) -> Self {
        Self { common, ..self }
    }

    /// Sets the [axis](Self#structfield.along) along which each index gets a row of statistics.
    #[must_use]
    pub fn along(self, along: impl Into<Option<usize>>) -> Self {
        Self { along: along.into(), ..self }
    }

    /// Sets the [field](Self#structfield.field) of structs whose statistics are computed.
    #[must_use]
    pub fn field(self, field: impl Into<Option<String>>) -> Self {
        Self { field: field.into(), ..self }
    }

    /// Sets the number of bytes of [memory](Self#structfield.memory).
    #[must_use]
    pub fn memory(self, memory: u64) -> Self {
        Self { memory, ..self }
    }
}
