//! Store over values in memory, with the properties and the faults of other stores.

use std::fmt;
use std::sync::{Arc, Mutex};
use zarr_scan::lock;
use zarr_store::{
    AccessProfile, Answer, ByteRange, Bytes, Call, Capabilities, ErrorKind, Fetched, Key, MemoryStore, Operation,
    Store, StoreExt, fallback_blocking,
};

/// Failure of a get or of a listing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Broken {
    Kind(ErrorKind),
    /// The process has too many open files.
    #[cfg(unix)]
    Files,
    /// The process has not enough memory.
    Memory,
}

/// Get of a value.
#[derive(Clone, Debug)]
pub(super) struct Get {
    pub(super) key: String,
    pub(super) ranges: Vec<ByteRange>,
    /// Whether a state was asked for or required.
    pub(super) is_of_state: bool,
    pub(super) expected_size: Option<u64>,
}

/// Number of bytes of replies that are held now, and the greatest number so far.
#[derive(Debug, Default)]
pub(super) struct Held(pub(super) Mutex<(u64, u64)>);

/// Bytes of a reply, which count as held until they are dropped.
struct Reply(Vec<u8>, Arc<Held>);

impl AsRef<[u8]> for Reply {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        lock(&self.1.0).0 -= self.0.len() as u64;
    }
}

impl Held {
    /// Returns the reply with bytes that are counted.
    fn counted(self: &Arc<Self>, got: &Fetched) -> Fetched {
        let mut counted = Fetched::new();
        (counted.size, counted.version, counted.snapshot) = (got.size, got.version.clone(), got.snapshot.clone());
        for part in got.parts() {
            let (now, most) = &mut *lock(&self.0);
            *now += part.len() as u64;
            *most = (*most).max(*now);
            counted.push(Bytes::from_owner(Reply(part.to_vec(), Arc::clone(self))));
        }
        counted
    }
}

/// Store over values in memory, with the properties of other stores.
#[derive(Debug)]
pub(super) struct Other {
    pub(super) memory: MemoryStore,
    /// Whether the store tells the sizes of values of which it reads a part.
    pub(super) tells_sizes: bool,
    /// Whether replies name the state of the value.
    pub(super) has_states: bool,
    pub(super) lists: bool,
    /// Whether lists have no keys, as those of nodes that have no documents of their own.
    pub(super) lists_nothing: bool,
    pub(super) profile: AccessProfile,
    /// Keys whose values cannot be read; `*` is all of them.
    pub(super) broken: Vec<(String, Broken)>,
    /// Failure of listings.
    pub(super) unlisted: Option<Broken>,
    /// Key that is erased after a listing.
    pub(super) erased: Option<&'static str>,
    /// Key that is set to this value after a listing.
    pub(super) written: Option<(&'static str, &'static [u8])>,
    pub(super) gets: Mutex<Vec<Get>>,
    pub(super) held: Arc<Held>,
}

impl Other {
    pub(super) fn new(values: &[(&str, &[u8])]) -> Self {
        let memory = MemoryStore::new();
        for (key, value) in values {
            memory.set_all(&Key::new(key).unwrap(), value).unwrap();
        }
        Self {
            memory,
            tells_sizes: true,
            has_states: true,
            lists: true,
            lists_nothing: false,
            profile: AccessProfile::LOCAL,
            broken: Vec::new(),
            unlisted: None,
            erased: None,
            written: None,
            gets: Mutex::default(),
            held: Arc::default(),
        }
    }

    /// Ranges of the gets of a value, and whether any asked for a state.
    pub(super) fn gets_of(&self, key: &str) -> (Vec<Vec<ByteRange>>, bool) {
        let gets: Vec<Get> = lock(&self.gets).iter().filter(|get| get.key == key).cloned().collect();
        (gets.iter().map(|get| get.ranges.clone()).collect(), gets.iter().any(|get| get.is_of_state))
    }

    fn fail(&self, operation: Operation, key: &str, broken: Broken) -> zarr_store::Error {
        match broken {
            Broken::Kind(kind) => zarr_store::Error::failed(self, operation, key, kind, "torn"),
            #[cfg(unix)]
            Broken::Files => zarr_store::Error::io(self, operation, key, std::io::Error::from_raw_os_error(24)),
            Broken::Memory => zarr_store::Error::Memory { size: 1 << 40 },
        }
    }
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("other:")
    }
}

impl Store for Other {
    fn call(&self, call: Call<'_>) -> zarr_store::Result<Answer> {
        match call {
            Call::Get { key, ranges, options } => {
                lock(&self.gets).push(Get {
                    key: key.to_string(),
                    ranges: ranges.to_vec(),
                    is_of_state: !options.is_default(),
                    expected_size: options.expected_size,
                });
                let is_broken = |(broken, _): &&(String, Broken)| broken == "*" || key.as_str() == broken;
                if let Some((_, broken)) = self.broken.iter().find(is_broken) {
                    return Err(self.fail(Operation::Get, key.as_str(), *broken));
                }
                let asked = ranges.to_vec();
                let got = self.memory.call(Call::Get { key, ranges, options })?.into_got()?;
                let mut got = got.map(|got| self.held.counted(&got));
                std::thread::yield_now();
                if let (Some(got), [range], false) = (&mut got, &asked[..], self.tells_sizes) {
                    got.size = range.whole_size(got.part(0));
                }
                if let (Some(got), false) = (&mut got, self.tells_sizes && self.has_states) {
                    (got.version, got.snapshot) = (None, None);
                }
                Ok(Answer::Got(got))
            }
            Call::ListSizes { .. } if self.lists_nothing => Ok(Answer::Done),
            call @ (Call::ListSizes { .. } | Call::ListPrefix { .. }) => {
                if let Some(broken) = self.unlisted {
                    return Err(self.fail(Operation::List, "", broken));
                }
                let listed = match self.tells_sizes || matches!(call, Call::ListPrefix { .. }) {
                    true => self.memory.call(call),
                    false => fallback_blocking(self, call),
                };
                if let Some(key) = self.erased {
                    self.memory.erase(&Key::new(key)?)?;
                }
                if let Some((key, value)) = self.written {
                    self.memory.set_all(&Key::new(key)?, value)?;
                }
                listed
            }
            call @ Call::ListDir { .. } => self.memory.call(call),
            call => fallback_blocking(self, call),
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().list(self.lists).suffix_ranges(true)
    }

    fn access_profile(&self) -> AccessProfile {
        self.profile
    }
}
