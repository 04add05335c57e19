//! Format of manifests: lines as `sha256sum` and `md5sum` write them.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::str::FromStr;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_store::Key;

use super::{Manifest, ManifestEntry, ManifestForm};

/// Greatest length in bytes of a line of a manifest.
pub(super) const LONGEST: usize = 128 << 10;

/// Greatest number of bytes in a line besides the name: marks, and the checksum of a value or of a directory.
const BESIDES: usize = 96;

/// Form of a line, for messages.
const LINE: &str = "a checksum, two spaces and a name";

/// Byte order mark, with which some software begins a text in UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Writes a line for each value, with its checksum and its name, as `sha256sum` of coreutils 9 does; earlier versions do not know the escape of
/// a carriage return in a name. In the form of DANDI, comments with the checksums of directories follow, that of the node last.
impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, entry) in self.entries() {
            let (mark, name) = escaped(name);
            writeln!(f, "{mark}{}  {name}", entry.checksum)?;
        }
        self.visit_directories(|path, digest| {
            let (mark, path) = escaped(path);
            writeln!(f, "# {mark}{digest}  {path}/")
        })
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

/// Returns an upper bound of the length in bytes of the line of a value, and of the comments for the directories that it lies in.
pub(super) fn line_length(name: &str) -> usize {
    escaped(name).1.len() + BESIDES
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

/// Reads a text of `sha256sum` or `md5sum`, whose names are relative. Lines that begin with `#` are comments. A carriage return at the end of
/// the first line ends each line; otherwise it is part of a name, as `sha256sum` before coreutils 9 writes it.
impl FromStr for Manifest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut lines = Lines::default();
        text.split_inclusive('\n').try_for_each(|line| lines.add(line.as_bytes()))?;
        lines.finish()
    }
}

impl Manifest {
    /// Reads a text of `sha256sum` or `md5sum` line by line.
    ///
    /// ```
    /// use zarr_compare::Manifest;
    /// let text = b"d41d8cd98f00b204e9800998ecf8427e  a/0\n";
    /// assert_eq!(Manifest::read(&text[..])?.entries().len(), 1);
    /// assert_eq!(Manifest::read(&b"x"[..]).unwrap_err().kind(), std::io::ErrorKind::InvalidData);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of `reader`. [`InvalidData`](io::ErrorKind::InvalidData) with an [`Error`] at the first line that is none of a manifest, or
    /// is longer than 128 KiB.
    pub fn read(mut reader: impl BufRead) -> io::Result<Self> {
        let invalid = |error: Error| io::Error::new(io::ErrorKind::InvalidData, error);
        let (mut lines, mut line) = (Lines::default(), Vec::new());
        // One more than the line feed.
        while reader.by_ref().take(LONGEST as u64 + 2).read_until(b'\n', &mut line)? > 0 {
            lines.add(&line).map_err(invalid)?;
            line.clear();
        }
        lines.finish().map_err(invalid)
    }
}

/// Lines of a manifest that were read.
#[derive(Default)]
struct Lines {
    count: u64,
    /// Whether a carriage return ends each line, as it does the first.
    has_returns: bool,
    manifest: Option<Manifest>,
}

impl Lines {
    fn refuse(&self, what: String) -> Error {
        Error::new(ErrorKind::Argument, format!("line {}: {what}", self.count + 1))
    }

    /// Adds a line, with the line feed at its end. The last line of a text may have none.
    fn add(&mut self, line: &[u8]) -> Result<()> {
        let (line, is_ended) = line.strip_suffix(b"\n").map_or((line, false), |line| (line, true));
        if line.len() > LONGEST {
            return Err(self.refuse(format!("found more than {LONGEST} bytes, expected {LINE}")));
        }
        let line = if self.count == 0 { line.strip_prefix(MARK).unwrap_or(line) } else { line };
        if self.count == 0 {
            self.has_returns = line.ends_with(b"\r");
        }
        let line = match line.strip_suffix(b"\r") {
            Some(line) if self.has_returns => line,
            None if self.has_returns && is_ended => {
                let what = "found no carriage return at the end, expected one as in the first line";
                return Err(self.refuse(what.to_owned()));
            }
            _ => line,
        };
        let line = std::str::from_utf8(line).map_err(|error| {
            let begin = String::from_utf8_lossy(line);
            let (begin, at) = (excerpt(&begin), error.valid_up_to());
            self.refuse(format!("found {begin:?}, expected UTF-8, which ends at byte {at} of the line"))
        })?;
        if !(line.is_empty() || line.starts_with('#')) {
            self.add_entry(line).map_err(|what| self.refuse(what))?;
        }
        self.count += 1;
        Ok(())
    }

    fn add_entry(&mut self, line: &str) -> Result<(), String> {
        let (form, name, checksum) = entry(line)?;
        let manifest = self.manifest.get_or_insert_with(|| Manifest::new(form, Default::default()));
        if manifest.form != form {
            let (found, expected) = (digits(form), digits(manifest.form));
            return Err(format!("found a checksum of {found} digits, expected {expected} as before it"));
        }
        match manifest.entries.get(&name) {
            Some(known) if known.checksum != checksum => {
                let (name, known) = (excerpt(&name), &known.checksum);
                Err(format!("found the checksum {checksum} of {name:?}, expected {known} as in a line before it"))
            }
            Some(_) => Ok(()),
            None => {
                manifest.entries.insert(name, ManifestEntry { checksum, size: None });
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<Manifest> {
        let none = || Error::new(ErrorKind::Argument, format!("found no line, expected {LINE} in each"));
        let Manifest { form, entries, .. } = self.manifest.ok_or_else(none)?;
        Ok(Manifest::new(form, entries))
    }
}

/// Number of digits of the checksums of a form.
fn digits(form: ManifestForm) -> usize {
    match form {
        ManifestForm::Sha256sum => 64,
        ManifestForm::Dandi => 32,
    }
}

/// Reads the form, the name and the checksum in a line.
fn entry(line: &str) -> Result<(ManifestForm, String, String), String> {
    let trimmed = line.trim_start_matches([' ', '\t']);
    let (is_escaped, rest) = trimmed.strip_prefix('\\').map_or((false, trimmed), |rest| (true, rest));
    let expected = || format!("found {:?}, expected {LINE}", excerpt(line));
    let (checksum, name) = tagged(rest).or_else(|| plain(rest)).ok_or_else(expected)?;
    if !checksum.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(expected());
    }
    let forms = [ManifestForm::Sha256sum, ManifestForm::Dandi];
    let form = forms.into_iter().find(|form| digits(*form) == checksum.len());
    let form = form
        .ok_or_else(|| format!("found a checksum of {} digits, expected 64 (SHA-256) or 32 (MD5)", checksum.len()))?;
    let name = if is_escaped { unescaped(name).ok_or_else(expected)? } else { name.to_owned() };
    let name = without_idle_segments(name);
    if let Some(fault) = Key::fault(&name) {
        return Err(format!("found the name {:?}, expected one below the node: {fault}", excerpt(&name)));
    }
    Ok((form, name, checksum.to_ascii_lowercase()))
}

/// Returns a name without segments that do not change the file: `.`, and those between two slashes.
fn without_idle_segments(name: String) -> String {
    let is_plain = !(name.starts_with("./") || name.contains("//") || name.contains("/./"));
    if is_plain || name.starts_with('/') || name.ends_with('/') {
        return name;
    }
    let segments: Vec<&str> = name.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect();
    segments.join("/")
}

/// Returns the checksum and the name in a line as `sha256sum` writes it.
fn plain(line: &str) -> Option<(&str, &str)> {
    let (checksum, name) = line.split_once(' ')?;
    // An asterisk is the mark of a file that was read in binary mode.
    Some((checksum, name.strip_prefix([' ', '*'])?))
}

/// Returns the checksum and the name in a line as `sha256sum --tag` writes it.
fn tagged(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("SHA256 (").or_else(|| line.strip_prefix("MD5 ("))?;
    let (name, checksum) = rest.rsplit_once(") = ")?;
    Some((checksum, name))
}

/// Returns the beginning of a text for a message.
pub(super) fn excerpt(text: &str) -> String {
    const MOST: usize = 80;
    let mut symbols = text.chars();
    let mut begin: String = symbols.by_ref().take(MOST).collect();
    if symbols.next().is_some() {
        begin.push('…');
    }
    begin
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
        let read: Manifest = format!("# a comment\r\n\r\n{} *./a\r\n", SHA.to_uppercase()).parse().unwrap();
        assert_eq!(read.to_string(), format!("{SHA}  a\n"));
        // As other options of `sha256sum` and other software write it, and a line for the second time.
        for text in [format!("\u{feff}  {SHA}  a\n"), format!("SHA256 (a) = {SHA}\n"), format!("{SHA}  a\n{SHA} *./a")]
        {
            assert_eq!(text.parse::<Manifest>().unwrap().to_string(), format!("{SHA}  a\n"), "{text:?}");
            assert_eq!(Manifest::read(text.as_bytes()).unwrap().to_string(), format!("{SHA}  a\n"), "{text:?}");
        }
        // Names that `sha256sum` is given.
        for name in [".//a/./b", "./a//b", "././a/b"] {
            let read: Manifest = format!("{SHA}  {name}").parse().unwrap();
            assert_eq!(read.to_string(), format!("{SHA}  a/b\n"), "{name}");
        }
        let read: Manifest = format!("\\MD5 (a\\n) = b) = {MD5}").parse().unwrap();
        assert_eq!(read.to_string(), format!("\\{MD5}  a\\n) = b\n"));
    }

    #[test]
    fn carriage_returns_end_all_lines_or_belong_to_names() {
        let both = |text: &str| {
            let parsed = text.parse::<Manifest>().map_err(|error| error.to_string());
            let read = Manifest::read(text.as_bytes()).map_err(|error| error.to_string());
            assert_eq!(parsed, read, "{text:?}");
            parsed.map(|manifest| manifest.entries().map(|(name, _)| name.to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(both(&format!("{SHA}  a\r\n{SHA}  b\r\n{SHA}  c")), Ok(vec!["a".into(), "b".into(), "c".into()]));
        // As earlier versions write it.
        assert_eq!(both(&format!("{SHA}  a\n{SHA}  b\r\n")), Ok(vec!["a".into(), "b\r".into()]));
        let said = both(&format!("{SHA}  a\r\n{SHA}  b\n")).unwrap_err();
        assert_eq!(said, "line 2: found no carriage return at the end, expected one as in the first line");
    }

    #[test]
    fn lines_have_one_greatest_length() {
        let line = |len: usize| format!("{SHA}  {}", "a".repeat(len - 66));
        for end in ["", "\n", "\r\n"] {
            let longest = line(LONGEST - end.matches('\r').count()) + end;
            assert_eq!(Manifest::read(longest.as_bytes()).unwrap(), longest.parse().unwrap());
            let longer = line(LONGEST + 1) + end;
            let expected = "line 1: found more than 131072 bytes, expected a checksum, two spaces and a name";
            assert_eq!(Manifest::read(longer.as_bytes()).unwrap_err().to_string(), expected);
            assert_eq!(longer.parse::<Manifest>().unwrap_err().to_string(), expected);
        }
        // Names of the greatest length that `of` takes, with escapes.
        let name = "\\".repeat((LONGEST - BESIDES) / 2);
        assert_eq!(line_length(&name), LONGEST);
        assert!(format!("# \\{}-{}--{}  ", "0".repeat(32), u64::MAX, u64::MAX).len() < BESIDES);
    }

    #[test]
    fn files_that_are_no_manifests_are_refused_at_their_first_line() {
        let said = |bytes: &[u8]| {
            let error = Manifest::read(bytes).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            error.to_string()
        };
        let good = format!("{SHA}  a\n");
        assert!(said(&[good.as_bytes(), b"\xff\xfex\0"].concat()).starts_with("line 2: found \"\u{fffd}"));
        assert!(said(b"\xff\xfea\0 \0").contains("expected UTF-8, which ends at byte 0 of the line"));
        // A file without an end.
        let zeros = io::BufReader::new(io::repeat(0));
        let error = Manifest::read(zeros).unwrap_err().to_string();
        assert!(error.starts_with("line 1: found more than 131072 bytes, expected a checksum"), "{error}");
        let long = format!("{SHA}  {}\n", "a".repeat(65_000));
        assert_eq!(Manifest::read(long.as_bytes()).unwrap().entries().len(), 1);
        assert!(said("x".repeat(200).as_bytes()).contains(&format!("{}…\"", "x".repeat(80))));
    }

    #[test]
    fn lines_that_are_none_are_errors_that_say_where() {
        for (line, said) in [
            ("", "found no line, expected a checksum"),
            ("x", "line 1: found \"x\", expected a checksum"),
            (&format!("{SHA} a"), "line 1: found"),
            (&format!("{SHA}  /a"), "expected one below the node"),
            (&format!("{SHA}  ../a"), "expected one below the node"),
            (&format!("{SHA}  a/"), "expected one below the node"),
            (&format!("{SHA}  ../{}", "a".repeat(1000)), "aaa…\", expected one below the node: it has a segment"),
            (&format!("{SHA}  "), "expected one below the node"),
            (&format!("\\{SHA}  a\\x"), "line 1: found"),
            (&format!("{}  a", &SHA[1..]), "found a checksum of 63 digits"),
            (&format!("{}g  a", &SHA[1..]), "line 1: found"),
            (&format!("{SHA}  a\n{MD5}  b"), "line 2: found a checksum of 32 digits, expected 64"),
            (&format!("{SHA}  a\n{}  ./a", SHA.replace('e', "f")), "line 2: found the checksum f3b0"),
            (&format!("SHA256 (a = {SHA}"), "line 1: found"),
        ] {
            let error = line.parse::<Manifest>().unwrap_err();
            assert!(error.to_string().contains(said), "{line:?}: {error}");
        }
    }
}
