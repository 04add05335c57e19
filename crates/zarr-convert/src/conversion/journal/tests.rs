//! Runs that show that they are at work, and runs that look. Times are short in these tests.

use super::owner::QUIET;
use super::*;
use zarr_hierarchy::ErrorKind;
use zarr_store::{MemoryStore, StoreExt};

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn begin(target: &Arc<dyn Store>) -> Journal {
    let identity = Identity::default();
    let beginning =
        Beginning { identity: &identity, state: State::Writing, id: None, items: BTreeMap::new(), found: None };
    Journal::begin(target, at(), beginning).unwrap()
}

fn at() -> Key {
    Key::new(".zconversion").unwrap()
}

fn stored(target: &Arc<dyn Store>) -> Entry {
    Found::read(&**target, &at()).unwrap().unwrap().entry.unwrap()
}

/// Changes the journal in the store as other software may.
fn change(target: &Arc<dyn Store>, from: &str, to: &str) {
    let text = String::from_utf8(target.get_all(&at()).unwrap().unwrap().to_vec()).unwrap();
    assert!(text.contains(from), "{text}");
    target.set_all(&at(), text.replace(from, to).as_bytes()).unwrap();
}

#[test]
fn a_run_shows_that_it_is_at_work_until_it_ends() {
    let target = memory();
    let journal = begin(&target);
    while stored(&target).number < 3 {
        std::thread::sleep(BEAT / 5);
    }
    drop(journal);
    let number = stored(&target).number;
    std::thread::sleep(BEAT * 3);
    assert_eq!(stored(&target).number, number);
    // Its process is there, but the run is not.
    let found = Found::read_idle(&*target, &at()).unwrap().unwrap();
    assert!(Journal::resume(&target, found).is_ok());
}

#[test]
fn a_run_elsewhere_is_at_work_as_long_as_it_writes_entries() {
    let target = memory();
    drop(begin(&target));
    let machine = stored(&target).owner.unwrap().to_value().get("machine").unwrap().to_string();
    change(&target, &format!("\"machine\":{machine}"), "\"machine\":\"of others\"");
    let writes = |target: &Arc<dyn Store>| {
        std::thread::sleep(BEAT);
        let number = stored(target).number;
        change(target, &format!("\"number\":{number}"), &format!("\"number\":{}", number + 1));
    };
    std::thread::scope(|scope| {
        scope.spawn(|| writes(&target));
        let error = Found::read_idle(&*target, &at()).unwrap_err();
        assert!(error.message().contains("is at work: process "), "{error}");
    });
    // It is silent from now on.
    let begun = Instant::now();
    assert!(Found::read_idle(&*target, &at()).unwrap().is_some());
    assert!(begun.elapsed() >= QUIET);
    // Long ago, or released: there is nothing to wait for.
    let begun = Instant::now();
    let now = stored(&target).at;
    change(&target, &format!("\"at\":{now}"), &format!("\"at\":{}", now - 10_000));
    assert!(Found::read_idle(&*target, &at()).unwrap().is_some());
    let journal = begin_anew(&target);
    journal.release().unwrap();
    assert!(stored(&target).owner.is_none());
    assert!(Found::read_idle(&*target, &at()).unwrap().is_some());
    assert!(begun.elapsed() < QUIET / 2);
}

fn begin_anew(target: &Arc<dyn Store>) -> Journal {
    let found = Found::read(&**target, &at()).unwrap();
    let identity = Identity::default();
    let beginning = Beginning { identity: &identity, state: State::Writing, id: None, items: BTreeMap::new(), found };
    Journal::begin(target, at(), beginning).unwrap()
}

#[test]
fn a_run_that_was_stopped_for_long_looks_before_it_writes() {
    let target = memory();
    let journal = begin(&target);
    let number = {
        // As if the whole process had been stopped.
        let mut written = lock(&journal.owned.written);
        written.at = Instant::now().checked_sub(LEASE).unwrap();
        stored(&target).number
    };
    journal.confirm().unwrap();
    assert!(stored(&target).number > number, "it says that it goes on");
    let other = begin_anew(&target);
    lock(&journal.owned.written).at = Instant::now().checked_sub(LEASE).unwrap();
    // The thread may have found out before.
    let error = loop {
        if let Err(error) = journal.confirm() {
            break error;
        }
    };
    assert!(error.message().contains("another conversion to here was begun: process "), "{error}");
    for error in [journal.record().unwrap_err(), journal.release().unwrap_err(), journal.erase().unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Exists);
    }
    assert_eq!(stored(&target).run, other.owned.run.id());
    other.erase().unwrap();
    assert!(!target.exists(&at()).unwrap());
}

#[test]
fn a_run_whose_journal_is_gone_says_what_may_have_become_of_it() {
    let ended = "ran, or another run went on with it and ended it: its journal is gone";
    for (silence, said) in [(Duration::ZERO, "ran: its journal is gone"), (QUIET, ended)] {
        let target = memory();
        let journal = begin(&target);
        journal.check_own().unwrap();
        let mut written = lock(&journal.owned.written);
        target.erase(&at()).unwrap();
        written.at = Instant::now().checked_sub(silence).unwrap();
        let error = journal.owned.look(&mut written).unwrap_err();
        let begins = error.message().starts_with("the target was erased, moved or replaced while the conversion ran");
        assert!(begins && error.message().ends_with(said), "{error}");
        drop(written);
        assert_eq!(journal.record().unwrap_err().kind(), ErrorKind::Exists);
        assert!(!target.exists(&at()).unwrap());
    }
}

/// The set before took effect, but nobody was told of its version.
#[test]
fn an_answer_that_was_lost_is_no_other_run() {
    let target = memory();
    let journal = begin(&target);
    let mut written = lock(&journal.owned.written);
    let version = written.version.clone();
    journal.owned.repeat(&mut written).unwrap();
    written.version = version;
    drop(written);
    journal.record().unwrap();
    assert_eq!(stored(&target).run, journal.owned.run.id());
}
