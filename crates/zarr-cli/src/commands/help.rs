//! Help of the command: verbs by purpose, on one screen.

use super::{Cli, EXIT_CODES, examples};
use crate::columns::padded;
use clap::{Command, CommandFactory};

/// Purpose, and the verbs for it, each with a short description.
type Group = (&'static str, &'static [(&'static str, &'static str)]);

/// Verbs grouped by purpose.
const GROUPS: [Group; 4] = [
    (
        "Look at data",
        &[
            ("tree", "the hierarchy: shapes, data types, chunks, codecs"),
            ("ls", "the nodes of a group, one per line"),
            ("info", "all about one node, and how much of it is stored"),
            ("ds", "a group as a data set: dimensions, coordinates, variables"),
            ("read", "elements by index or label: text, JSON, CSV, npy, raw"),
            ("stats", "extremes, mean, quantiles, histogram, missing values"),
            ("view", "a picture of a plane: in the terminal, or as PNG"),
            ("du", "stored and logical bytes of each node"),
            ("digest", "a hash of shapes, types and values alone"),
            ("diff", "where two nodes differ, with all below them"),
            ("check", "what is broken, stale or stray; --repair mends it"),
        ],
    ),
    (
        "Create and change",
        &[
            ("create", "an array, or with --group a group"),
            ("write", "elements, from a file or a value"),
            ("append", "to a data set or an array along a dimension"),
            ("resize", "change the shape of an array"),
            ("attrs", "show and set attributes, name dimensions"),
            ("rename-dims", "rename dimensions of an array or a group"),
        ],
    ),
    (
        "Convert",
        &[
            ("convert", "into another format, chunk shape, compression; or a region"),
            ("pyramid", "coarser levels of an array, also of OME-Zarr images"),
            ("virtualize", "references to the chunks of netCDF, HDF5 and other files"),
            ("migrate", "into another format in place, with --undo"),
            ("consolidate", "write, check or drop consolidated metadata"),
            ("bench-codecs", "which codecs fit an array: size and speed"),
            ("advise", "which chunks, shards and codecs fit reads and writes"),
        ],
    ),
    (
        "Copy and erase",
        &[
            ("cp", "copy a node, with all below it, also to another store"),
            ("mv", "move a node, with all below it, also to another store"),
            ("rm", "erase a node"),
        ],
    ),
];

/// Verbs that are listed in one line at the end, without a description.
const MORE: [(&str, &str); 6] = [
    ("log", ""),
    ("serve", " (HTTP)"),
    ("remove-metadata", ""),
    ("completions", ""),
    ("man", ""),
    ("help", " VERB or TOPIC"),
];

const BELOW: &str = "\
URL: x.zarr, x.zip, x.nc, x.h5, sqlite:x, s3://b/x, gs://.., az://.., https://..
PATH: a node in it, /a/b; also URL::/a/b, and x.zarr/a/b
Topics: zarr help stores, selection, codecs, formats, options
Exit: 0 done, 1 findings, 2 arguments, 3 not there, 4 data, 5 store, 130 Ctrl-C
";

/// Returns the definition of the command line, with the examples of each verb in its help.
pub(super) fn definition() -> Command {
    let mut command = Cli::command();
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    for name in verbs {
        let Some(examples) = examples::of(&name) else { continue };
        command = command.mut_subcommand(&name, |verb| {
            let with = |text: Option<String>| text.map_or(examples.clone(), |text| format!("{text}\n\n{examples}"));
            let short = verb.get_after_help().map(ToString::to_string);
            let long = verb.get_after_long_help().map(ToString::to_string).or_else(|| short.clone());
            verb.after_help(with(short)).after_long_help(with(long))
        });
    }
    command
}

/// Returns the definition of the command line, with the screen as help of the command.
pub(super) fn command() -> Command {
    // The verb `help` is there once the command is built.
    let mut command = definition();
    command.build();
    command.help_template(screen())
}

/// Returns the screen: all verbs with a short description, in a paragraph for each purpose.
fn screen() -> String {
    let mut text =
        "Looks at, reads, writes and converts Zarr data of every version.\n\n{usage-heading} zarr VERB URL [PATH] \
                    [OPTIONS]; `zarr VERB -h` describes one\n\n"
            .to_owned();
    for (title, verbs) in GROUPS {
        text.push_str(&format!("{title}:\n"));
        for (name, about) in verbs {
            text.push_str(&format!("{}{about}\n", padded(&format!("  {name}"), 19)));
        }
    }
    let more: Vec<String> = MORE.iter().map(|(name, about)| format!("{name}{about}")).collect();
    format!("{text}More: {}\n{BELOW}", more.join(", "))
}

/// Returns the help of the options that every verb has, and the exit codes.
pub(super) fn options() -> String {
    let mut command = definition();
    command.build();
    let options = command.help_template("{options}").render_long_help();
    format!("Options of every command:\n{options}\n{EXIT_CODES}\n\nExamples:\n  zarr tree climate.zarr --json\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_has_one_purpose() {
        let command = command();
        let mut verbs: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let of_groups = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter());
        let mut listed: Vec<&str> = of_groups.chain(&MORE).map(|(verb, _)| *verb).collect();
        verbs.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, verbs);
    }

    #[test]
    fn each_verb_has_examples_of_its_own() {
        for verb in command().get_subcommands().filter(|verb| verb.get_name() != "help") {
            let name = verb.get_name();
            let examples = examples::of(name).unwrap_or_else(|| panic!("{name} has no examples"));
            let lines: Vec<&str> = examples.lines().skip(1).map(str::trim).collect();
            assert!(
                lines.iter().all(|line| line.starts_with(&format!("zarr {name} ")) || *line == "zarr man"),
                "{lines:?}"
            );
            for help in [verb.get_after_help(), verb.get_after_long_help()] {
                assert!(help.is_some_and(|help| help.to_string().ends_with(&examples)), "{name}");
            }
        }
    }

    #[test]
    fn the_help_is_one_screen() {
        let mut command = command();
        for help in [command.render_help(), command.render_long_help()].map(|help| help.to_string()) {
            assert!(help.lines().count() <= 40 && help.lines().all(|line| line.len() <= 80), "{help}");
        }
    }
}
