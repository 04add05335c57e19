//! Requests, and rounds of requests under way at the same time, that it takes to open hierarchies behind a network.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zarr::hierarchy::{Copies, Walk, Warning, consolidated_below, open_group, walk, walk_consolidated};
use zarr::prelude::*;
use zarr::store::{
    AccessProfile, Answer, AsyncAsSync, AsyncStoreExt, Asynchronous, BoxFuture, ByteRange, Bytes, Call, Capabilities,
    Counted, Fetched, GetOptions, Key, Listing, MemoryStore, Prefix, Result, SetOptions, StoreExt, SyncAsAsync,
    Version, block_on, fallback,
};
use zarr::{AsyncStore, Dialect, Store};

/// Values that take a while to come, and the keys that were asked for. Those of requests that were under way at the same time are one
/// round.
#[derive(Debug)]
struct Rounds {
    values: SyncAsAsync,
    latency: Duration,
    asked: Mutex<Asked>,
}

#[derive(Debug, Default)]
struct Asked {
    under_way: usize,
    rounds: Vec<Vec<String>>,
}

impl Rounds {
    fn new(values: Arc<dyn Store>, latency: Duration) -> Arc<Self> {
        Arc::new(Self { values: SyncAsAsync::new(values), latency, asked: Mutex::default() })
    }

    async fn round(&self, what: String) {
        {
            let mut asked = self.asked.lock().unwrap();
            if asked.under_way == 0 {
                asked.rounds.push(Vec::new());
            }
            asked.under_way += 1;
            asked.rounds.last_mut().unwrap().push(what);
        }
        self.values.pause(self.latency).await;
        self.asked.lock().unwrap().under_way -= 1;
    }

    /// The rounds since the last call, the keys of each sorted.
    fn take(&self) -> Vec<Vec<String>> {
        let mut rounds = std::mem::take(&mut self.asked.lock().unwrap().rounds);
        rounds.iter_mut().for_each(|keys| keys.sort());
        rounds
    }
}

impl fmt::Display for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rounds:")
    }
}

impl Rounds {
    async fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        self.round(key.to_string()).await;
        self.values.get(key, ranges, options).await
    }

    async fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        self.round(format!("list {prefix}")).await;
        self.values.list_dir(prefix).await
    }

    async fn set(&self, key: &Key, value: Bytes, options: &SetOptions) -> Result<Option<Version>> {
        self.values.set(key, value, options).await
    }

    async fn erase(&self, key: &Key) -> Result<()> {
        self.values.erase(key).await
    }
}

impl AsyncStore for Rounds {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            Ok(match call {
                Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options).await?),
                Call::ListDir { prefix } => Answer::Listing(self.list_dir(&prefix).await?),
                Call::Set { key, value, options } => Answer::Set(self.set(&key, value.into_bytes(), &options).await?),
                Call::Erase { key } => self.erase(&key).await?.into(),
                call => return fallback(Asynchronous(self), call).await,
            })
        })
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::REMOTE
    }

    fn capabilities(&self) -> Capabilities {
        self.values.capabilities()
    }
}

/// A group with an attribute, and an array with an attribute and names of its dimensions.
fn fill(store: &Arc<dyn Store>, dialect: Dialect, consolidated: bool) {
    let group = zarr::create(store).group(NewGroup::new().attribute("title", "t").dialect(dialect)).unwrap();
    let new = NewArray::new(&[2], "int8").dimension_names(&["x"]).attribute("units", "K");
    group.create_array("a", new).unwrap();
    if consolidated {
        zarr::hierarchy::consolidate(&**store, "/", None).unwrap();
    }
}

fn values(dialect: Dialect, consolidated: bool) -> Arc<MemoryStore> {
    let values = Arc::new(MemoryStore::new());
    fill(&(Arc::clone(&values) as Arc<dyn Store>), dialect, consolidated);
    values
}

fn opened(values: &Arc<MemoryStore>) -> (Arc<Rounds>, Arc<dyn Store>) {
    let rounds = Rounds::new(Arc::clone(values) as _, Duration::from_millis(30));
    let store = Arc::new(AsyncAsSync::new(Arc::clone(&rounds) as Arc<dyn AsyncStore>));
    (rounds, store)
}

const V2_GROUP: [&str; 3] = [".zattrs", ".zgroup", ".zmetadata"];

#[test]
fn a_consolidated_hierarchy_of_v3_is_one_request() {
    let (rounds, store) = opened(&values(Dialect::V3, true));
    for dialect in [None, Some(Dialect::V3)] {
        let walk = walk_consolidated(&*store, "/", dialect).unwrap();
        assert_eq!((walk.nodes.len(), rounds.take()), (2, vec![vec!["zarr.json".to_owned()]]));
    }
    assert_eq!(zarr::open(&store).group().unwrap().consolidated_walk().unwrap().nodes.len(), 2);
    assert_eq!(rounds.take(), [["zarr.json"]]);
    assert_eq!(zarr::open(&store).dataset().unwrap().variables().count(), 1);
    assert_eq!(rounds.take(), [["zarr.json"]]);
}

#[test]
fn a_consolidated_hierarchy_of_v2_is_four_requests_in_two_rounds() {
    let (rounds, store) = opened(&values(Dialect::V2, true));
    let expected = || vec![vec!["zarr.json"], V2_GROUP.to_vec()];
    let group = zarr::open(&store).group().unwrap();
    assert_eq!(group.consolidated_walk().unwrap().nodes.len(), 2);
    assert_eq!(group.consolidated_children().unwrap().nodes.len(), 1);
    assert_eq!(rounds.take(), expected());
    assert_eq!(walk_consolidated(&*store, "/", None).unwrap().nodes.len(), 2);
    assert_eq!(rounds.take(), expected());
    assert_eq!(zarr::open(&store).dataset().unwrap().variables().count(), 1);
    assert_eq!(rounds.take(), expected());
    let waiting: Arc<dyn AsyncStore> = Arc::clone(&rounds) as _;
    let walk = block_on(async { zarr::open((&waiting, "/")).group().await?.consolidated_walk().await });
    assert_eq!((walk.unwrap().nodes.len(), rounds.take()), (2, expected().into_iter().map(owned).collect()));
}

fn owned(keys: Vec<&str>) -> Vec<String> {
    keys.into_iter().map(str::to_owned).collect()
}

#[test]
fn a_consolidated_hierarchy_of_a_known_dialect_is_one_request() {
    let (rounds, store) = opened(&values(Dialect::V2, true));
    let walk = walk_consolidated(&*store, "/", Some(Dialect::V2)).unwrap();
    assert_eq!((walk.nodes.len(), rounds.take()), (2, vec![vec![".zmetadata".to_owned()]]));
    let dataset = zarr::open(&store).dialect(Dialect::V2).dataset().unwrap();
    assert_eq!((dataset.variables().count(), dataset.attributes().len()), (1, 1));
    assert_eq!(rounds.take(), [[".zmetadata"]]);
    // Whoever wants the group alone gets it as its documents are.
    let group = zarr::open(&store).dialect(Dialect::V2).group().unwrap();
    assert_eq!((group.consolidated_walk().unwrap().nodes.len(), rounds.take()), (2, vec![owned(V2_GROUP.to_vec())]));
}

#[test]
fn a_node_of_v2_without_consolidated_metadata_is_four_requests_in_two_rounds() {
    let (rounds, store) = opened(&values(Dialect::V2, false));
    let group = zarr::open(&store).group().unwrap();
    assert_eq!(group.attributes().unwrap().len(), 1);
    assert_eq!(rounds.take(), [vec!["zarr.json"], V2_GROUP.to_vec()]);
    // That there is no consolidated metadata is known.
    assert_eq!(group.consolidated_walk().unwrap().nodes.len(), 2);
    assert_eq!(rounds.take(), [vec!["list "], vec!["a/.zarray", "a/.zattrs", "a/.zgroup"]]);
    zarr::open((&store, "/a")).array().unwrap();
    assert_eq!(rounds.take(), [vec!["a/zarr.json"], vec!["a/.zarray", "a/.zattrs", "a/.zgroup"]]);
    zarr::open((&store, "/a")).dialect(Dialect::V2).array().unwrap();
    assert_eq!(rounds.take(), [["a/.zarray", "a/.zattrs", "a/.zgroup"]]);
    zarr::open((&store, "/")).node().unwrap();
    assert_eq!(rounds.take(), [vec!["zarr.json"], vec![".zarray", ".zattrs", ".zgroup"]]);
    // What was to be found in one request takes four.
    open_group(&*store, "/", Some(Dialect::V2), Copies::Trusted).unwrap();
    assert_eq!(rounds.take(), [vec![".zmetadata"], vec![".zattrs", ".zgroup"]]);
}

#[test]
fn without_consolidated_metadata_nodes_of_every_dialect_are_found() {
    let (values, old) = (values(Dialect::V3, false), values(Dialect::V2, false));
    for key in old.list().unwrap() {
        let value = old.get_all(&key).unwrap().unwrap();
        values.set_all(&Key::new(&format!("old/{key}")).unwrap(), &value).unwrap();
    }
    let (rounds, store) = opened(&values);
    let paths = |walk: zarr::Result<Walk>| {
        walk.unwrap().nodes.iter().map(|node| format!("{} {}", node.path, node.dialect)).collect::<Vec<_>>()
    };
    let all = ["/ v3", "/a v3", "/old v2", "/old/a v2"];
    assert_eq!(paths(walk(&*store, "/", None)), all);
    // A walk sees all documents, also those that hide others; one that believes copies asks for those of v2 where there are none of v3.
    let looked = rounds.take();
    assert!(looked.iter().flatten().any(|key| key == "a/.zarray"), "{looked:?}");
    assert_eq!(paths(walk_consolidated(&*store, "/", None)), all);
    let fewer = rounds.take();
    assert!(fewer.iter().flatten().all(|key| !key.starts_with("a/") || key == "a/zarr.json"), "{fewer:?}");
    let waiting: Arc<dyn AsyncStore> = Arc::clone(&rounds) as _;
    assert_eq!(paths(block_on(zarr_hierarchy::walk_consolidated_async(&*waiting, "/", None))), all);
    assert_eq!(rounds.take(), fewer);
    let root = open_group(&*store, "/", None, Copies::Trusted).unwrap();
    assert_eq!(paths(consolidated_below(&*store, &root, None, Some(1))), all[..3]);
    assert_eq!(paths(consolidated_below(&*store, &root, Some(Dialect::V3), None)), all[..2]);
    zarr::hierarchy::consolidate(&*store, "/", Some(Dialect::V3)).unwrap();
    assert_eq!(paths(walk_consolidated(&*store, "/", None)), all[..2]);
}

#[test]
fn a_node_of_v3_is_one_request() {
    let (rounds, store) = opened(&values(Dialect::V3, false));
    zarr::open(&store).group().unwrap();
    zarr::open((&store, "/a")).array().unwrap();
    assert_eq!(rounds.take(), [["zarr.json"], ["a/zarr.json"]]);
}

#[test]
fn an_array_where_a_group_is_expected_is_named() {
    let (rounds, store) = opened(&values(Dialect::V2, true));
    let error = zarr::open((&store, "/a")).group().map(drop).unwrap_err();
    assert!(error.to_string().contains("found an array, expected a group"), "{error}");
    let documents = [vec!["a/zarr.json"], vec!["a/.zattrs", "a/.zgroup", "a/.zmetadata"], vec!["a/.zarray"]];
    assert_eq!(rounds.take()[..3], documents.map(owned));
    // Documents of every kind are named where there is nothing.
    let error = zarr::open((&store, "/b")).group().map(drop).unwrap_err().to_string();
    for key in ["b/zarr.json", "b/.zgroup", "b/.zarray"] {
        assert!(error.contains(key), "{error}");
    }
    assert!(!error.contains(".zmetadata"), "{error}");
}

#[test]
fn the_documents_of_a_group_are_believed_before_their_copies() {
    let values = values(Dialect::V2, true);
    values.set_all(&Key::new(".zattrs").unwrap(), br#"{"title": "newer"}"#).unwrap();
    let (_, store) = opened(&values);
    let title = |dialect: Option<Dialect>, copies| {
        let found = open_group(&*store, "/", dialect, copies).unwrap();
        found.attributes().unwrap().get("title").and_then(|title| title.as_str()).unwrap().to_owned()
    };
    assert_eq!(title(None, Copies::Read), "newer");
    assert_eq!(title(Some(Dialect::V2), Copies::Read), "newer");
    assert_eq!(title(None, Copies::Trusted), "newer");
    assert_eq!(title(Some(Dialect::V2), Copies::Trusted), "t");
    assert_eq!(zarr::open(&store).dialect(Dialect::V2).group().unwrap().attributes().unwrap().len(), 1);
}

#[test]
fn a_broken_copy_is_reported_and_hides_nothing() {
    let values = values(Dialect::V2, true);
    let copy = Key::new(".zmetadata").unwrap();
    for text in [&br#"{"#[..], br#"{"zarr_consolidated_format": 1}"#] {
        values.set_all(&copy, text).unwrap();
        let (_, store) = opened(&values);
        for dialect in [None, Some(Dialect::V2)] {
            let walk = walk_consolidated(&*store, "/", dialect).unwrap();
            assert_eq!((walk.nodes.len(), walk.bad_consolidated.len()), (2, 1));
            assert_eq!(walk.bad_consolidated[0].location().key.as_deref(), Some(".zmetadata"));
        }
        let walk = zarr::open(&store).group().unwrap().walk().unwrap();
        assert_eq!((walk.nodes.len(), walk.bad_consolidated.len()), (2, 1));
    }
    // One without the group itself, or with a group that is broken in it: the documents of the group are asked for.
    for group in ["", r#"".zgroup": {"zarr_format": 7}, "#] {
        let array = r#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|i1", "compressor": null,
            "filters": null, "fill_value": 0, "order": "C"}"#;
        let text = format!(r#"{{"zarr_consolidated_format": 1, "metadata": {{{group}"a/.zarray": {array}}}}}"#);
        values.set_all(&copy, text.as_bytes()).unwrap();
        let (rounds, store) = opened(&values);
        let found = open_group(&*store, "/", Some(Dialect::V2), Copies::Trusted).unwrap();
        assert_eq!(found.attributes().unwrap().len(), 1);
        assert_eq!(rounds.take(), [vec![".zmetadata"], vec![".zattrs", ".zgroup"]]);
    }
}

#[test]
fn nodes_created_by_the_group_are_seen_by_its_walks() {
    for dialect in [Dialect::V2, Dialect::V3] {
        let (_, store) = opened(&values(dialect, true));
        let group = zarr::open(&store).group().unwrap();
        group.create_array("b", NewArray::new(&[2], "int8")).unwrap();
        assert_eq!(group.consolidated_walk().unwrap().nodes.len(), 3, "{dialect}");
        group.clone().create_group("c", NewGroup::new()).unwrap();
        assert_eq!(group.consolidated_walk().unwrap().nodes.len(), 4, "{dialect}");
    }
}

/// Where requests are cheap, consolidated metadata is read only if it is wanted.
#[test]
fn stores_of_this_machine_are_asked_for_all_documents_at_once() {
    let counted = Arc::new(Counted::new(MemoryStore::new()));
    let store: Arc<dyn Store> = Arc::clone(&counted) as _;
    fill(&store, Dialect::V2, true);
    counted.take();
    let group = zarr::open(&store).group().unwrap();
    assert_eq!(counted.take().gets, 4);
    assert_eq!(group.consolidated_walk().unwrap().nodes.len(), 2);
    assert_eq!(counted.take().gets, 1);
}

/// Whatever is asked for first, the same group is found.
#[test]
fn groups_that_other_software_wrote_are_found_by_either_order_of_requests() {
    let mut groups = 0;
    for archive in zarr_tests::ARCHIVES {
        for case in zarr_tests::cases(archive).unwrap() {
            let Ok(values) = zarr::store::open(&case.url()) else { continue };
            let Ok(walk) = walk(&*values, "/", None) else { continue };
            let store = AsyncAsSync::new(Rounds::new(values, Duration::ZERO));
            for node in walk.nodes {
                let path = node.path.to_string();
                let Ok(known) = zarr::hierarchy::open_node(&store, &path, None) else { continue };
                let hides_group = |warning: &Warning| warning.hides == Some(known.dialect);
                if known.node.as_array().is_some() && known.warnings.iter().any(hides_group) {
                    // An array and a group at one path: whoever expects a group gets that.
                    let found = open_group(&store, &path, None, Copies::Read).unwrap();
                    assert!(found.node.as_group().is_some(), "{}: {path}", case.name);
                    continue;
                }
                for copies in [Copies::Read, Copies::Trusted] {
                    let found = open_group(&store, &path, None, copies).unwrap();
                    let is_same = (found.dialect, &found.node) == (known.dialect, &known.node);
                    assert!(is_same && found.implicit == known.implicit, "{}: {path}: {copies:?}", case.name);
                }
                let found = open_group(&store, &path, Some(known.dialect), Copies::Trusted).unwrap();
                assert_eq!(found.node.as_group().is_some(), known.node.as_group().is_some(), "{}: {path}", case.name);
                groups += usize::from(known.node.as_group().is_some());
            }
        }
    }
    assert!(groups > 50, "{groups}");
}
