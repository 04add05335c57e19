//! Running of programs, and facts about the workspace and the machine.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(".")).to_owned()
}

/// Version of all packages.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns a command of the Cargo that runs this program, at the root of the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Build scripts that depend on these would run again, and all that depends on their crates would be built again.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command.current_dir(root());
    command
}

/// Prints a line on standard output. A closed pipe (`| head`) is no error.
pub(crate) fn say(line: &str) -> Result<(), String> {
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}

/// Runs a command whose output is passed through.
pub(crate) fn succeed(command: &mut Command) -> Result<(), String> {
    let name = name(command);
    let status = command.status().map_err(|error| format!("{name}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name}: {status}")) }
}

/// Runs a command, and returns its standard output.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let name = name(command);
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() { Ok(output.stdout) } else { Err(format!("{name}: {}", output.status)) }
}

pub(crate) fn text(command: &mut Command) -> Result<String, String> {
    let name = name(command);
    String::from_utf8(output(command)?).map_err(|error| format!("{name}: {error}"))
}

fn name(command: &Command) -> String {
    let arguments = command.get_args().take(3).map(|argument| argument.to_string_lossy());
    let words: Vec<_> = std::iter::once(command.get_program().to_string_lossy()).chain(arguments).collect();
    words.join(" ")
}

/// Returns the target triple of this machine.
pub(crate) fn host() -> Result<String, String> {
    let text = text(Command::new("rustc").arg("-vV"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).ok_or_else(|| "rustc -vV: no host".to_owned())
}

/// Returns the modification time of files in a release, in seconds: that of the last commit, so that the same source gives the same bytes.
pub(crate) fn time() -> Result<u64, String> {
    let text = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text,
        Err(_) => text(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root()))?,
    };
    text.trim().parse().map_err(|error| format!("SOURCE_DATE_EPOCH: {text}: {error}"))
}

/// Makes a build record the paths of sources relative to the workspace and to the folder of Cargo, without the paths of this machine.
pub(crate) fn without_paths(command: &mut Command, target: &str) -> Result<(), String> {
    let home = std::env::home_dir().unwrap_or_default();
    let cargo = std::env::var_os("CARGO_HOME").map_or_else(|| home.join(".cargo"), PathBuf::from);
    let places = [(cargo, "/cargo"), (root(), "/zarr")];
    let mut flags: Vec<String> = match (std::env::var("CARGO_ENCODED_RUSTFLAGS"), std::env::var("RUSTFLAGS")) {
        (Ok(flags), _) => flags.split('\u{1f}').map(str::to_owned).collect(),
        (_, Ok(flags)) => flags.split_whitespace().map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    flags.extend(places.iter().map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display())));
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    if !target.contains("msvc") {
        // Flags of compilers of C are split at blanks.
        let places = places.iter().filter(|(from, _)| !from.to_string_lossy().contains(' '));
        let ours = places.map(|(from, to)| format!("-ffile-prefix-map={}={to}", from.display()));
        let flags: Vec<String> = std::env::var("CFLAGS").into_iter().chain(ours).collect();
        command.env("CFLAGS", flags.join(" "));
    }
    command.env("SOURCE_DATE_EPOCH", time()?.to_string());
    Ok(())
}
