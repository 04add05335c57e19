//! Settings of a server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;
use zarr_array::Options;
use zarr_meta::Dialect;

/// Settings of a server: a default, and a method for each that is to be another.
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
    /// The address at which the server listens; port 0 is one that is free. By default a free port of 127.0.0.1.
    pub address: SocketAddr,
    /// Whether requests have to show a token.
    pub token: Token,
    /// Pages of other origins that may read answers. By default none.
    pub cors: Cors,
    /// See only nodes of this dialect, if the store has several.
    pub dialect: Option<Dialect>,
    /// Options with which arrays are read. Their cache is that of the server.
    pub arrays: Options,
    /// The bounds of what the server does and holds.
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

/// Whether requests have to show a token: in the query (`?token=`), in the path (`/token/TOKEN/raw/`) or in a header
/// (`Authorization: Bearer TOKEN`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Token {
    /// A random one of 128 bits, if others than this machine can reach the server.
    #[default]
    BeyondLoopback,
    /// A random one of 128 bits.
    Random,
    /// This one, of letters, digits, `-` and `_`.
    Given(String),
    /// None: all who reach the server may read the store.
    None,
}

/// Pages of other origins that may read answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cors {
    /// No pages.
    #[default]
    None,
    /// All pages.
    Any,
    /// The pages of this origin, such as `https://example.org`.
    Origin(String),
}

/// The bounds of what a server does and holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeLimits {
    /// Number of connections that are served at the same time. One more takes the place of the one that has waited longest for a request,
    /// and waits itself where all are being answered. 256 by default.
    pub connections: usize,
    /// The time in which a request has to have arrived, and for which a connection may stay unused. 10 s by default.
    pub request_time: Duration,
    /// The time in which a client has to take 16 KiB of an answer, and what the server holds of it in memory: of that a second more for
    /// each 32 KiB. 30 s by default.
    pub stall_time: Duration,
    /// Number of gets of the store that are under way for `/raw/`. 16 by default.
    pub gets: usize,
    /// Number of questions about arrays that are answered at the same time. 4 by default.
    pub computations: usize,
    /// Number of further questions that wait for that; more get status 503. 64 by default.
    pub waiting: usize,
    /// Bytes of answers that are in memory until clients have taken them; others wait: a value for
    /// [`stall_time`](Self#structfield.stall_time),
    /// an answer to a question for two seconds, then they get status 503. Up to an eighth is for answers of at most 64 KiB, which do not
    /// wait for larger ones. 256 MiB by default.
    pub held_bytes: usize,
    /// Bytes of decoded chunks that are kept. 256 MiB by default.
    pub cache_bytes: usize,
    /// Chunks (inner chunks of shards) that a picture, a profile or a table is read from; a picture of a larger plane has fewer
    /// elements. 1024 by default. Pages may ask for 16 times as many.
    pub chunks: u64,
    /// Bytes that are decoded for it. 128 MiB by default. Pages may ask for 16 times as many.
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
