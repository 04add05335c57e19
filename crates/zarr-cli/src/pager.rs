//! Pager: a program that shows text page by page.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Write};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Command of the pager if the environment names none.
const DEFAULT: &str = "less";
/// Environment variables with options for pagers, and their values if they are not set: `less` ends at once if all text fits on the
/// terminal, and passes colours on.
const OPTIONS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];
/// Exit codes of a shell that cannot run a command.
const NOT_RUN: [i32; 2] = [126, 127];

/// Pager that is started when the first byte is written.
#[derive(Debug)]
pub(crate) struct Pager {
    /// Command line of the pager, run by a shell; `None` for the default.
    command: Option<OsString>,
    state: PagerState,
}

#[derive(Debug)]
enum PagerState {
    Waiting,
    Running(Child),
    /// No pager was found: text goes to standard output.
    Missing(io::Stdout),
}

impl Pager {
    /// Returns the pager that the environment names; `None` if standard output is no terminal or the environment switches the pager off.
    pub(crate) fn by_environment(is_terminal: bool) -> Option<Self> {
        let command = chosen(is_terminal, env::var_os("ZARR_PAGER"), env::var_os("PAGER"))?;
        Some(Self { command: (command != DEFAULT).then_some(command), state: PagerState::Waiting })
    }

    fn begin(&mut self) -> io::Result<()> {
        let mut command = match &self.command {
            None => Command::new(DEFAULT),
            Some(line) => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(line);
                shell
            }
        };
        for (name, value) in OPTIONS.into_iter().filter(|(name, _)| env::var_os(name).is_none()) {
            command.env(name, value);
        }
        self.state = match command.stdin(Stdio::piped()).spawn() {
            Ok(child) => {
                // Ctrl-C is for the pager. This process ends when the pager accepts no more text.
                let _ = ctrlc::set_handler(|| ());
                PagerState::Running(child)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => PagerState::Missing(io::stdout()),
            Err(error) => return Err(self.failed(&error)),
        };
        Ok(())
    }

    /// Closes the input of the pager and waits until the pager ends.
    pub(crate) fn close(mut self) -> io::Result<()> {
        match &mut self.state {
            PagerState::Waiting => Ok(()),
            PagerState::Missing(out) => out.flush(),
            PagerState::Running(child) => {
                let status = wait(child)?;
                self.check(status)
            }
        }
    }

    /// Returns an error if the exit code says that the shell could not run the pager, which then showed nothing.
    fn check(&self, status: ExitStatus) -> io::Result<()> {
        match status.code().filter(|code| NOT_RUN.contains(code)) {
            None => Ok(()),
            Some(code) => Err(self.failed(&io::Error::other(format!("exit code {code}")))),
        }
    }

    fn failed(&self, error: &io::Error) -> io::Error {
        let line = self.command.as_deref().unwrap_or(OsStr::new(DEFAULT)).display();
        io::Error::other(format!("the pager `{line}` cannot be run: {error}; --no-pager does without one"))
    }
}

/// Chooses the pager like git: the first variable that is set (`own`, then `general`) names the command; `None` if it is empty or `cat`.
fn chosen(is_terminal: bool, own: Option<OsString>, general: Option<OsString>) -> Option<OsString> {
    let command = own.or(general).unwrap_or_else(|| DEFAULT.into());
    (is_terminal && !command.is_empty() && command != "cat").then_some(command)
}

/// Closes the standard input of the pager, and waits until it ends.
fn wait(child: &mut Child) -> io::Result<ExitStatus> {
    drop(child.stdin.take());
    child.wait()
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let PagerState::Waiting = self.state {
            self.begin()?;
        }
        let (written, status) = match &mut self.state {
            PagerState::Waiting => return Err(ErrorKind::NotConnected.into()),
            PagerState::Missing(out) => return out.write(bytes),
            PagerState::Running(child) => {
                let written = match &mut child.stdin {
                    Some(input) => input.write(bytes),
                    None => Err(ErrorKind::BrokenPipe.into()),
                };
                match written {
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => (Err(error), wait(child)?),
                    written => return written,
                }
            }
        };
        self.check(status)?;
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.state {
            PagerState::Waiting => Ok(()),
            PagerState::Missing(out) => out.flush(),
            PagerState::Running(child) => child.stdin.as_mut().map_or(Ok(()), Write::flush),
        }
    }
}

/// Waits for the pager, so that later output on the terminal, such as an error, comes after it.
impl Drop for Pager {
    fn drop(&mut self) {
        if let PagerState::Running(child) = &mut self.state {
            let _ = wait(child);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::chosen as chosen_of;
    use std::ffi::OsString;

    #[test]
    fn pagers_are_chosen_as_by_git() {
        let chosen = |is_terminal, own: Option<&str>, general: Option<&str>| {
            chosen_of(is_terminal, own.map(OsString::from), general.map(OsString::from))
                .map(|command| command.into_string().unwrap())
        };
        for (own, general, command) in [
            (None, None, Some("less")),
            (None, Some("more -s"), Some("more -s")),
            (Some("most"), Some("more"), Some("most")),
            (Some(""), Some("more"), None),
            (Some("cat"), None, None),
            (None, Some(""), None),
        ] {
            assert_eq!(chosen(true, own, general).as_deref(), command, "{own:?} {general:?}");
            assert_eq!(chosen(false, own, general), None);
        }
    }
}
