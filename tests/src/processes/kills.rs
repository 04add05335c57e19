//! Processes that are killed at random moments, like by `kill -9`.

use super::child::{Child, acknowledged, refused};
use super::verbs::{LAYOUTS, Scenario, Stores, VERBS, Verb};
use super::{Result, Scale, Tally, folder_in_memory, text};
use super::{rows, updates};
use crate::Random;
use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use zarr::NewArray;

/// Number of kills of each check in the long form. All checks together kill more than a thousand processes.
const ROUNDS: u64 = 90;

/// Kills processes during a verb. Checks the state that is left, repeats the verb, checks its result, and writes to all nodes, after which
/// no temporary file may be left.
pub(super) fn of_verb(verb: Verb, scale: Scale) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut random = Random::new(verb as u64);
    // Time of the verb in each layout without a kill.
    let mut times = [None; LAYOUTS.len()];
    let (wanted, mut kills) = (scale.of(6, if verb == Verb::Resume { 100 } else { ROUNDS }), 0);
    for round in 0..3 * wanted {
        if kills == wanted {
            break;
        }
        let index = round as usize % LAYOUTS.len();
        let (layout_name, layout) = LAYOUTS[index];
        let scenario = Scenario { verb, layout, chunks: scale.of(30, 60) };
        let folder = folder_in_memory()?;
        let mut stores = Stores::in_folder(folder.path())?;
        scenario.prepare(&stores)?;
        let verb_name = VERBS.iter().find(|(_, other)| *other == verb).map_or("", |(name, _)| name);
        let task = ["verb", text(folder.path())?, verb_name, layout_name, &scenario.chunks.to_string()];
        let time = match times[index] {
            Some(time) => time,
            None => *times[index].insert(time_of(scenario, &task[2..])?),
        };
        let mut child = Child::start(&task)?;
        child.go()?;
        std::thread::sleep(time.mul_f64(random.below(1000) as f64 / 1000.0));
        let lines = child.kill()?;
        let done = lines.iter().any(|line| line == "done");
        tally.done(if done { "ended before" } else { "kills" }, 1);
        kills += u64::from(!done);
        // The time adapts to the load of the machine.
        times[index] = Some(time.mul_f64(if done { 0.7 } else { 1.1 }));
        let at = || format!("round {round}, {layout_name}: ");
        if !done {
            for fault in scenario.faults_when_interrupted(&stores) {
                tally.fault("states that no reader should see", || at() + &fault);
            }
            // Opened again, like by another process.
            stores = Stores::in_folder(folder.path())?;
            match scenario.rerun(&stores) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => {
                    tally.fault("reruns that fail", || at() + &error.to_string());
                    continue;
                }
            }
        }
        for fault in scenario.faults_after_rerun(&stores) {
            tally.fault("reruns that do not end right", || at() + &fault);
        }
        scenario.write_more(&stores)?;
        count_temporary(folder.path(), &mut tally)?;
    }
    Ok(tally)
}

/// Returns the time that a process takes for a verb if it is not killed.
fn time_of(scenario: Scenario, task: &[&str]) -> Result<Duration> {
    let folder = folder_in_memory()?;
    scenario.prepare(&Stores::in_folder(folder.path())?)?;
    let mut child = Child::start(&[&["verb", text(folder.path())?], task].concat())?;
    let begun = Instant::now();
    child.go()?;
    let line = child.line()?;
    let time = begun.elapsed();
    match line.as_deref() {
        Some("done") => Ok(time),
        other => Err(format!("a verb that was not interrupted: {other:?}").into()),
    }
}

/// Counts temporary files.
pub(super) fn count_temporary(folder: &Path, tally: &mut Tally) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            count_temporary(&entry.path(), tally)?;
        } else if entry.file_name().to_str().is_some_and(|name| name.ends_with(".zarr-tmp")) {
            tally.fault("temporary files left", || entry.path().display().to_string());
        }
    }
    Ok(())
}

/// Starts a process with a task, and kills it soon after its first acknowledgement. Returns the lines that it wrote.
fn killed(task: &[&str], random: &mut Random) -> Result<Vec<String>> {
    let mut child = Child::start(task)?;
    child.go()?;
    let first = child.line()?;
    std::thread::sleep(Duration::from_micros(random.below(8_000) as u64));
    Ok(first.into_iter().chain(child.kill()?).collect())
}

/// Kills processes that write parts of one chunk or shard.
pub(super) fn of_partial_writes(scale: Scale) -> Result<Tally> {
    let (mut tally, mut random) = (Tally::default(), Random::new(100));
    for round in 0..scale.of(8, 2 * ROUNDS) {
        let folder = tempfile::tempdir()?;
        let address = text(folder.path())?;
        // The larger the chunk, the longer the moment in which its temporary file has a name.
        let new = NewArray::new(&[1 << 16], "int32").codecs("bytes")?;
        let new = if round % 2 == 0 { new.chunks(&[1 << 16]) } else { new.chunks(&[1 << 10]).shards(&[1 << 16]) };
        let array = zarr::create((&zarr::store::create(address)?, "/a")).array(new)?;
        let lines = killed(&["part", address, "0", "1", "0", "1000000"], &mut random)?;
        let written = acknowledged(&lines).len() as u64;
        tally.done("kills", 1);
        tally.done("writes", written);
        refused(&lines).for_each(|error| tally.fault("errors", || error.to_owned()));
        match array.read::<i32>(..) {
            Ok(elements) if updates::lost_parts(&elements, 0, 1, written) == 0 => {}
            Ok(elements) => tally.fault("writes lost", || {
                format!("round {round}: {} of {written}", updates::lost_parts(&elements, 0, 1, written))
            }),
            Err(error) => tally.fault("chunks that cannot be read", || error.to_string()),
        }
        array.write(7_u64, &[7])?;
        count_temporary(folder.path(), &mut tally)?;
    }
    Ok(tally)
}

/// Kills processes that append rows, and appends further rows.
pub(super) fn of_appends(scale: Scale) -> Result<Tally> {
    let (mut tally, mut random) = (Tally::default(), Random::new(101));
    for _ in 0..scale.of(8, ROUNDS) {
        let folder = tempfile::tempdir()?;
        let address = text(folder.path())?;
        let store = zarr::store::create(address)?;
        zarr::create((&store, "/rows")).array(rows::new_rows()?)?;
        let mut logs = Vec::new();
        for writer in ["0", "1"] {
            let lines = killed(&["append", address, writer, "0", "1000000"], &mut random)?;
            refused(&lines).for_each(|error| tally.fault("errors", || error.to_owned()));
            logs.push(acknowledged(&lines));
            tally.done("kills", 1);
        }
        tally.done("rows", logs.iter().map(|log| log.len() as u64).sum());
        // For each killed process, the row that it was writing may be stored.
        rows::check_rows(&mut tally, &store, &logs, 2)?;
        let failed = RefCell::new(None);
        let store = zarr::store::open(address)?;
        rows::append_rows(&store, 2, 0..1, &|_, done| *failed.borrow_mut() = done.err())?;
        failed.into_inner().map_or(Ok(()), Err)?;
        count_temporary(folder.path(), &mut tally)?;
    }
    Ok(tally)
}

/// Kills processes that change attributes.
pub(super) fn of_attributes(scale: Scale) -> Result<Tally> {
    let (mut tally, mut random) = (Tally::default(), Random::new(102));
    for _ in 0..scale.of(6, ROUNDS) {
        let folder = tempfile::tempdir()?;
        let address = text(folder.path())?;
        let store = zarr::store::create(address)?;
        zarr::create((&store, "/a")).array(NewArray::new(&[1], "int32"))?;
        let lines = killed(&["attributes", address, "/a", "0", "0", "1000000"], &mut random)?;
        let changed = acknowledged(&lines);
        tally.done("kills", 1);
        tally.done("changes", changed.len() as u64);
        refused(&lines).for_each(|error| tally.fault("errors", || error.to_owned()));
        let mut array = zarr::open((&zarr::store::open(address)?, "/a")).array()?;
        updates::lost_attributes(&mut tally, array.attributes()?, 0, &changed);
        let mut attributes = array.attributes()?.clone();
        attributes.insert("last", true);
        array.set_attributes(attributes)?;
        count_temporary(folder.path(), &mut tally)?;
    }
    Ok(tally)
}
