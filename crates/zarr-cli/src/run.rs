//! The command, from its arguments to its exit code.

use crate::fitted::fitted;
use crate::{commands, output, report, usage};
use std::ffi::OsString;

/// Runs the command with `args`, the first of which is the name of the program, and returns the exit code. Writes to the standard streams;
/// a panic ends the process. A process should do nothing else afterwards.
#[must_use]
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let wants_json = report::wants_json(args.iter().cloned());
    report::on_panic(wants_json);
    report::on_warnings();
    // Colours are off until the arguments are parsed.
    anstream::ColorChoice::Never.write_global();
    if let Some(topic) = commands::topics::asked(&args) {
        return output::print(&fitted(&topic.text())).map_or_else(|error| report::failure(&error, wants_json), |()| 0);
    }
    let done = match commands::parse(args.clone()) {
        Ok(cli) => commands::run(cli).map(|()| 0),
        Err(error) => usage::output(&error, &args, wants_json),
    };
    match done {
        Ok(code) => code,
        Err(failure) => report::failure(&failure, wants_json),
    }
}
