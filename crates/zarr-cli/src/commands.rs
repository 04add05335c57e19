//! Verbs of the command: a module for each verb with its arguments and its code (`copy` has two verbs), and modules for code that several
//! verbs use.
//!
//! # A new verb
//! 1. A file here with its arguments and its work (`list.rs` shows JSON and a table); its `mod`, and its row of `verbs!`, with what an
//!    interruption leaves if it writes; its name in `help.rs`, by purpose, and three examples in `examples.rs`, which `topics.rs` in
//!    `crates/zarr-cli/tests/command` runs for the verbs that it lists. What `usage/meant.rs` knows of options of other verbs, if it has
//!    such options.
//! 2. Its JSON in `docs/json.schema.json` and `docs/json.md`, against which `json.rs` in `crates/zarr-cli/tests/command` checks real
//!    output. The text of `zarr info` is `crates/zarr-array/src/summary.rs`, over `crates/zarr-meta/src/text.rs`; the JSON of `info`,
//!    `ls` and `tree` is `crates/zarr-meta/src/facts.rs`, with `crates/zarr-array/src/sizes.rs`.
//! 3. A test of its own in `crates/zarr-cli/tests/command`, and rows in its `output.rs` (if the verb prints) and `hostile.rs`.
//! 4. `docs/command.md`: a line of *All verbs*, and a transcript, which
//!    `ZARR_BLESS=1 cargo test -p zarr-cli --test command commands_print` writes.

mod advise;
mod append;
mod attrs;
mod bar;
mod bench_codecs;
mod check;
mod chunks;
mod completions;
mod consolidate;
mod consolidated;
mod conversion_lines;
mod convert;
mod copy;
mod create;
mod dataset;
pub(crate) mod describe;
mod diff;
mod digest;
mod dry_run;
mod du;
pub(crate) mod examples;
mod explain;
mod geozarr;
mod help;
mod image_args;
mod image_windows;
mod info;
mod list;
mod log;
mod man;
mod migrate;
mod pyramid;
mod read;
mod region;
mod remove;
mod remove_metadata;
mod rename_dims;
mod resize;
mod rounding;
mod serve;
mod skipped_items;
mod stats;
pub(crate) mod topics;
mod transfer;
mod tree;
mod view;
mod virtualize;
mod whole_directory;
mod write;

use crate::args::Global;
use crate::context::Context;
use crate::failure::Result;
use crate::near::near;
use crate::{hints, interrupted};
use clap::error::{ContextKind, ContextValue};
use clap::{FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;

const EXIT_CODES: &str = "\
Exit codes:
  0    Done, and all output was written
  1    Done but for the chunks that are listed, or `check` found something,
       or `diff` or `digest --compare` found other data
  2    The arguments are wrong, or ask for something that is not possible
  3    There is no such store, node or input file
  4    Data or metadata is invalid or cannot be read
  5    The store or another file failed, or output was lost
  130  Interrupted by Ctrl-C; 143: by a request to end. A verb that writes
       prints what is left, and how to go on
  141  The reader of standard output or the pager takes no more,
       which is not reported

Control characters in names, attributes and elements are printed as escapes (\\u{1b}, in JSON \\u001b).";

/// Looks at, reads, writes and converts Zarr data of every version.
///
/// URL is a directory (a path or file:///..), a zip file (x.zip, x.ozx or zip:URL), a netCDF, HDF5 or TIFF file to read (x.nc,
/// x.h5, x.tif), an SQLite file (sqlite:PATH), a bucket (s3://BUCKET/KEY, gs://.., az://..) or a web address (https://..).
/// --store-option sets options of access: region, endpoint, anonymous, profile and others; the error for an unknown option lists all.
/// PATH is a node in the store, such as /a/b.
#[derive(Debug, Parser)]
#[command(name = "zarr", version, arg_required_else_help = true, after_long_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Verb,
}

/// Defines the enum of all verbs. Each row has the arguments of a verb, whose doc comment is the help of the verb, the function that runs
/// the verb, and, if the verb writes, a message about what an interruption leaves unfinished.
macro_rules! verbs {
    ($($verb:ident($args:ty) => $run:path $(, $left:literal)?;)*) => {
        #[derive(Debug, Subcommand)]
        enum Verb {
            $($verb(Box<$args>),)*
        }

        impl Verb {
            fn run(&self, context: &Context) -> Result<()> {
                match self {
                    $(Self::$verb(args) => $run(context, args),)*
                }
            }

            /// Returns the initial message about what an interruption leaves unfinished, and how to continue; `None` if the verb does not
            /// write. The verb may replace the message while it runs.
            fn leaves(&self) -> Option<&'static str> {
                let left: &[&str] = match self {
                    $(Self::$verb(_) => &[$($left)?],)*
                };
                left.first().copied()
            }
        }
    };
}

verbs! {
    Tree(tree::Tree) => tree::run;
    Ls(list::List) => list::run;
    Info(info::Info) => info::run;
    Ds(dataset::Ds) => dataset::run;
    Du(du::Du) => du::run;
    Stats(stats::Stats) => stats::run;
    Read(read::Read) => read::run;
    View(view::View) => view::run;
    Create(create::Create) => create::run,
        "the node is there as a whole, or not at all";
    Write(write::Write) => write::run,
        "each chunk has its old elements or its new ones; the same command writes all";
    Append(append::Append) => append::run,
        "nothing is appended";
    Convert(convert::Convert) => convert::run,
        "nothing is written";
    Virtualize(virtualize::Virtualize) => virtualize::run,
        "the references are as before, or written; the same command with --overwrite writes them";
    Pyramid(pyramid::MakePyramid) => pyramid::run,
        "nothing is written";
    Diff(diff::Diff) => diff::run;
    Digest(digest::Digest) => digest::run;
    Migrate(migrate::Migrate) => migrate::run,
        "nothing is written";
    RemoveMetadata(remove_metadata::RemoveMetadata) => remove_metadata::run;
    Resize(resize::Resize) => resize::run,
        "the array has its old shape or its new one; the same command sets the new one";
    RenameDims(rename_dims::RenameDims) => rename_dims::run,
        "some arrays may have the new names; `zarr tree` shows which";
    Attrs(attrs::Attrs) => attrs::run;
    Cp(copy::Copy) => copy::run,
        "nothing is written";
    Mv(copy::Move) => copy::run_move,
        "nothing is moved";
    Rm(remove::Remove) => remove::run,
        "the node is there, or gone from its path; `zarr check` names keys that are left of it";
    Check(check::Check) => check::run;
    Log(log::Log) => log::run;
    BenchCodecs(bench_codecs::BenchCodecs) => bench_codecs::run;
    Advise(advise::Advise) => advise::run;
    Consolidate(consolidate::Consolidate) => consolidate::run;
    Serve(serve::Serve) => serve::run;
    Completions(completions::Completions) => completions::run;
    Man(man::Man) => man::run;
}

/// Parses the command line `args`, whose first element is the name of the program.
pub(crate) fn parse(args: Vec<OsString>) -> Result<Cli, clap::Error> {
    let mut command = help::command();
    let matches = command.try_get_matches_from_mut(args).map_err(without_secret)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    hints::set_verb(command, matches.subcommand_name().unwrap_or_default());
    Ok(cli)
}

/// Removes the value of `--store-option` from the error, since the value may be a secret token.
fn without_secret(mut error: clap::Error) -> clap::Error {
    let argument = error.get(ContextKind::InvalidArg);
    if matches!(argument, Some(ContextValue::String(argument)) if argument.starts_with("--store-option")) {
        error.insert(ContextKind::InvalidValue, ContextValue::String("...".to_owned()));
    }
    error
}

/// Returns the definition of the command line for clap, with the common options added to every verb.
pub(crate) fn definition() -> clap::Command {
    help::command()
}

/// Names of verbs, each with the names of similar commands in other programs.
const OTHERS: [(&str, &[&str]); 15] = [
    ("cp", &["copy", "clone", "duplicate"]),
    ("mv", &["move", "rename"]),
    ("rm", &["delete", "remove", "del", "erase"]),
    ("ls", &["list", "dir"]),
    ("read", &["cat", "get", "print", "dump", "show", "head", "export"]),
    ("info", &["describe", "inspect", "meta", "metadata"]),
    ("du", &["size", "usage"]),
    ("check", &["validate", "verify", "fsck", "lint"]),
    ("convert", &["rechunk", "repack", "recompress", "reshard", "transcode"]),
    ("view", &["plot", "image", "display"]),
    ("migrate", &["upgrade"]),
    ("digest", &["hash", "checksum"]),
    ("create", &["new", "init", "mkdir"]),
    ("diff", &["compare", "cmp"]),
    ("log", &["history", "commits", "ancestry"]),
];

/// Returns the verb or help topic that the user probably meant by the unknown verb `name`: the verb that other programs call `name`, or a
/// verb or topic with a similar spelling.
pub(crate) fn near_verb(name: &str) -> Option<String> {
    if let Some((verb, _)) = OTHERS.iter().find(|(_, names)| names.contains(&name)) {
        return Some((*verb).to_owned());
    }
    let command = help::command();
    let verbs = command.get_subcommands().map(|verb| verb.get_name());
    near(name, verbs.chain(topics::TOPICS.map(|(topic, _)| topic))).map(str::to_owned)
}

/// Runs the verb of the command line, then flushes the stores and prints their warnings.
pub(crate) fn run(cli: Cli) -> Result<()> {
    if let Some(left) = cli.verb.leaves() {
        interrupted::watch(left, cli.global.json);
    }
    let context = Context::new(cli.global);
    let done = cli.verb.run(&context).and_then(|()| context.flush_stores());
    context.store_warnings();
    if done.is_err() {
        context.remove_empty();
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn verbs_have_names_of_other_programs() {
        let command = definition();
        for (verb, names) in OTHERS {
            assert!(command.find_subcommand(verb).is_some(), "{verb}");
            assert!(names.iter().all(|name| command.find_subcommand(name).is_none()), "{names:?}");
        }
        assert_eq!(near_verb("rechunk").as_deref(), Some("convert"));
        assert_eq!(near_verb("stat").as_deref(), Some("stats"));
    }
}
