//! Compiled part of the Python package `zarr_rust`: handles of arrays and groups, which read into and write from the memory of numpy.
//!
//! The interface for programs is written in Python, on top of these handles (`zarr_rust/*.py`): the kinds of indexing, attributes as
//! mappings, exceptions. This part has everything that reads and writes, with the interpreter's lock released, and everything that needs
//! the types of the library.

mod advise;
mod array;
mod cache;
mod change;
mod codec_kinds;
mod command;
mod consolidated;
mod convert;
mod data_type;
mod dataset;
mod errors;
mod group;
mod interrupt;
mod labels;
mod location;
mod manifest;
mod memory;
mod module;
mod new_dataset;
mod new_node;
mod ome;
mod pipeline;
mod plan;
mod pyramid;
mod python_store;
mod reads;
mod runtime;
mod selection;
mod table;
mod variable;
mod variable_memory;
mod virtualize;
