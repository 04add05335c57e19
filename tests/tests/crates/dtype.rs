//! Data types, elements in memory, fill values and values as text.

mod data_type_serde;
mod element;
mod element_list;
mod element_object;
mod element_structure;
mod element_write;
mod fill;
mod heap;
mod layout;
mod npy;
mod npy_structure;
mod numpy_config;
mod numpy_parse;
mod order;
mod structure;
mod time;
