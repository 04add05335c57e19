//! Tasks of the workspace, run as `cargo xtask TASK`. Builds and tests of the crates do not need them.

mod api;
mod bench;
mod build_times;
mod cargo;
mod ci;
mod conformance;
mod dist;
mod fuzz;
mod interop;
mod man;
mod matrix;
mod package;
mod python;
mod roundtrip;
mod served;
mod servers;
mod site;
mod sizes;
mod soak;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask TASK

  api           compares the public items of all crates with docs/api (--bless: makes the lists)
  bench         measures reads and writes, beside other software if asked to
  build-times   measures what builds from nothing cost, crate by crate
  ci            runs .ci/run (--long: other systems and machines, each feature alone, packages, long forms of the tests)
  clients       has other software read a store that `zarr serve` serves
  conformance   reads what other software wrote and compares it (--matrix: makes docs/support.md)
  dist          makes what is published: archives, packages and recipes of the command, wheels (TASK: see cargo xtask dist help)
  fuzz          gives mutated inputs to everything that takes input from elsewhere
  interop       writes arrays with other software and reads them, and the other way around
  man           writes the manual pages and completions of the command into target
  package       makes the package of each crate, and builds it and its documentation from the packages alone
  page          drives the page of `zarr serve` in Chromium, and looks at the documentation site
  pictures      draws the pictures of README.md: what the command prints, and the page of `zarr serve` in Chromium
  python        builds the Python package and runs its tests (arguments go to pytest)
  roundtrip     converts what other software wrote into every dialect and back
  servers       exchanges arrays with other software in the buckets of real servers, and tests stores on these
  site          builds the documentation site into target/site, and checks its links
  sizes         counts lines of code, types, methods, and the packages that each crate needs
  soak          runs processes on one store, kills some of them, and checks the store at the end
  tidy          checks crate edges, `unsafe`, and the form of files";

fn main() -> ExitCode {
    if let Some(code) = build_times::act_as_rustc() {
        return code;
    }
    // The checks of the command have a program of their own.
    zarr_tests::processes::work_if_worker(|_| 2);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((task, rest)) if task == "api" => api::run(rest),
        Some((task, rest)) if task == "bench" => bench::run(rest),
        Some((task, rest)) if task == "build-times" => build_times::run(rest),
        Some((task, rest)) if task == "ci" => ci::run(rest),
        Some((task, rest)) if task == "clients" => served::clients(rest),
        Some((task, rest)) if task == "conformance" => conformance::run(rest),
        Some((task, rest)) if task == "dist" => dist::run(rest),
        Some((task, rest)) if task == "fuzz" => fuzz::run(rest),
        Some((task, rest)) if task == "interop" => interop::run(rest),
        Some((task, rest)) if task == "man" => man::run(rest),
        Some((task, rest)) if task == "package" => package::run(rest),
        Some((task, rest)) if task == "page" => served::page(rest),
        Some((task, rest)) if task == "pictures" => served::pictures(rest),
        Some((task, rest)) if task == "python" => python::run(rest),
        Some((task, rest)) if task == "roundtrip" => roundtrip::run(rest),
        Some((task, rest)) if task == "servers" => servers::run(rest),
        Some((task, rest)) if task == "site" => site::run(rest),
        Some((task, rest)) if task == "sizes" => sizes::run(rest),
        Some((task, rest)) if task == "soak" => soak::run(rest),
        Some((task, rest)) if task == "tidy" => tidy::run(rest),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
