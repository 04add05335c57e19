//! Options of advice.

use super::access::Access;
use super::storage::{Prices, Storage};
use std::time::Duration;

/// Options of advice. `AdviseOptions::default()` has the defaults, and a method sets each option.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AdviseOptions {
    /// Reads that are to be fast.
    pub reads: Vec<Access>,
    /// Writes that are to be fast. A write begins at a multiple of its length along each dimension, as writes in order do.
    pub writes: Vec<Access>,
    /// Storage of the array.
    pub storage: Storage,
    /// Prices of the storage.
    pub prices: Prices,
    /// Codecs to choose from; if empty, those of [`candidates`](crate::candidates).
    pub codecs: Vec<String>,
    /// Number of bytes of elements on which codecs are measured, by default 16 MiB.
    pub sample: u64,
    /// Time for which each codec is measured in each direction, by default 50 ms.
    pub time: Duration,
}

impl Default for AdviseOptions {
    fn default() -> Self {
        Self {
            reads: Vec::new(),
            writes: Vec::new(),
            storage: Storage::local(),
            prices: Prices::s3(),
            codecs: Vec::new(),
            sample: 16 << 20,
            time: Duration::from_millis(50),
        }
    }
}

impl AdviseOptions {
    /// Sets the [reads](Self#structfield.reads).
    #[must_use]
    pub fn reads(self, reads: Vec<Access>) -> Self {
        Self { reads, ..self }
    }

    /// Sets the [writes](Self#structfield.writes).
    #[must_use]
    pub fn writes(self, writes: Vec<Access>) -> Self {
        Self { writes, ..self }
    }

    /// Sets the [storage](Self#structfield.storage).
    #[must_use]
    pub fn storage(self, storage: Storage) -> Self {
        Self { storage, ..self }
    }

    /// Sets the [prices](Self#structfield.prices).
    #[must_use]
    pub fn prices(self, prices: Prices) -> Self {
        Self { prices, ..self }
    }

    /// Sets the [codecs](Self#structfield.codecs) to choose from.
    #[must_use]
    pub fn codecs(self, codecs: Vec<String>) -> Self {
        Self { codecs, ..self }
    }

    /// Sets the number of bytes of the [sample](Self#structfield.sample).
    #[must_use]
    pub fn sample(self, sample: u64) -> Self {
        Self { sample, ..self }
    }

    /// Sets the [time](Self#structfield.time) for each codec.
    #[must_use]
    pub fn time(self, time: Duration) -> Self {
        Self { time, ..self }
    }
}
