//! Reads of several arrays ahead of a loop of Python.

use crate::array::ArrayHandle;
use crate::errors::exception;
use crate::interrupt::Interrupt;
use crate::memory::{KeptMemory, Memory};
use crate::runtime::{OnThreads, PAUSE};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::Poll;
use std::thread;
use zarr::grid::Region;
use zarr::store::Ahead;
use zarr::{Array, Error, Result, Selection};

/// Maximum number of threads that wait for the reads of a loop.
const MAX_THREADS: usize = 64;

/// Box of an array: its first index and its lengths.
type GivenBox = (Vec<u64>, Vec<u64>);

/// Boxes of one array, which are read into the rows of an array of numpy, one after the other.
struct ReadBoxes {
    array: Array,
    boxes: Vec<Region>,
    memory: KeptMemory,
}

impl ReadBoxes {
    fn new(py: Python<'_>, handle: &ArrayHandle, boxes: Vec<GivenBox>, out: &Bound<'_, PyAny>) -> PyResult<Self> {
        let array = handle.array(py)?;
        let memory = Memory::new(out, &handle.numpy_type(py, &array)?)?.keep()?;
        let mut rows = 0_u64;
        let mut regions = Vec::with_capacity(boxes.len());
        for (start, lens) in boxes {
            let ranges: Option<Vec<_>> =
                start.iter().zip(&lens).map(|(&at, &len)| Some(at..at.checked_add(len)?)).collect();
            let ranges = ranges.filter(|ranges| ranges.len() == start.len() && start.len() == lens.len());
            let Some(ranges) = ranges else {
                return Err(PyValueError::new_err(format!(
                    "found a box at {start:?} of the shape {lens:?}, expected as many lengths as first indices, and an end below 2**64"
                )));
            };
            rows = rows.saturating_add(lens.first().copied().unwrap_or(0));
            regions.push(Region::from_ranges(&ranges));
        }
        if rows != memory.rows() as u64 {
            return Err(PyValueError::new_err(format!("boxes have {rows} rows, the memory has {}", memory.rows())));
        }
        Ok(Self { array, boxes: regions, memory })
    }

    /// Returns the numbers of the boxes that meet the chunk of an error; of all boxes if the error is of no chunk.
    fn met(&self, error: &Error) -> Vec<usize> {
        let location = error.location();
        let of_key = || location.key.as_deref().and_then(|key| self.array.chunk_of_key(key));
        let chunk = location.chunk.clone().or_else(of_key);
        let meets = |region: &Region| match &chunk {
            Some(chunk) => self.array.chunk_grid().intersect(region).position(chunk).is_some(),
            None => true,
        };
        self.boxes.iter().enumerate().filter(|(_, region)| meets(region)).map(|(number, _)| number).collect()
    }

    fn read(&mut self, interrupt: &Interrupt) -> Result<()> {
        let Self { array, boxes, memory } = self;
        let array = array.through(&interrupt.over(array.store()));
        let rows = |region: &Region| region.shape().first().map_or(0, |&len| len as usize);
        let views = memory.split(boxes.iter().map(rows));
        array.read_many(boxes.iter().cloned().map(Selection::Region).zip(views))
    }
}

/// Result of a read: the number of the array and the error, if it failed; and the memory, which is released with the interpreter's lock.
type ReadResult = (Option<(usize, Error)>, Vec<ReadBoxes>);

/// Failed read: the number of the array, the numbers of the boxes that have the chunk of the error, and the error.
type FailedRead = (usize, Vec<usize>, Error);

/// Failed read of Python, with the exception.
type Failed<'py> = (usize, Vec<usize>, Bound<'py, PyAny>);

/// Reads of a loop by their numbers.
struct Numbered {
    ahead: Ahead<ReadResult>,
    /// Threads on which reads run, which begin with the first one, until all reads are stopped.
    threads: Option<OnThreads>,
    /// Number of the next read to begin.
    next: u64,
    /// Number of the first read that was not waited for.
    first: u64,
    /// Failure of the read before that one, which is kept for a caller that asks again.
    last: Option<FailedRead>,
}

impl Numbered {
    /// Waits for a while until no read runs. Returns whether none does; then no threads are left either.
    fn stop(&mut self) -> bool {
        let is_stopped = self.ahead.stop_within(PAUSE).is_ready();
        if is_stopped {
            (self.ahead, self.threads) = (Ahead::new(0), None);
        }
        is_stopped
    }
}

/// Reads that run ahead of a loop on threads of their own, and end in order.
///
/// A handler of a signal may raise an exception in the loop after a call has done its work and before the loop knows. Reads therefore have
/// numbers, from 0: to begin one that has begun does nothing, and the result of the last one that was waited for comes again.
#[pyclass(frozen, module = "zarr_rust._core")]
pub(crate) struct Reads {
    numbered: Mutex<Numbered>,
    interrupt: Interrupt,
    process: u32,
    max_threads: usize,
}

impl Drop for Reads {
    /// Ends the requests of reads that nobody waits for.
    fn drop(&mut self) {
        if std::process::id() == self.process {
            self.interrupt.set();
        } else {
            // A forked child has no threads of its parent, which may hold the locks.
            let numbered = self.numbered.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(std::mem::replace(&mut numbered.ahead, Ahead::new(0)));
            if let Some(mut threads) = numbered.threads.take() {
                threads.forget();
            }
        }
    }
}

impl Reads {
    fn numbered(&self) -> PyResult<MutexGuard<'_, Numbered>> {
        if std::process::id() != self.process {
            let message =
                "reads that another process began, of which a forked child has no threads: begin the loop in the child";
            return Err(PyRuntimeError::new_err(message));
        }
        let numbered = self.numbered.try_lock();
        // With the lock, so that no read begins after `close` has stopped all.
        if self.interrupt.is_set() {
            let message =
                "the reads of this loop were ended, by an error or by another loop that reads into the same memory";
            return Err(PyRuntimeError::new_err(message));
        }
        numbered.map_err(|_| PyRuntimeError::new_err("another thread waits for a read of this loop"))
    }

    /// Waits for a while until no read runs. Returns whether none does.
    fn stop(&self) -> bool {
        match self.numbered.try_lock() {
            Ok(mut numbered) => numbered.stop(),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().stop(),
            // Another thread waits for a read, and looks for the interrupt.
            Err(TryLockError::WouldBlock) => {
                thread::sleep(PAUSE);
                false
            }
        }
    }
}

#[pymethods]
impl Reads {
    #[new]
    fn new(threads: usize) -> Self {
        let max_threads = threads.clamp(1, MAX_THREADS);
        let numbered = Numbered { ahead: Ahead::new(max_threads), threads: None, next: 0, first: 0, last: None };
        let (interrupt, process) = (Interrupt::default(), std::process::id());
        Self { numbered: Mutex::new(numbered), interrupt, process, max_threads }
    }

    /// Raises an exception if the reads were ended, or are those of another process.
    fn check(&self) -> PyResult<()> {
        self.numbered().map(drop)
    }

    /// Begins to read boxes of arrays, of each into the rows of an array of numpy. Does nothing for the number of a read that has begun.
    fn push(
        &self,
        py: Python<'_>,
        number: u64,
        reads: Vec<(PyRef<'_, ArrayHandle>, Vec<GivenBox>, Bound<'_, PyAny>)>,
    ) -> PyResult<()> {
        let (next, threads) = {
            let numbered = self.numbered()?;
            (numbered.next, numbered.threads.clone())
        };
        if number < next {
            return Ok(());
        }
        let reads = reads.into_iter().map(|(handle, boxes, out)| ReadBoxes::new(py, &handle, boxes, &out));
        let mut reads = reads.collect::<PyResult<Vec<_>>>()?;
        // This runs code of Python, which may ask for the lock.
        let threads = threads.map_or_else(|| OnThreads::of_process(py, self.max_threads), Ok)?;
        let interrupt = self.interrupt.clone();
        let mut numbered = self.numbered()?;
        if number != numbered.next {
            return Err(PyRuntimeError::new_err(format!("found read {number}, expected {}", numbered.next)));
        }
        numbered.threads.get_or_insert_with(|| threads.clone());
        numbered.ahead.push(move || {
            let mut failed = None;
            for (number, boxes) in reads.iter_mut().enumerate() {
                if let Err(error) = threads.run(|| boxes.read(&interrupt)) {
                    failed = Some((number, error));
                    break;
                }
            }
            (failed, reads)
        });
        numbered.next += 1;
        Ok(())
    }

    /// Waits for the next read, or returns the result of the last one again. Returns which boxes failed, or `None`.
    fn wait<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Option<Failed<'py>>> {
        let mut locked = self.numbered()?;
        let numbered = &mut *locked;
        while number == numbered.first {
            match py.detach(|| numbered.ahead.take_within(PAUSE)) {
                // The lock is what another thread waits for that ends the reads.
                Poll::Pending if self.interrupt.is_set() => break,
                Poll::Pending => py.check_signals()?,
                Poll::Ready(None) => return Err(PyRuntimeError::new_err(format!("read {number} was not begun"))),
                Poll::Ready(Some((failed, reads))) => {
                    numbered.first += 1;
                    numbered.last = failed.map(|(number, error)| {
                        let met = reads.get(number).map(|boxes| boxes.met(&error)).unwrap_or_default();
                        (number, met, error)
                    });
                }
            }
        }
        if self.interrupt.is_set() {
            // A read that was ended may have failed by that.
            drop(locked);
            return self.check().map(|()| None);
        }
        if number.checked_add(1) != Some(numbered.first) {
            let message = format!("found read {number}, expected {}", numbered.first);
            return Err(PyRuntimeError::new_err(message));
        }
        let Some((number, met, error)) = &numbered.last else { return Ok(None) };
        let raised = exception(py, error);
        if !raised.is_instance_of::<PyException>(py) {
            // Of the handler of a signal, which ran while the exception was made.
            return Err(raised);
        }
        Ok(Some((*number, met.clone(), raised.into_value(py).into_bound(py).into_any())))
    }

    /// Ends all reads, and waits until none writes to its memory any more. A forked child has no reads of its parent.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if std::process::id() != self.process {
            return Ok(());
        }
        self.interrupt.set();
        while !py.detach(|| self.stop()) {
            py.check_signals()?;
        }
        Ok(())
    }
}

/// Value that ends reads when it is dropped, and waits until none writes to its memory any more: for a loop that reads into memory of its
/// caller.
#[pyclass(frozen, module = "zarr_rust._core")]
pub(crate) struct ReadsEnd(Py<Reads>);

#[pymethods]
impl ReadsEnd {
    #[new]
    fn new(reads: Py<Reads>) -> Self {
        Self(reads)
    }
}

impl Drop for ReadsEnd {
    fn drop(&mut self) {
        // Not at the end of the interpreter, when nobody uses memory any more.
        Python::try_attach(|py| {
            // That of the code that drops the loop.
            let before = PyErr::take(py);
            match self.0.get().close(py) {
                // An exception ends the wait, and cannot be raised here. The handler runs again in the code that drops the loop.
                Err(raised) if raised.is_instance_of::<PyKeyboardInterrupt>(py) => {
                    let _ = py.import("_thread").and_then(|thread| thread.call_method0("interrupt_main"));
                }
                Err(raised) => raised.write_unraisable(py, None),
                Ok(()) => {}
            }
            if let Some(before) = before {
                before.restore(py);
            }
        });
    }
}
