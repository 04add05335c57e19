//! `zarr man`: prints the manual pages.

use super::{help, near_verb};
use crate::context::Context;
use crate::escape;
use crate::failure::{Failure, Result};
use crate::near::question;
use crate::object::object;
use clap::{Args, Command};
use std::path::PathBuf;

/// Print the manual page of the command or of a verb, in the form of `man`.
///
/// `zarr man tree | man -l -` shows one.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The verb; by default the command itself.
    verb: Option<String>,
    /// Write the pages of the command and of all verbs into this folder: zarr.1, zarr-tree.1 and so on.
    #[arg(long, value_name = "FOLDER", conflicts_with = "verb")]
    all: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &Man) -> Result<()> {
    let command = help::definition();
    if let Some(folder) = &args.all {
        let name = folder.display().to_string();
        let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
        written.map_err(|error| Failure::output(&name, &error))?;
        let line = || format!("{}: manual pages of all verbs\n", escape::line(&name));
        return context.summary(|| object! { "folder": name.as_str() }, line);
    }
    let command = match &args.verb {
        None => command,
        Some(verb) => of_verb(command, verb)?,
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(|error| Failure::output("the page", &error))?;
    let page = String::from_utf8_lossy(&page);
    context.page(|| object! { "page": &*page }, || page.to_string())
}

/// Returns the definition of a verb, with the options that every verb has.
fn of_verb(mut command: Command, verb: &str) -> Result<Command> {
    command.build();
    match command.find_subcommand(verb) {
        Some(found) => Ok(found.clone().display_name(format!("zarr-{verb}"))),
        None => {
            let failure = Failure::usage(format!("found no verb {verb}"));
            Err(match near_verb(verb) {
                Some(near) => failure.with_hint(question(&near)),
                None => failure,
            })
        }
    }
}
