//! Failures of the command, as they are reported to people and scripts.

use crate::hints::{by_options, of_message, of_verb};
use crate::object::{object, or_null};
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use zarr::ErrorKind;
use zarr::meta::json::Map;

/// Result of a function of the command.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Failure of the command, with messages for people and facts for scripts.
#[derive(Debug)]
pub(crate) struct Failure(Box<Facts>);

/// Facts about a failure.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Kind of the failure, in kebab case, such as `not-found`.
    pub(crate) kind: &'static str,
    pub(crate) exit: Exit,
    /// Message in one line, with the location: store, node and key.
    pub(crate) line: String,
    /// Message without the location.
    pub(crate) message: String,
    pub(crate) store: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) key: Option<String>,
    /// Index of the chunk; `None` if the failure is about no single chunk.
    pub(crate) chunk: Option<Vec<u64>>,
    pub(crate) pointer: Option<String>,
    /// Offset in bytes in the value of the key; `None` if there is none.
    pub(crate) offset: Option<u64>,
    /// Messages of the causes, such as the failure of a file; the nearest cause comes first.
    pub(crate) causes: Vec<String>,
    pub(crate) hint: Option<String>,
}

/// Exit code of the command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The verb was carried out, except for chunks that cannot be read; or a check found something, or compared data differ.
    Skipped = 1,
    /// The command was used wrongly.
    #[default]
    Usage = 2,
    /// The named store or node does not exist.
    NotFound = 3,
    /// Data or metadata is invalid or cannot be read.
    Data = 4,
    /// Access to the store, or to another file, failed.
    Io = 5,
    /// Ctrl-C interrupted the verb while it was writing: 128 plus the number of SIGINT, as shells report programs that the signal ends.
    Interrupted = 130,
    /// SIGTERM ended the verb while it was writing: 128 plus the number of SIGTERM.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only the signals of Unix tell it"))]
    Terminated = 143,
    /// The reader of standard output closed the pipe: 128 plus the number of SIGPIPE, as shells report programs that the signal ends. No
    /// message is printed.
    BrokenPipe = 141,
}

impl Failure {
    /// Returns the failure for wrong arguments.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new("argument", Exit::Usage, message)
    }

    /// Returns the failure for invalid data that is not Zarr, such as a file of numpy. `kind` is in kebab case.
    pub(crate) fn data(kind: &'static str, message: impl Into<String>) -> Self {
        Self::new(kind, Exit::Data, message)
    }

    /// Returns the failure of a verb that skipped some chunks or nodes and carried out the rest.
    pub(crate) fn skipped(message: impl Into<String>) -> Self {
        Self::new("skipped", Exit::Skipped, message)
    }

    /// Returns the failure of a check that found something.
    pub(crate) fn findings(message: impl Into<String>) -> Self {
        Self::new("findings", Exit::Skipped, message)
    }

    /// Returns the failure of a comparison that found differences.
    pub(crate) fn different(message: impl Into<String>) -> Self {
        Self::new("different", Exit::Skipped, message)
    }

    /// Returns the failure of a verb that a signal interrupted; `exit` stands for the signal.
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

    /// Replaces the store of the failure by `url`, if the verb worked on a temporary store instead of the store at `url`.
    pub(crate) fn in_store(mut self, url: &str) -> Self {
        if let Some(stand_in) = self.store.replace(url.to_owned())
            && let Some(line) = self.line.strip_prefix(&format!("{stand_in}: "))
        {
            self.line = format!("{url}: {line}");
        }
        self
    }

    /// Whether a store could not be asked: a second attempt may succeed.
    pub(crate) fn is_of_store(&self) -> bool {
        self.exit == Exit::Io
    }

    /// Returns the failure to read the input file `name`, which is no store.
    pub(crate) fn input(name: impl fmt::Display, error: &io::Error) -> Self {
        let (kind, exit) = match error.kind() {
            io::ErrorKind::NotFound => ("not-found", Exit::NotFound),
            _ => ("store", Exit::Io),
        };
        Self::new(kind, exit, format!("{name}: {error}")).caused_by(error)
    }

    /// Returns the failure of a server to listen at `address`, or to accept its options.
    pub(crate) fn listening(address: impl fmt::Display, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidInput => Self::usage(error.to_string()),
            io::ErrorKind::AddrInUse => Self::new("store", Exit::Io, format!("{address}: {error}"))
                .caused_by(error)
                .with_hint("--port 0 takes a port that is free"),
            _ => Self::new("store", Exit::Io, format!("{address}: {error}")).caused_by(error),
        }
    }

    /// Returns the failure to write output to `name`, which is standard output or a file.
    pub(crate) fn output(name: impl fmt::Display, error: &io::Error) -> Self {
        Self::new("output", Exit::Io, format!("{name}: {error}")).caused_by(error)
    }

    fn caused_by(mut self, error: &io::Error) -> Self {
        self.causes.push(error.to_string());
        self
    }

    /// Returns all facts about the failure as a JSON object, for scripts.
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
            // No document has this path, so that an argument is wrong.
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

/// Removes the list of tried keys from `line`. JSON has that list in its message.
fn without_tried(line: &str, message: &str) -> String {
    match message.split_once(" (tried ") {
        Some((begin, _)) if begin == "no array and no group here" => line.replace(message, begin),
        _ => line.to_owned(),
    }
}

/// Returns the messages of the causes of `error`; the nearest cause comes first.
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
