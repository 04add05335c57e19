//! Why the command failed.

use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use zarr::ErrorKind;

/// The result of a part of the command.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why the command failed, for people and for scripts.
#[derive(Debug)]
pub(crate) struct Failure(Box<Facts>);

/// What is known of a failure.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The kind in kebab case.
    pub(crate) kind: &'static str,
    pub(crate) exit: Exit,
    /// One line, with store, node and place.
    pub(crate) line: String,
    /// What was found and expected, without the place.
    pub(crate) message: String,
    pub(crate) store: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) pointer: Option<String>,
    pub(crate) hint: Option<String>,
    /// Whoever read standard output wants no more of it.
    pub(crate) broken_pipe: bool,
}

/// The exit code of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command was used wrongly.
    Usage = 2,
    /// There is no such store or node.
    NotFound = 3,
    /// Data or metadata is invalid or cannot be read.
    Data = 4,
    /// The store, or another file, failed.
    Io = 5,
}

impl Failure {
    /// The command was used wrongly.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new("argument", Exit::Usage, message)
    }

    /// Data that is not Zarr's (a file of numpy) is invalid.
    pub(crate) fn data(kind: &'static str, message: impl Into<String>) -> Self {
        Self::new(kind, Exit::Data, message)
    }

    fn new(kind: &'static str, exit: Exit, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Facts {
            kind,
            exit,
            line: message.clone(),
            message,
            store: None,
            path: None,
            key: None,
            pointer: None,
            hint: None,
            broken_pipe: false,
        }))
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A file other than a store failed.
    pub(crate) fn io(what: impl fmt::Display, error: &io::Error) -> Self {
        let mut failure = Self::new("store", Exit::Io, format!("{what}: {error}"));
        failure.broken_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        if error.kind() == io::ErrorKind::NotFound {
            (failure.kind, failure.exit) = ("not-found", Exit::NotFound);
        }
        failure
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
        let exit = match error.kind() {
            ErrorKind::Argument | ErrorKind::Exists | ErrorKind::NotExpressible => Exit::Usage,
            ErrorKind::NotFound => Exit::NotFound,
            ErrorKind::Store => Exit::Io,
            _ => Exit::Data,
        };
        let location = error.location();
        Self(Box::new(Facts {
            kind: error.kind().name(),
            exit,
            line: whole(&error),
            message: error.message().to_owned(),
            store: location.store.clone(),
            path: location.path.clone(),
            key: location.key.clone(),
            pointer: location.pointer.clone(),
            hint: error.hint().map(str::to_owned),
            broken_pipe: false,
        }))
    }
}

/// The error with what is behind it, such as the failure of a file.
fn whole(error: &zarr::Error) -> String {
    let mut line = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let text = error.to_string();
        if !line.contains(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        source = error.source();
    }
    line
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
