//! Interruptions, by Ctrl-C or a request to end, while a verb writes: one line says what is left, and how to go on.
//!
//! The process ends at once, as one that is killed: every write is made for that. It ends by the signal itself, so that a shell ends the script
//! that called it, as well.

use crate::failure::{Exit, Failure};
use crate::report;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Words for what is left if the process ends now, and how to go on; `None` before [`watch`].
static LEFT: Mutex<Option<String>> = Mutex::new(None);

/// A file that goes with an interruption.
static TEMPORARY: Mutex<Option<PathBuf>> = Mutex::new(None);

fn left() -> MutexGuard<'static, Option<String>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells from now on what an interruption leaves. It is called before threads are started: one that was there before, in a program around the
/// command say, may take the signal instead, and the process ends without the line.
pub(crate) fn watch(what: &str, json: bool) {
    let is_first = left().replace(what.to_owned()).is_none();
    if is_first {
        listen(json);
    }
}

/// Says what an interruption leaves from now on, if it is told at all.
pub(crate) fn leaves(what: impl Into<String>) {
    if let Some(left) = &mut *left() {
        *left = what.into();
    }
}

/// Erases a file that is not complete, if an interruption comes.
pub(crate) fn erases(file: &Path) {
    *TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner) = Some(file.to_owned());
}

fn end(exit: Exit, json: bool) -> ! {
    if let Some(file) = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // It has its final name by now, or stays as one of a process that was killed.
        drop(std::fs::remove_file(file));
    }
    // Behind what the terminal shows of the keys, and a progress bar.
    if std::io::stderr().is_terminal() {
        let _ = writeln!(std::io::stderr());
    }
    let what = left().take().unwrap_or_default();
    let code = report::failure(&Failure::interrupted(exit, format!("interrupted: {what}")), json);
    #[cfg(unix)]
    end_by_signal(exit);
    std::process::exit(code.into())
}

/// Ends the process by the signal that came, unless the program around this one handles it.
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
    // Who starts the process in the background, or for longer than a session, has it ignore them.
    for signal in [Signal::SIGINT, Signal::SIGTERM].into_iter().filter(|signal| !is_ignored(*signal as u32)) {
        signals.add(signal);
    }
    // Threads that are started from now on have them blocked as well.
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
    // An error would be that they cannot be told; the process ends by them nevertheless.
    drop(ctrlc::set_handler(move || end(Exit::Interrupted, json)));
}

/// Whether the process ignores a signal, as far as the system shows it.
#[cfg(unix)]
fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
