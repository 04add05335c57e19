//! Reads of a server: its data, and the operations that only this library or no library has.

use crate::cases::{LITTLE, ZSTD, listed_array, shard};
use crate::endpoint;
use crate::library::{Elements, Ours};
use crate::make::{once, raw_file, temperature};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime;
use zarr::AsyncStore;
use zarr::store::BucketStore;
use zarr_bench_protocol::{Failure, Library, measure};

/// Bytes of the array in one chunk.
const ONE: u64 = 200_000_000;

/// Bytes that are read while a task ticks.
const BESIDE: u64 = 256 << 20;

/// How often that task is to run.
const TICK: Duration = Duration::from_millis(2);

/// How long nothing is read before.
const IDLE: Duration = Duration::from_secs(1);

/// Makes the missing data in `directory`: the content of the bucket that is served.
pub(crate) fn make(directory: &Path, small: bool) -> Result<(), Failure> {
    fs::create_dir_all(directory)?;
    // 512 MiB; 256 MiB; arrays.
    let (big, half, listed) =
        if small { ([256, 256, 256], [128, 256, 256], 250) } else { ([512, 512, 512], [256, 512, 512], 2000) };
    let one = [if small { ONE / 8 } else { ONE } / 1_000_000, 1000, 1000];
    let raw = raw_file(&directory.with_file_name("raw"), "f32_remote", &|out| temperature(big, out))?;
    let zstd = format!("{LITTLE},{ZSTD}");
    let float = |name: &str, shape, chunk, codecs: &str| {
        fill(&directory.join(name), &metadata("float32", shape, chunk, codecs), &raw)
    };
    float("zstd.zarr", big, [64; 3], &zstd)?;
    float("raw.zarr", big, [64; 3], LITTLE)?;
    float("shards.zarr", big, [128, 128, 256], &shard(&[16, 32, 32], &zstd))?;
    float("small.zarr", half, [16, 32, 32], LITTLE)?;
    fill(&directory.join("one.zarr"), &metadata("uint8", one, one, LITTLE), &raw)?;
    once(&directory.join("arrays.zarr"), |path| arrays(path, listed, false))?;
    once(&directory.join("consolidated.zarr"), |path| arrays(path, listed, true))
}

fn metadata(data_type: &str, shape: [u64; 3], chunk: [u64; 3], codecs: &str) -> String {
    format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":{shape:?},"data_type":"{data_type}","fill_value":0,
"chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{chunk:?}}}}},
"chunk_key_encoding":{{"name":"default","configuration":{{"separator":"/"}}}},"codecs":[{codecs}]}}"#
    )
}

/// An array of the first bytes of a file.
fn fill(path: &Path, metadata: &str, raw: &Path) -> Result<(), Failure> {
    once(path, |path| {
        fs::create_dir_all(path)?;
        fs::write(path.join("zarr.json"), metadata)?;
        let array = Ours.open(path)?;
        let size = array.shape().iter().product::<u64>() * array.data_type().item_size() as u64;
        let mut elements = Vec::new();
        fs::File::open(raw)?.take(size).read_to_end(&mut elements)?;
        Ours.write_all(&array, &Ours.input(&array, elements)?)
    })
}

/// A group of arrays without chunks.
fn arrays(path: &Path, count: usize, consolidated: bool) -> Result<(), Failure> {
    let (group, array) = (r#"{"zarr_format":3,"node_type":"group","attributes":{}"#, listed_array());
    let names: Vec<String> = (0..count).map(|number| format!("a{number:04}")).collect();
    for name in &names {
        fs::create_dir_all(path.join(name))?;
        fs::write(path.join(name).join("zarr.json"), &array)?;
    }
    let members: Vec<_> = names.iter().map(|name| format!("\"{name}\":{array}")).collect();
    let more = format!(
        r#","consolidated_metadata":{{"kind":"inline","must_understand":false,"metadata":{{{}}}}}"#,
        members.join(",")
    );
    let more = if consolidated { more.as_str() } else { "" };
    Ok(fs::write(path.join("zarr.json"), format!("{group}{more}}}"))?)
}

/// The value of the only chunk of an array, as the answer to one request, on one connection, without any library.
pub(crate) fn one_connection(address: &str) -> Result<(), Failure> {
    let endpoint = std::env::var("BENCH_ENDPOINT")?;
    let host = endpoint.strip_prefix("http://").ok_or("an endpoint with http:// is expected")?;
    let path = address.strip_prefix("s3://").ok_or("an address with s3:// is expected")?;
    let request = format!("GET /{path}/c/0/0/0 HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let outcome = measure(|| {
        let mut stream = TcpStream::connect(host)?;
        stream.write_all(request.as_bytes())?;
        let mut answer = BufReader::new(stream);
        let (mut line, mut len) = (String::new(), None);
        // The head ends with an empty line.
        while answer.read_line(&mut line)? > 2 {
            if let Some((name, value)) =
                line.split_once(':').filter(|pair| pair.0.eq_ignore_ascii_case("content-length"))
            {
                len = Some(value.trim().parse::<usize>().map_err(|error| format!("{name}: {error}"))?);
            }
            line.clear();
        }
        let len = len.ok_or("the answer has no Content-Length")?;
        let mut value = Vec::with_capacity(len);
        answer.take(len as u64).read_to_end(&mut value)?;
        if value.len() == len { Ok(value) } else { Err("the answer is too short".into()) }
    })?;
    outcome.print();
    Ok(())
}

/// Reads up to 256 MiB beside a task that is to run each 2 ms. The times that are printed are the longest between two runs of that
/// task while something was read; `idle` is that while nothing was, and `read` the median time of reads.
pub(crate) fn gap(address: &str, is_multi_thread: bool) -> Result<(), Failure> {
    let mut builder =
        if is_multi_thread { runtime::Builder::new_multi_thread() } else { runtime::Builder::new_current_thread() };
    let runtime = builder.enable_all().build()?;
    let given = endpoint::options().ok_or("BENCH_ENDPOINT is not set")?;
    let store: Arc<dyn AsyncStore> = Arc::new(BucketStore::open(address, given.pairs())?);
    let array = runtime.block_on(zarr::open((&store, "/")).array())?;
    let row = array.shape().iter().skip(1).product::<u64>() * array.data_type().item_size() as u64;
    let rows = (BESIDE / row).min(array.shape().first().copied().unwrap_or(0));
    let (_, idle) = runtime.block_on(beside(async { tokio::time::sleep(IDLE).await }))?;
    let (mut gaps, mut seconds) = (Vec::new(), Vec::new());
    let outcome = measure(|| {
        let (array, start) = (array.clone(), Instant::now());
        let (data, gap) = runtime.block_on(beside(async move { array.read_data((0..rows, .., ..)).await }))?;
        seconds.push(start.elapsed().as_secs_f64());
        gaps.push(gap);
        Ok(Elements::new(data?))
    })?;
    seconds.sort_by(f64::total_cmp);
    let median = seconds.get(seconds.len() / 2).copied().unwrap_or_default();
    outcome.in_place_of_times(&gaps).and("idle", idle).and("read", median).print();
    Ok(())
}

/// Runs a future as a task, and another task that is to run each 2 ms until the first is done. Returns the longest time between two
/// runs of the latter, in seconds.
async fn beside<F>(work: F) -> Result<(F::Output, f64), Failure>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let is_done = Arc::new(AtomicBool::new(false));
    let ticks = tokio::spawn({
        let is_done = Arc::clone(&is_done);
        async move {
            let (mut before, mut longest) = (Instant::now(), Duration::ZERO);
            while !is_done.load(Ordering::Relaxed) {
                tokio::time::sleep(TICK).await;
                let now = Instant::now();
                longest = longest.max(now - before);
                before = now;
            }
            longest.as_secs_f64()
        }
    });
    let output = tokio::spawn(work).await?;
    is_done.store(true, Ordering::Relaxed);
    Ok((output, ticks.await?))
}
