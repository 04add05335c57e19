//! The methods of arrays and groups that need nothing of the store, written once for blocking stores and for stores that do not block.

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
            /// The codecs and data types that it knows.
            pub fn registry(&self) -> &Arc<Registry> {
                &self.core.registry
            }

            /// How it is read and written.
            pub fn options(&self) -> &Options {
                &self.core.options
            }

            /// Its path in the hierarchy.
            pub fn path(&self) -> &NodePath {
                self.core.path()
            }

            /// The dialect it is stored in.
            pub fn dialect(&self) -> Dialect {
                self.core.dialect()
            }

            /// Its metadata in the vocabulary of Zarr v3, whatever dialect it is stored in.
            pub fn metadata(&self) -> &ArrayMetadata {
                self.core.metadata()
            }

            /// The metadata documents it was opened from.
            pub fn found(&self) -> &StoredNode {
                &self.core.found
            }

            /// Elements per dimension.
            pub fn shape(&self) -> &[u64] {
                &self.core.metadata().shape
            }

            /// The type of its elements.
            pub fn data_type(&self) -> &DataType {
                self.core.data_type()
            }

            /// The value of elements that are not stored.
            pub fn fill_value(&self) -> &FillValue {
                &self.core.element().fill
            }

            /// How it is divided into chunks (shards, if it is sharded).
            pub fn chunk_grid(&self) -> &ChunkGrid {
                &self.core.grid
            }

            /// The shape of the smallest part that can be read on its own: of the (innermost) inner chunks of a shard, if it is
            /// sharded, else of a chunk.
            pub fn part_shape(&self) -> Shape {
                let chunk = self.core.grid.largest_chunk_shape();
                self.core.codecs.part_shape(&chunk).unwrap_or(chunk)
            }

            /// Whether chunks are shards with inner chunks.
            pub fn is_sharded(&self) -> bool {
                self.core.codecs.part_shape(&self.core.grid.largest_chunk_shape()).is_some()
            }

            /// The user's attributes.
            ///
            /// # Errors
            /// [`crate::ErrorKind::InvalidJson`] or [`crate::ErrorKind::InvalidMetadata`] if the document that holds them is broken (Zarr v2
            /// keeps them apart from the array's own).
            pub fn attributes(&self) -> Result<&Map> {
                node::attributes(&self.core.found).map_err(|error| self.core.locate(error))
            }

            /// Names of the dimensions, if they have any.
            pub fn dimension_names(&self) -> Option<&[Option<String>]> {
                self.core.metadata().dimension_names.as_deref()
            }

            /// Deviations in the metadata that are no errors.
            pub fn warnings(&self) -> &[Warning] {
                &self.core.warnings
            }

            /// The attributes as a value of a Rust type, by serde; see [`attributes_as`](zarr_hierarchy::attributes_as).
            ///
            /// # Errors
            /// As there.
            pub fn attributes_as<T: DeserializeOwned>(&self) -> Result<T> {
                zarr_hierarchy::attributes_as(&self.core.found).map_err(|error| self.core.locate(error))
            }

            /// One attribute, or a value within one: that at a JSON pointer (`/encoding/scale`), or that of the name where there is no `/` in
            /// front. `None` if there is none.
            ///
            /// # Errors
            /// As [`attributes_as`](Self::attributes_as).
            pub fn attribute<T: DeserializeOwned>(&self, pointer: &str) -> Result<Option<T>> {
                zarr_hierarchy::attribute(&self.core.found, pointer).map_err(|error| self.core.locate(error))
            }

            /// The array in a few lines, to which [`sizes`](Self::sizes) may be added.
            pub fn summary(&self) -> Summary<'_> {
                self.core.summary()
            }

            /// The largest shape of a chunk (a shard, if the array is sharded), by which writers should divide their work.
            pub fn chunk_shape(&self) -> Shape {
                self.core.grid.largest_chunk_shape()
            }
            /// The shape that a selection has: axes of which a single index is taken are left out.
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
            /// The codecs and data types that arrays below are opened with.
            pub fn registry(&self) -> &Arc<Registry> {
                &self.registry
            }

            /// Its path in the hierarchy.
            pub fn path(&self) -> &NodePath {
                &self.found.path
            }

            /// The dialect it is stored in.
            pub fn dialect(&self) -> Dialect {
                self.found.dialect
            }

            /// The metadata documents it was opened from.
            pub fn found(&self) -> &StoredNode {
                &self.found
            }

            /// The user's attributes.
            ///
            /// # Errors
            /// [`crate::ErrorKind::InvalidJson`] or [`crate::ErrorKind::InvalidMetadata`] if the document that holds them is broken.
            pub fn attributes(&self) -> Result<&Map> {
                node::attributes(&self.found).map_err(|error| self.with_location(error))
            }

            /// The attributes as a value of a Rust type, by serde; see [`attributes_as`](zarr_hierarchy::attributes_as).
            ///
            /// # Errors
            /// As there.
            pub fn attributes_as<T: DeserializeOwned>(&self) -> Result<T> {
                zarr_hierarchy::attributes_as(&self.found).map_err(|error| self.with_location(error))
            }

            /// One attribute, or a value within one: that at a JSON pointer (`/encoding/scale`), or that of the name where there is no `/` in
            /// front. `None` if there is none.
            ///
            /// # Errors
            /// As [`attributes_as`](Self::attributes_as).
            pub fn attribute<T: DeserializeOwned>(&self, pointer: &str) -> Result<Option<T>> {
                zarr_hierarchy::attribute(&self.found, pointer).map_err(|error| self.with_location(error))
            }

            /// A new array below, of the dialect of this group unless it names another.
            pub(crate) fn array_of_its_dialect(&self, new: NewArray) -> NewArray {
                let dialect = new.dialect.unwrap_or(self.found.dialect);
                new.dialect(dialect)
            }

            /// A new group below, of the dialect of this group unless it names another.
            pub(crate) fn group_of_its_dialect(&self, new: NewGroup) -> NewGroup {
                let dialect = new.dialect.unwrap_or(self.found.dialect);
                new.dialect(dialect)
            }

            /// Refuses a change of a store without conditional sets, where strict writers are asked for.
            pub(crate) fn check_strict_writers(&self, what: &str) -> Result<()> {
                if !self.strict_writers {
                    return Ok(());
                }
                zarr_hierarchy::check_strict_writers(self.store().capabilities(), what)
                    .map_err(|error| self.with_location(error))
            }

            pub(crate) fn below(&self, name: &str) -> Result<String> {
                let path = self.found.path.join(name).map_err(|error| self.with_location(error.into()))?;
                Ok(path.to_string())
            }

            pub(crate) fn with_location(&self, error: Error) -> Error {
                in_store(self.store(), error.at(|location| location.path = Some(self.found.path.to_string())))
            }
        }
    )*};
}

group_accessors!(Group, AsyncGroup);
