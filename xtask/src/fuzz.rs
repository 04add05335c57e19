//! `cargo xtask fuzz`: runs mutated inputs for everything that takes input from elsewhere, in processes with bounded memory.

use crate::cargo;
use std::path::{Path, PathBuf};
use std::process::Command;
use zarr_tests::fuzz::{Seeds, TARGETS, Target};

const USAGE: &str = "\
usage: cargo xtask fuzz [--target NAME]... [--inputs N] [--seconds N] [--first N] [--memory MiB] [--binary PATH]
       cargo xtask fuzz --corpus FOLDER [--target NAME]...
       cargo xtask fuzz --run FILE --target NAME

  --inputs   how many mutated inputs each target gets (default 10000)
  --seconds  for how long each target runs at most (default 3600)
  --first    the number of the first input (default 0); an input depends on its number alone
  --memory   how many MiB of addresses the process has (default 512; 0: any, as sanitizers need)
  --binary   a zarr-fuzz that was built otherwise, with a sanitizer
  --corpus   write the inputs that mutations begin from to FOLDER/NAME, for libFuzzer
  --run      run the input in a file";

/// Number of faults of a target after which its campaign ends.
const MAX_FAULTS: usize = 10;

struct Options {
    targets: Vec<Target>,
    inputs: u64,
    seconds: u64,
    first: u64,
    memory: u64,
    binary: Option<PathBuf>,
    corpus: Option<PathBuf>,
    file: Option<PathBuf>,
}

/// Numbers that a process prints at its end.
#[derive(Default)]
struct Tally {
    inputs: u64,
    taken: u64,
    slowest: u64,
    slowest_number: u64,
    /// Greatest number of nanoseconds for a byte of input.
    dearest: u64,
    dearest_number: u64,
    peak: u64,
}

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let options = parse(arguments)?;
    if let Some(folder) = &options.corpus {
        return options.targets.iter().try_for_each(|target| write_corpus(&target.seeds()?, &folder.join(target.name)));
    }
    if let Some(file) = &options.file {
        let [target] = &options.targets[..] else { return Err("--run needs one --target".to_owned()) };
        let input = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        println!("{}", if target.run(&input) { "taken" } else { "an error" });
        return Ok(());
    }
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => build()?,
    };
    println!(
        "| target | inputs | taken | slowest ms | most us/byte | peak MiB | faults |\n|---|---|---|---|---|---|---|"
    );
    let (mut sum, mut faults) = (Tally::default(), 0);
    for target in &options.targets {
        let (tally, found) = campaign(target, &binary, &options)?;
        println!(
            "| {} | {} | {} % | {:.1} (input {}) | {:.2} (input {}) | {} | {found} |",
            target.name,
            tally.inputs,
            100 * tally.taken / tally.inputs.max(1),
            tally.slowest as f64 / 1000.0,
            tally.slowest_number,
            tally.dearest as f64 / 1000.0,
            tally.dearest_number,
            tally.peak / 1024,
        );
        sum.add(&tally);
        faults += found;
    }
    println!(
        "| all | {} | {} % | {:.1} | {:.2} | {} | {faults} |",
        sum.inputs,
        100 * sum.taken / sum.inputs.max(1),
        sum.slowest as f64 / 1000.0,
        sum.dearest as f64 / 1000.0,
        sum.peak / 1024
    );
    if faults == 0 { Ok(()) } else { Err(format!("{faults} faults; the inputs are in {}", folder().display())) }
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.inputs += other.inputs;
        self.taken += other.taken;
        self.peak = self.peak.max(other.peak);
        if other.slowest > self.slowest {
            (self.slowest, self.slowest_number) = (other.slowest, other.slowest_number);
        }
        if other.dearest > self.dearest {
            (self.dearest, self.dearest_number) = (other.dearest, other.dearest_number);
        }
    }

    /// Parses the last line of the output of a process; `None` if it is malformed.
    fn parse(output: &str) -> Option<Self> {
        let mut numbers = output.lines().last()?.split(' ').map(|number| number.parse().ok());
        let mut next = || numbers.next().flatten();
        Some(Self {
            inputs: next()?,
            taken: next()?,
            slowest: next()?,
            slowest_number: next()?,
            dearest: next()?,
            dearest_number: next()?,
            peak: next()?,
        })
    }
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        targets: Vec::new(),
        inputs: 10_000,
        seconds: 3600,
        first: 0,
        memory: 512,
        binary: None,
        corpus: None,
        file: None,
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        let number = || value.parse::<u64>().map_err(|error| format!("{argument} {value}: {error}"));
        match argument.as_str() {
            "--target" => options.targets.push(Target::named(value).ok_or_else(|| no_target(value))?),
            "--inputs" => options.inputs = number()?,
            "--seconds" => options.seconds = number()?,
            "--first" => options.first = number()?,
            "--memory" => options.memory = number()?,
            "--binary" => options.binary = Some(PathBuf::from(value)),
            "--corpus" => options.corpus = Some(PathBuf::from(value)),
            "--run" => options.file = Some(PathBuf::from(value)),
            _ => return Err(USAGE.to_owned()),
        }
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.to_vec();
    }
    Ok(options)
}

fn no_target(name: &str) -> String {
    let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    format!("no target {name}, expected one of {}", names.join(", "))
}

/// Returns the folder of programs and inputs.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/fuzz-campaign")
}

/// Builds the program that runs targets, with optimisation and all checks.
fn build() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = root.join("target");
    cargo::build(
        &root.join("Cargo.toml"),
        &target,
        &["--profile", "fuzz", "--package", "zarr-tests", "--bin", "zarr-fuzz"],
    )?;
    Ok(target.join("fuzz/zarr-fuzz"))
}

/// Runs a target until its number of inputs or its time is used up. After a fault it continues with the next input. Returns the tally and
/// the number of faults.
fn campaign(target: &Target, binary: &Path, options: &Options) -> Result<(Tally, usize), String> {
    let folder = folder();
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let progress = folder.join(format!("{}.progress", target.name));
    let (mut sum, mut faults) = (Tally::default(), 0);
    let (start, last) = (std::time::Instant::now(), options.first.saturating_add(options.inputs));
    let mut next = options.first;
    let mut seeds = None;
    while next < last && faults < MAX_FAULTS {
        let seconds = options.seconds.saturating_sub(start.elapsed().as_secs());
        if seconds == 0 {
            break;
        }
        let numbers = [next, last, seconds, options.memory].map(|number| number.to_string());
        let mut command = Command::new(binary);
        command.arg(target.name).args(numbers).arg(&progress);
        // Each arena of the allocator, and each thread, reserves address space.
        command.env("MALLOC_ARENA_MAX", "1").env("RAYON_NUM_THREADS", "2");
        let output = command.output().map_err(|error| format!("{}: {error}", binary.display()))?;
        if output.status.success() {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let tally = Tally::parse(&text).ok_or_else(|| format!("{} ended with {text:?}", target.name))?;
            sum.add(&tally);
            break;
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let number = std::fs::read(&progress).ok().and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
        let Some(number) = number else { return Err(format!("{}: {}\n{said}", target.name, output.status)) };
        if seeds.is_none() {
            seeds = Some(target.seeds()?);
        }
        let input = seeds.as_ref().map(|seeds| seeds.mutated(number)).unwrap_or_default();
        let file = folder.join(format!("{}-{number}", target.name));
        std::fs::write(&file, input).map_err(|error| format!("{}: {error}", file.display()))?;
        println!("FAULT {} with input {number}, in {}: {}\n{said}", target.name, file.display(), output.status);
        faults += 1;
        sum.inputs += number + 1 - next;
        next = number + 1;
    }
    Ok((sum, faults))
}

fn write_corpus(seeds: &Seeds, folder: &Path) -> Result<(), String> {
    let in_folder = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(in_folder)?;
    for (number, input) in seeds.inputs().iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{number}")), input).map_err(in_folder)?;
    }
    Ok(())
}
