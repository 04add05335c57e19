//! The crate zarrs as a peer in benchmarks: `docs/performance.md`.

use std::path::Path;
use std::sync::Arc;
use unsafe_cell_slice::UnsafeCellSlice;
use zarr_bench_protocol::{Failure, Files, Library, Subset};
use zarrs::array::codec::api::ArrayBytesDecodeIntoTarget;
use zarrs::array::{Array, ArrayBytes, ArrayBytesFixedDisjointView, ArrayBytesOffsets, ArraySubset};
use zarrs::filesystem::FilesystemStore;
use zarrs::node::{Node, NodeMetadata};
use zarrs::storage::store::MemoryStore;
use zarrs::storage::{ReadableWritableListableStorageTraits, StoreKey, WritableStorageTraits};

type Storage = dyn ReadableWritableListableStorageTraits;

struct Zarrs;

struct Elements(ArrayBytes<'static>);

impl AsRef<[u8]> for Elements {
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            ArrayBytes::Fixed(bytes) => bytes,
            ArrayBytes::Variable(elements) => elements.bytes(),
            ArrayBytes::Optional(_) => &[],
        }
    }
}

fn region(subset: &Subset) -> Result<ArraySubset, Failure> {
    Ok(ArraySubset::new_with_start_shape(subset.start.clone(), subset.len.clone())?)
}

fn storage(directory: &Path) -> Result<Arc<Storage>, Failure> {
    Ok(Arc::new(FilesystemStore::new(directory)?))
}

impl Library for Zarrs {
    type Array = Array<Storage>;
    type Elements = Elements;

    fn open(&self, directory: &Path) -> Result<Self::Array, Failure> {
        Ok(Array::open(storage(directory)?, "/")?)
    }

    fn open_members(&self, directory: &Path, names: &[String]) -> Result<Vec<Self::Array>, Failure> {
        let storage = storage(directory)?;
        names.iter().map(|name| Ok(Array::open(storage.clone(), &format!("/{name}"))?)).collect()
    }

    fn open_cached(&self, _: &Path) -> Result<Option<Self::Array>, Failure> {
        Ok(None)
    }

    fn open_in_memory(&self, files: Files) -> Result<Self::Array, Failure> {
        let store = MemoryStore::new();
        for (name, content) in files {
            store.set(&StoreKey::new(name)?, content.into())?;
        }
        let store: Arc<Storage> = Arc::new(store);
        Ok(Array::open(store, "/")?)
    }

    fn shape(&self, array: &Self::Array) -> Vec<u64> {
        array.shape().to_vec()
    }

    fn item_size(&self, array: &Self::Array) -> usize {
        array.data_type().fixed_size().unwrap_or(0)
    }

    fn chunk_shape(&self, array: &Self::Array) -> Vec<u64> {
        let shape = array.chunk_shape(&vec![0; array.shape().len()]).into_iter().flatten();
        shape.map(|len| len.get()).collect()
    }

    fn read_into(&self, array: &Self::Array, out: &mut [u8]) -> Result<(), Failure> {
        let (item, shape, all) = (self.item_size(array), array.shape().to_vec(), array.subset_all());
        // SAFETY: the view is the only one of `out`, and of all of it.
        let mut view = unsafe { ArrayBytesFixedDisjointView::new(UnsafeCellSlice::new(out), item, &shape, all.clone())? };
        Ok(array.retrieve_array_subset_into(&all, ArrayBytesDecodeIntoTarget::Fixed(&mut view))?)
    }

    fn read(&self, array: &Self::Array, subset: &Subset) -> Result<Elements, Failure> {
        let bytes: ArrayBytes<'static> = array.retrieve_array_subset(&region(subset)?)?;
        Ok(Elements(bytes))
    }

    fn write(&self, array: &Self::Array, subset: &Subset, elements: &[u8]) -> Result<(), Failure> {
        Ok(array.store_array_subset(&region(subset)?, ArrayBytes::new_flen(elements))?)
    }

    fn input(&self, array: &Self::Array, raw: Vec<u8>) -> Result<Elements, Failure> {
        if array.data_type().fixed_size().is_some() {
            return Ok(Elements(ArrayBytes::new_flen(raw)));
        }
        let (mut bytes, mut offsets) = (Vec::with_capacity(raw.len()), vec![0]);
        for line in raw.split(|&byte| byte == b'\n') {
            bytes.extend_from_slice(line);
            offsets.push(bytes.len());
        }
        Ok(Elements(ArrayBytes::new_vlen(bytes, ArrayBytesOffsets::new(offsets)?)?))
    }

    fn write_all(&self, array: &Self::Array, elements: &Elements) -> Result<(), Failure> {
        let borrowed = match &elements.0 {
            ArrayBytes::Fixed(bytes) => ArrayBytes::new_flen(&bytes[..]),
            ArrayBytes::Variable(elements) => {
                ArrayBytes::new_vlen(&elements.bytes()[..], ArrayBytesOffsets::new(&elements.offsets()[..])?)?
            }
            ArrayBytes::Optional(_) => return Err("optional elements".into()),
        };
        Ok(array.store_array_subset(&array.subset_all(), borrowed)?)
    }

    fn resize(&self, array: &mut Self::Array, shape: &[u64]) -> Result<(), Failure> {
        array.set_shape(shape.to_vec())?;
        Ok(array.store_metadata()?)
    }

    fn list(&self, directory: &Path) -> Result<u64, Failure> {
        fn arrays(storage: &Arc<Storage>, node: &Node) -> Result<u64, Failure> {
            let own = match node.metadata() {
                NodeMetadata::Array(metadata) => {
                    Array::new_with_metadata(storage.clone(), node.path().as_str(), metadata.clone())?;
                    1
                }
                NodeMetadata::Group(_) => 0,
            };
            node.children().iter().try_fold(own, |sum, child| Ok(sum + arrays(storage, child)?))
        }
        let storage = storage(directory)?;
        arrays(&storage, &Node::open(&storage, "/")?)
    }
}

fn main() -> Result<(), Failure> {
    zarr_bench_protocol::run(&Zarrs)
}
