//! Replacing all that lies under the path of a node in one step.

use super::order;
use super::unfinished::{new_id, replacement};
use crate::jobs::InSteps;
use crate::{Error, Result, jobs};
use zarr_meta::StoredNode;
use zarr_store::{Job, Key, Next, Precondition, Prefix, Reply, Request};

/// Writes the documents of a new node under a prefix of its own, exchanges that with the prefix of the node at its path, and erases the
/// old node. Who opens the path meanwhile finds the old node or the new one. Ends with false, and the old node as it was, where the
/// store does not exchange them.
///
/// Set ──► Barrier ──► List ── all there ──► Exchange ── exchanged ──► Erase ──► true
///                       └── erased by others ──┴────── declined ────► Erase ──► false
#[derive(Debug)]
pub(super) struct ExchangeNode {
    prefix: Prefix,
    new: Prefix,
    keys: Vec<Key>,
    is_exchanged: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    Set(Box<InSteps>),
    Barrier,
    List,
    Exchange,
    Erase,
    Done,
}

impl ExchangeNode {
    /// The node that will be found, by these documents. Its path is not the root, and all of it lies there.
    pub(super) fn new(found: &StoredNode, written: Vec<(String, Option<Vec<u8>>)>) -> Result<Self> {
        let prefix = Prefix::new(&found.path.key_prefix())?;
        let Some(new) = replacement(&found.path, new_id())? else {
            return Err(Error::internal("the root is replaced"));
        };
        let mut keys = Vec::new();
        let mut moved = |request| -> Result<Option<Request>> {
            // Else it erases a document that the new node does not have.
            let Request::Set { key, value, options } = request else { return Ok(None) };
            let rest = prefix.strip(&key).ok_or_else(|| Error::internal("a document lies elsewhere"))?;
            let key = new.join(rest)?;
            keys.push(key.clone());
            Ok(Some(Request::Set { key, value, options }))
        };
        let when = |_: &Key, _| Precondition::None;
        let steps = order::requests(found.dialect, &found.path, &found.documents, written, when)?;
        let steps = steps.into_iter().map(|step| step.into_iter().filter_map(|set| moved(set).transpose()).collect());
        let steps = InSteps::new(steps.collect::<Result<Vec<Vec<_>>>>()?);
        Ok(Self { prefix, new, keys, is_exchanged: false, state: State::Set(Box::new(steps)) })
    }

    fn set(&mut self, steps: Box<InSteps>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, steps| job.state = State::Set(steps);
        jobs::within(self, steps, replies, wait, |job, _| {
            job.state = State::Barrier;
            Ok(Next::Ask(vec![Request::Barrier]))
        })
    }

    fn erase(&mut self) -> Next<Self> {
        self.state = State::Erase;
        Next::Ask(vec![Request::ErasePrefix { prefix: self.new.clone() }])
    }
}

impl Job for ExchangeNode {
    type Output = bool;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match (std::mem::replace(&mut self.state, State::Done), replies) {
            (State::Set(steps), _) => self.set(steps, replies),
            (State::Barrier, [Reply::Barrier]) => {
                self.state = State::List;
                Ok(Next::Ask(vec![Request::List { prefix: self.new.clone() }]))
            }
            // Who erases or replaces the node at the same time erases the new one as a whole, so that after this it is
            // whole or gone.
            (State::List, [Reply::Listing(listing)]) => {
                if self.keys.iter().any(|key| !listing.keys.contains(key)) {
                    return Ok(self.erase());
                }
                self.state = State::Exchange;
                Ok(Next::Ask(vec![Request::ExchangePrefixes { a: self.prefix.clone(), b: self.new.clone() }]))
            }
            (State::Exchange, [Reply::Exchanged(is_exchanged)]) => {
                self.is_exchanged = *is_exchanged;
                Ok(self.erase())
            }
            (State::Erase, [Reply::Erased]) => Ok(Next::Done(self.is_exchanged)),
            _ => Err(jobs::unfit()),
        }
    }
}
