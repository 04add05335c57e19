//! Stores over HTTP, on a server of these tests and on that of Python.

mod faults;
mod reads;
