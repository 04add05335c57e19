//! Runs that others take over from or give up, at the very moment: what keeps them from spoiling the work of those.

use super::failing::Failing;
use super::*;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use zarr::convert::Part;
use zarr_store::{
    Answer, ByteRange, Call, Capabilities, Durability, Error, Fetched, GetOptions, Operation, Result, SetOptions,
    Version, fallback_blocking,
};

fn part(options: &ConvertOptions, number: u64, of: u64) -> ConvertOptions {
    options.clone().part(Part::new(number, of).unwrap())
}

fn run(source: &Arc<dyn Store>, target: &Arc<dyn Store>, options: ConvertOptions) -> zarr::Result<()> {
    plan(source, options).run(target, |_| {})
}

type Act = Box<dyn FnOnce(&Arc<dyn Store>) + Send>;
type Wanted = fn(&Arc<dyn Store>, &Key) -> bool;

/// A store to which somebody does something once, right before a get or an erase of a key.
struct Disturbed {
    store: Arc<dyn Store>,
    before: (Operation, Wanted),
    act: Mutex<Option<Act>>,
}

impl Disturbed {
    fn new(
        store: &Arc<dyn Store>,
        operation: Operation,
        is_at: fn(&Arc<dyn Store>, &Key) -> bool,
        act: impl FnOnce(&Arc<dyn Store>) + Send + 'static,
    ) -> (Arc<Self>, Arc<dyn Store>) {
        let act: Mutex<Option<Act>> = Mutex::new(Some(Box::new(act)));
        let disturbed = Arc::new(Self { store: Arc::clone(store), before: (operation, is_at), act });
        (Arc::clone(&disturbed), disturbed)
    }

    fn was_disturbed(&self) -> bool {
        self.act.lock().unwrap().is_none()
    }

    fn call(&self, operation: Operation, key: &Key) {
        if operation == self.before.0 && !self.was_disturbed() && (self.before.1)(&self.store, key) {
            let act = self.act.lock().unwrap().take();
            act.into_iter().for_each(|act| act(&self.store));
        }
    }
}

impl fmt::Debug for Disturbed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Disturbed").field(&self.store).finish()
    }
}

impl fmt::Display for Disturbed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Disturbed {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        self.call(Operation::Get, key);
        self.store.get(key, ranges, options)
    }

    fn erase(&self, key: &Key) -> Result<()> {
        self.call(Operation::Erase, key);
        self.store.erase(key)
    }
}

impl Store for Disturbed {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options)?),
            Call::Erase { key } => self.erase(&key)?.into(),
            call @ (Call::Set { .. }
            | Call::ExchangePrefixes { .. }
            | Call::ListDir { .. }
            | Call::ListPrefix { .. }
            | Call::Lock { .. }
            | Call::Flush
            | Call::Barrier) => return self.store.call(call),
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn access_profile(&self) -> zarr_store::AccessProfile {
        self.store.access_profile()
    }
}

/// The member of a journal that is a text, with its name.
fn member<'j>(journal: &'j str, name: &str) -> &'j str {
    let rest = &journal[journal.find(&format!("\"{name}\":")).unwrap()..];
    &rest[..rest.find([',', '}']).unwrap()]
}

/// A run is taken for ended after it has looked for nodes in the way and before it writes chunks. One that takes over creates the first
/// array, and is stopped somewhere. Then the first one goes on, and finds that array: it may erase neither the journal nor the mark in the
/// target, which are those of the other, so that a third run goes on to the end.
#[test]
fn the_mark_of_a_run_that_took_over_stays() {
    let (source, registry) = (source(Dialect::V3), zarr::registry::default());
    let begun = options().chunks(vec![1, 1]);
    let convert = {
        let (source, begun) = (Arc::clone(&source), begun.clone());
        move |target: &Arc<dyn Store>, resume: bool| {
            let options = begun.clone().resume(resume);
            Conversion::plan_copy(&source, "/g", target, "/h", &zarr::registry::default(), options)
                .unwrap()
                .run(target, |_| {})
        }
    };
    let expected = {
        let target = memory();
        Conversion::plan_copy(&source, "/g", &target, "/h", &registry, begun).unwrap().run(&target, |_| {}).unwrap();
        contents(&target)
    };
    let journal = Key::new(".zconversion-h").unwrap();
    let (mut before_the_array, mut after_the_array) = (0, 0);
    for left in (0..).step_by(3) {
        let target = memory();
        let at_the_array = |target: &Arc<dyn Store>, key: &Key| {
            key.as_str() == "h/a/zarr.json" && contents(target).keys().any(|key| key.starts_with("h/.zconversion."))
        };
        let (second, at) = (convert.clone(), journal.clone());
        let (disturbed, first) = Disturbed::new(&target, Operation::Get, at_the_array, move |target| {
            let text = String::from_utf8(target.get_all(&at).unwrap().unwrap().to_vec()).unwrap();
            // As if a process that has ended had written it.
            target.set_all(&at, text.replace(member(&text, "run"), "\"run\":\"77\"").as_bytes()).unwrap();
            let _ = second(&Failing::after(target, left).store(), true);
        });
        let error = convert(&first, false).unwrap_err();
        assert!(disturbed.was_disturbed(), "{error}");
        assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
        if !target.exists(&journal).unwrap() {
            assert!(contents(&target) == expected, "the second run has ended: {left}");
            break;
        }
        match target.exists(&Key::new("h/a/zarr.json").unwrap()).unwrap() {
            true => after_the_array += 1,
            false => before_the_array += 1,
        }
        convert(&target, true).unwrap_or_else(|error| panic!("stopped after {left} calls: {error}"));
        assert!(contents(&target) == expected, "stopped after {left} calls");
    }
    assert!(before_the_array > 5 && after_the_array > 5, "{before_the_array} {after_the_array}");
}

/// The journal that all parts share says that they are given up before anything is erased.
#[test]
fn no_part_begins_while_parts_are_given_up() {
    let source = source(Dialect::V3);
    let begun = options().chunks(vec![1, 1]);
    let erased: [Wanted; 2] = [|_, key| key.as_str() == ".zconversion.1-of-2", |_, key| is_chunk(key.as_str())];
    for is_at in erased {
        let target = memory();
        run(&source, &target, part(&begun, 1, 2)).unwrap();
        let (source_too, other) = (Arc::clone(&source), part(&begun, 2, 2));
        let (disturbed, given_up) = Disturbed::new(&target, Operation::Erase, is_at, move |target| {
            let before = contents(target);
            let error = run(&source_too, target, other).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
            assert!(error.to_string().contains("this conversion in parts was given up"), "{error}");
            assert!(error.hint().unwrap().contains("--abandon"), "{error}");
            assert!(contents(target) == before, "it has written something");
        });
        plan(&source, begun.clone()).abandon(&given_up).unwrap();
        assert!(disturbed.was_disturbed());
        assert!(contents(&target).is_empty());
        for number in [1, 2] {
            run(&source, &target, part(&begun, number, 2)).unwrap();
        }
        plan(&source, begun.clone()).finish(&target, |_| {}).unwrap();
        assert!(contents(&target) == converted(&source, &begun));
    }
}

/// Who finishes a conversion while another process looks at its journals to give it up is not disturbed.
#[test]
fn parts_that_are_finished_meanwhile_are_not_given_up() {
    let source = source(Dialect::V3);
    let begun = options().chunks(vec![1, 1]);
    let expected = converted(&source, &begun);
    let mut stops = 0;
    for left in (0..).step_by(2) {
        let target = memory();
        for number in [1, 2] {
            run(&source, &target, part(&begun, number, 2)).unwrap();
        }
        let (conversion, before) = (plan(&source, begun.clone()), contents(&target));
        let looks = |_: &Arc<dyn Store>, key: &Key| key.as_str() == ".zconversion.2-of-2";
        let (disturbed, given_up) = Disturbed::new(&target, Operation::Get, looks, move |target| {
            let _ = conversion.finish(&Failing::after(target, left).store(), |_| {});
        });
        let given_up = plan(&source, begun.clone()).abandon(&given_up);
        assert!(disturbed.was_disturbed());
        let after = contents(&target);
        match given_up {
            // Nothing had been finished.
            Ok(()) => assert!(after.is_empty(), "{:?}", after.keys()),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
                let said = "another process went on with this conversion at the same time";
                assert!(error.to_string().contains(said), "{error}");
                assert!(before.keys().all(|key| !is_chunk(key) || after.contains_key(key)), "a chunk was erased");
                stops += u64::from(after != expected);
                if after == expected {
                    break;
                }
                plan(&source, begun.clone()).finish(&target, |_| {}).unwrap();
                assert!(contents(&target) == expected, "stopped after {left} calls");
            }
        }
    }
    assert!(stops > 3, "{stops}");
}

/// A change of a value, or its erasure, and whether a loss of power may undo it.
type Change = (String, Option<Vec<u8>>, bool);

/// A disk that loses its power after some calls: each change since the last barrier is on it then or is not.
#[derive(Debug)]
struct Disk {
    store: Arc<dyn Store>,
    left: AtomicU64,
    /// Whether barriers do something.
    has_barriers: bool,
    /// The contents that are on the disk for sure, and the changes since.
    synced: Mutex<(Contents, Vec<Change>)>,
}

impl Disk {
    fn new(contents: &Contents, left: u64, has_barriers: bool) -> Arc<Self> {
        let synced = Mutex::new((contents.clone(), Vec::new()));
        Arc::new(Self { store: stored(contents), left: AtomicU64::new(left), has_barriers, synced })
    }

    /// The contents that may be there after a loss of power: with all changes, none, one alone, or all but one.
    fn after_a_loss(&self) -> BTreeSet<Contents> {
        let (synced, changes) = &*self.synced.lock().unwrap();
        let kept = |is_kept: &dyn Fn(usize) -> bool| {
            let mut left = synced.clone();
            for (index, (key, value, may_be_lost)) in changes.iter().enumerate() {
                match value {
                    _ if *may_be_lost && !is_kept(index) => {}
                    Some(value) => drop(left.insert(key.clone(), value.clone())),
                    None => drop(left.remove(key)),
                }
            }
            left
        };
        let single = (0..changes.len()).flat_map(|one| [kept(&|index| index == one), kept(&|index| index != one)]);
        single.chain([kept(&|_| true), kept(&|_| false)]).collect()
    }

    fn call(&self, operation: Operation, key: &str) -> Result<()> {
        let left = self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| Error::io(self, operation, key, std::io::Error::other("no power")))
    }

    fn note(&self, key: &Key, value: Option<&[u8]>, may_be_lost: bool) {
        self.synced.lock().unwrap().1.push((key.to_string(), value.map(<[u8]>::to_vec), may_be_lost));
    }
}

impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Disk {
    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        self.call(Operation::Set, key.as_str())?;
        let version = self.store.set(key, value, options)?;
        self.note(key, Some(value), options.durability != Durability::Full);
        Ok(version)
    }

    fn erase(&self, key: &Key) -> Result<()> {
        self.call(Operation::Erase, key.as_str())?;
        self.store.erase(key)?;
        self.note(key, None, true);
        Ok(())
    }

    fn barrier(&self) -> Result<()> {
        self.call(Operation::Flush, "/")?;
        if self.has_barriers {
            *self.synced.lock().unwrap() = (contents(&self.store), Vec::new());
        }
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        self.barrier()
    }
}

impl Store for Disk {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Set { key, value, options } => Answer::Set(self.set(&key, &value, &options)?),
            Call::Erase { key } => self.erase(&key)?.into(),
            Call::Barrier => self.barrier()?.into(),
            Call::Flush => self.flush()?.into(),
            call @ (Call::Get { .. } | Call::ListDir { .. } | Call::ListPrefix { .. } | Call::Lock { .. }) => {
                return self.store.call(call);
            }
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities().durable(true).erases_at_once(false)
    }

    fn access_profile(&self) -> zarr_store::AccessProfile {
        self.store.access_profile()
    }
}

fn stored(contents: &Contents) -> Arc<dyn Store> {
    let store = memory();
    contents.iter().for_each(|(key, value)| drop(store.set_all(&Key::new(key).unwrap(), value).unwrap()));
    store
}

/// After a loss of power the conversion is there as it was, or says that it is given up, or nothing of it is in the way of the next one:
/// no journal of a part outlives the one that all share.
#[test]
fn parts_that_a_loss_of_power_leaves_half_given_up_do_not_go_on() {
    let source = memory();
    let new = NewArray::new(&[4], "int16").chunks(&[4]).codecs("none").unwrap();
    let array = zarr::create((&source, "/a")).array(new).unwrap();
    array.write(.., &[1_i16, 2, 3, 4]).unwrap();
    let begun = options().chunks(vec![1]);
    let expected = converted(&source, &begun);
    let begins_anew = |target: &Arc<dyn Store>| {
        for number in [1, 2] {
            run(&source, target, part(&begun, number, 2)).unwrap();
        }
        plan(&source, begun.clone()).finish(target, |_| {}).unwrap();
        assert!(contents(target) == expected);
    };
    let before = {
        let target = memory();
        run(&source, &target, part(&begun, 1, 2)).unwrap();
        run(&source, &target, part(&begun, 2, 2)).unwrap();
        contents(&target)
    };
    // What any loss of power leaves.
    let losses = |has_barriers: bool| {
        let mut left = BTreeSet::new();
        for calls in 0.. {
            let disk = Disk::new(&before, calls, has_barriers);
            let store: Arc<dyn Store> = disk.clone();
            let is_done = plan(&source, begun.clone()).abandon(&store).is_ok();
            left.extend(disk.after_a_loss());
            if is_done {
                return left;
            }
        }
        unreachable!()
    };
    let has_journals = |there: &Contents| there.keys().any(|key| key.contains(JOURNAL));
    let is_in_the_way = |there: &Contents| !there.contains_key(JOURNAL) && has_journals(there);
    assert!(losses(false).iter().any(is_in_the_way), "the barriers of this test are not needed");
    let (mut given_up, mut gone) = (0, 0);
    for there in losses(true).into_iter().filter(|there| *there != before) {
        let target = stored(&there);
        if there.contains_key(JOURNAL) {
            given_up += 1;
            for number in [1, 2] {
                let error = run(&source, &target, part(&begun, number, 2)).unwrap_err();
                assert!(error.to_string().contains("was given up"), "{error}");
            }
            assert!(plan(&source, begun.clone()).finish(&target, |_| {}).is_err());
            plan(&source, begun.clone()).abandon(&target).unwrap();
            assert!(contents(&target).is_empty());
        } else {
            gone += 1;
            assert!(there.is_empty(), "{:?}", there.keys());
        }
        begins_anew(&target);
    }
    assert!(given_up > 5 && gone > 0, "{given_up} {gone}");
}
