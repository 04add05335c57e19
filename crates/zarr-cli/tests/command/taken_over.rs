//! Processes that are stopped during a conversion and go on after others took it over or gave it up, in directories and in a bucket.

use crate::folder::{Folder, int16};
use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use zarr_testserver::{Bucket, Fault, FaultKind, TestServer};

/// After so long something will not come any more.
const LIMIT: Duration = Duration::from_secs(60);
/// The journal of the conversion.
const JOURNAL: &str = ".zconversion";

type Contents = BTreeMap<String, Vec<u8>>;

/// Where a conversion writes.
#[derive(Clone, Copy, Debug)]
enum Target {
    Directory,
    Bucket,
}

/// A source in a bucket, so that its answers can be late, and targets.
struct Scene {
    folder: Folder,
    server: TestServer,
    target: Target,
}

impl Scene {
    /// Two arrays of 400 numbers, in 20 chunks each.
    fn new(target: Target) -> Self {
        let folder = Folder::new();
        for (path, from) in [("g/a", 0), ("g/b", 1000)] {
            let new = ["--shape", "400", "--dtype", "int16", "--chunks", "20", "--codecs", "zstd"];
            folder.ok(&[&["create", "s", path], &new[..]].concat());
            folder.fill("s", &format!("/{path}"), "<i2", "(400,)", &int16(from..from + 400));
        }
        let builder = TestServer::builder().bucket("source", Bucket::s3().public());
        let server = builder.bucket("data", Bucket::s3().public()).start().unwrap();
        server.load("source", folder.path("s")).unwrap();
        Self { folder, server, target }
    }

    /// The arguments of a conversion into 200 chunks for each array.
    fn convert(&self, target: &str, more: &[&str]) -> Vec<String> {
        let to = match self.target {
            Target::Directory => target.to_owned(),
            Target::Bucket => format!("s3://data/{target}"),
        };
        let endpoint = format!("endpoint={}", self.server.url());
        let convert = ["convert", "s3://source", &to, "--chunks", "2", "--memory", "400", "--threads", "1"];
        let options = ["--store-option", "anonymous=true", "--store-option", &endpoint];
        [&convert[..], more, &options[..]].concat().iter().map(|&arg| arg.to_owned()).collect()
    }

    fn run(&self, target: &str, more: &[&str]) -> (Option<i32>, String) {
        let args = self.convert(target, more);
        let ran = self.folder.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
        (ran.code, ran.err)
    }

    fn ok(&self, target: &str, more: &[&str]) {
        assert_eq!(self.run(target, more), (Some(0), String::new()), "{more:?}");
    }

    fn contents(&self, target: &str) -> Contents {
        match self.target {
            Target::Directory if !self.folder.path(target).exists() => Contents::new(),
            Target::Directory => {
                let files = self.folder.files(target).into_iter();
                files.map(|name| (name.clone(), std::fs::read(self.folder.path(target).join(name)).unwrap())).collect()
            }
            Target::Bucket => {
                let keys = self.server.keys("data").into_iter();
                keys.filter_map(|key| {
                    let name = key.strip_prefix(&format!("{target}/"))?.to_owned();
                    Some((name, self.server.get("data", &key)?.to_vec()))
                })
                .collect()
            }
        }
    }

    fn clear(&self, target: &str) {
        match self.target {
            Target::Directory => std::fs::remove_dir_all(self.folder.path(target)).unwrap(),
            Target::Bucket => {
                let keys = self.server.keys("data").into_iter().filter(|key| key.starts_with(&format!("{target}/")));
                keys.for_each(|key| drop(self.server.remove("data", &key)));
            }
        }
    }

    /// Starts a conversion, and stops its process while it waits for the first chunks of array b, and so writes nothing.
    fn stopped(&self, target: &str, more: &[&str]) -> Stopped {
        let path = "/source/g/b/c/";
        self.server.reset_counts();
        self.server.fault(Fault::new(FaultKind::Delay(Duration::from_secs(1))).path(path).always());
        let child = Command::new(env!("CARGO_BIN_EXE_zarr"))
            .args(self.convert(target, more))
            .current_dir(self.folder.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stopped = Stopped(Some(child));
        wait_until(|| self.server.log().iter().any(|request| request.path.starts_with(path)));
        stopped.signal("-STOP");
        wait_until(|| stopped.state() == "T");
        self.server.clear_faults();
        stopped
    }

    /// Makes the entry of a journal as old as if its process had been stopped long ago.
    fn set_back(&self, target: &str, journal: &str) {
        let text = String::from_utf8(self.contents(target).remove(journal).unwrap()).unwrap();
        let (before, rest) = text.split_once("\"at\":").unwrap();
        let (at, rest) = rest.split_at(rest.find(|char: char| !char.is_ascii_digit()).unwrap());
        let text = format!("{before}\"at\":{}{rest}", at.parse::<u64>().unwrap() - 100);
        match self.target {
            Target::Directory => std::fs::write(self.folder.path(target).join(journal), text).unwrap(),
            Target::Bucket => drop(self.server.put("data", &format!("{target}/{journal}"), text)),
        }
    }
}

/// A process that is stopped.
struct Stopped(Option<Child>);

impl Stopped {
    fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.id().to_string()]).status().unwrap().success());
    }

    /// As the system calls it: T if it is stopped, Z if it has ended.
    fn state(&self) -> String {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id())).unwrap();
        stat.rsplit_once(") ").unwrap().1[..1].to_owned()
    }

    /// Lets it go on to its end: its exit code, and what it said.
    fn goes_on(mut self) -> (Option<i32>, String) {
        self.signal("-CONT");
        let ended = self.0.take().unwrap().wait_with_output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn wait_until(holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LIMIT);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Everything but chunks.
fn documents(contents: &Contents) -> Contents {
    contents.iter().filter(|(key, _)| !key.contains("/c/")).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Checks that chunks are those of the whole, as far as they are there.
fn check_chunks(contents: &Contents, whole: &Contents) {
    for (key, value) in contents.iter().filter(|(key, _)| key.contains("/c/")) {
        assert!(whole.get(key) == Some(value), "{key}");
    }
}

/// Stops a process whose conversion another process resumes, and is at work with.
#[test]
fn a_stopped_process_from_which_another_one_took_over_ends_with_an_error() {
    for target in [Target::Directory, Target::Bucket] {
        let scene = Scene::new(target);
        scene.ok("whole", &[]);
        let whole = scene.contents("whole");
        let first = scene.stopped("t", &[]);
        let (code, err) = scene.run("t", &["--resume"]);
        assert_eq!(code, Some(2), "{target:?}: {err}");
        assert!(err.contains(&format!("is at work: process {} on ", first.id())), "{target:?}: {err}");
        scene.set_back("t", JOURNAL);
        let second = scene.stopped("t", &["--resume"]);
        let before = scene.contents("t");
        let said = format!("another run goes on with this conversion: process {} on ", second.id());
        let (code, err) = first.goes_on();
        assert_eq!(code, Some(2), "{target:?}: {err}");
        assert!(err.contains(&said), "{target:?}: {err}");
        let after = scene.contents("t");
        assert!(documents(&after) == documents(&before), "{target:?}: {:?}", after.keys());
        check_chunks(&after, &whole);
        assert_eq!(second.goes_on(), (Some(0), String::new()), "{target:?}");
        assert!(scene.contents("t") == whole, "{target:?}");
    }
}

/// Stops a process whose conversion another process has brought to its end.
#[test]
fn a_stopped_process_whose_conversion_another_one_ended_ends_with_an_error() {
    for target in [Target::Directory, Target::Bucket] {
        let scene = Scene::new(target);
        scene.ok("whole", &[]);
        let whole = scene.contents("whole");
        let first = scene.stopped("t", &[]);
        scene.set_back("t", JOURNAL);
        scene.ok("t", &["--resume"]);
        assert!(scene.contents("t") == whole, "{target:?}");
        let (code, err) = first.goes_on();
        assert_eq!(code, Some(2), "{target:?}: {err}");
        assert!(err.contains("its journal is gone"), "{target:?}: {err}");
        assert!(scene.contents("t") == whole, "{target:?}");
    }
}

/// Stops a part of a conversion that is given up, and is begun anew or not when the part goes on.
#[test]
fn a_stopped_part_whose_conversion_was_given_up_ends_with_an_error() {
    for target in [Target::Directory, Target::Bucket] {
        let scene = Scene::new(target);
        scene.ok("whole", &[]);
        let whole = scene.contents("whole");
        for is_begun_anew in [false, true] {
            let name = format!("t{}", u8::from(is_begun_anew));
            scene.ok(&name, &["--part", "2/2"]);
            let first = scene.stopped(&name, &["--part", "1/2"]);
            let before = scene.contents(&name);
            let (code, err) = scene.run(&name, &["--abandon"]);
            assert_eq!(code, Some(2), "{target:?}: {err}");
            assert!(err.contains(&format!("is at work: process {} on ", first.id())), "{target:?}: {err}");
            assert!(scene.contents(&name) == before, "{target:?}: nothing is given up");
            scene.set_back(&name, ".zconversion.1-of-2");
            scene.ok(&name, &["--abandon"]);
            assert_eq!(scene.contents(&name), Contents::new(), "{target:?}");
            if is_begun_anew {
                scene.ok(&name, &["--part", "1/2"]);
            }
            let before = scene.contents(&name);
            let (code, err) = first.goes_on();
            assert_eq!(code, Some(2), "{target:?}: {err}");
            let said = match is_begun_anew {
                false => "or its parts were given up: its journal is gone",
                true => "another conversion to here was begun: a run that ended",
            };
            assert!(err.contains(said), "{target:?}: {err}");
            let after = scene.contents(&name);
            assert!(documents(&after) == documents(&before), "{target:?}: {:?}", after.keys());
            check_chunks(&after, &whole);
            // Whatever it wrote, it is not done.
            let (code, err) = scene.run(&name, &["--finish"]);
            let (expected, said) = match is_begun_anew {
                false => (3, "no part of a conversion to here was begun"),
                true => (2, "of 2 parts these are not done: 2"),
            };
            assert_eq!(code, Some(expected), "{target:?}: {err}");
            assert!(err.contains(said), "{target:?}: {err}");
            if !is_begun_anew {
                // Chunks that it wrote after it was given up are in the way of the next conversion until they are erased.
                let (code, err) = scene.run(&name, &["--part", "1/2"]);
                assert_eq!(code, Some(2), "{target:?}: {err}");
                assert!(err.contains("there are other files already"), "{target:?}: {err}");
                // Nothing says any more whose they are.
                let (code, err) = scene.run(&name, &["--abandon"]);
                assert_eq!(code, Some(3), "{target:?}: {err}");
                scene.clear(&name);
            }
            for part in ["1/2", "2/2"] {
                scene.ok(&name, &["--part", part]);
            }
            scene.ok(&name, &["--finish"]);
            assert!(scene.contents(&name) == whole, "{target:?}");
        }
    }
}
