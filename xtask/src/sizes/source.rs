//! Source files without their tests and comments.

use std::fs;
use std::path::Path;

/// Source file that is not a test.
pub(super) struct Source {
    /// Path relative to the folder `src` of its crate.
    pub(super) path: String,
    /// Lines of code: without comments, empty lines and modules of tests.
    pub(super) code: String,
}

impl Source {
    /// Returns the names of the types and traits that the file defines.
    pub(super) fn types(&self) -> Vec<&str> {
        self.code.lines().filter_map(|line| name_behind(line, &["struct", "enum", "trait", "union"])).collect()
    }

    /// Returns the traits, each with its number of methods.
    pub(super) fn traits(&self) -> Vec<(&str, usize)> {
        let mut traits = Vec::new();
        let mut inside = false;
        for line in self.code.lines() {
            if let Some(name) = name_behind(line, &["trait"]) {
                traits.push((name, 0));
                inside = !line.ends_with('}');
            } else if line == "}" {
                inside = false;
            } else if inside
                && line.strip_prefix("    ").is_some_and(is_function)
                && let Some((_, methods)) = traits.last_mut()
            {
                *methods += 1;
            }
        }
        traits
    }

    /// Returns the names of the types that implement the trait `name`.
    pub(super) fn implementations(&self, name: &str) -> Vec<String> {
        let behind = format!("{name} for ");
        let lines = self.code.lines().filter(|line| line.trim_start().starts_with("impl"));
        let of = |line: &str| -> Option<String> {
            let (before, rest) = line.split_once(&behind)?;
            before.ends_with([' ', ':']).then_some(())?;
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(rest.len());
            Some(rest[..end].to_owned()).filter(|found| !found.is_empty())
        };
        lines.filter_map(of).collect()
    }
}

/// Returns the source files below `folder`, sorted by path, without those of tests: files and folders `tests` and `testing`, and modules
/// under `#[cfg(test)]`, inside the file or in files of their own.
pub(super) fn collect(folder: &Path) -> Result<Vec<Source>, String> {
    let mut sources = Vec::new();
    let mut left_out = Vec::new();
    visit(folder, folder, &mut sources, &mut left_out)?;
    let of_tests = |path: &str| {
        left_out.iter().any(|module: &String| {
            path.strip_prefix(module.as_str()).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        })
    };
    sources.retain(|source| !of_tests(&source.path));
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn visit(root: &Path, folder: &Path, sources: &mut Vec<Source>, left_out: &mut Vec<String>) -> Result<(), String> {
    let fault = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    for entry in fs::read_dir(folder).map_err(|error| fault(folder, error))? {
        let path = entry.map_err(|error| fault(folder, error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if ["tests", "testing", "tests.rs", "testing.rs"].contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            visit(root, &path, sources, left_out)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).map_err(|error| fault(&path, error))?;
            let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            // Modules of `x.rs` lie in `x`, those of `lib.rs` and `main.rs` beside it.
            let base = match relative.strip_suffix(".rs").unwrap_or(&relative) {
                "lib" | "main" => String::new(),
                module => format!("{module}/"),
            };
            let (code, modules) = without_tests(&text);
            left_out.extend(modules.into_iter().map(|module| format!("{base}{module}")));
            sources.push(Source { path: relative, code });
        }
    }
    Ok(())
}

/// Returns the lines of code of a file, and the names of its modules of tests in other files.
fn without_tests(text: &str) -> (String, Vec<String>) {
    let mut code = String::new();
    let mut modules = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with("//") {
            continue;
        }
        if is_for_tests(trimmed) {
            let Some(item) = lines.by_ref().find(|line| !line.trim_start().starts_with(['#', '/'])) else { break };
            if let Some(module) = item.trim_end_matches(';').split_once("mod ").filter(|_| item.ends_with(';')) {
                modules.push(module.1.to_owned());
            } else if item.ends_with('{') {
                let indentation = item.len() - item.trim_start().len();
                let end = format!("{}}}", " ".repeat(indentation));
                let _ = lines.by_ref().find(|line| line.starts_with(&end));
            }
            continue;
        }
        code.push_str(line);
        code.push('\n');
    }
    (code, modules)
}

/// Returns whether an attribute limits the next item to tests.
fn is_for_tests(line: &str) -> bool {
    line.strip_prefix("#[cfg(").is_some_and(|rest| rest.starts_with("test)") || rest.starts_with("all(test"))
}

/// Returns the name of the item that an unindented line begins, if its kind is one of `kinds`.
fn name_behind<'a>(line: &'a str, kinds: &[&str]) -> Option<&'a str> {
    let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let line_begins = line.starts_with(|c: char| c.is_alphabetic());
    let kind = words.find(|word| !["pub", "crate", "super", "in", "", "unsafe"].contains(word))?;
    (line_begins && kinds.contains(&kind)).then(|| words.next()).flatten()
}

/// Returns whether a line without its indentation begins a method.
fn is_function(line: &str) -> bool {
    line.split(' ').find(|word| !["async", "const", "unsafe"].contains(word)) == Some("fn")
}

#[cfg(test)]
mod tests {
    use super::{Source, without_tests};

    const TEXT: &str = "\
//! A file.

pub(crate) struct One;

pub trait Store: Send {
    /// A method.
    fn get(&self) {
        call()
    }

    fn set(&self);
}

impl<T: Clone> zarr_drive::Job for Reader<T> {
}

#[cfg(test)]
mod faults;

#[cfg(test)]
mod tests {
    struct Two;
}

enum Three {}
";

    #[test]
    fn tests_and_comments_do_not_count() {
        let (code, modules) = without_tests(TEXT);
        assert_eq!(modules, ["faults"]);
        let source = Source { path: "lib.rs".to_owned(), code };
        assert_eq!(source.types(), ["One", "Store", "Three"]);
        assert_eq!(source.traits(), [("Store", 2)]);
        assert_eq!(source.implementations("Job"), ["Reader"]);
        assert_eq!(source.code.lines().count(), 10);
    }
}
