//! A folder for stores, and the command run in it.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A folder that is removed in the end; relative addresses begin there.
pub(crate) struct Folder(tempfile::TempDir);

/// How a run of the command ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the command.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, &[])
    }

    /// Runs the command with something on its standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &[u8]) -> Ran {
        let mut child = Command::new(env!("CARGO_BIN_EXE_zarr"))
            .args(args)
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that fails early does not read its input.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        Ran { code: output.status.code(), out: output.stdout, err }
    }

    /// Runs the command with another standard output: its exit code, and its standard error.
    pub(crate) fn run_to(&self, args: &[&str], stdout: impl Into<Stdio>) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zarr"));
        let ran = command.args(args).current_dir(self.0.path()).stdin(Stdio::null()).stdout(stdout).output().unwrap();
        (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
    }

    /// Runs the command, which has to succeed, and gives its output.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.err);
        String::from_utf8(ran.out).unwrap()
    }

    /// Writes elements into an array.
    pub(crate) fn fill(&self, store: &str, path: &str, descr: &str, shape: &str, items: &[u8]) {
        let ran = self.run_with(&["write", store, path, "--from", "-"], &npy(descr, false, shape, items));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }

    /// All elements of an array.
    /// Makes a file of numpy of numbers of 8 bytes: zeros, and this one at the end.
    pub(crate) fn zeros(&self, name: &str, shape: &[u64], last: f64) {
        use std::io::{Seek, SeekFrom, Write};
        let axes: Vec<String> = shape.iter().map(|len| format!("{len},")).collect();
        let mut file = std::fs::File::create(self.path(name)).expect("a file");
        file.write_all(&npy("<f8", false, &format!("({})", axes.join(" ")), &[])).expect("a header");
        let count: u64 = shape.iter().product();
        file.seek(SeekFrom::Current(8 * (count as i64 - 1))).expect("a hole");
        file.write_all(&last.to_le_bytes()).expect("a number");
    }

    pub(crate) fn raw(&self, store: &str, path: &str) -> Vec<u8> {
        let ran = self.run(&["read", store, path, "--raw", "--as", "raw"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.out
    }

    /// The elements of a region of an array.
    pub(crate) fn raw_region(&self, store: &str, path: &str, select: &str) -> Vec<u8> {
        let ran = self.run(&["read", store, path, "--raw", "--as", "raw", "--select", select]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.out
    }

    /// The names of all files in a store, sorted.
    pub(crate) fn files(&self, store: &str) -> Vec<String> {
        let root = self.path(store);
        let mut files = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push(path.strip_prefix(&root).unwrap().display().to_string());
                }
            }
        }
        files.sort();
        files
    }
}

/// A file of numpy.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, items: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let len = u16::try_from(header.len()).unwrap().to_le_bytes();
    [&b"\x93NUMPY\x01\x00"[..], &len, header.as_bytes(), items].concat()
}

/// Little-endian bytes of numbers.
pub(crate) fn int16(numbers: impl IntoIterator<Item = i16>) -> Vec<u8> {
    numbers.into_iter().flat_map(i16::to_le_bytes).collect()
}
