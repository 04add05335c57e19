//! A scheduler and two executors as processes: answers are those of one process, also where an executor is killed in mid-query.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "tests")]

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use zarr::dtype::WriteElement;
use zarr::{Group, NewArray, NewGroup};

const PROGRAM: &str = env!("CARGO_BIN_EXE_zarr-ballista");
const CLIMATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");

/// Longest wait for a process, many times what it takes.
const WAIT: Duration = Duration::from_secs(180);

/// Process that is killed when the test ends.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn program(words: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(words).stdin(Stdio::null()).env("RUST_LOG", "warn");
    command
}

/// Returns an address of this machine that nothing listens at.
fn free() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < WAIT, "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Block of commands of the page of the guide.
fn commands() -> Vec<String> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/engines.md")).unwrap();
    let (_, block) = page.split_once("```sh\n").unwrap();
    block.split_once("```").unwrap().0.lines().map(str::to_owned).collect()
}

#[test]
fn the_commands_of_the_guide_start_a_cluster() {
    let mut commands = commands().join("\n");
    // Other tests have clusters at the same time.
    for port in ["50050", "50051", "50052"] {
        commands = commands.replace(&format!("127.0.0.1:{port}"), &free());
    }
    let words = |line: &str| {
        let (words, query) = line.split_once(" \"").map_or((line, None), |(words, query)| (words, Some(query)));
        let words = words.trim_end_matches('&').split_whitespace().skip(1).map(str::to_owned);
        words.chain(query.map(|query| query.trim_end_matches('"').to_owned())).collect::<Vec<_>>()
    };
    let started = |line: &str| {
        let words = words(line);
        let mut command = program(&words.iter().map(String::as_str).collect::<Vec<_>>());
        command.current_dir(Path::new(CLIMATE).parent().unwrap());
        command
    };
    let mut processes = Vec::new();
    let mut answer = None;
    for line in commands.lines() {
        assert!(line.starts_with("zarr-ballista "), "{line}");
        let mut command = started(line);
        if line.ends_with('&') {
            processes.push(Process(command.spawn().unwrap()));
            let words = words(line);
            let listen = words.iter().skip_while(|word| *word != "--listen").nth(1).unwrap().clone();
            until("the process listens", || TcpStream::connect(&listen).is_ok());
        } else {
            let mut words = words(line);
            // Without the scheduler.
            words.drain(1..3);
            let mut alone = program(&words.iter().map(String::as_str).collect::<Vec<_>>());
            let alone = alone.current_dir(Path::new(CLIMATE).parent().unwrap()).output().unwrap();
            answer = Some((text(&command.output().unwrap()), text(&alone)));
        }
    }
    assert_eq!(processes.len(), 3);
    let (answer, alone) = answer.unwrap();
    assert!(answer == alone && answer.lines().count() > 5, "{answer}{alone}");
}

/// Scheduler and executors, with the folders of their results.
struct Cluster {
    folder: tempfile::TempDir,
    scheduler: String,
    executors: Vec<Process>,
    _scheduler: Process,
}

impl Cluster {
    fn new(executors: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scheduler = free();
        // Executors that have no time between tasks ask every 5 seconds.
        let words = ["scheduler", "--listen", &scheduler, "--timeout", "8"];
        let process = Process(program(&words).spawn().unwrap());
        until("the scheduler listens", || TcpStream::connect(&scheduler).is_ok());
        let mut cluster = Self { folder, scheduler, executors: Vec::new(), _scheduler: process };
        for number in 0..executors {
            let (listen, results) = (free(), cluster.results(number));
            std::fs::create_dir(&results).unwrap();
            let results = results.to_str().unwrap();
            let words = [
                "executor",
                "--scheduler",
                &cluster.scheduler,
                "--listen",
                &listen,
                "--cores",
                "1",
                "--work-dir",
                results,
            ];
            cluster.executors.push(Process(program(&words).spawn().unwrap()));
            until("the executor listens", || TcpStream::connect(&listen).is_ok());
        }
        cluster
    }

    fn results(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("results-{number}"))
    }

    fn sql(&self, words: &[&str]) -> Command {
        let mut command = program(&["sql", "--scheduler", &self.scheduler]);
        command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn local(words: &[&str]) -> String {
    text(&program(&["sql"]).args(words).output().unwrap())
}

/// Number of files in a folder and below.
fn files(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries.flatten().map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { 1 }).sum()
}

#[test]
fn queries_have_the_answers_of_one_process() {
    let cluster = Cluster::new(2);
    let table = format!("sst:sst={CLIMATE}");
    let queries = [
        "SELECT count(*), count(sst), min(lat), max(time) FROM sst",
        "SELECT date_part('month', time) AS month, count(sst), round(avg(sst), 3) FROM sst GROUP BY month ORDER BY month",
        "SELECT lat, lon, sst FROM sst WHERE time >= '2007-03-01' AND lat BETWEEN -2 AND 2 AND lon < 4 ORDER BY time, lat, lon",
        "SELECT count(*) FROM sst WHERE (lat > 3 AND lon < 10) OR (lat < -3 AND sst > 300)",
        "SELECT region, count(*), max(sst) FROM sst JOIN (VALUES ('Nino 3.4', 190.0, 240.0), ('Atlantic', 320.0, 350.0)) \
         AS regions (region, west, east) ON lon BETWEEN west AND east GROUP BY region ORDER BY region",
        "SELECT a.lat, count(*) FROM sst a JOIN sst b ON a.lat = b.lat AND a.time = b.time AND a.lon = b.lon \
         WHERE a.sst > b.sst - 1 GROUP BY a.lat ORDER BY a.lat",
        "SELECT * FROM (SELECT lat AS n, sst FROM sst WHERE lat > 4 UNION ALL SELECT lon, sst FROM sst WHERE lon < 2) AS both \
         WHERE sst IS NOT NULL ORDER BY n, sst LIMIT 20",
        "SELECT sst FROM sst WHERE lat > 1000",
    ];
    for query in queries {
        let words = ["--partitions", "4", "--table", &table, query];
        assert_eq!(text(&cluster.sql(&words).output().unwrap()), local(&words), "{query}");
    }
}

#[test]
fn an_error_of_an_executor_names_the_chunk() {
    let cluster = Cluster::new(1);
    let folder = cluster.folder.path().join("broken.zarr");
    let group = zarr::create(folder.to_str().unwrap()).group(NewGroup::new()).unwrap();
    add(&group, "v", NewArray::new(&[4, 2], "int32").chunks(&[1, 2]), &["x", "y"], &[0_i32, 1, 2, 3, 4, 5, 6, 7]);
    std::fs::write(folder.join("v/c/2/0"), b"short").unwrap();
    let table = format!("t={}", folder.display());
    let output = cluster.sql(&["--table", &table, "SELECT sum(v) FROM t"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("v/c/2/0"), "{error}");
}

fn add<T: WriteElement>(group: &Group, name: &str, new: NewArray, dimensions: &[&str], values: &[T]) {
    let new = new.dimension_names(dimensions).codecs("bytes").unwrap();
    group.create_array(name, new).unwrap().write(.., values).unwrap();
}

/// Makes a data set whose first stage of a query has 48 tasks.
fn large(folder: &Path) -> String {
    let path = folder.join("large.zarr");
    let group = zarr::create(path.to_str().unwrap()).group(NewGroup::new()).unwrap();
    let values: Vec<f32> = (0..48 * 400 * 400_u32).map(|number| (number % 1_013) as f32).collect();
    add(
        &group,
        "v",
        NewArray::new(&[48, 400, 400], "float32").chunks(&[1, 400, 400]),
        &["time", "lat", "lon"],
        &values,
    );
    format!("t={}", path.display())
}

#[test]
fn an_executor_that_is_killed_in_mid_query_changes_no_answer() {
    let mut cluster = Cluster::new(2);
    let table = large(cluster.folder.path());
    let query = "SELECT lat, count(*), sum(v), min(time), max(lon * v) FROM t GROUP BY lat ORDER BY lat";
    let words = ["--partitions", "48", "--table", &table, query];
    let expected = local(&words);
    let mut client = cluster.sql(&words).spawn().unwrap();
    let killed = cluster.results(1);
    // It has results of the first stage that others need, and does further tasks of it.
    until("the executor has results", || files(&killed) > 0);
    cluster.executors[1].0.kill().unwrap();
    cluster.executors[1].0.wait().unwrap();
    assert!(client.try_wait().unwrap().is_none(), "the query ended before its executor was killed");
    std::fs::remove_dir_all(&killed).unwrap();
    assert_eq!(text(&client.wait_with_output().unwrap()), expected);
}

#[test]
fn arguments_that_make_no_cluster_are_refused() {
    for (words, expected) in [
        (&["scheduler", "--timeout", "5"][..], "--timeout: found 5, expected more than 5"),
        (&["executor", "--scheduler", "127.0.0.1:1", "--listen", "0.0.0.0:1"], "expected --name"),
        (&["executor"], "found no --scheduler"),
        (&["sql", "--table", "t", "SELECT 1"], "expected NAME=ADDRESS"),
        (&["sql"], "found no query"),
        (&["plan"], "expected scheduler, executor or sql"),
    ] {
        let output = program(words).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(expected), "{words:?}: {error}");
    }
    assert!(text(&program(&["sql", "--help"]).output().unwrap()).starts_with("usage: "));
}
