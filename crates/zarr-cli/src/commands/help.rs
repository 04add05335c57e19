//! The help: verbs by purpose.

use super::Cli;
use crate::columns::{padded, widest};
use clap::{Command, CommandFactory};

/// Verbs by purpose.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Look at data", &["tree", "ls", "info", "ds", "read", "stats", "view", "du", "digest", "diff", "check"]),
    ("Create and change", &["create", "write", "append", "resize", "attrs", "rename-dims"]),
    ("Convert", &["convert", "migrate", "remove-metadata", "consolidate", "bench-codecs"]),
    ("Copy and erase", &["cp", "mv", "rm"]),
    ("More", &["serve", "completions", "man", "help"]),
];

/// The definition of the command, with its help.
pub(super) fn command() -> Command {
    // The verb `help` is there once the command is built.
    let mut command = Cli::command();
    command.build();
    let verbs = groups(&command);
    let template =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{verbs}Options:\n{{options}}{{after-help}}");
    command.help_template(template)
}

/// The verbs with what they do, a paragraph for each purpose.
fn groups(command: &Command) -> String {
    let verb = |name: &&str| command.find_subcommand(name).map(|verb| (verb.get_name(), about(verb)));
    let column = widest(command.get_subcommands().map(Command::get_name)) + 4;
    let mut text = String::new();
    for (title, names) in GROUPS {
        text.push_str(&format!("{title}:\n"));
        for (name, about) in names.iter().filter_map(verb) {
            text.push_str(&format!("{}{about}\n", padded(&format!("  {name}"), column)));
        }
        text.push('\n');
    }
    // A template has braces for its parts.
    debug_assert!(!text.contains(['{', '}']), "{text}");
    text
}

fn about(verb: &Command) -> String {
    verb.get_about().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_has_one_purpose() {
        let command = command();
        let mut verbs: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        verbs.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, verbs);
    }
}
