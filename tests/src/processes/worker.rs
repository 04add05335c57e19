//! Child process that runs one task, which its arguments name. It writes a line to standard output for each acknowledged operation before
//! it begins the next one.

use super::report::{WORKER, report, say};
use super::verbs::{Scenario, Stores};
use super::{Result, moves, reads, remote, rows, updates};
use std::ffi::OsString;
use std::io::BufRead;
use std::sync::mpsc::{Receiver, channel};

/// Name of the task of a worker that runs the `zarr` command.
pub(super) const COMMAND: &str = "zarr";

/// Runs the task of a worker and ends the process, if the process was started as a worker. Programs that run checks call this first, with
/// the function that is the `zarr` command.
pub fn work_if_worker(command: impl FnOnce(Vec<OsString>) -> u8) {
    if std::env::var_os(WORKER).is_none() {
        return;
    }
    let task: Vec<String> = std::env::args().skip(1).collect();
    let task: Vec<&str> = task.iter().map(String::as_str).collect();
    if let [COMMAND, arguments @ ..] = task.as_slice() {
        if begin().is_err() {
            std::process::exit(3);
        }
        let arguments = std::iter::once("zarr").chain(arguments.iter().copied()).map(OsString::from);
        std::process::exit(command(arguments.collect()).into());
    }
    let done = run(&task);
    if let Err(error) = &done {
        say(&format!("failed {error}"));
    }
    std::process::exit(i32::from(done.is_err()));
}

fn run(task: &[&str]) -> Result<()> {
    match *task {
        ["part", folder, writer, writers, from, to] => {
            let array = zarr::open((&zarr::store::open(folder)?, "/a")).array()?;
            let numbers = from.parse()?..to.parse()?;
            begin()?;
            updates::write_parts(&array, writer.parse()?, writers.parse()?, numbers, &report)
        }
        [remote::TASK, address, options, writer, writers, from, to] => {
            let store = zarr::store::open_with(address, &remote::parse(options)?)?;
            let (array, numbers) = (zarr::open((&store, "/a")).array()?, from.parse()?..to.parse()?);
            begin()?;
            updates::write_parts(&array, writer.parse()?, writers.parse()?, numbers, &report)
        }
        ["attributes", folder, path, writer, from, to] => {
            let (store, writer, numbers) = (zarr::store::open(folder)?, writer.parse()?, from.parse()?..to.parse()?);
            begin()?;
            updates::change_attributes(&store, path, writer, numbers, &report)
        }
        ["append", folder, writer, from, to] => {
            let (store, writer, numbers) = (zarr::store::open(folder)?, writer.parse()?, from.parse()?..to.parse()?);
            begin()?;
            rows::append_rows(&store, writer, numbers, &report)
        }
        ["rename", folder, writer, from] => {
            let (store, writer, from) = (zarr::store::open(folder)?, writer.parse()?, from.parse()?);
            begin()?;
            moves::rename(&store, writer, from)
        }
        ["create", folder, writer] => {
            let (store, writer) = (zarr::store::open(folder)?, writer.parse()?);
            let rounds = ready();
            for round in 0.. {
                rounds.recv()?;
                say(&updates::create(&store, writer, round)?);
            }
            Ok(())
        }
        ["alternate", folder] => {
            begin()?;
            reads::alternate(&zarr::store::open(folder)?)
        }
        ["read", folder] => {
            begin()?;
            reads::read_alternating(&zarr::store::open(folder)?)
        }
        ["verb", folder, verb, layout, chunks] => {
            let scenario = Scenario::parse(verb, layout, chunks)?;
            let stores = Stores::in_folder(folder.as_ref())?;
            begin()?;
            scenario.run(&stores)?;
            say("done");
            Ok(())
        }
        _ => Err(format!("no task {task:?}").into()),
    }
}

/// Reports that the worker is ready, and waits until it may begin. Ends the process if its parent has ended.
fn begin() -> Result<()> {
    ready().recv()?;
    Ok(())
}

/// Reports that the worker is ready. The receiver gets an item whenever the worker may begin. The process ends when its parent has ended.
fn ready() -> Receiver<()> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        // A receiver that is gone wants no more rounds.
        let _ = std::io::stdin().lock().lines().map_while(std::result::Result::ok).try_for_each(|_| sender.send(()));
        std::io::stdin().lock().lines().for_each(drop);
        std::process::exit(3);
    });
    say("ready");
    receiver
}
