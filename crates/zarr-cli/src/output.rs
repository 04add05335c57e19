//! Where results go: standard output, or a file that is replaced once it is complete.

use crate::escape;
use crate::failure::{Exit, Failure, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use zarr::meta::json::Value;

/// Bytes that are collected before they are written.
const BUFFER: usize = 256 << 10;
/// What error messages call standard output.
const STDOUT: &str = "standard output";
/// How many names are tried for a temporary file.
const NAMES: u32 = 100;

/// Where results go.
#[derive(Debug)]
pub(crate) struct Output {
    writer: BufWriter<Target>,
    /// For error messages.
    name: String,
    temporary: Option<Temporary>,
}

#[derive(Debug)]
enum Target {
    Stdout(io::Stdout),
    File(File),
}

impl Output {
    /// Standard output for nothing or `-`, else a file. Bytes that are no text do not go to a terminal.
    pub(crate) fn open(path: Option<&Path>, binary: bool) -> Result<Self> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            let stdout = io::stdout();
            if binary && stdout.is_terminal() {
                let failure = Failure::usage("the output is no text, and goes to a terminal");
                return Err(failure.with_hint("name a file with -o, or pipe the output"));
            }
            let writer = BufWriter::with_capacity(BUFFER, Target::Stdout(stdout));
            return Ok(Self { writer, name: STDOUT.to_owned(), temporary: None });
        };
        let name = path.display().to_string();
        let fail = |error| Failure::output(&name, &error);
        // A device or a pipe is written to, not replaced; of a link its target is replaced.
        let (file, temporary) = match fs::metadata(path) {
            Ok(known) if !known.is_file() => (File::options().write(true).open(path).map_err(fail)?, None),
            Ok(_) => Temporary::new(&fs::canonicalize(path).map_err(fail)?).map_err(fail)?,
            Err(_) => Temporary::new(path).map_err(fail)?,
        };
        Ok(Self { writer: BufWriter::with_capacity(BUFFER, Target::File(file)), name, temporary })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes).map_err(|error| self.lost(&error))
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.write(text.as_bytes())
    }

    /// Writes what is left, makes sure that it arrived, and gives a file its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        let (temporary, name) = (self.temporary.take(), std::mem::take(&mut self.name));
        let target = self.writer.into_inner().map_err(io::IntoInnerError::into_error).and_then(Target::close);
        let kept = target.and_then(|()| temporary.map_or(Ok(()), Temporary::keep));
        kept.map_err(|error| lost(&name, &error))
    }

    fn lost(&self, error: &io::Error) -> Failure {
        lost(&self.name, error)
    }
}

fn lost(name: &str, error: &io::Error) -> Failure {
    let mut failure = Failure::output(name, error);
    if name == STDOUT && error.kind() == io::ErrorKind::BrokenPipe {
        failure.exit = Exit::BrokenPipe;
    }
    failure
}

impl Target {
    /// Flushes and closes. Some file systems say only then that there is no space, or that what was written is lost.
    fn close(mut self) -> io::Result<()> {
        self.flush()?;
        match self {
            // Standard output stays open; a file system learns of a duplicate that is closed as well.
            #[cfg(unix)]
            Self::Stdout(out) => close(std::os::fd::AsFd::as_fd(&out).try_clone_to_owned()?),
            #[cfg(not(unix))]
            Self::Stdout(_) => Ok(()),
            Self::File(out) => {
                // Or a loss of power could leave its name without its bytes.
                if out.metadata()?.is_file() {
                    out.sync_all()?;
                }
                close(out)
            }
        }
    }
}

/// Dropping a file would hide what goes wrong.
#[cfg(unix)]
fn close(file: impl std::os::fd::IntoRawFd) -> io::Result<()> {
    Ok(nix::unistd::close(file)?)
}

#[cfg(not(unix))]
fn close(file: File) -> io::Result<()> {
    file.sync_all()
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(out) => out.flush(),
        }
    }
}

/// Prints a value as JSON on standard output. Numbers that JSON does not have are texts there.
pub(crate) fn json(value: &Value) -> Result<()> {
    print(&escape::json(&format!("{:#}\n", value.clone().without_bare())))
}

/// Prints text, which is [safe](escape) by now, on standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = Output::open(None, false)?;
    out.text(text)?;
    out.finish()
}

/// A file under a name of its own, removed unless it is kept.
#[derive(Debug)]
struct Temporary {
    at: PathBuf,
    target: PathBuf,
    kept: bool,
}

impl Temporary {
    fn new(target: &Path) -> io::Result<(File, Option<Self>)> {
        let Some(name) = target.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no name of a file"));
        };
        for number in 0..NAMES {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{number}.tmp", std::process::id()));
            let at = target.with_file_name(hidden);
            match File::options().write(true).create_new(true).open(&at) {
                Ok(file) => return Ok((file, Some(Self { at, target: target.to_owned(), kept: false }))),
                // A process of the same number may have left it when it was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "no free name for a temporary file"))
    }

    fn keep(mut self) -> io::Result<()> {
        fs::rename(&self.at, &self.target)?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept {
            // The failure that led here is the one to report.
            let _ = fs::remove_file(&self.at);
        }
    }
}
