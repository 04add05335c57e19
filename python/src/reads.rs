//! Reads of several arrays ahead of a loop of Python.

use crate::array::ArrayHandle;
use crate::errors::exception;
use crate::interrupt::Interrupt;
use crate::memory::{KeptMemory, Memory};
use crate::runtime::{OnThreads, PAUSE};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
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

/// Failed read of Python: the number of the array, the numbers of the boxes that have the chunk of the error, and the exception.
type Failed<'py> = (usize, Vec<usize>, Bound<'py, PyAny>);

/// Reads that run ahead of a loop on threads of their own, and end in order.
#[pyclass(frozen, module = "zarr_rust._core")]
pub(crate) struct Reads {
    ahead: Mutex<Ahead<ReadResult>>,
    interrupt: Interrupt,
    process: u32,
    max_threads: usize,
    /// Threads on which reads run, which begin with the first one.
    threads: PyOnceLock<OnThreads>,
    /// Whether callers use the memory of reads, so that these have ended when the value is dropped.
    waits: bool,
}

impl Drop for Reads {
    /// Ends the requests of reads that nobody waits for.
    fn drop(&mut self) {
        let ahead = self.ahead.get_mut().unwrap_or_else(PoisonError::into_inner);
        if std::process::id() == self.process {
            self.interrupt.set();
            if self.waits && !ahead.is_stopped() {
                // Not at the end of the interpreter, when nobody uses memory any more.
                Python::try_attach(|py| py.detach(|| while ahead.stop_within(PAUSE).is_pending() {}));
            }
        } else {
            // A forked child has no threads of its parent, which may hold the locks.
            std::mem::forget(std::mem::replace(ahead, Ahead::new(0)));
            if let Some(mut threads) = self.threads.take() {
                threads.forget();
            }
        }
    }
}

impl Reads {
    fn ahead(&self) -> PyResult<MutexGuard<'_, Ahead<ReadResult>>> {
        if std::process::id() != self.process {
            let message =
                "reads that another process began, of which a forked child has no threads: begin the loop in the child";
            return Err(PyRuntimeError::new_err(message));
        }
        if self.interrupt.is_set() {
            let message =
                "the reads of this loop were ended, by an error or by another loop that reads into the same memory";
            return Err(PyRuntimeError::new_err(message));
        }
        self.ahead.try_lock().map_err(|_| PyRuntimeError::new_err("another thread waits for a read of this loop"))
    }
}

#[pymethods]
impl Reads {
    #[new]
    fn new(threads: usize, waits: bool) -> Self {
        let max_threads = threads.clamp(1, MAX_THREADS);
        let (ahead, threads) = (Mutex::new(Ahead::new(max_threads)), PyOnceLock::new());
        Self { ahead, interrupt: Interrupt::default(), process: std::process::id(), max_threads, threads, waits }
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.ahead()?.len())
    }

    /// Begins to read boxes of arrays, of each into the rows of an array of numpy.
    fn push(
        &self,
        py: Python<'_>,
        reads: Vec<(PyRef<'_, ArrayHandle>, Vec<GivenBox>, Bound<'_, PyAny>)>,
    ) -> PyResult<()> {
        let reads = reads.into_iter().map(|(handle, boxes, out)| ReadBoxes::new(py, &handle, boxes, &out));
        let mut reads = reads.collect::<PyResult<Vec<_>>>()?;
        let threads = self.threads.get_or_try_init(py, || OnThreads::of_process(py, self.max_threads))?;
        let (interrupt, threads) = (self.interrupt.clone(), threads.clone());
        self.ahead()?.push(move || {
            let mut failed = None;
            for (number, boxes) in reads.iter_mut().enumerate() {
                if let Err(error) = threads.run(|| boxes.read(&interrupt)) {
                    failed = Some((number, error));
                    break;
                }
            }
            (failed, reads)
        });
        Ok(())
    }

    /// Waits for the first read that was begun and not waited for. Returns which boxes failed, or `None`.
    fn pop<'py>(&self, py: Python<'py>) -> PyResult<Option<Failed<'py>>> {
        let mut locked = self.ahead()?;
        let ahead = &mut *locked;
        loop {
            match py.detach(|| ahead.take_within(PAUSE)) {
                Poll::Pending => py.check_signals()?,
                Poll::Ready(None) => return Err(PyRuntimeError::new_err("no read was begun")),
                Poll::Ready(Some((failed, reads))) => {
                    let failed = failed.map(|(number, error)| {
                        let met = reads.get(number).map(|boxes| boxes.met(&error)).unwrap_or_default();
                        (number, met, exception(py, &error).into_value(py).into_bound(py).into_any())
                    });
                    return Ok(failed);
                }
            }
        }
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

impl Reads {
    /// Waits for a while until no read runs. Returns whether none does.
    fn stop(&self) -> bool {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner).stop_within(PAUSE).is_ready()
    }
}
