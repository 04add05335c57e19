//! Options of a server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;
use zarr_array::Options;
use zarr_meta::Dialect;

/// Options of a server, with defaults and a method for each option.
///
/// ```
/// use zarr_serve::{Cors, ServeOptions, Token};
/// let options = ServeOptions::default().cors(Cors::Any);
/// assert!(options.address.ip().is_loopback());
/// assert_eq!(options.token, Token::BeyondLoopback);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Address at which the server listens; with port 0, any free port. By default a free port of 127.0.0.1.
    pub address: SocketAddr,
    /// Whether requests must show a token.
    pub token: Token,
    /// Other origins whose pages may read answers. By default none.
    pub cors: Cors,
    /// Dialect of the nodes that are shown, for stores with nodes of several dialects; `None` for all nodes.
    pub dialect: Option<Dialect>,
    /// Options for reading arrays. The server replaces their cache by its own.
    pub arrays: Options,
    /// Limits for what the server does and holds in memory.
    pub limits: ServeLimits,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            token: Token::default(),
            cors: Cors::default(),
            dialect: None,
            arrays: Options::default(),
            limits: ServeLimits::default(),
        }
    }
}

impl ServeOptions {
    /// Sets [`address`](Self#structfield.address).
    #[must_use]
    pub fn address(self, address: SocketAddr) -> Self {
        Self { address, ..self }
    }

    /// Sets [`token`](Self#structfield.token).
    #[must_use]
    pub fn token(self, token: Token) -> Self {
        Self { token, ..self }
    }

    /// Sets [`cors`](Self#structfield.cors).
    #[must_use]
    pub fn cors(self, cors: Cors) -> Self {
        Self { cors, ..self }
    }

    /// Sets [`dialect`](Self#structfield.dialect).
    #[must_use]
    pub fn dialect(self, dialect: impl Into<Option<Dialect>>) -> Self {
        Self { dialect: dialect.into(), ..self }
    }

    /// Sets [`arrays`](Self#structfield.arrays).
    #[must_use]
    pub fn arrays(self, arrays: Options) -> Self {
        Self { arrays, ..self }
    }

    /// Sets [`limits`](Self#structfield.limits).
    #[must_use]
    pub fn limits(self, limits: ServeLimits) -> Self {
        Self { limits, ..self }
    }
}

/// Whether requests must show a token: in the query (`?token=`), in the path (`/token/TOKEN/raw/`) or in a header (`Authorization: Bearer
/// TOKEN`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Token {
    /// A random token of 128 bits is required if other machines can reach the server.
    #[default]
    BeyondLoopback,
    /// A random token of 128 bits is required.
    Random,
    /// The given token of letters, digits, `-` and `_` is required.
    Given(String),
    /// No token is required: everyone who reaches the server may read the store.
    None,
}

/// Other origins whose pages may read answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cors {
    /// No other origin.
    #[default]
    None,
    /// All origins.
    Any,
    /// One origin, such as `https://example.org`.
    Origin(String),
}

/// Limits for what a server does and holds in memory.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeLimits {
    /// Greatest number of concurrent connections. A further connection replaces the one that has waited longest for a request, or waits if
    /// all are being answered. Default 256.
    pub connections: usize,
    /// Time within which a request must arrive, and for which a connection may be idle. Default 10 s.
    pub request_time: Duration,
    /// Time within which a client must take 16 KiB of an answer, and within which it must take the part that is in memory, for which it
    /// gets one more second per 32 KiB. Default 30 s.
    pub stall_time: Duration,
    /// Greatest number of concurrent gets of the store for `/raw/`. Default 16.
    pub gets: usize,
    /// Greatest number of questions about arrays that are answered concurrently. Default 4.
    pub computations: usize,
    /// Greatest number of further questions that wait; more get status 503. Default 64.
    pub waiting: usize,
    /// Greatest number of bytes of answers in memory that clients have not taken yet. Further answers wait: a value for
    /// [`stall_time`](Self#structfield.stall_time), an answer to a question for two seconds; then they get status 503. Up to an eighth is
    /// reserved for answers of at most 64 KiB, which do not wait for larger ones. Default 256 MiB.
    pub held_bytes: usize,
    /// Greatest number of bytes of decoded chunks in the cache. Default 256 MiB.
    pub cache_bytes: usize,
    /// Greatest number of chunks (or inner chunks of shards) that are read for a picture, profile or table; a picture of a larger plane has
    /// fewer elements. Default 1024. The page may request 16 times as many.
    pub chunks: u64,
    /// Greatest number of bytes that are decoded for a picture, profile or table. Default 128 MiB. The page may request 16 times as many.
    pub decoded_bytes: u64,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            connections: 256,
            request_time: Duration::from_secs(10),
            stall_time: Duration::from_secs(30),
            gets: 16,
            computations: 4,
            waiting: 64,
            held_bytes: 256 << 20,
            cache_bytes: 256 << 20,
            chunks: 1024,
            decoded_bytes: 128 << 20,
        }
    }
}

impl ServeLimits {
    /// Sets [`connections`](Self#structfield.connections).
    #[must_use]
    pub fn connections(self, connections: usize) -> Self {
        Self { connections, ..self }
    }

    /// Sets [`request_time`](Self#structfield.request_time).
    #[must_use]
    pub fn request_time(self, request_time: Duration) -> Self {
        Self { request_time, ..self }
    }

    /// Sets [`stall_time`](Self#structfield.stall_time).
    #[must_use]
    pub fn stall_time(self, stall_time: Duration) -> Self {
        Self { stall_time, ..self }
    }

    /// Sets [`gets`](Self#structfield.gets).
    #[must_use]
    pub fn gets(self, gets: usize) -> Self {
        Self { gets, ..self }
    }

    /// Sets [`computations`](Self#structfield.computations) and [`waiting`](Self#structfield.waiting).
    #[must_use]
    pub fn computations(self, computations: usize, waiting: usize) -> Self {
        Self { computations, waiting, ..self }
    }

    /// Sets [`held_bytes`](Self#structfield.held_bytes).
    #[must_use]
    pub fn held_bytes(self, held_bytes: usize) -> Self {
        Self { held_bytes, ..self }
    }

    /// Sets [`cache_bytes`](Self#structfield.cache_bytes).
    #[must_use]
    pub fn cache_bytes(self, cache_bytes: usize) -> Self {
        Self { cache_bytes, ..self }
    }

    /// Sets [`chunks`](Self#structfield.chunks) and [`decoded_bytes`](Self#structfield.decoded_bytes).
    #[must_use]
    pub fn reads(self, chunks: u64, decoded_bytes: u64) -> Self {
        Self { chunks, decoded_bytes, ..self }
    }
}
