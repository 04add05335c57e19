//! The operations of a library that are measured.

use std::path::Path;

/// Whatever went wrong.
pub type Failure = Box<dyn std::error::Error>;

/// The files below a directory: their paths from it, with `/`, and their content.
pub type Files = Vec<(String, Vec<u8>)>;

/// A box of an array.
#[derive(Clone, Debug)]
pub struct Subset {
    /// The first element along each axis.
    pub start: Vec<u64>,
    /// Elements along each axis.
    pub len: Vec<u64>,
}

/// A library that reads and writes Zarr arrays.
///
/// Everything runs with the library's own defaults, threads and durability included.
pub trait Library {
    /// An opened array.
    type Array;
    /// Elements in memory that the library allocated; as bytes, the contents of elements of variable length one behind
    /// the other.
    type Elements: AsRef<[u8]>;

    /// Whether an operation of the protocol is there at all.
    fn offers(&self, _operation: &str) -> bool {
        true
    }

    /// Opens the array in a directory, to be read and written.
    ///
    /// # Errors
    /// The errors of the library.
    fn open(&self, directory: &Path) -> Result<Self::Array, Failure>;

    /// Opens arrays of the hierarchy in a directory, by their paths from there.
    ///
    /// # Errors
    /// The errors of the library.
    fn open_members(&self, directory: &Path, names: &[String]) -> Result<Vec<Self::Array>, Failure>;

    /// The same as [`open`](Self::open) with whatever cache of shard indexes and chunks the library offers; `None` if it offers none.
    ///
    /// # Errors
    /// The errors of the library.
    fn open_cached(&self, directory: &Path) -> Result<Option<Self::Array>, Failure>;

    /// Opens an array whose files are held in memory.
    ///
    /// # Errors
    /// The errors of the library.
    fn open_in_memory(&self, files: Files) -> Result<Self::Array, Failure>;

    /// Elements along each axis.
    fn shape(&self, array: &Self::Array) -> Vec<u64>;

    /// Bytes of one element.
    fn item_size(&self, array: &Self::Array) -> usize;

    /// Chunks (shards, if there are any) have this shape.
    fn chunk_shape(&self, array: &Self::Array) -> Vec<u64>;

    /// Reads the whole array into `out`, in C order.
    ///
    /// # Errors
    /// The errors of the library.
    fn read_into(&self, array: &Self::Array, out: &mut [u8]) -> Result<(), Failure>;

    /// Reads a box into memory of the library's.
    ///
    /// # Errors
    /// The errors of the library.
    fn read(&self, array: &Self::Array, subset: &Subset) -> Result<Self::Elements, Failure>;

    /// Writes a box.
    ///
    /// # Errors
    /// The errors of the library.
    fn write(&self, array: &Self::Array, subset: &Subset, elements: &[u8]) -> Result<(), Failure>;

    /// Writes single elements: `coordinates` has a list for each axis. `None` if the library cannot.
    ///
    /// # Errors
    /// The errors of the library.
    fn write_points(
        &self,
        _: &Self::Array,
        _coordinates: &[Vec<i64>],
        _elements: &[u8],
    ) -> Result<Option<()>, Failure> {
        Ok(None)
    }

    /// Writes the elements whose entry in `mask`, in C order of the array, is true. `None` if the library cannot.
    ///
    /// # Errors
    /// The errors of the library.
    fn write_mask(&self, _: &Self::Array, _mask: &[bool], _elements: &[u8]) -> Result<Option<()>, Failure> {
        Ok(None)
    }

    /// The elements of a whole array as the library takes them: `raw` has their bytes, or a line for each if they are of
    /// variable length.
    ///
    /// # Errors
    /// The errors of the library.
    fn input(&self, array: &Self::Array, raw: Vec<u8>) -> Result<Self::Elements, Failure>;

    /// Writes a whole array.
    ///
    /// # Errors
    /// The errors of the library.
    fn write_all(&self, array: &Self::Array, elements: &Self::Elements) -> Result<(), Failure> {
        let len = self.shape(array);
        self.write(array, &Subset { start: vec![0; len.len()], len }, elements.as_ref())
    }

    /// Changes the shape, and stores that.
    ///
    /// # Errors
    /// The errors of the library.
    fn resize(&self, array: &mut Self::Array, shape: &[u64]) -> Result<(), Failure>;

    /// Opens the array of two axes in a directory, and appends `row` to it, `count` times, one after another: by whatever the
    /// library offers for that. All rows are stored at the end.
    ///
    /// # Errors
    /// The errors of the library.
    fn append_rows(&self, directory: &Path, row: &[u8], count: u64) -> Result<(), Failure> {
        let mut array = self.open(directory)?;
        let shape = self.shape(&array);
        let (start, columns) = (shape[0], shape[1]);
        for number in start..start + count {
            self.resize(&mut array, &[number + 1, columns])?;
            self.write(&array, &Subset { start: vec![number, 0], len: vec![1, columns] }, row)?;
        }
        Ok(())
    }

    /// Opens a data set with decoded data types and the coordinates that are indexes, and says how many variables there are; `None`
    /// if the library has no data sets.
    ///
    /// # Errors
    /// The errors of the library.
    fn open_dataset(&self, _directory: &Path) -> Result<Option<u64>, Failure> {
        Ok(None)
    }

    /// Opens the variable `v` of a data set, to be read decoded; `None` if the library has no data sets.
    ///
    /// # Errors
    /// The errors of the library.
    fn open_decoded(&self, _directory: &Path) -> Result<Option<Self::Array>, Failure> {
        Ok(None)
    }

    /// Opens every array of a hierarchy, and says how many there are.
    ///
    /// # Errors
    /// The errors of the library.
    fn list(&self, directory: &Path) -> Result<u64, Failure>;
}
