//! Reads of chunks and shards that another process replaces. A read must return, for each chunk or shard, elements of a single written
//! state.

use super::child::{Child, acknowledged};
use super::report::{report, say};
use super::{Result, Scale, Tally, folder_in_memory, text};
use crate::Random;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zarr::grid::AxisSelection;
use zarr::{Array, NewArray, Selection, Store};

/// Path of the array.
pub(super) const PATH: &str = "/alternating";

/// Least time for which the writer runs: on a busy machine it may not have begun before the reads are done.
const TIME: Duration = Duration::from_millis(200);

/// Number of parts of a chunk, which are its inner chunks if it is a shard.
const PARTS: usize = 64;

/// Number of chunks of the array. A read may touch several.
const CHUNKS: usize = 2;

/// Number of states of a chunk, which follow each other.
const STATES: u64 = 8;

/// Array that is read while another process writes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    codecs: &'static str,
    sharded: bool,
    /// Number of elements of a part.
    part: usize,
}

/// Cases: inner chunks of a few hundred bytes, and chunks that are read in several pieces.
pub(super) const CASES: [Case; 6] = [
    Case { name: "uncompressed", codecs: "bytes", sharded: false, part: 5 << 10 },
    Case { name: "blosc", codecs: "blosc", sharded: false, part: 3 << 10 },
    Case { name: "zstd", codecs: "zstd", sharded: false, part: 1 << 10 },
    Case { name: "uncompressed_shards", codecs: "bytes", sharded: true, part: 128 },
    Case { name: "blosc_shards", codecs: "blosc", sharded: true, part: 128 },
    Case { name: "zstd_shards", codecs: "zstd", sharded: true, part: 500 },
];

/// Returns the elements of a chunk in a state. Each part is encoded to the same number of bytes, since its elements do not compress. In
/// some states, some parts have only fill values, so that a shard does not store them; in one state all parts do, and there is no chunk.
fn state(number: u64, len: usize) -> Vec<i32> {
    let part = len / PARTS;
    let is_there = |index: usize| match number % STATES {
        1 => index.is_multiple_of(2),
        3 => index >= PARTS / 2,
        5 => index.is_multiple_of(3),
        7 => false,
        _ => true,
    };
    let mut random = Random::new(number % STATES);
    (0..len).map(|element| if is_there(element / part) { random.number() as i32 | 1 } else { 0 }).collect()
}

impl Case {
    fn chunk(self) -> usize {
        PARTS * self.part
    }

    /// Creates the array, at `/alternating`.
    pub(super) fn create(self, store: &Arc<dyn Store>) -> Result<Array> {
        let (part, chunk) = (self.part as u64, self.chunk() as u64);
        let new = NewArray::new(&[CHUNKS as u64 * chunk], "int32").codecs(self.codecs)?;
        let new = if self.sharded { new.chunks(&[part]).shards(&[chunk]) } else { new.chunks(&[chunk]) };
        let array = zarr::create((store, PATH)).array(new)?;
        self.write(&array)?;
        Ok(array)
    }

    /// Writes the first state.
    pub(super) fn write(self, array: &Array) -> Result<()> {
        Ok(array.write(.., &state(0, self.chunk()).repeat(CHUNKS))?)
    }
}

/// Writes the states of all chunks one after the other, forever.
pub(super) fn alternate(store: &Arc<dyn Store>) -> Result<()> {
    let array = zarr::open((store, PATH)).array()?;
    let len = array.shape().first().map_or(0, |&len| len as usize) / CHUNKS;
    let states: Vec<Vec<i32>> = (0..STATES).map(|number| state(number, len).repeat(CHUNKS)).collect();
    for round in 0.. {
        states.iter().try_for_each(|state| array.write(.., state))?;
        say(&format!("ok {round}"));
    }
    Ok(())
}

/// Reads forever, and reports each read.
pub(super) fn read_alternating(store: &Arc<dyn Store>) -> Result<()> {
    let reader = Reader::new(zarr::open((store, PATH)).array()?);
    let mut random = Random::new(std::process::id().into());
    for number in 0.. {
        report(number, reader.read(&mut random).map_or(Ok(()), |(kind, fault)| Err(format!("{kind}: {fault}").into())));
    }
    Ok(())
}

/// Reads selections of all kinds while another process writes: on the disk, where processes wait during an operation, and in memory, where
/// the writer replaces more chunks in the same time.
pub(super) fn check(case: Case, scale: Scale) -> Result<Tally> {
    let mut tally = Tally::default();
    for folder in [tempfile::tempdir()?, folder_in_memory()?] {
        check_in(case, text(folder.path())?, scale.of(120, 10_000), &mut tally)?;
    }
    Ok(tally)
}

fn check_in(case: Case, folder: &str, reads: u64, tally: &mut Tally) -> Result<()> {
    let reader = Reader::new(case.create(&zarr::store::create(folder)?)?);
    let mut writer = Child::start(&["alternate", folder])?;
    writer.go()?;
    let first = writer.line()?;
    let mut random = Random::new(1);
    let begun = Instant::now();
    for read in 0.. {
        if read >= reads && begun.elapsed() > TIME {
            break;
        }
        tally.done("reads", 1);
        if let Some((kind, fault)) = reader.read(&mut random) {
            tally.fault(kind, || fault);
        }
    }
    let lines: Vec<String> = first.into_iter().chain(writer.kill()?).collect();
    tally.done("writes meanwhile", acknowledged(&lines).len() as u64 * STATES);
    match lines.iter().find(|line| line.starts_with("failed")) {
        None => Ok(()),
        Some(line) => Err(format!("the writer {line}").into()),
    }
}

/// Reader of an array, with all states that its chunks may have.
struct Reader {
    array: Array,
    states: Vec<Vec<i32>>,
}

impl Reader {
    fn new(array: Array) -> Self {
        let chunk = array.chunk_grid().largest_chunk_shape().first().map_or(0, |&len| len as usize);
        Self { array, states: (0..STATES).map(|number| state(number, chunk)).collect() }
    }

    /// Reads a part of the array, and checks that the elements of each chunk are of one state. Returns the kind of a fault, and its
    /// description; `None` if there is none.
    fn read(&self, random: &mut Random) -> Option<(&'static str, String)> {
        let chunk = self.states.first().map_or(0, Vec::len);
        let (len, part) = (chunk * CHUNKS, chunk / PARTS);
        let (from, to) = (random.below(len), random.below(len));
        let (from, to) = (from.min(to), from.max(to) + 1);
        let got = match random.below(7) {
            0 => self.read_range(0..len),
            1 => self.read_range(from..to),
            // Nearly all of a chunk.
            2 => self.read_range(random.below(part)..chunk - random.below(part)),
            3 => self.read_range(from..(from + 2 * part).min(len)),
            4 => self.read_range(from..from + 1),
            5 => {
                let step = 2 + random.below(part * 3);
                let axis = AxisSelection::Range { start: Some(from as i64), stop: Some(to as i64), step: step as i64 };
                self.read_positions((from..to).step_by(step).collect(), Selection::Axes(vec![axis]))
            }
            _ => {
                let positions: Vec<usize> = (0..8).map(|_| random.below(len)).collect();
                let list = positions.iter().map(|&index| index as i64).collect();
                self.read_positions(positions, Selection::coordinates(vec![list]))
            }
        };
        match got {
            Err(error) => Some(("errors", error.to_string())),
            Ok(fault) => fault.map(|fault| ("reads of elements that were never written", fault)),
        }
    }

    /// Reads a range. Returns a fault if a chunk has none of the states.
    fn read_range(&self, range: Range<usize>) -> zarr::Result<Option<String>> {
        let elements = self.array.read::<i32>(range.start as u64..range.end as u64)?;
        let chunk = self.states.first().map_or(0, Vec::len);
        let of_no_state = |number: &usize| {
            let met = range.start.max(number * chunk)..range.end.min((number + 1) * chunk);
            let found = elements.get(met.start.saturating_sub(range.start)..met.end.saturating_sub(range.start));
            let is = |state: &Vec<i32>| found == state.get(met.start - number * chunk..met.end - number * chunk);
            met.start < met.end && !self.states.iter().any(is)
        };
        let wrong = (0..CHUNKS).find(of_no_state);
        Ok(wrong.map(|number| format!("elements {range:?}, of chunk {number}")))
    }

    /// Reads elements at positions. Returns a fault if a chunk has none of the states.
    fn read_positions(&self, positions: Vec<usize>, selection: Selection) -> zarr::Result<Option<String>> {
        let elements = self.array.read::<i32>(selection)?;
        let chunk = self.states.first().map_or(0, Vec::len);
        let of_no_state = |number: &usize| {
            let of_chunk = || positions.iter().zip(&elements).filter(|(index, _)| *index / chunk == *number);
            let is = |state: &Vec<i32>| of_chunk().all(|(index, element)| state[index % chunk] == *element);
            !self.states.iter().any(is)
        };
        let wrong = (0..CHUNKS).find(of_no_state);
        Ok(wrong
            .map(|number| format!("{} elements from {:?} on, of chunk {number}", positions.len(), positions.first())))
    }
}
