//! Sink for findings and counts of a check.

use crate::{CheckCounts, Event, Finding, Report, Severity};
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use zarr_hierarchy::{IntoFlow, Result};

/// Number of nodes, keys and chunks after which progress is reported again.
const STEP: u64 = 64;

/// Sink that takes findings and counts from all threads, and reports events to the caller.
pub(crate) struct Sink<'e>(Mutex<SinkState<'e>>);

struct SinkState<'e> {
    event: &'e mut (dyn FnMut(Event) -> ControlFlow<()> + Send),
    report: Report,
    flow: ControlFlow<()>,
    told: u64,
}

impl SinkState<'_> {
    fn tell(&mut self, event: Event) {
        if self.flow.is_continue() {
            self.flow = (self.event)(event);
        }
    }
}

impl<'e> Sink<'e> {
    pub(crate) fn new(event: &'e mut (dyn FnMut(Event) -> ControlFlow<()> + Send)) -> Self {
        Self(Mutex::new(SinkState { event, report: Report::default(), flow: ControlFlow::Continue(()), told: 0 }))
    }

    fn state(&self) -> MutexGuard<'_, SinkState<'e>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, finding: Finding) {
        let mut state = self.state();
        let count = match finding.severity() {
            Severity::Error => &mut state.report.errors,
            Severity::Warning => &mut state.report.warnings,
            Severity::Note => &mut state.report.notes,
        };
        *count = count.saturating_add(1);
        state.tell(Event::Finding(finding));
    }

    /// Changes the counts with `count`, and reports progress from time to time.
    pub(crate) fn count(&self, count: impl FnOnce(&mut CheckCounts)) {
        let mut state = self.state();
        count(&mut state.report.checked);
        let checked = state.report.checked;
        let done = checked.nodes.saturating_add(checked.keys).saturating_add(checked.chunks);
        if done >= state.told.saturating_add(STEP) {
            state.told = done;
            state.tell(Event::Progress(checked));
        }
    }

    /// Returns an error if the caller has cancelled the check.
    pub(crate) fn go_on(&self) -> Result<()> {
        self.state().flow.into_result()
    }

    pub(crate) fn into_report(self) -> Report {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).report
    }
}
