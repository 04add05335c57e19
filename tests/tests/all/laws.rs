//! Arrays of all kinds compared with the naive model, and the blocking with the asynchronous way.

use crate::layouts::{Layout, layout};
use crate::model::{Model, Sample};
use crate::selections::selection;
use proptest::prelude::*;
use std::sync::Arc;
use zarr_array::{Array, AsyncArray, NewArray};
use zarr_drive::{SyncAsAsync, block_on};
use zarr_grid::Selection;
use zarr_store::{AsyncStore, MemoryStore, Store};
use zarr_tests::Random;

/// The same array twice, once behind each kind of store, and the model of it.
struct Trial<T> {
    array: Array,
    waiting: AsyncArray,
    model: Model<T>,
    chunks: Vec<Vec<u64>>,
}

impl<T: Sample> Trial<T> {
    fn new(layout: &Layout) -> Self {
        let fill = T::sample(layout.fill);
        let new = layout.new_array::<T>();
        let registry = zarr::registry::default();
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let array = Array::create(&store, "/a", new.clone(), &registry).expect("a new array");
        let store: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new())));
        let waiting = block_on(AsyncArray::create(&store, "/a", new, &registry)).expect("a new array");
        Self { array, waiting, model: Model::new(&layout.shape, &fill), chunks: layout.grid.lengths(&layout.shape) }
    }

    fn read(&self, random: &mut Random) -> Result<(), TestCaseError> {
        let selection = selection(random, &self.model.shape, &self.chunks);
        let expected = self.model.read(&selection, &self.chunks);
        let found = self.array.read::<T>(selection.clone());
        prop_assert_eq!(found.as_ref().ok(), Some(&expected), "{:?}: {:?}", selection, found.as_ref().err());
        let found = block_on(self.waiting.read::<T>(selection.clone()));
        prop_assert_eq!(found.as_ref().ok(), Some(&expected), "async {:?}: {:?}", selection, found.as_ref().err());
        Ok(())
    }

    fn write(&mut self, random: &mut Random) -> Result<(), TestCaseError> {
        let selection = selection(random, &self.model.shape, &self.chunks);
        // All alike often, so that chunks become and cease to be nothing but fill values.
        let (start, step) = (random.below(5), [0, 1, 1, 7][random.below(4)]);
        let elements = self.model.write(&selection, &self.chunks, |i| T::sample(start + i * step));
        let written = self.array.write(selection.clone(), &elements);
        prop_assert!(written.is_ok(), "{:?}: {:?}", selection, written);
        let written = block_on(self.waiting.write(selection.clone(), &elements));
        prop_assert!(written.is_ok(), "async {:?}: {:?}", selection, written);
        Ok(())
    }

    /// Opened again, all of it is as expected, and both ways have stored the same.
    fn finish(&self) -> Result<(), TestCaseError> {
        let array = zarr::open((self.array.store(), "/a")).array().expect("it was made");
        let all = array.read::<T>(Selection::all());
        prop_assert_eq!(all.as_ref().ok(), Some(&self.model.elements), "{:?}", all.as_ref().err());
        let stored = array.stored_chunks().expect("an array of chunks");
        prop_assert_eq!(&stored, &block_on(self.waiting.stored_chunks()).expect("an array of chunks"));
        for chunk in stored {
            let bytes = array.read_chunk_bytes(&chunk).expect("a chunk");
            prop_assert_eq!(bytes, block_on(self.waiting.read_chunk_bytes(&chunk)).expect("a chunk"));
        }
        Ok(())
    }
}

/// Reads and writes at random.
fn check<T: Sample>(layout: &Layout, steps: &[u64]) -> Result<(), TestCaseError> {
    let mut trial = Trial::<T>::new(layout);
    for &step in steps {
        let mut random = Random::new(step);
        match step % 3 {
            0 => trial.read(&mut random)?,
            _ => trial.write(&mut random)?,
        }
    }
    trial.read(&mut Random::new(steps.len() as u64))?;
    trial.finish()
}

fn steps() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(any::<u64>(), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn numbers_of_two_bytes(layout in layout(false, true), steps in steps()) {
        check::<i16>(&layout, &steps)?;
    }

    #[test]
    fn numbers_of_four_bytes(layout in layout(false, true), steps in steps()) {
        check::<u32>(&layout, &steps)?;
    }

    #[test]
    fn numbers_of_eight_bytes(layout in layout(false, true), steps in steps()) {
        check::<i64>(&layout, &steps)?;
    }

    #[test]
    fn floats(layout in layout(false, true), steps in steps()) {
        check::<f64>(&layout, &steps)?;
    }

    #[test]
    fn single_bytes(layout in layout(false, false), steps in steps()) {
        check::<u8>(&layout, &steps)?;
    }

    #[test]
    fn truth_values(layout in layout(false, false), steps in steps()) {
        check::<bool>(&layout, &steps)?;
    }

    #[test]
    fn three_bytes(layout in layout(false, false), steps in steps()) {
        check::<[u8; 3]>(&layout, &steps)?;
    }

    #[test]
    fn texts(layout in layout(true, false), steps in steps()) {
        check::<String>(&layout, &steps)?;
    }
}

#[test]
fn two_dots_take_all_of_an_array_without_axes() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = zarr::create((&store, "/a")).array(NewArray::new(&[], "int32")).expect("a new array");
    array.write(.., &[5]).expect("all of it");
    assert_eq!(array.read::<i32>(..).expect("all of it"), [5]);
}
