//! `cargo xtask ci`: runs the script that checks a change before it lands; with `--long`, all checks that take too long for the script.

mod machines;

use crate::python::WITH_PARQUET;
use crate::tidy;
use std::process::Command;
use std::time::Instant;

/// Targets other than the system on which tests run. For them the library is checked without its default features, which need a C compiler
/// for the target: 32 bits, big-endian, Windows, and a browser, which has no file system.
const TARGETS: [&str; 5] = [
    "aarch64-unknown-linux-gnu",
    "i686-unknown-linux-gnu",
    "s390x-unknown-linux-gnu",
    "x86_64-pc-windows-gnu",
    "wasm32-unknown-unknown",
];

/// Targets of releases, as in `.cargo/deny.toml`: the licences of their crates are checked.
const RELEASED: [&str; 7] = [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

/// Manifest of the workspace of engines of queries.
const ENGINES: &str = "engines/Cargo.toml";

/// Runs `.ci/run`, or the long checks.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    match arguments {
        [] => command("bash", &[".ci/run"]),
        [long] if long == "--long" => long_checks(),
        _ => Err("usage: cargo xtask ci [--long]".to_owned()),
    }
}

fn long_checks() -> Result<(), String> {
    let mut failed = Vec::new();
    let mut step = |name: String, result: Result<(), String>| {
        if let Err(error) = result {
            failed.push(format!("{name}: {error}"));
        }
    };
    for target in TARGETS {
        let check = || {
            command("rustup", &["target", "add", target])?;
            cargo(&["clippy", "-p", "zarr-rs", "--no-default-features", "--target", target, "--", "-D", "warnings"])
        };
        step(format!("target {target}"), check());
    }
    for feature in features()? {
        let arguments =
            ["clippy", "-p", "zarr-rs", "--no-default-features", "--features", &feature, "--", "-D", "warnings"];
        step(format!("feature {feature}"), cargo(&arguments));
    }
    step("package".to_owned(), cargo(&["xtask", "package"]));
    step("deny".to_owned(), deny(&[], &[]));
    let rules = tidy::root().join(".cargo/deny.toml").display().to_string();
    step("deny of engines".to_owned(), deny(&["--manifest-path", ENGINES], &["--config", &rules]));
    for target in RELEASED {
        step(format!("licences for {target}"), cargo(&["xtask", "dist", "check", "--target", target]));
    }
    for (name, result) in machines::checks() {
        step(name, result);
    }
    step("Miri".to_owned(), miri());
    // The command with what it lacks by default.
    let parquet = ["test", "-p", "zarr-cli", "--features", "parquet", "--test", "command", "arrow_"];
    step("command with Parquet".to_owned(), cargo(&parquet));
    let mut package = Command::new("cargo");
    package.args(["xtask", "python", "tests/test_tables.py"]).env(WITH_PARQUET, "1").current_dir(tidy::root());
    step("Python package with Parquet".to_owned(), timed(&mut package));
    step("engines".to_owned(), engines());
    let processes = ["test", "-p", "zarr-tests", "--test", "processes", "--", "--long"];
    step("processes".to_owned(), cargo(&processes));
    step("fuzz".to_owned(), cargo(&["xtask", "fuzz", "--inputs", "3000"]));
    step("soak".to_owned(), cargo(&["xtask", "soak", "--minutes", "5"]));
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Runs the tests of the C data and stream interfaces of tables in Miri, which a nightly Rust has.
fn miri() -> Result<(), String> {
    let nightly = ["toolchain", "install", "nightly", "--profile", "minimal", "--component", "miri,rust-src"];
    command("rustup", &nightly)?;
    command("rustup", &["run", "nightly", "cargo", "miri", "test", "-p", "zarr-arrow", "--lib", "export::"])
}

/// Checks the engines, which are a workspace of their own and bring hundreds of crates. Among their tests are a scheduler and executors as
/// processes.
fn engines() -> Result<(), String> {
    let features = ["--features", "zarr-datafusion/proto"];
    let of = |verb, targets| {
        [&[verb, "--manifest-path", ENGINES, "--workspace", "--locked", targets], &features[..]].concat()
    };
    cargo(&["fmt", "--manifest-path", ENGINES, "--all", "--check"])?;
    cargo(&[&of("clippy", "--all-targets")[..], &["--", "-D", "warnings"]].concat())?;
    cargo(&of("test", "--all-targets"))?;
    cargo(&of("test", "--doc"))
}

/// Checks licences, sources and advisories of all crates of a workspace. Installs cargo-deny if it is missing, which takes minutes.
fn deny(workspace: &[&str], rules: &[&str]) -> Result<(), String> {
    let is_installed = Command::new("cargo-deny").arg("--version").output().is_ok_and(|done| done.status.success());
    if !is_installed {
        cargo(&["install", "cargo-deny", "--locked"])?;
    }
    cargo(&[&["deny"], workspace, &["--workspace", "check"], rules].concat())
}

/// Returns the features of the crate `zarr`.
fn features() -> Result<Vec<String>, String> {
    let path = tidy::root().join("crates/zarr/Cargo.toml");
    let manifest = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines =
        manifest.lines().skip_while(|line| *line != "[features]").skip(1).take_while(|line| !line.starts_with('['));
    let names = lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "));
    Ok(names
        .map(|(name, _)| name.to_owned())
        .filter(|name| !["default", "full", "tools"].contains(&name.as_str()))
        .collect())
}

fn cargo(arguments: &[&str]) -> Result<(), String> {
    command("cargo", arguments)
}

/// Runs a program with arguments at the root of the workspace.
fn command(program: &str, arguments: &[&str]) -> Result<(), String> {
    timed(Command::new(program).args(arguments).current_dir(tidy::root()))
}

/// Runs a program, and prints its duration.
pub(crate) fn timed(command: &mut Command) -> Result<(), String> {
    let arguments = command.get_args().map(|argument| argument.to_string_lossy());
    let words: Vec<_> = std::iter::once(command.get_program().to_string_lossy()).chain(arguments).collect();
    let name = words.join(" ");
    println!("== {name}");
    let begin = Instant::now();
    let status = command.status().map_err(|error| format!("{name}: {error}"))?;
    println!("== {name}: {} s", begin.elapsed().as_secs());
    if status.success() { Ok(()) } else { Err(format!("{name}: {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_systems_are_those_of_cargo_deny() {
        let text = std::fs::read_to_string(tidy::root().join(".cargo/deny.toml")).expect("a list");
        let (_, list) = text.split_once("\ntargets = [\n").expect("a list of systems");
        let lines = list.lines().take_while(|line| *line != "]");
        let systems: Vec<&str> = lines.map(|line| line.trim().trim_end_matches(',').trim_matches('"')).collect();
        assert_eq!(systems, RELEASED);
    }

    #[test]
    fn features_equal_the_facade() {
        let features = features().expect("a manifest");
        assert!(["gzip", "filesystem", "parallel"].iter().all(|name| features.iter().any(|feature| feature == name)));
        assert!(!features.iter().any(|name| name == "default" || name == "tools" || name == "full"));
    }
}
