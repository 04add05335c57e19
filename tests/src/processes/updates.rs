//! Updates of one thing by several at once: each that was acknowledged must be there.

use super::child::{Child, acknowledged, refused};
use super::{Result, Scale, Tally, text};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use zarr::meta::json::{Map, Value};
use zarr::{Array, ErrorKind, NewArray, Store, View};

/// How many write at once.
const WRITERS: u64 = 8;

/// Says what came of the operation of a number.
pub(super) type Report<'a> = &'a dyn Fn(u64, Result<()>);

/// Writes elements of `writer`, one at a time: its share of the array, again and again. The number of the write, from 1 on, is
/// what is written.
pub(super) fn write_parts(
    array: &Array,
    writer: u64,
    writers: u64,
    numbers: Range<u64>,
    report: Report<'_>,
) -> Result<()> {
    let share = array.shape().first().copied().unwrap_or_default() / writers;
    for number in numbers {
        let written = array.write(writer * share + number % share, &[i32::try_from(number + 1)?]);
        report(number, written.map_err(Into::into));
    }
    Ok(())
}

/// Checks the share of `writer` of an array after its writes before `acknowledged` were acknowledged; the next one may be
/// there. Gives the number of those that are not.
pub(super) fn lost_parts(elements: &[i32], writer: u64, writers: u64, acknowledged: u64) -> u64 {
    let share = elements.len() as u64 / writers;
    let lost = |place: &u64| {
        let found = elements.get((writer * share + place) as usize).map_or(0, |&element| i64::from(element));
        // The last number of the share's element that was acknowledged.
        let rounds = (acknowledged + share - 1 - place) / share;
        let newest = if rounds == 0 { 0 } else { (rounds - 1) * share + place + 1 };
        let next = if acknowledged % share == *place { acknowledged + 1 } else { newest };
        found != newest as i64 && found != next as i64
    };
    (0..share).filter(lost).count() as u64
}

/// Partial writes of own elements of one chunk or shard, by processes.
pub(super) fn parts(sharded: bool, scale: Scale) -> Result<Tally> {
    let (folder, count) = (tempfile::tempdir()?, scale.of(40, 1000));
    let folder = text(folder.path())?;
    let len = WRITERS * count;
    let new = NewArray::new(&[len], "int32").codecs_text("bytes")?;
    let new = if sharded { new.chunks(&[count / 10]).shards(&[len]) } else { new.chunks(&[len]) };
    let array = zarr::create_array(&zarr::create_store(folder)?, "/a", new)?;
    let logs = at_once(|writer| task("part", folder, &[&writer, &WRITERS.to_string(), "0", &count.to_string()]))?;
    let elements = array.read::<i32>(..)?;
    let mut tally = Tally::default();
    for (log, share) in logs.iter().zip(elements.chunks(count as usize)) {
        let acknowledged = tally_log(&mut tally, "writes", log);
        for number in acknowledged.into_iter().filter(|&number| share[number as usize] != number as i32 + 1) {
            tally.fault("writes lost", || format!("write {number} of a process"));
        }
    }
    Ok(tally)
}

/// How many attributes a writer has, each of which it changes in turn.
const ATTRIBUTES: u64 = 125;

/// Sets attributes of one array to the number of the change. Even writers open the array once, the others for each change.
pub(super) fn change_attributes(
    store: &Arc<dyn Store>,
    writer: u64,
    numbers: Range<u64>,
    report: Report<'_>,
) -> Result<()> {
    let mut array = zarr::open_array(store, "/a")?;
    let mut change = |number: u64| -> Result<()> {
        if writer % 2 == 1 {
            array = zarr::open_array(store, "/a")?;
        }
        let mut attributes = array.attributes()?.clone();
        attributes.insert(attribute(writer, number), number);
        Ok(array.set_attributes(attributes)?)
    };
    numbers.for_each(|number| report(number, change(number)));
    Ok(())
}

fn attribute(writer: u64, number: u64) -> String {
    format!("{writer}.{}", number % ATTRIBUTES)
}

/// Changes of own attributes of one array, by processes or by threads of this one.
pub(super) fn attributes(threads: bool, scale: Scale) -> Result<Tally> {
    let (folder, count) = (tempfile::tempdir()?, scale.of(12, 125));
    let folder = text(folder.path())?;
    let store = zarr::create_store(folder)?;
    zarr::create_array(&store, "/a", NewArray::new(&[1], "int32"))?;
    let logs = if threads {
        threads_at_once(|writer, report| change_attributes(&store, writer, 0..count, report))?
    } else {
        at_once(|writer| task("attributes", folder, &[&writer, "0", &count.to_string()]))?
    };
    let array = zarr::open_array(&store, "/a")?;
    let mut tally = Tally::default();
    for (writer, log) in (0..).zip(&logs) {
        let acknowledged = tally_log(&mut tally, "changes", log);
        lost_attributes(&mut tally, array.attributes()?, writer, &acknowledged);
    }
    Ok(tally)
}

/// Counts the attributes of `writer` that are not as its newest changes made them; the one after these may be there.
pub(super) fn lost_attributes(tally: &mut Tally, attributes: &Map, writer: u64, acknowledged: &[u64]) {
    let next = acknowledged.last().map(|last| last + 1);
    for &number in acknowledged.iter().rev().take(ATTRIBUTES as usize) {
        let name = attribute(writer, number);
        let found = attributes.get(&name).and_then(Value::as_u64);
        if found != Some(number) && !(found == next && next == Some(number + ATTRIBUTES)) {
            tally.fault("changes lost", || name);
        }
    }
}

/// The elements of a row that is appended: whose it is, its number, and both again so that a part of another row is seen.
const ROW: usize = 4;

fn row(writer: u64, number: u64) -> [i64; ROW] {
    let (writer, number) = (writer as i64, number as i64);
    [writer, number, writer * 1_000_000 + number, !number]
}

/// The array that rows are appended to.
pub(super) fn new_rows() -> Result<NewArray> {
    Ok(NewArray::new(&[0, ROW as u64], "int64").chunks(&[16, ROW as u64]).fill(-1).codecs_text("bytes")?)
}

/// Appends rows to one array. Even writers open the array once, the others for each row.
pub(super) fn append_rows(store: &Arc<dyn Store>, writer: u64, numbers: Range<u64>, report: Report<'_>) -> Result<()> {
    let mut array = zarr::open_array(store, "/rows")?;
    let mut append = |number: u64| -> Result<()> {
        if writer % 2 == 1 {
            array = zarr::open_array(store, "/rows")?;
        }
        let bytes: Vec<u8> = row(writer, number).iter().flat_map(|element| element.to_ne_bytes()).collect();
        Ok(array.append(0, View::new(&bytes, 8, &[1, ROW])?)?)
    };
    numbers.for_each(|number| report(number, append(number)));
    Ok(())
}

/// Rows appended to one array by processes.
pub(super) fn appends(scale: Scale) -> Result<Tally> {
    let (folder, count) = (tempfile::tempdir()?, scale.of(10, 100));
    let folder = text(folder.path())?;
    let store = zarr::create_store(folder)?;
    zarr::create_array(&store, "/rows", new_rows()?)?;
    let logs = at_once(|writer| task("append", folder, &[&writer, "0", &count.to_string()]))?;
    let mut tally = Tally::default();
    let acknowledged: Vec<_> = logs.iter().map(|log| tally_log(&mut tally, "rows", log)).collect();
    check_rows(&mut tally, &store, &acknowledged, 0)?;
    Ok(tally)
}

/// Checks that each row that was acknowledged is there once, and nothing else but at most `more` rows that were not.
pub(super) fn check_rows(
    tally: &mut Tally,
    store: &Arc<dyn Store>,
    acknowledged: &[Vec<u64>],
    more: u64,
) -> Result<()> {
    let found = zarr::open_array(store, "/rows")?.read::<i64>(..)?;
    let mut times: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for (place, found) in found.as_chunks::<ROW>().0.iter().enumerate() {
        let key = (found[0] as u64, found[1] as u64);
        if *found == row(key.0, key.1) {
            *times.entry(key).or_default() += 1;
        } else {
            tally.fault("rows of nobody", || format!("row {place}: {found:?}"));
        }
    }
    for (writer, numbers) in (0..).zip(acknowledged) {
        for &number in numbers {
            match times.remove(&(writer, number)) {
                None => tally.fault("rows lost", || format!("row {number} of process {writer}")),
                Some(1) => {}
                Some(times) => {
                    tally.fault("rows repeated", || format!("row {number} of process {writer}: {times} times"))
                }
            }
        }
    }
    if times.len() as u64 > more {
        tally.fault("rows that were not acknowledged", || format!("{} of them, expected at most {more}", times.len()));
    }
    Ok(())
}

/// Creates the array of a round and tells whether this was the one that did.
pub(super) fn create(store: &Arc<dyn Store>, writer: u64, round: u64) -> Result<String> {
    let new = NewArray::new(&[4], "int32").attribute("writer", writer);
    match zarr::create_array(store, &format!("/r{round}"), new) {
        Ok(_) => Ok("won".to_owned()),
        Err(error) if error.kind() == ErrorKind::Exists => Ok("lost".to_owned()),
        Err(error) => Ok(format!("refused {error}")),
    }
}

/// One array created by processes at once, again and again: one of them does, and its array is there.
pub(super) fn creates(scale: Scale) -> Result<Tally> {
    let folder = tempfile::tempdir()?;
    let folder = text(folder.path())?;
    let store = zarr::create_store(folder)?;
    let mut tally = Tally::default();
    let mut children = (0..WRITERS)
        .map(|writer| Child::start(&["create", folder, &writer.to_string()]))
        .collect::<Result<Vec<_>>>()?;
    for round in 0..scale.of(15, 100) {
        children.iter_mut().try_for_each(Child::go)?;
        let answers: Vec<String> =
            children.iter().map(|child| Ok(child.line()?.unwrap_or_default())).collect::<Result<_>>()?;
        let winners: Vec<u64> =
            (0..).zip(&answers).filter(|(_, answer)| *answer == "won").map(|(writer, _)| writer).collect();
        tally.done("rounds", 1);
        for answer in answers.iter().filter(|answer| !["won", "lost"].contains(&answer.as_str())) {
            tally.fault("errors", || answer.clone());
        }
        let array = zarr::open_array(&store, &format!("/r{round}"))?;
        let there = array.attributes()?.get("writer").and_then(Value::as_u64);
        match winners.as_slice() {
            [winner] if there == Some(*winner) => {}
            [winner] => {
                tally.fault("arrays of a loser", || format!("round {round}: {winner} won, that of {there:?} is there"))
            }
            _ => tally.fault("rounds without one winner", || format!("round {round}: {winners:?}")),
        }
    }
    Ok(tally)
}

fn task(name: &str, folder: &str, more: &[&str]) -> Vec<String> {
    [name, folder].iter().chain(more).map(|&word| word.to_owned()).collect()
}

/// Starts a worker with the task of each writer, lets all begin, and returns what they wrote.
fn at_once(task: impl Fn(String) -> Vec<String>) -> Result<Vec<Vec<String>>> {
    let start = |writer: u64| {
        let task = task(writer.to_string());
        Child::start(&task.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let mut children = (0..WRITERS).map(start).collect::<Result<Vec<_>>>()?;
    children.iter_mut().try_for_each(Child::go)?;
    children.into_iter().map(Child::finish).collect()
}

/// As [`at_once`], with threads of this process.
fn threads_at_once(task: impl Fn(u64, Report<'_>) -> Result<()> + Sync) -> Result<Vec<Vec<String>>> {
    let write = |writer| {
        let log = Mutex::new(Vec::new());
        let report = |number: u64, done: Result<()>| {
            let line = done.map_or_else(|error| format!("refused {error}"), |()| format!("ok {number}"));
            log.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        };
        task(writer, &report)?;
        Ok(log.into_inner().unwrap_or_else(PoisonError::into_inner))
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked")?).collect()
    })
}

/// Counts what a log says, and returns the numbers of what was acknowledged.
fn tally_log(tally: &mut Tally, what: &'static str, log: &[String]) -> Vec<u64> {
    let acknowledged = acknowledged(log);
    tally.done(what, acknowledged.len() as u64);
    refused(log).for_each(|error| tally.fault("errors", || error.to_owned()));
    acknowledged
}
