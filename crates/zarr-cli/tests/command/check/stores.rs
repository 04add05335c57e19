//! Stores that cannot list, are remote, fail or change; and what lies beside and below nodes.

use super::samples::checked_with;
use std::fmt;
use std::sync::{Arc, Mutex};
use zarr::check::{CheckOptions, Code, Finding};
use zarr::store::{
    AccessProfile, Answer, ByteRange, Call, Capabilities, Error, Fetched, GetOptions, Key, MemoryStore, Operation,
    Precondition, Prefix, Result, StoreExt, StoreKind, Version, fallback_blocking,
};
use zarr::{Array, NewArray, Store};

/// A store that differs from one in memory.
#[derive(Debug, Default)]
pub(super) struct Odd {
    pub(super) inner: MemoryStore,
    /// The value under this key cannot be read.
    pub(super) broken: Option<&'static str>,
    /// Whether values are found to be replaced whenever they are read in parts.
    pub(super) is_changing: bool,
    pub(super) cannot_list: bool,
    pub(super) is_remote: bool,
    /// Prefixes below which all keys were listed together.
    pub(super) listed: Mutex<Vec<String>>,
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("odd")
    }
}

impl Odd {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        if self.broken == Some(key.as_str()) {
            return Err(Error::io(self, Operation::Get, key.as_str(), std::io::Error::other("a bad sector")));
        }
        if self.is_changing && options.if_match.is_some() {
            Precondition::NotExists.check(self, key, Some(&Version::new("other")))?;
        }
        self.inner.get(key, ranges, options)
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        self.listed.lock().unwrap().push(prefix.to_string());
        self.inner.list_prefix(prefix)
    }
}

impl Store for Odd {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options)?),
            Call::ListPrefix { prefix } => Answer::Keys(self.list_prefix(&prefix)?),
            call @ (Call::Set { .. } | Call::Erase { .. } | Call::ListDir { .. }) => return self.inner.call(call),
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities().list(!self.cannot_list)
    }

    fn access_profile(&self) -> AccessProfile {
        let mut profile = self.inner.access_profile();
        if self.is_remote {
            profile.kind = StoreKind::Remote;
        }
        profile
    }
}

/// Sets values.
pub(super) fn put(store: &dyn Store, values: &[(impl AsRef<str>, impl AsRef<str>)]) {
    for (key, value) in values {
        store.set_all(&Key::new(key.as_ref()).unwrap(), value.as_ref().as_bytes()).unwrap();
    }
}

pub(super) const GROUP: &str = r#"{"zarr_format": 3, "node_type": "group"}"#;
const OLD_ARRAY: &str = r#"{"zarr_format": 2, "shape": [4, 2], "chunks": [2, 2], "dtype": "|u1", "compressor": null,
    "fill_value": 0, "filters": null, "order": "C"}"#;

fn found(store: Odd, path: &str) -> (Vec<Finding>, zarr::check::Report) {
    let store: Arc<dyn Store> = Arc::new(store);
    checked_with(&store, path, &CheckOptions::default()).unwrap()
}

fn places(findings: &[Finding]) -> Vec<(Code, String)> {
    let mut places: Vec<_> = findings.iter().map(|finding| (finding.code, finding.place())).collect();
    places.sort();
    places
}

/// A document of version 2 without a separator leaves open where chunks are: reads look at both keys, and so does the check.
#[test]
fn chunks_are_asked_for_under_all_keys_where_a_store_cannot_list() {
    let odd = Odd { cannot_list: true, ..Odd::default() };
    put(&odd.inner, &[(".zarray", OLD_ARRAY), ("0/0", "1234"), ("1/0", "123")]);
    let (findings, report) = found(odd, "/");
    assert_eq!(places(&findings), [(Code::BrokenChunk, "1/0".to_owned())]);
    assert_eq!((report.checked.chunks, report.checked.left_out), (2, 0));
}

/// Where all keys of an array come in one listing, those of different directories do not clash.
#[test]
fn names_clash_within_one_directory_of_a_remote_store() {
    let odd = Odd { is_remote: true, ..Odd::default() };
    put(&odd.inner, &[("zarr.json", GROUP)]);
    let store: Arc<dyn Store> = Arc::new(odd.inner);
    zarr::create((&store, "/a")).array(NewArray::new(&[4], "int8").codecs("bytes").unwrap()).unwrap();
    put(&*store, &[("a/x/Readme", ""), ("a/y/readme", "")]);
    let strays = |names: &[&str]| names.iter().map(|name| (Code::StrayKey, (*name).to_owned())).collect::<Vec<_>>();
    let remote = |store: &Arc<dyn Store>| {
        let inner = MemoryStore::new();
        for key in store.list().unwrap() {
            inner.set_all(&key, &store.get_all(&key).unwrap().unwrap()).unwrap();
        }
        places(&found(Odd { inner, is_remote: true, ..Odd::default() }, "/").0)
    };
    assert_eq!(remote(&store), strays(&["a/x/Readme", "a/y/readme"]));
    put(&*store, &[("a/x/readme", ""), ("a/X/other", ""), ("a/y/readme/below", "")]);
    let findings = remote(&store);
    for due in [(Code::CaseClash, "a/x/readme"), (Code::CaseClash, "a/x/"), (Code::KeyIsPrefix, "a/y/readme")] {
        assert!(findings.contains(&(due.0, due.1.to_owned())), "{due:?}: {findings:?}");
    }
    assert_eq!(findings.iter().filter(|(code, _)| *code == Code::CaseClash).count(), 2, "{findings:?}");
}

/// The memory of a check depends on the directories, and not on the array, unless the store is remote.
#[test]
fn directories_are_listed_one_after_another() {
    for (is_remote, listed) in [(false, vec![]), (true, vec!["a/".to_owned()])] {
        let odd = Odd { is_remote, ..Odd::default() };
        put(&odd.inner, &[(".zgroup", r#"{"zarr_format": 2}"#), ("a/.zarray", OLD_ARRAY), ("a/0.0", "1234")]);
        let odd = Arc::new(odd);
        let store: Arc<dyn Store> = Arc::clone(&odd) as _;
        checked_with(&store, "/", &CheckOptions::default()).unwrap();
        assert_eq!(*odd.listed.lock().unwrap(), listed);
    }
}

/// A node has one finding, however many documents it has.
#[test]
fn a_node_below_an_array_is_found_once() {
    let odd = Odd::default();
    put(&odd.inner, &[("a/.zarray", OLD_ARRAY), (".zgroup", r#"{"zarr_format": 2}"#)]);
    put(&odd.inner, &[("a/b/.zarray", OLD_ARRAY), ("a/b/.zattrs", "{}")]);
    assert_eq!(places(&found(odd, "/").0), [(Code::NodeBelowArray, "a/b/.zarray".to_owned())]);
    // Of this dialect the walk finds it as well, since documents lie apart from chunks.
    let odd = Odd::default();
    let entry = r#"{"zarr_format": "https://purl.org/zarr/spec/core/3.0",
        "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"}, "extensions": []}"#;
    let array = r#"{"shape": [2], "data_type": "uint8", "chunk_grid": {"type": "regular", "chunk_shape": [2], "separator": "/"},
        "chunk_memory_layout": "C", "fill_value": 0, "extensions": [], "attributes": {}}"#;
    put(&odd.inner, &[("zarr.json", entry), ("meta/a.array.json", array), ("meta/a/b.array.json", array)]);
    let (findings, _) = found(odd, "/");
    let below: Vec<_> = findings.iter().filter(|finding| finding.code == Code::NodeBelowArray).collect();
    assert_eq!(below.len(), 1, "{findings:?}");
}

/// Keys that changes of a node have left lie beside it, in the group above.
#[test]
fn what_belongs_to_a_node_is_found_beside_it() {
    let odd = Odd::default();
    put(&odd.inner, &[("zarr.json", GROUP), (".zmigration", "{}")]);
    for name in ["a", "b"] {
        put(&odd.inner, &[(&format!("{name}/zarr.json"), GROUP), (&format!(".zconversion-{name}"), "{}")]);
        put(&odd.inner, &[(&format!(".zconversion.1-of-2-{name}"), "{}")]);
        put(&odd.inner, &[(&format!(".zconversion.scratch.0-{name}"), "{}")]);
        put(&odd.inner, &[(&format!(".zreplacement/{name}/0123456789abcdef/zarr.json"), GROUP)]);
    }
    let (findings, _) = found(odd, "/a");
    let due = [
        (Code::UnfinishedConversion, ".zconversion-a"),
        (Code::UnfinishedConversion, ".zconversion.1-of-2-a"),
        (Code::UnfinishedConversion, ".zconversion.scratch.0-a"),
        (Code::UnfinishedReplacement, ".zreplacement/a/"),
        (Code::UnfinishedMigration, ".zmigration"),
    ];
    assert_eq!(places(&findings), due.map(|(code, place)| (code, place.to_owned())));
    assert!(findings.iter().take(3).all(|finding| finding.path.as_deref() == Some("/a")), "{findings:?}");
}

/// A value that cannot be read is a finding, and the others are checked.
#[test]
fn a_value_that_cannot_be_read_is_one_finding() {
    let odd = Odd { broken: Some("c/1"), ..Odd::default() };
    let store: Arc<dyn Store> = Arc::new(odd);
    let new = NewArray::new(&[8], "int8").chunks(&[1]).codecs("bytes").unwrap();
    let array: Array = zarr::create((&store, "/")).array(new).unwrap();
    array.write(.., &[1_i8; 8]).unwrap();
    let (findings, report) = checked_with(&store, "/", &CheckOptions::default()).unwrap();
    assert_eq!(places(&findings), [(Code::Unreadable, "c/1".to_owned())]);
    assert!(report.checked.chunks >= 7, "{report:?}");
}

/// A conversion that is done in parts creates the node last.
#[test]
fn an_unfinished_conversion_is_found_where_there_is_no_node_yet() {
    for cannot_list in [false, true] {
        let odd = Odd { cannot_list, ..Odd::default() };
        put(&odd.inner, &[("zarr.json", GROUP), (".zconversion-a", "{}"), (".zconversion.1-of-2-a", "{}")]);
        put(&odd.inner, &[(".zconversion-b", "{}"), ("a/.zconversion.00112233445566ff", "{}")]);
        let (findings, report) = found(odd, "/a");
        let all = [".zconversion-a", ".zconversion.1-of-2-a", "a/.zconversion.00112233445566ff"];
        let due: Vec<_> = all.iter().take(if cannot_list { 1 } else { 3 }).collect();
        let due: Vec<_> = due.into_iter().map(|key| (Code::UnfinishedConversion, (*key).to_owned())).collect();
        assert_eq!((places(&findings), report.warnings), (due.clone(), due.len() as u64));
    }
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    put(&*store, &[("zarr.json", GROUP), (".zconversion-b", "{}")]);
    let error = checked_with(&store, "/a", &CheckOptions::default()).unwrap_err();
    assert_eq!(error.kind(), zarr::ErrorKind::NotFound);
}

/// Coordinates are looked for above the node that the check begins with.
#[test]
fn coordinates_above_the_first_node_are_known() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    put(&*store, &[("zarr.json", GROUP), ("g/zarr.json", GROUP)]);
    let create = |path: &str, new: NewArray| drop(zarr::create((&store, path)).array(new).unwrap());
    let new = || NewArray::new(&[4], "int8");
    create("/time", new());
    create("/g/here", new());
    create("/g/a", new().attribute("coordinates", "time here gone"));
    for path in ["/", "/g", "/g/a"] {
        let (findings, _) = checked_with(&store, path, &CheckOptions::default()).unwrap();
        let due = (Code::MissingCoordinate, "g/a/zarr.json#/attributes/coordinates".to_owned());
        assert_eq!(places(&findings), [due], "{path}");
        assert!(findings[0].message.contains("\"gone\""), "{findings:?}");
    }
}

/// The document of a group is read once for all findings in it: for each it would take minutes.
#[test]
fn many_findings_in_one_document_take_little_time() {
    const LEVELS: usize = 10_000;
    let level = |number: usize| {
        format!(r#"{{"path": "{number}", "coordinateTransformations": [{{"type": "scale", "scale": [1, 1]}}]}}"#)
    };
    let levels: Vec<String> = (0..LEVELS).map(level).collect();
    let axes = r#"[{"name": "y", "type": "space"}, {"name": "x", "type": "space"}]"#;
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "group", "attributes": {{"ome": {{"version": "0.5",
        "multiscales": [{{"axes": {axes}, "datasets": [{}]}}]}}}}}}"#,
        levels.join(", ")
    );
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    put(&*store, &[("zarr.json", document)]);
    let begun = std::time::Instant::now();
    let (findings, _) = checked_with(&store, "/", &CheckOptions::default()).unwrap();
    let took = begun.elapsed();
    assert_eq!(findings.iter().filter(|finding| finding.code == Code::MissingLevel).count(), LEVELS);
    assert!(took.as_secs() < 60, "{took:?}");
}

/// A store in which another process appends between the look at the documents and that at the keys.
struct Appending {
    inner: Arc<dyn Store>,
    append: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl fmt::Display for Appending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("appending")
    }
}

impl fmt::Debug for Appending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Appending {
    fn list_dir(&self, prefix: &Prefix) -> Result<zarr::store::Listing> {
        if prefix.as_str() == "a/c/"
            && let Some(append) = self.append.lock().unwrap().take()
        {
            append();
        }
        self.inner.list_dir(prefix)
    }
}

impl Store for Appending {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::ListDir { prefix } => Answer::Listing(self.list_dir(&prefix)?),
            call @ (Call::Get { .. }
            | Call::Set { .. }
            | Call::Erase { .. }
            | Call::ListPrefix { .. }
            | Call::Lock { .. }) => return self.inner.call(call),
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.inner.access_profile()
    }
}

/// The append may also have written its chunks and not the shape yet: the check waits for the lock that it holds.
#[test]
fn a_chunk_that_another_process_appends_is_not_outside_of_the_grid() {
    for is_slow in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let inner: Arc<dyn Store> = Arc::new(zarr::store::FilesystemStore::create(folder.path()).unwrap());
        put(&*inner, &[("zarr.json", GROUP)]);
        let new = NewArray::new(&[4], "int8").chunks(&[2]).codecs("bytes").unwrap();
        let array = zarr::create((&inner, "/a")).array(new).unwrap();
        array.write(.., &[1_i8; 4]).unwrap();
        let (behind, place) = (Arc::clone(&inner), folder.path().to_owned());
        let append = move || {
            let lock = behind.try_lock(&Prefix::new("a/").unwrap()).unwrap().expect("nobody has it");
            put(&*behind, &[("a/c/2", "22")]);
            let publish = move || {
                let document = std::fs::read_to_string(place.join("a/zarr.json")).unwrap();
                let longer = zarr::meta::json::Value::from_json(&document).unwrap().to_string().replace("[4]", "[6]");
                put(&*behind, &[("a/zarr.json", longer)]);
                drop(lock);
            };
            match is_slow {
                true => drop(std::thread::spawn(move || {
                    std::thread::sleep(std::time::Duration::from_millis(200));
                    publish();
                })),
                false => publish(),
            }
        };
        let store: Arc<dyn Store> = Arc::new(Appending { inner, append: Mutex::new(Some(Box::new(append))) });
        let (findings, _) = checked_with(&store, "/", &CheckOptions::default()).unwrap();
        assert_eq!(places(&findings), [], "{is_slow}");
        // One that stays outside is found.
        put(&*store, &[("a/c/9", "99")]);
        let (findings, _) = checked_with(&store, "/", &CheckOptions::default()).unwrap();
        assert_eq!(places(&findings), [(Code::ChunkOutsideGrid, "a/c/9".to_owned())]);
    }
}
