//! Claims: exclusion of processes that append to an array, if no lock of the store reaches all of them.
//!
//! A claim is white space behind the JSON of the document that has the shape: 64 random spaces and tabs. So
//! readers of the document are not affected, and no two states of the document with a claim are equal, even if
//! the versions of the store are hashes of values. A writer sets its claim on the condition that the
//! document is as it was read, and sets the new shape of the array on the condition that its claim is still there.
//! Another claim, or any other change of the document, makes the claim void.
//!
//! `reshape/claimed.rs` says why no element is lost.

use super::newest::{Newest, ReadNewest};
use crate::jobs::Operation;
use crate::{Error, ErrorKind, Result, jobs};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{Duration, SystemTime};
use zarr_drive::Io;
use zarr_store::{Key, Precondition, backoff};

/// Number of marks of a claim; each mark is a bit.
const MARKS: usize = 64;

/// Claim of an array: the document with the claim, as it was set.
#[derive(Clone, Debug)]
pub struct Claim {
    key: Key,
    text: Vec<u8>,
    /// Document without the claim.
    unclaimed: Vec<u8>,
}

impl Claim {
    /// Returns a new claim in `document`, whose key is `key`.
    fn new(key: Key, document: &[u8]) -> Self {
        let mut text = document.trim_ascii_end().to_vec();
        text.push(b'\n');
        // The only source of random numbers in the standard library. Forked processes share its state, so the process id is added.
        let chance = RandomState::new().hash_one((document, std::process::id(), SystemTime::now()));
        text.extend((0..MARKS).map(|bit| if chance >> bit & 1 == 0 { b' ' } else { b'\t' }));
        Self { key, text, unclaimed: unclaimed(document).to_vec() }
    }

    /// Whether the document was not changed since it was claimed.
    pub(super) fn holds(&self, newest: &Newest) -> bool {
        newest.text(&self.key) == Some(&self.text)
    }

    /// Returns the condition that the document stays as it was claimed; `None` if it was changed.
    async fn unchanged(&self, io: &Io) -> Result<Option<Precondition>> {
        let document = io.get(vec![jobs::get_whole_document(self.key.clone())]).await?.pop().flatten();
        let claimed = document.filter(|document| document.part(0) == self.text);
        Ok(claimed.map(|document| document.version.map_or(Precondition::None, Precondition::Version)))
    }
}

/// Returns the error for a claim that is void.
pub(super) fn void() -> Error {
    Error::new(ErrorKind::Conflict, "another writer claimed or changed the array meanwhile")
        .with_hint("open the array again and repeat the change")
}

/// Returns the marks of the claim in `document`; `None` if there is no claim.
fn marks(document: &[u8]) -> Option<&[u8]> {
    let (before, marks) = document.split_at_checked(document.len().checked_sub(MARKS)?)?;
    let is_claim = before.last() == Some(&b'\n') && marks.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    is_claim.then_some(marks)
}

/// Returns `document` without the claim in it, if there is one.
#[must_use]
pub fn unclaimed(document: &[u8]) -> &[u8] {
    match marks(document) {
        Some(marks) => document.get(..document.len() - marks.len()).unwrap_or(document),
        None => document,
    }
}

/// Reads the documents of an array repeatedly, while they have the claim of another writer: until that writer gives the array its new
/// shape, or until the claim stayed the same for longer than `patience`, since the writer must be dead.
#[derive(Debug)]
pub struct AwaitClaim {
    read: ReadNewest,
    patience: Duration,
}

/// Factor by which pauses are longer than those between ordinary attempts: a request to a store takes longer than replacing a file.
const PAUSE: u32 = 32;

impl AwaitClaim {
    /// Waits for claims in the documents that `read` reads, each for at most `patience`.
    #[must_use]
    pub fn new(read: ReadNewest, patience: Duration) -> Self {
        Self { read, patience }
    }
}

impl Operation for AwaitClaim {
    type Output = Newest;

    async fn run(self, io: &Io) -> Result<Newest> {
        // The claim that was seen last, and for how long.
        let (mut seen, mut waited) = (Vec::new(), Duration::ZERO);
        let mut pauses: u32 = 0;
        loop {
            let newest = self.read.clone().run(io).await?;
            let Some(marks) = newest.texts().find_map(|(_, text)| marks(text)) else { return Ok(newest) };
            if seen != marks {
                (seen, waited) = (marks.to_vec(), Duration::ZERO);
            }
            if waited > self.patience {
                return Ok(newest);
            }
            pauses = pauses.saturating_add(1);
            let duration = backoff(pauses).saturating_mul(PAUSE);
            waited = waited.saturating_add(duration);
            io.pause(duration).await?;
        }
    }
}

/// Sets a new claim in a document: in place of the writer's previous claim, if that is still valid, or in the document as it was read.
#[derive(Debug)]
pub struct TakeClaim {
    of: Claimed,
}

#[derive(Debug)]
enum Claimed {
    Document { document: Vec<u8>, key: Key, when: Precondition },
    Own(Claim),
}

impl TakeClaim {
    /// Sets the first claim of a writer in the document `key`, as read in `newest`.
    #[must_use]
    pub fn first(newest: &Newest, key: Key) -> Self {
        let document = newest.text(&key).unwrap_or_default().to_vec();
        Self { of: Claimed::Document { document, when: newest.unchanged(&key), key } }
    }

    /// Replaces the writer's own claim `own` by a new claim.
    #[must_use]
    pub fn further(own: Claim) -> Self {
        Self { of: Claimed::Own(own) }
    }
}

impl Operation for TakeClaim {
    type Output = Claim;

    async fn run(self, io: &Io) -> Result<Claim> {
        let (claim, when) = match self.of {
            Claimed::Document { document, key, when } => (Claim::new(key, &document), when),
            Claimed::Own(own) => {
                let when = own.unchanged(io).await?.ok_or_else(void)?;
                (Claim { unclaimed: own.unclaimed, ..Claim::new(own.key, &own.text) }, when)
            }
        };
        let set = jobs::set_document(claim.key.clone(), claim.text.clone(), when, true);
        if io.change(vec![set]).await? { Ok(claim) } else { Err(void()) }
    }
}

/// Removes a claim from its document, if the claim is still there, so that others need not wait until its owner seems to be dead.
#[derive(Debug)]
pub struct DropClaim {
    claim: Claim,
}

impl DropClaim {
    /// Removes `claim`.
    #[must_use]
    pub fn new(claim: Claim) -> Self {
        Self { claim }
    }
}

impl Operation for DropClaim {
    type Output = ();

    async fn run(self, io: &Io) -> Result<()> {
        // Otherwise another writer has claimed the array.
        if let Some(when) = self.claim.unchanged(io).await? {
            let Claim { key, unclaimed, .. } = self.claim;
            io.change(vec![jobs::set_document(key, unclaimed, when, true)]).await?;
        }
        Ok(())
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
