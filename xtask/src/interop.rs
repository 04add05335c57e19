//! `cargo xtask interop`: exchanges random arrays with other software, in both directions.
//!
//! Each peer is one Python process for each direction, in an environment of its own below `target/interop`. A manifest ([`manifest`]) lists
//! the arrays that the peer wrote, with their elements; this library lists its own arrays in the same form. numcodecs is tested with each
//! of its codecs ([`codecs`]), and with the names of all codecs ([`names`]). xarray is also tested with data sets after conversions
//! ([`meaning`]).

mod codecs;
mod datasets;
pub(crate) mod manifest;
mod meaning;
mod model;
mod names;
pub(crate) mod ours;
pub(crate) mod python;
pub(crate) mod random;
pub(crate) mod stores;
pub(crate) mod theirs;
mod written;

use manifest::Line;
use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::Instant;
use stores::Stores;
use zarr_json::Value;

const USAGE: &str = "\
usage: cargo xtask interop [--arrays N] [--peer zarr|tensorstore|xarray|numcodecs|names|datasets|written] [--seed N] [--keep]

  --arrays N   arrays for each peer and direction, and for each codec of numcodecs (200)
  --peer NAME  this peer alone; may be repeated; names: codecs as people type them,
               datasets: data sets that xarray writes and decodes,
               written: data sets that ours writes, beside the ones of xarray and read by netCDF-C
  --seed N     the same random arrays again; by default others each time, whose seed is printed
  --keep       leaves the arrays in target/interop; they stay anyway if there are mismatches";

/// Software with which arrays are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    Zarr,
    Tensorstore,
    Xarray,
    Numcodecs,
    Names,
    Datasets,
    Written,
}

impl Peer {
    const ALL: [Self; 7] =
        [Self::Zarr, Self::Tensorstore, Self::Xarray, Self::Numcodecs, Self::Names, Self::Datasets, Self::Written];

    fn name(self) -> &'static str {
        match self {
            Self::Zarr => "zarr",
            Self::Tensorstore => "tensorstore",
            Self::Xarray => "xarray",
            Self::Numcodecs => "numcodecs",
            Self::Names => "names",
            Self::Datasets => "datasets",
            Self::Written => "written",
        }
    }
}

struct Options {
    arrays: u64,
    peers: Vec<Peer>,
    seed: u64,
    keep: bool,
}

/// Result of one peer and direction.
struct Outcome {
    arrays: usize,
    /// Arrays that differ: the line of the manifest, and the differences.
    mismatches: Vec<(Line, Vec<String>)>,
}

/// Compares with all peers, and prints a line for each peer and direction.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let options = parse(arguments)?;
    println!("seed {}", options.seed);
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("target").join("interop");
    fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let python = python::environment(&directory)?;
    let (mut arrays, mut mismatches) = (0, 0);
    for &peer in &options.peers {
        // Comparisons without two directions, each in a folder of its own.
        let special: Option<(&str, Special)> = match peer {
            Peer::Numcodecs => Some(("numcodecs", codecs::run)),
            Peer::Datasets => Some(("datasets", datasets::run)),
            Peer::Written => Some(("written", written::run)),
            Peer::Names => Some(("names", |python, _, folder| names::run(python, folder))),
            Peer::Xarray => Some(("xarray-conversions", meaning::run)),
            Peer::Zarr | Peer::Tensorstore => None,
        };
        if let Some((name, run)) = special {
            let folder = fresh(&directory.join(name))?;
            let (compared, differing) = run(&python, &options, &folder)?;
            if differing == 0 && !options.keep {
                fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            }
            arrays += compared;
            mismatches += differing;
        }
        if !matches!(peer, Peer::Zarr | Peer::Tensorstore | Peer::Xarray) {
            continue;
        }
        for (direction, compare) in [("ours reads", ours_reads as Compare), ("reads ours", reads_ours)] {
            let folder = directory.join(format!("{}-{}", peer.name(), direction.replace(' ', "-")));
            let start = Instant::now();
            let outcome = compare(&python, peer, &options, &fresh(&folder)?)?;
            report(peer, direction, &outcome, start);
            if outcome.mismatches.is_empty() && !options.keep {
                fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            }
            arrays += outcome.arrays;
            mismatches += outcome.mismatches.len();
        }
    }
    println!("{arrays} arrays, {mismatches} mismatches");
    if mismatches == 0 { Ok(()) } else { Err(format!("{mismatches} arrays differ")) }
}

/// Comparison of a special kind. Returns the numbers of compared and of differing arrays or data sets.
type Special = fn(&python::Python, &Options, &Path) -> Result<(usize, usize), String>;

type Compare = fn(&python::Python, Peer, &Options, &Path) -> Result<Outcome, String>;

/// Compares arrays that the peer writes and this library reads.
fn ours_reads(python: &python::Python, peer: Peer, options: &Options, folder: &Path) -> Result<Outcome, String> {
    python.write(peer.name(), folder, options.arrays, options.seed)?;
    let lines = manifest::read(folder)?;
    let arrays = lines.len();
    let mut random = random::Random::new(options.seed);
    let stores = Stores::directories(folder);
    let compared = lines.into_iter().map(|line| {
        let differences = theirs::differences(&line, folder, &stores, &mut random);
        (line, differences)
    });
    Ok(Outcome { arrays, mismatches: compared.filter(|(_, differences)| !differences.is_empty()).collect() })
}

/// Compares arrays that this library writes and the peer reads.
fn reads_ours(python: &python::Python, peer: Peer, options: &Options, folder: &Path) -> Result<Outcome, String> {
    let lines = ours::write(folder, &Stores::directories(folder), peer, options.arrays, options.seed)?;
    let mut results = results(&python.read(peer.name(), folder)?)?;
    let arrays = lines.len();
    let compared = lines.into_iter().map(|line| {
        let differences = results.remove(&line.id).unwrap_or_else(|| vec!["was not read".to_owned()]);
        (line, differences)
    });
    Ok(Outcome { arrays, mismatches: compared.filter(|(_, differences)| !differences.is_empty()).collect() })
}

/// Parses the differences that a peer printed, by the identifiers of the arrays.
pub(crate) fn results(output: &str) -> Result<HashMap<String, Vec<String>>, String> {
    let mut results = HashMap::new();
    for text in output.lines() {
        let value = Value::from_json(text).map_err(|error| format!("the peer printed {text:?}: {error}"))?;
        let id = value.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let texts = value.get("differences").and_then(Value::as_array).unwrap_or_default().iter();
        results.insert(id, texts.map(|text| text.as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>());
    }
    Ok(results)
}

fn report(peer: Peer, direction: &str, outcome: &Outcome, start: Instant) {
    let (count, mismatches) = (outcome.arrays, outcome.mismatches.len());
    let seconds = start.elapsed().as_secs_f64();
    println!("{:<12} {direction}  {count:>5} arrays  {mismatches:>4} mismatches  {seconds:>6.1} s", peer.name());
    for (line, differences) in &outcome.mismatches {
        println!("  {} {}: {}", line.store, line.path, line.about);
        for difference in differences {
            println!("    {difference}");
        }
    }
}

/// Creates the folder, or empties it. Returns its path.
pub(crate) fn fresh(folder: &Path) -> Result<PathBuf, String> {
    let in_folder = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(in_folder)?;
    }
    fs::create_dir_all(folder).map_err(in_folder)?;
    Ok(folder.to_owned())
}

/// Returns a seed of few digits, which differs from run to run.
pub(crate) fn fresh_seed() -> u64 {
    RandomState::new().hash_one(std::process::id()) % 1_000_000
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options { arrays: 200, peers: Vec::new(), seed: fresh_seed(), keep: false };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let number = |text: Option<&String>| text.and_then(|text| text.parse().ok()).ok_or(USAGE);
        match argument.as_str() {
            "--arrays" => options.arrays = number(rest.next())?,
            "--seed" => options.seed = number(rest.next())?,
            "--keep" => options.keep = true,
            "--peer" => {
                let named = |peer: &Peer| rest.clone().next().is_some_and(|name| name == peer.name());
                options.peers.push(Peer::ALL.into_iter().find(named).ok_or(USAGE)?);
                rest.next();
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    if options.peers.is_empty() {
        options.peers.extend(Peer::ALL);
    }
    Ok(options)
}
