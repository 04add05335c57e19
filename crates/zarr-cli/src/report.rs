//! Errors and warnings on standard error.

use crate::args::Color;
use crate::failure::{Exit, Failure};
use crate::{escape, output};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether labels on standard error are coloured.
static COLOURED: AtomicBool = AtomicBool::new(false);

/// Decides about colours, and says whether to use them on standard output.
pub(crate) fn set_color(color: Color) -> bool {
    let allowed = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let on = |terminal: bool| match color {
        Color::Auto => terminal && allowed,
        Color::Always => true,
        Color::Never => false,
    };
    COLOURED.store(on(std::io::stderr().is_terminal()), Ordering::Relaxed);
    on(std::io::stdout().is_terminal())
}

/// Whether JSON is asked for: known before the arguments are parsed, since that may fail.
pub(crate) fn wants_json(args: impl Iterator<Item = OsString>) -> bool {
    args.take_while(|arg| arg != "--").any(|arg| arg == "--json")
}

/// Prints why the command failed, and gives its exit code.
pub(crate) fn failure(failure: &Failure, json: bool) -> ExitCode {
    if failure.exit != Exit::BrokenPipe {
        print(failure, json);
    }
    ExitCode::from(failure.exit as u8)
}

/// Prints a failure that does not end the command.
pub(crate) fn print(failure: &Failure, json: bool) {
    label("error", "31", &failure.line);
    if let Some(hint) = &failure.hint {
        label("hint", "36", hint);
    }
    if json {
        let _ = writeln!(std::io::stderr(), "{}", escape::json(&failure.to_json().to_string()));
    }
}

/// Prints what was wrong beside what was found, but for the last: that is how the command fails.
pub(crate) fn all(errors: impl Iterator<Item = zarr::Error>, json: bool) -> Result<(), Failure> {
    let mut failures: Vec<Failure> = errors.map(Failure::from).collect();
    let Some(last) = failures.pop() else { return Ok(()) };
    failures.iter().for_each(|failure| print(failure, json));
    Err(last)
}

/// Prints a warning.
pub(crate) fn warning(text: &str) {
    label("warning", "33", text);
}

/// Prints what might help.
pub(crate) fn hint(text: &str) {
    label("hint", "36", text);
}

fn label(name: &str, colour: &str, text: &str) {
    let text = escape::line(text);
    // Nobody is left to be told if standard error is gone.
    let _ = match COLOURED.load(Ordering::Relaxed) {
        true => writeln!(std::io::stderr(), "\x1b[1;{colour}m{name}:\x1b[0m {text}"),
        false => writeln!(std::io::stderr(), "{name}: {text}"),
    };
}

/// What clap has to say: help goes to standard output, errors become one line.
pub(crate) fn usage(error: &clap::Error) -> Result<ExitCode, Failure> {
    use clap::error::ErrorKind;
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::print(&text)?;
            return Ok(ExitCode::SUCCESS);
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = write!(std::io::stderr(), "{text}");
            return Ok(ExitCode::from(Exit::Usage as u8));
        }
        _ => {}
    }
    let mut lines = text.lines().map(str::trim);
    let mut message = String::new();
    for line in lines.by_ref().take_while(|line| !line.is_empty()) {
        message.push_str(if message.is_empty() { "" } else { " " });
        message.push_str(line);
    }
    let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
    let hint = lines.find_map(|line| line.strip_prefix("tip: ").or_else(|| line.strip_prefix("Usage: ").map(|_| line)));
    let hint = hint.unwrap_or("try `zarr --help`").to_owned();
    Err(Failure::usage(message).with_hint(hint))
}

/// A panic is a fault of this program; it is reported like any other error.
pub(crate) fn on_panic(json: bool) {
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or_else(String::new, |place| format!(" at {}:{}", place.file(), place.line()));
        let payload = panic.payload();
        let what = payload.downcast_ref::<&str>().copied();
        let what = what.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown");
        let line = format!("internal error{place}: {what}");
        print(&Failure::data("internal", line).with_hint("please report this, with the command and the data"), json);
        std::process::exit(Exit::Data as i32);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_seen_before_parsing() {
        let check = |args: &[&str]| wants_json(args.iter().map(OsString::from));
        assert!(check(&["zarr", "tree", "x", "--json"]));
        assert!(!check(&["zarr", "tree", "x"]));
        assert!(!check(&["zarr", "tree", "--", "--json"]));
    }
}
