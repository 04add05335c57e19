//! An HTTP server over a store: its values for other software, and a page to look at its arrays.
//!
//! ```
//! use std::io::{Read, Write};
//! use std::net::TcpStream;
//! use std::sync::Arc;
//! use zarr_array::{Group, NewGroup, Registry, Store};
//! use zarr_serve::{ServeOptions, Server};
//!
//! let registry = Arc::new(Registry::default());
//! let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
//! Group::create(&store, "/", NewGroup::new(), &registry)?;
//! let server = Server::start(store, registry, &ServeOptions::default())?;
//!
//! let mut stream = TcpStream::connect(server.address())?;
//! stream.write_all(b"GET /raw/zarr.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
//! let mut answer = String::new();
//! stream.read_to_string(&mut answer)?;
//! assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"));
//! server.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The server never writes. By default it listens on 127.0.0.1 only; at other addresses, requests must show a token.
//!
//! - `/raw/KEY` is a value of the store: `GET` and `HEAD`, ranges, entity tags, conditions. Zarr software that reads over HTTP opens
//!   [`Server::raw_url`]. A key cannot lead out of the store, and folders are not listed.
//! - `/` is a page to look at the arrays: tree, metadata, pictures of planes, histograms, profiles. All its files are part of the program.
//! - `/api/QUESTION` answers the page. A read of an array is limited ([`ServeLimits`]): a larger plane is answered with fewer elements,
//!   evenly spaced.
//!
//! Values of up to 8 MiB are read at once; larger ones are read in pieces while they are sent, in small pieces for slow clients. The
//! memory for bytes that wait to be sent is limited for all connections together, and so is the time that a client may take. The numbers
//! of connections, of requests to the store and of reads of arrays are limited as well.
//!
//! This crate knows no codec and no kind of store: the caller provides both.

#![forbid(unsafe_code)]

mod access_policy;
mod address;
mod answer;
mod answer_memory;
mod api;
mod colors;
mod condition;
mod nodes;
mod options;
mod paced_socket;
mod page;
mod places;
mod range;
mod raw;
mod recent;
mod reply;
mod request_error;
mod server;
mod server_state;
mod value_body;

pub use options::{Cors, ServeLimits, ServeOptions, Token};
pub use server::Server;
