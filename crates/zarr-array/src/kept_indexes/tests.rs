use super::*;
use crate::{Array, NewArray, Registry};
use proptest::prelude::*;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use zarr_grid::Selection;
use zarr_store::{
    AccessProfile, Answer, ByteRange, Call, Capabilities, Error, ErrorKind, GetOptions, Key, MemoryStore, Operation,
    Store, StoreExt, fallback_blocking,
};

/// Store that looks remote, counts gets of chunks, and retains replaced values, as buckets that keep all generations do: a get that
/// requires an older version gets the bytes of that version.
#[derive(Debug, Default)]
struct Far {
    newest: MemoryStore,
    older: Mutex<HashMap<(String, Version), Vec<u8>>>,
    gets: AtomicU64,
    is_down: AtomicBool,
}

impl fmt::Display for Far {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("far")
    }
}

impl Far {
    fn take_gets(&self) -> u64 {
        self.gets.swap(0, Ordering::Relaxed)
    }

    fn version(&self, key: &Key) -> Option<Version> {
        self.newest.get(key, &[], &GetOptions::default()).unwrap()?.version
    }
}

impl Far {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> zarr_store::Result<Option<Fetched>> {
        if key.as_str().contains("c/") {
            self.gets.fetch_add(1, Ordering::Relaxed);
        }
        if self.is_down.load(Ordering::Relaxed) {
            let why = "no answer within the deadline";
            return Err(Error::failed(self, Operation::Get, key.as_str(), ErrorKind::TimedOut, why));
        }
        let newest = self.version(key);
        if let Some(due) =
            options.if_match.as_ref().and_then(|state| state.version()).filter(|due| Some(*due) != newest.as_ref())
        {
            let older = self.older.lock().unwrap().get(&(key.to_string(), due.clone())).cloned();
            let older = older.ok_or_else(|| {
                let message = "another store's version";
                Error::failed(self, Operation::Get, key.as_str(), ErrorKind::Internal, message)
            })?;
            return Fetched::of_value(self, key, older, Some(due.clone()), ranges, options).map(Some);
        }
        // Its state holds no value, and names the version alone.
        let Some(value) = self.newest.get_all(key)? else { return Ok(None) };
        Fetched::of_value(self, key, value, newest, ranges, options).map(Some)
    }

    fn set(&self, key: &Key, value: &[u8], options: &zarr_store::SetOptions) -> zarr_store::Result<Option<Version>> {
        let set = self.newest.set(key, value, options)?;
        if let Some(version) = self.version(key) {
            self.older.lock().unwrap().insert((key.to_string(), version), value.to_vec());
        }
        Ok(set)
    }

    fn erase(&self, key: &Key) -> zarr_store::Result<()> {
        self.newest.erase(key)
    }

    fn list_dir(&self, prefix: &zarr_store::Prefix) -> zarr_store::Result<zarr_store::Listing> {
        self.newest.list_dir(prefix)
    }

    fn list_prefix(&self, prefix: &zarr_store::Prefix) -> zarr_store::Result<Vec<Key>> {
        self.newest.list_prefix(prefix)
    }
}

impl Store for Far {
    fn call(&self, call: Call<'_>) -> zarr_store::Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options)?),
            Call::Set { key, value, options } => Answer::Set(self.set(&key, &value, &options)?),
            Call::Erase { key } => self.erase(&key)?.into(),
            Call::ListDir { prefix } => Answer::Listing(self.list_dir(&prefix)?),
            Call::ListPrefix { prefix } => Answer::Keys(self.list_prefix(&prefix)?),
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.newest.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::REMOTE
    }
}

/// Codecs for shards of 16 x 16 elements with inner chunks of 4 x 4. If `is_nested`, shards of 8 x 8 elements lie between them.
fn codecs(is_nested: bool) -> String {
    let shard = |shape: u64, codecs: &str| {
        format!(
            r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{shape}, {shape}], "codecs": [{codecs}],
            "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}, "crc32c"]}}}}"#
        )
    };
    let bytes = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
    let zstd = r#"{"name": "zstd", "configuration": {"level": 1, "checksum": false}}"#;
    let inner = shard(4, &format!("{bytes}, {zstd}"));
    if is_nested { format!("[{}]", shard(8, &inner)) } else { format!("[{inner}]") }
}

/// Array of 32 x 32 elements without stored chunks, and a second handle of the array.
fn arrays(is_nested: bool) -> (Arc<Far>, Array, Array) {
    let far = Arc::new(Far::default());
    let store: Arc<dyn Store> = Arc::clone(&far) as _;
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    registry.codecs.add(zarr_codec_checksum::CRC32C);
    registry.codecs.add(zarr_codec_sharding::SHARDING_INDEXED);
    registry.codecs.add(zarr_codec_zstd::ZSTD);
    let registry = Arc::new(registry);
    let new = NewArray::new(&[32, 32], "int16").chunks(&[16, 16]).codecs(&*codecs(is_nested)).unwrap();
    let array = Array::create(&store, "/a", new, &registry).unwrap();
    let other = Array::open(&store, "/a", &registry).unwrap();
    (far, array, other)
}

fn element(array: &Array, at: (u64, u64)) -> i16 {
    array.read::<i16>(at).unwrap()[0]
}

#[test]
fn a_further_element_of_a_shard_is_one_request() {
    for is_nested in [false, true] {
        let (far, array, _) = arrays(is_nested);
        let elements: Vec<i16> = (0..1024).collect();
        array.write(.., &elements).unwrap();
        far.take_gets();
        let indexes = 1 + u64::from(is_nested);
        assert_eq!((element(&array, (3, 5)), far.take_gets()), (3 * 32 + 5, indexes + 1));
        // The index of a shard in a shard is read each time.
        for (row, column) in [(3, 5), (3, 4), (9, 9), (15, 0)] {
            assert_eq!((element(&array, (row, column)), far.take_gets()), ((row * 32 + column) as i16, indexes));
        }
        let points = Selection::coordinates(vec![vec![2, 11], vec![2, 13]]);
        assert_eq!((array.read::<i16>(points).unwrap(), far.take_gets()), (vec![66, 365], indexes * indexes));
        assert_eq!(array.read::<i16>((2..6, 2..6)).unwrap()[..4], [66, 67, 68, 69]);
        assert_eq!(far.take_gets(), indexes);
        assert_eq!((element(&array, (20, 3)), far.take_gets()), (643, indexes + 1));
        assert_eq!((element(&array, (17, 9)), far.take_gets()), (553, indexes));
    }
}

/// A failed request of a store is not repeated because of a retained index.
#[test]
fn a_store_that_fails_is_asked_once() {
    for is_nested in [false, true] {
        let (far, array, _) = arrays(is_nested);
        array.write(.., &[1_i16; 1024]).unwrap();
        assert_eq!(element(&array, (3, 5)), 1);
        far.is_down.store(true, Ordering::Relaxed);
        far.take_gets();
        assert_eq!(array.read::<i16>((3, 4)).unwrap_err().kind(), crate::ErrorKind::Store);
        assert_eq!(far.take_gets(), 1);
        far.is_down.store(false, Ordering::Relaxed);
        assert_eq!(element(&array, (3, 4)), 1);
    }
}

#[test]
fn what_others_write_is_seen_at_once() {
    for is_nested in [false, true] {
        let (far, array, other) = arrays(is_nested);
        let key = Key::new("a/c/0/0").unwrap();
        other.write((0..16, 0..4), &[1_i16; 64]).unwrap();
        assert_eq!((element(&array, (1, 1)), element(&array, (1, 9))), (1, 0));
        // Replaced, with others stored in it, shorter, and without them.
        other.write((0..2, 0..2), &[2_i16; 4]).unwrap();
        assert_eq!((element(&array, (1, 1)), element(&array, (5, 1))), (2, 1));
        other.write((0..16, 8..12), &[3_i16; 64]).unwrap();
        assert_eq!((element(&array, (1, 9)), element(&array, (1, 1))), (3, 2));
        other.write((4..16, 0..4), &[0_i16; 48]).unwrap();
        assert_eq!((element(&array, (5, 1)), element(&array, (1, 1))), (0, 2));
        far.erase(&key).unwrap();
        assert_eq!((element(&array, (1, 1)), element(&array, (1, 9))), (0, 0));
        // What this handle writes costs no request of an older state.
        array.write((0..16, 0..16), &[4_i16; 256]).unwrap();
        assert_eq!(element(&array, (1, 1)), 4);
        array.write((0..2, 0..2), &[5_i16; 4]).unwrap();
        far.take_gets();
        assert_eq!((element(&array, (1, 1)), far.take_gets()), (5, 2 + u64::from(is_nested)));
    }
}

/// Region or points of the array: start and length along both axes, and whether they are points.
type Part = ((u64, u64), (u64, u64), bool);

fn part() -> impl Strategy<Value = Part> {
    let axis = || (0_u64..32, prop_oneof![3 => 1_u64..4, 1 => 1_u64..32]);
    let axis = move || axis().prop_map(|(start, len)| (start, (start + len).min(32)));
    (axis(), axis(), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn reads_are_those_of_an_array_that_keeps_nothing(
        is_nested in any::<bool>(),
        steps in prop::collection::vec((part(), prop::option::of(0_i16..3)), 1..30),
    ) {
        let (far, array, other) = arrays(is_nested);
        let mut due = vec![0_i16; 1024];
        for (number, ((rows, columns, is_points), written)) in steps.into_iter().enumerate() {
            let cells = || (rows.0..rows.1).flat_map(|row| (columns.0..columns.1).map(move |column| (row, column)));
            if let Some(value) = written {
                let values: Vec<i16> = cells().map(|_| value).collect();
                // Most writes are by another handle.
                let by = if number % 4 == 0 { &array } else { &other };
                by.write((rows.0..rows.1, columns.0..columns.1), &values).unwrap();
                cells().for_each(|(row, column)| due[(row * 32 + column) as usize] = value);
                continue;
            }
            let expected: Vec<i16> = cells().map(|(row, column)| due[(row * 32 + column) as usize]).collect();
            let found = if is_points {
                let (rows, columns) = cells().map(|(row, column)| (row as i64, column as i64)).unzip();
                array.read::<i16>(Selection::coordinates(vec![rows, columns]))
            } else {
                array.read::<i16>((rows.0..rows.1, columns.0..columns.1))
            };
            prop_assert_eq!(found.unwrap(), expected);
        }
        drop(far);
    }
}

fn fetched(version: u64) -> Fetched {
    let mut fetched = Fetched::new();
    fetched.version = Some(Version::new(&version.to_string()));
    fetched
}

#[test]
fn what_is_kept_is_bounded_and_the_last_used_stays() {
    let kept = KeptIndexes::default();
    let index = Arc::new(InnerChunkIndex::new([1 << 14].into_iter().collect(), vec![(0, 1); 1 << 14]).unwrap());
    for number in 0..1000_u64 {
        kept.keep(&ChunkIndex::from_slice(&[number]), &index, &fetched(number));
        assert_eq!(kept.find(&[0]).unwrap().version, Version::new("0"), "{number}");
        let bytes: usize = kept.with(|all| all.young.values().chain(all.old.values()).map(|one| one.cost()).sum());
        assert!(bytes <= MAX_BYTES, "{bytes}");
    }
    assert!(kept.find(&[999]).is_some() && kept.find(&[990]).is_some() && kept.find(&[1]).is_none());
    kept.forget(Some(&[0]));
    assert!(kept.find(&[0]).is_none() && kept.find(&[999]).is_some());
    kept.forget(None);
    assert!(kept.find(&[999]).is_none());
    kept.with(|all| assert_eq!(all.young_bytes, 0));
    // Without a version nothing would tell that it is outdated.
    kept.keep(&ChunkIndex::from_slice(&[0]), &index, &Fetched::new());
    assert!(kept.find(&[0]).is_none());
}
