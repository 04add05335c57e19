//! Checksums of directories in the form of DANDI (`zarr-checksum`): the MD5 of the JSON of a directory, with the number and the size of the
//! files below it.

use std::fmt::Write;

use super::hashing::md5_of;
use super::{Manifest, ManifestForm};

/// Directory whose entries are gathered.
#[derive(Default)]
struct Directory {
    name: String,
    directories: Vec<Entry>,
    files: Vec<Entry>,
    count: u64,
    size: u64,
}

/// File or directory as the JSON of its directory has it.
struct Entry {
    digest: String,
    name: String,
    size: u64,
}

impl Directory {
    fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    fn digest(&mut self) -> String {
        let list = |entries: &mut Vec<Entry>| {
            entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
            let texts: Vec<String> = entries.iter().map(Entry::to_json).collect();
            texts.join(",")
        };
        let (directories, files) = (list(&mut self.directories), list(&mut self.files));
        let json = format!("{{\"directories\":[{directories}],\"files\":[{files}]}}");
        format!("{}-{}--{}", md5_of(&json), self.count, self.size)
    }
}

impl Entry {
    fn to_json(&self) -> String {
        format!("{{\"digest\":{},\"name\":{},\"size\":{}}}", quoted(&self.digest), quoted(&self.name), self.size)
    }
}

/// Returns a string of JSON as Python writes it, in ASCII alone.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
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
    quoted
}

impl Manifest {
    /// Returns the checksums of all directories by their paths, each after those in it and the node, with an empty path, last; `None` if the
    /// manifest is not in the form of DANDI, or was read from a text.
    pub fn directories(&self) -> Option<Vec<(String, String)>> {
        if self.form != ManifestForm::Dandi {
            return None;
        }
        let mut found = Vec::new();
        let mut open = vec![Directory::default()];
        // Names below one directory follow one another.
        for (name, entry) in &self.entries {
            let size = entry.size?;
            let mut parts: Vec<&str> = name.split('/').collect();
            let file = parts.pop().unwrap_or_default();
            let shared = open.iter().skip(1).zip(&parts).take_while(|(open, part)| open.name == **part).count();
            while open.len() > shared + 1 {
                close(&mut open, &mut found);
            }
            open.extend(parts[shared..].iter().map(|part| Directory::named(part)));
            if let Some(last) = open.last_mut() {
                last.files.push(Entry { digest: entry.checksum.clone(), name: file.to_owned(), size });
                last.count += 1;
                last.size = last.size.saturating_add(size);
            }
        }
        while open.len() > 1 {
            close(&mut open, &mut found);
        }
        found.push((String::new(), open.pop().unwrap_or_default().digest()));
        Some(found)
    }

    /// Returns the checksum of the node in the form of DANDI; `None` if the manifest has another form, or was read from a text.
    pub fn dandi_checksum(&self) -> Option<String> {
        self.directories()?.pop().map(|(_, digest)| digest)
    }
}

/// Ends the innermost open directory, and adds it to that above.
fn close(open: &mut Vec<Directory>, found: &mut Vec<(String, String)>) {
    let path: Vec<&str> = open.iter().skip(1).map(|directory| directory.name.as_str()).collect();
    let path = path.join("/");
    let Some(mut last) = open.pop() else { return };
    let digest = last.digest();
    if let Some(above) = open.last_mut() {
        above.count += last.count;
        above.size = above.size.saturating_add(last.size);
        above.directories.push(Entry { digest: digest.clone(), name: last.name, size: last.size });
    }
    found.push((path, digest));
}

#[cfg(test)]
mod tests {
    use super::super::ManifestEntry;
    use super::*;

    fn manifest(files: &[(&str, &str, u64)]) -> Manifest {
        let entry = |(name, checksum, size): &(&str, &str, u64)| {
            ((*name).to_owned(), ManifestEntry { checksum: (*checksum).to_owned(), size: Some(*size) })
        };
        Manifest { form: ManifestForm::Dandi, entries: files.iter().map(entry).collect() }
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
            assert_eq!(manifest(&files).dandi_checksum().as_deref(), Some(*expected), "{files:?}");
        }
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
