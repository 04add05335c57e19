//! Stores in buckets, on a server of these tests, and on others where they run.

mod blocking;
mod contract;
mod faults;
mod secrets;
mod servers;
