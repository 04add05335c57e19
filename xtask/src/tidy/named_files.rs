//! Files that comments and pages name: each is there.

use std::collections::HashSet;

/// The files of the workspace, by each end of their paths: `tidy/circles.rs` and `circles.rs` are one file.
pub(super) struct NamedFiles(HashSet<String>);

impl NamedFiles {
    /// Collects the ends of these paths, which have `/` between their segments.
    pub(super) fn new<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut ends = HashSet::new();
        for path in paths {
            let starts = path.match_indices('/').map(|(at, _)| at + 1);
            ends.extend(std::iter::once(0).chain(starts).map(|start| path[start..].to_owned()));
        }
        Self(ends)
    }

    /// Adds a fault for each file of Rust that a comment in `text` names and that does not exist.
    pub(super) fn check(&self, name: &str, text: &str, faults: &mut Vec<String>) {
        for (number, line) in text.lines().enumerate() {
            let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
            for file in in_backticks(comment).filter(|file| is_rust_file(file) && !self.0.contains(*file)) {
                faults.push(format!("{name}:{}: found {file} in a comment, expected a file of that name", number + 1));
            }
        }
    }
}

/// The parts of a line between backticks.
fn in_backticks(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Whether a word is the path of a file of Rust with a name longer than one letter, which stands for any name.
fn is_rust_file(word: &str) -> bool {
    let is_path = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-/.".contains(&byte));
    let stem = word.strip_suffix(".rs").map(|path| path.rsplit('/').next().unwrap_or(path));
    is_path && stem.is_some_and(|stem| stem.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::NamedFiles;

    #[test]
    fn files_in_comments_exist() {
        let files = NamedFiles::new(["crates/a/src/read.rs", "crates/a/src/read/plan.rs"]);
        let faults = |text: &str| {
            let mut faults = Vec::new();
            files.check("b.rs", text, &mut faults);
            faults.len()
        };
        assert_eq!(faults("//! Plans (`read/plan.rs`, `crates/a/src/read.rs`) and `x.rs`.\n"), 0);
        assert_eq!(faults("/// A part of `gone.rs`, not of `read.rs`.\n"), 1);
        assert_eq!(faults("let name = \"`gone.rs`\";\n"), 0);
        assert_eq!(faults("// `read.rs` and `ad.rs`\n"), 1);
    }
}
