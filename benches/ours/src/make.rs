//! Makes the data that is read and written.

use crate::cases::{Case, Sizes, cases, listed_array};
use crate::datasets;
use crate::kinds::KINDS;
use crate::library::Ours;
use crate::noise::Noise;
use crate::tables;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use zarr_bench_protocol::{Failure, Library};

/// Random boxes of one kind.
const BOXES: usize = 400;

/// Makes the missing files below `directory`: `raw/NAME.bin`, `NAME.zarr`, `empty/NAME.zarr` (metadata alone),
/// `subsets/NAME`.
pub(crate) fn make(directory: &Path, small: bool) -> Result<(), Failure> {
    let sizes = Sizes::new(small);
    let raw = |name: &str, write: Content<'_>| raw_file(&directory.join("raw"), name, write).map(drop);
    raw("u16_big", &|out| ramps(sizes.big, out))?;
    raw("u16_mid", &|out| microscope(sizes.mid, out))?;
    raw("f32_mid", &|out| temperature(sizes.float, out))?;
    raw("f32_sparse", &|out| sparse(sizes.sheet, out))?;
    raw("u16_tiny", &|out| hashes(sizes.tiny.iter().product(), out))?;
    for (kind, seed) in KINDS.iter().zip(11..) {
        raw(kind.name, &|out| {
            let mut elements = Vec::new();
            (kind.raw)(&mut Noise::new(seed), kind.count(small), &mut elements);
            Ok(out.write_all(&elements)?)
        })?;
    }
    for case in cases(&sizes).into_iter().chain(KINDS.iter().map(|kind| kind.case(small))) {
        let empty = directory.join("empty").join(format!("{}.zarr", case.name));
        fs::create_dir_all(&empty)?;
        fs::write(empty.join(case.document), &case.metadata)?;
        if let Some(raw) = case.raw {
            let raw = directory.join("raw").join(format!("{raw}.bin"));
            once(&directory.join(format!("{}.zarr", case.name)), |path| fill(&case, path, &raw))?;
        }
    }
    once(&directory.join("vcf.zarr"), |path| tables::genotypes(path, small))?;
    once(&directory.join("anndata.zarr"), |path| tables::cells(path, small))?;
    once(&directory.join("DW.zarr"), datasets::wide)?;
    once(&directory.join("DZ.zarr"), |path| datasets::masked(path, small, "zstd(3)"))?;
    once(&directory.join("DR.zarr"), |path| datasets::masked(path, small, "bytes"))?;
    let climate = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data/climate.zarr");
    once(&directory.join("DC.zarr"), |path| copy(&climate, path))?;
    once(&directory.join("L.zarr"), |path| hierarchy(path, false))?;
    once(&directory.join("LC.zarr"), |path| hierarchy(path, true))?;
    fs::create_dir_all(directory.join("subsets"))?;
    let mut noise = Noise::new(7);
    let mut subsets = |name: &str, count: usize, shape: [u64; 3], len: [u64; 3]| -> Result<(), Failure> {
        let mut text = String::new();
        for _ in 0..count {
            let start = [0, 1, 2].map(|axis| noise.below(shape[axis] - len[axis] + 1));
            text += &start.iter().chain(&len).map(u64::to_string).collect::<Vec<_>>().join(" ");
            text += "\n";
        }
        Ok(fs::write(directory.join("subsets").join(name), text)?)
    };
    subsets("row", BOXES, sizes.big, [1, 1, sizes.big[2]])?;
    subsets("cube", BOXES, sizes.big, [16; 3])?;
    subsets("kb", 50, sizes.partial, [100; 3])?;
    subsets("ks", 50, sizes.partial, [50; 3])
}

/// Writes the content of a file.
pub(crate) type Content<'c> = &'c dyn Fn(&mut dyn Write) -> Result<(), Failure>;

/// Makes the file of this name with raw data in a directory, if it is not there. Returns its path.
pub(crate) fn raw_file(directory: &Path, name: &str, write: Content<'_>) -> Result<PathBuf, Failure> {
    fs::create_dir_all(directory)?;
    let path = directory.join(format!("{name}.bin"));
    once(&path, |path| {
        let mut file = BufWriter::new(fs::File::create(path)?);
        write(&mut file)?;
        Ok(file.flush()?)
    })?;
    Ok(path)
}

/// Makes `path`, if it is not there, under another name first: a file of this name is complete.
pub(crate) fn once(path: &Path, make: impl FnOnce(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
    if path.exists() {
        return Ok(());
    }
    println!("making {}", path.display());
    let unfinished = path.with_extension("unfinished");
    if unfinished.is_dir() {
        fs::remove_dir_all(&unfinished)?;
    }
    make(&unfinished)?;
    Ok(fs::rename(&unfinished, path)?)
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn fill(case: &Case, path: &Path, raw: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path)?;
    fs::write(path.join(case.document), &case.metadata)?;
    let array = Ours.open(path)?;
    let mut raw = fs::read(raw)?;
    if !array.data_type().is_variable() {
        let size = array.shape().iter().product::<u64>() as usize * Ours.item_size(&array);
        if raw.len() < size {
            return Err("too little raw data".into());
        }
        raw.truncate(size);
    }
    Ours.write_all(&array, &Ours.input(&array, raw)?)
}

/// The data of the benchmarks at <https://github.com/LDeakin/zarr_benchmarks>: ramps along the last axis.
fn ramps(shape: [u64; 3], out: &mut dyn Write) -> Result<(), Failure> {
    for z in 0..shape[0] {
        for y in 0..shape[1] {
            let first = y as f64 * y as f64 / 32.0 + (z * z * z) as f64;
            let row = (0..shape[2]).flat_map(|x| (((x as f64 + first) % 65536.0) as u16).to_le_bytes());
            out.write_all(&row.collect::<Vec<u8>>())?;
        }
    }
    Ok(())
}

/// Positions along an axis, from 0 to 1.
fn unit(at: u64, len: u64) -> f32 {
    at as f32 / (len - 1) as f32
}

/// A smooth field with the noise of a camera.
fn microscope(shape: [u64; 3], out: &mut dyn Write) -> Result<(), Failure> {
    let mut noise = Noise::new(1);
    for z in (0..shape[0]).map(|z| unit(z, shape[0])) {
        for y in (0..shape[1]).map(|y| unit(y, shape[1])) {
            let wave = 600.0 * (6.0 * y + 5.0 * z).sin();
            let mut row = Vec::new();
            for pair in 0..shape[2] / 2 {
                for (x, noise) in [2 * pair, 2 * pair + 1].into_iter().zip(noise.normal()) {
                    let smooth = 800.0 + wave * (9.0 * unit(x, shape[2]) - 3.0 * z).cos();
                    row.extend(((f64::from(smooth) + 6.0 * noise).clamp(0.0, 65535.0) as u16).to_le_bytes());
                }
            }
            out.write_all(&row)?;
        }
    }
    Ok(())
}

/// A smooth field of temperatures with noise, to a hundredth of a degree.
pub(crate) fn temperature(shape: [u64; 3], out: &mut dyn Write) -> Result<(), Failure> {
    let mut noise = Noise::new(2);
    for z in (0..shape[0]).map(|z| unit(z, shape[0])) {
        for y in (0..shape[1]).map(|y| unit(y, shape[1])) {
            let wave = 20.0 * (7.0 * y + 2.0 * z).sin();
            let mut row = Vec::new();
            for pair in 0..shape[2] / 2 {
                for (x, noise) in [2 * pair, 2 * pair + 1].into_iter().zip(noise.normal()) {
                    let smooth = f64::from(288.0 + wave * (5.0 * unit(x, shape[2]) + z).cos());
                    row.extend((((smooth + 0.05 * noise) * 100.0).round() as f32 / 100.0).to_le_bytes());
                }
            }
            out.write_all(&row)?;
        }
    }
    Ok(())
}

/// Zeros, but for one in a hundred squares of 256 elements.
fn sparse(shape: [u64; 2], out: &mut dyn Write) -> Result<(), Failure> {
    const SQUARE: u64 = 256;
    for y in 0..shape[0] {
        let element = |x: u64| {
            let square = y / SQUARE * shape[1].div_ceil(SQUARE) + x / SQUARE;
            if square % 100 == 50 { (x % 1000) as f32 + 0.5 } else { 0.0 }
        };
        out.write_all(&(0..shape[1]).flat_map(|x| element(x).to_le_bytes()).collect::<Vec<u8>>())?;
    }
    Ok(())
}

/// Numbers without a pattern that a codec could use (Knuth's multiplicative hashing).
fn hashes(count: u64, out: &mut dyn Write) -> Result<(), Failure> {
    for number in 0..count {
        out.write_all(&(((number as u32).wrapping_mul(2_654_435_761) >> 7) as u16).to_le_bytes())?;
    }
    Ok(())
}

/// 20 groups of 100 arrays each, without chunks.
fn hierarchy(path: &Path, consolidated: bool) -> Result<(), Failure> {
    let (group, array) = (r#"{"zarr_format":3,"node_type":"group","attributes":{}}"#, listed_array());
    let mut nodes = Vec::new();
    for group_number in 0..20 {
        let name = format!("g{group_number:02}");
        nodes.push((name.clone(), group));
        nodes.extend((0..100).map(|number| (format!("{name}/a{number:03}"), array.as_str())));
    }
    for (name, metadata) in &nodes {
        fs::create_dir_all(path.join(name))?;
        fs::write(path.join(name).join("zarr.json"), metadata)?;
    }
    let root = if consolidated {
        let members: Vec<_> = nodes.iter().map(|(name, metadata)| format!("\"{name}\":{metadata}")).collect();
        let begin = group.strip_suffix('}').unwrap_or_default();
        format!(
            "{begin},\"consolidated_metadata\":{{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{{{}}}}}}}",
            members.join(",")
        )
    } else {
        group.to_owned()
    };
    Ok(fs::write(path.join("zarr.json"), root)?)
}
