//! Arguments that several verbs share.

use crate::failure::Failure;
use crate::near::{near, question};
use clap::{Args, ColorChoice};
use std::num::NonZeroUsize;
use zarr::convert::ConvertOptions;
use zarr::meta::conventions::{Convention, Conventions};
use zarr::meta::json::Value;
use zarr::meta::{Dialect, NamedConfig};
use zarr::store::StoreOptions;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Print JSON: results on standard output; after an error, the last line on standard error is an object that describes it.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// How many threads decode and encode; by default one for each core.
    #[arg(long, global = true, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Whether to use colours; by default on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// Show long text (of tree, ls, info, ds, stats, du, man and `read --all`) on a terminal at once; by default $ZARR_PAGER, $PAGER or less
    /// shows it page by page.
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_pager: bool,
    /// Print no warnings, summaries and progress.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Read arrays of version 1 with order F as zarr-python 1 stored them: in order C, unless blosc compressed them.
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) v1_f_order_is_c: bool,
    /// Refuse an array of an unknown data type, even if it names another one to fall back to.
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) refuse_fallbacks: bool,
    /// Take this data type instead of an unknown one that names a fallback of the same size: a name, or the JSON of a
    /// data type of Zarr v3.
    #[arg(long, global = true, value_name = "TYPE", value_parser = fallback_type, conflicts_with = "refuse_fallbacks", hide_short_help = true)]
    pub(crate) fallback_type: Option<NamedConfig>,
    /// Refuse documents with deviations from the specification that else cause a warning.
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) strict: bool,
    /// Look at each node in a bucket or behind another network, although the consolidated metadata of a group there has a copy of all, which
    /// costs one request. In files nodes are looked at in any case.
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_consolidated: bool,
    /// Refuse to write parts of chunks, to append and to change metadata in a store that does not set values on conditions, where what
    /// another writes at the same time may be lost.
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) strict_writers: bool,
    /// An option of a store that is given by its address, such as journal=wal; can be given again. Where a command has two addresses,
    /// each store takes those that it knows.
    #[arg(long = "store-option", global = true, value_name = "NAME=VALUE", value_parser = store_option)]
    pub(crate) store_options: Vec<StoreOptions>,
    /// Read pickled object arrays if they contain only plain values; no code in a pickle is run.
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) pickle_values: bool,
}

/// A node in a store.
#[derive(Clone, Debug, Args)]
pub(crate) struct NodeArgs {
    /// The store; a node may stand behind it: URL::/PATH, or x.zarr/PATH.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// The node, below that of URL if it has one; by default that, or the root.
    #[arg(value_name = "PATH", default_value = "/", hide_default_value = true)]
    pub(crate) path: String,
    /// See only nodes of this dialect, if the store has several: v2, v3...
    #[arg(long, value_name = "DIALECT", aliases = ["format", "zarr-format"], value_parser = dialect)]
    pub(crate) dialect: Option<Dialect>,
}

/// Heading in the help of the options about metadata.
const METADATA: &str = "Metadata";

/// How to treat metadata that the other dialect spells differently, or cannot express.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Loss {
    /// Keep metadata that the dialect cannot express (dimension names in older ones, members that it lacks) in the attribute
    /// `_zarr_carried`, from which a conversion back restores it.
    #[arg(long, help_heading = METADATA, hide_short_help = true)]
    pub(crate) carry: bool,
    #[command(flatten)]
    pub(crate) meaning: ByConvention,
}

/// How to treat metadata that mean something to xarray, netCDF-C and readers of OME-Zarr.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ByConvention {
    /// Keep fill values and attributes to the letter, and warn where xarray then takes other data for missing. By default these move
    /// to where xarray has them in the other format, so that it reads the same data, and metadata of OME-Zarr to where its version for
    /// that format has them (0.4 in v2, 0.5 in v3).
    #[arg(long, help_heading = METADATA, hide_short_help = true)]
    pub(crate) literal: bool,
    /// The convention that arrays follow: xarray, nczarr or none; by default the one by which their dimensions are named. `convert` also
    /// makes images (ome), and writes attributes of geozarr, by --crs and --transform or by CF.
    #[arg(long, value_name = "NAME", value_parser = conventions, help_heading = METADATA, hide_short_help = true)]
    pub(crate) convention: Option<ConventionName>,
    /// Make strings (`string` with vlen-utf8) of objects (`|O` of v2 with json2, msgpack2) in arrays all of whose elements are strings, which
    /// are read for it before anything is written. By default they stay objects, which no other software reads in v3.
    #[arg(long, help_heading = METADATA, hide_short_help = true)]
    pub(crate) objects_as_strings: bool,
}

impl ByConvention {
    pub(crate) fn apply(self, options: ConvertOptions) -> ConvertOptions {
        let options = options.literal(self.literal).objects_as_strings(self.objects_as_strings);
        match self.convention {
            Some(ConventionName::Followed(conventions)) => options.conventions(conventions),
            Some(ConventionName::Ome | ConventionName::GeoZarr) | None => options,
        }
    }

    /// Returns whether attributes of GeoZarr are to be written.
    pub(crate) fn is_geozarr(self) -> bool {
        matches!(self.convention, Some(ConventionName::GeoZarr))
    }

    /// Refuses conventions that only `zarr convert` writes, for other verbs.
    pub(crate) fn followed(self) -> Result<Self, Failure> {
        let (name, hint) = match self.convention {
            Some(ConventionName::Ome) => ("ome", "`zarr convert` makes images of arrays"),
            Some(ConventionName::GeoZarr) => {
                ("geozarr", "`zarr convert --convention geozarr` writes attributes of GeoZarr")
            }
            Some(ConventionName::Followed(_)) | None => return Ok(self),
        };
        let failure = Failure::usage(format!("found --convention {name}, expected xarray, nczarr or none"));
        Err(failure.with_hint(hint))
    }
}

/// Convention that nodes follow, or that they get.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ConventionName {
    /// Nodes follow a convention of data sets, or none.
    Followed(Conventions),
    /// Nodes become images of OME-Zarr.
    Ome,
    /// Nodes get attributes of GeoZarr.
    GeoZarr,
}

/// Parses the value of `--convention`: `none`, `xarray`, `nczarr`, `ome` or `geozarr`.
fn conventions(text: &str) -> Result<ConventionName, String> {
    match text {
        "none" => Ok(ConventionName::Followed(Conventions::Ignore)),
        "xarray" => Ok(ConventionName::Followed(Conventions::Assume(Convention::Xarray))),
        "nczarr" => Ok(ConventionName::Followed(Conventions::Assume(Convention::NcZarr))),
        "ome" => Ok(ConventionName::Ome),
        "geozarr" => Ok(ConventionName::GeoZarr),
        _ => Err("expected xarray, nczarr, none, ome or geozarr".to_owned()),
    }
}

/// Parses a data type, given by its name in Zarr v3 or by its JSON.
fn fallback_type(text: &str) -> Result<NamedConfig, String> {
    let value = if text.trim_start().starts_with('{') {
        Value::from_json(text).map_err(|error| error.to_string())?
    } else {
        Value::from(text)
    };
    NamedConfig::from_value(&value).ok_or_else(|| "expected a name, or an object with a name".to_owned())
}

/// Parses an option of a store, `NAME=VALUE`.
fn store_option(text: &str) -> Result<StoreOptions, String> {
    text.parse().map_err(|_| "expected NAME=VALUE".to_owned())
}

/// Parses the name of a dialect, or the number that is its `zarr_format`: 1, 2 or 3.
pub(crate) fn dialect(text: &str) -> Result<Dialect, String> {
    let name = if matches!(text, "1" | "2" | "3") { format!("v{text}") } else { text.to_owned() };
    name.parse().map_err(|_| format!("expected one of {}", Dialect::ALL.map(Dialect::name).join(", ")))
}

/// Returns the index of the axis that `text`, the value of the option `option`, gives: the name of an axis in `names`, or an index below
/// `rank`. A negative index counts from the end.
pub(crate) fn axis_of(option: &str, text: &str, names: &[Option<String>], rank: usize) -> Result<usize, Failure> {
    let text = text.trim();
    if let Some(axis) = names.iter().position(|name| name.as_deref() == Some(text)) {
        return Ok(axis);
    }
    let number = match text.strip_prefix('-') {
        Some(number) => number.parse().ok().and_then(|number| rank.checked_sub(number)),
        None => text.parse().ok(),
    };
    if let Some(axis) = number.filter(|&axis| axis < rank) {
        return Ok(axis);
    }
    let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
    let numbers = match rank {
        0 => "none: the array has no dimensions".to_owned(),
        rank => format!("a number below {rank}"),
    };
    let expected = if known.is_empty() { numbers } else { format!("one of {}, or {numbers}", known.join(", ")) };
    let failure = Failure::usage(format!("{option}: found no dimension {text:?}, expected {expected}"));
    Err(match near(text, known) {
        Some(near) => failure.with_hint(question(near)),
        None => failure,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_have_names_and_numbers() {
        assert_eq!((dialect("3"), dialect("v2")), (Ok(Dialect::V3), Ok(Dialect::V2)));
        assert!(dialect("4").unwrap_err().starts_with("expected one of v0, v1, v2"));
    }

    #[test]
    fn axes_have_names_and_numbers() {
        let names = ["time", "1"].map(|name| Some(name.to_owned()));
        // A name counts before a number.
        for (text, axis) in [("time", 0), (" time ", 0), ("0", 0), ("1", 1), ("2", 2), ("-1", 2), ("-3", 0)] {
            assert_eq!(axis_of("--along", text, &names, 3).unwrap(), axis, "{text}");
        }
        for text in ["3", "-4", "", "-", "--1", "tiem"] {
            let failure = axis_of("--along", text, &names, 3).unwrap_err();
            assert!(failure.line.contains("expected one of time, 1, or a number below 3"), "{}", failure.line);
        }
        assert_eq!(axis_of("--along", "tiem", &names, 3).unwrap_err().hint.as_deref(), Some("is \"time\" meant?"));
        assert!(axis_of("--along", "0", &[], 0).unwrap_err().line.ends_with("the array has no dimensions"));
    }
}
