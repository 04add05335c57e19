//! Concurrent updates of one chunk, shard or document: each acknowledged update must be found afterwards.

use super::child::{Child, acknowledged, refused};
use super::{Result, Scale, Tally, text};
use std::ops::Range;
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use tempfile::TempDir;
use zarr::{Array, ErrorKind, NewArray, Store};
use zarr_json::{Map, Value};

/// Number of concurrent writers.
pub(super) const WRITERS: u64 = 8;

/// Function that takes the number and the result of an operation.
pub(super) type Report<'a> = &'a dyn Fn(u64, Result<()>);

/// Writes the elements of `writer`, its share of the array, one at a time, again and again. Each element gets the number of the write,
/// counted from 1.
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

/// Returns the number of elements of `writer` that do not have the value of the newest of the first `acknowledged` writes. The next write
/// may be stored too.
pub(super) fn lost_parts(elements: &[i32], writer: u64, writers: u64, acknowledged: u64) -> u64 {
    let share = elements.len() as u64 / writers;
    let lost = |index: &u64| {
        let found = elements.get((writer * share + index) as usize).map_or(0, |&element| i64::from(element));
        // The last number of the share's element that was acknowledged.
        let rounds = (acknowledged + share - 1 - index) / share;
        let newest = if rounds == 0 { 0 } else { (rounds - 1) * share + index + 1 };
        let next = if acknowledged % share == *index { acknowledged + 1 } else { newest };
        found != newest as i64 && found != next as i64
    };
    (0..share).filter(lost).count() as u64
}

/// Checks partial writes of one chunk or shard by processes with separate elements.
pub(super) fn parts(sharded: bool, scale: Scale) -> Result<Tally> {
    let (setup, count) = (Setup::new(Writers::Processes)?, scale.of(40, 1000));
    let len = WRITERS * count;
    let new = NewArray::new(&[len], "int32").codecs("bytes")?;
    let new = if sharded { new.chunks(&[count / 10]).shards(&[len]) } else { new.chunks(&[len]) };
    let array = zarr::create((&setup.store, "/a")).array(new)?;
    let (of, end) = (WRITERS.to_string(), count.to_string());
    let logs = setup.at_once(
        |writer, folder| task("part", folder, &[writer, &of, "0", &end]),
        |writer, report| write_parts(&array, writer, WRITERS, 0..count, report),
    )?;
    let elements = array.read::<i32>(..)?;
    let mut tally = Tally::default();
    for (log, share) in logs.iter().zip(elements.chunks(count as usize)) {
        for number in tally_log(&mut tally, "writes", log) {
            if share.get(number as usize).is_none_or(|&found| i64::from(found) != number as i64 + 1) {
                tally.fault("writes lost", || format!("write {number} of a process"));
            }
        }
    }
    Ok(tally)
}

/// Number of attributes of a writer, which it changes in turn.
const ATTRIBUTES: u64 = 125;

/// Sets attributes of an array to the number of the change. Writers with even numbers open the array once, the others for each change.
pub(super) fn change_attributes(
    store: &Arc<dyn Store>,
    path: &str,
    writer: u64,
    numbers: Range<u64>,
    report: Report<'_>,
) -> Result<()> {
    let mut array = zarr::open((store, path)).array()?;
    let mut change = |number: u64| -> Result<()> {
        if writer % 2 == 1 {
            array = zarr::open((store, path)).array()?;
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

/// Checks changes of separate attributes of one array.
pub(super) fn attributes(writers: Writers, scale: Scale) -> Result<Tally> {
    let (setup, count) = (Setup::new(writers)?, writers.count(12, 125, scale));
    zarr::create((&setup.store, "/a")).array(NewArray::new(&[1], "int32"))?;
    let end = count.to_string();
    let logs = setup.at_once(
        |writer, folder| task("attributes", folder, &["/a", writer, "0", &end]),
        |writer, report| change_attributes(&setup.store, "/a", writer, 0..count, report),
    )?;
    let array = zarr::open((&setup.store, "/a")).array()?;
    let mut tally = Tally::default();
    for (writer, log) in (0..).zip(&logs) {
        let acknowledged = tally_log(&mut tally, "changes", log);
        lost_attributes(&mut tally, array.attributes()?, writer, &acknowledged);
    }
    Ok(tally)
}

/// Adds a fault for each attribute of `writer` that does not have its newest acknowledged change. The next change may be stored too.
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

/// Creates the array of a round. Returns `won` if it was created here, and `lost` if it existed.
pub(super) fn create(store: &Arc<dyn Store>, writer: u64, round: u64) -> Result<String> {
    let new = NewArray::new(&[4], "int32").attribute("writer", writer);
    match zarr::create((store, &format!("/r{round}"))).array(new) {
        Ok(_) => Ok("won".to_owned()),
        Err(error) if error.kind() == ErrorKind::Exists => Ok("lost".to_owned()),
        Err(error) => Ok(format!("refused {error}")),
    }
}

/// Runs processes that create the same array, again and again. Exactly one of them must succeed, and its array must be stored.
pub(super) fn creates(scale: Scale) -> Result<Tally> {
    let folder = tempfile::tempdir()?;
    let folder = text(folder.path())?;
    let store = zarr::store::create(folder)?;
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
        let array = zarr::open((&store, &format!("/r{round}"))).array()?;
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

/// Kind of concurrent writers and their store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writers {
    Processes,
    Threads,
    ThreadsInMemory,
}

impl Writers {
    /// Returns the number of operations of each writer. Operations in memory are so short that few of them overlap, so that more are
    /// needed.
    pub(super) fn count(self, short: u64, long: u64, scale: Scale) -> u64 {
        if self == Self::ThreadsInMemory { long } else { scale.of(short, long) }
    }

    pub(super) const ALL: [(&str, Self); 3] =
        [("processes", Self::Processes), ("threads", Self::Threads), ("threads_in_memory", Self::ThreadsInMemory)];
}

/// Empty store for concurrent writers.
pub(super) struct Setup {
    writers: Writers,
    folder: TempDir,
    pub(super) store: Arc<dyn Store>,
}

impl Setup {
    pub(super) fn new(writers: Writers) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let store = match writers {
            Writers::ThreadsInMemory => zarr::store::create("memory:")?,
            _ => zarr::store::create(text(folder.path())?)?,
        };
        Ok(Self { writers, folder, store })
    }

    /// Starts all writers at the same time, and returns the log of each. Processes run `task`, threads run `work`.
    pub(super) fn at_once(
        &self,
        task: impl Fn(&str, &str) -> Vec<String>,
        work: impl Fn(u64, Report<'_>) -> Result<()> + Sync,
    ) -> Result<Vec<Vec<String>>> {
        if self.writers != Writers::Processes {
            return threads_at_once(&work);
        }
        let folder = text(self.folder.path())?;
        let start = |writer: u64| {
            let task = task(&writer.to_string(), folder);
            Child::start(&task.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let mut children = (0..WRITERS).map(start).collect::<Result<Vec<_>>>()?;
        children.iter_mut().try_for_each(Child::go)?;
        children.into_iter().map(Child::finish).collect()
    }
}

fn threads_at_once(work: &(impl Fn(u64, Report<'_>) -> Result<()> + Sync)) -> Result<Vec<Vec<String>>> {
    let barrier = Barrier::new(WRITERS as usize);
    let write = |writer| {
        let log = Mutex::new(Vec::new());
        let report = |number: u64, done: Result<()>| {
            let line = done.map_or_else(|error| format!("refused {error}"), |()| format!("ok {number}"));
            log.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        };
        barrier.wait();
        work(writer, &report)?;
        Ok(log.into_inner().unwrap_or_else(PoisonError::into_inner))
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let write = &write;
                scope.spawn(move || write(writer))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked")?).collect()
    })
}

/// Returns the arguments of a task.
pub(super) fn task(name: &str, folder: &str, more: &[&str]) -> Vec<String> {
    [name, folder].iter().chain(more).map(|&word| word.to_owned()).collect()
}

/// Adds the operations in a log to the tally, and returns the numbers of the acknowledged ones.
pub(super) fn tally_log(tally: &mut Tally, what: &'static str, log: &[String]) -> Vec<u64> {
    let acknowledged = acknowledged(log);
    tally.done(what, acknowledged.len() as u64);
    refused(log).for_each(|error| tally.fault("errors", || error.to_owned()));
    acknowledged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_parts_are_counted_apart_from_uncertain_ones() {
        // Two writers with shares of three elements; the first wrote seven times.
        let mut elements = vec![0; 6];
        for acknowledged in 0..7 {
            assert_eq!(lost_parts(&elements, 0, 2, acknowledged), 0);
            elements[acknowledged as usize % 3] = acknowledged as i32 + 1;
            // The newest one may not have been acknowledged.
            assert_eq!(lost_parts(&elements, 0, 2, acknowledged), 0);
        }
        assert_eq!(elements, [7, 5, 6, 0, 0, 0]);
        assert_eq!(lost_parts(&elements, 0, 2, 7), 0);
        assert_eq!(lost_parts(&[7, 2, 6, 0, 0, 0], 0, 2, 7), 1);
        assert_eq!(lost_parts(&[4, 2, 3, 0, 0, 0], 0, 2, 7), 3);
        assert_eq!(lost_parts(&elements, 1, 2, 0), 0);
        assert_eq!(lost_parts(&elements, 1, 2, 1), 1);
    }

    #[test]
    fn lost_changes_are_counted_apart_from_uncertain_ones() {
        let lost = |pairs: &[(u64, u64)], acknowledged: &[u64]| {
            let attributes = pairs.iter().map(|&(name, value)| (attribute(0, name), value.into())).collect();
            let mut tally = Tally::default();
            lost_attributes(&mut tally, &attributes, 0, acknowledged);
            tally.faults()
        };
        let all: Vec<u64> = (0..126).collect();
        let mut pairs: Vec<(u64, u64)> = (1..126).map(|number| (number, number)).collect();
        assert_eq!(lost(&pairs, &all), 0);
        // Change 126, which sets the attribute that change 1 had set.
        pairs[0].1 = 126;
        assert_eq!(lost(&pairs, &all), 0);
        pairs[1].1 = 127;
        assert_eq!(lost(&pairs, &all), 1);
        assert_eq!(lost(&[], &[0, 1]), 2);
    }
}
