//! The progress of a conversion, a comparison, statistics, a transfer, an erase or a check, on a terminal.

use crate::{escape, number};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;
use zarr::check::CheckCounts;
use zarr::convert::Progress;
use zarr::hierarchy::EraseProgress;

/// Shown on standard error if that is a terminal, else silent.
#[derive(Debug)]
pub(crate) struct Bar(Option<ProgressBar>);

/// A size within the range of the bar. No conversion gets to the end of a larger one.
fn counted(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

impl Bar {
    /// A bar for a conversion of `size` bytes.
    pub(crate) fn new(size: u128, quiet: bool) -> Self {
        let template = "[{bar:24}] {percent:>3} %  {binary_bytes_per_sec}  ETA {eta}  {msg}";
        Self::with_template(template, counted(size), quiet || size == 0)
    }

    /// A bar for an erase.
    pub(crate) fn of_keys(quiet: bool) -> Self {
        Self::with_template("[{bar:24}] {percent:>3} %  {per_sec}  ETA {eta}  {msg}", 0, quiet)
    }

    /// A bar for work of unknown size.
    pub(crate) fn waiting(what: &str, quiet: bool) -> Self {
        let bar = Self::with_template("{spinner} {msg}  {elapsed}", 0, quiet);
        if let Some(bar) = &bar.0 {
            bar.set_message(what.to_owned());
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        bar
    }

    /// A bar for a check, whose size nobody knows.
    pub(crate) fn of_check(quiet: bool) -> Self {
        Self::with_template("{spinner} {msg}", 0, quiet)
    }

    /// A bar that shows nothing.
    pub(crate) fn hidden() -> Self {
        Self(None)
    }

    /// A bar for statistics of `elements` elements.
    pub(crate) fn of_statistics(elements: u128, quiet: bool) -> Self {
        Self::with_template("[{bar:24}] {percent:>3} %  ETA {eta}", counted(elements), quiet || elements == 0)
    }

    /// Adds the number of elements that were done since the last call.
    pub(crate) fn advance(&self, elements: u128) {
        self.add(counted(elements));
    }

    fn with_template(template: &str, len: u64, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::with_draw_target(Some(len), ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("##-"));
        }
        Self(Some(bar))
    }

    /// Adds the number of bytes that were done since the last call.
    pub(crate) fn add(&self, bytes: u64) {
        if let Some(bar) = &self.0 {
            bar.inc(bytes);
        }
    }

    pub(crate) fn show(&self, progress: Progress<'_>) {
        let Some(bar) = &self.0 else { return };
        match progress {
            Progress::Begin(node) => bar.set_message(escape::line(&node.source.path.to_string()).into_owned()),
            Progress::Done(bytes) => bar.inc(counted(bytes)),
            // Their sizes are not known before.
            Progress::OtherKey(other, bytes) => {
                bar.inc_length(bytes);
                bar.inc(bytes);
                bar.set_message(escape::line(other.from.as_str()).into_owned());
            }
            _ => {}
        }
    }

    /// A bar for a comparison or a digest.
    pub(crate) fn of_elements(quiet: bool) -> Self {
        Self::with_template("[{bar:24}] {percent:>3} %  {binary_bytes_per_sec}  ETA {eta}  {msg}", 0, quiet)
    }

    /// Shows how far a comparison or a digest is.
    pub(crate) fn show_elements(&self, progress: zarr::compare::Progress<'_>) {
        use zarr::compare::Progress;
        let Some(bar) = &self.0 else { return };
        match progress {
            Progress::Total(bytes) => bar.inc_length(counted(bytes)),
            Progress::Begin(path) => bar.set_message(escape::line(path).into_owned()),
            Progress::Done(bytes) => bar.inc(counted(bytes)),
            _ => {}
        }
    }

    /// Shows how far the erase of the node at `path` is.
    pub(crate) fn show_erase(&self, path: &str, progress: EraseProgress) {
        let Some(bar) = &self.0 else { return };
        match progress {
            EraseProgress::Begin(keys) => {
                bar.set_message(escape::line(path).into_owned());
                bar.inc_length(keys);
            }
            EraseProgress::Done(keys) => bar.inc(keys),
            _ => {}
        }
    }

    /// Shows how far a check is.
    pub(crate) fn show_check(&self, checked: &CheckCounts) {
        let Some(bar) = &self.0 else { return };
        let counts = [checked.keys, checked.chunks].map(number::grouped);
        bar.set_message(format!("{} keys, {} chunks, {}", counts[0], counts[1], number::size(checked.bytes)));
        bar.tick();
    }

    pub(crate) fn finish(self) {
        if let Some(bar) = self.0 {
            bar.finish_and_clear();
        }
    }
}
