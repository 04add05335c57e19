//! Errors and warnings on standard error.

use crate::failure::{Exit, Failure};
use crate::fitted::fitted;
use crate::near::question;
use crate::object::object;
use crate::{escape, output};
use anstyle::{AnsiColor, Style};
use clap::ColorChoice;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};

/// The version of what is printed with --json, as docs/json.md describes it. It changes where a member is renamed, taken away or gets
/// another meaning; members may be added.
const JSON_VERSION: u64 = 1;

/// The styles of what stands on standard output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Palette {
    pub(crate) heading: Style,
    /// Names of groups.
    pub(crate) group: Style,
    pub(crate) data_type: Style,
}

/// Decides about colours on standard error, and gives the styles of standard output.
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

/// Only these three decide; anstream on its own reads further environment variables.
fn choice(wanted: ColorChoice, no_color: bool, is_terminal: bool) -> anstream::ColorChoice {
    match wanted {
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Auto if is_terminal && !no_color => anstream::ColorChoice::Always,
        _ => anstream::ColorChoice::Never,
    }
}

/// Whether --json is there: needed before the arguments are parsed, since that may fail.
pub(crate) fn wants_json(args: impl Iterator<Item = OsString>) -> bool {
    args.take_while(|arg| arg != "--").any(|arg| arg == "--json")
}

/// Prints why the command failed, and gives its exit code.
pub(crate) fn failure(failure: &Failure, json: bool) -> u8 {
    if failure.exit != Exit::BrokenPipe {
        print(failure, json);
    }
    failure.exit as u8
}

/// Prints a failure that does not end the command.
pub(crate) fn print(failure: &Failure, json: bool) {
    label("error", AnsiColor::Red, &failure.line);
    if let Some(hint) = &failure.hint {
        label("hint", AnsiColor::Cyan, hint);
    }
    if json {
        let _ = writeln!(std::io::stderr(), "{}", escape::json(&failure.to_json().to_string()));
    }
}

/// Prints all errors but the last, which is the failure of the command.
pub(crate) fn all(errors: impl Iterator<Item = zarr::Error>, json: bool) -> Result<(), Failure> {
    let mut failures: Vec<Failure> = errors.map(Failure::from).collect();
    let Some(last) = failures.pop() else { return Ok(()) };
    failures.iter().for_each(|failure| print(failure, json));
    Err(last)
}

/// Prints a warning.
pub(crate) fn warning(text: &str) {
    label("warning", AnsiColor::Yellow, text);
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

/// The output of clap, and the exit code: help goes to standard output, errors become one line. `near_verb` gives the verb whose name is near
/// one that is not known.
pub(crate) fn usage(
    error: &clap::Error,
    json: bool,
    near_verb: impl Fn(&str) -> Option<String>,
) -> Result<u8, Failure> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayVersion if json => {
            output::json(object! { "name": "zarr", "version": env!("CARGO_PKG_VERSION"), "json": JSON_VERSION })?;
            return Ok(0);
        }
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::print(&fitted(&text))?;
            return Ok(0);
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = write!(std::io::stderr(), "{}", fitted(&text));
            return Ok(Exit::Usage as u8);
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
    if let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(name))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    {
        let near = near_verb(name).map(|near| question(&near));
        let hint = near.unwrap_or_else(|| "`zarr -h` lists the verbs".to_owned());
        return Err(Failure::usage(format!("found no verb {name}")).with_hint(hint));
    }
    // An option that is not known is hardly ever meant as a value.
    let tips: Vec<&str> = lines.filter(|line| !line.contains(" as a value, use '-- ")).collect();
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
        && let Some(hint) =
            tips.iter().find_map(|line| line.strip_prefix("Usage: ")).and_then(|usage| meant(usage, option))
    {
        return Err(Failure::usage(message).with_hint(hint));
    }
    let mut lines = tips.into_iter();
    let hint = lines.find_map(|line| line.strip_prefix("tip: ").or_else(|| line.strip_prefix("Usage: ").map(|_| line)));
    let hint = hint.unwrap_or("try `zarr --help`").to_owned();
    Err(Failure::usage(message).with_hint(hint))
}

/// The option of the command for one that other programs have; `usage` begins with the verb.
fn meant(usage: &str, option: &str) -> Option<&'static str> {
    const OTHERS: [(&str, &str, &str); 8] = [
        ("", "--zarr-format", "--dialect v3 is the format"),
        ("", "--zarr-version", "--dialect v3 is the format"),
        ("", "--format", "--dialect v3 is the format, --as json the form of output"),
        ("append", "--dim", "--along names the dimension"),
        ("ls", "-R", "`zarr tree` shows all nodes below"),
        ("ls", "-r", "`zarr tree` shows all nodes below"),
        ("ds", "-r", "`zarr tree` shows all nodes below; each group is a data set"),
        ("resize", "--along", "--dim time=24 is the new length of a dimension"),
    ];
    let verb = usage.strip_prefix("zarr ")?.split(' ').next()?;
    let is_meant = |of: &str| of.is_empty() || of == verb;
    OTHERS.iter().find(|(of, name, _)| is_meant(of) && *name == option).map(|(_, _, hint)| *hint)
}

/// Reports a panic, which is a fault of this program, like any other error.
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
