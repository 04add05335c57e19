//! `cargo xtask bench`: measures the time of reads and writes, optionally beside other software.
//!
//! Each program, measurement and round has its own process. Programs take turns, so that other work of the machine affects all of them.
//! `benches/protocol` defines the work of a process, `benches/ours` the arrays; see `docs/performance.md`.

mod counts;
mod goals;
mod programs;
mod remote;
mod table;

use goals::{MEASUREMENTS, Measurement};
use programs::{PEERS, Program};
use std::fs;
use std::path::{Path, PathBuf};
use table::{Row, Samples};
use zarr_json::Value;

const USAGE: &str = "\
usage: cargo xtask bench [--peers [NAME,..]] [--former FILE] [--floor] [--only CASE:OPERATION,..] [--rounds N]
                         [--repetitions N] [--smaller]
       cargo xtask bench --remote [--peers [NAME,..]] [--former FILE] [--only CASE:OPERATION,..] [--rounds N]
                         [--repetitions N] [--smaller]
       cargo xtask bench --counts [--record]

  --peers        other software as well: zarrs, tensorstore, zarr-python, zarr-python+zarrs, xarray; with --remote
                 zarr-python, tensorstore, zarrista, tensorstore-512
  --former       a `zarr-bench` built from another state of this library: to measure a change
  --floor        a program that does only the work that any library must do: a limit, not a peer
  --only         these measurements alone: A:read_into, C:rand:row
  --rounds       processes for each program and measurement (2)
  --repetitions  timed repetitions in each process (3)
  --smaller      an eighth of the data, for a quick look
  --remote       reads of a server on this machine that takes 0 or 50 ms for an answer: zstd:read, one:read
  --counts       nothing of that: instructions of small pieces of work, compared with benches/counts.txt
  --record       with --counts: writes them there instead

Data is made once in $BENCH_DATA, or else below target/bench. Files that programs write go to $BENCH_SCRATCH, or else to /dev/shm.
BENCH_DURABILITY=file: this library waits for the disk for each chunk, as zarrs and tensorstore do.";

struct Options {
    /// Names of peers; `None` for no peers, and an empty list for all peers.
    peers: Option<Vec<String>>,
    former: Option<PathBuf>,
    floor: bool,
    /// Names of measurements; empty for all.
    only: Vec<String>,
    rounds: u32,
    repetitions: u32,
    smaller: bool,
    remote: bool,
    counts: bool,
    record: bool,
}

/// Runs the measurements, and prints a table.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let options = parse(arguments)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let folder = root.join("target").join("bench");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    if options.remote {
        let Options { peers, former, only, rounds, repetitions, smaller, .. } = options;
        return remote::run(root, &folder, remote::Options { peers, former, only, rounds, repetitions, smaller });
    }
    if options.counts {
        return counts::run(root, options.record);
    }
    let measurements = chosen(&options.only)?;
    let [ours, floor] = programs::ours(root)?;
    let mut programs = vec![ours];
    programs.extend(options.former.map(Program::former));
    programs.extend(options.floor.then_some(floor));
    let wanted = |peer: &&str| {
        options.peers.as_ref().is_some_and(|names| names.is_empty() || names.iter().any(|name| name == peer))
    };
    for name in PEERS.into_iter().filter(wanted) {
        programs.push(programs::peer(root, &folder, name)?);
    }
    let folders = Folders::new(&folder, options.smaller);
    folders.make(&programs)?;
    let mut rows = Vec::new();
    for (index, measurement) in measurements.iter().enumerate() {
        let mut row = Row::new();
        for round in 0..options.rounds {
            // The first program pays for memory that the system took back from earlier programs.
            let first = (index + round as usize) % programs.len();
            for program in programs.iter().cycle().skip(first).take(programs.len()) {
                let slow = program.is_slow(measurement.case);
                if slow && round > 0 {
                    continue;
                }
                if program.lacks(measurement.case) {
                    if round == 0 {
                        println!("{:<20} {:<18} does not have it", measurement.name(), program.name);
                    }
                    continue;
                }
                let (warm, repetitions) = if slow { (0, 1) } else { (1, options.repetitions) };
                let line = folders.measure(program, *measurement, warm, repetitions)?;
                let found: &mut Samples = row.entry(program.name).or_default();
                if found.add(&line) {
                    println!("{:<20} {:<18} {}", measurement.name(), program.name, found.brief());
                }
            }
        }
        rows.push((*measurement, row));
    }
    table::print(&rows);
    match table::differences(&rows).as_slice() {
        [] => Ok(()),
        differences => Err(format!("the elements read differ:\n{}", differences.join("\n"))),
    }
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        peers: None,
        former: None,
        floor: false,
        only: Vec::new(),
        rounds: 2,
        repetitions: 3,
        smaller: false,
        remote: false,
        counts: false,
        record: false,
    };
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        let mut number = || rest.next().and_then(|text| text.parse().ok()).filter(|&number| number > 0).ok_or(USAGE);
        match argument.as_str() {
            "--rounds" => options.rounds = number()?,
            "--repetitions" => options.repetitions = number()?,
            "--former" => options.former = Some(rest.next().ok_or(USAGE)?.into()),
            "--floor" => options.floor = true,
            "--smaller" => options.smaller = true,
            "--remote" => options.remote = true,
            "--counts" => options.counts = true,
            "--record" => options.record = true,
            "--only" => {
                options.only = rest.next().ok_or(USAGE)?.split(',').map(str::to_owned).collect();
            }
            "--peers" => {
                let names = rest.next_if(|name| !name.starts_with("--"));
                let names = names.map(|names| names.split(',').map(str::to_owned).collect());
                options.peers = Some(names.unwrap_or_default());
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(options)
}

/// Returns the measurements with these names; all, if `names` is empty.
fn chosen(names: &[String]) -> Result<Vec<Measurement>, String> {
    let find = |name: &String| MEASUREMENTS.iter().find(|it| it.name() == *name).copied();
    let all = names.iter().map(|name| find(name).ok_or_else(|| format!("no measurement {name:?}")));
    if names.is_empty() { Ok(MEASUREMENTS.to_vec()) } else { all.collect() }
}

/// Folders of data, and the size of the data.
struct Folders {
    data: PathBuf,
    scratch: PathBuf,
    size: &'static str,
}

impl Folders {
    fn new(folder: &Path, smaller: bool) -> Self {
        let given = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let size = if smaller { "small" } else { "whole" };
        let shared = Some(PathBuf::from("/dev/shm")).filter(|folder| folder.is_dir());
        Self {
            data: given("BENCH_DATA").unwrap_or_else(|| folder.join("data")).join(size),
            scratch: given("BENCH_SCRATCH").or(shared).unwrap_or_else(|| folder.to_owned()).join("zarr-bench"),
            size,
        }
    }

    fn make(&self, programs: &[Program]) -> Result<(), String> {
        let Some(ours) = programs.first() else { return Ok(()) };
        let made = crate::interop::python::output(ours.command().arg("make").arg(&self.data).arg(self.size))?;
        print!("{made}");
        Ok(())
    }

    /// Runs one process. Returns its output.
    fn measure(&self, program: &Program, what: Measurement, warm: u32, repetitions: u32) -> Result<Value, String> {
        let (operation, boxes) = what.parts();
        let array = format!("{}.zarr", what.case);
        let mut path = self.data.join(&array);
        let mut command = program.command();
        command.env("BENCH_WARM", warm.to_string()).env("BENCH_REPS", repetitions.to_string());
        command.env("BENCH_RAW", self.data.join("raw").join(format!("{}.bin", what.raw())));
        if let Some(boxes) = boxes {
            command.env("BENCH_SUBSETS", self.data.join("subsets").join(boxes));
        }
        if self.scratch.exists() {
            fs::remove_dir_all(&self.scratch).map_err(|error| format!("{}: {error}", self.scratch.display()))?;
        }
        let empty = self.data.join("empty").join(&array);
        match operation {
            "write" | "append" | "append_rows" => path = copied(&empty, &self.scratch.join(&array))?,
            "partial_write" | "write_points" | "write_mask" => path = copied(&path, &self.scratch.join(&array))?,
            "roundtrip" => {
                command.env("BENCH_OUT", copied(&empty, &self.scratch.join(&array))?);
            }
            _ => {}
        }
        command.args([what.case, operation]).arg(&path);
        let printed = crate::interop::python::output(&mut command)?;
        let line = printed.lines().last().unwrap_or_default();
        Value::from_json(line).map_err(|error| format!("{} printed {line:?}: {error}", program.name))
    }
}

/// Copies a folder into `to`. Returns the path of the copy.
fn copied(from: &Path, to: &Path) -> Result<PathBuf, String> {
    let fail = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(to).map_err(|error| fail(to, error))?;
    for entry in fs::read_dir(from).map_err(|error| fail(from, error))? {
        let path = entry.map_err(|error| fail(from, error))?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copied(&path, &target)?;
        } else {
            fs::copy(&path, &target).map_err(|error| fail(&path, error))?;
        }
    }
    Ok(to.to_owned())
}
