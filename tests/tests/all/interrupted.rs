//! Verbs that end in the middle: whatever call to the store is the last, no array reads fill values for erased chunks,
//! and the same verb run again ends right.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tempfile::TempDir;
use zarr::store::{
    Answer, Call, Capabilities, FilesystemStore, Key, MemoryStore, Operation, Prefix, Result, SetOptions, Store,
    StoreExt, Version, fallback_blocking,
};
use zarr_array::{Array, Dialect, Error, ErrorKind, Group, NewArray, NewGroup, View};

/// A store in which `left` calls that change something succeed, and none after that.
#[derive(Debug)]
struct Interrupted {
    store: Arc<dyn Store>,
    left: AtomicU64,
    /// Whether prefixes are erased, renamed and exchanged at once, as in a directory.
    at_once: bool,
}

impl Interrupted {
    fn change(&self) -> Result<()> {
        match self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)) {
            Ok(_) => Ok(()),
            Err(_) => Err(zarr_store::Error::io(self, Operation::Set, "/", std::io::Error::other("interrupted"))),
        }
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Interrupted {
    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        self.change()?;
        self.store.set(key, value, options)
    }

    fn erase(&self, key: &Key) -> Result<()> {
        self.change()?;
        self.store.erase(key)
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        if self.at_once && self.store.list_prefix(prefix)?.is_empty() {
            return Ok(());
        }
        if self.at_once {
            self.change()?;
            return self.store.erase_prefix(prefix);
        }
        self.list_prefix(prefix)?.iter().try_for_each(|key| self.erase(key))
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        let keys = self.list_prefix(from)?;
        if !self.at_once || keys.is_empty() || !self.list_prefix(to)?.is_empty() {
            return Ok(false);
        }
        self.change()?;
        for key in keys {
            let value = self.store.get_all(&key)?.unwrap_or_default();
            let renamed = Key::new(&format!("{to}{}", key.as_str().trim_start_matches(from.as_str())))?;
            self.store.set_all(&renamed, &value)?;
            self.store.erase(&key)?;
        }
        Ok(true)
    }

    fn exchange_prefixes(&self, a: &Prefix, b: &Prefix) -> Result<bool> {
        if !self.at_once {
            return Ok(false);
        }
        self.change()?;
        self.store.exchange_prefixes(a, b)
    }
}

impl Store for Interrupted {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Set { key, value, options } => Answer::Set(self.set(&key, &value, &options)?),
            Call::Erase { key } => self.erase(&key)?.into(),
            Call::ErasePrefix { prefix } => self.erase_prefix(&prefix)?.into(),
            Call::RenamePrefix { from, to } => Answer::Is(self.rename_prefix(&from, &to)?),
            Call::ExchangePrefixes { a, b } => Answer::Is(self.exchange_prefixes(&a, &b)?),
            call @ (Call::Get { .. } | Call::ListDir { .. } | Call::ListPrefix { .. } | Call::Lock { .. }) => {
                return self.store.call(call);
            }
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities().erases_at_once(self.at_once).exchanges(self.at_once)
    }

    fn access_profile(&self) -> zarr_store::AccessProfile {
        self.store.access_profile()
    }
}

pub(crate) const DIALECTS: [Dialect; 4] = [Dialect::V2, Dialect::V3, Dialect::V3Protocol2019, Dialect::V3Draft2022];

pub(crate) type Verb<'v> = &'v dyn Fn(&Arc<dyn Store>) -> Result<(), Error>;
pub(crate) type Check<'v> = &'v dyn Fn(&Arc<dyn Store>);

/// Runs a verb that is interrupted at each of its calls, on several stores: `check` holds after each, `ended` after the verb was run
/// again.
pub(crate) fn at_each_call(prepare: Verb<'_>, verb: Verb<'_>, check: Check<'_>, ended: Check<'_>) {
    for kind in 0..3 {
        for left in 0.. {
            assert!(left < 1000, "the verb does not end");
            let folder: TempDir = tempfile::tempdir().unwrap();
            let store: Arc<dyn Store> = match kind {
                0 | 1 => Arc::new(MemoryStore::new()),
                _ => Arc::new(FilesystemStore::create(folder.path()).unwrap()),
            };
            prepare(&store).unwrap();
            let through = |left| -> Arc<dyn Store> {
                Arc::new(Interrupted { store: Arc::clone(&store), left: AtomicU64::new(left), at_once: kind == 1 })
            };
            let done = verb(&through(left));
            check(&store);
            if done.is_err() {
                let again = verb(&through(u64::MAX));
                check(&store);
                assert!(again.as_ref().err().is_none_or(|error| error.kind() != ErrorKind::Store), "{again:?}");
            }
            ended(&store);
            if done.is_ok() {
                break;
            }
        }
    }
}

/// A store that is interrupted after `left` calls.
pub(crate) fn interrupted(store: &Arc<dyn Store>, left: u64) -> Arc<dyn Store> {
    Arc::new(Interrupted { store: Arc::clone(store), left: AtomicU64::new(left), at_once: false })
}

/// A store as of `interrupted`, where prefixes are erased, renamed and exchanged at once.
pub(crate) fn interrupted_at_once(store: &Arc<dyn Store>, left: u64) -> Arc<dyn Store> {
    Arc::new(Interrupted { store: Arc::clone(store), left: AtomicU64::new(left), at_once: true })
}

pub(crate) fn open(store: &Arc<dyn Store>, path: &str) -> Option<Array> {
    match zarr::open((store, path)).array() {
        Err(error) if error.is_not_found() => None,
        opened => Some(opened.unwrap()),
    }
}

pub(crate) fn create(store: &Arc<dyn Store>, path: &str, dialect: Dialect, elements: &[i8]) -> Result<(), Error> {
    let new = NewArray::new(&[elements.len() as u64], "int8").chunks(&[2]).attribute("of", "old").dialect(dialect);
    zarr::create((store, path)).array(new)?.write(.., elements)
}

fn read(array: &Array) -> Vec<i8> {
    array.read(..).unwrap()
}

pub(crate) const OLD: [i8; 7] = [1, 2, 3, 4, 5, 6, 7];

/// Whether the old array is there; if so, it is whole.
pub(crate) fn is_whole(store: &Arc<dyn Store>, path: &str) -> bool {
    open(store, path).is_some_and(|array| {
        assert_eq!(read(&array), OLD, "{path} opens with other elements");
        assert_eq!(array.attributes().unwrap().get("of"), Some(&"old".into()), "{path} opens without its attributes");
        true
    })
}

#[test]
fn an_erase_leaves_no_array_with_holes() {
    for dialect in DIALECTS {
        for erased in ["/g/a", "/g"] {
            let prepare = |store: &Arc<dyn Store>| {
                create(store, "/g/a", dialect, &OLD)?;
                create(store, "/g/b", dialect, &OLD)
            };
            let erase = |store: &Arc<dyn Store>| match zarr::hierarchy::open_node(&**store, erased, None) {
                Ok(found) => zarr::hierarchy::erase_node(&**store, &found),
                Err(error) if error.is_not_found() => Ok(()),
                Err(error) => Err(error),
            };
            let check = |store: &Arc<dyn Store>| {
                is_whole(store, "/g/a");
                assert!(is_whole(store, "/g/b") || erased == "/g");
            };
            // An array that is created there does not show the leftover chunks.
            let ended = |store: &Arc<dyn Store>| {
                assert!(open(store, erased).is_none() && open(store, "/g/a").is_none(), "{erased}");
                assert_eq!(is_whole(store, "/g/b"), erased == "/g/a", "{dialect} {erased}");
                let new = NewArray::new(&[7], "int8").chunks(&[2]).dialect(dialect).overwrite(true);
                let array = zarr::create((store, "/g/a")).array(new).unwrap();
                assert_eq!(read(&array), [0; 7], "{dialect}");
                assert!(array.attributes().unwrap().is_empty(), "{dialect}");
            };
            at_each_call(&prepare, &erase, &check, &ended);
        }
    }
}

#[test]
fn a_new_array_does_not_show_leftovers_of_an_erase() {
    for dialect in DIALECTS {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        create(&store, "/a", dialect, &OLD).unwrap();
        let found = zarr::hierarchy::open_node(&*store, "/a", None).unwrap();
        for key in found.own_documents() {
            store.erase(&Key::new(key).unwrap()).unwrap();
        }
        let array =
            zarr::create((&store, "/a")).array(NewArray::new(&[7], "int8").chunks(&[2]).dialect(dialect)).unwrap();
        assert_eq!(read(&array), [0; 7], "{dialect}");
    }
}

#[test]
fn an_overwriting_create_shows_the_old_array_or_the_new_one() {
    for dialect in DIALECTS {
        let prepare = |store: &Arc<dyn Store>| create(store, "/g/a", dialect, &OLD);
        let overwrite = |store: &Arc<dyn Store>| {
            let new = NewArray::new(&[7], "int8").chunks(&[2]).attribute("of", "new").dialect(dialect).overwrite(true);
            zarr::create((store, "/g/a")).array(new).map(drop)
        };
        let check = |store: &Arc<dyn Store>| {
            if let Some(array) = open(store, "/g/a") {
                let is_new = array.attributes().unwrap().get("of") == Some(&"new".into());
                assert_eq!(read(&array), if is_new { [0; 7] } else { OLD }, "{dialect}");
                assert!(is_new || is_whole(store, "/g/a"));
            }
        };
        let ended = |store: &Arc<dyn Store>| {
            let array = open(store, "/g/a").unwrap();
            assert_eq!(array.attributes().unwrap().get("of"), Some(&"new".into()));
        };
        at_each_call(&prepare, &overwrite, &check, &ended);
    }
}

#[test]
fn a_group_that_replaces_another_has_none_of_its_nodes() {
    for dialect in DIALECTS {
        let prepare = |store: &Arc<dyn Store>| {
            create(store, "/g/a", dialect, &OLD)?;
            create(store, "/g/b/c", dialect, &OLD)
        };
        let registry = zarr::registry::default();
        let overwrite = |store: &Arc<dyn Store>| {
            let new = NewGroup::default().dialect(dialect).overwrite(true);
            Group::create(store, "/g", new, &registry).map(drop)
        };
        let check = |store: &Arc<dyn Store>| {
            is_whole(store, "/g/a");
            is_whole(store, "/g/b/c");
        };
        let ended = |store: &Arc<dyn Store>| {
            let nodes = zarr::hierarchy::walk(&**store, "/g", None).unwrap().nodes;
            assert_eq!(nodes.iter().map(|found| found.path.to_string()).collect::<Vec<_>>(), ["/g"], "{dialect}");
        };
        at_each_call(&prepare, &overwrite, &check, &ended);
    }
}

/// The elements that the array has, if it has this shape.
fn reshaped(store: &Arc<dyn Store>, shape: &[u64]) -> Option<Vec<i8>> {
    let array = open(store, "/a").expect("the array stays");
    (array.shape() == shape).then(|| read(&array))
}

fn resize(shape: &'static [u64]) -> impl Fn(&Arc<dyn Store>) -> Result<(), Error> {
    move |store| zarr::open((store, "/a")).array()?.resize(shape)
}

#[test]
fn a_resize_shows_the_old_shape_or_the_new_one_and_no_element_from_before() {
    for dialect in DIALECTS {
        let prepare = |store: &Arc<dyn Store>| {
            let new = NewArray::new(&[6, 6], "int8").chunks(&[4, 4]).dialect(dialect);
            zarr::create((store, "/a")).array(new)?.write(.., &[7_i8; 36])
        };
        let check = |store: &Arc<dyn Store>| match reshaped(store, &[3, 5]) {
            Some(elements) => assert_eq!(elements, [7; 15]),
            None => assert_eq!(reshaped(store, &[6, 6]), Some(vec![7; 36])),
        };
        let grown: Vec<i8> = (0..8 * 9).map(|at| if at / 9 < 3 && at % 9 < 5 { 7 } else { 0 }).collect();
        // Larger again: the removed elements are not there any more.
        let ended = |store: &Arc<dyn Store>| {
            assert!(reshaped(store, &[3, 5]).is_some());
            resize(&[8, 9])(store).unwrap();
            assert_eq!(reshaped(store, &[8, 9]), Some(grown.clone()), "{dialect}");
        };
        at_each_call(&prepare, &resize(&[3, 5]), &check, &ended);
        // The same of growing, after a resize to less that ended before anything was erased.
        let prepare = |store: &Arc<dyn Store>| {
            prepare(store)?;
            for left in 1.. {
                drop(resize(&[3, 5])(&interrupted(store, left)));
                if reshaped(store, &[3, 5]).is_some() {
                    break;
                }
            }
            Ok(())
        };
        let check = |store: &Arc<dyn Store>| match reshaped(store, &[8, 9]) {
            Some(elements) => assert_eq!(elements, grown, "{dialect}"),
            None => assert_eq!(reshaped(store, &[3, 5]), Some(vec![7; 15])),
        };
        let ended = |store: &Arc<dyn Store>| assert!(reshaped(store, &[8, 9]).is_some());
        at_each_call(&prepare, &resize(&[8, 9]), &check, &ended);
    }
}

#[test]
fn growing_after_an_interrupted_shrink_shows_the_fill_value() {
    for many in [false, true] {
        // More chunks than are looked for one by one.
        let (old, less, more) = if many { (400, 3, 390) } else { (20, 3, 18) };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let new = NewArray::new(&[old], "int8").chunks(&[2]);
        zarr::create((&store, "/a")).array(new).unwrap().write(.., &vec![7_i8; old as usize]).unwrap();
        let through = interrupted(&store, 3);
        assert!(zarr::open((&through, "/a")).array().unwrap().resize(&[less]).is_err());
        assert_eq!(zarr::open((&store, "/a")).array().unwrap().shape(), [less]);
        let mut array = zarr::open((&store, "/a")).array().unwrap();
        array.resize(&[more]).unwrap();
        assert_eq!(read(&array), (0..more).map(|at| if at < less { 7 } else { 0 }).collect::<Vec<i8>>(), "{many}");
    }
}

fn append(store: &Arc<dyn Store>) -> Result<(), Error> {
    zarr::open((store, "/a")).array()?.append(0, View::new(&[8, 8, 8, 8], 1, &[4]).unwrap())
}

#[test]
fn an_append_is_there_as_a_whole_or_not_at_all() {
    for dialect in DIALECTS {
        let prepare = |store: &Arc<dyn Store>| create(store, "/a", dialect, &OLD);
        let whole = [1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8];
        let check = |store: &Arc<dyn Store>| {
            if let Some(elements) = reshaped(store, &[11]) {
                assert_eq!(elements, whole);
            } else if let Some(elements) = reshaped(store, &[15]) {
                assert_eq!((&elements[..11], &elements[11..]), (&whole[..], &[8; 4][..]));
            } else {
                assert!(is_whole(store, "/a"));
            }
        };
        at_each_call(&prepare, &append, &check, &|store| {
            assert!(open(store, "/a").is_some_and(|it| it.shape()[0] > 7))
        });
    }
}

#[test]
fn growing_after_an_append_that_died_shows_the_fill_value() {
    for left in 0..3 {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        create(&store, "/a", Dialect::V3, &OLD).unwrap();
        assert!(append(&interrupted(&store, left)).is_err());
        resize(&[12])(&store).unwrap();
        assert_eq!(reshaped(&store, &[12]).unwrap(), [1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0]);
    }
}

#[test]
fn where_a_prefix_vanishes_at_once_nothing_is_erased_one_by_one() {
    for (dialect, calls) in [(Dialect::V2, 1), (Dialect::V3, 1), (Dialect::V3Draft2022, 4)] {
        let inner: Arc<dyn Store> = Arc::new(MemoryStore::new());
        create(&inner, "/g/a", dialect, &[1; 127]).unwrap();
        let found = zarr::hierarchy::open_node(&*inner, "/g/a", None).unwrap();
        let store = Interrupted { store: Arc::clone(&inner), left: AtomicU64::new(calls), at_once: true };
        zarr::hierarchy::erase_node(&store, &found).unwrap();
        assert_eq!(
            inner.list_prefix(&Prefix::root()).unwrap().iter().filter(|key| key.as_str().contains("/a")).count(),
            0
        );
        let store: Arc<dyn Store> = Arc::new(Interrupted {
            store: Arc::new(MemoryStore::new()),
            left: AtomicU64::new(u64::MAX),
            at_once: true,
        });
        create(&store, "/g/a", Dialect::V3, &[1; 127]).unwrap();
        let through: Arc<dyn Store> =
            Arc::new(Interrupted { store: Arc::clone(&store), left: AtomicU64::new(1), at_once: true });
        // Renamed, and nothing else.
        zarr::convert::Transfer::of(&through, "/g/a").to("/g/b").move_all(&zarr::registry::default()).unwrap();
        assert_eq!(read(&open(&store, "/g/b").unwrap()), [1; 127]);
    }
}
