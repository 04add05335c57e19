//! Methods of arrays and groups that do not access the store, written once for blocking and for async stores.

use crate::{
    Array, AsyncArray, AsyncGroup, Error, Group, NewArray, NewGroup, Options, Registry, Result, Summary, Warning,
    selected_memory,
};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use zarr_dtype::{DataType, FillValue};
use zarr_grid::{ChunkGrid, IntoSelection, Resolved, Shape};
use zarr_hierarchy::{in_store, node};
use zarr_json::Map;
use zarr_meta::{ArrayMetadata, Dialect, NodePath, StoredNode};

macro_rules! accessors {
    ($($array:ty),*) => {$(
        impl $array {
            /// Registry of the codecs and data types with which the array was opened.
            pub fn registry(&self) -> &Arc<Registry> {
                &self.core.registry
            }

            /// Options with which the array is read and written.
            pub fn options(&self) -> &Options {
                &self.core.options
            }

            /// Path of the array in the hierarchy.
            pub fn path(&self) -> &NodePath {
                self.core.path()
            }

            /// Dialect of the metadata documents in which the array is stored.
            pub fn dialect(&self) -> Dialect {
                self.core.dialect()
            }

            /// Metadata of the array in the vocabulary of Zarr v3, translated if the array is stored in another dialect.
            pub fn metadata(&self) -> &ArrayMetadata {
                self.core.metadata()
            }

            /// Metadata documents from which the array was opened.
            pub fn found(&self) -> &StoredNode {
                &self.core.found
            }

            /// Shape of the array: the number of elements along each dimension.
            pub fn shape(&self) -> &[u64] {
                &self.core.metadata().shape
            }

            /// Data type of the array's elements.
            pub fn data_type(&self) -> &DataType {
                self.core.data_type()
            }

            /// Fill value: the value of elements whose chunk is not stored.
            pub fn fill_value(&self) -> &FillValue {
                &self.core.element().fill
            }

            /// Chunk grid of the array. If the array is sharded, the chunks of the grid are its shards.
            pub fn chunk_grid(&self) -> &ChunkGrid {
                &self.core.grid
            }

            /// Returns the index of the chunk that is stored under `key`, such as the key in the location of an error; `None` if no chunk is.
            pub fn chunk_of_key(&self, key: &str) -> Option<zarr_grid::ChunkIndex> {
                self.core.parse_key(key)
            }

            /// Shape of the smallest part of the array that can be read alone: an innermost inner chunk if the array is sharded, else a
            /// chunk.
            pub fn part_shape(&self) -> Shape {
                let chunk = self.core.grid.largest_chunk_shape();
                self.core.codecs.part_shape(&chunk).unwrap_or(chunk)
            }

            /// Whether chunks are shards with inner chunks.
            pub fn is_sharded(&self) -> bool {
                self.core.codecs.part_shape(&self.core.grid.largest_chunk_shape()).is_some()
            }

            /// Attributes of the array.
            ///
            /// # Errors
            /// [`crate::ErrorKind::InvalidJson`] or [`crate::ErrorKind::InvalidMetadata`] if the document that holds them is broken (Zarr
            /// v2 keeps them apart from the array's own).
            pub fn attributes(&self) -> Result<&Map> {
                node::attributes(&self.core.found).map_err(|error| self.core.locate(error))
            }

            /// Names of the dimensions, one entry for each dimension; `None` if the metadata has no dimension names.
            pub fn dimension_names(&self) -> Option<&[Option<String>]> {
                self.core.metadata().dimension_names.as_deref()
            }

            /// Deviations from the specification that were found in the metadata and accepted.
            pub fn warnings(&self) -> &[Warning] {
                &self.core.warnings
            }

            /// Converts the attributes of the array into a Rust type with serde; see [`attributes_as`](zarr_hierarchy::attributes_as).
            ///
            /// # Errors
            /// The errors of [`attributes_as`](zarr_hierarchy::attributes_as).
            pub fn attributes_as<T: DeserializeOwned>(&self) -> Result<T> {
                zarr_hierarchy::attributes_as(&self.core.found).map_err(|error| self.core.locate(error))
            }

            /// Converts one attribute, or a value within an attribute, into a Rust type. `pointer` is a JSON pointer (`/encoding/scale`),
            /// or without `/` in front the name of an attribute. Returns `None` if there is no such value.
            ///
            /// # Errors
            /// The errors of [`attributes_as`](Self::attributes_as).
            pub fn attribute<T: DeserializeOwned>(&self, pointer: &str) -> Result<Option<T>> {
                zarr_hierarchy::attribute(&self.core.found, pointer).map_err(|error| self.core.locate(error))
            }

            /// Summary of the array in a few lines, to which its [`sizes`](Self::sizes) may be added.
            pub fn summary(&self) -> Summary<'_> {
                self.core.summary()
            }

            /// Shape of the largest chunk (shard, if the array is sharded). Writers should divide their work by it.
            pub fn chunk_shape(&self) -> Shape {
                self.core.grid.largest_chunk_shape()
            }
            /// Shape of the elements that `selection` selects. Axes with a single index are left out.
            ///
            /// # Errors
            /// [`crate::ErrorKind::Argument`]($crate::ErrorKind::Argument) if the selection lies outside of the array.
            pub fn selected_shape(&self, selection: impl IntoSelection) -> Result<Vec<usize>> {
                Ok(selected_memory::result_shape(&self.resolve(selection)?))
            }
            pub(crate) fn resolve(&self, selection: impl IntoSelection) -> Result<Resolved> {
                selected_memory::resolve(&self.core, selection).map_err(|error| self.core.locate(error))
            }
        }
    )*};
}

accessors!(Array, AsyncArray);

macro_rules! group_accessors {
    ($($group:ty),*) => {$(
        impl $group {
            /// Registry of the codecs and data types with which arrays below the group are opened.
            pub fn registry(&self) -> &Arc<Registry> {
                &self.registry
            }

            /// Path of the group in the hierarchy.
            pub fn path(&self) -> &NodePath {
                &self.found.path
            }

            /// Dialect of the metadata documents in which the group is stored.
            pub fn dialect(&self) -> Dialect {
                self.found.dialect
            }

            /// Metadata documents from which the group was opened.
            pub fn found(&self) -> &StoredNode {
                &self.found
            }

            /// Attributes of the group.
            ///
            /// # Errors
            /// [`crate::ErrorKind::InvalidJson`] or [`crate::ErrorKind::InvalidMetadata`] if the document that holds them is broken.
            pub fn attributes(&self) -> Result<&Map> {
                node::attributes(&self.found).map_err(|error| self.with_hierarchy_hint(error))
            }

            /// Converts the attributes of the group into a Rust type with serde; see [`attributes_as`](zarr_hierarchy::attributes_as).
            ///
            /// # Errors
            /// The errors of [`attributes_as`](zarr_hierarchy::attributes_as).
            pub fn attributes_as<T: DeserializeOwned>(&self) -> Result<T> {
                zarr_hierarchy::attributes_as(&self.found).map_err(|error| self.with_hierarchy_hint(error))
            }

            /// Converts one attribute, or a value within an attribute, into a Rust type. `pointer` is a JSON pointer (`/encoding/scale`),
            /// or without `/` in front the name of an attribute. Returns `None` if there is no such value.
            ///
            /// # Errors
            /// The errors of [`attributes_as`](Self::attributes_as).
            pub fn attribute<T: DeserializeOwned>(&self, pointer: &str) -> Result<Option<T>> {
                zarr_hierarchy::attribute(&self.found, pointer).map_err(|error| self.with_hierarchy_hint(error))
            }

            /// Sets the dialect of `new`, an array to create below the group, to the dialect of the group unless `new` names a dialect, and
            /// asks for strict writers if the group does.
            pub(crate) fn array_as_in_group(&self, mut new: NewArray) -> NewArray {
                let dialect = new.dialect.unwrap_or(self.found.dialect);
                new.options.strict_writers |= self.strict_writers;
                new.dialect(dialect)
            }

            /// Sets the dialect of `new`, a group to create below this group, to the dialect of this group unless `new` names a dialect.
            pub(crate) fn group_of_its_dialect(&self, new: NewGroup) -> NewGroup {
                let dialect = new.dialect.unwrap_or(self.found.dialect);
                new.dialect(dialect)
            }

            /// Returns an error for the change `what` if strict writers are asked for and the store has no conditional sets.
            pub(crate) fn check_strict_writers(&self, what: &str) -> Result<()> {
                if !self.strict_writers {
                    return Ok(());
                }
                zarr_hierarchy::check_strict_writers(self.store().capabilities(), what)
                    .map_err(|error| self.with_hierarchy_hint(error))
            }

            pub(crate) fn below(&self, name: &str) -> Result<String> {
                let path = self.found.path.join(name).map_err(|error| self.with_hierarchy_hint(error.into()))?;
                Ok(path.to_string())
            }

            pub(crate) fn with_hierarchy_hint(&self, error: Error) -> Error {
                in_store(self.store(), error.at(|location| location.path = Some(self.found.path.to_string())))
            }
        }
    )*};
}

group_accessors!(Group, AsyncGroup);
