//! Hints about an argument that shows its meaning beside others: a selection in several words, a node between two stores, a dimension as
//! an option.

use clap::Command;
use std::ffi::OsString;

/// Options that would be the name of a dimension, where no such option is.
const DIMENSIONS: [&str; 11] =
    ["--time", "--lat", "--lon", "--latitude", "--longitude", "--level", "--depth", "--x", "--y", "--z", "--band"];

/// A hint about an argument that a verb does not have, by the words beside it.
pub(super) fn hint(verb: Option<&Command>, argument: &str, args: &[OsString]) -> Option<String> {
    let verb = verb?;
    let words: Vec<&str> = args.iter().map(|arg| arg.to_str().unwrap_or_default()).collect();
    let at = words.iter().position(|word| *word == verb.get_name())?;
    let behind = words.get(at + 1..).unwrap_or_default();
    unquoted(behind, argument)
        .or_else(|| of_node(verb.get_name(), behind))
        .or_else(|| of_dimension(verb, argument, behind))
}

/// A hint about the second word of `--select 0, 0, 0:5`.
fn unquoted(words: &[&str], argument: &str) -> Option<String> {
    let is_index = |word: &&&str| {
        word.chars().all(|letter| letter.is_ascii_digit() || ":,-[].".contains(letter)) && !word.starts_with("--")
    };
    let at = words.iter().position(|word| *word == "--select")?;
    let selection: Vec<&str> = words.get(at + 1..)?.iter().take_while(is_index).copied().collect();
    let is_cut = selection.len() > 1 && selection.contains(&argument);
    is_cut.then(|| format!("one argument has the whole selection, in quotes: --select \"{}\"", selection.join(" ")))
}

/// A hint about `SRC NODE DST`.
fn of_node(verb: &str, words: &[&str]) -> Option<String> {
    let &[source, node, target] = words else { return None };
    if words.iter().any(|word| word.starts_with('-')) {
        return None;
    }
    let node = node.trim_start_matches('/');
    match verb {
        "cp" | "mv" => Some(format!("a node stands behind its store: `zarr {verb} {source}::/{node} {target}`")),
        "convert" => Some(format!("--node is the node: `zarr convert {source} {target} --node /{node}`")),
        _ => None,
    }
}

/// A hint about `--time 0`.
fn of_dimension(verb: &Command, argument: &str, words: &[&str]) -> Option<String> {
    let (option, value) = argument.split_once('=').map_or((argument, None), |(option, value)| (option, Some(value)));
    let has_isel = verb.get_arguments().any(|arg| arg.get_long() == Some("isel"));
    let name = option.strip_prefix("--").filter(|_| has_isel && DIMENSIONS.contains(&option))?;
    let next = || words.iter().skip_while(|word| **word != argument).nth(1).filter(|word| !word.starts_with("--"));
    let value = value.or_else(|| next().copied()).unwrap_or("0");
    Some(format!("--isel {name}={value} selects by index, --sel {name}={value} by label"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_beside_an_argument_say_what_is_meant() {
        let command = crate::commands::definition();
        let check = |line: &str, argument: &str, expected: Option<&str>| {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let verb = command.find_subcommand(line.split(' ').nth(1).unwrap());
            assert_eq!(hint(verb, argument, &args).as_deref(), expected, "{line}");
        };
        let whole = "one argument has the whole selection, in quotes: --select \"0, 0, 0:5\"";
        check("zarr read x a --select 0, 0, 0:5", "0,", Some(whole));
        check("zarr read x a 0:5", "0:5", None);
        check("zarr cp x a y", "y", Some("a node stands behind its store: `zarr cp x::/a y`"));
        check("zarr convert x /a y", "y", Some("--node is the node: `zarr convert x y --node /a`"));
        check("zarr cp x y --overwrite z", "z", None);
        let along = "--isel time=3 selects by index, --sel time=3 by label";
        check("zarr read x a --time 3", "--time", Some(along));
        check("zarr read x a --time=3", "--time=3", Some(along));
        check("zarr tree x --time 3", "--time", None);
    }
}
