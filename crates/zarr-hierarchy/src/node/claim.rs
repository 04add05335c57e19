//! Claims: which of several processes appends to an array, where no lock of the store reaches all of them.
//!
//! A claim is white space behind the JSON of the document that has the shape: 64 spaces and tabs, chosen by chance. So
//! it changes nothing for readers of the document, and no two states of the document with a claim are equal, even where
//! the versions of the store are hashes of values. Whoever claims an array sets the claim on the condition that the
//! document is as it was read, and gives the array its new shape on the condition that the claim is still there.
//! Another claim, or any other change of the document, makes it void.
//!
//! `reshape/claimed.rs` says why no element is lost by that.

use super::newest::{Newest, ReadNewest};
use crate::{Error, ErrorKind, Result, jobs};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{Duration, SystemTime};
use zarr_store::{Job, Key, Next, Precondition, Reply, Request, backoff};

/// How many marks a claim has: a bit each.
const MARKS: usize = 64;

/// A document with a claim, as it was set.
#[derive(Clone, Debug)]
pub struct Claim {
    key: Key,
    text: Vec<u8>,
    /// The document without a claim.
    unclaimed: Vec<u8>,
}

impl Claim {
    /// A new one in a document.
    fn new(key: Key, document: &[u8]) -> Self {
        let mut text = document.trim_ascii_end().to_vec();
        text.push(b'\n');
        // The standard library's only source of chance, which processes share that were forked from one another.
        let chance = RandomState::new().hash_one((document, std::process::id(), SystemTime::now()));
        text.extend((0..MARKS).map(|bit| if chance >> bit & 1 == 0 { b' ' } else { b'\t' }));
        Self { key, text, unclaimed: unclaimed(document).to_vec() }
    }

    /// Whether nothing changed the document since it was claimed.
    pub(super) fn holds(&self, newest: &Newest) -> bool {
        newest.text(&self.key) == Some(&self.text)
    }
}

/// The claim was made void.
pub(super) fn void() -> Error {
    Error::new(ErrorKind::Conflict, "another writer claimed or changed the array meanwhile")
        .with_hint("open the array again and repeat the change")
}

/// The claim in a document, if there is one.
fn marks(document: &[u8]) -> Option<&[u8]> {
    let (before, marks) = document.split_at_checked(document.len().checked_sub(MARKS)?)?;
    let is_claim = before.last() == Some(&b'\n') && marks.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    is_claim.then_some(marks)
}

/// A document without the claim in it, if there is one.
#[must_use]
pub fn unclaimed(document: &[u8]) -> &[u8] {
    match marks(document) {
        Some(marks) => document.get(..document.len() - marks.len()).unwrap_or(document),
        None => document,
    }
}

/// Reads the documents of an array, again and again while another has a claim in them: until it gives the array its new shape, or
/// until the claim was the same for longer than the `patience` of who waits, because the other is dead.
#[derive(Debug)]
pub struct AwaitClaim {
    read: Box<ReadNewest>,
    begin: ReadNewest,
    /// The claim that was seen last, and for how long.
    seen: Option<(Vec<u8>, Duration)>,
    patience: Duration,
    pauses: u32,
}

/// Pauses are so many times as long as pauses between attempts: a request of a store takes longer than to replace a
/// file.
const PAUSE: u32 = 32;

impl AwaitClaim {
    /// Waits for claims in the documents that `read` reads.
    #[must_use]
    pub fn new(read: ReadNewest, patience: Duration) -> Self {
        Self { begin: read.clone(), read: Box::new(read), seen: None, patience, pauses: 0 }
    }
}

impl Job for AwaitClaim {
    type Output = Newest;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let replies = if matches!(replies, [Reply::Paused]) { &[] } else { replies };
        let newest = match self.read.step(replies)? {
            Next::Ask(requests) | Next::FetchInto(requests) => return Ok(Next::Ask(requests)),
            Next::Fork(_) => return Err(Error::internal("a job that is a part of another one forked")),
            Next::Done(newest) => newest,
        };
        let Some(marks) = newest.texts().find_map(|(_, text)| marks(text)) else { return Ok(Next::Done(newest)) };
        let waited = match self.seen.take() {
            Some((seen, waited)) if seen == marks => waited,
            _ => Duration::ZERO,
        };
        if waited > self.patience {
            return Ok(Next::Done(newest));
        }
        self.pauses = self.pauses.saturating_add(1);
        let duration = backoff(self.pauses).saturating_mul(PAUSE);
        self.seen = Some((marks.to_vec(), waited.saturating_add(duration)));
        *self.read = self.begin.clone();
        Ok(Next::Ask(vec![Request::Pause { duration }]))
    }
}

/// Puts a new claim into a document: instead of one's own, if that still holds, else into the document as it was read.
#[derive(Debug)]
pub struct TakeClaim {
    state: State,
}

#[derive(Debug)]
enum State {
    Begin { document: Vec<u8>, key: Key, when: Precondition },
    Own(Claim),
    Read(Claim),
    Set(Claim),
    Done,
}

impl TakeClaim {
    /// The first claim, in document `key`.
    #[must_use]
    pub fn first(newest: &Newest, key: Key) -> Self {
        let document = newest.text(&key).unwrap_or_default().to_vec();
        Self { state: State::Begin { document, when: newest.unchanged(&key), key } }
    }

    /// A further one.
    #[must_use]
    pub fn further(own: Claim) -> Self {
        Self { state: State::Own(own) }
    }

    fn set(&mut self, claim: Claim, when: Precondition) -> Next<Self> {
        let request = jobs::set_document(claim.key.clone(), claim.text.clone(), when, true);
        self.state = State::Set(claim);
        Next::Ask(vec![request])
    }
}

impl Job for TakeClaim {
    type Output = Claim;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match (std::mem::replace(&mut self.state, State::Done), replies) {
            (State::Begin { document, key, when }, _) => Ok(self.set(Claim::new(key, &document), when)),
            (State::Own(own), _) => {
                let request = jobs::get_whole_document(own.key.clone());
                self.state = State::Read(own);
                Ok(Next::Ask(vec![request]))
            }
            (State::Read(own), [Reply::Got(fetched)]) => match fetched {
                Some(fetched) if fetched.part(0) == own.text => {
                    let when = fetched.version.clone().map_or(Precondition::None, Precondition::Version);
                    let claim = Claim { unclaimed: own.unclaimed, ..Claim::new(own.key, &own.text) };
                    Ok(self.set(claim, when))
                }
                _ => Err(void()),
            },
            (State::Set(claim), [Reply::Set]) => Ok(Next::Done(claim)),
            (State::Set(_), [Reply::Conflict]) => Err(void()),
            _ => Err(jobs::unfit()),
        }
    }
}

/// Takes a claim out of its document, if it is still there, so that others need not wait until its owner seems to be dead.
#[derive(Debug)]
pub struct DropClaim {
    claim: Claim,
    is_asked: bool,
}

impl DropClaim {
    /// Of a claim that was taken.
    #[must_use]
    pub fn new(claim: Claim) -> Self {
        Self { claim, is_asked: false }
    }
}

impl Job for DropClaim {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let Claim { key, text, unclaimed } = &self.claim;
        match replies {
            [] if !std::mem::replace(&mut self.is_asked, true) => {
                Ok(Next::Ask(vec![jobs::get_whole_document(key.clone())]))
            }
            [Reply::Got(Some(fetched))] if fetched.part(0) == text => {
                let when = fetched.version.clone().map_or(Precondition::None, Precondition::Version);
                Ok(Next::Ask(vec![jobs::set_document(key.clone(), unclaimed.clone(), when, true)]))
            }
            // Another has it by now.
            [Reply::Got(_) | Reply::Set | Reply::Conflict] => Ok(Next::Done(())),
            _ => Err(jobs::unfit()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_white_space_of_which_no_two_are_equal() {
        let key = Key::new("zarr.json").expect("a key");
        let first = Claim::new(key.clone(), b"{}\n");
        let second = Claim::new(key, &first.text);
        assert_eq!(first.text.trim_ascii_end(), b"{}");
        assert_eq!((first.text.len(), second.text.len()), (3 + MARKS, 3 + MARKS));
        assert_ne!(first.text, second.text);
        assert!(marks(&first.text).is_some() && marks(&second.text) != marks(&first.text));
        assert_eq!((&first.unclaimed[..], &second.unclaimed[..]), (&b"{}\n"[..], &b"{}\n"[..]));
        assert_eq!(unclaimed(&second.text), b"{}\n");
        for text in [&b""[..], b"{}", b"{}\n", &[b' '; 64], &[b'\n'; 200]] {
            assert_eq!((marks(text), unclaimed(text)), (None, text));
        }
    }
}
