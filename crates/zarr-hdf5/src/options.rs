//! Options of reading a file: its name in messages, and the files to which its external links may lead.

use std::fmt;
use std::sync::Arc;

use zarr_store::{Result, Store};
use zarr_store_virtual::OutsideFiles;

/// Options of reading a file: its name in messages, and the files to which its external links may lead.
///
/// Links lead to files in the directory of the file and below. Other files are read only where the caller allows it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Hdf5Options {
    /// Name of the file in messages; `None`, the default, for the name of its store followed by its key.
    pub name: Option<String>,
    pub(crate) outside: OutsideFiles,
    pub(crate) paths: Paths,
}

/// Function that returns the path of a file behind symbolic links.
type RealPath = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Paths of this machine.
#[derive(Clone, Default)]
pub(crate) struct Paths {
    /// Path that is a symbolic link to the file.
    pub(crate) given: Option<String>,
    pub(crate) real: Option<Arc<RealPath>>,
}

impl fmt::Debug for Paths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Paths").field("given", &self.given).finish_non_exhaustive()
    }
}

impl Hdf5Options {
    /// Sets the [name](Self#structfield.name) of the file in messages.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Adds an address of the directory that contains the file, as `/data` or `s3://bucket/data`: links may name files below this directory
    /// by paths or URLs that begin with the address. Without an address they name these files by relative names only.
    #[must_use]
    pub fn directory(self, address: impl Into<String>) -> Self {
        Self { outside: self.outside.directory(address), ..self }
    }

    /// Allows links to files whose paths or URLs lie below `prefix`. If an address of the [directory](Self::directory) is not on this
    /// machine, no link leads to a file of this machine, even below `prefix`.
    #[must_use]
    pub fn allow(self, prefix: impl Into<String>) -> Self {
        Self { outside: self.outside.allow(prefix), ..self }
    }

    /// Sets the path by which the caller knows the file, where this path is a symbolic link to the file. As for the HDF5 library, relative
    /// names are looked for in the directory of the path first, which has to be [allowed](Self::allow).
    #[must_use]
    pub fn symbolic_link(self, path: impl Into<String>) -> Self {
        Self { paths: Paths { given: Some(path.into()), ..self.paths }, ..self }
    }

    /// Sets the function that looks up an absolute path of this machine: it returns the path behind symbolic links, which may then be
    /// read where it is [allowed](Self::allow), or `None` if there is no such file where the first file lies.
    ///
    /// An absolute path that names no file leads to the file of the same last part beside the one with the link, as for the HDF5 library.
    /// Without the function, a path that may not be read is not known to name no file.
    #[must_use]
    pub fn real_path_by(self, find: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { paths: Paths { real: Some(Arc::new(find)), ..self.paths }, ..self }
    }

    /// Sets the function that opens the store at an [allowed](Self::allow) prefix. It is called with the prefix as the caller gave it.
    #[must_use]
    pub fn open_by(self, open: impl Fn(&str) -> Result<Arc<dyn Store>> + Send + Sync + 'static) -> Self {
        Self { outside: self.outside.open_by(open), ..self }
    }
}
