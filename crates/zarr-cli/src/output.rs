//! Where results go: standard output, or a file that is replaced once it is complete.
//!
//! All text from stores and arguments is escaped by `escape.rs` before it is printed. Output that cannot be written is an error. An error
//! is printed as one line and a hint, and with `--json` also as an object with its parts and causes.

use crate::escape;
use crate::failure::{Exit, Failure, Result};
use crate::interrupted;
use crate::pager::Pager;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;
use zarr::meta::json::Value;

/// Size of the buffer of output, in bytes.
const BUFFER: usize = 256 << 10;
/// Name of standard output in error messages.
const STDOUT: &str = "standard output";

/// Buffered output to standard output, a pager or a file.
#[derive(Debug)]
pub(crate) struct Output {
    writer: BufWriter<OutputFile>,
    /// Name of the output for error messages.
    name: String,
    /// Temporary name of the file until it is complete, and its final name; `None` if the output is no file to be replaced.
    names: Option<(TempPath, PathBuf)>,
    /// Number of bytes written so far.
    bytes: u64,
}

#[derive(Debug)]
enum OutputFile {
    Stdout(io::Stdout),
    Pager(Pager),
    File(File),
}

impl Output {
    /// Opens standard output for `None` or `-`, else the file at `path`. If `binary`, a terminal is refused.
    pub(crate) fn open(path: Option<&Path>, binary: bool) -> Result<Self> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            let stdout = io::stdout();
            if binary && stdout.is_terminal() {
                let failure = Failure::usage("binary output does not go to a terminal");
                return Err(failure.with_hint("name a file with -o, or pipe the output"));
            }
            let writer = BufWriter::with_capacity(BUFFER, OutputFile::Stdout(stdout));
            return Ok(Self { writer, name: STDOUT.to_owned(), names: None, bytes: 0 });
        };
        let name = path.display().to_string();
        let fail = |error| Failure::output(&name, &error);
        // A device or a pipe is written to, not replaced; behind a link, the target of the link is replaced.
        let (file, names) = match fs::metadata(path) {
            Ok(known) if !known.is_file() => (File::options().write(true).open(path).map_err(fail)?, None),
            Ok(_) => fs::canonicalize(path).and_then(temporary).map_err(fail)?,
            Err(_) => temporary(path.to_owned()).map_err(fail)?,
        };
        Ok(Self { writer: BufWriter::with_capacity(BUFFER, OutputFile::File(file)), name, names, bytes: 0 })
    }

    /// Returns output that goes to the pager, or to standard output if `pager` is `None`.
    pub(crate) fn paged(pager: Option<Pager>) -> Self {
        let output = pager.map_or_else(|| OutputFile::Stdout(io::stdout()), OutputFile::Pager);
        let writer = BufWriter::with_capacity(BUFFER, output);
        Self { writer, name: STDOUT.to_owned(), names: None, bytes: 0 }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        self.writer.write_all(bytes).map_err(|error| self.lost(&error))
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.write(text.as_bytes())
    }

    /// Writes the rest of the buffer, checks that all bytes were written, and gives a file its final name. Returns the number of bytes.
    pub(crate) fn finish(mut self) -> Result<u64> {
        let name = std::mem::take(&mut self.name);
        let closed = self.writer.into_inner().map_err(io::IntoInnerError::into_error).and_then(OutputFile::close);
        let named = closed.and_then(|()| match self.names {
            Some((temporary, target)) => temporary.persist(target).map_err(|failed| failed.error),
            None => Ok(()),
        });
        named.map_err(|error| lost(&name, &error)).map(|()| self.bytes)
    }

    /// Name of the output for error messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn lost(&self, error: &io::Error) -> Failure {
        lost(&self.name, error)
    }
}

/// Lets writers of other crates write into the output. They pass on errors, of which [`lost`] makes failures.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.bytes = self.bytes.saturating_add(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Returns the failure of an output called `name` that cannot be written.
pub(crate) fn lost(name: &str, error: &io::Error) -> Failure {
    let mut failure = Failure::output(name, error);
    if name == STDOUT && error.kind() == io::ErrorKind::BrokenPipe {
        failure.exit = Exit::BrokenPipe;
    }
    failure
}

impl OutputFile {
    /// Flushes and closes the output. Some file systems report a full disk or lost bytes only then.
    fn close(mut self) -> io::Result<()> {
        self.flush()?;
        match self {
            // Standard output itself stays open; closing a duplicate also makes a file system report errors.
            #[cfg(unix)]
            Self::Stdout(out) => close(std::os::fd::AsFd::as_fd(&out).try_clone_to_owned()?),
            #[cfg(not(unix))]
            Self::Stdout(_) => Ok(()),
            Self::Pager(pager) => pager.close(),
            Self::File(out) => {
                // Otherwise a loss of power could leave the name of the file without its bytes.
                if out.metadata()?.is_file() {
                    out.sync_all()?;
                }
                close(out)
            }
        }
    }
}

/// Closes a file and returns the error, which dropping the file would hide.
#[cfg(unix)]
fn close(file: impl std::os::fd::IntoRawFd) -> io::Result<()> {
    Ok(nix::unistd::close(file)?)
}

#[cfg(not(unix))]
fn close(file: File) -> io::Result<()> {
    file.sync_all()
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::Pager(out) => out.write(bytes),
            Self::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::Pager(out) => out.flush(),
            Self::File(out) => out.flush(),
        }
    }
}

/// Prints a value as JSON on standard output. Numbers that JSON lacks, such as NaN, become strings.
pub(crate) fn json(value: impl Into<Value>) -> Result<()> {
    print(&escape::json(&format!("{:#}\n", value.into().without_nan_literals())))
}

/// Prints text on standard output. The caller has [escaped](escape) the text.
pub(crate) fn print(text: &str) -> Result<()> {
    page(text, None)
}

/// Prints text through the pager, or on standard output if `pager` is `None`. The caller has [escaped](escape) the text.
pub(crate) fn page(text: &str, pager: Option<Pager>) -> Result<()> {
    let mut out = Output::paged(pager);
    out.text(text)?;
    out.finish().map(drop)
}

/// Creates a temporary file beside `target`, which replaces `target` once complete.
fn temporary(target: PathBuf) -> io::Result<(File, Option<(TempPath, PathBuf)>)> {
    let (Some(name), Some(folder)) = (target.file_name(), target.parent()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "expected the name of a file"));
    };
    let prefix = [OsStr::new("."), name, OsStr::new(".")].join(OsStr::new(""));
    // As any new file: the crate itself would let its owner alone read it.
    let create = |path: &Path| File::create_new(path);
    let made = tempfile::Builder::new().prefix(&prefix).suffix(".tmp").make_in(folder, create)?;
    let (file, path) = made.into_parts();
    interrupted::erases(&path);
    Ok((file, Some((path, target))))
}
