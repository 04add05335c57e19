//! Rewrites hints of the library, which names no options, to the options and verbs of the command.

use clap::{Arg, Command};
use std::sync::OnceLock;

/// Definition of the command line, and the name of the running verb.
static VERB: OnceLock<(Command, String)> = OnceLock::new();

/// Verbs that a hint names for an option that the running verb lacks; the first verb that has the option counts.
const OWNERS: [&str; 3] = ["convert", "read", "migrate"];

/// Words of hints of the library, and those of the command in their place. Words that are part of others stand behind them.
const OPTIONS: [(&str, &str); 19] = [
    ("allow more memory", "--memory allows more"),
    ("or give more memory", "or --memory gives more"),
    ("give it at least ", "--memory has to be at least "),
    (
        "finish drops the old documents, undo the new ones",
        "`zarr migrate --finish` drops the old documents, `zarr migrate --undo` the new ones",
    ),
    (
        "migrate again to complete it, or undo it",
        "`zarr migrate` again completes it, `zarr migrate --undo` drops the new documents",
    ),
    ("finish again", "`zarr migrate --finish` again ends it"),
    ("undo again", "`zarr migrate --undo` again ends it"),
    ("else undo, which", "else `zarr migrate --undo`, which"),
    ("or undo, which", "or `zarr migrate --undo`, which"),
    ("name the dialect that was migrated to", "--dialect names the dialect that was migrated to"),
    (
        "nothing was written; keep_going and exclude leave it out",
        "nothing was written; --keep-going and --exclude leave it out",
    ),
    ("begin anew, without resuming", "without --resume it begins anew"),
    ("without strict writers", "without --strict-writers"),
    (
        "names can be numbered: dim_0, dim_1...",
        "`zarr ds --number-dimensions` calls them dim_0, dim_1...; `zarr attrs --dims` names them",
    ),
    ("choose other codecs for it", "`zarr convert --codecs` chooses other codecs for it"),
    ("has no shards; choose dialect v3", "has no shards; `zarr convert --dialect v3` writes a format that has them"),
    ("choose chunks of one shape", "`zarr convert --chunks` chooses chunks of one shape"),
    ("read it in parts", "--select reads a part of it"),
    (": consolidate again", ": `zarr consolidate` writes it again"),
];

/// Parts of messages of stores that come without a hint, each with its hint.
const MESSAGES: [(&str, &str); 3] = [
    (
        "the store cannot list",
        "nodes are found by their paths, or all by consolidated metadata, which `zarr consolidate` writes where the data lies",
    ),
    ("lead elsewhere only where the caller allows it", "--store-option allow=ADDRESS allows it"),
    ("the store is read-only", "`zarr cp` or `zarr convert` copies it to a place that can be written"),
];

/// Replaces the phrases of the library in `hint` by the options of the command.
pub(crate) fn by_options(hint: &str) -> String {
    OPTIONS.iter().fold(hint.to_owned(), |hint, (library, command)| hint.replace(library, command))
}

/// Stores the definition of the command line and the name of the running verb, for [`of_verb`].
pub(crate) fn set_verb(command: Command, name: &str) {
    // A process has one command line, so that the value is set once.
    let _ = VERB.set((command, name.to_owned()));
}

/// Rewrites `hint` for the running verb: an option that the verb lacks is named together with a verb that has it.
pub(crate) fn of_verb(hint: String) -> String {
    match VERB.get() {
        Some((command, name)) => for_verb(command, name, &hint),
        None => hint,
    }
}

fn for_verb(command: &Command, name: &str, hint: &str) -> String {
    let has = |verb: &str, option: &str| {
        let is_it = |arg: &Arg| arg.get_long() == Some(option);
        command.find_subcommand(verb).is_some_and(|verb| verb.get_arguments().any(is_it))
    };
    let told = |word: &str| {
        let option = word.strip_prefix("--")?.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let owner = OWNERS.iter().find(|owner| !has(name, option) && has(owner, option))?;
        Some(word.replacen(&format!("--{option}"), &format!("`zarr {owner} --{option}`"), 1))
    };
    // Commands in a hint, in every second part, are not changed.
    let plain = |text: &str| {
        text.split(' ').map(|word| told(word).unwrap_or_else(|| word.to_owned())).collect::<Vec<_>>().join(" ")
    };
    let parts = hint.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { plain(part) } else { format!("`{part}`") }).collect()
}

/// Returns a hint for a message of the library that has no hint; `None` for an unknown message.
pub(crate) fn of_message(message: &str) -> Option<String> {
    MESSAGES.iter().find(|(known, _)| message.contains(known)).map(|(_, hint)| (*hint).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// Crates whose errors the command prints.
    const CRATES: [&str; 12] = [
        "zarr-array",
        "zarr-codec",
        "zarr-compare",
        "zarr-convert",
        "zarr-dataset",
        "zarr-hierarchy",
        "zarr-references",
        "zarr-scan",
        "zarr-stats",
        "zarr-store",
        "zarr-store-virtual",
        "zarr",
    ];
    /// Words for options of the library, which a hint may only have as options or phrases of the command.
    const WORDS: [&str; 9] =
        ["memory", "finish", "undo", "resum", "overwrite", "keep_going", "exclude", "strict writers", "safe_chunks"];

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => sources(&entry.path(), found),
                false if entry.path().extension().is_some_and(|suffix| suffix == "rs") => found.push(entry.path()),
                false => {}
            }
        }
    }

    /// Returns the string literals that follow the word `hint` in a source file, with continued lines joined.
    fn hints(source: &str) -> Vec<String> {
        let code: String = source.lines().filter(|line| !line.trim_start().starts_with("//")).fold(
            String::new(),
            |all, line| match all.strip_suffix('\\') {
                Some(before) => format!("{before}{}", line.trim_start()),
                None => format!("{all}\n{line}"),
            },
        );
        let behind = code.match_indices("hint").map(|(at, word)| &code[at + word.len()..]);
        let literal = |rest: &str| {
            let (between, literal) = rest.split_once('"')?;
            let is_soon = between.len() < 40 && !between.contains(';') && !between.contains("fn ");
            is_soon.then(|| literal.split('"').next().unwrap_or_default().to_owned())
        };
        behind.filter_map(literal).collect()
    }

    /// Returns the source files of the crates in `CRATES`, with their contents; an empty list if the crates are not found, as in a
    /// published package.
    fn all() -> Vec<(PathBuf, String)> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut files = Vec::new();
        if CRATES.iter().any(|name| !crates.join(name).is_dir()) {
            return Vec::new();
        }
        CRATES.iter().for_each(|name| sources(&crates.join(name).join("src"), &mut files));
        let text = |file: PathBuf| (file.clone(), fs::read_to_string(file).unwrap());
        files.into_iter().filter(|file| !file.ends_with("tests.rs")).map(text).collect()
    }

    #[test]
    fn hints_name_the_options_that_they_mean() {
        let (all, command, mut count) = (all(), crate::commands::definition(), 0);
        if all.is_empty() {
            return;
        }
        for (file, source) in all {
            let code = source.split("#[cfg(test)]").next().unwrap_or_default();
            for hint in hints(code) {
                count += 1;
                let told = by_options(&hint);
                check_options(&command, &told);
                // Words of options and of commands are as they should be.
                let commands = told.split('`').step_by(2).collect::<String>();
                let plain: Vec<&str> = commands.split_whitespace().filter(|word| !word.starts_with("--")).collect();
                let plain = plain.join(" ");
                // The hint names a method of the library that the command lacks.
                let is_of_library = hint.contains("`safe_chunks`");
                let left = WORDS.iter().find(|word| plain.contains(**word) && !is_of_library);
                assert!(left.is_none(), "{}: {left:?}: {told}", file.display());
            }
        }
        assert!(count > 80, "{count}");
    }

    /// Checks that each option that `hint` names belongs to the verb before it in the hint, or to the running verb.
    fn check_options(command: &Command, hint: &str) {
        let has = |verb: &Command, option: &str| {
            let mut all = verb.get_arguments().chain(command.get_arguments());
            all.any(|arg| arg.get_long().is_some_and(|long| option == format!("--{long}")))
        };
        for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
            let hint = for_verb(command, verb.get_name(), hint);
            for (at, part) in hint.split('`').enumerate() {
                let named = part.split(' ').find_map(|word| command.find_subcommand(word)).filter(|_| at % 2 == 1);
                for option in part.split([' ', ':', ';', ',', '=']).filter(|word| word.starts_with("--")) {
                    assert!(has(named.unwrap_or(verb), option), "{}: {option}: {hint}", verb.get_name());
                }
            }
        }
    }

    #[test]
    fn hints_name_options_of_their_verbs() {
        let command = crate::commands::definition();
        OPTIONS.iter().chain(&MESSAGES).for_each(|(_, hint)| check_options(&command, hint));
        let hint = by_options("nothing was written; keep_going and exclude leave it out");
        let of_move = "nothing was written; `zarr convert --keep-going` and `zarr convert --exclude` leave it out";
        assert_eq!(for_verb(&command, "mv", &hint), of_move);
        assert_eq!(for_verb(&command, "convert", &hint), hint);
        let of_copy = "nothing was written; --keep-going and `zarr convert --exclude` leave it out";
        assert_eq!(for_verb(&command, "cp", &hint), of_copy);
        assert_eq!(for_verb(&command, "mv", "--memory allows more"), "`zarr convert --memory` allows more");
        assert_eq!(for_verb(&command, "stats", "--memory allows more"), "--memory allows more");
    }

    #[test]
    fn words_of_the_library_are_there() {
        let all: String = all().into_iter().map(|(_, source)| source).collect();
        if all.is_empty() {
            return;
        }
        let joined: String = all.split("\\\n").map(str::trim_start).collect();
        for (library, _) in OPTIONS.iter().chain(&MESSAGES) {
            // The list has its own phrase for an operation that a store does not support.
            assert!(joined.contains(library.trim_end_matches("list")), "{library}");
        }
    }
}
