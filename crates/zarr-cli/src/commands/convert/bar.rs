//! The progress of a conversion, on a terminal.

use crate::escape;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use zarr::convert::Progress;

/// Shown on standard error if that is a terminal, else silent.
#[derive(Debug)]
pub(crate) struct Bar(Option<ProgressBar>);

/// A size within the range of the bar. No conversion gets to the end of a larger one.
fn counted(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

impl Bar {
    pub(crate) fn new(size: u128, quiet: bool) -> Self {
        if quiet || size == 0 || !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::with_draw_target(Some(counted(size)), ProgressDrawTarget::stderr_with_hz(10));
        let template = "[{bar:24}] {percent:>3} %  {binary_bytes_per_sec}  ETA {eta}  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("##-"));
        }
        Self(Some(bar))
    }

    pub(crate) fn show(&self, progress: Progress<'_>) {
        let Some(bar) = &self.0 else { return };
        match progress {
            Progress::Begin(node) => bar.set_message(escape::line(&node.source.path.to_string()).into_owned()),
            Progress::Done(bytes) => bar.inc(counted(bytes)),
            _ => {}
        }
    }

    pub(crate) fn finish(self) {
        if let Some(bar) = self.0 {
            bar.finish_and_clear();
        }
    }
}
