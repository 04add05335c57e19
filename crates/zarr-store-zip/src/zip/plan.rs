//! Plans of reads that do no I/O themselves, and two drivers that run them.
//!
//! A `Job` of `zarr-drive` only borrows its replies and would copy values out of them. A plan owns its replies and passes their
//! memory on.

use smallvec::SmallVec;
use zarr_store::{AsyncStore, AsyncStoreExt, ByteRange, Error, Fetched, GetOptions, Key, Snapshot, Store, StoreExt};

use crate::ZipFault;

/// Computation that needs bytes of the file.
pub(super) trait Plan {
    /// Result of the plan.
    type Output;

    /// Takes the pieces that were read last, one for each range (`None` at first), and returns the next step.
    fn step(&mut self, reply: Option<Fetched>) -> Result<Step<Self::Output>, Fault>;

    /// Handles a file of only `size` bytes, so that a requested range is not inside it.
    fn is_short(&mut self, size: u64) -> Result<Step<Self::Output>, Fault>;

    /// Returns the options for the next read.
    fn options(&self) -> &GetOptions;

    /// Returns whether the bytes of the next read go to the caller of the store.
    fn is_value(&self) -> bool;
}

/// Ranges of the file, of which there is mostly one.
pub(super) type Ranges = SmallVec<[ByteRange; 2]>;

/// Next step of a plan.
pub(super) enum Step<T> {
    /// Reads these ranges of the file, all of one state.
    Read(Ranges),
    /// Ends with this result.
    Done(T),
}

/// Failure before the names of store and key are added.
#[derive(Debug)]
pub(super) enum Fault {
    /// Fault of the file format.
    Zip(ZipFault),
    /// Error of the file system.
    Io(std::io::Error),
    /// Error of the store below.
    Store(Error),
    /// The file does not exist.
    Gone,
}

impl From<ZipFault> for Fault {
    fn from(fault: ZipFault) -> Self {
        Self::Zip(fault)
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// Reply to [`Step::Read`].
#[expect(clippy::large_enum_variant, reason = "a reply is moved once")]
pub(super) enum Reply {
    /// One piece for each range.
    Pieces(Fetched),
    /// The file has only this number of bytes, so that a range is not inside it.
    Short(u64),
}

/// File that is read by blocking calls.
pub(super) trait Source {
    /// Reads ranges of the file.
    fn read(&self, ranges: &[ByteRange], options: &GetOptions, is_value: bool) -> Result<Reply, Fault>;
}

/// Value of a store as a file.
impl Source for (&dyn Store, &Key) {
    fn read(&self, ranges: &[ByteRange], options: &GetOptions, _is_value: bool) -> Result<Reply, Fault> {
        reply(&self.0, self.1, ranges, options, self.0.get(self.1, ranges, options))
    }
}

/// Runs a plan on this thread.
pub(super) fn run<P: Plan>(source: &impl Source, mut plan: P) -> Result<P::Output, Fault> {
    let mut step = plan.step(None)?;
    loop {
        let ranges = match step {
            Step::Done(output) => return Ok(output),
            Step::Read(ranges) => ranges,
        };
        let reply = source.read(&ranges, plan.options(), plan.is_value())?;
        step = take(&mut plan, reply)?;
    }
}

/// Runs a plan without blocking.
pub(super) async fn run_async<P: Plan>(store: &dyn AsyncStore, key: &Key, mut plan: P) -> Result<P::Output, Fault> {
    let mut step = plan.step(None)?;
    loop {
        let ranges = match step {
            Step::Done(output) => return Ok(output),
            Step::Read(ranges) => ranges,
        };
        let options = plan.options();
        let got = store.get(key, &ranges, options).await;
        let reply = reply(&store, key, &ranges, options, got)?;
        step = take(&mut plan, reply)?;
    }
}

fn take<P: Plan>(plan: &mut P, reply: Reply) -> Result<Step<P::Output>, Fault> {
    match reply {
        Reply::Pieces(fetched) => plan.step(Some(fetched)),
        Reply::Short(size) => plan.is_short(size),
    }
}

/// Checks the reply of a store below: a piece that is too short must not be taken for bytes of the file.
fn reply(
    store: &dyn std::fmt::Display,
    key: &Key,
    ranges: &[ByteRange],
    options: &GetOptions,
    got: zarr_store::Result<Option<Fetched>>,
) -> Result<Reply, Fault> {
    let contract = |found: String, expected: String| Error::Contract {
        store: store.to_string(),
        key: key.clone(),
        found,
        expected,
    };
    let fetched = match got {
        Ok(Some(fetched)) => fetched,
        Ok(None) => return Err(Fault::Gone),
        Err(Error::Range { size, .. }) => return Ok(Reply::Short(size)),
        Err(Error::Precondition { found, .. }) => {
            let name = |version: Option<&zarr_store::Version>| {
                version.map_or_else(|| "another state".to_owned(), |version| format!("version {version}"))
            };
            let expected = options.if_match.as_ref().and_then(Snapshot::version);
            return Err(ZipFault::Replaced { found: name(found.as_ref()), expected: name(expected) }.into());
        }
        Err(error) => return Err(error.into()),
    };
    if fetched.len() != ranges.len() {
        return Err(contract(format!("{} pieces of bytes", fetched.len()), format!("{}", ranges.len())).into());
    }
    if ranges.is_empty() && fetched.size.is_none() {
        return Err(contract("no size".to_owned(), "the size of the value".to_owned()).into());
    }
    for (piece, range) in fetched.parts().zip(ranges) {
        let found = piece.len() as u64;
        let due = match range {
            ByteRange::Range(range) => range.end.saturating_sub(range.start),
            ByteRange::Suffix(len) => *len,
            ByteRange::Full | ByteRange::From(_) | ByteRange::First(_) => found,
        };
        if found != due {
            return Err(contract(format!("{found} bytes"), format!("{due} bytes for {range}")).into());
        }
    }
    Ok(Reply::Pieces(fetched))
}
