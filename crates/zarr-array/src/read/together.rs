//! Inner chunks of one shard that are read together: one request, and nothing kept for each of them.

use super::{ReadContext, Shard, Source, Spread};
use crate::{Error, ErrorKind, Result};
use std::sync::Arc;
use zarr_codec::Tiles;
use zarr_grid::Cuts;
use zarr_store::{ByteRange, Reply, Request};

/// Inner chunks that are each decoded from all of their bytes, after these have been asked for.
#[derive(Debug)]
pub(crate) struct Together<'a> {
    context: &'a ReadContext<'a>,
    cuts: Arc<Cuts>,
    tiles: Tiles<'a>,
    shard: Arc<Shard>,
}

/// So many encoded bytes are asked for at once, unless a single inner chunk has more. Only the decoded bytes of a group are
/// bounded by its making, and an index may say anything of the encoded ones.
const MAX_ASKED: u64 = 64 << 20;

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
        let mut ranges = Vec::with_capacity(spread.tiles.len());
        let mut asked = 0u64;
        let mut cursor = spread.cuts.cursor_at(spread.tiles.position() as u64);
        for place in 0..spread.tiles.len() {
            let Some(cell) = cursor.cell() else { break };
            if shard.codecs.partial(&cell.shape, &cell.region, &spread.context.access).is_some() {
                return Ok(Begun::Apart(spread));
            }
            if let Some(range) = shard.find(&cell.index).map_err(|error| shard.place(error))? {
                asked = asked.saturating_add(range.end - range.start);
                if asked > MAX_ASKED && !ranges.is_empty() {
                    return Ok(Begun::Parts(spread.split_at(place)));
                }
                ranges.push(ByteRange::Range(range));
            }
            cursor.advance();
        }
        let request = (!ranges.is_empty()).then(|| Request::Get { key: shard.key.clone(), ranges });
        let Spread { context, cuts, tiles, .. } = spread;
        Ok(Begun::Together(Self { context, cuts, tiles, shard }, request))
    }

    /// Decodes what came. Without a reply, nothing was asked for: no inner chunk is stored.
    pub(super) fn finish(self, replies: &[Reply]) -> Result<()> {
        let Self { context, cuts, tiles, shard } = self;
        let fetched = match replies.first() {
            None => None,
            Some(Reply::Got(Some(fetched))) => Some(fetched),
            Some(_) => {
                let error = Error::new(ErrorKind::CorruptChunk, "the shard is gone since its index was read");
                return Err(shard.place(error));
            }
        };
        let mut parts = fetched.into_iter().flat_map(|fetched| fetched.parts());
        let mut cursor = cuts.cursor_at(tiles.position() as u64);
        for mut out in tiles {
            let Some(cell) = cursor.cell() else { break };
            match shard.index.range(&cell.index)? {
                None => context.fill(&mut out)?,
                Some(_) => {
                    let bytes = parts.next().unwrap_or_default();
                    let decoded = shard.codecs.decode(bytes, &cell.shape, &cell.region, &mut out);
                    decoded.map_err(|error| shard.place(error.into()))?;
                }
            }
            cursor.advance();
        }
        Ok(())
    }
}
