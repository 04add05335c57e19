//! Rows that several writers append to one array: each acknowledged row must occur once, and every row within the shape must be complete.

use super::child::{Child, acknowledged};
use super::updates::{self, Report, Setup, WRITERS, Writers, tally_log, task};
use super::{Result, Scale, Tally, text};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use zarr::codec::View;
use zarr::{NewArray, Store};

/// Number of elements of a row: its writer and its number, and both again, so that a part of another row is detected.
const ROW: usize = 4;

fn row(writer: u64, number: u64) -> [i64; ROW] {
    let (writer, number) = (writer as i64, number as i64);
    [writer, number, writer.wrapping_mul(1_000_000).wrapping_add(number), !number]
}

/// Returns the complete row that has the first two elements of `found`.
fn own_row(found: &[i64; ROW]) -> [i64; ROW] {
    row(found[0] as u64, found[1] as u64)
}

/// Returns the description of the array to which rows are appended.
pub(super) fn new_rows() -> Result<NewArray> {
    Ok(NewArray::new(&[0, ROW as u64], "int64").chunks(&[16, ROW as u64]).fill(-1).codecs("bytes")?)
}

/// Appends rows to one array. Writers with even numbers open the array once, the others for each row.
pub(super) fn append_rows(store: &Arc<dyn Store>, writer: u64, numbers: Range<u64>, report: Report<'_>) -> Result<()> {
    let mut array = zarr::open((store, "/rows")).array()?;
    let mut append = |number: u64| -> Result<()> {
        if writer % 2 == 1 {
            array = zarr::open((store, "/rows")).array()?;
        }
        let bytes: Vec<u8> = row(writer, number).iter().flat_map(|element| element.to_ne_bytes()).collect();
        Ok(array.append(0, View::new(&bytes, 8, &[1, ROW])?)?)
    };
    numbers.for_each(|number| report(number, append(number)));
    Ok(())
}

/// Checks concurrent appends of rows to one array.
pub(super) fn appends(writers: Writers, scale: Scale) -> Result<Tally> {
    let (setup, count) = (Setup::new(writers)?, writers.count(10, 100, scale));
    zarr::create((&setup.store, "/rows")).array(new_rows()?)?;
    let end = count.to_string();
    let logs = setup.at_once(
        |writer, folder| task("append", folder, &[writer, "0", &end]),
        |writer, report| append_rows(&setup.store, writer, 0..count, report),
    )?;
    let mut tally = Tally::default();
    let acknowledged: Vec<_> = logs.iter().map(|log| tally_log(&mut tally, "rows", log)).collect();
    check_rows(&mut tally, &setup.store, &acknowledged, 0)?;
    Ok(tally)
}

/// Checks changes of attributes of an array to which other writers append.
pub(super) fn appends_beside_attributes(scale: Scale) -> Result<Tally> {
    let (setup, count) = (Setup::new(Writers::Processes)?, scale.of(10, 100));
    zarr::create((&setup.store, "/rows")).array(new_rows()?)?;
    let end = count.to_string();
    let appends = |writer: u64| writer < WRITERS / 2;
    let logs = setup.at_once(
        |writer, folder| match writer.parse() {
            Ok(number) if appends(number) => task("append", folder, &[writer, "0", &end]),
            _ => task("attributes", folder, &["/rows", writer, "0", &end]),
        },
        |writer, report| append_rows(&setup.store, writer, 0..count, report),
    )?;
    let mut tally = Tally::default();
    let mut rows = Vec::new();
    let array = zarr::open((&setup.store, "/rows")).array()?;
    for (writer, log) in (0..).zip(&logs) {
        if appends(writer) {
            rows.push(tally_log(&mut tally, "rows", log));
        } else {
            let changed = tally_log(&mut tally, "changes", log);
            updates::lost_attributes(&mut tally, array.attributes()?, writer, &changed);
        }
    }
    check_rows(&mut tally, &setup.store, &rows, 0)?;
    Ok(tally)
}

/// Reads an array to which a process appends. Every row within the shape must be complete.
pub(super) fn reader_beside_appends(scale: Scale) -> Result<Tally> {
    let folder = tempfile::tempdir()?;
    let address = text(folder.path())?;
    let store = zarr::store::create(address)?;
    zarr::create((&store, "/rows")).array(new_rows()?)?;
    let mut writer = Child::start(&["append", address, "1", "0", &u64::MAX.to_string()])?;
    writer.go()?;
    let mut lines: Vec<String> = writer.line()?.into_iter().collect();
    let mut tally = Tally::default();
    for _ in 0..scale.of(300, 10_000) {
        lines.extend(writer.lines_so_far());
        let before = acknowledged(&lines).len();
        let found = zarr::open((&store, "/rows")).array().and_then(|array| {
            // Only the last rows may be missing.
            let rows = array.shape().first().copied().unwrap_or_default();
            Ok((rows, array.read::<i64>((rows.saturating_sub(40).., ..))?))
        });
        tally.done("reads", 1);
        match found {
            Err(error) => tally.fault("errors", || error.to_string()),
            Ok((rows, found)) => {
                if rows < before as u64 {
                    tally.fault("rows lost", || format!("{rows} rows after {before} were acknowledged"));
                }
                for found in found.as_chunks::<ROW>().0.iter().filter(|found| **found != own_row(found)) {
                    tally.fault("rows that are not there yet", || format!("{found:?} among the last of {rows}"));
                }
            }
        }
    }
    Ok(tally)
}

/// Checks that each acknowledged row occurs once, and that there are at most `more` other rows.
pub(super) fn check_rows(
    tally: &mut Tally,
    store: &Arc<dyn Store>,
    acknowledged: &[Vec<u64>],
    more: u64,
) -> Result<()> {
    let found = zarr::open((store, "/rows")).array()?.read::<i64>(..)?;
    let mut times: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for (position, found) in found.as_chunks::<ROW>().0.iter().enumerate() {
        if *found == own_row(found) {
            *times.entry((found[0] as u64, found[1] as u64)).or_default() += 1;
        } else {
            tally.fault("rows of nobody", || format!("row {position}: {found:?}"));
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
