//! The server as clients see it: object_store and reqwest.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod counts;
mod faults;
mod gcs;
mod plain;
mod s3;
mod support;
