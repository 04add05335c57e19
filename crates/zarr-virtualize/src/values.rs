//! Joined arrays whose chunks are made of decoded elements of the files.

use std::fmt;
use std::sync::Arc;

use zarr_array::{Array, ArrayData, Registry};
use zarr_dtype::ByteOrder;
use zarr_grid::{ChunkGrid, Region};
use zarr_hierarchy::{Error, Result};
use zarr_meta::{ArrayMetadata, Dialect, Node, NodePath};
use zarr_store::{Bytes, ErrorKind, MemoryStore, Store};
use zarr_store_virtual::{Chunk, ChunkTable, ChunkTableBuilder, MakeChunk};

use crate::documents::alone;
use crate::times::Recount;

/// Maximum number of bytes of a chunk in [`in_one_chunk`], unless one row of the axis is larger.
const ONE_CHUNK: u64 = 64 << 20;

/// Array of one file, as a part of the joined array.
pub(crate) struct Part {
    /// Name of the file in messages.
    pub(crate) name: String,
    pub(crate) array: Array,
    pub(crate) recount: Option<Recount>,
}

/// Maker of the chunks of a joined array, which has the elements of `parts` one after the other along `axis`.
pub(crate) struct Values {
    path: NodePath,
    axis: usize,
    parts: Vec<Part>,
    /// Joined array, in a store without chunks.
    array: Array,
}

/// Sets the chunk grid of `array` to as few chunks along `axis` as [`ONE_CHUNK`] allows, and its codecs to the default serializer alone.
pub(crate) fn in_one_chunk(
    array: &mut ArrayMetadata,
    axis: usize,
    array_of_first: &Array,
    registry: &Registry,
) -> Result<()> {
    let data_type = array_of_first.data_type();
    let mut chunk: Vec<u64> = array.shape.iter().map(|length| (*length).max(1)).collect();
    let row = chunk.iter().enumerate().filter(|(at, _)| *at != axis).map(|(_, length)| *length);
    let row = row.fold(data_type.item_size() as u64, u64::saturating_mul);
    if let Some(length) = chunk.get_mut(axis) {
        *length = (*length).min((ONE_CHUNK / row.max(1)).max(1));
    }
    array.chunk_grid = ChunkGrid::regular(&array.shape, &chunk)?.to_config();
    if let Some(serializer) = registry.defaults.serializer {
        array.codecs = vec![serializer(data_type, ByteOrder::Little)];
    }
    Ok(())
}

/// Sets the chunk grid of `array` to a regular grid of the chunk shape `chunk`. The codecs stay the same.
pub(crate) fn in_chunks(array: &mut ArrayMetadata, chunk: &[u64]) -> Result<()> {
    let chunk: Vec<u64> = chunk.iter().map(|length| (*length).max(1)).collect();
    array.chunk_grid = ChunkGrid::regular(&array.shape, &chunk)?.to_config();
    Ok(())
}

impl Values {
    /// Returns the number of chunks of `metadata` along each axis, and the chunk table, in which all chunks are made of `parts`.
    pub(crate) fn table(
        path: &NodePath,
        axis: usize,
        parts: Vec<Part>,
        metadata: &ArrayMetadata,
        registry: &Arc<Registry>,
    ) -> Result<(Vec<u64>, ChunkTable)> {
        let (store, found) = alone(Dialect::V3, &Node::Array(metadata.clone()))?;
        let options = parts.first().map(|part| part.array.options().clone()).unwrap_or_default();
        let options = options.trust_missing(true).write_empty_chunks(true).threads(std::num::NonZeroUsize::new(1));
        let array = Array::from_found_now(&store, found, registry, options)?;
        let counts = array.chunk_grid().grid_shape().to_vec();
        let total = counts.iter().try_fold(1_u64, |total, count| total.checked_mul(*count));
        let total = total.filter(|total| u32::try_from(*total).is_ok()).ok_or_else(|| {
            Error::argument(format!("found {counts:?} chunks to be made of elements, at most 2^32 are")).at_path(path)
        })?;
        let mut table = ChunkTableBuilder::new(total);
        for number in 0..total {
            let made = Chunk::Made(u32::try_from(number).unwrap_or(u32::MAX));
            table.set(number, made).map_err(|fault| fault.of(path.to_string()))?;
        }
        let table = table.build().map_err(|fault| fault.of(path.to_string()))?;
        let values = Self { path: path.clone(), axis, parts, array };
        Ok((counts, table.with_maker(Arc::new(values))))
    }

    fn bytes(&self, number: u64) -> Result<Bytes> {
        let counts = self.array.chunk_grid().grid_shape();
        let mut index = vec![0; counts.len()];
        let mut rest = number;
        for (at, count) in index.iter_mut().zip(&counts).rev() {
            (*at, rest) = (rest % count, rest / count);
        }
        let region = self.array.chunk_grid().chunk_region(&index);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let chunk = self.array.through(&store);
        for (target, elements) in self.elements(&region)? {
            chunk.write(target, &elements)?;
        }
        let bytes = chunk.read_chunk_bytes(&index)?;
        bytes.ok_or_else(|| Error::internal("a chunk that was written is not there"))
    }

    /// Reads the elements of `region` of the joined array: one block for each file that has a part of it, joined to one block if the data
    /// type has a fixed size.
    fn elements(&self, region: &Region) -> Result<Vec<(Region, ArrayData)>> {
        let axes = region.axes();
        let Some(along) = axes.get(self.axis) else { return Err(Error::internal("an axis that is not there")) };
        let at = |range: std::ops::Range<u64>| {
            let ranges = axes.iter().enumerate().map(|(axis, whole)| match axis == self.axis {
                true => range.clone(),
                false => whole.start..whole.start + whole.len,
            });
            Region::from_ranges(&ranges.collect::<Vec<_>>())
        };
        let (mut start, mut found) = (0, Vec::new());
        for part in &self.parts {
            let length = part.array.shape().get(self.axis).copied().unwrap_or(0);
            let (first, end) = (along.start.max(start), (along.start + along.len).min(start + length));
            if first < end {
                let mut data = part.array.read_data(at(first - start..end - start))?;
                if let Some(recount) = &part.recount {
                    let refused = |what: String| Error::new(zarr_hierarchy::ErrorKind::NotExpressible, what);
                    data = recount.apply(&data).map_err(refused).map_err(|error| part.locate(error, &self.path))?;
                }
                found.push((at(first..end), data));
            }
            start += length;
        }
        if found.len() < 2 || self.array.data_type().is_variable() {
            return Ok(found);
        }
        let rows: usize =
            axes.iter().take(self.axis).map(|axis| usize::try_from(axis.len).unwrap_or(usize::MAX)).product();
        let mut items = Vec::with_capacity(found.iter().map(|(_, data)| data.items().len()).sum());
        for row in 0..rows {
            for (_, data) in &found {
                let size = data.items().len() / rows.max(1);
                items.extend_from_slice(data.items().get(row * size..(row + 1) * size).unwrap_or_default());
            }
        }
        let whole = ArrayData::from_items(self.array.data_type(), &region.shape(), &items, None)?;
        Ok(vec![(region.clone(), whole)])
    }
}

impl Part {
    fn locate(&self, error: Error, path: &NodePath) -> Error {
        error.at(|location| (location.store, location.path) = (Some(self.name.clone()), Some(path.to_string())))
    }
}

impl MakeChunk for Values {
    fn make(&self, number: u32) -> zarr_store::Result<Bytes> {
        self.bytes(number.into()).map_err(|error| zarr_store::Error::Format {
            store: self.path.to_string(),
            kind: ErrorKind::Invalid,
            fault: Box::new(error),
        })
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").field("path", &self.path).field("parts", &self.parts.len()).finish_non_exhaustive()
    }
}
