//! The clauses of the text of each format, the tests that show them, and the page that is made of both, `docs/conformance.md`.
//!
//! `tests/clauses/FORMAT.tsv` has a line for each clause: its name, the section, what it says in a few words, the verdict, and the reason
//! where that is not `yes`. A comment above a test (`clause: v1-7, v1-9`) says that the test shows these clauses.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = "docs/conformance.md";
const VERDICTS: [&str; 4] = ["yes", "partly", "no", "does not apply"];

/// The specifications, oldest first: the name of the format, a title, and a description of the document.
const TEXTS: [(&str, &str, &str); 4] = [
    ("v1", "Version 1", "The specification of version 1, of zarr-python 1.0 (2016)."),
    ("p2019", "The first protocol draft", "The first draft of the version 3 protocol, of April 2019."),
    (
        "d2022",
        "The core draft of 2022",
        "The editor's draft of the version 3 core specification of 25 May 2022, in two states, before and after the change that links a \
         transformer for shards. Both have the same statements but for that one, of which the table says so.",
    ),
    (
        "xarray",
        "xarray's Zarr encoding",
        "[How xarray encodes data sets](https://docs.xarray.dev/en/stable/internals/zarr-encoding-spec.html), in versions \
         2 and 3, and what that refers to.",
    ),
];

struct Clause {
    id: String,
    section: String,
    words: String,
    verdict: String,
    reason: String,
}

/// A test, and the file that has it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Test {
    name: String,
    file: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The clauses of a text. What is wrong with the lines goes to `faults`.
fn clauses(format: &str, text: &str, faults: &mut Vec<String>) -> Vec<Clause> {
    let mut clauses = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
        fields.resize(5, String::new());
        let Ok([id, section, words, verdict, reason]) = <[String; 5]>::try_from(fields) else {
            faults.push(format!("{format}.tsv:{}: more than five fields", number + 1));
            continue;
        };
        let is_complete = !section.is_empty() && !words.is_empty() && VERDICTS.contains(&verdict.as_str());
        if id != format!("{format}-{}", number + 1) || !is_complete || reason.is_empty() != (verdict == "yes") {
            faults.push(format!("{format}.tsv:{}: no clause of that number with a verdict and its reason", number + 1));
        }
        clauses.push(Clause { id, section, words, verdict, reason });
    }
    clauses
}

/// The names that a line marks a test with.
fn marked(line: &str) -> Option<impl Iterator<Item = &str>> {
    let line = line.trim_start();
    let comment = line.strip_prefix("// ").or_else(|| line.strip_prefix("# "))?;
    Some(comment.strip_prefix("clause: ")?.trim_end_matches(',').split(", "))
}

/// The tests of a file by the clauses that they show.
fn marks(file: &str, text: &str, tests: &mut BTreeMap<String, Vec<Test>>, faults: &mut Vec<String>) {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for (number, line) in lines.iter().enumerate() {
        let Some(ids) = marked(line) else { continue };
        let behind = || lines[number + 1..].iter();
        let is_between = |line: &&&str| line.starts_with("//") || line.starts_with('#') || line.starts_with('@');
        let is_rust = file.ends_with(".rs");
        let mut function = behind().skip_while(is_between);
        let name = function.next().and_then(|line| {
            let line = line.strip_prefix("async ").unwrap_or(line);
            Some(line.strip_prefix(if is_rust { "fn " } else { "def " })?.split('(').next().unwrap_or_default())
        });
        let is_test = match name {
            Some(name) if !is_rust => name.starts_with("test_"),
            Some(_) => behind().take_while(is_between).any(|line| *line == "#[test]"),
            None => false,
        };
        let (Some(name), true) = (name, is_test) else {
            faults.push(format!("{file}:{}: the mark stands on nothing that is a test", number + 1));
            continue;
        };
        for id in ids {
            tests.entry(id.to_owned()).or_default().push(Test { name: name.to_owned(), file: file.to_owned() });
        }
    }
}

/// Goes through all sources of the repository.
fn all_marks(faults: &mut Vec<String>) -> BTreeMap<String, Vec<Test>> {
    let mut tests = BTreeMap::new();
    let mut folders: Vec<PathBuf> = ["crates", "tests", "python"].map(PathBuf::from).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = folder.join(&name);
            if entry.file_type().unwrap().is_dir() {
                if !name.starts_with('.') && name != "target" && name != "fixtures" {
                    folders.push(path);
                }
            } else if name.ends_with(".rs") || name.ends_with(".py") {
                let file = path.to_string_lossy().replace('\\', "/");
                marks(&file, &fs::read_to_string(entry.path()).unwrap(), &mut tests, faults);
            }
        }
    }
    tests.values_mut().for_each(|tests| tests.sort());
    tests
}

/// Compares verdicts and marks.
fn check(texts: &[Vec<Clause>], tests: &BTreeMap<String, Vec<Test>>, faults: &mut Vec<String>) {
    let known: BTreeMap<&str, &Clause> = texts.iter().flatten().map(|clause| (clause.id.as_str(), clause)).collect();
    for (id, marked) in tests {
        match known.get(id.as_str()) {
            None => {
                faults.push(format!("{}: {} is marked with {id}, which is no clause", marked[0].file, marked[0].name))
            }
            Some(clause) if !matches!(clause.verdict.as_str(), "yes" | "partly") => {
                faults.push(format!("{id}: {} shows it, but the verdict is {}", marked[0].name, clause.verdict));
            }
            Some(_) => {}
        }
    }
    for clause in known.values().filter(|clause| clause.verdict == "yes" && !tests.contains_key(&clause.id)) {
        faults.push(format!("{}: no test shows it", clause.id));
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The page.
fn page(texts: &[Vec<Clause>], tests: &BTreeMap<String, Vec<Test>>) -> String {
    let mut page = "\
# Conformance

Each statement of the texts of older formats and of xarray's encoding, in a few words of our own, whether it holds here,
and the tests that show it. [dialects.md](dialects.md) has the decisions behind the verdicts.

`tests/clauses` has the statements; a comment above a test, `// clause: v1-7`, says which ones it shows. `cargo test` fails
if this page is not made of these, if a mark names no statement or stands above no test, and if a statement that holds has
no test. `ZARR_BLESS=1 cargo test -p zarr-tests --test all clauses` writes the page.

| text | statements | yes | partly | no | does not apply |
|---|---|---|---|---|---|
"
    .to_owned();
    for ((format, title, _), clauses) in TEXTS.iter().zip(texts) {
        let count = |verdict: &str| clauses.iter().filter(|clause| clause.verdict == verdict).count();
        let [yes, partly, no, none] = VERDICTS.map(count);
        writeln!(page, "| {title} (`{format}`) | {} | {yes} | {partly} | {no} | {none} |", clauses.len()).unwrap();
    }
    page.push_str("\n## What does not hold\n\n| | section | statement | | why |\n|---|---|---|---|---|\n");
    for clause in texts.iter().flatten().filter(|clause| matches!(clause.verdict.as_str(), "partly" | "no")) {
        let Clause { id, section, words, verdict, reason } = clause;
        writeln!(page, "| {id} | {} | {} | {verdict} | {} |", cell(section), cell(words), cell(reason)).unwrap();
    }
    for ((_, title, text), clauses) in TEXTS.iter().zip(texts) {
        write!(page, "\n## {title}\n\n{text}\n\n| | section | statement | | tests |\n|---|---|---|---|---|\n").unwrap();
        for Clause { id, section, words, verdict, reason } in clauses {
            let shown = tests.get(id).map(Vec::as_slice).unwrap_or_default();
            let mut last: Vec<String> = shown.iter().map(|test| format!("[{}](../{})", test.name, test.file)).collect();
            last.extend((!reason.is_empty() && shown.is_empty()).then(|| cell(reason)));
            writeln!(page, "| {id} | {} | {} | {verdict} | {} |", cell(section), cell(words), last.join(", ")).unwrap();
        }
    }
    page
}

#[test]
fn the_page_of_conformance_is_up_to_date() {
    let mut faults = Vec::new();
    let texts: Vec<Vec<Clause>> = TEXTS
        .iter()
        .map(|(format, ..)| {
            let path = root().join(format!("tests/clauses/{format}.tsv"));
            clauses(format, &fs::read_to_string(path).unwrap(), &mut faults)
        })
        .collect();
    let tests = all_marks(&mut faults);
    check(&texts, &tests, &mut faults);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    let written = page(&texts, &tests);
    let path = root().join(PAGE);
    if std::env::var_os("ZARR_BLESS").is_some() {
        fs::write(path, written).unwrap();
        return;
    }
    let found = fs::read_to_string(path).unwrap();
    for (number, (found, expected)) in found.lines().zip(written.lines()).enumerate() {
        assert_eq!(found, expected, "{PAGE}:{}: see its first lines for how to write it anew", number + 1);
    }
    assert_eq!(found, written);
}

#[test]
fn faults_of_clauses_and_marks_are_found() {
    let mut faults = Vec::new();
    let lines =
        "v1-1\tKeys\ta key\tyes\t\nv1-2\tKeys\ta key\tno\t\nv1-4\tKeys\ta key\tpartly\twhy\nv1-4\tKeys\t\tyes\t\t\t\n";
    let texts = [clauses("v1", lines, &mut faults)];
    let mut lines_of: Vec<&str> = faults.iter().filter_map(|fault| fault.split(':').nth(1)).collect();
    lines_of.dedup();
    assert_eq!(lines_of, ["2", "3", "4"], "{faults:?}");
    let mut tests = BTreeMap::new();
    faults.clear();
    let mark = ["//", "clause:"].join(" ");
    let rust = format!(
        "{mark} v1-1, v1-7,\n{mark} v1-2\n/// It is.\n#[test]\nfn a() {{}}\n\n{mark} v1-1\nfn b() {{}}\n\
         {mark} v1-1\n\n#[test]\nfn c() {{}}\n"
    );
    marks("a.rs", &rust, &mut tests, &mut faults);
    let python = rust.replace("//", "#").replace("#[test]\nfn a() {}", "@mark\ndef test_a():").replace("fn b", "def b");
    marks("a.py", &python, &mut tests, &mut faults);
    let lines_of: Vec<&str> = faults.iter().filter_map(|fault| fault.split(": ").next()).collect();
    assert_eq!(lines_of, ["a.rs:7", "a.rs:9", "a.py:7", "a.py:9"], "{faults:?}");
    let names: Vec<&str> = tests["v1-2"].iter().map(|test| test.name.as_str()).collect();
    assert_eq!((names, tests["v1-1"].len()), (vec!["a", "test_a"], 2));
    faults.clear();
    check(&texts, &tests, &mut faults);
    assert!(faults.iter().any(|fault| fault.contains("v1-7, which is no clause")), "{faults:?}");
    assert!(faults.iter().any(|fault| fault.starts_with("v1-2: a shows it")), "{faults:?}");
    tests.remove("v1-1");
    check(&texts, &tests, &mut faults);
    assert!(faults.iter().any(|fault| fault == "v1-1: no test shows it"), "{faults:?}");
}
