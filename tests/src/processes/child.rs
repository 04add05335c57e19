//! Child processes that are workers, as their parent sees them.

use super::Result;
use super::report::WORKER;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Greatest time to wait for a line of a worker; only a worker that hangs exceeds it.
const TIMEOUT: Duration = Duration::from_secs(120);

/// This program as a worker process, which is killed when the value is dropped.
#[derive(Debug)]
pub(super) struct Child {
    process: std::process::Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Child {
    /// Starts a worker with a task, and waits until it is ready to begin.
    pub(super) fn start(task: &[&str]) -> Result<Self> {
        Self::start_with(task, Stdio::inherit())
    }

    /// Starts a worker like [`start`](Self::start), with `errors` as its standard error.
    pub(super) fn start_with(task: &[&str], errors: impl Into<Stdio>) -> Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .env(WORKER, "1")
            .args(task)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()?;
        let input = process.stdin.take().ok_or("a child without standard input")?;
        let output = process.stdout.take().ok_or("a child without standard output")?;
        let (sender, lines) = channel();
        // A pipe that nobody reads would stop the child.
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(std::result::Result::ok).try_for_each(|line| sender.send(line))
        });
        let child = Self { process, input, lines };
        match child.line()?.as_deref() {
            Some("ready") => Ok(child),
            other => Err(format!("worker {task:?}: found {other:?}, expected ready").into()),
        }
    }

    /// Tells the worker to begin, or to begin its next round.
    pub(super) fn go(&mut self) -> Result<()> {
        Ok(self.input.write_all(b"go\n")?)
    }

    /// Returns the exit status if the worker has ended.
    pub(super) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.process.try_wait()?)
    }

    /// Stops the worker, or lets it continue. Does nothing on systems other than Linux.
    #[cfg_attr(not(target_os = "linux"), allow(clippy::unused_self, clippy::unnecessary_wraps))]
    pub(super) fn halt(&self, is_halted: bool) -> Result<()> {
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Pid, Signal, kill_process};
            let process = Pid::from_raw(i32::try_from(self.process.id())?).ok_or("a process without a number")?;
            kill_process(process, if is_halted { Signal::STOP } else { Signal::CONT })?;
        }
        let _ = is_halted;
        Ok(())
    }

    /// Returns the next line of the worker; `None` if it has ended.
    pub(super) fn line(&self) -> Result<Option<String>> {
        match self.lines.recv_timeout(TIMEOUT) {
            Ok(line) => Ok(Some(line)),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => Ok(None),
            Err(timeout) => Err(format!("no line of a worker: {timeout}").into()),
        }
    }

    /// Returns the lines that the worker has written and that were not read yet.
    pub(super) fn lines_so_far(&self) -> Vec<String> {
        self.lines.try_iter().collect()
    }

    /// Kills the worker, like `kill -9`, and returns the lines that it had written.
    pub(super) fn kill(&mut self) -> Result<Vec<String>> {
        self.process.kill()?;
        self.process.wait()?;
        self.rest()
    }

    /// Waits until the worker has ended, and returns its remaining lines.
    pub(super) fn finish(mut self) -> Result<Vec<String>> {
        let lines = self.rest()?;
        let status = self.process.wait()?;
        if status.success() {
            Ok(lines)
        } else {
            Err(format!("a worker ended with {status}: {:?}", lines.last()).into())
        }
    }

    fn rest(&self) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        while let Some(line) = self.line()? {
            lines.push(line);
        }
        Ok(lines)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the numbers in lines `ok NUMBER`, which are those of the operations that a worker acknowledged.
pub(super) fn acknowledged(lines: &[String]) -> Vec<u64> {
    lines.iter().filter_map(|line| line.strip_prefix("ok ")?.parse().ok()).collect()
}

/// Returns the messages of operations that failed.
pub(super) fn refused(lines: &[String]) -> impl Iterator<Item = &str> {
    lines.iter().filter_map(|line| line.strip_prefix("refused "))
}
