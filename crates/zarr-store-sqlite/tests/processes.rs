//! Several processes that write one file, and some that are killed.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use zarr_store::{ByteRange, Key, Precondition, Prefix, StoreExt};
use zarr_store_sqlite::{Journal, SqliteOptions, SqliteStore};

const JOURNALS: [Journal; 2] = [Journal::Rollback, Journal::Wal];
const PROCESSES: u64 = 4;
const STEPS: u64 = 25;
/// The length of the values that a killed process sets.
const LEN: usize = 50_000;

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

fn create(path: &Path, journal: Journal) -> SqliteStore {
    SqliteStore::create_with(path, SqliteOptions::default().journal(journal)).expect("created")
}

fn number(value: &[u8]) -> u64 {
    u64::from_le_bytes(value.try_into().expect("eight bytes"))
}

/// The test program again, as a process that does `work` on the file.
fn spawn(work: &str, path: &Path, number: u64, journal: Journal) -> Child {
    Command::new(std::env::current_exe().expect("a program"))
        .args(["--exact", "work_as_a_process", "--nocapture", "--include-ignored"])
        .env("ZARR_SQLITE_WORK", format!("{work} {number} {journal:?}"))
        .env("ZARR_SQLITE_PATH", path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process")
}

/// Work of a process. As a test of its own it does nothing.
#[test]
fn work_as_a_process() {
    let (Ok(work), Some(path)) = (std::env::var("ZARR_SQLITE_WORK"), std::env::var_os("ZARR_SQLITE_PATH")) else {
        return;
    };
    let path = PathBuf::from(path);
    let words: Vec<&str> = work.split(' ').collect();
    let process: u64 = words[1].parse().expect("a number");
    let journal = if words[2] == "Wal" { Journal::Wal } else { Journal::Rollback };
    match words[0] {
        "create" => create_and_set(&path, process, journal),
        "count" => count(&SqliteStore::open(&path).expect("opened"), process),
        "set" => set_until_killed(&SqliteStore::open(&path).expect("opened")),
        "hold" => {
            let store = SqliteStore::open(&path).expect("opened");
            let prefix = |text| Prefix::new(text).expect("a prefix");
            let held = store.try_lock(&prefix("a/")).expect("a lock");
            println!("{}", if held.is_some() { "held" } else { "taken" });
            assert!(store.try_lock(&prefix("b/")).expect("a lock").is_some());
            std::thread::sleep(std::time::Duration::from_secs(60));
        }
        other => panic!("{other}"),
    }
}

fn create_and_set(path: &Path, process: u64, journal: Journal) {
    let store = create(path, journal);
    store.set_all(&key(&format!("of/{process}")), &process.to_le_bytes()).expect("set");
}

/// Counts up one value by preconditions, one in parts, and sets values of its own.
fn count(store: &SqliteStore, process: u64) {
    for step in 0..STEPS {
        loop {
            let fetched = store.get_ranges(&key("counter"), &[ByteRange::Full]).expect("get");
            let (count, when) = match fetched {
                None => (0, Precondition::NotExists),
                Some(fetched) => (number(fetched.part(0)), Precondition::Version(fetched.version.expect("a version"))),
            };
            match store.set_if(&key("counter"), &(count + 1).to_le_bytes(), &when) {
                Ok(_) => break,
                Err(error) => assert!(error.is_precondition(), "{error}"),
            }
        }
        store.set_partial(&key("parts"), &[(process * STEPS + step, b"x")]).expect("set");
        store.set_all(&key(&format!("own/{process}/{step}")), &step.to_le_bytes()).expect("set");
        let many = [key("many/a"), key("many/b")];
        let value = (process * STEPS + step).to_le_bytes();
        store.set_many(&[(&many[0], &value), (&many[1], &value)]).expect("set");
        let kept = store.list_prefix(&Prefix::new(&format!("own/{process}/")).expect("a prefix")).expect("list");
        assert_eq!(kept.len() as u64, step + 1);
    }
}

/// Sets values, each with an own byte, and prints the number of each that is set.
fn set_until_killed(store: &SqliteStore) {
    for i in 0.. {
        let value = vec![(i % 251) as u8; LEN];
        store.set_all(&key(&format!("c/{}", i % 20)), &value).expect("set");
        store.set_many(&[(&key("pair/a"), &value), (&key("pair/b"), &value)]).expect("set");
        println!("done {i}");
    }
}

#[test]
fn processes_that_make_a_file_at_once_share_it() {
    for journal in JOURNALS {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("x.sqlite");
        let children: Vec<Child> = (0..PROCESSES).map(|i| spawn("create", &path, i, journal)).collect();
        for mut child in children {
            assert!(child.wait().expect("a status").success());
        }
        let store = SqliteStore::open(&path).expect("opened");
        let due: Vec<Key> = (0..PROCESSES).map(|i| key(&format!("of/{i}"))).collect();
        assert_eq!(store.list().expect("list"), due, "{journal:?}");
    }
}

#[test]
fn processes_lose_nothing_of_each_other() {
    for journal in JOURNALS {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("x.sqlite");
        let store = create(&path, journal);
        let children: Vec<Child> = (0..PROCESSES).map(|i| spawn("count", &path, i, journal)).collect();
        // A reader beside them, which looks once more when the last has ended.
        let mut seen = 0;
        for mut child in children {
            let mut ended = None;
            while ended.is_none() {
                ended = child.try_wait().expect("a status");
                let pair = [key("many/a"), key("many/b")].map(|key| store.get_all(&key).expect("get"));
                seen += usize::from(pair[0].is_some());
                store.list_dir(&Prefix::root()).expect("list");
            }
            assert!(ended.is_some_and(|status| status.success()));
        }
        assert!(seen > 0);
        let get = |name: &str| store.get_all(&key(name)).expect("get").expect("there");
        assert_eq!(number(&get("counter")), PROCESSES * STEPS, "{journal:?}");
        assert_eq!(get("parts"), vec![b'x'; usize::try_from(PROCESSES * STEPS).expect("small")]);
        assert_eq!(get("many/a"), get("many/b"));
        for process in 0..PROCESSES {
            for step in 0..STEPS {
                assert_eq!(number(&get(&format!("own/{process}/{step}"))), step);
            }
        }
    }
}

#[test]
fn a_killed_process_loses_nothing_that_it_has_set() {
    for journal in JOURNALS {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("x.sqlite");
        drop(create(&path, journal));
        for round in 0..6 {
            let mut child = spawn("set", &path, 0, journal);
            let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
            let mut done = 0;
            let mut more = 5 + round * 7;
            while more > 0 {
                let line = lines.next().expect("a line").expect("read");
                // libtest prints on the same line.
                if let Some((_, number)) = line.split_once("done ") {
                    done = number.parse::<usize>().expect("a number");
                    more -= 1;
                }
            }
            // Wherever in a change it is by now.
            std::thread::sleep(std::time::Duration::from_micros(round * 373));
            child.kill().expect("killed");
            child.wait().expect("a status");
            for line in lines.map_while(Result::ok) {
                done = line.strip_prefix("done ").and_then(|number| number.parse().ok()).unwrap_or(done);
            }
            let store = SqliteStore::open(&path).expect("opened");
            for i in done.saturating_sub(18)..=done {
                let value = store.get_all(&key(&format!("c/{}", i % 20))).expect("get").expect("there");
                assert!(value.len() == LEN && value.iter().all(|byte| *byte == value[0]), "a mix");
                assert_eq!(usize::from(value[0]), i % 251, "{journal:?}: value {i} of {done} is lost");
            }
            let pair = ["pair/a", "pair/b"].map(|name| store.get_all(&key(name)).expect("get").expect("there"));
            assert!(pair[0] == pair[1], "both or none");
            assert!([done % 251, (done + 1) % 251].contains(&usize::from(pair[0][0])));
            // The next one writes on.
            store.set_all(&key("after"), &[1]).expect("set");
        }
    }
}

#[cfg(unix)]
#[test]
fn the_lock_of_a_prefix_excludes_processes_until_they_are_killed() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("x.sqlite");
    let store = create(&path, Journal::Rollback);
    let take = || store.try_lock(&Prefix::new("a/").expect("a prefix")).expect("a lock");
    let tell = |child: &mut Child| {
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        lines.find_map(|line| ["held", "taken"].into_iter().find(|word| line.ends_with(word))).expect("a word")
    };
    let lock = take().expect("free");
    assert!(lock.excludes_processes());
    let mut child = spawn("hold", &path, 0, Journal::Rollback);
    assert_eq!(tell(&mut child), "taken");
    child.kill().expect("killed");
    child.wait().expect("a status");
    assert!(take().is_none());
    drop(lock);
    let mut child = spawn("hold", &path, 0, Journal::Rollback);
    assert_eq!(tell(&mut child), "held");
    assert!(take().is_none());
    child.kill().expect("killed");
    child.wait().expect("a status");
    assert!(take().is_some_and(|lock| lock.excludes_processes()), "free again");
}
