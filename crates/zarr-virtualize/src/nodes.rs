//! Nodes of a file, converted to Zarr v3.

use std::collections::BTreeMap;
use std::sync::Arc;

use zarr_array::{Array, Options, Registry};
use zarr_grid::ChunkGrid;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_json::Map;
use zarr_meta::{ArrayMetadata, Node, NodePath, StoredNode};
use zarr_store::Store;
use zarr_store_virtual::VirtualArray;

use crate::Input;
use crate::forms::{in_v3, walk_whole};

/// Groups, with their attributes, and arrays of a file.
pub(crate) struct FileNodes<'a> {
    pub(crate) input: &'a Input,
    pub(crate) groups: BTreeMap<NodePath, Map>,
    pub(crate) arrays: BTreeMap<NodePath, FileArray<'a>>,
    store: Arc<dyn Store>,
}

/// Array of a file.
pub(crate) struct FileArray<'a> {
    /// Metadata of the array, converted to Zarr v3.
    pub(crate) metadata: ArrayMetadata,
    pub(crate) grid: ChunkGrid,
    pub(crate) chunks: VirtualArray<'a>,
    /// Whether it has an axis of length 1 before those of the file.
    pub(crate) is_stacked: bool,
    found: StoredNode,
}

impl<'a> FileNodes<'a> {
    pub(crate) fn read(input: &'a Input) -> Result<Self> {
        let (mut groups, mut arrays) = (BTreeMap::new(), BTreeMap::new());
        for found in walk_whole(&input.store)? {
            let path = found.path.clone();
            let refuse = |message: String| {
                Error::new(ErrorKind::NotExpressible, message).at(|location| {
                    (location.store, location.path) = (Some(input.name.clone()), Some(path.to_string()));
                })
            };
            if found.node.as_group().is_some() {
                if let Node::Group(group) = in_v3(&found, false)? {
                    groups.insert(path, group.attributes);
                }
                continue;
            }
            let chunks = input.store.array(&found.chunk_prefix());
            let chunks = chunks.ok_or_else(|| refuse("found an array without a table of its chunks".to_owned()))?;
            let has_missing = (chunks.table().stored().count() as u64) < chunks.table().count();
            let Node::Array(metadata) = in_v3(&found, has_missing)? else { continue };
            let grid = ChunkGrid::from_config(&metadata.chunk_grid, &metadata.shape)
                .map_err(|error| Error::in_metadata("/chunk_grid", error).at_path(&path))?;
            if *grid.grid_shape() != *chunks.counts() {
                let (found, expected) = (chunks.counts(), grid.grid_shape());
                return Err(refuse(format!("found a table of {found:?} chunks, expected {expected:?}")));
            }
            arrays.insert(path, FileArray { metadata, grid, chunks, is_stacked: false, found });
        }
        Ok(Self { input, groups, arrays, store: Arc::new(input.store.clone()) })
    }

    /// Opens `array`, an array of this file, to read its elements.
    pub(crate) fn open(&self, array: &FileArray<'_>, registry: &Arc<Registry>, options: &Options) -> Result<Array> {
        Array::from_found(&self.store, array.found.clone(), registry, options.clone().trust_missing(true))
            .map_err(|error| error.at(|location| location.store = Some(self.input.name.clone())))
    }

    /// Returns the store of the file.
    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }
}

impl FileArray<'_> {
    /// Returns the number of chunks along each axis.
    pub(crate) fn counts(&self) -> Vec<u64> {
        let more = self.is_stacked.then_some(1);
        more.into_iter().chain(self.chunks.counts().iter().copied()).collect()
    }

    /// Returns the axis of the dimension named `dimension`; `None` if the array does not have the dimension.
    pub(crate) fn axis(&self, dimension: &str) -> Option<usize> {
        let names = self.metadata.dimension_names.as_deref()?;
        names.iter().position(|name| name.as_deref() == Some(dimension))
    }

    /// Returns whether the array is a dimension coordinate: it has one dimension, with the name of the array.
    pub(crate) fn is_dimension_coordinate(&self) -> bool {
        let names = self.metadata.dimension_names.as_deref();
        matches!(names, Some([Some(name)]) if self.found.path.name() == Some(name))
    }

    /// Returns the shape of the chunks; `None` if the chunk grid is not regular.
    pub(crate) fn chunk_shape(&self) -> Option<&[u64]> {
        self.grid.regular_chunk_shape()
    }
}
