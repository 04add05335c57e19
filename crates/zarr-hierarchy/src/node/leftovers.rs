//! Chunks that are stored under the keys that chunks of a new array will have.

use super::{OpenNode, Probed, order};
use crate::chunk_keys::ChunkKeys;
use crate::jobs::TakeLock;
use crate::{Error, ErrorKind, Result, jobs};
use zarr_meta::StoredNode;
use zarr_store::{Job, Key, Lock, Next, Prefix, Reply, Request};

/// Erases the values under the keys that the chunks of a new array will have: left by an erase or a write that was
/// interrupted, they would be read as chunks of the array.
///
/// List ── none ──► done; List ──► Lock ──► Again ── still no node ──► Erase ──► Barrier ──► done
///
/// Once there is something to erase, creators exclude each other: chunks that were listed before it was seen that there is no node
/// are of no array.
#[derive(Debug)]
pub(super) struct Leftovers {
    found: StoredNode,
    keys: ChunkKeys,
    stored: Vec<Key>,
    /// Whether values in the root may be erased.
    overwrite: bool,
    lock: Option<Lock>,
    state: State,
}

#[derive(Debug)]
enum State {
    Begin,
    List,
    Lock(Box<TakeLock>),
    Again(Box<OpenNode>),
    Erase,
    Barrier,
}

impl Leftovers {
    /// The leftovers of a node that is to be created, while `lock` is held if creators exclude each other already.
    pub(super) fn new(found: &StoredNode, overwrite: bool, lock: Option<Lock>) -> Result<Self> {
        let (keys, found) = (ChunkKeys::new(found)?, found.clone());
        Ok(Self { found, keys, stored: Vec::new(), overwrite, lock, state: State::Begin })
    }

    /// Whether all chunks would lie below one of these prefixes.
    pub(super) fn lie_below(&self, prefixes: &[String]) -> bool {
        self.keys.prefixes().all(|prefix| prefixes.iter().any(|above| prefix.starts_with(above.as_str())))
    }

    fn lock(&mut self, take: Box<TakeLock>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, take| job.state = State::Lock(take);
        jobs::within(self, take, replies, wait, |job, lock| {
            job.lock = Some(lock);
            job.begin_again()
        })
    }

    fn begin_again(&mut self) -> Result<Next<Self>> {
        let open = OpenNode::new(self.found.path.clone(), Some(self.found.dialect), false);
        self.again(Box::new(open.knowing(&self.found.documents)), &[])
    }

    fn again(&mut self, mut open: Box<OpenNode>, replies: &[Reply]) -> Result<Next<Self>> {
        match open.go_on(replies)? {
            Probed::Asks(requests) => {
                self.state = State::Again(open);
                Ok(Next::Ask(requests))
            }
            Probed::Found(found) if !found.implicit => {
                let message = "another writer created this node meanwhile";
                Err(Error::new(ErrorKind::Exists, message).at_path(&found.path))
            }
            _ => {
                self.state = State::Erase;
                let keys = std::mem::take(&mut self.stored);
                Ok(Next::Ask(keys.into_iter().map(|key| Request::Erase { key }).collect()))
            }
        }
    }
}

impl Job for Leftovers {
    type Output = Option<Lock>;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(&mut self.state, State::Begin) {
            State::Begin => {
                self.state = State::List;
                let list = |prefix| Ok(Request::ListAll { prefix: Prefix::new(prefix)? });
                let mut prefixes: Vec<&str> = self.keys.prefixes().collect();
                prefixes.dedup();
                Ok(Next::Ask(prefixes.into_iter().map(list).collect::<Result<_>>()?))
            }
            State::List => {
                for reply in replies {
                    let Reply::Keys(keys) = reply else { return Err(jobs::unfit()) };
                    self.stored.extend(keys.iter().filter(|key| self.keys.has_form(key)).cloned());
                }
                let Some(first) = self.stored.first() else { return Ok(Next::Done(self.lock.take())) };
                // The root is the folder that the store lies in, which may hold anything.
                if self.found.path.is_root() && !self.overwrite {
                    let message = "files are there already that would be chunks of the array";
                    let error = Error::new(ErrorKind::Exists, message).at_path(&self.found.path);
                    return Err(error.at(|location| location.key = Some(first.to_string())));
                }
                if self.lock.is_some() {
                    return self.begin_again();
                }
                self.lock(Box::new(TakeLock::new(order::creation_lock_prefix(&self.found)?)), &[])
            }
            State::Lock(take) => self.lock(take, replies),
            State::Again(open) => self.again(open, replies),
            // They are gone before the array is there.
            State::Erase => {
                jobs::any_conflict(replies)?;
                self.state = State::Barrier;
                Ok(Next::Ask(vec![Request::Barrier]))
            }
            State::Barrier => {
                jobs::any_conflict(replies)?;
                Ok(Next::Done(self.lock.take()))
            }
        }
    }
}
