//! Why the command failed.

use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use zarr::ErrorKind;
use zarr::meta::json::{Map, Value};

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
    /// The index of the chunk.
    pub(crate) chunk: Option<Vec<u64>>,
    pub(crate) pointer: Option<String>,
    /// The offset in bytes in the value of the key.
    pub(crate) offset: Option<u64>,
    /// What led to it, such as the failure of a file: the nearest cause first.
    pub(crate) causes: Vec<String>,
    pub(crate) hint: Option<String>,
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
    /// Nobody reads standard output any more: 128 and the number of SIGPIPE, as shells report programs that it ends. It is not
    /// reported, for whoever closed the pipe has what they wanted.
    BrokenPipe = 141,
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
            chunk: None,
            pointer: None,
            offset: None,
            causes: Vec::new(),
            hint: None,
        }))
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same failure in the store at `url`, for which another one stood in.
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

    /// What was to be printed or written to a file is lost, or a part of it.
    pub(crate) fn output(name: impl fmt::Display, error: &io::Error) -> Self {
        Self::new("output", Exit::Io, format!("{name}: {error}")).caused_by(error)
    }

    fn caused_by(mut self, error: &io::Error) -> Self {
        self.causes.push(error.to_string());
        self
    }

    /// All that is known, for scripts.
    pub(crate) fn to_json(&self) -> Map {
        let text = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::from);
        let mut object = Map::new();
        object.insert("kind", self.kind);
        object.insert("message", self.message.as_str());
        object.insert("store", text(&self.store));
        object.insert("path", text(&self.path));
        object.insert("key", text(&self.key));
        object.insert("chunk", self.chunk.clone().map_or(Value::Null, Value::from));
        object.insert("pointer", text(&self.pointer));
        object.insert("offset", self.offset.map_or(Value::Null, Value::from));
        object.insert("causes", self.causes.clone());
        object.insert("hint", text(&self.hint));
        object
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
            // No document says it: it was asked for.
            ErrorKind::Path if error.location().key.is_none() => Exit::Usage,
            ErrorKind::Store | ErrorKind::Conflict => Exit::Io,
            _ => Exit::Data,
        };
        let location = error.location();
        let causes = causes(&error);
        Self(Box::new(Facts {
            kind: error.kind().name(),
            exit,
            line: whole(&error, &causes),
            message: error.message().to_owned(),
            store: location.store.clone(),
            path: location.path.clone(),
            key: location.key.clone(),
            chunk: location.chunk.as_ref().map(|chunk| chunk.to_vec()),
            pointer: location.pointer.clone(),
            offset: location.offset,
            causes,
            hint: error.hint().map(str::to_owned),
        }))
    }
}

/// What led to the error, the nearest cause first.
fn causes(error: &zarr::Error) -> Vec<String> {
    let first = std::error::Error::source(error);
    std::iter::successors(first, |cause| cause.source()).map(ToString::to_string).collect()
}

/// The error with what led to it, as far as it does not say so itself.
fn whole(error: &zarr::Error, causes: &[String]) -> String {
    let mut line = error.to_string();
    for cause in causes {
        if !line.contains(cause) {
            line.push_str(": ");
            line.push_str(cause);
        }
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
