//! Options of statistics: the numbers that are computed, and the memory for it.

/// Options of statistics, the memory among them: a default, and a method for each option that is to have another value.
///
/// ```
/// use zarr_stats::StatsOptions;
/// let options = StatsOptions::default().quantiles(&[0.5]).memory(64 << 20);
/// assert_eq!(options.bins, 20);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StatsOptions {
    /// The shares of values at which quantiles are taken, from 0 to 1. By default 0.01, 0.05, 0.25, 0.5, 0.75, 0.95 and 0.99.
    pub quantiles: Vec<f64>,
    /// Number of bins of the histogram; 0 for no histogram. By default 20.
    pub bins: usize,
    /// Number of the most common strings that are listed. By default 10.
    pub common: usize,
    /// The axis for each of whose indices there is a row of statistics, if one.
    pub along: Option<usize>,
    /// The field of structs that is looked at; a period leads to a field of a field.
    pub field: Option<String>,
    /// Bytes of memory for data; by default 256 MiB. A chunk (an inner chunk of a shard) may take a quarter of it.
    pub memory: u64,
}

impl Default for StatsOptions {
    fn default() -> Self {
        let quantiles = vec![0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];
        Self { quantiles, bins: 20, common: 10, along: None, field: None, memory: 256 << 20 }
    }
}

impl StatsOptions {
    /// Sets the [shares](Self#structfield.quantiles) of quantiles.
    #[must_use]
    pub fn quantiles(self, quantiles: &[f64]) -> Self {
        Self { quantiles: quantiles.to_vec(), ..self }
    }

    /// Sets the number of [bins](Self#structfield.bins).
    #[must_use]
    pub fn bins(self, bins: usize) -> Self {
        Self { bins, ..self }
    }

    /// Sets the number of the most [common](Self#structfield.common) strings that are listed.
    #[must_use]
    pub fn common(self, common: usize) -> Self {
        Self { common, ..self }
    }

    /// Sets the [axis](Self#structfield.along) that has rows.
    #[must_use]
    pub fn along(self, along: impl Into<Option<usize>>) -> Self {
        Self { along: along.into(), ..self }
    }

    /// Sets the [field](Self#structfield.field).
    #[must_use]
    pub fn field(self, field: impl Into<Option<String>>) -> Self {
        Self { field: field.into(), ..self }
    }

    /// Sets the bytes of [memory](Self#structfield.memory).
    #[must_use]
    pub fn memory(self, memory: u64) -> Self {
        Self { memory, ..self }
    }
}
