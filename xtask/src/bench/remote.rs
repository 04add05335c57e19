//! `cargo xtask bench --remote`: measures reads from a server that delays each answer, optionally beside other software.
//!
//! The server is `zarr-testserver`, a process of its own on this machine, with the data in memory. Programs take turns, as they do with
//! local stores. `benches/ours/src/remote.rs` makes the data; see `docs/performance.md`.

mod goals;
mod measurements;
mod programs;
mod server;
mod table;

use super::programs::{FLOOR, Program};
use crate::interop::python::output;
use measurements::Measurement;
use server::Server;
use std::path::{Path, PathBuf};
use table::{Row, Served};
use zarr_json::Value;

/// Options of the command line.
pub(super) struct Options {
    /// Names of peers; `None` for no peers, and an empty list for all peers.
    pub(super) peers: Option<Vec<String>>,
    pub(super) former: Option<PathBuf>,
    /// Names of measurements, with or without a latency; empty for all.
    pub(super) only: Vec<String>,
    pub(super) rounds: u32,
    pub(super) repetitions: u32,
    pub(super) smaller: bool,
}

/// Runs the measurements, and prints tables.
pub(super) fn run(root: &Path, folder: &Path, options: Options) -> Result<(), String> {
    let measurements = measurements::chosen(&options.only)?;
    let [ours, _] = super::programs::ours(root)?;
    let mut programs = vec![ours.clone()];
    programs.extend(options.former.map(Program::former));
    for name in programs::chosen(options.peers.as_deref())? {
        programs.push(programs::peer(root, folder, name)?);
    }
    // This one needs no library.
    programs.push(Program { name: FLOOR, ..ours.clone() });
    let size = if options.smaller { "small" } else { "whole" };
    let data = std::env::var_os("BENCH_DATA").map_or_else(|| folder.join("data"), PathBuf::from);
    let data = data.join(size).join(server::BUCKET);
    print!("{}", output(ours.command().arg("make-remote").arg(&data).arg(size))?);
    let mut server = Server::start(root, &data)?;
    let mut rows = Vec::new();
    for (index, measurement) in measurements.into_iter().enumerate() {
        server.set(&measurement)?;
        let mut row = Row::new();
        for round in 0..options.rounds {
            let first = (index + round as usize) % programs.len();
            for program in programs.iter().cycle().skip(first).take(programs.len()) {
                let is_slow = programs::is_slow(program.name, &measurement);
                if !programs::has(program.name, &measurement) || (is_slow && round > 0) {
                    continue;
                }
                let (warm, repetitions) = match (is_slow, measurement.is_cold) {
                    (true, _) | (_, true) => (0, 1),
                    _ => (1, options.repetitions),
                };
                let line = match measure(&mut server, program, &measurement, warm, repetitions) {
                    Ok(line) => line,
                    // Faults of other software must not lose the measurements.
                    Err(error) if programs::is_peer(program.name) => {
                        println!("{:<32} {:<18} failed: {error}", measurement.name(), program.name);
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let found: &mut Served = row.entry(program.name).or_default();
                if found.add(&line, &server.counts()?, warm + repetitions) {
                    println!("{:<32} {:<18} {}", measurement.name(), program.name, found.samples.brief());
                } else {
                    println!("{:<32} {:<18} does not have it", measurement.name(), program.name);
                    row.remove(program.name);
                }
            }
        }
        rows.push((measurement, row));
    }
    table::print(&rows);
    goals::print(&rows);
    match table::differences(&rows).as_slice() {
        [] => Ok(()),
        differences => Err(format!("the elements read differ:\n{}", differences.join("\n"))),
    }
}

/// Runs one process. Returns its output.
fn measure(
    server: &mut Server,
    program: &Program,
    what: &Measurement,
    warm: u32,
    repetitions: u32,
) -> Result<Value, String> {
    let mut command = program.command();
    command.env("BENCH_WARM", warm.to_string()).env("BENCH_REPS", repetitions.to_string());
    command.env("BENCH_ENDPOINT", server.url());
    let operation = if program.name == FLOOR { "one_connection" } else { what.operation };
    command.args([what.case, operation, &format!("s3://{}/{}.zarr", server::BUCKET, what.case)]);
    server.order("reset")?;
    let printed = output(&mut command)?;
    let line = printed.lines().last().unwrap_or_default();
    Value::from_json(line).map_err(|error| format!("{} printed {line:?}: {error}", program.name))
}
