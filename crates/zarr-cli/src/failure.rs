//! Why the command failed.

use crate::hints::{by_options, of_message, of_verb};
use crate::object::{object, or_null};
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use zarr::ErrorKind;
use zarr::meta::json::Map;

/// The result of a part of the command.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why the command failed, for people and for scripts.
#[derive(Debug)]
pub(crate) struct Failure(Box<Facts>);

/// The facts about a failure.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The kind in kebab case.
    pub(crate) kind: &'static str,
    pub(crate) exit: Exit,
    /// One line, with the location: store, node and key.
    pub(crate) line: String,
    /// The message without the location.
    pub(crate) message: String,
    pub(crate) store: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) key: Option<String>,
    /// The index of the chunk.
    pub(crate) chunk: Option<Vec<u64>>,
    pub(crate) pointer: Option<String>,
    /// The offset in bytes in the value of the key.
    pub(crate) offset: Option<u64>,
    /// The causes, such as the failure of a file, the nearest first.
    pub(crate) causes: Vec<String>,
    pub(crate) hint: Option<String>,
}

/// The exit code of the command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It was done, but for chunks that cannot be read; or a check found something, or data differ.
    Skipped = 1,
    /// The command was used wrongly.
    #[default]
    Usage = 2,
    /// There is no such store or node.
    NotFound = 3,
    /// Data or metadata is invalid or cannot be read.
    Data = 4,
    /// The store, or another file, failed.
    Io = 5,
    /// Interrupted by Ctrl-C, while the verb was writing: 128 and the number of SIGINT, as shells report programs that it ends.
    Interrupted = 130,
    /// Asked to end while the verb was writing: 128 and the number of SIGTERM.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only the signals of Unix tell it"))]
    Terminated = 143,
    /// The reader of standard output closed the pipe: 128 and the number of SIGPIPE, as shells report programs that it ends. No
    /// message follows, since the reader has all that it wanted.
    BrokenPipe = 141,
}

impl Failure {
    /// The command was used wrongly.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new("argument", Exit::Usage, message)
    }

    /// Other data than Zarr (a file of numpy) is invalid.
    pub(crate) fn data(kind: &'static str, message: impl Into<String>) -> Self {
        Self::new(kind, Exit::Data, message)
    }

    /// All was done but for some chunks.
    pub(crate) fn skipped(message: impl Into<String>) -> Self {
        Self::new("skipped", Exit::Skipped, message)
    }

    /// A check found something.
    pub(crate) fn findings(message: impl Into<String>) -> Self {
        Self::new("findings", Exit::Skipped, message)
    }

    /// All was done, and data differ.
    pub(crate) fn different(message: impl Into<String>) -> Self {
        Self::new("different", Exit::Skipped, message)
    }

    /// The process is to end before all is done.
    pub(crate) fn interrupted(exit: Exit, message: impl Into<String>) -> Self {
        Self::new("interrupted", exit, message)
    }

    fn new(kind: &'static str, exit: Exit, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Facts { kind, exit, line: message.clone(), message, ..Facts::default() }))
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same failure in the store at `url`, which a temporary store stood in for.
    pub(crate) fn in_store(mut self, url: &str) -> Self {
        if let Some(stand_in) = self.store.replace(url.to_owned())
            && let Some(line) = self.line.strip_prefix(&format!("{stand_in}: "))
        {
            self.line = format!("{url}: {line}");
        }
        self
    }

    /// A file to be read, which is no store, failed.
    pub(crate) fn input(name: impl fmt::Display, error: &io::Error) -> Self {
        let (kind, exit) = match error.kind() {
            io::ErrorKind::NotFound => ("not-found", Exit::NotFound),
            _ => ("store", Exit::Io),
        };
        Self::new(kind, exit, format!("{name}: {error}")).caused_by(error)
    }

    /// A server cannot listen at an address, or with its options.
    pub(crate) fn listening(address: impl fmt::Display, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidInput => Self::usage(error.to_string()),
            io::ErrorKind::AddrInUse => Self::new("store", Exit::Io, format!("{address}: {error}"))
                .caused_by(error)
                .with_hint("--port 0 takes a port that is free"),
            _ => Self::new("store", Exit::Io, format!("{address}: {error}")).caused_by(error),
        }
    }

    /// Output was lost, on standard output or in a file.
    pub(crate) fn output(name: impl fmt::Display, error: &io::Error) -> Self {
        Self::new("output", Exit::Io, format!("{name}: {error}")).caused_by(error)
    }

    fn caused_by(mut self, error: &io::Error) -> Self {
        self.causes.push(error.to_string());
        self
    }

    /// All that is known, for scripts.
    pub(crate) fn to_json(&self) -> Map {
        object! {
            "kind": self.kind,
            "message": self.message.as_str(),
            "store": or_null(self.store.as_deref()),
            "path": or_null(self.path.as_deref()),
            "key": or_null(self.key.as_deref()),
            "chunk": or_null(self.chunk.clone()),
            "pointer": or_null(self.pointer.as_deref()),
            "offset": or_null(self.offset),
            "causes": self.causes.clone(),
            "hint": or_null(self.hint.as_deref()),
        }
    }
}

impl Deref for Failure {
    type Target = Facts;

    fn deref(&self) -> &Facts {
        &self.0
    }
}

impl DerefMut for Failure {
    fn deref_mut(&mut self) -> &mut Facts {
        &mut self.0
    }
}

impl From<zarr::Error> for Failure {
    fn from(error: zarr::Error) -> Self {
        Self::from(&error)
    }
}

impl From<&zarr::Error> for Failure {
    fn from(error: &zarr::Error) -> Self {
        let exit = match error.kind() {
            ErrorKind::Argument | ErrorKind::Exists | ErrorKind::NotExpressible => Exit::Usage,
            ErrorKind::NotFound => Exit::NotFound,
            // No document has this path: an argument does.
            ErrorKind::Path if error.location().key.is_none() => Exit::Usage,
            ErrorKind::Store | ErrorKind::Conflict | ErrorKind::Cancelled => Exit::Io,
            _ => Exit::Data,
        };
        let location = error.location();
        let causes = causes(error);
        // The hint has a line of its own.
        let hinted = error.hint().map(|hint| format!(" ({hint})"));
        let plain = |text: String| hinted.as_ref().map_or(text.clone(), |hint| text.replace(hint, ""));
        Self(Box::new(Facts {
            kind: error.kind().name(),
            exit,
            line: without_tried(&plain(error.with_causes()), &plain(error.message().to_owned())),
            message: plain(error.message().to_owned()),
            store: location.store.clone(),
            path: location.path.clone(),
            key: location.key.clone(),
            chunk: location.chunk.as_ref().map(|chunk| chunk.to_vec()),
            pointer: location.pointer.clone(),
            offset: location.offset,
            causes,
            hint: error.hint().map(by_options).map(of_verb).or_else(|| of_message(error.message())),
        }))
    }
}

/// A line without the list of keys that were looked at, which the message in JSON has.
fn without_tried(line: &str, message: &str) -> String {
    match message.split_once(" (tried ") {
        Some((begin, _)) if begin == "no array and no group here" => line.replace(message, begin),
        _ => line.to_owned(),
    }
}

/// The causes of an error, the nearest first.
fn causes(error: &zarr::Error) -> Vec<String> {
    let first = std::error::Error::source(error);
    std::iter::successors(first, |cause| cause.source()).map(ToString::to_string).collect()
}

impl From<zarr::grid::Error> for Failure {
    fn from(error: zarr::grid::Error) -> Self {
        Self::from(zarr::Error::from(error))
    }
}

impl From<zarr::meta::Error> for Failure {
    fn from(error: zarr::meta::Error) -> Self {
        Self::from(zarr::Error::from(error))
    }
}
