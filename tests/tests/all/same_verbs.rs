//! Arrays and groups over stores that do not block have the verbs of those over blocking stores.

use std::collections::BTreeSet;
use std::sync::Arc;
use zarr::convert::{Conversion, ConvertOptions, Transfer};
use zarr::prelude::*;
use zarr::store::{Counted, MemoryStore, SyncAsAsync, block_on, unblock};
use zarr::{AsyncStore, Dialect};

/// The public methods of a type, from the list of public items.
fn methods(list: &str, of: &str) -> BTreeSet<String> {
    let marker = format!("fn {of}::");
    let name = |line: &str| Some(line.split_once(&marker)?.1.split(['(', '<']).next()?.to_owned());
    list.lines().filter(|line| line.starts_with("pub ")).filter_map(name).collect()
}

#[test]
fn arrays_and_groups_have_the_same_verbs() {
    let path = format!("{}/../docs/api/zarr-array.txt", env!("CARGO_MANIFEST_DIR"));
    let list = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    for (blocking, waiting, least) in [("Array", "AsyncArray", 45), ("Group", "AsyncGroup", 25)] {
        let [mut all, found] = [blocking, waiting].map(|of| methods(&list, &format!("zarr_array::{of}")));
        // Checks block, as conversions do: `unblock` runs them on stores that do not.
        all.remove("check_chunks");
        assert!(all.len() >= least, "{blocking} has {} methods", all.len());
        assert_eq!(all, found, "{blocking} and {waiting}");
    }
}

/// Copies, moves, conversions, and all else that blocks, runs beside the future that polls its requests.
#[test]
fn copies_and_conversions_run_on_stores_that_do_not_block() {
    let counted = Arc::new(Counted::new(MemoryStore::new()));
    let source: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(counted.clone()));
    let target: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new())));
    let done = async {
        let new = NewArray::new(&[50, 60], "int16").chunks(&[7, 60]).dialect(Dialect::V2);
        let array = zarr::create((&source, "/g/a")).array(new).await?;
        array.write(.., &(0..3000).collect::<Vec<i16>>()).await?;
        let (from, to) = (Arc::clone(&source), Arc::clone(&target));
        unblock(move |unblocker| {
            let (from, to) = (unblocker.store(&from), unblocker.store(&to));
            Transfer::of(&from, "/g/a").to("/copied").copy(&zarr::registry::default())?;
            let options = ConvertOptions::default().dialect(Dialect::V3).chunks(vec![50, 7]);
            Conversion::plan(&from, &zarr::registry::default(), options)?.run(&to, |_| {})
        })
        .await??;
        let copied = zarr::open((&target, "/copied")).array().await?;
        assert_eq!((copied.dialect(), copied.chunk_shape().as_slice()), (Dialect::V3, &[50, 7][..]));
        assert_eq!(copied.read::<i16>((49, 57..)).await?, [2997, 2998, 2999]);
        let paths = zarr::open(&target).group().await?.walk().await?.nodes;
        assert_eq!(paths.iter().map(|node| node.path.to_string()).collect::<Vec<_>>(), ["/", "/copied", "/g", "/g/a"]);
        Ok::<(), zarr::Error>(())
    };
    block_on(done).unwrap();
    assert!(counted.counts().gets > 0);
}
