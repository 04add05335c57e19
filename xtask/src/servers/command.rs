//! The `zarr` command on servers: it converts hierarchies from and to them, reads arrays, and writes with several processes.

use super::exchange::{Exchange, Outcome, compare};
use super::hierarchies::{self, Hierarchy};
use super::services::{MOST_CHUNKS, Service};
use crate::cargo;
use crate::interop::stores::Stores;
use crate::interop::{fresh, manifest, python};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of processes that write at the same time.
const WRITERS: u32 = 8;
/// Number of times that each process writes.
const ROUNDS: u32 = 6;

/// The `zarr` program.
pub(super) struct Zarr {
    program: PathBuf,
}

impl Zarr {
    /// Builds the program.
    pub(super) fn build() -> Result<Self, String> {
        Ok(Self { program: cargo::build_command()? })
    }

    fn run(&self, arguments: &[&str], variables: &[(&str, String)]) -> Result<(), String> {
        let found = python::output(&mut self.command(arguments, variables)).map(drop);
        found.map_err(|error| format!("zarr {}: {error}", arguments.join(" ")))
    }

    fn command(&self, arguments: &[&str], variables: &[(&str, String)]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--quiet").args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts processes that write elements of one chunk at the same time, and checks that all elements are stored in the end.
    pub(super) fn write_parts(&self, service: &Service, folder: &Path) -> Result<Outcome, String> {
        let (address, options) = (service.address("parts.zarr"), options(service));
        let (shape, variables) = ((WRITERS * ROUNDS).to_string(), service.variables());
        let new = ["create", &address, "a", "--shape", &shape, "--chunks", &shape, "--dtype", "int32", "--overwrite"];
        self.run(&[&new, &texts(&options)[..]].concat(), &variables)?;
        let in_file = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        for round in 0..ROUNDS {
            let mut writers = Vec::new();
            for at in (0..WRITERS).map(|writer| writer * ROUNDS + round) {
                let file = folder.join(format!("part-{at}.json"));
                fs::write(&file, format!("[{}]", at + 1)).map_err(|error| in_file(&file, error))?;
                let (from, select) = (file.display().to_string(), format!("{at}:{}", at + 1));
                let write = ["write", &address, "a", "--from", &from, "--select", &select, "--strict-writers"];
                let mut command = self.command(&[&write, &texts(&options)[..]].concat(), &variables);
                writers.push((at, command.spawn().map_err(|error| in_file(&self.program, error))?));
            }
            for (at, mut writer) in writers {
                let status = writer.wait().map_err(|error| in_file(&self.program, error))?;
                if !status.success() {
                    return Err(format!("zarr write of element {at}: {status}"));
                }
            }
        }
        let array = zarr::store::open_with(&address, &service.options()).map_err(zarr::Error::from);
        let array = array.and_then(|store| zarr::open((&store, "/a")).array());
        let found = array.and_then(|array| array.read::<i32>(..)).map_err(|error| error.to_string())?;
        let mut outcome = Outcome { arrays: 1, ..Outcome::default() };
        for (at, found) in found.into_iter().enumerate().filter(|(at, found)| *at as i32 + 1 != *found) {
            outcome.differences.push(format!("{address}: element {at} is {found}, although its write succeeded"));
        }
        Ok(outcome)
    }

    /// Converts the hierarchies below a prefix, which `folder` lists, to directories, and compares what this library reads there. The
    /// environment describes the server.
    pub(super) fn convert_from(
        &self,
        service: &Service,
        folder: &Path,
        prefix: &str,
        seed: u64,
    ) -> Result<Outcome, String> {
        let to = fresh(&folder.join("converted"))?;
        let listed = hierarchies::read(folder)?;
        for hierarchy in &listed {
            let source = format!("{}/{}", service.address(prefix), hierarchy.store);
            let target = to.join(&hierarchy.store).display().to_string();
            self.run(&["convert", &source, &target], &service.variables())?;
        }
        compare_converted(folder, &Stores::directories(&to), &listed, seed)
    }

    /// Converts the hierarchies below a prefix, which `folder` lists, into another service, and compares what this library reads there.
    pub(super) fn convert_between(
        &self,
        (from, to): (&Service, &Service),
        folder: &Path,
        prefix: &str,
        seed: u64,
    ) -> Result<Outcome, String> {
        let listed = hierarchies::read(folder)?;
        let variables = [from.variables(), to.variables()].concat();
        let copies = format!("{prefix}-copied");
        for hierarchy in &listed {
            let source = format!("{}/{}", from.address(prefix), hierarchy.store);
            let target = format!("{}/{}", to.address(&copies), hierarchy.store);
            self.run(&["convert", &source, &target], &variables)?;
        }
        compare_converted(folder, &to.stores(&copies), &listed, seed)
    }

    /// Converts directories that this library wrote into hierarchies below a prefix, which the peer reads. Options describe the server.
    pub(super) fn convert_to(&self, exchange: &Exchange<'_>) -> Result<Outcome, String> {
        let prefix = format!("converted-{}", exchange.client);
        let folder = fresh(&exchange.folder.join(&prefix))?;
        let service = exchange.service;
        let directories = Stores::directories(&folder.join("stores")).with_most_chunks(MOST_CHUNKS);
        hierarchies::write(&folder, &directories, exchange.count, exchange.seed, true)?;
        let mut listed = hierarchies::read(&folder)?;
        for hierarchy in &mut listed {
            let target = format!("{}/{}", service.address(&prefix), hierarchy.store);
            let source = directories.address(&hierarchy.store);
            let options = options(service);
            let arguments = [&["convert", source.as_str(), target.as_str()], &texts(&options)[..]].concat();
            self.run(&arguments, &[])?;
        }
        exchange.read_by_peer(&folder, &prefix)
    }

    /// Reads each array below a prefix that `folder` lists, and compares it with its file of values. Options describe the server.
    pub(super) fn read(&self, service: &Service, folder: &Path, prefix: &str) -> Result<Outcome, String> {
        let mut outcome = Outcome::default();
        let (options, to) = (options(service), folder.join("read.bin"));
        let file = to.display().to_string();
        let content = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        for line in manifest::read(folder)? {
            let store = format!("{}/{}", service.address(prefix), line.store);
            let arguments = ["read", &store, &line.path, "--raw", "--as", "raw", "--output", &file];
            let done = self.run(&[&arguments, &texts(&options)[..]].concat(), &[]);
            outcome.arrays += 1;
            let found = done.and_then(|()| Ok(content(&to)? == content(&folder.join(&line.values))?));
            let found = match found {
                Ok(true) => continue,
                Ok(false) => "other elements".to_owned(),
                Err(error) => error,
            };
            outcome.differences.push(format!("{} {}: {}\n    {found}", line.store, line.path, line.about));
        }
        Ok(outcome)
    }
}

/// Compares hierarchies that were converted.
fn compare_converted(folder: &Path, stores: &Stores, listed: &[Hierarchy], seed: u64) -> Result<Outcome, String> {
    compare(folder, stores, listed.len() as u64, seed)
}

/// Returns the options of the command for a server.
fn options(service: &Service) -> Vec<String> {
    service.options().pairs().iter().map(|(name, value)| format!("--store-option={name}={value}")).collect()
}

fn texts(options: &[String]) -> Vec<&str> {
    options.iter().map(String::as_str).collect()
}
