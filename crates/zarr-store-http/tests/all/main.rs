//! Stores over HTTP, on a server of these tests and on that of Python.

mod blocking;
mod faults;
mod reads;
