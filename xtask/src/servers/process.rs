//! Servers as child processes, which end with this process.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Greatest time until a server answers.
const START: Duration = Duration::from_secs(60);

/// Greatest number of ports on which a server is started: between the choice of a free port and the start, another process may take the
/// port.
const ATTEMPTS: usize = 3;

/// Script of a shell that runs a program in the background and waits for the end of its own input. Then, or when the program ends, it kills
/// its process group. The input is a pipe of this process, which is closed when this process ends in any way, so that the program ends too.
const GUARD: &str = r#"{ "$@"; kill -KILL 0; } & read -r _; kill -KILL 0"#;

/// Running server, which ends when it is dropped.
pub(super) struct Process {
    child: Child,
    pub(super) port: u16,
}

impl Process {
    /// Starts a server on a free port of this machine, and waits until it answers. `command` returns the words of its command line for a
    /// port; its output goes to `log`.
    pub(super) fn start(log: &Path, command: impl Fn(u16) -> Result<Vec<String>, String>) -> Result<Self, String> {
        let mut last = String::new();
        for _ in 0..ATTEMPTS {
            let port = free_port().map_err(|error| format!("no free port: {error}"))?;
            let words = command(port)?;
            let in_log = |error: std::io::Error| format!("{}: {error}", log.display());
            let output = File::create(log).map_err(in_log)?;
            let mut guard = Command::new("sh");
            guard.args(["-c", GUARD, "sh"]).args(&words).stdin(Stdio::piped());
            guard.stdout(output.try_clone().map_err(in_log)?).stderr(output);
            // Files that a server writes are placed beside its output.
            guard.current_dir(log.parent().unwrap_or(Path::new(".")));
            in_own_group(&mut guard);
            let child = guard.spawn().map_err(|error| format!("sh: {error}"))?;
            let mut process = Self { child, port };
            match process.wait() {
                Ok(()) => return Ok(process),
                Err(error) => last = format!("{}: {error}\n{}", words.join(" "), end_of(log)),
            }
        }
        Err(last)
    }

    /// Waits until the server answers.
    fn wait(&mut self) -> Result<(), String> {
        let begin = Instant::now();
        while begin.elapsed() < START {
            let answer = status(self.port, "/", "");
            if let Some(ended) = self.child.try_wait().map_err(|error| error.to_string())? {
                return Err(format!("ended with {ended}"));
            }
            if answer.is_ok() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(format!("no answer within {} s", START.as_secs()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The shell kills all, itself included.
        drop(self.child.stdin.take());
        if let Err(error) = self.child.wait() {
            eprintln!("a server on port {} may still run: {error}", self.port);
        }
    }
}

#[cfg(unix)]
fn in_own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn in_own_group(_: &mut Command) {}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Returns the status of the answer to a GET of a server on this machine. `header` is a header line that ends in CRLF, or empty.
pub(super) fn status(port: u16, path: &str, header: &str) -> std::io::Result<u16> {
    let limit = Duration::from_secs(5);
    let mut stream = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), limit)?;
    stream.set_read_timeout(Some(limit))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{header}Connection: close\r\n\r\n")?;
    let mut begin = [0; 12];
    stream.read_exact(&mut begin)?;
    let number = std::str::from_utf8(&begin).ok().and_then(|text| text.strip_prefix("HTTP/1.")?.get(2..)?.parse().ok());
    number.ok_or_else(|| ErrorKind::InvalidData.into())
}

/// Returns the last lines of a file.
fn end_of(path: &Path) -> String {
    let text = fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(12)..).unwrap_or_default().join("\n")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Returns whether a process with this id runs.
    fn runs(process: &str) -> bool {
        Command::new("sh").args(["-c", "kill -0 \"$0\" 2> /dev/null", process]).status().expect("sh").success()
    }

    /// Returns the command line of a shell that starts another process and writes the id of that process into a file.
    fn parent(numbers: &Path, then: &str) -> Vec<String> {
        let script = format!("sleep 600 & echo $! > {}; {then}", numbers.display());
        ["sh", "-c", &script].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_server_that_ends_is_an_error_with_its_output_and_its_children_are_killed() {
        let folder = std::env::temp_dir().join(format!("xtask-ends-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let (log, numbers) = (folder.join("log"), folder.join("numbers"));
        let started = Process::start(&log, |_| Ok(parent(&numbers, "echo no such option >&2; exit 3")));
        let error = started.err().expect("an error");
        assert!(error.contains("no such option"), "{error}");
        let child = fs::read_to_string(&numbers).expect("a number");
        let begin = Instant::now();
        while runs(child.trim()) && begin.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!runs(child.trim()));
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn a_guard_that_is_dropped_kills_the_server_and_its_children() {
        let folder = std::env::temp_dir().join(format!("xtask-dropped-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let numbers = folder.join("numbers");
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "sh"]).args(parent(&numbers, "wait")).stdin(Stdio::piped());
        in_own_group(&mut guard);
        let process = Process { child: guard.spawn().expect("sh"), port: 0 };
        let begin = Instant::now();
        let mut child = String::new();
        while !child.ends_with('\n') && begin.elapsed() < Duration::from_secs(10) {
            child = fs::read_to_string(&numbers).unwrap_or_default();
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(runs(child.trim()));
        drop(process);
        while runs(child.trim()) && begin.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!runs(child.trim()));
        fs::remove_dir_all(folder).expect("removed");
    }
}
