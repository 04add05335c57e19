//! Tracing spans of requests and of steps of jobs. They require the feature `tracing`; without it no span exists.
//!
//! | span | level | its time | fields |
//! |---|---|---|---|
//! | `request` | debug | a request to the store | `store`, `operation`, `key`, `ranges`, `bytes` (of the reply, or set) |
//! | `wait` | trace | a request waits for the [limit of requests](crate::InFlightLimits::requests) | |
//! | `step` | debug | a job decodes, encodes or plans | `job` |
//!
//! Values that a blocking store sets together are one request, `set_many`, with the key of the first value. Values that are read together
//! are one request, `get_many`.
//!
//! The target is `zarr`. On async stores, the parent of all spans is the span in which the operation was called; on blocking stores as well,
//! except for work on other threads. `store` is the name of the store, which contains no secret. Values are never shown.

use std::fmt;
#[cfg(feature = "tracing")]
use tracing::level_filters::LevelFilter;
#[cfg(feature = "tracing")]
use zarr_store::Fetched;
use zarr_store::{ByteRange, Key, Reply, Request, ValueGet};

/// Tracing span; empty without the feature `tracing`.
#[derive(Clone, Debug)]
pub(crate) struct Span(#[cfg(feature = "tracing")] tracing::Span);

#[cfg(feature = "tracing")]
impl Span {
    /// Returns the current span of the caller.
    pub(crate) fn current() -> Self {
        // Looked up only if there is a subscriber, since reads of single elements are short.
        Self(if LevelFilter::current() == LevelFilter::OFF { tracing::Span::none() } else { tracing::Span::current() })
    }

    /// Returns the span of a request to a store.
    pub(crate) fn request(store: &dyn fmt::Display, request: &Request) -> Self {
        let (operation, key): (_, &dyn fmt::Display) = match request {
            Request::Get { key, ranges, .. } => return Self::get(store, key, ranges),
            Request::Set { key, value, .. } => {
                let span = Self::of(store, "set", key);
                span.0.record("bytes", value.len());
                return span;
            }
            Request::AppendToSet { key, pieces, .. } => {
                let span = Self::of(store, "append_to_set", key);
                span.0.record("bytes", pieces.iter().map(|piece| piece.len()).sum::<usize>());
                return span;
            }
            Request::BeginSet { key, .. } => ("begin_set", key),
            Request::FinishSet { key, .. } => ("finish_set", key),
            Request::Erase { key } => ("erase", key),
            Request::ErasePrefix { prefix } => ("erase_prefix", prefix),
            Request::RenamePrefix { from, .. } => ("rename_prefix", from),
            Request::ExchangePrefixes { a, .. } => ("exchange_prefixes", a),
            Request::Lock { prefix } => ("lock", prefix),
            Request::Barrier => ("barrier", &""),
            Request::Pause { .. } => ("pause", &""),
            Request::List { prefix } => ("list_dir", prefix),
            Request::ListAll { prefix } => ("list_prefix", prefix),
            Request::ListSizes { prefix } => ("list_sizes", prefix),
            Request::Size { key } => ("size", key),
        };
        Self::of(store, operation, key)
    }

    /// Returns the span of values that are set by one call of the store.
    pub(crate) fn sets(store: &dyn fmt::Display, values: &[(&Key, &[u8])]) -> Self {
        let first: &dyn fmt::Display = values.first().map_or(&"", |(key, _)| *key);
        let span = Self::of(store, "set_many", first);
        span.0.record("bytes", values.iter().map(|(_, value)| value.len()).sum::<usize>());
        span
    }

    /// Returns the span of a get request.
    pub(crate) fn get(store: &dyn fmt::Display, key: &dyn fmt::Display, ranges: &[ByteRange]) -> Self {
        let span = Self::of(store, "get", key);
        if !span.0.is_disabled() {
            let ranges: Vec<String> = ranges.iter().map(ToString::to_string).collect();
            span.0.record("ranges", ranges.join(", "));
        }
        span
    }

    /// Returns the span of gets that are made by one call of the store.
    pub(crate) fn gets(store: &dyn fmt::Display, gets: &[ValueGet<'_>]) -> Self {
        let first: &dyn fmt::Display = gets.first().map_or(&"", |get| &*get.key);
        Self::of(store, "get_many", first)
    }

    fn of(store: &dyn fmt::Display, operation: &'static str, key: &dyn fmt::Display) -> Self {
        use tracing::field::Empty;
        Self(tracing::debug_span!(target: "zarr", "request", %store, operation, %key, ranges = Empty, bytes = Empty))
    }

    /// Returns the span of a step of the job named `job`, with this span as its parent.
    pub(crate) fn step(&self, job: &str) -> Self {
        let span = tracing::debug_span!(target: "zarr", parent: &self.0, "step", job = tracing::field::Empty);
        if !span.is_disabled() {
            span.record("job", short_name(job));
        }
        Self(span)
    }

    /// Returns the span of the wait for a permit.
    pub(crate) fn wait() -> Self {
        Self(tracing::trace_span!(target: "zarr", "wait"))
    }

    /// Calls `work` inside of the span.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.in_scope(work)
    }

    /// Returns `future` instrumented with the span.
    pub(crate) fn during<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        tracing::Instrument::instrument(future, self.0.clone())
    }

    /// Records the number of bytes of the reply to a get.
    pub(crate) fn got(&self, fetched: Option<&Fetched>) {
        if let (Some(fetched), false) = (fetched, self.0.is_disabled()) {
            self.0.record("bytes", fetched.parts().map(<[u8]>::len).sum::<usize>());
        }
    }

    /// Records the number of bytes of all replies to gets that were made by one call of the store.
    pub(crate) fn replied_all(&self, replies: &[Reply]) {
        if !self.0.is_disabled() {
            let size = |reply: &Reply| match reply {
                Reply::Got(Some(fetched)) => fetched.parts().map(<[u8]>::len).sum(),
                _ => 0,
            };
            self.0.record("bytes", replies.iter().map(size).sum::<usize>());
        }
    }

    /// Records the number of bytes of a reply.
    pub(crate) fn replied(&self, reply: &Reply) {
        match reply {
            Reply::Got(fetched) => self.got(fetched.as_ref()),
            Reply::Received(size) => {
                self.0.record("bytes", size);
            }
            _ => {}
        }
    }
}

/// Returns the last segment of the path of a type or function, without type parameters.
#[cfg(feature = "tracing")]
fn short_name(path: &str) -> &str {
    // The future of an async function is named as a closure inside of the function.
    let named = path.split('<').next().and_then(|path| path.rsplit("::").find(|part| !part.starts_with('{')));
    named.unwrap_or(path)
}

#[cfg(not(feature = "tracing"))]
#[expect(clippy::unused_self, reason = "the other form has fields")]
impl Span {
    pub(crate) fn current() -> Self {
        Self()
    }

    pub(crate) fn request(_: &dyn fmt::Display, _: &Request) -> Self {
        Self()
    }

    pub(crate) fn sets(_: &dyn fmt::Display, _: &[(&Key, &[u8])]) -> Self {
        Self()
    }

    pub(crate) fn get(_: &dyn fmt::Display, _: &dyn fmt::Display, _: &[ByteRange]) -> Self {
        Self()
    }

    pub(crate) fn gets(_: &dyn fmt::Display, _: &[ValueGet<'_>]) -> Self {
        Self()
    }

    pub(crate) fn replied_all(&self, _: &[Reply]) {}

    pub(crate) fn step(&self, _: &str) -> Self {
        Self()
    }

    pub(crate) fn wait() -> Self {
        Self()
    }

    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    pub(crate) fn during<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        future
    }

    pub(crate) fn got(&self, _: Option<&zarr_store::Fetched>) {}

    pub(crate) fn replied(&self, _: &Reply) {}
}
