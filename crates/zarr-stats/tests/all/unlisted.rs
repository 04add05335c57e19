//! Tests with stores whose listings fail, although gets succeed.

use crate::{create, registry};
use std::fmt;
use std::sync::Arc;
use zarr_array::{NewArray, Store};
use zarr_hierarchy::walk;
use zarr_stats::{BenchOptions, CodecBench, Statistics, StatsOptions, Usage};
use zarr_store::{
    Answer, Call, Capabilities, Error, ErrorKind, MemoryStore, Operation, Prefix, SizeVisitor, StoreExt,
    fallback_blocking,
};

/// Store whose listing of sizes fails after it has returned some keys.
#[derive(Debug)]
struct Unlisted(MemoryStore, ErrorKind);

impl fmt::Display for Unlisted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Unlisted {
    fn list_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) -> zarr_store::Result<()> {
        for key in self.0.list_prefix(prefix)?.into_iter().take(2) {
            visit(key, 1);
        }
        Err(Error::failed(self, Operation::List, prefix.to_string(), self.1, "no lists here"))
    }
}

impl Store for Unlisted {
    fn call(&self, call: Call<'_>) -> zarr_store::Result<Answer> {
        Ok(match call {
            Call::ListSizes { prefix, visit } => self.list_sizes(&prefix, &visit)?.into(),
            call @ (Call::Get { .. }
            | Call::Set { .. }
            | Call::Erase { .. }
            | Call::ListDir { .. }
            | Call::ListPrefix { .. }) => return self.0.call(call),
            call => return fallback_blocking(self, call),
        })
    }

    fn access_profile(&self) -> zarr_store::AccessProfile {
        self.0.access_profile()
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
}

#[test]
fn chunks_are_asked_for_where_lists_are_refused() {
    for kind in [ErrorKind::Denied, ErrorKind::Unsupported, ErrorKind::Path] {
        let store: Arc<dyn Store> = Arc::new(Unlisted(MemoryStore::new(), kind));
        let array = create(&store, "/a", NewArray::new(&[20], "int32").chunks(&[2]).codecs("none").unwrap());
        array.write(4..12, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let statistics = Statistics::of(&array, .., &StatsOptions::default()).unwrap();
        assert_eq!((statistics.elements, statistics.numbers.integer_sum), (20, Some(36)), "{kind:?}");
        assert_eq!(statistics.unstored, None, "{kind:?}: it is not known what is stored");
        // Chunks of fill values alone are not taken for stored ones.
        let bench = CodecBench::of(&array, &[], &BenchOptions::default()).unwrap();
        assert!(bench.chunks.iter().all(|chunk| (2..6).contains(&chunk[0])), "{:?}", bench.chunks);
        // What is counted by a list alone is not known.
        let nodes = walk(&*store, "/a", None).unwrap().nodes;
        let error = Usage::of(&*store, &nodes, &registry()).unwrap_err();
        assert_eq!(error.kind(), zarr_array::ErrorKind::Store, "{error}");
    }
}

#[test]
fn other_failures_of_lists_are_errors() {
    for kind in [ErrorKind::Io, ErrorKind::Throttled, ErrorKind::TimedOut, ErrorKind::Invalid] {
        let store: Arc<dyn Store> = Arc::new(Unlisted(MemoryStore::new(), kind));
        let array = create(&store, "/a", NewArray::new(&[4], "int8").codecs("none").unwrap());
        array.write(.., &[1_i8; 4]).unwrap();
        let error = Statistics::of(&array, .., &StatsOptions::default()).unwrap_err();
        assert_eq!(error.kind(), zarr_array::ErrorKind::Store, "{kind:?}: {error}");
        assert!(error.with_causes().contains("no lists here"), "{kind:?}: {error}");
    }
}
