//! Interruptions, by Ctrl-C or a request to end, while a verb writes: one line says what is left, and how to go on.
//!
//! The process ends at once, like a killed process, since every write allows for that. The signal itself ends it, so that a shell also ends
//! the script that called the command.

use crate::failure::{Exit, Failure};
use crate::report;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Message about what is unfinished if the process ends now, and how to go on; `None` before [`watch`].
static LEFT: Mutex<Option<String>> = Mutex::new(None);

/// Incomplete file that is removed at an interruption.
static TEMPORARY: Mutex<Option<PathBuf>> = Mutex::new(None);

fn left() -> MutexGuard<'static, Option<String>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts to handle interruptions; `what` is the message to print. Must be called before other threads are started: a thread that exists
/// already, for example in a program around the command, may receive the signal instead, so that the process ends without the message.
pub(crate) fn watch(what: &str, json: bool) {
    let is_first = left().replace(what.to_owned()).is_none();
    if is_first {
        listen(json);
    }
}

/// Replaces the message for an interruption, if [`watch`] was called.
pub(crate) fn leaves(what: impl Into<String>) {
    if let Some(left) = &mut *left() {
        *left = what.into();
    }
}

/// Sets the incomplete file that is removed at an interruption.
pub(crate) fn erases(file: &Path) {
    *TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner) = Some(file.to_owned());
}

fn end(exit: Exit, json: bool) -> ! {
    if let Some(file) = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // The file has its final name already, or remains like that of a killed process.
        drop(std::fs::remove_file(file));
    }
    // Begin a new line after `^C` on the terminal, or after a progress bar.
    if std::io::stderr().is_terminal() {
        let _ = writeln!(std::io::stderr());
    }
    let what = left().take().unwrap_or_default();
    let code = report::failure(&Failure::interrupted(exit, format!("interrupted: {what}")), json);
    #[cfg(unix)]
    end_by_signal(exit);
    std::process::exit(code.into())
}

/// Ends the process by the signal that it received, unless the program around the command handles that signal.
#[cfg(unix)]
fn end_by_signal(exit: Exit) {
    use nix::sys::signal::{SigSet, Signal, raise};
    let signal = if exit == Exit::Terminated { Signal::SIGTERM } else { Signal::SIGINT };
    if SigSet::from(signal).thread_unblock().is_ok() {
        let _ = raise(signal);
    }
}

#[cfg(unix)]
fn listen(json: bool) {
    use nix::sys::signal::{SigSet, Signal};
    let mut signals = SigSet::empty();
    // A process in the background, or one that outlives its session, may ignore these signals.
    for signal in [Signal::SIGINT, Signal::SIGTERM].into_iter().filter(|signal| !is_ignored(*signal as u32)) {
        signals.add(signal);
    }
    // Threads inherit the blocked signals if they are started later.
    if signals.thread_block().is_err() {
        return;
    }
    let wait = move || match signals.wait() {
        Ok(Signal::SIGTERM) => end(Exit::Terminated, json),
        Ok(_) => end(Exit::Interrupted, json),
        Err(_) => {
            let _ = signals.thread_unblock();
        }
    };
    if std::thread::Builder::new().name("signals".to_owned()).spawn(wait).is_err() {
        let _ = signals.thread_unblock();
    }
}

#[cfg(not(unix))]
fn listen(json: bool) {
    // After an error the message cannot be printed; the signals end the process nevertheless.
    drop(ctrlc::set_handler(move || end(Exit::Interrupted, json)));
}

/// Returns whether the process ignores a signal; `false` if the system does not tell.
#[cfg(unix)]
fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
