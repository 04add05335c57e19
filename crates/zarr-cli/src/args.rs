//! What can be said on the command line.

use crate::number;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use zarr::meta::json::Value;
use zarr::meta::{Dialect, NamedConfig};

const EXIT_CODES: &str = "\
Exit codes:
  0    Done, and all output was written
  2    The arguments are wrong, or what they ask for is not possible
  3    There is no such store, node or input file
  4    Data or metadata is invalid or cannot be read
  5    The store or another file failed, or output was lost
  141  The reader of standard output closed the pipe, which is not reported

Control characters in names, attributes and elements are printed as escapes (\\u{1b}, in JSON \\u001b).";

/// Looks at, reads, writes and converts Zarr data of every version.
///
/// URL is a directory (a path or file:///..) or a zip file (zip:PATH); PATH is a node in it, such as /a/b.
#[derive(Debug, Parser)]
#[command(name = "zarr", version, arg_required_else_help = true, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// A data type by its name in Zarr v3 or its JSON.
fn fallback_type(text: &str) -> Result<NamedConfig, String> {
    let value = if text.trim_start().starts_with('{') {
        Value::from_json(text).map_err(|error| error.to_string())?
    } else {
        Value::from(text)
    };
    NamedConfig::from_value(&value).ok_or_else(|| "expected a name, or an object with a name".to_owned())
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Global {
    /// Print JSON: results on standard output, errors also as an object on standard error, its last line.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// How many threads decode and encode; by default one for each core.
    #[arg(long, global = true, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Whether to use colours; by default on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Print no warnings, summaries and progress.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Take arrays of version 1 with order F as zarr-python 1 stored them: in order C, unless compressed by blosc.
    #[arg(long, global = true)]
    pub(crate) v1_f_order_is_c: bool,
    /// Refuse an array whose data type is not known, even if it names another to fall back to.
    #[arg(long, global = true)]
    pub(crate) refuse_fallbacks: bool,
    /// Take this data type, of the size of the fallback, where one is not known and names another to fall back to: a name or the
    /// JSON of a data type of Zarr v3.
    #[arg(long, global = true, value_name = "TYPE", value_parser = fallback_type, conflicts_with = "refuse_fallbacks")]
    pub(crate) fallback_type: Option<NamedConfig>,
    /// Refuse documents that are read although something is odd in them, instead of a warning.
    #[arg(long, global = true)]
    pub(crate) strict: bool,
    /// Read object arrays that were pickled, if nothing but plain values is in them; nothing of a pickle is run.
    #[arg(long, global = true)]
    pub(crate) pickle_values: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Draw the hierarchy: groups, and arrays with shape, data type, chunks and codecs.
    Tree(Tree),
    /// List the nodes directly below a group, one in a line.
    Ls(List),
    /// Tell everything about one node, and how much of it is stored.
    Info(Node),
    /// Print elements, or write them to a file.
    Read(Read),
    /// Create an array, or with --group a group.
    Create(Box<Create>),
    /// Write elements to an array.
    Write(Write),
    /// Copy a hierarchy or an array into another format, chunk shape or compression.
    Convert(Box<Convert>),
    /// Convert a hierarchy into another format where it lies; the old documents stay until --finish.
    Migrate(Migrate),
    /// Show, set or unset attributes.
    Attrs(Attrs),
    /// Copy a node with all below it, within a store or to another.
    Cp(Copy),
    /// Move a node with all below it, within a store or to another.
    Mv(Copy),
    /// Erase a node.
    Rm(Remove),
    /// Write consolidated metadata of a group, check whether it is stale, or drop it.
    Consolidate(Consolidate),
    /// Print the completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Tree {
    #[command(flatten)]
    pub(crate) node: Node,
    /// How many levels to draw.
    #[arg(short = 'L', long, value_name = "LEVELS")]
    pub(crate) depth: Option<usize>,
}

/// What becomes of what another dialect says in another way, or not at all.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Loss {
    /// Keep what the dialect cannot say (dimension names in older ones, members that it does not have) in the attribute
    /// `_zarr_carried`, from which a conversion back restores it.
    #[arg(long)]
    pub(crate) carry: bool,
    /// Where the fill value of version 2 marks missing data to xarray, say so in version 3 by the attribute `_FillValue`.
    #[arg(long)]
    pub(crate) fill_value_attribute: bool,
}

/// A node in a store.
#[derive(Clone, Debug, Args)]
pub(crate) struct Node {
    /// The store.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// The node; by default the root.
    #[arg(value_name = "PATH", default_value = "/", hide_default_value = true)]
    pub(crate) path: String,
    /// Take nodes of this dialect alone, where the store holds several: v2, v3...
    #[arg(long, value_name = "DIALECT", alias = "format", value_parser = dialect)]
    pub(crate) dialect: Option<Dialect>,
}

#[derive(Debug, Args)]
pub(crate) struct Read {
    #[command(flatten)]
    pub(crate) node: Node,
    /// Which elements, as in numpy: "0:10, 5, ::2, ..."; lists stand in brackets.
    #[arg(long, value_name = "SEL", allow_hyphen_values = true)]
    pub(crate) select: Option<String>,
    /// Of structs, this field alone; a field of a field with a point between them: position.x.
    #[arg(long, value_name = "NAME")]
    pub(crate) field: Option<String>,
    /// In which form; by default text, or json with --json.
    #[arg(long = "as", value_name = "FORM")]
    pub(crate) form: Option<Form>,
    /// What chunks that are not stored are: fill values, an error, or fill values with a warning that lists them.
    #[arg(long, value_name = "HOW", default_value = "fill")]
    pub(crate) missing: Missing,
    /// The file to write, which is replaced once all is written; `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Missing {
    /// Their elements are the fill value.
    Fill,
    /// The first one ends the command.
    Error,
    /// Their elements are the fill value, and a warning lists them.
    Report,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// A line for each row, values divided by spaces.
    Text,
    /// Nested lists; bytes as base64, NaN as "NaN", dates as ISO 8601 text, durations as "5 ms".
    Json,
    /// The elements alone, in C order, little-endian; of variable length: each behind its length in 4 bytes.
    Raw,
    /// A file of numpy.
    Npy,
    /// A line for each row, values divided by commas as in JSON, texts without quotes; of structs with the names of fields. A
    /// text with control characters other than line feeds and tabs is a JSON string, which `write` reads.
    Csv,
}

/// Forms that elements are written from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Source {
    /// A file of numpy.
    Npy,
    /// Nested lists.
    Json,
    /// Rows of values as `read --as csv` prints them; a JSON string with escapes such as "\u001b" stands for its text.
    Csv,
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The store, which is made if it is not there.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// The path of the new node; groups above it are made.
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
    /// Create a group. What describes elements is for arrays alone.
    #[arg(long, conflicts_with_all = ["shape", "dtype", "chunks", "shards", "codecs", "fill", "dims", "separator"])]
    pub(crate) group: bool,
    /// Elements along each dimension: 365,180,360. An empty text is an array without dimensions.
    #[arg(long, value_name = "SHAPE", value_parser = number::shape, required_unless_present = "group")]
    pub(crate) shape: Option<number::Lengths>,
    /// The data type: float32, f4 or '>f4' as in numpy, or the JSON of a data type of Zarr v3.
    #[arg(long, value_name = "TYPE", required_unless_present = "group")]
    pub(crate) dtype: Option<String>,
    /// The shape of chunks (with --shards: of inner chunks); by default about 1 MiB.
    #[arg(long, value_name = "SHAPE", value_parser = number::shape)]
    pub(crate) chunks: Option<number::Lengths>,
    /// The shape of shards, a multiple of that of chunks.
    #[arg(long, value_name = "SHAPE", value_parser = number::shape)]
    pub(crate) shards: Option<number::Lengths>,
    /// The codecs of chunks: gzip, zstd(3), `transpose(1,0),blosc(lz4,5,shuffle)`, `none`, or the JSON list of a Zarr v3
    /// document.
    #[arg(long, value_name = "CODECS")]
    pub(crate) codecs: Option<String>,
    /// The fill value, as in a Zarr v3 document: 0, NaN, 0x7fc00001, "text", or a date: 2000-01-01. In dialects that have it, null
    /// leaves it undefined.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) fill: Option<String>,
    /// Names of the dimensions, divided by commas; an empty text for an array without dimensions.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) dims: Option<Vec<String>>,
    /// The attributes, a JSON object.
    #[arg(long, value_name = "JSON")]
    pub(crate) attributes: Option<String>,
    /// The dialect to write: v3, v2, or an older one: d2022, p2020, p2019 (drafts of version 3), v1, v0 (one array at the root);
    /// by default that of the hierarchy that is there, else v3. Another one than that of the hierarchy is refused.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    pub(crate) dialect: Option<Dialect>,
    /// What stands between the numbers in chunk keys: / or a period.
    #[arg(long, value_name = "CHAR", value_parser = separator)]
    pub(crate) separator: Option<char>,
    /// Replace what is at PATH, with all that lies below it.
    #[arg(long)]
    pub(crate) overwrite: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Write {
    #[command(flatten)]
    pub(crate) node: Node,
    /// A file of numpy (.npy), JSON (.json) or CSV (.csv); `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) from: PathBuf,
    /// In which form the file is; by default as its name says, else that of numpy.
    #[arg(long = "as", value_name = "FORM")]
    pub(crate) form: Option<Source>,
    /// Which elements to write, as in numpy: "0:10, 5, ::2, ..."; by default all.
    #[arg(long, value_name = "SEL", allow_hyphen_values = true)]
    pub(crate) select: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The store to read, which is not changed.
    #[arg(value_name = "SRC")]
    pub(crate) source: String,
    /// The store to write, which is made if it is not there.
    #[arg(value_name = "DST")]
    pub(crate) target: String,
    /// The dialect to write: v3, v2, d2022, p2020, p2019, v1 or v0; by default v2 if SRC is v2, else v3.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    pub(crate) dialect: Option<Dialect>,
    /// The shape of chunks (with --shards: of inner chunks), for arrays of as many dimensions.
    #[arg(long, value_name = "SHAPE", value_parser = number::shape)]
    pub(crate) chunks: Option<number::Lengths>,
    /// The shape of shards, for arrays of as many dimensions; `none`: no shards.
    #[arg(long, value_name = "SHAPE", value_parser = number::shape_or_none)]
    pub(crate) shards: Option<number::LengthsOrNone>,
    /// The codecs of chunks: gzip, zstd(3), `transpose(1,0),blosc(lz4,5,shuffle)`, `none`, or the JSON list of a Zarr v3
    /// document.
    #[arg(long, value_name = "CODECS")]
    pub(crate) codecs: Option<String>,
    /// Convert this node alone, with all below it and the groups above it.
    #[arg(long, value_name = "PATH")]
    pub(crate) node: Option<String>,
    /// How much memory may be used for data.
    #[arg(long, value_name = "SIZE", value_parser = number::parse_size, default_value = "1GiB")]
    pub(crate) memory: u64,
    /// Replace the nodes that are in the way in DST.
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Write nothing: tell what would become of each node, what DST cannot say, and what it costs.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) loss: Loss,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) node: Node,
    /// Tell the shape, data type, chunks and codecs of arrays.
    #[arg(short, long)]
    pub(crate) long: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Migrate {
    /// The store.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// The dialect to write: v3 (the default), v2, d2022, p2020 or p2019. With --finish and --undo the store says
    /// what was written; only what was migrated without a record needs it.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    pub(crate) dialect: Option<Dialect>,
    /// Write nothing: tell what would become of each node, and what it costs.
    #[arg(long, conflicts_with_all = ["finish", "undo"])]
    pub(crate) dry_run: bool,
    /// Drop the old documents, and old chunks that are none of the new arrays.
    #[arg(long, conflicts_with = "undo")]
    pub(crate) finish: bool,
    /// Drop the new documents, and new chunks that are none of the old arrays.
    #[arg(long)]
    pub(crate) undo: bool,
    /// How much memory may be used for data.
    #[arg(long, value_name = "SIZE", value_parser = number::parse_size, default_value = "1GiB")]
    pub(crate) memory: u64,
    #[command(flatten)]
    pub(crate) loss: Loss,
}

#[derive(Debug, Args)]
pub(crate) struct Attrs {
    #[command(flatten)]
    pub(crate) node: Node,
    /// Set an attribute; VALUE is JSON, or text if it is not. Nothing else in the document changes.
    #[arg(long, value_name = "NAME=VALUE", value_parser = attribute)]
    pub(crate) set: Vec<(String, Value)>,
    /// Take an attribute out.
    #[arg(long, value_name = "NAME")]
    pub(crate) unset: Vec<String>,
}

/// Where a node is copied from and to.
#[derive(Debug, Args)]
pub(crate) struct Copy {
    /// The node, as URL::PATH; URL alone is the root.
    #[arg(value_name = "SRC")]
    pub(crate) source: String,
    /// The new node, as URL::PATH; groups above it are made. In a hierarchy of another format it is converted.
    #[arg(value_name = "DST")]
    pub(crate) target: String,
    /// Replace what is there, with all that lies below it.
    #[arg(long)]
    pub(crate) overwrite: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The store; the node may stand behind it: URL::PATH.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// The node, with all that lies below it; / is the root, of which only what belongs to nodes is erased, in whatever dialect they
    /// are.
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// Erase a group that has nodes or anything else below it, with all of that.
    #[arg(short, long)]
    pub(crate) recursive: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Consolidate {
    #[command(flatten)]
    pub(crate) node: Node,
    /// Write nothing: tell in what it differs from the nodes; the exit code is 4 if it does.
    #[arg(long, conflicts_with = "drop")]
    pub(crate) check: bool,
    /// Drop it.
    #[arg(long)]
    pub(crate) drop: bool,
}

fn attribute(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), Value::from_json(value).unwrap_or_else(|_| Value::from(value))))
}

fn dialect(text: &str) -> Result<Dialect, String> {
    text.parse().map_err(|_| format!("expected one of {}", Dialect::ALL.map(Dialect::name).join(", ")))
}

fn separator(text: &str) -> Result<char, String> {
    match text {
        "/" => Ok('/'),
        "." => Ok('.'),
        _ => Err("expected / or a period".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
