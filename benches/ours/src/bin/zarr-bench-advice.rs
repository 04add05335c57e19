//! How good advice on layouts is: `zarr-bench-advice seconds` compares the seconds that are predicted for reads with those that the reads take,
//! on files and on a server with a latency of 50 ms; `zarr-bench-advice search` compares the first layout that is advised with all layouts
//! of a dense grid of shapes, for data sets of different kinds.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zarr::registry::Registry;
use zarr::stats::advise::{Access, Advice, AdviseOptions, Layout, LayoutCost, PLACES, Storage, Subject};
use zarr::store::{MemoryStore, StoreOptions};
use zarr::{Array, NewArray, Store};
use zarr_bench_protocol::Failure;
use zarr_testserver::{Bucket, TestServer};

/// Length of each of the three axes of the array whose reads are timed.
const LEN: u64 = 192;
/// Runs of each read, of which the median counts.
const RUNS: usize = 5;
/// Factor by which predicted and measured seconds may differ.
const CLOSE: f64 = 1.3;

fn main() -> Result<(), Failure> {
    match std::env::args().nth(1).as_deref() {
        Some("seconds") => seconds(),
        Some("search") => search(),
        other => Err(format!("found {other:?}, expected seconds or search").into()),
    }
}

/// Random numbers below 1, the same in each run.
fn random(state: &mut u64) -> f32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 40) as f32 / (1 << 24) as f32
}

/// Smooth waves with noise of a size.
fn waves(count: usize, noise: f32) -> Vec<f32> {
    let mut state = 3;
    (0..count)
        .map(|number| {
            let at = number as f32;
            280.0 + 20.0 * (at / 40_000.0).sin() + 5.0 * (at / 31.0).cos() + noise * random(&mut state)
        })
        .collect()
}

/// Compares predicted with measured seconds.
fn seconds() -> Result<(), Failure> {
    let folder = std::env::temp_dir().join(format!("zarr-bench-advice-{}", std::process::id()));
    let result = timed_in(&folder);
    let _ = std::fs::remove_dir_all(&folder);
    result
}

/// Name, chunks, shards and codecs of an array whose reads are timed.
type Timed = (&'static str, [u64; 3], Option<[u64; 3]>, &'static str);

fn timed_in(folder: &Path) -> Result<(), Failure> {
    let layouts: [Timed; 5] = [
        ("planes", [1, 192, 192], None, "zstd(1)"),
        ("cubes", [32, 32, 32], None, "zstd(1)"),
        ("series", [192, 16, 16], None, "blosc(lz4,5,shuffle)"),
        ("raw", [64, 64, 64], None, "none"),
        ("shards", [16, 48, 48], Some([96, 96, 96]), "zstd(1)"),
    ];
    let elements = waves((LEN * LEN * LEN) as usize, 0.5);
    let files = zarr::store::open_with(&folder.display().to_string(), &StoreOptions::new().set("create", "true"));
    let files: Arc<dyn Store> = match files {
        Ok(store) => store,
        Err(_) => {
            std::fs::create_dir_all(folder)?;
            zarr::store::open(&folder.display().to_string())?
        }
    };
    for (name, chunks, shards, codecs) in &layouts {
        let new = NewArray::new(&[LEN; 3], "float32").chunks(chunks).codecs(*codecs)?;
        let new = shards.iter().fold(new, |new, shards| new.shards(shards));
        let array = zarr::create((&files, format!("/{name}").as_str())).array(new)?;
        array.write(.., &elements)?;
    }
    let server = TestServer::builder().bucket("data", Bucket::s3().public()).threads(2);
    let server = server.latency(Duration::from_millis(50)).start()?;
    server.load("data", folder)?;
    let options = StoreOptions::new().set("endpoint", server.url()).set("anonymous", "true");
    let options = options.set("allow_http", "true").set("region", "x");
    let far = zarr::store::open_with("s3://data", &options)?;
    let reads = ["0=1", "1=1,2=1", "0=64,1=64,2=64"];
    let (mut close, mut all) = (0, 0);
    println!("{:<8} {:<8} {:<16} {:>12} {:>12} {:>6}", "STORE", "LAYOUT", "READ", "PREDICTED", "MEASURED", "RATIO");
    for (store_name, store) in [("files", &files), ("server", &far)] {
        for (name, ..) in &layouts {
            let path = format!("/{name}");
            let array = zarr::open((store, path.as_str())).array()?;
            let storage = Storage::probe(&array)?;
            for read in reads {
                let access = Access::parse(read)?;
                let options = AdviseOptions::default().reads(vec![access.clone()]).storage(storage.clone());
                let cost = Advice::present_cost(&Subject::of(&array)?, &options)?;
                let predicted = cost.and_then(|cost| Some(cost.accesses.first()?.seconds)).unwrap_or_default();
                let mut runs = Vec::new();
                for _ in 0..RUNS {
                    let mut taken = 0.0;
                    let places = access.places(array.shape(), &[None, None, None], PLACES)?;
                    for place in &places {
                        // A new handle knows no index of a shard yet.
                        let array = zarr::open((store, path.as_str())).array()?;
                        let begun = Instant::now();
                        let data = array.read_data(place.clone())?;
                        taken += begun.elapsed().as_secs_f64();
                        drop(data);
                    }
                    runs.push(taken / places.len() as f64);
                }
                runs.sort_by(f64::total_cmp);
                let measured = runs.get(RUNS / 2).copied().unwrap_or_default();
                let ratio = predicted / measured;
                all += 1;
                close += usize::from((1.0 / CLOSE..=CLOSE).contains(&ratio));
                println!(
                    "{store_name:<8} {name:<8} {read:<16} {:>9.3} ms {:>9.3} ms {ratio:>6.2}",
                    predicted * 1e3,
                    measured * 1e3
                );
            }
        }
    }
    println!("{close} of {all} within a factor of {CLOSE}");
    Ok(())
}

/// Data set of a kind: its shape, data type, reads and writes, the storage, and the elements of a sample.
struct Kind {
    name: &'static str,
    shape: &'static [u64],
    data_type: &'static str,
    reads: &'static [&'static str],
    writes: &'static [&'static str],
    at: &'static str,
}

const fn kind(
    name: &'static str,
    shape: &'static [u64],
    data_type: &'static str,
    reads: &'static [&'static str],
    writes: &'static [&'static str],
    at: &'static str,
) -> Kind {
    Kind { name, shape, data_type, reads, writes, at }
}

const KINDS: [Kind; 10] = [
    kind("maps", &[8760, 721, 1440], "float32", &["0=1"], &[], "s3"),
    kind("series", &[8760, 721, 1440], "float32", &["1=1,2=1"], &[], "s3"),
    kind("maps and series", &[3650, 361, 720], "float32", &["0=1", "1=1,2=1"], &[], "s3"),
    kind("maps and series on files", &[3650, 361, 720], "float32", &["0=1", "1=1,2=1"], &[], "local"),
    kind("appended days", &[3650, 361, 720], "float32", &["1=1,2=1"], &["0=1"], "s3"),
    kind("tiles of an image", &[40_000, 60_000], "uint8", &["0=512,1=512"], &[], "50ms,100MB/s"),
    kind(
        "stack of an electron microscope",
        &[2000, 8192, 8192],
        "uint8",
        &["0=64,1=64,2=64", "0=1,1=1024,2=1024"],
        &[],
        "s3",
    ),
    kind("rows for training", &[4_000_000, 768], "float32", &["0=32"], &[], "local"),
    kind("rows and columns", &[4_000_000, 768], "float32", &["0=32", "1=1"], &[], "s3"),
    kind("ensemble", &[20, 365, 50, 181, 360], "float32", &["0=1,1=1", "2=1,3=1,4=1"], &[], "s3"),
];

/// Compares the first layout that is advised with those of a dense grid of shapes.
fn search() -> Result<(), Failure> {
    println!("{:<32} {:>8} {:>7} {:>7} {:>18} {:>18}", "DATA SET", "LAYOUTS", "SECONDS", "OF BEST", "ADVISED", "BEST");
    for kind in &KINDS {
        let begun = Instant::now();
        let parse = |texts: &[&str]| texts.iter().map(|text| Access::parse(text)).collect::<Result<Vec<_>, _>>();
        let options = AdviseOptions::default().reads(parse(kind.reads)?).writes(parse(kind.writes)?);
        let options = options.storage(kind.at.parse()?).sample(1 << 18).time(Duration::ZERO);
        // One chain of codecs, so that all layouts are compared by their shapes.
        let options = options.codecs(vec!["zstd(1)".to_owned()]);
        let registry = zarr::registry::default();
        let subject = Subject::described(kind.shape, kind.data_type, &[], &registry)?;
        let subject = subject.sampled_from(&sample(kind, &registry)?)?;
        let advice = Advice::on(&subject, &options)?;
        let first = advice.layouts.first().ok_or("no layout")?;
        let mut all = Vec::new();
        for (chunks, shards) in layouts(kind.shape, item(kind)) {
            let layout = first.layout.with_shapes(chunks, shards);
            all.push(Advice::cost_of(&subject, &layout, &options)?);
        }
        let first = Advice::cost_of(&subject, &first.layout, &options)?;
        all.push(first.clone());
        let least: Vec<f64> = (0..first.accesses.len())
            .map(|access| all.iter().map(|cost| of(cost, access)).fold(f64::MAX, f64::min))
            .collect();
        let best = all.iter().min_by(|a, b| score(a, &least).total_cmp(&score(b, &least))).ok_or("no layout")?;
        let ratio = (score(&first, &least) - score(best, &least)).exp();
        println!(
            "{:<32} {:>8} {:>7.1} {ratio:>7.3} {:>18} {:>18}",
            kind.name,
            all.len(),
            begun.elapsed().as_secs_f64(),
            text(&first.layout),
            text(&best.layout)
        );
    }
    Ok(())
}

fn of(cost: &LayoutCost, access: usize) -> f64 {
    cost.accesses.get(access).map_or(f64::MAX, |cost| cost.seconds)
}

/// Mean of the logarithms of the seconds as multiples of the least, and the worst of them, as advice weighs them.
fn score(cost: &LayoutCost, least: &[f64]) -> f64 {
    let ratios: Vec<f64> = least.iter().enumerate().map(|(access, least)| (of(cost, access) / least).ln()).collect();
    ratios.iter().sum::<f64>() / ratios.len().max(1) as f64 + ratios.iter().copied().fold(0.0, f64::max)
}

fn text(layout: &Layout) -> String {
    let shape = |shape: &[u64]| shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
    let shards = layout.shards.as_ref().map_or_else(String::new, |shards| format!(" in {}", shape(shards)));
    format!("{}{shards}", shape(&layout.chunks))
}

fn item(kind: &Kind) -> u64 {
    if kind.data_type == "uint8" { 1 } else { 4 }
}

/// An array in memory with elements like those of a kind.
fn sample(kind: &Kind, registry: &Arc<Registry>) -> Result<Array, Failure> {
    let mut shape = kind.shape.to_vec();
    while shape.iter().product::<u64>() > 1 << 18 {
        let Some(longest) = shape.iter_mut().max() else { break };
        *longest = longest.div_ceil(2);
    }
    let elements = waves(shape.iter().product::<u64>() as usize, 0.5);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&shape, kind.data_type).chunks(&shape).codecs("none")?;
    let array = Array::create(&store, "/", new, registry)?;
    match kind.data_type {
        "uint8" => array.write(.., &elements.iter().map(|element| *element as u8).collect::<Vec<u8>>())?,
        _ => array.write(.., &elements)?,
    }
    Ok(array)
}

/// Shapes of chunks with 128 KiB to 64 MiB, of powers of two and whole axes, each without shards and with all shards of 32 to 512 MiB
/// that are 4^n chunks long along each axis.
fn layouts(shape: &[u64], item: u64) -> Vec<(Vec<u64>, Option<Vec<u64>>)> {
    let bytes = |shape: &[u64]| shape.iter().fold(item, |bytes, len| bytes.saturating_mul(*len));
    let lengths = |len: u64| (0..40).map(|power| 1_u64 << power).take_while(move |&power| power < len).chain([len]);
    let mut chunks: Vec<Vec<u64>> = vec![Vec::new()];
    for &len in shape {
        let longer = |chunk: &Vec<u64>| {
            let chunk = chunk.clone();
            lengths(len).map(move |len| chunk.iter().copied().chain([len]).collect::<Vec<u64>>()).collect::<Vec<_>>()
        };
        chunks = chunks.iter().flat_map(longer).filter(|chunk| bytes(chunk) <= 64 << 20).collect();
    }
    chunks.retain(|chunk| bytes(chunk) >= 128 << 10);
    let mut found = Vec::new();
    for chunk in chunks {
        let counts: Vec<u64> = shape.iter().zip(&chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        if counts.iter().product::<u64>() <= 100_000 {
            found.push((chunk.clone(), None));
        }
        let mut factors: Vec<Vec<u64>> = vec![Vec::new()];
        for &count in &counts {
            let all: Vec<u64> =
                (0..20).map(|power| 1_u64 << (2 * power)).take_while(|&factor| factor < count).collect();
            let longer = |chunk: &Vec<u64>| {
                let chunk = chunk.clone();
                let all = all.iter().copied().chain([count]);
                all.map(move |len| chunk.iter().copied().chain([len]).collect::<Vec<u64>>()).collect::<Vec<_>>()
            };
            factors = factors.iter().flat_map(longer).collect();
        }
        for factor in factors {
            let shard: Vec<u64> = chunk.iter().zip(&factor).map(|(chunk, factor)| chunk * factor).collect();
            let inner = factor.iter().product::<u64>();
            let objects: u64 = shape.iter().zip(&shard).map(|(len, shard)| len.div_ceil(*shard)).product();
            if (32 << 20..=512 << 20).contains(&bytes(&shard)) && inner <= 1 << 14 && inner > 1 && objects <= 100_000 {
                found.push((chunk.clone(), Some(shard)));
            }
        }
    }
    // At most some thousands, evenly chosen.
    let step = found.len().div_ceil(MOST_LAYOUTS).max(1);
    found.into_iter().step_by(step).collect()
}

/// Maximum number of layouts that are counted for a data set.
const MOST_LAYOUTS: usize = 1500;
