//! Arrays that share a cache read the same as arrays without one.

use crate::layouts::{Grid, Layout, layout};
use crate::model::{Model, Sample};
use crate::selections::selection;
use proptest::prelude::*;
use std::sync::Arc;
use zarr_array::{Array, AsyncArray, ChunkCache};
use zarr_drive::{SyncAsAsync, block_on};
use zarr_grid::{Region, Selection};
use zarr_store::{AsyncStore, MemoryStore, Store};
use zarr_tests::Random;

/// An array opened several times with one cache, in a blocking store and in one that is not, and once without.
struct Trial<T> {
    cached: Vec<Array>,
    waiting: Vec<AsyncArray>,
    cache: ChunkCache,
    /// The blocking array as others have it opened, and whether the cache notices their changes.
    other: Array,
    revalidates: bool,
    model: Model<T>,
    grid: Grid,
}

impl<T: Sample> Trial<T> {
    fn new(layout: &Layout, max_bytes: usize, revalidates: bool) -> Self {
        let fill = T::sample(layout.fill);
        let new = layout.new_array::<T>();
        let registry = zarr::registry::default();
        let cache = if revalidates { ChunkCache::revalidating(max_bytes) } else { ChunkCache::new(max_bytes) };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let other = Array::create(&store, "/a", new.clone(), &registry).expect("a new array");
        let options = other.options().clone().cache(cache.clone());
        let open =
            |_| zarr::open((&store, "/a")).array().expect("it was made").with(options.clone()).expect("an array");
        let cached = (0..2).map(open).collect();
        let waiting: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new())));
        let new = new.options(options.clone());
        let made = block_on(AsyncArray::create(&waiting, "/a", new, &registry)).expect("a new array");
        let again = AsyncArray::from_found(&waiting, made.found().clone(), &registry, options).expect("an array");
        let model = Model::new(&layout.shape, &fill);
        Self { cached, waiting: vec![made, again], cache, other, revalidates, model, grid: layout.grid.clone() }
    }

    fn chunks(&self) -> Vec<Vec<u64>> {
        self.grid.lengths(&self.model.shape)
    }

    fn step(&mut self, random: &mut Random) -> Result<(), TestCaseError> {
        match random.below(9) {
            0 | 1 => self.write(random),
            2 => self.erase(random),
            3 => self.resize(random),
            4 => self.write_unseen(random),
            _ => self.read(random),
        }
    }

    fn read(&self, random: &mut Random) -> Result<(), TestCaseError> {
        let chunks = self.chunks();
        let selection = selection(random, &self.model.shape, &chunks);
        let expected = self.model.read(&selection, &chunks);
        let number = random.below(2);
        let found = self.cached[number].read::<T>(selection.clone());
        prop_assert_eq!(found.as_ref().ok(), Some(&expected), "{:?}: {:?}", selection, found.as_ref().err());
        let found = block_on(self.waiting[number].read::<T>(selection.clone()));
        prop_assert_eq!(found.as_ref().ok(), Some(&expected), "async {:?}: {:?}", selection, found.as_ref().err());
        prop_assert!(self.cache.bytes() <= self.cache.max_bytes());
        Ok(())
    }

    fn write(&mut self, random: &mut Random) -> Result<(), TestCaseError> {
        let chunks = self.chunks();
        let selection = selection(random, &self.model.shape, &chunks);
        let (start, step) = (random.below(5), [0, 1, 1, 7][random.below(4)]);
        let elements = self.model.write(&selection, &chunks, |i| T::sample(start + i * step));
        let number = random.below(2);
        prop_assert!(self.cached[number].write(selection.clone(), &elements).is_ok());
        prop_assert!(block_on(self.waiting[number].write(selection, &elements)).is_ok());
        Ok(())
    }

    /// By an array that has no cache.
    fn write_unseen(&mut self, random: &mut Random) -> Result<(), TestCaseError> {
        let chunks = self.chunks();
        let selection = selection(random, &self.model.shape, &chunks);
        let elements = self.model.write(&selection, &chunks, |i| T::sample(i + 1));
        prop_assert!(self.other.write(selection.clone(), &elements).is_ok());
        if !self.revalidates {
            self.cache.clear();
            prop_assert_eq!(self.cache.bytes(), 0);
        }
        prop_assert!(block_on(self.waiting[0].write(selection, &elements)).is_ok());
        Ok(())
    }

    fn erase(&mut self, random: &mut Random) -> Result<(), TestCaseError> {
        let chunks = self.chunks();
        if chunks.iter().any(Vec::is_empty) {
            return Ok(());
        }
        let chunk: Vec<u64> = chunks.iter().map(|axis| random.below(axis.len()) as u64).collect();
        let number = random.below(2);
        prop_assert!(self.cached[number].erase_chunk(&chunk).is_ok());
        prop_assert!(block_on(self.waiting[number].erase_chunk(&chunk)).is_ok());
        let region = self.cached[0].chunk_grid().chunk_region(&chunk);
        let ends = region.axes().iter().zip(&self.model.shape);
        let axes = ends.map(|(axis, &len)| axis.start..(axis.start + axis.len).min(len));
        let region = Region::from_ranges(&axes.collect::<Vec<_>>());
        let fill = self.model.fill.clone();
        self.model.write(&Selection::Region(region), &chunks, |_| fill.clone());
        Ok(())
    }

    /// Only along chunks, so that nothing is left of the removed chunks, and only of regular grids.
    fn resize(&mut self, random: &mut Random) -> Result<(), TestCaseError> {
        let Grid::Regular(chunk) = &self.grid else { return Ok(()) };
        let shape: Vec<u64> = chunk.iter().map(|&len| len * random.below(3) as u64).collect();
        self.model.resize(&shape);
        prop_assert!(self.cached[0].resize(&shape).is_ok());
        prop_assert!(block_on(self.waiting[0].resize(&shape)).is_ok());
        let options = self.cached[0].options().clone();
        self.cached[1] =
            zarr::open((self.cached[0].store(), "/a")).array().expect("it is there").with(options).expect("an array");
        self.waiting[1] = self.waiting[0].clone();
        self.other = zarr::open((self.cached[0].store(), "/a")).array().expect("it is there");
        Ok(())
    }
}

fn check<T: Sample>(layout: &Layout, max_bytes: usize, revalidates: bool, steps: &[u64]) -> Result<(), TestCaseError> {
    let mut trial = Trial::<T>::new(layout, max_bytes, revalidates);
    for &step in steps {
        trial.step(&mut Random::new(step))?;
    }
    trial.read(&mut Random::new(0))
}

fn steps() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(any::<u64>(), 1..30)
}

/// Room for nothing, for some, for all.
fn sizes() -> impl Strategy<Value = usize> {
    prop::sample::select(vec![0, 1500, 5000, 1 << 20])
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_numbers(layout in layout(false, true), size in sizes(), revalidates: bool, steps in steps()) {
        check::<i16>(&layout, size, revalidates, &steps)?;
    }

    #[test]
    fn of_texts(layout in layout(true, false), size in sizes(), revalidates: bool, steps in steps()) {
        check::<String>(&layout, size, revalidates, &steps)?;
    }
}

/// Each index and each inner chunk is looked up once.
#[test]
fn lookups_are_counted_once() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = zarr_array::NewArray::new(&[64, 64], "int32").chunks(&[8, 8]).shards(&[32, 32]);
    let array = Array::create(&store, "/a", new, &zarr::registry::default()).expect("a new array");
    array.write(.., &(1..=4096).collect::<Vec<i32>>()).expect("written");
    for (selection, lookups) in [("0, 0", 2), ("0:9, 0", 3), ("30:34, 0", 4), ("[0, 9, 10], 0", 3)] {
        let selection: Selection = selection.parse().expect("a selection");
        let cache = ChunkCache::new(1 << 20);
        let cached = array.with(array.options().clone().cache(cache.clone())).expect("an array");
        for read in 0..3 {
            cached.read::<i32>(selection.clone()).expect("read");
            let counts = cache.counts();
            assert_eq!((counts.misses, counts.hits), (lookups, read * lookups), "{selection:?}");
        }
    }
}
