//! Partial writes by processes to stores that are no directories: buckets, and database files.

use super::child::Child;
use super::updates::{WRITERS, tally_log};
use super::{Result, Scale, Tally, text};
use zarr::NewArray;
use zarr::store::StoreOptions;
use zarr_testserver::{Bucket, TestServer};

/// Name of the task of a worker that writes. Its arguments begin with the address of the store, and the options as lines `name=value`.
pub(super) const TASK: &str = "part_in";

/// Runs eight processes that each write `each` elements of one chunk, one at a time. Acknowledged elements that are missing at the end are
/// faults.
///
/// # Errors
/// If the array cannot be created or read, or a process fails.
pub fn partial_writes_in(address: &str, options: &[(String, String)], each: u64) -> Result<Tally> {
    let lines: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let lines = lines.join("\n");
    let store = zarr::store::create_with(address, &parse(&lines)?)?;
    let new = NewArray::new(&[WRITERS * each], "int32").chunks(&[WRITERS * each]).codecs("bytes")?;
    let array = zarr::create((&store, "/a")).array(new.overwrite(true))?;
    let (writers, end) = (WRITERS.to_string(), each.to_string());
    let start = |writer: u64| Child::start(&[TASK, address, &lines, &writer.to_string(), &writers, "0", &end]);
    let mut children = (0..WRITERS).map(start).collect::<Result<Vec<_>>>()?;
    children.iter_mut().try_for_each(Child::go)?;
    let logs = children.into_iter().map(Child::finish).collect::<Result<Vec<_>>>()?;
    let elements = array.read::<i32>(..)?;
    let mut tally = Tally::default();
    for (log, share) in logs.iter().zip(elements.chunks(each as usize)) {
        for number in tally_log(&mut tally, "writes", log) {
            if share.get(number as usize).is_none_or(|&found| i64::from(found) != number as i64 + 1) {
                tally.fault(LOST, || format!("write {number} of a process"));
            }
        }
    }
    Ok(tally)
}

const LOST: &str = "writes lost";

/// Parses options from lines `name=value`.
pub(super) fn parse(lines: &str) -> Result<StoreOptions> {
    lines.lines().try_fold(StoreOptions::new(), |options, line| {
        let (name, value) = line.split_once('=').ok_or("an option without a value")?;
        Ok(options.set(name, value))
    })
}

fn bucket() -> Result<(TestServer, Vec<(String, String)>)> {
    let server = TestServer::builder().bucket("data", Bucket::s3().public()).start()?;
    let options = [("anonymous", "true".to_owned()), ("endpoint", server.url())];
    Ok((server, options.map(|(name, value)| (name.to_owned(), value)).to_vec()))
}

pub(super) fn in_a_bucket(scale: Scale) -> Result<Tally> {
    let (_server, options) = bucket()?;
    partial_writes_in("s3://data/x.zarr", &options, scale.of(15, 1000))
}

/// Checks that the same writes without conditions lose some elements, which shows that the processes collide.
pub(super) fn without_conditions(scale: Scale) -> Result<Tally> {
    let (_server, mut options) = bucket()?;
    options.push(("conditional_put".to_owned(), "disabled".to_owned()));
    let written = partial_writes_in("s3://data/x.zarr", &options, scale.of(40, 1000))?;
    let mut tally = Tally::default();
    tally.done("writes lost, as they may be", written.faults_of(LOST));
    if written.faults() != written.faults_of(LOST) || written.faults() == 0 {
        tally.fault("results other than lost writes", || written.to_string());
    }
    Ok(tally)
}

pub(super) fn in_a_database(scale: Scale) -> Result<Tally> {
    let folder = tempfile::tempdir()?;
    let address = format!("sqlite:{}", text(&folder.path().join("x.sqlite"))?);
    partial_writes_in(&address, &[], scale.of(10, 1000))
}
