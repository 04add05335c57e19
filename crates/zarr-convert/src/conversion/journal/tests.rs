//! Tests of runs that repeat entries, and of runs that check whether another run is active. Times are short in these tests.

use super::owner::ENDED_AFTER;
use super::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow::{Break, Continue};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{RecvTimeoutError, channel};
use zarr_hierarchy::ErrorKind;
use zarr_json::Map;
use zarr_meta::NodePath;
use zarr_store::testing::Intercepted;
use zarr_store::{Answer, Call, MemoryStore, StoreExt};

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn begin(target: &Arc<dyn Store>) -> Journal {
    let identity = Identity::default();
    let beginning =
        Beginning { identity: &identity, state: JournalState::Writing, id: None, items: BTreeMap::new(), found: None };
    Journal::begin(target, at(), beginning).unwrap()
}

/// Begins a journal without the thread that repeats entries.
fn begin_alone(target: &Arc<dyn Store>) -> Journal {
    let mut journal = begin(target);
    journal._refresh = None;
    journal
}

/// Sets the time of the last entry back by `age`.
fn age(journal: &Journal, age: Duration) {
    *lock(&journal.lease.entered) = Instant::now().checked_sub(age).unwrap();
}

/// Sets the time of the last entry into the future, so that it does not get old.
fn keep_fresh(journal: &Journal) {
    *lock(&journal.lease.entered) = Instant::now() + Duration::from_secs(3_600);
}

fn at() -> Key {
    Key::new(".zconversion").unwrap()
}

fn stored(target: &Arc<dyn Store>) -> JournalEntry {
    FoundJournal::read(&**target, &at()).unwrap().unwrap().entry.unwrap()
}

/// Replaces `from` by `to` in the stored journal, as other software may.
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
        std::thread::sleep(REFRESH / 5);
    }
    drop(journal);
    let number = stored(&target).number;
    std::thread::sleep(REFRESH * 3);
    assert_eq!(stored(&target).number, number);
    // Its process is there, but the run is not.
    let found = FoundJournal::read_idle(&*target, &at()).unwrap().unwrap();
    assert!(Journal::resume(&target, found).is_ok());
}

#[test]
fn a_run_elsewhere_is_at_work_as_long_as_it_writes_entries() {
    let target = memory();
    drop(begin(&target));
    let machine = stored(&target).owner.unwrap().to_value().get("machine").unwrap().to_string();
    change(&target, &format!("\"machine\":{machine}"), "\"machine\":\"of others\"");
    let (is_read, first) = (AtomicBool::new(false), stored(&target).number);
    let writes = |target: &Arc<dyn Store>| {
        while !is_read.load(SeqCst) {
            let number = stored(target).number;
            change(target, &format!("\"number\":{number}"), &format!("\"number\":{}", number + 1));
            std::thread::sleep(REFRESH);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| writes(&target));
        while stored(&target).number == first {
            std::thread::sleep(Duration::from_millis(1));
        }
        let read = FoundJournal::read_idle(&*target, &at());
        is_read.store(true, SeqCst);
        let error = read.unwrap_err();
        assert!(error.message().contains("is at work: process "), "{error}");
    });
    // No entry is written from now on.
    let begun = Instant::now();
    assert!(FoundJournal::read_idle(&*target, &at()).unwrap().is_some());
    assert!(begun.elapsed() >= ENDED_AFTER);
    // Long ago, or released: there is nothing to wait for.
    let now = stored(&target).at;
    change(&target, &format!("\"at\":{now}"), &format!("\"at\":{}", now - 10_000));
    finds_at_once(&target);
    let journal = begin_anew(&target);
    journal.release().unwrap();
    assert!(stored(&target).owner.is_none());
    finds_at_once(&target);
}

/// Checks that a journal without an active run is read without waiting. Takes the shortest of several times, since the machine may be slow.
fn finds_at_once(target: &Arc<dyn Store>) {
    let times = (0..5).map(|_| {
        let begun = Instant::now();
        assert!(FoundJournal::read_idle(&**target, &at()).unwrap().is_some());
        begun.elapsed()
    });
    assert!(times.min().unwrap() < ENDED_AFTER);
}

fn begin_anew(target: &Arc<dyn Store>) -> Journal {
    let found = FoundJournal::read(&**target, &at()).unwrap();
    let identity = Identity::default();
    let beginning =
        Beginning { identity: &identity, state: JournalState::Writing, id: None, items: BTreeMap::new(), found };
    Journal::begin(target, at(), beginning).unwrap()
}

#[test]
fn a_run_that_was_stopped_for_long_looks_before_it_writes() {
    let target = memory();
    // As if the whole process had been stopped.
    let journal = begin_alone(&target);
    let number = stored(&target).number;
    keep_fresh(&journal);
    journal.confirm().unwrap();
    assert_eq!(stored(&target).number, number);
    age(&journal, OWNED_FOR);
    journal.confirm().unwrap();
    assert!(stored(&target).number > number, "it says that it goes on");
    let other = begin_anew(&target);
    age(&journal, OWNED_FOR);
    let error = journal.confirm().unwrap_err();
    assert!(error.message().contains("another conversion to here was begun: process "), "{error}");
    for error in [journal.record().unwrap_err(), journal.release().unwrap_err(), journal.erase().unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Exists);
    }
    assert_eq!(stored(&target).run, other.lease.run.id());
    other.erase().unwrap();
    assert!(!target.exists(&at()).unwrap());
}

#[test]
fn a_run_whose_journal_is_gone_says_what_may_have_become_of_it() {
    let ended = "ran, or another run went on with it and ended it: its journal is gone";
    for (since, said) in [(Duration::ZERO, "ran: its journal is gone"), (ENDED_AFTER, ended)] {
        let target = memory();
        let journal = begin(&target);
        journal.check_own().unwrap();
        let mut written = lock(&journal.lease.written);
        target.erase(&at()).unwrap();
        match since.is_zero() {
            true => keep_fresh(&journal),
            false => age(&journal, since),
        }
        let error = journal.lease.look(&mut written).unwrap_err();
        let begins = error.message().starts_with("the target was erased, moved or replaced while the conversion ran");
        assert!(begins && error.message().ends_with(said), "{error}");
        drop(written);
        assert_eq!(journal.record().unwrap_err().kind(), ErrorKind::Exists);
        assert!(!target.exists(&at()).unwrap());
    }
}

/// A set that took effect without an answer is not taken for an entry of another run.
#[test]
fn an_answer_that_was_lost_is_no_other_run() {
    let target = memory();
    let journal = begin(&target);
    let mut written = lock(&journal.lease.written);
    let version = written.version.clone();
    journal.lease.repeat(&mut written).unwrap();
    written.version = version;
    drop(written);
    journal.record().unwrap();
    assert_eq!(stored(&target).run, journal.lease.run.id());
}

/// While one thread sets an entry, other threads go on as long as the last entry is fresh, and wait otherwise.
#[test]
fn no_chunk_is_begun_while_the_entry_after_an_old_one_is_being_set() {
    let target = memory();
    let journal = begin_alone(&target);
    let written = lock(&journal.lease.written);
    keep_fresh(&journal);
    journal.confirm().unwrap();
    age(&journal, OWNED_FOR);
    std::thread::scope(|scope| {
        let (done, confirmed) = channel();
        let journal = &journal;
        scope.spawn(move || done.send(journal.confirm()).unwrap());
        assert!(matches!(confirmed.recv_timeout(REFRESH * 2), Err(RecvTimeoutError::Timeout)));
        drop(written);
        confirmed.recv().unwrap().unwrap();
    });
    assert!(journal.lease.since_entry() < ENDED_AFTER);
}

/// A panic of a thread that sets an entry does not prevent other threads from checking the journal.
#[test]
fn a_run_looks_whatever_became_of_a_thread() {
    let target = memory();
    let journal = begin_alone(&target);
    std::thread::scope(|scope| {
        let panics = || {
            let _written = lock(&journal.lease.written);
            std::panic::resume_unwind(Box::new("stopped"));
        };
        assert!(scope.spawn(panics).join().is_err());
    });
    target.erase(&at()).unwrap();
    age(&journal, OWNED_FOR);
    assert_eq!(journal.confirm().unwrap_err().kind(), ErrorKind::Exists);
}

/// Store with a slow disk: a barrier ends when the flag is set.
fn slow() -> (Arc<AtomicBool>, Arc<dyn Store>) {
    let is_let_through = Arc::new(AtomicBool::new(true));
    let flag = Arc::clone(&is_let_through);
    let store = Intercepted::new(MemoryStore::new(), move |_, call| match call {
        Call::Barrier => {
            while !flag.load(SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(Break(Answer::Done))
        }
        _ => Ok(Continue(call)),
    });
    (is_let_through, Arc::new(store.with_capabilities(|below| below.durable(true))))
}

#[test]
fn a_run_shows_that_it_is_at_work_while_chunks_reach_the_disk() {
    let (is_let_through, target) = slow();
    let journal = begin(&target);
    is_let_through.store(false, SeqCst);
    std::thread::scope(|scope| {
        let recorded = scope.spawn(|| journal.enter(JournalState::Ending));
        let number = stored(&target).number;
        let begun = Instant::now();
        while stored(&target).number < number + 2 && begun.elapsed() < ENDED_AFTER * 20 {
            std::thread::sleep(REFRESH / 5);
        }
        let (meanwhile, is_finished) = (stored(&target), recorded.is_finished());
        is_let_through.store(true, SeqCst);
        recorded.join().unwrap().unwrap();
        assert!(meanwhile.number >= number + 2 && !is_finished);
        assert_eq!(meanwhile.state, JournalState::Writing, "nothing says that it is there before it is");
    });
    assert_eq!(stored(&target).state, JournalState::Ending);
}

/// Repeated entries do not delay the next entry that records progress.
#[test]
fn what_is_done_is_recorded_in_time_also_beside_entries_that_repeat() {
    let target = memory();
    let journal = begin_alone(&target);
    journal.begin_node(0, &[1]);
    let unit: ChunkIndex = [0_u64].into_iter().collect();
    journal.begin_unit(&unit);
    lock(&journal.lease.recorded).at = Instant::now().checked_sub(PAUSE).unwrap();
    journal.lease.repeat(&mut lock(&journal.lease.written)).unwrap();
    assert!(stored(&target).array.is_none());
    journal.end_unit(&unit, 1).unwrap();
    assert!(stored(&target).array.is_some());
}

#[test]
fn a_move_is_not_ended_while_it_is_at_work() {
    let (source, target) = (memory(), memory());
    let (from, to) = (NodePath::parse("/a").unwrap(), NodePath::parse("/b").unwrap());
    let mut members = Map::new();
    members.insert("source", source.to_string());
    members.insert("from", from.to_string());
    let identity = Identity::from_map(&members);
    let beginning =
        Beginning { identity: &identity, state: JournalState::Ending, id: None, items: BTreeMap::new(), found: None };
    let journal = Journal::begin(&target, key(&to, None).unwrap(), beginning).unwrap();
    let find = |from: &NodePath| FoundJournal::read_end_of_move(&*source, from, &*target, &to);
    assert!(find(&to).unwrap().is_none());
    let error = find(&from).unwrap_err();
    assert!(error.message().contains("is at work: process "), "{error}");
    drop(journal);
    let found = find(&from).unwrap().unwrap();
    found.erase_end_of_move(&*target, &to).unwrap();
    assert!(find(&from).unwrap().is_none());
}
