//! `zarr advise`: chunks, shards and codecs that suit the reads and writes of an array.

mod facts;
mod given;
mod lines;
mod of_group;

use crate::args::{NodeArgs, dialect};
use crate::codecs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::number::{self, Lengths};
use clap::Args;
use given::{Given, measured, source, storage, target, usage};
use lines::{Ends, Table};
use std::path::PathBuf;
use std::time::Duration;
use zarr::Dialect;
use zarr::meta::json::Value;
use zarr::stats::advise::{Access, Advice, AdviseOptions, Prices, Subject};

/// Largest file of prices, in bytes.
const MAX_PRICES: u64 = 1 << 20;

/// Which chunks, shards and codecs suit the reads and writes of an array.
///
/// At most three layouts, beside the one that is there; for a group one layout of its data variables.
///
/// A read is a number of elements along some dimensions, at random places, and all elements along the others: time=1 is one step of time,
/// lat=1,lon=1 a series at a point, y=256,x=256 a box of all else, `all` everything. Writes begin at multiples of their lengths.
/// Seconds are latency x max(rounds, requests / at once) + bytes / bandwidth + decoding, which is measured on a sample. Nothing is written.
#[derive(Debug, Args)]
pub(crate) struct Advise {
    /// The store; a node may stand behind it: URL::/PATH. None with --shape.
    #[arg(value_name = "URL", required_unless_present = "shape")]
    url: Option<String>,
    /// The array, or a group whose arrays get one layout.
    #[arg(value_name = "PATH", default_value = "/", hide_default_value = true)]
    path: String,
    /// A read: time=1, or lat=1,lon=1; can be given again.
    #[arg(long, value_name = "DIM=N", required_unless_present = "writes")]
    reads: Vec<String>,
    /// A write; can be given again.
    #[arg(long, value_name = "DIM=N")]
    writes: Vec<String>,
    /// Storage: local, s3, 50ms,100MB/s; else as URL is.
    #[arg(long, value_name = "STORAGE", conflicts_with = "probe")]
    at: Option<String>,
    /// Measure the store by some requests.
    #[arg(long, conflicts_with = "shape")]
    probe: bool,
    /// Prices as JSON, in place of the list prices of S3 that --json shows.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    prices: Option<PathBuf>,
    /// Codecs to choose from; can be given again.
    #[arg(long, value_name = "CODECS")]
    codecs: Vec<String>,
    /// The shape of an array that is not there yet.
    #[arg(long, value_name = "SHAPE", value_parser = number::shape, requires = "dtype", conflicts_with = "url")]
    shape: Option<Lengths>,
    /// Its data type.
    #[arg(long, value_name = "TYPE", requires = "shape")]
    dtype: Option<String>,
    /// The names of its dimensions.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', num_args = 1, requires = "shape")]
    dims: Vec<String>,
    /// An array with elements like its own, on which codecs are measured: x.nc::/t2m.
    #[arg(long, value_name = "URL", requires = "shape", hide_short_help = true)]
    sample: Option<String>,
    /// The dialect of the new array: v2 has no shards.
    #[arg(long, value_name = "DIALECT", value_parser = dialect, hide_short_help = true)]
    dialect: Option<Dialect>,
    /// How long each codec is measured in each direction, in milliseconds.
    #[arg(long, value_name = "MS", default_value = "50", hide_short_help = true)]
    time: u64,
}

pub(crate) fn run(context: &Context, args: &Advise) -> Result<()> {
    let parse = |texts: &[String]| texts.iter().map(|text| usage(Access::parse(text))).collect::<Result<Vec<_>>>();
    args.codecs.iter().try_for_each(|text| codecs::parse(text, &context.registry).map(drop))?;
    let options = AdviseOptions::default()
        .reads(parse(&args.reads)?)
        .writes(parse(&args.writes)?)
        .codecs(args.codecs.clone())
        .time(Duration::from_millis(args.time.min(60_000)));
    let options = match &args.prices {
        Some(file) => options.prices(prices(file)?),
        None => options,
    };
    let Some(url) = &args.url else { return described(context, args, options) };
    let given = Given { url, at: args.at.as_deref(), probe: args.probe, dialect: args.dialect };
    let node = NodeArgs { url: url.clone(), path: args.path.clone(), dialect: None };
    let location = context.locate(&node)?;
    let found = context.node(&location)?;
    if found.node.as_group().is_some() {
        return of_group::run(context, &given, &location, &args.path, options);
    }
    let array = context.array_of(&location, found)?;
    let options = options.storage(storage(&given, &array)?);
    let subject = usage(Subject::of(&array))?.dialect(given.dialect_for(array.dialect()));
    let advice = measured(context, || Advice::on(&subject, &options))?;
    let node = (!location.path.is_root()).then(|| location.path.to_string());
    let source = source(&given, &location, &args.path);
    let ends = Ends { source, target: target(&location.address), node, dialect: args.dialect };
    print(context, &subject, &advice, &options, Some(&ends))
}

/// Gives advice on an array that is not there.
fn described(context: &Context, args: &Advise, options: AdviseOptions) -> Result<()> {
    let shape = args.shape.as_ref().map(|shape| shape.0.as_slice()).unwrap_or_default();
    let data_type = args.dtype.as_deref().unwrap_or_default();
    let subject = Subject::described(shape, data_type, &args.dims, &context.registry);
    let subject = usage(subject)?.dialect(args.dialect.unwrap_or(Dialect::V3));
    let subject = match &args.sample {
        Some(url) => {
            let node = NodeArgs { url: url.clone(), path: "/".to_owned(), dialect: None };
            usage(subject.sampled_from(&context.array(&context.locate(&node)?)?))?
        }
        None => subject,
    };
    let options = match &args.at {
        Some(text) => options.storage(usage(text.parse())?),
        None => options,
    };
    let advice = measured(context, || Advice::on(&subject, &options))?;
    print(context, &subject, &advice, &options, None)
}

/// Reads a file of prices.
fn prices(file: &std::path::Path) -> Result<Prices> {
    let size = std::fs::metadata(file).map_err(|error| Failure::input(file.display(), &error))?.len();
    if size > MAX_PRICES {
        let name = file.display();
        return Err(Failure::usage(format!("{name}: found {size} bytes, expected at most {MAX_PRICES}")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| Failure::input(file.display(), &error))?;
    let value =
        Value::from_json(&text).map_err(|error| Failure::data("json", format!("{}: {error}", file.display())))?;
    Prices::from_json(&value).map_err(|error| Failure::usage(format!("{}: {}", file.display(), error.message())))
}

fn print(
    context: &Context,
    subject: &Subject,
    advice: &Advice,
    options: &AdviseOptions,
    ends: Option<&Ends>,
) -> Result<()> {
    let table = Table { subject, advice, options, ends };
    context.print(|| facts::json(&table), || table.text())
}
