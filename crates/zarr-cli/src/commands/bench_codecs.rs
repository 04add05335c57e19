//! `zarr bench-codecs`: the size and the speed of codecs on a sample of an array.

use super::bar::Bar;
use crate::args::NodeArgs;
use crate::codecs;
use crate::context::Context;
use crate::escape;
use crate::failure::{Failure, Result};
use crate::number::{self, grouped, size};
use crate::object::{object, or_null};
use crate::report;
use crate::table::{Side, lines, seven_digits};
use clap::Args;
use std::time::Duration;
use zarr::Array;
use zarr::meta::json::{Map, Value};
use zarr::meta::text::codecs_in_short;
use zarr::stats::{BenchOptions, BitInformation, CodecBench, CodecResult, candidates};

/// Measure codecs on a sample of an array: how small they make it, and how fast they encode and decode, on one thread.
///
/// The sample is of chunks that are stored and lie apart (inner chunks, if the array is sharded); all is done in memory. Recommended is what is
/// read in the shortest time: stored bytes / BANDWIDTH + bytes / decoding speed, be it the codecs that the array has now. Codecs that lose
/// information are measured and not recommended, and only codecs that the dialect of the array has.
#[derive(Debug, Args)]
pub(crate) struct BenchCodecs {
    #[command(flatten)]
    node: NodeArgs,
    /// A chain of codecs to measure, as `create` takes it: zstd(3), `transpose(1,0),blosc(lz4,5,shuffle)`, none, or JSON. Given several times,
    /// the chains are compared: --codecs "zstd(1)" --codecs "shuffle(4),zstd(9)". By default none, zstd, blosc, gzip and pcodec.
    #[arg(long, value_name = "CODECS")]
    codecs: Vec<String>,
    /// How many bytes of elements to measure on; at least one chunk, and at most 64.
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = number::parse_size)]
    sample: u64,
    /// How many bytes per second come from the storage that the array is to be read from.
    #[arg(long, value_name = "SIZE", default_value = "200MB", value_parser = number::parse_size)]
    bandwidth: u64,
    /// How long each codec is measured in each direction, in milliseconds.
    #[arg(long, value_name = "MS", default_value = "500")]
    time: u64,
    /// Round floating-point numbers so that they keep this share of the information of their bits, such as 0.99, and measure the codecs on
    /// them. Arrays for which that measure misleads are refused by name.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    keep_information: Option<f64>,
}

/// Parses the argument of --keep-information.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = text.trim().parse().ok().filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "expected a share above 0, up to 1, such as 0.99".to_owned())
}

/// Information of the bits of an array, and how many mantissa bits keep the wanted share of it.
#[derive(Debug)]
struct Kept {
    information: BitInformation,
    share: f64,
    bits: u32,
}

impl Kept {
    /// Measures the information of an array.
    fn of(array: &Array, share: f64, args: &BenchCodecs) -> Result<Self> {
        let information = BitInformation::of(array, args.sample)?.map_err(|why| {
            let failure = Failure::usage(format!("{}: --keep-information does not apply: {why}", array.path()));
            failure.with_hint("`--codecs \"bitround(N),zstd\"` measures a number of bits that is known to suffice")
        })?;
        let bits = information.keep(share);
        // A mark of missing data that is rounded would be a number.
        let bits = information.lost_mark(bits).map_or(bits, |(_, kept)| kept);
        Ok(Self { information, share, bits })
    }

    /// Adds the rounding to a chain of codecs.
    fn rounded(&self, codecs: &str) -> String {
        match codecs.trim() {
            "none" | "" => format!("bitround({})", self.bits),
            codecs => format!("bitround({}),{codecs}", self.bits),
        }
    }

    fn json(&self, array: &Array) -> Map {
        object! {
            "share": self.share,
            "keepbits": self.bits,
            "mantissa_bits": self.information.mantissa,
            "axis": self.information.axis,
            "dimension": or_null(dimension(array, self.information.axis)),
            "pairs": self.information.pairs,
            "information": self.information.bits.clone(),
        }
    }

    fn text(&self, array: &Array) -> String {
        let Self { information, share, bits } = self;
        let axis =
            dimension(array, information.axis).map_or_else(|| format!("axis {}", information.axis), str::to_owned);
        let (percent, pairs) = (seven_digits(share * 100.0), grouped(information.pairs));
        let all = information.mantissa;
        let wanted = information.keep(*share);
        let mark = information.lost_mark(wanted).map(|(mark, kept)| {
            format!("{}, which marks missing data, needs {kept} mantissa bits\n", seven_digits(mark))
        });
        let bits = mark.as_ref().map_or(*bits, |_| wanted);
        let mark = mark.unwrap_or_default();
        format!(
            "{percent} % of the information is in sign, exponent and {bits} of {all} mantissa bits ({pairs} pairs along {})\n{mark}",
            escape::line(&axis)
        )
    }
}

/// Name of a dimension of an array.
fn dimension(array: &Array, axis: usize) -> Option<&str> {
    array.dimension_names()?.get(axis)?.as_deref()
}

pub(crate) fn run(context: &Context, args: &BenchCodecs) -> Result<()> {
    let location = context.locate(&args.node)?;
    let array = context.array(&location)?;
    let given = match args.codecs.as_slice() {
        [] => candidates(array.data_type()),
        given => {
            // An unknown codec is an error before the work.
            given.iter().try_for_each(|text| codecs::parse(text, &context.registry).map(drop))?;
            given.to_vec()
        }
    };
    let is_json = |text: &String| text.trim_start().starts_with(['[', '{']);
    if args.keep_information.is_some() && args.codecs.iter().any(is_json) {
        return Err(Failure::usage("--codecs is JSON, expected names of codecs, as zstd(3), behind the rounding"));
    }
    let kept = args.keep_information.map(|share| Kept::of(&array, share, args)).transpose()?;
    let given = match &kept {
        Some(kept) => given.iter().map(|text| kept.rounded(text)).collect(),
        None => given,
    };
    let options = BenchOptions::default()
        .lossy(kept.is_some())
        .sample(args.sample)
        .bandwidth((args.bandwidth as f64).max(1.0))
        .time(Duration::from_millis(args.time.min(60_000)));
    let bar = Bar::waiting("measuring codecs", context.global.quiet);
    let bench = CodecBench::of(&array, &given, &options);
    bar.finish();
    let bench = bench?;
    bench.codecs.iter().filter_map(compressed_twice).for_each(|text| report::hint(&text));
    let path = location.path.to_string();
    let information = kept.as_ref().map(|kept| (kept.json(&array), kept.text(&array)));
    let (of_json, of_text) = information.unzip();
    context.print(
        || object! { ..json(&bench, &path, args), "information": or_null(of_json) },
        || format!("{}{}", of_text.unwrap_or_default(), text(&bench, &path, array.is_sharded(), args)),
    )
}

/// Returns a hint for a chain of several compressors, which is seldom intended: users may expect that codecs separated by commas are
/// compared with each other. `None` for other chains.
fn compressed_twice(result: &CodecResult) -> Option<String> {
    let given = result.name.as_deref().filter(|_| result.compressors.len() > 1)?;
    let each =
        result.compressors.iter().map(|codec| format!("--codecs '{}'", codecs_in_short(std::slice::from_ref(codec))));
    let each = each.collect::<Vec<_>>().join(" ");
    Some(format!("{given} is one chain, which compresses what is compressed already; to compare its codecs: {each}"))
}

fn json(bench: &CodecBench, path: &str, args: &BenchCodecs) -> Map {
    let result = |result: &CodecResult| {
        let measured = result.measured.as_ref().ok();
        let error = measured.and_then(|measured| measured.error);
        Value::from(object! {
            "given": or_null(result.name.as_deref()),
            "codecs": result.json(),
            "stored_bytes": or_null(measured.map(|measured| measured.stored)),
            "ratio": or_null(measured.map(|measured| measured.ratio)),
            "encode_bytes_per_second": or_null(measured.map(|measured| measured.encode)),
            "decode_bytes_per_second": or_null(measured.map(|measured| measured.decode)),
            "lossless": or_null(measured.map(|measured| measured.is_lossless)),
            "max_error": or_null(error.map(|error| error.absolute).filter(|error| error.is_finite())),
            "max_relative_error": or_null(error.map(|error| error.relative).filter(|error| error.is_finite())),
            "error": or_null(result.measured.as_ref().err().map(String::as_str)),
        })
    };
    object! {
        "path": path,
        "sample_bytes": bench.bytes,
        "sample_chunks": bench.chunks.clone(),
        "bandwidth": args.bandwidth,
        "results": bench.codecs.iter().map(result).collect::<Vec<_>>(),
        "recommended": or_null(bench.recommended.and_then(|number| bench.codecs.get(number)).map(CodecResult::json)),
    }
}

/// Formats an error with two digits.
fn short(error: f64) -> String {
    zarr::meta::text::rounded(error, 2)
}

fn text(bench: &CodecBench, path: &str, is_sharded: bool, args: &BenchCodecs) -> String {
    let noun = if is_sharded { "inner chunk" } else { "chunk" };
    let plural = if bench.chunks.len() == 1 { "" } else { "s" };
    let count = grouped(bench.chunks.len() as u64);
    let mut text = format!("{}: {} in {count} {noun}{plural}, on one thread\n", escape::line(path), size(bench.bytes));
    let name = |result: &CodecResult| match &result.name {
        Some(name) => escape::line(name).into_owned(),
        None => {
            let own = codecs_in_short(&result.codecs);
            format!("{} (now)", if own.is_empty() { "none".into() } else { escape::line(&own) })
        }
    };
    let heading = ["CODECS", "STORED", "RATIO", "ENCODE", "DECODE", ""].map(str::to_owned).to_vec();
    let speed = |speed: f64| format!("{} MB/s", grouped((speed / 1e6).round() as u64));
    let row = |(number, result): (usize, &CodecResult)| match &result.measured {
        Err(_) => vec![name(result), "-".to_owned(), "-".to_owned(), "-".to_owned(), "-".to_owned(), "no".to_owned()],
        Ok(measured) => {
            let mark = match (bench.recommended == Some(number), measured.is_lossless) {
                (true, _) => "recommended".to_owned(),
                (false, false) => "lossy".to_owned(),
                (false, true) => String::new(),
            };
            let mark = match measured.error {
                Some(error) => {
                    format!("{mark}, error <= {} ({} %)", short(error.absolute), short(error.relative * 100.0))
                }
                None => mark,
            };
            let ratio = format!("{:.2}", measured.ratio);
            vec![name(result), size(measured.stored), ratio, speed(measured.encode), speed(measured.decode), mark]
        }
    };
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(bench.codecs.iter().enumerate().map(row)).collect();
    let sides = [Side::Left, Side::Right, Side::Right, Side::Right, Side::Right, Side::Left];
    text.push_str(&lines(&sides, &rows));
    for result in &bench.codecs {
        if let Err(why) = &result.measured {
            text.push_str(&format!("{}: {}\n", name(result), escape::line(why)));
        }
    }
    if let Some(best) = bench.recommended.and_then(|number| bench.codecs.get(number)) {
        let bandwidth = seven_digits(args.bandwidth as f64 / 1e6);
        let codecs = match best.name {
            Some(_) => format!("--codecs '{}'", name(best)),
            None => "as it is".to_owned(),
        };
        text.push_str(&format!("Read in the shortest time from a storage of {bandwidth} MB/s: {codecs}\n"));
    }
    text
}
