//! Errors and warnings on standard error.

use crate::escape;
use crate::failure::{Exit, Failure};
use anstyle::{AnsiColor, Style};
use clap::ColorChoice;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Styles of what is printed on standard output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Palette {
    pub(crate) heading: Style,
    /// Style of the names of groups.
    pub(crate) group: Style,
    pub(crate) data_type: Style,
}

/// Decides about colours on standard error, and returns the styles for standard output.
pub(crate) fn set_color(wanted: ColorChoice) -> Palette {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    choice(wanted, no_color, std::io::stderr().is_terminal()).write_global();
    match choice(wanted, no_color, std::io::stdout().is_terminal()) {
        anstream::ColorChoice::Never => Palette::default(),
        _ => Palette {
            heading: Style::new().bold(),
            group: AnsiColor::Blue.on_default().bold(),
            data_type: AnsiColor::Cyan.on_default(),
        },
    }
}

/// Decides about colours by these three parameters alone; anstream would read further environment variables.
fn choice(wanted: ColorChoice, no_color: bool, is_terminal: bool) -> anstream::ColorChoice {
    match wanted {
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Auto if is_terminal && !no_color => anstream::ColorChoice::Always,
        _ => anstream::ColorChoice::Never,
    }
}

/// Returns whether the arguments have --json: this is needed before they are parsed, since parsing may fail.
pub(crate) fn wants_json(args: impl Iterator<Item = OsString>) -> bool {
    args.take_while(|arg| arg != "--").any(|arg| arg == "--json")
}

/// Prints the failure of the command, and returns its exit code.
pub(crate) fn failure(failure: &Failure, json: bool) -> u8 {
    if failure.exit != Exit::BrokenPipe {
        print(failure, json);
    }
    failure.exit as u8
}

/// Prints a failure, which need not end the command.
pub(crate) fn print(failure: &Failure, json: bool) {
    label("error", AnsiColor::Red, &failure.line);
    if let Some(hint) = &failure.hint {
        label("hint", AnsiColor::Cyan, hint);
    }
    if json {
        let _ = writeln!(std::io::stderr(), "{}", escape::json(&failure.to_json().to_string()));
    }
}

/// Prints all errors except the last, which is returned as the failure of the command.
pub(crate) fn all(errors: impl Iterator<Item: Into<Failure>>, json: bool) -> Result<(), Failure> {
    let mut failures: Vec<Failure> = errors.map(Into::into).collect();
    let Some(last) = failures.pop() else { return Ok(()) };
    failures.iter().for_each(|failure| print(failure, json));
    Err(last)
}

/// Prints a warning.
pub(crate) fn warning(text: &str) {
    label("warning", AnsiColor::Yellow, text);
}

/// Prints what was done, where standard output has something else.
pub(crate) fn note(text: &str) {
    label("note", AnsiColor::Cyan, text);
}

/// Prints a hint.
pub(crate) fn hint(text: &str) {
    label("hint", AnsiColor::Cyan, text);
}

fn label(name: &str, colour: AnsiColor, text: &str) {
    let (style, text) = (colour.on_default().bold(), escape::line(text));
    // If standard error is gone, no reader is left.
    let _ = writeln!(anstream::stderr(), "{style}{name}:{style:#} {text}");
}

/// Prints the warnings that the crates of this workspace log by the crate `log`: requests that are retried for a long time.
pub(crate) fn on_warnings() {
    // This fails if the program around the command has set a logger.
    if log::set_logger(&WARNINGS).is_ok() {
        log::set_max_level(log::LevelFilter::Warn);
    }
}

static WARNINGS: Warnings = Warnings(Mutex::new(None));

/// Shortest time between two warnings: many requests may wait for the same server.
const WARNING_PAUSE: Duration = Duration::from_secs(10);

/// Logger that prints warnings. The field is the time of the last printed warning.
struct Warnings(Mutex<Option<Instant>>);

impl log::Log for Warnings {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn && metadata.target().starts_with("zarr")
    }

    fn log(&self, record: &log::Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let Ok(mut last) = self.0.lock() else { return };
        if last.is_none_or(|last| last.elapsed() >= WARNING_PAUSE) {
            *last = Some(Instant::now());
            warning(&record.args().to_string());
        }
    }

    fn flush(&self) {}
}

/// Installs a hook that reports a panic, which is a bug of this program, like any other error.
pub(crate) fn on_panic(json: bool) {
    std::panic::set_hook(Box::new(move |panic| {
        let location = panic.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        let payload = panic.payload();
        let message = payload.downcast_ref::<&str>().copied();
        let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown");
        let line = format!("internal error{location}: {message}");
        print(&Failure::data("internal", line).with_hint("please report this, with the command and the data"), json);
        std::process::exit(Exit::Data as i32);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_unless_asked_for() {
        let is_coloured =
            |wanted, no_color, is_terminal| choice(wanted, no_color, is_terminal) == anstream::ColorChoice::Always;
        for (no_color, is_terminal) in [(false, false), (false, true), (true, false), (true, true)] {
            assert!(is_coloured(ColorChoice::Always, no_color, is_terminal));
            assert!(!is_coloured(ColorChoice::Never, no_color, is_terminal));
            assert_eq!(is_coloured(ColorChoice::Auto, no_color, is_terminal), is_terminal && !no_color);
        }
    }

    #[test]
    fn json_is_seen_before_parsing() {
        let check = |args: &[&str]| wants_json(args.iter().map(OsString::from));
        assert!(check(&["zarr", "tree", "x", "--json"]));
        assert!(!check(&["zarr", "tree", "x"]));
        assert!(!check(&["zarr", "tree", "--", "--json"]));
    }
}
