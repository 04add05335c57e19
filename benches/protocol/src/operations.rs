//! The operations that are measured.

use crate::measure::{Times, check_sum, number, peak_memory, touched};
use crate::{Failure, Files, Library, Subset};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The measurements of one process.
#[derive(Debug)]
pub struct Outcome {
    times: Times,
    bytes: u64,
    peak: u64,
    check: u64,
    /// Further numbers, by name.
    more: Vec<(&'static str, f64)>,
}

impl Outcome {
    fn new(times: Times, bytes: u64) -> Result<Self, Failure> {
        Ok(Self { times, bytes, peak: peak_memory()?, check: 0, more: Vec::new() })
    }

    /// With the last of these numbers in place of the wall times, one for each timed repetition: `numbers` has one for each
    /// repetition, timed or not.
    #[must_use]
    pub fn in_place_of_times(mut self, numbers: &[f64]) -> Self {
        let untimed = numbers.len().saturating_sub(self.times.wall.len());
        self.times.wall = numbers.iter().skip(untimed).copied().collect();
        self
    }

    /// With a further number.
    #[must_use]
    pub fn and(mut self, name: &'static str, number: f64) -> Self {
        self.more.push((name, number));
        self
    }

    /// Prints the line of the protocol.
    pub fn print(&self) {
        let Self { times, bytes, peak, check, more } = self;
        let more: String = more.iter().map(|(name, number)| format!(", \"{name}\": {number:?}")).collect();
        println!(
            "{{\"seconds\": {:?}, \"cpu\": {:?}, \"bytes\": {bytes}, \"peak_rss\": {peak}, \"check\": \"{check}\"{more}}}",
            times.wall, times.cpu,
        );
    }
}

/// Measures `body`, which returns the bytes of elements. Those of the repetition before are dropped before the next.
///
/// # Errors
/// The errors of `body`.
pub fn measure<E: AsRef<[u8]>>(mut body: impl FnMut() -> Result<E, Failure>) -> Result<Outcome, Failure> {
    let mut last = None;
    let forget = |last: &mut Option<E>| {
        *last = None;
        Ok(())
    };
    let times = Times::of(&mut last, forget, |last| {
        *last = Some(body()?);
        Ok(())
    })?;
    let elements = last.as_ref().map_or(&[][..], AsRef::as_ref);
    let outcome = Outcome::new(times, elements.len() as u64)?;
    Ok(Outcome { check: check_sum(elements), ..outcome })
}

/// Runs the operation that the arguments of the process name, and prints the measurements.
///
/// # Errors
/// The errors of the library, and wrong arguments.
pub fn run<L: Library>(library: &L) -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [_, operation, path] = arguments.as_slice() else { return Err("arguments: CASE OP PATH".into()) };
    let path = Path::new(path);
    if !library.offers(operation) {
        return unsupported();
    }
    let outcome = match operation.as_str() {
        "read_into" => read_into(library, &library.open(path)?),
        "mem_read" => read_into(library, &library.open_in_memory(files(path)?)?),
        "read" => read(library, &library.open(path)?),
        "read_all" => read_all(library, path),
        "open" => measure(|| library.open(path).map(|_| [])),
        "point" => point(library, path),
        "write" => write(library, path),
        "roundtrip" => copy(library, path),
        "rand" => random(library, &library.open(path)?),
        "rand_cached" => match library.open_cached(path)? {
            Some(array) => random(library, &array),
            None => return unsupported(),
        },
        "partial_write" => partial_write(library, path),
        "write_points" | "write_mask" => match scattered_write(library, path, operation == "write_mask")? {
            Some(outcome) => Ok(outcome),
            None => return unsupported(),
        },
        "list" => list(library, path),
        "append" => append(library, path),
        "append_rows" => append_rows(library, path),
        "ds_open" => match library.open_dataset(path)? {
            Some(count) => open_dataset(library, path, count),
            None => return unsupported(),
        },
        "ds_read" => match library.open_decoded(path)? {
            Some(array) => read(library, &array),
            None => return unsupported(),
        },
        "ds_stored" => read(library, &library.open(&path.join("v"))?),
        _ => return unsupported(),
    }?;
    outcome.print();
    Ok(())
}

fn unsupported() -> Result<(), Failure> {
    println!("{{\"unsupported\": true}}");
    Ok(())
}

fn nothing<S>(_: &mut S) -> Result<(), Failure> {
    Ok(())
}

fn open_dataset<L: Library>(library: &L, path: &Path, count: u64) -> Result<Outcome, Failure> {
    let times = Times::of(&mut (), nothing, |()| library.open_dataset(path).map(drop))?;
    let outcome = Outcome::new(times, 0)?;
    Ok(Outcome { check: count, ..outcome })
}

fn size<L: Library>(library: &L, array: &L::Array) -> u64 {
    library.shape(array).iter().product::<u64>() * library.item_size(array) as u64
}

fn whole<L: Library>(library: &L, array: &L::Array) -> Subset {
    let len = library.shape(array);
    Subset { start: vec![0; len.len()], len }
}

fn read_into<L: Library>(library: &L, array: &L::Array) -> Result<Outcome, Failure> {
    let bytes = size(library, array);
    let mut out = touched(usize::try_from(bytes)?)?;
    let times = Times::of(&mut out, nothing, |out| library.read_into(array, out))?;
    let outcome = Outcome::new(times, bytes)?;
    Ok(Outcome { check: check_sum(&out), ..outcome })
}

fn read<L: Library>(library: &L, array: &L::Array) -> Result<Outcome, Failure> {
    let subset = whole(library, array);
    measure(|| library.read(array, &subset))
}

/// Opens an array, and reads the element in its middle.
fn point<L: Library>(library: &L, path: &Path) -> Result<Outcome, Failure> {
    measure(|| {
        let array = library.open(path)?;
        let start: Vec<u64> = library.shape(&array).iter().map(|len| len / 2).collect();
        let element = library.read(&array, &Subset { len: vec![1; start.len()], start })?;
        // As many bytes as sums are made of.
        let mut word = [0; 8];
        word.iter_mut().zip(element.as_ref()).for_each(|(byte, &found)| *byte = found);
        Ok(word)
    })
}

/// Opens all arrays of a hierarchy of Zarr v2, and reads them one after another.
fn read_all<L: Library>(library: &L, path: &Path) -> Result<Outcome, Failure> {
    let names = files(path)?.into_iter();
    let mut names: Vec<_> = names.filter_map(|(name, _)| Some(name.strip_suffix("/.zarray")?.to_owned())).collect();
    names.sort();
    let mut all = Vec::new();
    let forget = |all: &mut Vec<L::Elements>| {
        all.clear();
        Ok(())
    };
    let times = Times::of(&mut all, forget, |all| {
        for array in library.open_members(path, &names)? {
            all.push(library.read(&array, &whole(library, &array))?);
        }
        Ok(())
    })?;
    let bytes = all.iter().map(|elements| elements.as_ref().len() as u64).sum();
    let check = all.iter().fold(0_u64, |sum, elements| sum.wrapping_add(check_sum(elements.as_ref())));
    Ok(Outcome { check, ..Outcome::new(times, bytes)? })
}

fn write<L: Library>(library: &L, path: &Path) -> Result<Outcome, Failure> {
    let raw = fs::read(std::env::var("BENCH_RAW")?)?;
    let bytes = raw.len() as u64;
    let elements = library.input(&library.open(path)?, raw)?;
    let times = Times::of(
        &mut (),
        |()| erase_chunks(path),
        |()| {
            let array = library.open(path)?;
            library.write_all(&array, &elements)
        },
    )?;
    Outcome::new(times, bytes)
}

/// Everything decoded and encoded again, one row of chunks at a time.
fn copy<L: Library>(library: &L, path: &Path) -> Result<Outcome, Failure> {
    let target = PathBuf::from(std::env::var("BENCH_OUT")?);
    let mut bytes = 0;
    let times = Times::of(
        &mut bytes,
        |_| erase_chunks(&target),
        |bytes| {
            let (from, to) = (library.open(path)?, library.open(&target)?);
            *bytes = size(library, &from);
            let (all, chunk) = (library.shape(&from), library.chunk_shape(&from));
            let mut subset = whole(library, &from);
            for start in (0..all[0]).step_by(usize::try_from(chunk[0])?) {
                (subset.start[0], subset.len[0]) = (start, chunk[0].min(all[0] - start));
                let elements = library.read(&from, &subset)?;
                library.write(&to, &subset, elements.as_ref())?;
            }
            Ok(())
        },
    )?;
    Outcome::new(times, bytes)
}

fn random<L: Library>(library: &L, array: &L::Array) -> Result<Outcome, Failure> {
    let subsets = subsets()?;
    let mut state = (Vec::new(), 0u64, 0u64);
    let mut times = Times::of(
        &mut state,
        |state| {
            *state = (Vec::new(), 0, 0);
            Ok(())
        },
        |(latencies, bytes, check)| {
            for subset in &subsets {
                let start = Instant::now();
                let elements = library.read(array, subset)?;
                latencies.push(start.elapsed().as_secs_f64());
                *bytes += elements.as_ref().len() as u64;
                *check = check.wrapping_add(check_sum(elements.as_ref()));
            }
            Ok(())
        },
    )?;
    let (mut latencies, bytes, check) = state;
    // Without the sums.
    if let Some(last) = times.wall.last_mut() {
        *last = latencies.iter().sum();
    }
    latencies.sort_by(f64::total_cmp);
    let percentile = |share: usize| latencies.get(latencies.len() * share / 100).map_or(0.0, |time| time * 1e6);
    let outcome = Outcome::new(times, bytes)?.and("p50_us", percentile(50)).and("p99_us", percentile(99));
    Ok(Outcome { check, ..outcome })
}

fn partial_write<L: Library>(library: &L, path: &Path) -> Result<Outcome, Failure> {
    let array = library.open(path)?;
    let item = library.item_size(&array);
    let subsets = subsets()?;
    let data = |number: usize, subset: &Subset| -> Vec<u8> {
        let len = subset.len.iter().product::<u64>() as usize * item;
        (0..len).map(|index| ((index / 2 + number) & 0x3f) as u8).collect()
    };
    let data: Vec<_> = subsets.iter().enumerate().map(|(number, subset)| data(number, subset)).collect();
    let write =
        |()| subsets.iter().zip(&data).try_for_each(|(subset, elements)| library.write(&array, subset, elements));
    let times = Times::of(&mut (), nothing, |_| write(()))?;
    Outcome::new(times, data.iter().map(|elements| elements.len() as u64).sum())
}

/// Single elements of an array of two axes of float32, at random: 10,000 points, or a mask of an eighth of all. What is written to a
/// position depends on it alone, so that it does not matter which of two values for one position stays.
fn scattered_write<L: Library>(library: &L, path: &Path, as_mask: bool) -> Result<Option<Outcome>, Failure> {
    const POINTS: u64 = 10_000;
    let array = library.open(path)?;
    let shape = library.shape(&array);
    let [rows, columns] = shape[..] else { return Err(format!("an array of shape {shape:?}").into()) };
    let mask: Vec<bool> =
        if as_mask { (0..rows * columns).map(|at| mixed(at).is_multiple_of(8)).collect() } else { Vec::new() };
    let positions: Vec<u64> = match as_mask {
        true => (0..).zip(&mask).filter_map(|(at, &taken)| taken.then_some(at)).collect(),
        false => (0..POINTS).map(|number| mixed(number) % (rows * columns)).collect(),
    };
    let coordinates = [
        positions.iter().map(|at| (at / columns) as i64).collect::<Vec<_>>(),
        positions.iter().map(|at| (at % columns) as i64).collect::<Vec<_>>(),
    ];
    let elements: Vec<u8> = positions.iter().flat_map(|at| ((at % 1000) as f32).to_ne_bytes()).collect();
    let mut done = Some(());
    let times = Times::of(&mut done, nothing, |done| {
        *done = match as_mask {
            true => library.write_mask(&array, &mask, &elements)?,
            false => library.write_points(&array, &coordinates, &elements)?,
        };
        Ok(())
    })?;
    if done.is_none() {
        return Ok(None);
    }
    let outcome = Outcome::new(times, elements.len() as u64)?;
    let check = check_sum(library.read(&array, &whole(library, &array))?.as_ref());
    Ok(Some(Outcome { check, ..outcome }))
}

/// A number without a pattern (the finalizer of SplitMix64).
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

fn list<L: Library>(library: &L, path: &Path) -> Result<Outcome, Failure> {
    let mut count = 0;
    let times = Times::of(&mut count, nothing, |count| {
        *count = library.list(path)?;
        Ok(())
    })?;
    Ok(Outcome { check: count, ..Outcome::new(times, 0)? })
}

/// Appends 1,000 rows of an array of two axes, one after another.
fn append_rows<L: Library>(library: &L, path: &Path) -> Result<Outcome, Failure> {
    const ROWS: u64 = 1000;
    let array = library.open(path)?;
    let columns = library.shape(&array)[1];
    let row: Vec<u8> = (0..columns as usize * library.item_size(&array)).map(|index| (index & 0x3f) as u8).collect();
    let before = |_: &mut ()| {
        erase_chunks(path)?;
        library.resize(&mut library.open(path)?, &[0, columns])
    };
    let times = Times::of(&mut (), before, |()| library.append_rows(path, &row, ROWS))?;
    let array = library.open(path)?;
    let check = check_sum(library.read(&array, &whole(library, &array))?.as_ref());
    Ok(Outcome { check, ..Outcome::new(times, row.len() as u64 * ROWS)? })
}

/// Grows an array by one row of chunks and writes that, many times.
fn append<L: Library>(library: &L, path: &Path) -> Result<Outcome, Failure> {
    let times = number("BENCH_APPENDS", 64) as u64;
    let array = library.open(path)?;
    let (mut shape, rows) = (library.shape(&array), library.chunk_shape(&array)[0]);
    shape[0] = rows;
    let len = shape.iter().product::<u64>() as usize * library.item_size(&array);
    let data: Vec<u8> = (0..len).map(|index| (index & 0x3f) as u8).collect();
    let measured = Times::of(
        &mut (),
        |()| {
            erase_chunks(path)?;
            let mut empty = shape.clone();
            empty[0] = 0;
            library.resize(&mut library.open(path)?, &empty)
        },
        |()| {
            let mut array = library.open(path)?;
            let mut grown = shape.clone();
            let mut subset = Subset { start: vec![0; shape.len()], len: shape.clone() };
            for number in 0..times {
                grown[0] = (number + 1) * rows;
                subset.start[0] = number * rows;
                library.resize(&mut array, &grown)?;
                library.write(&array, &subset, &data)?;
            }
            Ok(())
        },
    )?;
    Outcome::new(measured, len as u64 * times)
}

fn subsets() -> Result<Vec<Subset>, Failure> {
    let text = fs::read_to_string(std::env::var("BENCH_SUBSETS")?)?;
    let parse = |line: &str| -> Result<Subset, Failure> {
        let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
        let (start, len) = numbers.split_at(numbers.len() / 2);
        Ok(Subset { start: start.to_vec(), len: len.to_vec() })
    };
    text.lines().map(parse).collect()
}

/// Removes everything but metadata.
fn erase_chunks(directory: &Path) -> Result<(), Failure> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else if ![".zarray", ".zattrs", "zarr.json"].map(Into::into).contains(&entry.file_name()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn files(root: &Path) -> Result<Files, Failure> {
    let mut files = Files::new();
    let mut todo = vec![root.to_owned()];
    while let Some(directory) = todo.pop() {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.is_dir() {
                todo.push(path);
            } else {
                let name = path.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
                files.push((name, fs::read(&path)?));
            }
        }
    }
    Ok(files)
}
