//! An HTTP server over values in memory, with faults, for tests and benchmarks of remote stores.
//!
//! [`TestServer::start`] listens on a free port of 127.0.0.1 and answers on threads of its own, so that a blocking test needs no runtime.
//! The first segment of a path is a bucket, and each bucket has a protocol ([`Face`]): S3, Google Cloud Storage, or files over HTTP. A
//! bucket that was not configured is one of S3.
//!
//! - **Values**: [`TestServer::put`], [`TestServer::get`], [`TestServer::keys`] and [`TestServer::load`] access values without HTTP.
//! - **Time**: a latency before each answer, and a bandwidth of each connection ([`Builder`]).
//! - **Counts**: [`TestServer::counts`] and [`TestServer::log`] return the requests of clients.
//! - **Faults**: [`TestServer::fault`] adds a rule to a script ([`Fault`], [`FaultKind`]).
//!
//! All values are behind one lock, so that exactly one of several conditional writes succeeds.
//!
//! ```
//! use std::io::{Read, Write};
//! use std::net::TcpStream;
//! use zarr_testserver::TestServer;
//!
//! let server = TestServer::start()?;
//! server.put("data", "a/zarr.json", "{}");
//!
//! let mut stream = TcpStream::connect(server.address())?;
//! stream.write_all(b"GET /data/a/zarr.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")?;
//! let mut answer = String::new();
//! stream.read_to_string(&mut answer)?;
//! assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\n{}"));
//! assert_eq!(server.counts().gets, 1);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # What it does not have
//!
//! Versions of objects, access lists, tags, version 1 of listing, lists of uploads and of parts: such requests get 501.
//! Signatures are checked, checksums are not. Requests to Google Cloud Storage need no credentials.

#![forbid(unsafe_code)]

mod answer;
mod beside;
mod body;
mod bucket;
mod connection;
mod counts;
mod encoding;
mod faults;
mod objects;
mod plain;
mod range;
mod read;
mod reply;
mod request;
mod server;
mod shared;
mod time;
mod values;
mod xml;

pub use beside::beside_each_other;
pub use bucket::{Bucket, Etags, Face, Listing};
pub use counts::{Counts, Logged, Operation};
pub use faults::{Fault, FaultKind, Snapshot};
pub use server::{Builder, TestServer};
