//! Package for Debian and distributions based on it.

use crate::command::{VERSION, say, succeed};
use crate::pack::{Entry, Files, gzip};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Creates the package with `dpkg-deb`. Without that program, does nothing.
pub(crate) fn make(files: &Files, triple: &str, folder: &Path, time: u64) -> Result<(), String> {
    let machine = match triple.split('-').next() {
        Some("x86_64") => "amd64",
        Some("aarch64") => "arm64",
        _ => return Ok(()),
    };
    if !Command::new("dpkg-deb").arg("--version").output().is_ok_and(|done| done.status.success()) {
        return say("no dpkg-deb: no package for Debian");
    }
    let tree = folder.join("deb");
    let written = lay_out(files, machine, &tree);
    let path = folder.join(format!("zarr-rs_{VERSION}_{machine}.deb"));
    let made = written.and_then(|()| {
        let mut command = Command::new("dpkg-deb");
        // Times of files are at most this one.
        command.env("SOURCE_DATE_EPOCH", time.to_string()).args(["--root-owner-group", "-Zxz", "--build"]);
        succeed(command.arg(&tree).arg(&path))
    });
    fs::remove_dir_all(&tree).map_err(|error| format!("{}: {error}", tree.display()))?;
    made
}

/// Writes the files to the places in `tree` where the system searches for them.
fn lay_out(files: &Files, machine: &str, tree: &Path) -> Result<(), String> {
    let mut size = 0;
    for (path, Entry { content, is_program }) in files {
        let Some(place) = place(path) else { continue };
        // Debian keeps long texts as gzip.
        let content = if place.ends_with(".gz") { gzip(content)? } else { content.clone() };
        size += content.len();
        write(&tree.join(place), &content, if *is_program { 0o755 } else { 0o644 })?;
    }
    let program = files.get("zarr").map(|entry| entry.content.as_slice()).unwrap_or_default();
    write(&tree.join("DEBIAN/control"), control(machine, size, program).as_bytes(), 0o644)
}

/// Returns the path in the package of a file of the archive; `None` if the package lacks the file.
fn place(path: &str) -> Option<String> {
    let docs = "usr/share/doc/zarr-rs";
    Some(match path {
        "zarr" => "usr/bin/zarr".to_owned(),
        "completions/bash/zarr" => "usr/share/bash-completion/completions/zarr".to_owned(),
        "completions/zsh/_zarr" => "usr/share/zsh/vendor-completions/_zarr".to_owned(),
        "completions/fish/zarr.fish" => "usr/share/fish/vendor_completions.d/zarr.fish".to_owned(),
        "CHANGELOG.md" => format!("{docs}/changelog.gz"),
        "THIRD-PARTY.txt" => format!("{docs}/THIRD-PARTY.txt.gz"),
        "LICENSE-MIT" => format!("{docs}/copyright"),
        _ => match path.strip_prefix("man/") {
            Some(page) => format!("usr/share/man/man1/{page}.gz"),
            None => format!("{docs}/{path}"),
        },
    })
}

fn control(machine: &str, size: usize, program: &[u8]) -> String {
    let depends =
        needed_glibc(program).map_or_else(String::new, |version| format!("Depends: libc6 (>= {version}), libgcc-s1\n"));
    format!(
        "Package: zarr-rs\nVersion: {VERSION}\nArchitecture: {machine}\nMaintainer: The zarr-rs developers <zarr-rs@users.noreply.github.com>\n\
         Installed-Size: {}\n{depends}Section: science\nPriority: optional\nHomepage: https://github.com/zarr-rs/zarr\n\
         Description: command for Zarr data\n Looks at, reads, writes, converts, compares, checks and serves N-dimensional arrays in every\n \
         format that Zarr ever had: in directories, zip files, SQLite files and buckets, and over HTTP.\n",
        size.div_ceil(1024)
    )
}

/// Returns the newest version of glibc whose symbols a program uses; `None` if it is not linked to glibc.
fn needed_glibc(program: &[u8]) -> Option<String> {
    let name = b"\0GLIBC_2.";
    let versions = program.windows(name.len()).enumerate().filter(|(_, bytes)| bytes == name).map(|(at, _)| {
        let digits = program[at + name.len()..].iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold(0_u32, |number, digit| number.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
    });
    Some(format!("2.{}", versions.max()?))
}

/// Writes a file with this mode, whatever the umask of the process.
fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), String> {
    let write = || {
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        fs::write(path, bytes)?;
        set_mode(path, mode)
    };
    write().map_err(|error: std::io::Error| format!("{}: {error}", path.display()))
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> std::io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_asks_for_the_glibc_that_its_program_needs() {
        assert_eq!(needed_glibc(b"..\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.17\0.").as_deref(), Some("2.34"));
        assert_eq!(needed_glibc(b"a static program"), None);
        let control = control("amd64", 3000, b"\0GLIBC_2.28\0");
        assert!(control.contains("\nInstalled-Size: 3\nDepends: libc6 (>= 2.28), libgcc-s1\nSection"), "{control}");
        assert!(
            control.lines().last().is_some_and(|line| line.starts_with(' ')) && control.ends_with('\n'),
            "{control}"
        );
    }

    #[test]
    fn files_have_their_places() {
        assert_eq!(place("zarr").as_deref(), Some("usr/bin/zarr"));
        assert_eq!(place("man/zarr-cp.1").as_deref(), Some("usr/share/man/man1/zarr-cp.1.gz"));
        assert_eq!(place("LICENSE-OFL").as_deref(), Some("usr/share/doc/zarr-rs/LICENSE-OFL"));
    }
}
