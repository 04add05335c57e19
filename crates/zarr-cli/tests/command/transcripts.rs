//! The commands of pages of the documentation, run again: they print what the page says.

#![cfg(unix)]

use crate::folder::Folder;
use std::path::Path;
use std::process::Command;

const CLIMATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");
const TISSUE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/tissue.zarr");
const PLATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/plate.zarr");
const NETCDF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/netcdf");
const TIFF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/tiff");
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../zarr-icechunk/tests/v2.zip");
const PAGES: [&str; 10] = [
    "command.md",
    "guide/chunks.md",
    "guide/files-as-one.md",
    "guide/from-netcdf-and-gdal.md",
    "guide/from-xarray-and-rechunker.md",
    "guide/images.md",
    "guide/maps.md",
    "guide/netcdf-and-hdf5.md",
    "guide/tables.md",
    "guide/tiff.md",
];

/// The output of a command line, without the time that it took.
fn run(folder: &Folder, line: &str) -> String {
    let folder_of_zarr = Path::new(env!("CARGO_BIN_EXE_zarr")).parent().unwrap();
    let path = format!("{}:{}", folder_of_zarr.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    let ran = command.args(["-c", &format!("({line}) 2>&1")]).env("PATH", path).current_dir(folder.path(".")).output();
    timeless(&String::from_utf8(ran.unwrap().stdout).unwrap())
}

/// The text with the time of each line in which `in 0.3 s` stands at the end, or before a colon, as `in 0.1 s`.
fn timeless(text: &str) -> String {
    let line = |line: &str| {
        let parts = line.rsplit_once(" in ").and_then(|(begin, end)| {
            let (time, rest) = end.split_once(" s").filter(|(_, rest)| rest.is_empty() || rest.starts_with(':'))?;
            time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.').then_some((begin, rest))
        });
        parts.map_or_else(|| format!("{line}\n"), |(begin, rest)| format!("{begin} in 0.1 s{rest}\n"))
    };
    text.lines().map(line).collect()
}

/// The page, with the output of each of its commands as it is now.
fn written(page: &str, folder: &Folder) -> String {
    let mut text = String::new();
    let mut in_block = false;
    for line in page.lines() {
        match (in_block, line) {
            (false, "```console") => in_block = true,
            (true, "```") => in_block = false,
            (true, line) if !line.starts_with("$ ") => continue,
            _ => {}
        }
        text.push_str(line);
        text.push('\n');
        if let Some(command) = line.strip_prefix("$ ").filter(|_| in_block) {
            text.push_str(&run(folder, command));
        }
    }
    text
}

#[test]
fn commands_print_what_the_pages_say() {
    for name in PAGES {
        let folder = Folder::new();
        folder.ok(&["cp", CLIMATE, "climate.zarr"]);
        folder.ok(&["consolidate", "climate.zarr"]);
        folder.ok(&["cp", TISSUE, "tissue.zarr"]);
        folder.ok(&["cp", PLATE, "plate.zarr"]);
        std::fs::copy(REPOSITORY, folder.path("ice.zip")).unwrap();
        for file in [NETCDF, TIFF].into_iter().flat_map(|files| std::fs::read_dir(files).unwrap()) {
            let file = file.unwrap();
            std::fs::copy(file.path(), folder.path(file.file_name().to_str().unwrap())).unwrap();
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        let page = std::fs::read_to_string(&path).unwrap();
        let written = written(&page, &folder);
        assert!(page.lines().any(|line| line.starts_with("$ zarr ")), "docs/{name}: no commands");
        if std::env::var_os("ZARR_BLESS").is_some() {
            std::fs::write(&path, &written).unwrap();
            continue;
        }
        for (number, (found, expected)) in written.lines().zip(page.lines()).enumerate() {
            let line = number + 1;
            assert_eq!(found, expected, "docs/{name}:{line}: docs/command.md says at its top how to write it anew");
        }
        assert_eq!(written, page, "docs/{name}");
    }
}

/// The output of the first command of README.md.
#[test]
fn the_readme_shows_what_its_first_command_prints() {
    let readme = include_str!("../../../../README.md");
    let (_, after) = readme.split_once("cargo run --release -- convert ").unwrap();
    let (command, after) = after.split_once("\n```\n").unwrap();
    let shown = after.split("```\n").nth(1).unwrap();
    let folder = Folder::new();
    let command = format!("zarr convert {command}").replace("cargo run --release --", "zarr");
    let data = Path::new(CLIMATE).parent().unwrap().display().to_string();
    std::fs::create_dir(folder.path("target")).unwrap();
    assert_eq!(run(&folder, &command.replace("examples/data", &data)), shown);
}

#[test]
fn the_commands_of_the_readme_end_well() {
    let readme = include_str!("../../../../README.md");
    let folder = Folder::new();
    folder.ok(&["cp", CLIMATE, "climate.zarr"]);
    std::fs::copy(Path::new(NETCDF).join("sst-2006-04.nc"), folder.path("sst.nc")).unwrap();
    let commands: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("zarr ")).collect();
    assert!(commands.len() >= 3, "{commands:?}");
    for command in commands {
        let command = command.split_once("  #").map_or(command, |(command, _)| command);
        folder.ok(&command.split_whitespace().collect::<Vec<_>>());
    }
}

#[test]
fn times_are_left_out() {
    assert_eq!(timeless("a in 12.5 s\nb in x s\n"), "a in 0.1 s\nb in x s\n");
    assert_eq!(timeless("a in 0.0 s: 1 in 2\nb in 3 s: 0 errors\n"), "a in 0.0 s: 1 in 2\nb in 0.1 s: 0 errors\n");
}
