//! Methods of [`Options`] that set one option each.

use super::{Checksums, MissingChunks, Options};
use crate::ChunkCache;
use std::num::NonZeroUsize;
use std::time::Duration;
use zarr_codec::Limits;
use zarr_json::NamedConfig;

impl Options {
    /// Sets [`missing_chunks`](Self#structfield.missing_chunks).
    #[must_use]
    pub fn missing_chunks(mut self, missing_chunks: MissingChunks) -> Self {
        self.missing_chunks = missing_chunks;
        self
    }

    /// Sets [`trust_missing`](Self#structfield.trust_missing).
    #[must_use]
    pub fn trust_missing(mut self, trust_missing: bool) -> Self {
        self.trust_missing = trust_missing;
        self
    }

    /// Sets [`look_interval`](Self#structfield.look_interval).
    #[must_use]
    pub fn look_interval(mut self, interval: impl Into<Option<Duration>>) -> Self {
        self.look_interval = interval.into();
        self
    }

    /// Sets [`write_empty_chunks`](Self#structfield.write_empty_chunks).
    #[must_use]
    pub fn write_empty_chunks(mut self, write_empty_chunks: bool) -> Self {
        self.write_empty_chunks = write_empty_chunks;
        self
    }

    /// Sets [`checksums`](Self#structfield.checksums).
    #[must_use]
    pub fn checksums(mut self, checksums: Checksums) -> Self {
        self.checksums = checksums;
        self
    }

    /// Sets [`limits`](Self#structfield.limits).
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets [`v1_f_order_is_c`](Self#structfield.v1_f_order_is_c).
    #[must_use]
    pub fn v1_f_order_is_c(mut self, v1_f_order_is_c: bool) -> Self {
        self.v1_f_order_is_c = v1_f_order_is_c;
        self
    }

    /// Sets [`refuse_fallbacks`](Self#structfield.refuse_fallbacks).
    #[must_use]
    pub fn refuse_fallbacks(mut self, refuse_fallbacks: bool) -> Self {
        self.refuse_fallbacks = refuse_fallbacks;
        self
    }

    /// Sets [`fallback_type`](Self#structfield.fallback_type).
    #[must_use]
    pub fn fallback_type(mut self, fallback_type: impl Into<Option<NamedConfig>>) -> Self {
        self.fallback_type = fallback_type.into();
        self
    }

    /// Sets [`strict`](Self#structfield.strict).
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Sets [`strict_writers`](Self#structfield.strict_writers).
    #[must_use]
    pub fn strict_writers(mut self, strict_writers: bool) -> Self {
        self.strict_writers = strict_writers;
        self
    }

    /// Sets [`consolidated_later`](Self#structfield.consolidated_later).
    #[must_use]
    pub fn consolidated_later(mut self, consolidated_later: bool) -> Self {
        self.consolidated_later = consolidated_later;
        self
    }

    /// Sets [`threads`](Self#structfield.threads).
    #[must_use]
    pub fn threads(mut self, threads: impl Into<Option<NonZeroUsize>>) -> Self {
        self.threads = threads.into();
        self
    }

    /// Sets [`requests_in_flight`](Self#structfield.requests_in_flight).
    #[must_use]
    pub fn requests_in_flight(mut self, requests: impl Into<Option<NonZeroUsize>>) -> Self {
        self.requests_in_flight = requests.into();
        self
    }

    /// Sets [`bytes_in_flight`](Self#structfield.bytes_in_flight).
    #[must_use]
    pub fn bytes_in_flight(mut self, bytes: impl Into<Option<u64>>) -> Self {
        self.bytes_in_flight = bytes.into();
        self
    }

    /// Sets [`cache`](Self#structfield.cache).
    #[must_use]
    pub fn cache(mut self, cache: impl Into<Option<ChunkCache>>) -> Self {
        self.cache = cache.into();
        self
    }
}
