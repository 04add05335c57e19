//! Stores in buckets, on a server of these tests, and on others where they run.

mod contract;
mod copies;
mod dialects;
mod faults;
mod retries;
mod secrets;
mod servers;
mod streams;
mod writers;
