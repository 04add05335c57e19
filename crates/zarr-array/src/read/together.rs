//! Inner chunks of one shard that are read together: one request, and nothing kept for each of them.

use super::requests::Asked;
use super::{ReadContext, Shard, Source, Spread, too_few_cells};
use crate::{Result, jobs};
use std::ops::Range;
use std::sync::Arc;
use zarr_codec::{Pipeline, Tiles};
use zarr_grid::{Cell, Cuts};
use zarr_store::{ByteRange, GetOptions, Reply, Request};

/// Inner chunks that are each decoded from all of their bytes, after these have been asked for.
#[derive(Debug)]
pub(crate) struct Together<'a> {
    context: &'a ReadContext<'a>,
    cuts: Arc<Cuts>,
    tiles: Tiles<'a>,
    shard: Arc<Shard>,
    /// Where the bytes of each are; `None` if it is not stored.
    stored: Vec<Option<Stored>>,
}

/// Where the bytes of an inner chunk are among those asked for.
#[derive(Clone, Copy, Debug)]
struct Stored {
    /// How many there are.
    len: u64,
    /// At the beginning of a further piece; else behind those of the one before.
    begins: bool,
}

/// Ranges that follow each other are one up to this size. The driver merges what else it likes to.
const MAX_RANGE: u64 = 1 << 20;

/// Cells, and how they are to be read.
pub(super) enum Begun<'a> {
    Together(Together<'a>, Option<Request>),
    /// Too many encoded bytes for one request: each part is to be begun on its own.
    Parts([Spread<'a>; 2]),
    /// Not inner chunks, or some can do with less than all of their bytes.
    Apart(Spread<'a>),
}

impl<'a> Together<'a> {
    pub(super) fn begin(spread: Spread<'a>) -> Result<Begun<'a>> {
        let Source::Shard(shard) = &spread.source else { return Ok(Begun::Apart(spread)) };
        let shard = Arc::clone(shard);
        let mut stored = Vec::with_capacity(spread.tiles.len());
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let mut asked = Asked::default();
        let mut cursor = spread.cuts.cursor_at(spread.tiles.position() as u64);
        let mut known = false;
        while let (Some(cell), true) = (cursor.cell(), stored.len() < spread.tiles.len()) {
            let whole = cell.region.is_whole(&cell.shape);
            // Nearly all are whole inner chunks, and all of these are alike.
            if !(whole && known) && shard.codecs.partial(&cell.shape, &cell.region, &spread.context.access).is_some() {
                return Ok(Begun::Apart(spread));
            }
            known |= whole;
            let count = if whole { whole_row(&spread.cuts, cursor.number()) } else { 1 };
            let count = count.min((spread.tiles.len() - stored.len()) as u64);
            let mut index = cell.index.clone();
            for _ in 0..count {
                let found = shard.find(&index).map_err(|error| shard.place(error))?;
                if !asked.add(found.as_ref()) {
                    let place = stored.len();
                    return Ok(Begun::Parts(spread.split_at(place)));
                }
                stored.push(found.map(|range| join(&mut ranges, range)));
                index.last_mut().into_iter().for_each(|last| *last += 1);
            }
            cursor.seek(cursor.number() + count);
        }
        let ranges: Vec<ByteRange> = ranges.into_iter().map(ByteRange::Range).collect();
        let request = (!ranges.is_empty()).then(|| Request::Get {
            key: shard.key.clone(),
            ranges,
            options: GetOptions::if_match(shard.snapshot.clone()),
        });
        let Spread { context, cuts, tiles, .. } = spread;
        Ok(Begun::Together(Self { context, cuts, tiles, shard, stored }, request))
    }

    /// Decodes what came. Without a reply, nothing was asked for: no inner chunk is stored.
    pub(super) fn finish(self, replies: &[Reply]) -> Result<()> {
        let Self { context, cuts, mut tiles, shard, stored } = self;
        let fetched = match replies.first() {
            None => None,
            Some(Reply::Got(Some(fetched))) => Some(fetched),
            Some(Reply::Got(None) | Reply::Conflict) => {
                context.replaced(&shard.chunk);
                return Ok(());
            }
            _ => return Err(shard.place(jobs::unfit())),
        };
        let mut pieces = fetched.into_iter().flat_map(|fetched| fetched.parts());
        let mut piece: &[u8] = &[];
        let mut cursor = cuts.cursor_at(tiles.position() as u64);
        let mut places = stored.iter();
        while let Some(place) = places.next() {
            let cell = cursor.cell().ok_or_else(too_few_cells)?;
            let Some(place) = place else {
                context.fill(&mut tiles.next().ok_or_else(too_few_cells)?)?;
                cursor.advance();
                continue;
            };
            if place.begins {
                piece = pieces.next().ok_or_else(|| shard.place(jobs::unfit()))?;
            }
            let left = cuts.axes().last().map_or(1, |axis| axis.len() - cursor.number() % axis.len().max(1));
            let count = alike(&shard.codecs, cell, place, places.as_slice(), left);
            let row = if count > 1 { tiles.next_row(count) } else { tiles.next() };
            let mut out = row.ok_or_else(too_few_cells)?;
            let len = usize::try_from(place.len).unwrap_or(usize::MAX);
            let (count, decoded) = if count > 1 {
                let count = out.shape().first().copied().unwrap_or(1);
                let bytes = take(&mut piece, len.saturating_mul(count)).map_err(|error| shard.place(error))?;
                (count, shard.codecs.decode_all(bytes, &mut out))
            } else {
                let bytes = take(&mut piece, len).map_err(|error| shard.place(error))?;
                (1, shard.codecs.decode(bytes, &cell.shape, &cell.region, &mut out))
            };
            decoded.map_err(|error| shard.place(error.into()))?;
            cursor.seek(cursor.number() + count as u64);
            if count > 1 {
                places.nth(count - 2);
            }
        }
        Ok(())
    }
}

/// How many inner chunks from number `number` on, a whole one, are whole in its row of the grid.
fn whole_row(cuts: &Cuts, number: u64) -> u64 {
    cuts.axes().last().map_or(1, |axis| axis.whole_from(number % axis.len().max(1)).max(1))
}

/// Adds a range to those asked for, or to the last of them.
fn join(ranges: &mut Vec<Range<u64>>, range: Range<u64>) -> Stored {
    let len = range.end - range.start;
    match ranges.last_mut() {
        Some(last) if last.end == range.start && range.end - last.start <= MAX_RANGE => {
            last.end = range.end;
            Stored { len, begins: false }
        }
        _ => {
            ranges.push(range);
            Stored { len, begins: true }
        }
    }
}

/// How many inner chunks from `cell` on, of `left` in its row of the grid, are elements only, one behind the other: these are
/// decoded together.
fn alike(codecs: &Pipeline, cell: &Cell, place: &Stored, next: &[Option<Stored>], left: u64) -> usize {
    if !codecs.is_items() || !cell.region.is_whole(&cell.shape) {
        return 1;
    }
    if codecs.encoded_size(&cell.shape).exact() != Some(place.len) {
        return 1;
    }
    let follows = |next: &&Option<Stored>| next.is_some_and(|next| next.len == place.len && !next.begins);
    let most = usize::try_from(left).unwrap_or(usize::MAX).saturating_sub(1);
    1 + next.iter().take(most).take_while(follows).count()
}

/// The first `len` bytes of what is left.
fn take<'b>(left: &mut &'b [u8], len: usize) -> Result<&'b [u8]> {
    let (taken, rest) = left.split_at_checked(len).ok_or_else(jobs::unfit)?;
    *left = rest;
    Ok(taken)
}
