//! Slabs that are under way at the same time.

use super::memory;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};
use zarr::convert::{Action, Conversion, ConvertOptions};
use zarr::prelude::*;
use zarr::store::{Answer, ByteRange, Call, Capabilities, Fetched, GetOptions, Key, fallback_blocking};
use zarr_store::{AccessProfile, Result, StoreExt};

/// A store whose gets of chunks wait for each other.
#[derive(Debug)]
struct Meeting {
    store: Arc<dyn Store>,
    /// Gets of chunks that were begun, that are under way, and the most that were at a time.
    begun: AtomicU64,
    under_way: AtomicU64,
    most: AtomicU64,
}

impl fmt::Display for Meeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Meeting {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        if key.as_str().contains("/c/") && !ranges.is_empty() {
            self.begun.fetch_add(1, SeqCst);
            self.most.fetch_max(self.under_way.fetch_add(1, SeqCst) + 1, SeqCst);
            let begun = Instant::now();
            while self.begun.load(SeqCst) < 2 && begun.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(1));
            }
            let found = self.store.get(key, ranges, options);
            self.under_way.fetch_sub(1, SeqCst);
            return found;
        }
        self.store.get(key, ranges, options)
    }
}

impl Store for Meeting {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options)?),
            call @ (Call::ListDir { .. } | Call::ListPrefix { .. }) => return self.store.call(call),
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.store.access_profile()
    }
}

#[test]
fn two_slabs_are_under_way_at_once() {
    const CHUNK: u64 = 33 << 20;
    let store = memory();
    let new = NewArray::new(&[4 * CHUNK], "uint8").chunks(&[CHUNK]).codecs("zstd(1)").unwrap();
    zarr::create((&store, "/a")).array(new).unwrap().fill(.., 7_u8).unwrap();
    let meeting = Arc::new(Meeting {
        store,
        begun: AtomicU64::default(),
        under_way: AtomicU64::default(),
        most: AtomicU64::default(),
    });
    let source: Arc<dyn Store> = Arc::clone(&meeting) as Arc<dyn Store>;
    // Two chunks are more than a slab has, and memory suffices for four threads.
    let options = ConvertOptions::default().codecs(zarr::codec::CodecList::parse("zstd(1),crc32c").unwrap());
    let options = options.options(Options::default().threads(NonZeroUsize::new(4)));
    let conversion = Conversion::plan(&source, &zarr::registry::default(), options).unwrap();
    assert_eq!(conversion.nodes().last().unwrap().how, Action::Reencode);
    let target = memory();
    let begun = Instant::now();
    conversion.run(&target, |_| {}).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20), "a slab waits until the one before is written");
    assert_eq!(meeting.most.load(SeqCst), 2);
    let array = zarr::open((&target, "/a")).array().unwrap();
    assert_eq!(array.read::<u8>(3 * CHUNK - 1..3 * CHUNK + 1).unwrap(), [7, 7]);
}
