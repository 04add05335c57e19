//! This library, as it is measured.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use zarr::codec::{View, ViewMut};
use zarr::dtype::DataType;
use zarr::grid::{Region, Selection};
use zarr::hierarchy::Node;
use zarr::options::ChunkCache;
use zarr::store::{Key, MemoryStore, StoreExt, StoreOptions};
use zarr::{Array, ArrayData, Options, Store};
use zarr_bench_protocol::{Failure, Files, Library, Subset};

/// Bytes of the cache: as much as peers are given.
const CACHE: usize = 1 << 30;

pub(crate) struct Ours;

/// Elements as they were read, or are to be written.
pub(crate) struct Elements {
    data: ArrayData,
    /// The contents of elements of variable length, one behind the other.
    joined: OnceLock<Vec<u8>>,
}

impl Elements {
    pub(crate) fn new(data: ArrayData) -> Self {
        Self { data, joined: OnceLock::new() }
    }
}

impl AsRef<[u8]> for Elements {
    fn as_ref(&self) -> &[u8] {
        match self.data.variable() {
            Some(elements) => self.joined.get_or_init(|| elements.collect::<Vec<_>>().concat()),
            None => self.data.items(),
        }
    }
}

fn selection(subset: &Subset) -> Selection {
    let ranges: Vec<_> = subset.start.iter().zip(&subset.len).map(|(&start, &len)| start..start + len).collect();
    Selection::Region(Region::from_ranges(&ranges))
}

fn dims(shape: &[u64]) -> Vec<usize> {
    shape.iter().map(|&len| len as usize).collect()
}

fn store(directory: &Path) -> Result<Arc<dyn Store>, Failure> {
    let address = directory.display().to_string();
    let durability = std::env::var("BENCH_DURABILITY").ok();
    let durability = durability.map(|level| StoreOptions::new().set("durability", level));
    Ok(match crate::endpoint::options().or(durability) {
        Some(options) => zarr::store::open_with(&address, &options)?,
        None => zarr::store::open(&address)?,
    })
}

impl Library for Ours {
    type Array = Array;
    type Elements = Elements;

    fn open(&self, directory: &Path) -> Result<Array, Failure> {
        Ok(zarr::open(&store(directory)?).array()?)
    }

    fn open_members(&self, directory: &Path, names: &[String]) -> Result<Vec<Array>, Failure> {
        let store = store(directory)?;
        names.iter().map(|name| Ok(zarr::open((&store, name)).array()?)).collect()
    }

    fn open_cached(&self, directory: &Path) -> Result<Option<Array>, Failure> {
        let array = self.open(directory)?;
        let cache = Some(ChunkCache::new(CACHE));
        Ok(Some(array.with(array.options().clone().cache(cache))?))
    }

    fn open_in_memory(&self, files: Files) -> Result<Array, Failure> {
        let store = MemoryStore::new();
        for (name, content) in files {
            store.set_all(&Key::new(&name)?, &content)?;
        }
        let store: Arc<dyn Store> = Arc::new(store);
        Ok(zarr::open(&store).array()?)
    }

    fn shape(&self, array: &Array) -> Vec<u64> {
        array.shape().to_vec()
    }

    fn item_size(&self, array: &Array) -> usize {
        array.data_type().item_size()
    }

    fn chunk_shape(&self, array: &Array) -> Vec<u64> {
        array.chunk_grid().largest_chunk_shape().to_vec()
    }

    fn read_into(&self, array: &Array, out: &mut [u8]) -> Result<(), Failure> {
        let out = ViewMut::new(out, self.item_size(array), &dims(array.shape()))?;
        Ok(array.read_into(.., out)?)
    }

    fn read(&self, array: &Array, subset: &Subset) -> Result<Elements, Failure> {
        Ok(Elements::new(array.read_data(selection(subset))?))
    }

    fn write(&self, array: &Array, subset: &Subset, elements: &[u8]) -> Result<(), Failure> {
        let view = View::new(elements, self.item_size(array), &dims(&subset.len))?;
        Ok(array.write(selection(subset), view)?)
    }

    fn write_points(&self, array: &Array, coordinates: &[Vec<i64>], elements: &[u8]) -> Result<Option<()>, Failure> {
        let item = self.item_size(array);
        let view = View::new(elements, item, &[elements.len() / item])?;
        array.write(Selection::coordinates(coordinates.to_vec()), view)?;
        Ok(Some(()))
    }

    fn write_mask(&self, array: &Array, mask: &[bool], elements: &[u8]) -> Result<Option<()>, Failure> {
        let item = self.item_size(array);
        let view = View::new(elements, item, &[elements.len() / item])?;
        array.write(Selection::mask(array.shape(), mask.to_vec())?, view)?;
        Ok(Some(()))
    }

    fn input(&self, array: &Array, raw: Vec<u8>) -> Result<Elements, Failure> {
        let (data_type, shape) = (array.data_type(), array.shape());
        let lines = || raw.split(|&byte| byte == b'\n').map(<[u8]>::to_vec);
        Ok(Elements::new(match data_type {
            DataType::String => {
                let texts = lines().map(String::from_utf8).collect::<Result<Vec<_>, _>>()?;
                ArrayData::from_elements(data_type, shape, &texts)?
            }
            _ if data_type.is_variable() => ArrayData::from_elements(data_type, shape, &lines().collect::<Vec<_>>())?,
            _ => ArrayData::from_items(data_type, shape, &raw, None)?,
        }))
    }

    fn write_all(&self, array: &Array, elements: &Elements) -> Result<(), Failure> {
        Ok(array.write(.., elements.data.view())?)
    }

    fn resize(&self, array: &mut Array, shape: &[u64]) -> Result<(), Failure> {
        Ok(array.resize(shape)?)
    }

    fn append_rows(&self, directory: &Path, row: &[u8], count: u64) -> Result<(), Failure> {
        let mut array = self.open(directory)?;
        let item = self.item_size(&array);
        let row = View::new(row, item, &[1, row.len() / item])?;
        let mut appender = array.appender(0)?;
        for _ in 0..count {
            appender.append(row.clone())?;
        }
        Ok(appender.finish().map(drop)?)
    }

    fn open_dataset(&self, directory: &Path) -> Result<Option<u64>, Failure> {
        let dataset = zarr::open(&store(directory)?).dataset()?;
        let mut count = 0;
        for variable in dataset.variables() {
            variable.data_type()?;
            if variable.dimensions().eq([variable.name()]) {
                variable.read()?;
            }
            count += 1;
        }
        Ok(Some(count))
    }

    fn open_decoded(&self, directory: &Path) -> Result<Option<Array>, Failure> {
        let dataset = zarr::open(&store(directory)?).dataset()?;
        Ok(dataset.variable("v")?.decoded()?.cloned())
    }

    fn list(&self, directory: &Path) -> Result<u64, Failure> {
        let store = store(directory)?;
        let registry = zarr::registry::default();
        let nodes = zarr::hierarchy::walk_consolidated(&*store, "/", None)?.nodes.into_iter();
        let arrays = nodes.filter(|found| matches!(found.node, Node::Array(_)));
        let mut count = 0;
        for found in arrays {
            Array::from_found(&store, found, &registry, Options::default())?;
            count += 1;
        }
        Ok(count)
    }
}
