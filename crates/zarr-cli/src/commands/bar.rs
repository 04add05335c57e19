//! The progress of a conversion, a comparison, statistics, a transfer, an erase or a check, on a terminal.

use crate::{escape, number};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;
use zarr::check::CheckCounts;
use zarr::convert::Progress;
use zarr::hierarchy::EraseProgress;

/// Progress bar on standard error; silent unless standard error is a terminal.
#[derive(Debug)]
pub(crate) struct Bar(Option<ProgressBar>);

/// Converts a size to the range of the bar. No conversion gets to the end of a larger size.
fn counted(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn set_template(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("##-"));
    }
}

impl Bar {
    /// Returns a bar for a conversion of `size` bytes.
    pub(crate) fn new(size: u128, quiet: bool) -> Self {
        let template = "[{bar:24}] {percent:>3} %  {binary_bytes_per_sec}  ETA {eta}  {msg}";
        Self::with_template(template, counted(size), quiet || size == 0)
    }

    /// Returns a bar for an erase, whose number of keys is added later.
    pub(crate) fn of_keys(quiet: bool) -> Self {
        Self::with_template("[{bar:24}] {percent:>3} %  {per_sec}  ETA {eta}  {msg}", 0, quiet)
    }

    /// Returns a bar for work of unknown size; `what` is the message beside it.
    pub(crate) fn waiting(what: &str, quiet: bool) -> Self {
        let bar = Self::with_template("{spinner} {msg}  {elapsed}", 0, quiet);
        if let Some(bar) = &bar.0 {
            bar.set_message(what.to_owned());
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        bar
    }

    /// Returns a bar for a check, whose size is unknown.
    pub(crate) fn of_check(quiet: bool) -> Self {
        Self::with_template("{spinner} {msg}", 0, quiet)
    }

    /// Returns a bar that shows nothing.
    pub(crate) fn hidden() -> Self {
        Self(None)
    }

    /// Returns a bar for statistics of `elements` elements.
    pub(crate) fn of_statistics(elements: u128, quiet: bool) -> Self {
        Self::with_template("[{bar:24}] {percent:>3} %  ETA {eta}", counted(elements), quiet || elements == 0)
    }

    /// Adds the number of elements that were processed since the last call.
    pub(crate) fn advance(&self, elements: u128) {
        self.add(counted(elements));
    }

    fn with_template(template: &str, len: u64, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::with_draw_target(Some(len), ProgressDrawTarget::stderr_with_hz(10));
        set_template(&bar, template);
        Self(Some(bar))
    }

    /// Adds the number of bytes that were processed since the last call.
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
            // The sizes of other files are not part of the total.
            Progress::OtherKey(other, bytes) => {
                bar.inc_length(bytes);
                bar.inc(bytes);
                bar.set_message(escape::line(other.from.as_str()).into_owned());
            }
            _ => {}
        }
    }

    /// Returns a bar for a comparison or a digest, whose size is added later.
    pub(crate) fn of_elements(quiet: bool) -> Self {
        Self::with_template("[{bar:24}] {percent:>3} %  {binary_bytes_per_sec}  ETA {eta}  {msg}", 0, quiet)
    }

    /// Shows the progress of a comparison or a digest.
    pub(crate) fn show_elements(&self, progress: zarr::compare::Progress<'_>) {
        use zarr::compare::Progress;
        let Some(bar) = &self.0 else { return };
        match progress {
            // The sizes of stored values are not known: a percentage would be of nothing.
            Progress::Total(0) => set_template(bar, "{spinner} {binary_bytes}  {binary_bytes_per_sec}"),
            Progress::Total(bytes) => bar.inc_length(counted(bytes)),
            Progress::Begin(path) => bar.set_message(escape::line(path).into_owned()),
            Progress::Done(bytes) => bar.inc(counted(bytes)),
            _ => {}
        }
    }

    /// Shows the progress of the erase of the node at `path`.
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

    /// Shows the progress of a check.
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
