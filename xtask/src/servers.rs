//! `cargo xtask servers`: tests stores on real servers on this machine.
//!
//! Each server is tested by the contract of stores ([`contract`]). Then hierarchies and arrays are exchanged with zarr-python and
//! tensorstore in its buckets, in both directions ([`exchange`]), by the library and by the `zarr` command ([`command`]). Arrays and
//! comparisons are those of `cargo xtask interop`.

mod command;
mod contract;
mod exchange;
mod hierarchies;
mod process;
mod programs;
mod services;

use crate::interop::python::{self, Python};
use crate::interop::{fresh, fresh_seed};
use command::Zarr;
use exchange::{Exchange, Outcome};
use services::{Kind, Service, Started};
use std::fs;
use std::path::Path;
use std::time::Instant;

const USAGE: &str = "\
usage: cargo xtask servers [--hierarchies N] [--writes N] [--seed N]

Runs moto (S3), azurite (Azure), nginx and Python's http.server on free ports of 127.0.0.1, installed in target if they are missing.
azurite needs node and npm; nginx is installed by apt-get if root runs this. The last line names what is left out.

  --hierarchies N   hierarchies for each server, client and direction (8); three times as many arrays for tensorstore
  --writes N        parts of one chunk that each of 8 processes writes (20)
  --seed N          the same random arrays again; by default others each time, whose seed is printed";

struct Options {
    hierarchies: u64,
    writes: u64,
    seed: u64,
}

/// Counts of all comparisons.
#[derive(Default)]
struct Totals {
    comparisons: usize,
    hierarchies: usize,
    arrays: usize,
    mismatches: usize,
}

impl Totals {
    /// Runs a comparison, and prints a line for it.
    fn add(&mut self, name: &str, what: &str, compare: impl FnOnce() -> Result<Outcome, String>) -> Result<(), String> {
        let start = Instant::now();
        let outcome = compare().map_err(|error| format!("{name}, {what}: {error}"))?;
        let (hierarchies, arrays, mismatches) = (outcome.hierarchies, outcome.arrays, outcome.differences.len());
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{name:<12} {what:<32} {hierarchies:>3} hierarchies {arrays:>4} arrays {mismatches:>3} mismatches {seconds:>6.1} s"
        );
        outcome.differences.iter().for_each(|difference| println!("  {difference}"));
        self.comparisons += 1;
        self.hierarchies += hierarchies;
        self.arrays += arrays;
        self.mismatches += mismatches;
        Ok(())
    }
}

/// Starts the servers, runs all comparisons, and prints a line for each.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let options = parse(arguments)?;
    println!("seed {}", options.seed);
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("target");
    let (installed, folder) = (target.join("servers"), target.join("servers").join("run"));
    let interop = target.join("interop");
    fs::create_dir_all(&interop).map_err(|error| format!("{}: {error}", interop.display()))?;
    let python = python::environment(&interop)?;
    let zarr = Zarr::build()?;
    fresh(&folder)?;
    let of = |name: &str| fresh(&folder.join(name));
    let started = [
        services::moto(&python, &of("moto")?)?,
        services::azurite(&python, &installed, &of("azurite")?)?,
        services::nginx(&of("nginx")?)?,
        services::http_server(&python, &of("http.server")?)?,
    ];
    let mut left_out = Vec::new();
    let mut running = Vec::new();
    for server in started {
        match server {
            Started::Running(service) => running.push(service),
            Started::LeftOut(name, reason) => left_out.push(format!("{name} ({reason})")),
        }
    }
    let mut totals = Totals::default();
    for service in &running {
        let start = Instant::now();
        let checks = contract::check(service).map_err(|error| format!("{}: {error}", service.name))?;
        println!("{:<12} the contract of stores: {checks} {:>6.1} s", service.name, start.elapsed().as_secs_f64());
        compare(&python, &zarr, service, &folder, &options, &mut totals)?;
    }
    let found = |name: &str| running.iter().find(|service| service.name == name);
    if let (Some(moto), Some(azurite)) = (found("moto"), found("azurite")) {
        let (prefix, seed) = ("theirs-obstore", options.seed);
        let lists = folder.join(moto.name).join(prefix);
        totals.add("to azurite", "zarr convert from moto", || {
            zarr.convert_between((moto, azurite), &lists, prefix, seed)
        })?;
    }
    drop(running);
    finish(&totals, &left_out, &folder)
}

/// Runs all comparisons of one server.
fn compare(
    python: &Python,
    zarr: &Zarr,
    service: &Service,
    folder: &Path,
    options: &Options,
    totals: &mut Totals,
) -> Result<(), String> {
    let (count, seed) = (options.hierarchies, options.seed);
    let clients: &[&'static str] = match service.kind {
        Kind::S3 | Kind::Http => &["obstore", "fsspec", "tensorstore"],
        Kind::Azure => &["obstore"],
    };
    for &client in clients {
        let exchange = Exchange { python, service, client, folder: folder.join(service.name), count, seed };
        // What is written as files does not depend on the client.
        if service.kind != Kind::Http || client != "fsspec" {
            totals.add(service.name, &format!("ours reads, {client}"), || exchange.ours_reads())?;
        }
        // They ask for ranges and take what comes.
        if service.name != "http.server" {
            totals.add(service.name, &format!("reads ours, {client}"), || exchange.reads_ours())?;
        }
    }
    let client = "obstore";
    let exchange = Exchange { python, service, client, folder: folder.join(service.name), count, seed };
    let prefix = "theirs-obstore";
    let lists = if service.kind == Kind::Http { service.root.join(prefix) } else { exchange.folder.join(prefix) };
    totals.add(service.name, "zarr read", || zarr.read(service, &lists, prefix))?;
    if service.kind != Kind::Http {
        totals.add(service.name, "zarr convert from there", || zarr.convert_from(service, &lists, prefix, seed))?;
        totals.add(service.name, "zarr convert to there", || zarr.convert_to(&exchange))?;
        totals.add(service.name, "zarr write by 8 at once", || zarr.write_parts(service, &exchange.folder))?;
        totals.add(service.name, "writes of parts by 8 processes", || contract::writes(service, options.writes))?;
    }
    Ok(())
}

fn finish(totals: &Totals, left_out: &[String], folder: &Path) -> Result<(), String> {
    let Totals { comparisons, hierarchies, arrays, mismatches } = totals;
    println!("{comparisons} comparisons of {hierarchies} hierarchies and {arrays} arrays, {mismatches} mismatches");
    println!("left out: {}", if left_out.is_empty() { "nothing".to_owned() } else { left_out.join(", ") });
    if *mismatches > 0 {
        return Err(format!("{mismatches} hierarchies or arrays differ; what was compared is in {}", folder.display()));
    }
    fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options { hierarchies: 8, writes: 20, seed: fresh_seed() };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let number = |text: Option<&String>| text.and_then(|text| text.parse().ok()).ok_or(USAGE);
        match argument.as_str() {
            "--hierarchies" => options.hierarchies = number(rest.next())?,
            "--writes" => options.writes = number(rest.next())?,
            "--seed" => options.seed = number(rest.next())?,
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(options)
}
