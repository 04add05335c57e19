//! Software inside crates that is no crate itself: C sources, a font.

use crate::command::root;
use crate::graph::Crate;
use std::fs;
use std::path::Path;

/// Software of others inside a crate, under its own licence.
pub(crate) struct Bundled {
    /// Name of the crate that contains it.
    pub(crate) of: &'static str,
    pub(crate) name: &'static str,
    /// Licence, as an SPDX expression.
    pub(crate) licence: &'static str,
    /// Source of the text of the licence.
    text: Text,
    version: Version,
}

enum Text {
    /// File in the folder of the crate.
    OfCrate(&'static str),
    /// File in this repository.
    Here(&'static str),
    /// The text itself, since no file has it.
    Is(&'static str),
}

enum Version {
    /// Build metadata in the version of the crate, after a `+` and a name.
    OfCrate(&'static str),
    /// Value of a macro in a header: the file, and the name of the macro.
    Defined(&'static str, &'static str),
    Unknown,
}

const BUNDLED: [Bundled; 5] = [
    Bundled {
        of: "libdeflate-sys",
        name: "libdeflate",
        licence: "MIT",
        text: Text::OfCrate("libdeflate/COPYING"),
        version: Version::Defined("libdeflate/libdeflate.h", "LIBDEFLATE_VERSION_STRING"),
    },
    Bundled {
        of: "libsqlite3-sys",
        name: "SQLite",
        licence: "blessing",
        text: Text::Is("The authors of SQLite disclaim copyright to its source code: it is in the public domain.\n"),
        version: Version::Defined("sqlite3/sqlite3.h", "SQLITE_VERSION"),
    },
    Bundled {
        of: "noto-sans-mono-bitmap",
        name: "Noto Sans Mono",
        licence: "OFL-1.1",
        text: Text::Here("crates/zarr-view/LICENSE-OFL"),
        version: Version::Unknown,
    },
    Bundled {
        of: "ring",
        name: "fiat-crypto",
        licence: "Apache-2.0",
        text: Text::OfCrate("third_party/fiat/LICENSE"),
        version: Version::Unknown,
    },
    Bundled {
        of: "zstd-sys",
        name: "zstd",
        licence: "BSD-3-Clause",
        text: Text::OfCrate("zstd/LICENSE"),
        version: Version::OfCrate("zstd."),
    },
];

/// Crates whose C sources are under the licence of the crate, or are not built since they belong to tests or to a disabled feature.
const NO_OTHERS: [&str; 3] = ["blake3", "nix", "walkdir"];

/// Returns the software of others inside a crate.
pub(crate) fn within(package: &Crate) -> impl Iterator<Item = &'static Bundled> {
    let name = package.name.clone();
    BUNDLED.iter().filter(move |bundled| bundled.of == name)
}

impl Bundled {
    /// Reads the text of the licence.
    pub(crate) fn text(&self, package: &Crate) -> Result<String, String> {
        let path = match self.text {
            Text::OfCrate(file) => package.folder.join(file),
            Text::Here(file) => root().join(file),
            Text::Is(text) => return Ok(text.to_owned()),
        };
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Reads the version; `None` if it is unknown.
    pub(crate) fn version(&self, package: &Crate) -> Result<Option<String>, String> {
        let (file, name) = match self.version {
            Version::Unknown => return Ok(None),
            Version::OfCrate(before) => {
                let version = package.version.split_once('+').and_then(|(_, version)| version.strip_prefix(before));
                let fault = || format!("{} {}: no version of {}", package.name, package.version, self.name);
                return version.map(|version| Some(version.to_owned())).ok_or_else(fault);
            }
            Version::Defined(file, name) => (package.folder.join(file), name),
        };
        let header = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let version = defined(&header, name).ok_or_else(|| format!("{}: no {name}", file.display()))?;
        Ok(Some(version))
    }
}

/// Returns the string for which a macro stands; `None` if the header does not define it.
fn defined(header: &str, name: &str) -> Option<String> {
    let text = header.lines().find_map(|line| {
        let text = line.strip_prefix("#define ")?.strip_prefix(name)?.strip_prefix([' ', '\t'])?;
        text.trim().strip_prefix('"')?.strip_suffix('"')
    });
    text.map(str::to_owned)
}

/// Returns whether a crate has sources in another language that are not listed here.
pub(crate) fn is_unaccounted(package: &Crate) -> Result<bool, String> {
    let is_known = within(package).next().is_some() || NO_OTHERS.contains(&package.name.as_str());
    Ok(!package.is_ours && !is_known && has_c(&package.folder)?)
}

fn has_c(folder: &Path) -> Result<bool, String> {
    let at = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(at)? {
        let path = entry.map_err(at)?.path();
        let is_c = path.extension().is_some_and(|end| ["c", "cc", "cpp", "S", "asm"].iter().any(|known| end == *known));
        if is_c || (path.is_dir() && has_c(&path)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_headers() {
        let header = "/* X */\n#define VERSION_NUMBER 3\n#define VERSION        \"3.54.1\"\n";
        assert_eq!(defined(header, "VERSION").as_deref(), Some("3.54.1"));
        assert_eq!(defined(header, "VERSION_NUMBER"), None);
    }
}
