//! Where results go: standard output, or a file that is replaced once it is complete.

use crate::failure::{Failure, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Bytes that are collected before they are written.
const BUFFER: usize = 256 << 10;

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
            return Ok(Self { writer, name: "standard output".to_owned(), temporary: None });
        };
        let name = path.display().to_string();
        let fail = |error| Failure::io(&name, &error);
        // A device or a pipe is written to, not replaced; of a link its target is replaced.
        let (file, temporary) = match fs::metadata(path) {
            Ok(known) if !known.is_file() => (File::options().write(true).open(path).map_err(fail)?, None),
            Ok(_) => Temporary::new(&fs::canonicalize(path).map_err(fail)?).map_err(fail)?,
            Err(_) => Temporary::new(path).map_err(fail)?,
        };
        Ok(Self { writer: BufWriter::with_capacity(BUFFER, Target::File(file)), name, temporary })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes).map_err(|error| Failure::io(&self.name, &error))
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.write(text.as_bytes())
    }

    /// Writes what is left, and gives a file its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        let fail = |name: &str, error| Failure::io(name, &error);
        self.writer.flush().map_err(|error| fail(&self.name, error))?;
        match self.temporary.take() {
            Some(temporary) => temporary.keep().map_err(|error| fail(&self.name, error)),
            None => Ok(()),
        }
    }
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

/// Prints text on standard output.
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
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.tmp", std::process::id()));
        let at = target.with_file_name(hidden);
        let file = File::options().write(true).create_new(true).open(&at)?;
        Ok((file, Some(Self { at, target: target.to_owned(), kept: false })))
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
