//! Hints about an invalid value of an option.

use crate::format::{NETCDF, OutputForm, is_netcdf};
use clap::{Command, ValueEnum};

/// Returns a hint about the invalid `value` of an option; `argument` is the option as messages print it, such as `--dialect <DIALECT>`.
/// `None` without a hint.
pub(super) fn hint(verb: Option<&Command>, argument: &str, value: &str) -> Option<String> {
    let has = |long: &str| verb.is_some_and(|verb| verb.get_arguments().any(|arg| arg.get_long() == Some(long)));
    let option = argument.split([' ', '=']).next()?;
    if option == "--dialect" {
        let is_form = OutputForm::from_str(value, true).is_ok() || is_netcdf(value);
        return match (is_form, has("as")) {
            (true, true) => Some(format!("--as {value} is the form of the output")),
            (true, false) if value == "json" => Some("--json prints JSON".to_owned()),
            _ => None,
        };
    }
    (option == "--as" && is_netcdf(value)).then(|| NETCDF.to_owned())
}
