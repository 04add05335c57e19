//! Checksums of directories in the form of DANDI (`zarr-checksum`): the MD5 of the JSON of a directory, with the number and the size of the
//! files below it.

use std::convert::Infallible;
use std::fmt::Write;

use md5::{Digest, Md5};

use super::{Manifest, ManifestEntry, ManifestForm};
use crate::hash::Hexadecimal;

/// Greatest number of segments of a name in a manifest of this form.
pub(super) const MOST_SEGMENTS: usize = 1000;

/// Directory whose entries are gathered.
#[derive(Default)]
struct Directory<'m> {
    name: &'m str,
    /// Names, checksums and sizes of the directories in it.
    directories: Vec<(&'m str, String, u64)>,
    /// Names and checksums of the files in it, in the order of their names.
    files: Vec<(&'m str, &'m ManifestEntry)>,
    count: u64,
    size: u64,
}

impl<'m> Directory<'m> {
    fn named(name: &'m str) -> Self {
        Self { name, ..Self::default() }
    }

    fn digest(&mut self) -> String {
        self.directories.sort_unstable_by(|a, b| a.0.cmp(b.0));
        let mut hasher = Md5::default();
        let directories = self.directories.iter().map(|(name, digest, size)| (*name, digest.as_str(), *size));
        let files = self.files.iter().map(|(name, entry)| (*name, entry.checksum.as_str(), entry.size.unwrap_or(0)));
        hasher.update(b"{\"directories\":[");
        add_entries(&mut hasher, directories);
        hasher.update(b"],\"files\":[");
        add_entries(&mut hasher, files);
        hasher.update(b"]}");
        format!("{}-{}--{}", Hexadecimal(&hasher.finalize()), self.count, self.size)
    }
}

/// Adds the JSON of files or directories: their names, checksums and sizes.
fn add_entries<'e>(hasher: &mut Md5, entries: impl Iterator<Item = (&'e str, &'e str, u64)>) {
    let mut text = String::new();
    for (name, digest, size) in entries {
        text.push_str("{\"digest\":");
        quote(digest, &mut text);
        text.push_str(",\"name\":");
        quote(name, &mut text);
        // Writing to a string does not fail.
        let _ = write!(text, ",\"size\":{size}}}");
        hasher.update(text.as_bytes());
        text.clear();
        // The next one follows a comma.
        text.push(',');
    }
}

/// Adds a string of JSON as Python writes it, in ASCII alone.
fn quote(text: &str, quoted: &mut String) {
    quoted.push('"');
    for symbol in text.chars() {
        match symbol {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            ' '..='~' => quoted.push(symbol),
            symbol => {
                for unit in symbol.encode_utf16(&mut [0; 2]) {
                    // Writing to a string does not fail.
                    let _ = write!(quoted, "\\u{unit:04x}");
                }
            }
        }
    }
    quoted.push('"');
}

/// Directories that are open: the node, and one in another below it.
struct Open<'m> {
    directories: Vec<Directory<'m>>,
    /// Path of the innermost directory.
    path: String,
}

impl<'m> Open<'m> {
    /// Ends the innermost directory, and adds it to that above. Returns the length of the path of that above, and the checksum.
    fn close(&mut self) -> Option<(usize, String)> {
        let mut last = self.directories.pop()?;
        let digest = last.digest();
        if let Some(above) = self.directories.last_mut() {
            above.count += last.count;
            above.size = above.size.saturating_add(last.size);
            above.directories.push((last.name, digest.clone(), last.size));
        }
        let len = self.path.len() - last.name.len();
        // Directories in the node have no slash before them.
        Some((len.saturating_sub(usize::from(self.directories.len() > 1)), digest))
    }

    fn enter(&mut self, name: &'m str) {
        if self.directories.len() > 1 {
            self.path.push('/');
        }
        self.path.push_str(name);
        self.directories.push(Directory::named(name));
    }
}

impl Manifest {
    /// Calls `visit` with the path and the checksum of each directory, each after those in it, and last with those of the node, whose path is
    /// empty. There are none if the manifest is not in the form of DANDI, or was read from a text.
    ///
    /// # Errors
    /// The errors of `visit`.
    pub fn visit_directories<E>(&self, mut visit: impl FnMut(&str, &str) -> Result<(), E>) -> Result<(), E> {
        if self.form != ManifestForm::Dandi || self.size().is_none() {
            return Ok(());
        }
        let mut open = Open { directories: vec![Directory::default()], path: String::new() };
        let mut close = |open: &mut Open<'_>| -> Result<(), E> {
            let Some((above, digest)) = open.close() else { return Ok(()) };
            visit(&open.path, &digest)?;
            open.path.truncate(above);
            Ok(())
        };
        // Names below one directory follow one another.
        for (name, entry) in &self.entries {
            let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
            let parts = || folder.split('/').filter(|part| !part.is_empty());
            let below = open.directories.iter().skip(1);
            let shared = below.zip(parts()).take_while(|(open, part)| open.name == *part).count();
            while open.directories.len() > shared + 1 {
                close(&mut open)?;
            }
            parts().skip(shared).for_each(|part| open.enter(part));
            if let Some(last) = open.directories.last_mut() {
                last.files.push((file, entry));
                last.count += 1;
                last.size = last.size.saturating_add(entry.size.unwrap_or(0));
            }
        }
        while !open.directories.is_empty() {
            close(&mut open)?;
        }
        Ok(())
    }

    /// Returns the checksum of the node in the form of DANDI; `None` if the manifest has another form, or was read from a text.
    pub fn dandi_checksum(&self) -> Option<&str> {
        self.dandi_checksum.as_deref()
    }

    /// Computes the checksum of the node in the form of DANDI.
    pub(super) fn compute_dandi_checksum(&self) -> Option<String> {
        let mut last = None;
        let Ok(()) = self.visit_directories(|path, digest| {
            if path.is_empty() {
                last = Some(digest.to_owned());
            }
            Ok::<(), Infallible>(())
        });
        last
    }
}

#[cfg(test)]
mod tests {
    use super::super::ManifestEntry;
    use super::*;

    fn manifest(files: &[(&str, &str, u64)]) -> Manifest {
        let entry = |(name, checksum, size): &(&str, &str, u64)| {
            ((*name).to_owned(), ManifestEntry { checksum: (*checksum).to_owned(), size: Some(*size) })
        };
        Manifest::new(ManifestForm::Dandi, files.iter().map(entry).collect())
    }

    /// Checksums that Python's zarr-checksum 0.4 computes of the same files.
    #[test]
    fn directories_have_the_checksums_of_zarr_checksum() {
        let digit = |digit: char| digit.to_string().repeat(32);
        let (a, b, c) = (digit('a'), digit('b'), digit('c'));
        assert_eq!(manifest(&[]).dandi_checksum().unwrap(), "481a2f77ab786a0f45aafd5db0971caa-0--0");
        for (files, expected) in EXPECTED {
            let files: Vec<(&str, &str, u64)> =
                files.iter().map(|(name, digit, size)| (*name, [&a[..], &b, &c][*digit], *size)).collect();
            assert_eq!(manifest(&files).dandi_checksum(), Some(*expected), "{files:?}");
        }
    }

    #[test]
    fn directories_are_visited_after_those_in_them() {
        let checksum = "a".repeat(32);
        let made = manifest(&[
            ("a-b/x", &checksum, 1),
            ("a/b/c", &checksum, 2),
            ("a/b/d/e", &checksum, 3),
            ("z", &checksum, 4),
        ]);
        let mut paths = Vec::new();
        made.visit_directories(|path, digest| {
            paths.push(path.to_owned());
            if path.is_empty() {
                assert_eq!(made.dandi_checksum(), Some(digest))
            }
            Ok::<(), Infallible>(())
        })
        .unwrap();
        assert_eq!(paths, ["a-b", "a/b/d", "a/b", "a", ""]);
        assert_eq!(made.visit_directories(|path, _| Err(path.to_owned())), Err("a-b".to_owned()));
        let text: Manifest = made.to_string().parse().unwrap();
        assert_eq!((text.dandi_checksum(), text.visit_directories(|_, _| Err(()))), (None, Ok(())));
    }

    type Files = &'static [(&'static str, usize, u64)];

    const EXPECTED: &[(Files, &str)] = &[
        (&[("zarr.json", 0, 5)], "c4bea587c87a268153f89de8d2ff92f1-1--5"),
        (
            &[("a/x", 0, 1), ("a-b/x", 1, 2), ("a0/y/z", 2, 3), ("b", 0, 1099511627776)],
            "53f5a4eac53f002a4ec3edd1f5edcdb2-4--1099511627782",
        ),
        (
            &[
                ("\u{fc}/\"\\\n/\u{1f600}", 0, 1),
                ("\u{fc}/x\u{7f}\u{1}", 1, 0),
                ("c/0/0", 2, 7),
                ("c/0/1", 0, 7),
                ("c/10/0", 1, 7),
                ("c/2", 2, 7),
            ],
            "e6e9ac53a8c25de37ce08c2a41adec9a-6--29",
        ),
    ];
}
