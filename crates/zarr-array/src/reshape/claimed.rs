//! Appends in stores that have conditional sets, and whose locks do not exclude other processes, which may append at the same time.
//!
//! An append claims the array ([`Claim`]), writes its elements and publishes the shape. The order of these steps guarantees that no append
//! overwrites published elements, and that the elements of each successful append are in the array exactly once:
//!
//! 1. the documents are read;
//! 2. the states of the chunks to be written are read, or the chunks are assumed to be missing;
//! 3. the claim is set, on the condition that the document is as it was read in 1;
//! 4. each chunk is set, on the condition that it has the state of 2;
//! 5. the shape is set, on the condition that the claim of 3 is there.
//!
//! The proof, for an append A that has published its shape and an append B that sets a chunk after A has set it:
//!
//! - By step 4, B read the state of the chunk after A had set it. By the order of steps 2 and 3, B claimed after that, and so after A.
//! - B did not claim before A published, since the claim of A was there until then (step 5). So B claimed after A had published.
//! - By step 3, B had then read documents with the shape that A published. B appends behind the elements of A, and leaves them in the chunk
//!   unchanged.
//!
//! This also holds for requests of B that arrive late, whether B has ended or begun again. Chunks that hold nothing but the fill value
//! are stored for the same reason: a missing chunk does not show whether somebody appended it.
//!
//! Chunks are written in batches, each under a new claim. Each claim of one append replaces the claim before on the condition that that one
//! is still in the document. So no other append comes in between, and the proof holds for each batch. Each new claim shows others that its
//! owner is alive.
//!
//! An append that fails removes its claim, as far as it knows that it has one. The document is then as it was before, and its version may
//! be, too; but no shape was published in between, and any append that publishes a shape reads the states of the chunks again.
//!
//! An append that finds a claim of another append waits until the claim is removed. If the claim stays unchanged for longer than a batch
//! may take, its owner is taken to be dead. If the owner is alive, it loses its claim and begins again. Both then wait longer than before,
//! so that one of them succeeds. The elements are safe even if a living owner is taken to be dead.
//!
//! Versions that are hashes of the value (as some object stores have) do not tell that a chunk was set to the same
//! value: there, elements that are appended to a chunk which had the same elements beyond the shape before may be
//! replaced by the elements of another, who began before.

use super::Appended;
use crate::core::ArrayCore;
use crate::drive::Drive;
use crate::jobs::too_few_chunks;
use crate::verbs::Held;
use crate::write::{ChunkStates, WriteJob};
use crate::{Error, ErrorKind, Result, jobs};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use zarr_codec::View;
use zarr_drive::Script;
use zarr_grid::Region;
use zarr_hierarchy::jobs::Operation;
use zarr_hierarchy::node::{
    AwaitClaim, Claim, DropClaim, Edit, Newest, ReadNewest, ReplaceNode, TakeClaim, check_same_chunks,
};
use zarr_meta::{Node, StoredNode};
use zarr_store::{ByteRange, Conflicts, Key, Precondition, Request};

/// Maximum number of times that an append begins again, or that it writes a batch of chunks again, if others keep changing the state on
/// which it depends.
const MAX_TRIES: u32 = 1000;
/// Duration during which an append begins again; others may append much before it.
const ALL_PATIENCE: Duration = Duration::from_secs(600);
/// Duration, at first, after which the owner of an unchanged claim is taken to be dead.
const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum duration after which the owner of an unchanged claim is taken to be dead, when others took over several times.
const MAX_PATIENCE: Duration = Duration::from_secs(300);
/// Maximum number of chunks that are written under one claim.
const MAX_BATCH: u64 = 1024;
/// Maximum number of bytes of the chunks that are written under one claim, unless it is a single chunk.
const MAX_BATCH_SIZE: u64 = 256 << 20;

/// Writes `data` behind the end of an array along `axis` under a claim, and then publishes the larger shape.
pub(super) async fn append<D: Drive>(
    drive: &Held<'_, D>,
    core: &ArrayCore,
    axis: usize,
    data: View<'_>,
) -> Result<Arc<ArrayCore>> {
    let mut patience = PATIENCE;
    let mut conflicts = Conflicts::new(MAX_TRIES).patience(ALL_PATIENCE);
    loop {
        let newest = drive.run_alone(AwaitClaim::new(ReadNewest::new(&core.found), patience).job()).await;
        let newest = newest.map_err(|error| core.locate(error))?;
        // They were read by the path: in the directory that is held.
        drive.end(core, Ok(())).await?;
        match append_to(drive, core, newest, axis, data.clone()).await {
            Err(error) if error.kind() == ErrorKind::Conflict => match conflicts.again() {
                Some(pause) => {
                    patience = patience.saturating_mul(2).min(MAX_PATIENCE);
                    drive.run_alone(jobs::pause(pause)).await?;
                }
                None => return Err(given_up(error, &conflicts)),
            },
            done => return done.map(Arc::new),
        }
    }
}

/// Error of an append that lost to others again and again.
fn given_up(error: Error, conflicts: &Conflicts) -> Error {
    error.with_hint(format!("others came first {conflicts}: open the array again and repeat the change"))
}

/// Appends to an array as `documents` describe it. Returns [`ErrorKind::Conflict`] if the documents have changed.
async fn append_to<D: Drive>(
    drive: &D,
    core: &ArrayCore,
    documents: Newest,
    axis: usize,
    data: View<'_>,
) -> Result<ArrayCore> {
    check_same_chunks(&core.found, &documents.found).map_err(|error| core.locate(error))?;
    let newest = core.with_found(documents.found.clone())?;
    let appended = Appended::new(drive, &newest, axis, data).await?;
    let mut claim = None;
    match write_and_publish(drive, &newest, documents, appended, &mut claim).await {
        Ok(found) => newest.with_found(found),
        Err(error) => {
            if let Some(claim) = claim {
                // Should this fail as well, others wait for as long as if its owner were dead.
                drop(drive.run(&newest, DropClaim::new(claim).job()).await);
            }
            Err(error)
        }
    }
}

/// Writes the elements, and publishes the new shape. `claim` is set to the last claim, which is in the document until the new shape is
/// published.
async fn write_and_publish<D: Drive>(
    drive: &D,
    newest: &ArrayCore,
    documents: Newest,
    appended: Appended<'_>,
    claim: &mut Option<Claim>,
) -> Result<StoredNode> {
    let Appended { grown, region, data, metadata } = &appended;
    let edit = Edit::reshape(&newest.found, Node::Array(metadata.clone()));
    if let Some((region, count)) = region.as_ref().map(|region| (region, grown.grid.intersect(region).len())) {
        let key = edit.last_key(&documents)?.ok_or_else(|| Error::internal("an append changes no document"))?;
        let size = grown.codecs.decoded_size(&grown.grid.largest_chunk_shape());
        let batch = (MAX_BATCH_SIZE / size.max(1)).clamp(1, MAX_BATCH);
        let (mut start, mut conflicts) = (0, Conflicts::new(MAX_TRIES));
        while start < count {
            let numbers = start..count.min(start + batch);
            // Chunks beyond the shape are taken to be not there, until that turns out to be wrong.
            let is_asked = |index: &[u64]| conflicts.count() > 0 || newest.grid.check_index(index).is_ok();
            let states = drive.run(grown, read_states(grown, region, &numbers, is_asked)?).await?;
            let take = match claim.clone() {
                Some(own) => TakeClaim::further(own),
                None => TakeClaim::first(&documents, key.clone()),
            };
            *claim = Some(drive.run(newest, take.job()).await?);
            let states = ChunkStates::new(numbers.clone(), states);
            let how = (drive.capabilities(), &drive.access_profile());
            match drive.run(grown, WriteJob::on_states(grown, region, data.clone(), states, how)).await {
                Ok(()) => (start, conflicts) = (numbers.end, Conflicts::new(MAX_TRIES)),
                Err(error) if error.kind() == ErrorKind::Conflict => match conflicts.again() {
                    Some(pause) => drive.run_alone(jobs::pause(pause)).await?,
                    None => return Err(given_up(error, &conflicts)),
                },
                Err(error) => return Err(error),
            }
        }
    }
    super::barrier(drive, newest).await?;
    let replace = match claim.clone() {
        Some(claim) => ReplaceNode::claimed(&newest.found, edit, claim, drive.capabilities()),
        None => ReplaceNode::of_newest(documents, edit, drive.capabilities()),
    };
    drive.run(newest, super::consolidated_later(newest, replace).job()).await
}

/// Makes the job that reads the states of chunks. Chunks for which `is_asked` is false are assumed not to be stored.
fn read_states(
    core: &ArrayCore,
    region: &Region,
    numbers: &Range<u64>,
    is_asked: impl Fn(&[u64]) -> bool,
) -> Result<jobs::Job<Vec<Precondition>>> {
    let overlaps = core.grid.intersect(region);
    let mut cursor = overlaps.cursor_at(numbers.start);
    let mut keys = Vec::new();
    for _ in numbers.clone() {
        let overlap = cursor.overlap().ok_or_else(too_few_chunks)?;
        keys.push(is_asked(&overlap.index).then(|| core.key(&overlap.index)).transpose()?);
        cursor.advance();
    }
    Ok(Script::new(|io| async move {
        let get = |key: &Key| Request::get_ranges(key.clone(), vec![ByteRange::First(0)]);
        let mut fetched = io.get(keys.iter().flatten().map(get).collect()).await?.into_iter();
        let state = |key: Option<Key>| match key.and_then(|_| fetched.next()).flatten() {
            Some(fetched) => fetched.version.map_or(Precondition::None, Precondition::Version),
            None => Precondition::NotExists,
        };
        Ok(keys.into_iter().map(state).collect())
    }))
}
