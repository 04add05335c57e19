//! The server, asked by raw sockets.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod access;
mod api;
mod cost;
mod hostile;
mod pictures;
mod raw;
mod slow;
mod support;
