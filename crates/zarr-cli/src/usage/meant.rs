//! Hints about an option that the verb does not have: another name of an option of the verb, an option of another verb, or no option at
//! all.

use crate::near::{near, question};
use clap::{Arg, ArgAction, Command};

/// Greatest number of verbs that a hint names for an option.
const MOST_VERBS: usize = 4;

/// Names that have the same meaning, as options of several verbs and of other programs. A hint names the options of the verb in this order.
const SAME: [&[&str]; 27] = [
    &["--sel", "--isel", "--select", "--slice", "--region", "--subset", "--index", "--indices", "--where"],
    &["--along", "--dim", "--axis", "--dimension", "--dim-name"],
    &["--dims", "--dimension-names", "--dimensions"],
    &["--dialect", "--dialect-a", "--zarr-format", "--zarr-version", "--format", "--to", "--spec"],
    &["--as", "--output-format", "--out-format", "--type-of-output", "--format"],
    &["--output", "-o", "--out", "--outfile", "--output-file", "--file", "--save", "-O"],
    &["--overwrite", "--force", "-f", "--clobber", "--replace", "--yes", "-y"],
    &["--recursive", "-r", "-R"],
    &["--depth", "-L", "--levels", "--max-depth", "--maxdepth", "--level"],
    &["--dry-run", "-n", "--plan", "--what-if", "--simulate"],
    &["--threads", "-j", "--jobs", "--workers", "--cores", "-t"],
    &["--codecs", "--codec", "--compressor", "--compression", "--compressors", "--filters", "--filter"],
    &["--chunks", "--chunk", "--chunk-shape", "--chunk-size", "--chunksize", "--rechunk", "-c"],
    &["--shards", "--shard", "--shard-shape", "--shard-size"],
    &["--dtype", "--data-type", "--type", "-d"],
    &["--fill", "--fill-value", "--fillvalue", "--value"],
    &["--attributes", "--attrs", "--set", "--attr", "--attribute", "-a"],
    &["--variables", "--variable", "--vars", "--var", "--arrays"],
    &["--exclude", "--skip", "--ignore", "--without", "--omit"],
    &["--resume", "--continue", "--restart"],
    &["--keep-going", "--ignore-errors", "--skip-errors", "-k"],
    &["--memory", "--mem", "--max-memory", "--memory-limit", "-m"],
    &["--long", "-l", "--verbose", "-v", "--details"],
    &["--cmap", "--colormap", "--colourmap", "--palette"],
    &["--range", "--vmin", "--vmax", "--clim", "--limits"],
    &["--head", "--first", "--limit", "--rows", "--max-findings"],
    &[
        "--store-option",
        "--storage-option",
        "--storage-options",
        "--endpoint",
        "--endpoint-url",
        "--profile",
        "--anon",
        "--anonymous",
        "--no-sign-request",
        "--token",
        "--region",
    ],
];

/// Verbs for which a hint of `TOLD` is printed.
enum Of {
    /// The listed verbs.
    Verbs(&'static [&'static str]),
    /// Verbs that have this option.
    Having(&'static str),
    /// Verbs that take this value as a positional argument.
    Taking(&'static str),
    /// All verbs.
    Others,
}

/// Unknown options for which a hint has to say more than the name of another option: the names, the verbs, and the hint.
const TOLD: &[(&[&str], Of, &str)] = &[
    (&["--format"], Of::Having("--as"), "--dialect v3 is the format of metadata, --as json the form of output"),
    (&["--zarr-format", "--zarr-version", "--format", "--to"], Of::Having("--dialect"), "--dialect v3 is the format"),
    (&["--zarr-format", "--zarr-version", "--dialect", "--format"], Of::Verbs(&["cp", "mv"]), COPIES),
    (
        &["--zarr-format", "--zarr-version", "--dialect", "--format"],
        Of::Verbs(&["remove-metadata"]),
        "v2 or v3 stands before the store",
    ),
    (&["--along"], Of::Verbs(&["resize"]), "--dim time=24 is the new length of a dimension"),
    (&["--shape"], Of::Verbs(&["append"]), "`zarr resize` has --shape: an append grows an array by what it appends"),
    (
        &["--dim", "--along", "--axis"],
        Of::Having("--isel"),
        "--isel DIM=INDICES and --sel DIM=LABELS select along a dimension",
    ),
    (&["--dim", "--along", "--axis"], Of::Verbs(&["attrs", "create"]), "--dims NAMES names the dimensions"),
    (&["--chunks"], Of::Verbs(&["resize", "attrs", "migrate"]), "`zarr convert` has --chunks"),
    (&["-r", "-R", "--recursive"], Of::Verbs(&BELOW), "it is of all nodes below in any case"),
    (&["-r", "-R", "--recursive", "--depth", "-L"], Of::Verbs(&["info", "attrs"]), "`zarr tree` shows all nodes below"),
    (
        &["-f", "--force", "--overwrite", "-y", "--yes"],
        Of::Verbs(&["rm"]),
        "`zarr rm` asks nothing; -r erases what lies below as well",
    ),
    (
        &["-f", "--force", "--overwrite"],
        Of::Verbs(&["write", "attrs", "consolidate"]),
        "it asks nothing: what is there is replaced",
    ),
    (&["-f", "--force", "--overwrite"], Of::Verbs(&["append"]), "it asks nothing: nothing that is there is replaced"),
    (&["-f", "--force"], Of::Verbs(&["resize"]), "--shrink cuts elements off"),
    (&OUTPUT, Of::Verbs(&["convert", "cp", "mv"]), "DST, the second address, is what is written"),
    (&OUTPUT, Of::Verbs(&["create", "write", "append"]), "URL, the first argument, is what is written"),
    (&OUTPUT, Of::Having("--output"), "-o FILE is the file to write"),
    (&OUTPUT, Of::Verbs(&["migrate"]), "OUTPUT, the argument behind the store, is what is written"),
    (&OUTPUT, Of::Verbs(&PRINTING), "the result goes to standard output: `> FILE` keeps it"),
    (&["--as"], Of::Verbs(&["view"]), "-o FILE.png writes a picture"),
    (&["--as", "--output-format", "--format"], Of::Others, "--json prints JSON"),
    (&NODE, Of::Having("--node"), "--node PATH is the node"),
    (&NODE, Of::Verbs(&["cp", "mv", "diff"]), "URL::PATH names a node"),
    (&NODE, Of::Verbs(&["migrate", "serve", "remove-metadata"]), "it is of the store as a whole"),
    (&NODE, Of::Taking("PATH"), "the node stands behind the store: URL PATH, or URL::PATH"),
    (
        &["--variables", "--variable", "--var", "--vars"],
        Of::Verbs(&ONE),
        "the variable stands behind the store: URL PATH, or URL::PATH",
    ),
    (&["--in-place", "--inplace"], Of::Verbs(&["convert"]), "`zarr migrate` converts in place"),
];

const COPIES: &str = "a copy has the format of the hierarchy that it comes into; `zarr convert` has --dialect";
const OUTPUT: [&str; 7] = ["-o", "--output", "--out", "--outfile", "--output-file", "--save", "-O"];
const NODE: [&str; 5] = ["--node", "--path", "--array", "--group", "-p"];
/// Verbs that print their results.
const PRINTING: [&str; 14] = [
    "tree",
    "ls",
    "info",
    "ds",
    "du",
    "stats",
    "diff",
    "digest",
    "attrs",
    "check",
    "bench-codecs",
    "advise",
    "completions",
    "man",
];
/// Verbs that visit all nodes below a node.
const BELOW: [&str; 11] =
    ["tree", "du", "check", "convert", "migrate", "cp", "mv", "diff", "digest", "consolidate", "remove-metadata"];
/// Verbs that work on one array.
const ONE: [&str; 6] = ["read", "stats", "view", "write", "resize", "bench-codecs"];

/// Returns a hint about `argument`, which `verb` does not have.
pub(super) fn hint(command: &Command, verb: Option<&Command>, argument: &str) -> String {
    let Some(verb) = verb else { return "options stand behind a verb; `zarr -h` lists the verbs".to_owned() };
    match argument.starts_with('-') && argument.len() > 1 {
        true => of_option(command, verb, argument.split('=').next().unwrap_or(argument)),
        false => of_value(verb, argument),
    }
}

fn of_option(command: &Command, verb: &Command, option: &str) -> String {
    let is_told = |(names, of, _): &&(&[&str], Of, &str)| {
        names.contains(&option)
            && match of {
                Of::Verbs(verbs) => verbs.contains(&verb.get_name()),
                Of::Having(own) => find(verb, own).is_some(),
                Of::Taking(value) => takes(verb, value),
                Of::Others => true,
            }
    };
    let told = TOLD.iter().find(is_told).map(|(_, _, hint)| (*hint).to_owned());
    let same = || SAME.iter().filter(|names| names.contains(&option)).flat_map(|names| names.iter()).copied();
    let own = || {
        let mut own: Vec<String> = Vec::new();
        for usage in same().filter_map(|name| Some(usage(find(verb, name)?))) {
            if !own.contains(&usage) {
                own.push(usage);
            }
        }
        (!own.is_empty()).then(|| format!("`zarr {}` has {}", verb.get_name(), own.join(", ")))
    };
    let typed = || {
        let names = verb.get_arguments().filter_map(Arg::get_long);
        near(option.strip_prefix("--")?, names).map(|name| question(&format!("--{name}")))
    };
    // Name another verb with the same option, else one with an option of the same meaning.
    let others = || {
        // A single letter has too many meanings.
        let mut names = std::iter::once(option).chain(same()).filter(|_| option.starts_with("--"));
        names.find_map(|name| elsewhere(command, verb, name))
    };
    let help = || format!("`zarr {} -h` lists its options", verb.get_name());
    told.or_else(own).or_else(typed).or_else(others).unwrap_or_else(help)
}

/// Returns a hint with the names of the verbs that have `option`; `None` if no other verb has it.
fn elsewhere(command: &Command, verb: &Command, option: &str) -> Option<String> {
    let verbs = command.get_subcommands().filter(|other| other.get_name() != verb.get_name());
    let having: Vec<(&str, &Arg)> = verbs.filter_map(|verb| Some((verb.get_name(), find(verb, option)?))).collect();
    let (_, arg) = having.first()?;
    let mut names: Vec<String> = having.iter().take(MOST_VERBS).map(|(verb, _)| format!("`zarr {verb}`")).collect();
    if having.len() > MOST_VERBS {
        names.push("others".to_owned());
    }
    let names = match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last} have", before.join(", ")),
        _ => format!("{} has", names.concat()),
    };
    Some(format!("{names} {}; `zarr {} -h` lists the options of {}", usage(arg), verb.get_name(), verb.get_name()))
}

/// Finds the option of a verb by its long or short name.
fn find<'v>(verb: &'v Command, name: &str) -> Option<&'v Arg> {
    let is_it = |arg: &&Arg| match name.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| name.strip_prefix('-') == Some(short.to_string().as_str())),
    };
    verb.get_arguments().find(is_it)
}

/// Returns whether a verb takes the positional argument `value`.
fn takes(verb: &Command, value: &str) -> bool {
    verb.get_positionals().any(|arg| arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == value)))
}

/// Returns an option with the name of its value, such as `--dim DIM=LENGTH`.
fn usage(arg: &Arg) -> String {
    let name = match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => arg.get_id().to_string(),
    };
    let value = arg.get_value_names().filter(|_| arg.get_action().takes_values()).and_then(|names| names.first());
    value.map_or(name.clone(), |value| format!("{name} {value}"))
}

/// Returns a hint about a positional argument that the verb does not take.
fn of_value(verb: &Command, value: &str) -> String {
    let has = |name: &str| find(verb, name).is_some();
    let is_index = value.chars().all(|letter| letter.is_ascii_digit() || ":,-[]. ".contains(letter))
        && value.contains(|letter: char| letter.is_ascii_digit() || letter == ':');
    let text = if value.contains(' ') { format!("\"{value}\"") } else { value.to_owned() };
    match verb.get_name() {
        "rm" => return "one node is erased at a time: `zarr rm URL PATH` for each".to_owned(),
        "convert" | "cp" | "mv" => return format!("`zarr {} SRC DST`: one source, one target", verb.get_name()),
        "attrs" if value.contains('=') => return format!("--set {text}"),
        "resize" | "rename-dims" if value.contains('=') => return format!("--dim {text}"),
        _ => {}
    }
    if value.contains('=') && has("--isel") {
        return format!("--isel {text} selects by index, --sel {text} by label");
    }
    if is_index && has("--select") {
        return format!("--select \"{value}\" selects by index");
    }
    // Further variables are of tables alone.
    let once = verb.get_positionals().filter(|arg| !matches!(arg.get_action(), ArgAction::Append));
    let arguments: Vec<String> =
        once.filter_map(|arg| arg.get_value_names()?.first().map(ToString::to_string)).collect();
    format!(
        "`zarr {} {}` takes no more; `zarr {} -h` lists its options",
        verb.get_name(),
        arguments.join(" "),
        verb.get_name()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Returns the names of options in `SAME` and `TOLD`, and those of the options of all verbs.
    fn names(command: &Command) -> BTreeSet<String> {
        let known = SAME.iter().copied().chain(TOLD.iter().map(|(names, _, _)| *names)).flatten();
        let own = command.get_subcommands().flat_map(Command::get_arguments).flat_map(|arg| {
            let short = arg.get_short().map(|short| format!("-{short}"));
            arg.get_long().map(|long| format!("--{long}")).into_iter().chain(short)
        });
        known.map(|name| (*name).to_owned()).chain(own).collect()
    }

    #[test]
    fn hints_name_options_that_are_there() {
        let command = crate::commands::definition();
        for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
            for name in names(&command).iter().filter(|name| find(verb, name).is_none()) {
                let hint = hint(&command, Some(verb), name);
                assert!(!hint.contains("as a value") && !hint.is_empty(), "{hint}");
                let words = || hint.split([' ', '`', ',', ';', ':', '"']);
                let named: Vec<&Command> = words().filter_map(|word| command.find_subcommand(word)).collect();
                for option in words().filter(|word| word.starts_with('-') && *word != "-h") {
                    let is_there =
                        std::iter::once(verb).chain(named.iter().copied()).any(|it| find(it, option).is_some());
                    assert!(is_there, "{} {name}: {option}: {hint}", verb.get_name());
                }
            }
        }
    }

    #[test]
    fn an_option_of_another_verb_is_found() {
        let command = crate::commands::definition();
        for verb in command.get_subcommands().filter(|verb| !matches!(verb.get_name(), "help" | "completions" | "man"))
        {
            for other in command.get_subcommands() {
                for long in other.get_arguments().filter_map(Arg::get_long) {
                    let name = format!("--{long}");
                    if find(verb, &name).is_none() {
                        let hint = hint(&command, Some(verb), &name);
                        assert!(!hint.ends_with("lists its options"), "{} {name}: {hint}", verb.get_name());
                    }
                }
            }
        }
    }

    #[test]
    fn hints_are_of_the_verb() {
        let command = crate::commands::definition();
        let check = |line: &str, expected: &str| {
            let (verb, argument) = line.split_once(' ').unwrap();
            assert_eq!(hint(&command, command.find_subcommand(verb), argument), expected, "{line}");
        };
        check("append --dim", "`zarr append` has --along DIM");
        check("convert --force", "`zarr convert` has --overwrite");
        check("convert --select", "`zarr convert` has --sel DIM=LABELS, --isel DIM=INDICES");
        check("create --compressor=zstd", "`zarr create` has --codecs CODECS");
        check("tree --jsno", "is \"--json\" meant?");
        check("append --force", "it asks nothing: nothing that is there is replaced");
        check("mv --path", "URL::PATH names a node");
        check("serve --node", "it is of the store as a whole");
        check("convert --group", "--node PATH is the node");
        check("read --node", "the node stands behind the store: URL PATH, or URL::PATH");
        check("migrate -o", "OUTPUT, the argument behind the store, is what is written");
        check("read -", "`zarr read URL PATH` takes no more; `zarr read -h` lists its options");
        check("read ", "`zarr read URL PATH` takes no more; `zarr read -h` lists its options");
        check("tree -o", "the result goes to standard output: `> FILE` keeps it");
        check("read --dim", "--isel DIM=INDICES and --sel DIM=LABELS select along a dimension");
        check("read time=0", "--isel time=0 selects by index, --sel time=0 by label");
        check("read 0:2", "--select \"0:2\" selects by index");
        check("rename-dims a=b", "--dim a=b");
        check("mv --dialect", COPIES);
        check(
            "info --sel",
            "`zarr stats`, `zarr read`, `zarr view`, `zarr write` and others have --sel DIM=LABELS; `zarr info -h` lists the options of info",
        );
        let rm = hint(&command, command.find_subcommand("rm"), "--output");
        assert!(!rm.contains("standard output"), "{rm}");
        assert!(hint(&command, None, "--sel").contains("behind a verb"));
    }
}
