//! Stores in buckets, on a server of these tests, and on others where they run.

mod contract;
mod faults;
mod secrets;
mod servers;
