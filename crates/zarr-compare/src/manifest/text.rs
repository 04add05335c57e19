//! Format of manifests: lines as `sha256sum` and `md5sum` write them.

use std::fmt;
use std::str::FromStr;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_store::Key;

use super::{Manifest, ManifestEntry, ManifestForm};

/// Writes a line for each value, with its checksum and its name. In the form of DANDI, comments with the checksums of directories follow, that of
/// the node last.
impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, entry) in self.entries() {
            let (mark, name) = escaped(name);
            writeln!(f, "{mark}{}  {name}", entry.checksum)?;
        }
        for (path, digest) in self.directories().unwrap_or_default() {
            let (mark, path) = escaped(&path);
            writeln!(f, "# {mark}{digest}  {path}/")?;
        }
        Ok(())
    }
}

/// Returns a name as `sha256sum` writes it, and the mark before the checksum of one that has escapes.
fn escaped(name: &str) -> (&'static str, String) {
    // A single hyphen names the standard input.
    let name = if name == "-" {
        "./-"
    } else if name.is_empty() {
        "."
    } else {
        name
    };
    match name.contains(['\\', '\n', '\r']) {
        true => ("\\", name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")),
        false => ("", name.to_owned()),
    }
}

/// Returns a name without the escapes of `sha256sum`; `None` for an unknown one.
fn unescaped(text: &str) -> Option<String> {
    let (mut name, mut symbols) = (String::with_capacity(text.len()), text.chars());
    while let Some(symbol) = symbols.next() {
        name.push(match symbol {
            '\\' => match symbols.next()? {
                '\\' => '\\',
                'n' => '\n',
                'r' => '\r',
                _ => return None,
            },
            symbol => symbol,
        });
    }
    Some(name)
}

/// Reads a text of `sha256sum` or `md5sum`, whose names are relative. Lines that begin with `#` are comments.
impl FromStr for Manifest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut manifest: Option<Self> = None;
        for (number, line) in text.lines().enumerate() {
            let line = line.strip_suffix('\r').unwrap_or(line);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let refuse = |what: String| Error::new(ErrorKind::Argument, format!("line {}: {what}", number + 1));
            let (form, name, checksum) = entry(line).map_err(refuse)?;
            let manifest = manifest.get_or_insert_with(|| Self { form, entries: Default::default() });
            if manifest.form != form {
                return Err(refuse("found a checksum of another length than those before".to_owned()));
            }
            let entry = ManifestEntry { checksum, size: None };
            if manifest.entries.insert(name, entry).is_some() {
                return Err(refuse("found a name for the second time".to_owned()));
            }
        }
        manifest.ok_or_else(|| {
            Error::new(ErrorKind::Argument, "found no line with a checksum and a name, as sha256sum writes them")
        })
    }
}

/// Reads the form, the name and the checksum in a line.
fn entry(line: &str) -> Result<(ManifestForm, String, String), String> {
    let (is_escaped, rest) = line.strip_prefix('\\').map_or((false, line), |rest| (true, rest));
    let expected = || format!("found {:?}, expected a checksum, two spaces and a name", excerpt(line));
    let (checksum, name) = rest.split_once(' ').ok_or_else(expected)?;
    // An asterisk is the mark of a file that was read in binary mode.
    let name = name.strip_prefix([' ', '*']).ok_or_else(expected)?;
    if !checksum.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(expected());
    }
    let form = match checksum.len() {
        64 => ManifestForm::Sha256sum,
        32 => ManifestForm::Dandi,
        count => return Err(format!("found a checksum of {count} digits, expected 64 (SHA-256) or 32 (MD5)")),
    };
    let name = if is_escaped { unescaped(name).ok_or_else(expected)? } else { name.to_owned() };
    let name = name.strip_prefix("./").unwrap_or(&name);
    Key::new(name)
        .map_err(|error| format!("found the name {:?}, expected one below the node: {error}", excerpt(name)))?;
    Ok((form, name.to_owned(), checksum.to_ascii_lowercase()))
}

/// Returns the beginning of a text for a message.
fn excerpt(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const MD5: &str = "d41d8cd98f00b204e9800998ecf8427e";

    #[test]
    fn texts_come_back_as_they_were() {
        for text in [
            format!("{SHA}  a/c/0\n{SHA}  zarr.json\n"),
            format!("{SHA}  ./-\n"),
            format!("\\{SHA}  a\\nb\\\\c\\r\n"),
            format!("{MD5}  x y\n"),
        ] {
            let manifest: Manifest = text.parse().unwrap();
            assert_eq!(manifest.to_string(), text);
        }
        let read: Manifest = format!("# a comment\r\n\n{} *./a\r\n", SHA.to_uppercase()).parse().unwrap();
        assert_eq!(read.to_string(), format!("{SHA}  a\n"));
    }

    #[test]
    fn lines_that_are_none_are_errors_that_say_where() {
        for (line, said) in [
            ("", "found no line"),
            ("x", "line 1: found \"x\", expected a checksum"),
            (&format!("{SHA} a"), "line 1: found"),
            (&format!("{SHA}  /a"), "expected one below the node"),
            (&format!("{SHA}  ../a"), "expected one below the node"),
            (&format!("{SHA}  "), "expected one below the node"),
            (&format!("\\{SHA}  a\\x"), "line 1: found"),
            (&format!("{}  a", &SHA[1..]), "found a checksum of 63 digits"),
            (&format!("{}g  a", &SHA[1..]), "line 1: found"),
            (&format!("{SHA}  a\n{MD5}  b"), "line 2: found a checksum of another length"),
            (&format!("{SHA}  a\n{SHA}  ./a"), "line 2: found a name for the second time"),
        ] {
            let error = line.parse::<Manifest>().unwrap_err();
            assert!(error.to_string().contains(said), "{line:?}: {error}");
        }
    }
}
