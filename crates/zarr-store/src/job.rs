//! Work that needs a store but does no I/O itself.

use std::time::Duration;

use crate::{ByteRange, Fetched, GetOptions, Key, Listing, Lock, Precondition, Prefix, SetOptions};

/// Work that needs a store but does no I/O itself: it says what it needs, takes the replies and goes on.
///
/// ```text
/// step(&[]) ──► Ask(requests) ──► step(replies) ──► Fork(jobs) ──► step(&[]) ──► Done(output)
/// ```
///
/// [`crate::run`] and [`crate::run_async`] drive the same jobs. A request that fails ends the job with its error;
/// only a value in another state than required is an answer ([`Reply::Conflict`]).
pub trait Job: Send + Sized {
    /// What comes out.
    type Output: Send;
    /// What can go wrong, the store's errors included.
    type Error: From<crate::Error> + Send;

    /// Goes on with the replies to the requests asked last, in their order; none at first and after a fork. Their
    /// memory is the driver's and is used again afterwards.
    ///
    /// # Errors
    /// Whatever ends the job.
    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>, Self::Error>;

    /// Where the value that is asked for by request `request` of [`Next::Fill`] may be put; as long as it should be.
    /// `None`: wherever the driver likes.
    fn place(&mut self, request: usize) -> Option<&mut [u8]> {
        let _ = request;
        None
    }
}

/// What a job needs to go on.
#[derive(Debug)]
pub enum Next<J: Job> {
    /// Answers to these.
    Ask(Vec<Request>),
    /// Answers to these, some of which are to get whole values that the job has a [`place`](Job::place) for. A driver may
    /// put such a value there and answer [`Reply::Filled`], or answer as to `Ask`.
    Fill(Vec<Request>),
    /// These jobs done, which are independent of each other; they may run at the same time.
    Fork(Vec<J>),
    /// Nothing: this came out.
    Done(J::Output),
}

/// One thing asked of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Ranges of a value, in this order; the driver merges them as the store likes.
    Get {
        /// The key.
        key: Key,
        /// The ranges.
        ranges: Vec<ByteRange>,
        /// Which state of the value.
        options: GetOptions,
    },
    /// A value replaced.
    Set {
        /// The key.
        key: Key,
        /// The new value.
        value: Vec<u8>,
        /// What must hold, and what is to survive a loss of power.
        options: SetOptions,
    },
    /// A key removed.
    Erase {
        /// The key.
        key: Key,
    },
    /// All keys under a prefix removed, as [`crate::Store::erase_prefix`] does.
    ErasePrefix {
        /// The prefix.
        prefix: Prefix,
    },
    /// All keys under a prefix renamed, as [`crate::Store::rename_prefix`] does.
    RenamePrefix {
        /// What they begin with.
        from: Prefix,
        /// What they are to begin with.
        to: Prefix,
    },
    /// The lock of a prefix, as [`crate::Store::try_lock`] takes it.
    Lock {
        /// The prefix.
        prefix: Prefix,
    },
    /// What was written before on the disk before what is written after, as by [`crate::Store::barrier`].
    Barrier,
    /// Time to pass.
    Pause {
        /// How much.
        duration: Duration,
    },
    /// What is directly under a prefix.
    List {
        /// The prefix.
        prefix: Prefix,
    },
    /// All keys under a prefix.
    ListAll {
        /// The prefix.
        prefix: Prefix,
    },
    /// The size of a value.
    Size {
        /// The key.
        key: Key,
    },
}

impl Request {
    /// The newest state of a whole value.
    #[must_use]
    pub fn get(key: Key) -> Self {
        Self::get_ranges(key, vec![ByteRange::Full])
    }

    /// Ranges of the newest state of a value.
    #[must_use]
    pub fn get_ranges(key: Key, ranges: Vec<ByteRange>) -> Self {
        Self::Get { key, ranges, options: GetOptions::default() }
    }

    /// A value replaced if `when` holds.
    #[must_use]
    pub fn set(key: Key, value: Vec<u8>, when: Precondition) -> Self {
        Self::Set { key, value, options: SetOptions::when(when) }
    }

    /// What is set, if nothing is asked for but that.
    pub(crate) fn plain_set(&self) -> Option<(&Key, &[u8])> {
        match self {
            Self::Set { key, value, options } if *options == SetOptions::default() => Some((key, value)),
            _ => None,
        }
    }
}

/// The answer to a [`Request`], each to the one of its name.
#[derive(Debug)]
pub enum Reply {
    /// The pieces, one for each range; `None` if there is no such key.
    Got(Option<Fetched>),
    /// The value has this many bytes. They are in the job's [`place`](Job::place) if that is as long.
    Filled(u64),
    /// The value is set.
    Set,
    /// A value was not in the state that a set or get required: nothing was changed or read. The job may look again and
    /// go on.
    Conflict,
    /// The key is gone, or all under the prefix.
    Erased,
    /// Whether the keys are renamed.
    Renamed(bool),
    /// The lock; `None` if another holds it.
    Locked(Option<Lock>),
    /// What is written from now on comes after what was written before.
    Barrier,
    /// The time has passed.
    Paused,
    /// What is directly under the prefix.
    Listing(Listing),
    /// All keys under the prefix, sorted.
    Keys(Vec<Key>),
    /// The size in bytes; `None` if there is no such key.
    Size(Option<u64>),
}
