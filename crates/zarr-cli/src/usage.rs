//! Errors about wrong arguments: the message of clap in one line, with a hint at what was perhaps meant.

mod meant;
mod values;
mod words;

use crate::commands;
use crate::commands::topics::TOPICS;
use crate::failure::{Exit, Failure};
use crate::fitted::fitted;
use crate::near::question;
use crate::object::object;
use crate::output;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::io::Write;

/// Version of the output of --json, which docs/json.md describes. The version changes if a member is renamed, removed or gets another
/// meaning, not if a member is added.
const JSON_VERSION: u64 = 1;

/// Prints help or the version on standard output and returns the exit code; converts all other messages of clap to a failure of one line.
pub(crate) fn output(error: &clap::Error, args: &[OsString], json: bool) -> Result<u8, Failure> {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayVersion if json => {
            output::json(object! { "name": "zarr", "version": env!("CARGO_PKG_VERSION"), "json": JSON_VERSION })?;
            Ok(0)
        }
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::print(&fitted(&text))?;
            Ok(0)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = write!(std::io::stderr(), "{}", fitted(&text));
            Ok(Exit::Usage as u8)
        }
        _ => Err(failure(error, &text, args)),
    }
}

/// Returns a hint about an argument behind the node of a verb that takes one node.
pub(crate) fn hint_of_word(verb: &str, word: &str) -> String {
    let command = commands::definition();
    meant::hint(&command, command.find_subcommand(verb), word)
}

fn failure(error: &clap::Error, text: &str, args: &[OsString]) -> Failure {
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(name)) => Some(name.as_str()),
        _ => None,
    };
    if let (ErrorKind::InvalidSubcommand, Some(name)) = (error.kind(), named(ContextKind::InvalidSubcommand)) {
        let near = commands::near_verb(name).map(|near| question(&near));
        let is_of_help = args.get(1).is_some_and(|verb| verb == "help");
        let hint = near.unwrap_or_else(|| match is_of_help {
            true => format!("the topics are {}; `zarr -h` lists the verbs", TOPICS.map(|(topic, _)| topic).join(", ")),
            false => "`zarr -h` lists the verbs".to_owned(),
        });
        return Failure::usage(format!("found no verb {name}")).with_hint(hint);
    }
    let mut lines = text.lines().map(str::trim);
    let first: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    let message = first.join(" ");
    let failure = Failure::usage(message.strip_prefix("error: ").unwrap_or(&message));
    let command = commands::definition();
    let verb = verb(&command, args);
    let meant = match (error.kind(), named(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(argument)) => {
            Some(words::hint(verb, argument, args).unwrap_or_else(|| meant::hint(&command, verb, argument)))
        }
        (_, Some(argument)) => named(ContextKind::InvalidValue).and_then(|value| values::hint(verb, argument, value)),
        _ => None,
    };
    let tip = || {
        let tips =
            lines.find_map(|line| line.strip_prefix("tip: ").or_else(|| line.starts_with("Usage: ").then_some(line)));
        tips.map(str::to_owned)
    };
    let help = || match verb {
        Some(verb) => format!("`zarr {} -h` describes it", verb.get_name()),
        None => "`zarr -h` lists the verbs".to_owned(),
    };
    failure.with_hint(meant.or_else(tip).unwrap_or_else(help))
}

/// Returns the definition of the verb that the arguments name; `None` if they name no known verb.
fn verb<'c>(command: &'c Command, args: &[OsString]) -> Option<&'c Command> {
    args.iter().skip(1).find_map(|arg| command.find_subcommand(arg))
}
