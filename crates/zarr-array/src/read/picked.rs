//! Regions that each lie in one inner chunk, such as those of a selection of points: of all that lie in one shard its
//! index is read once, and inner chunks are fetched together.

use super::cached::{Lookup, State};
use super::leaf::{Item, Leaf};
use super::requests::{Requests, groups};
use super::{ReadContext, ReadJob, Source, Spread, splits};
use crate::cache::{Content, Known, Place};
use crate::{Error, Result, jobs};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use zarr_codec::{Split, Step, ViewMut};
use zarr_grid::{Cell, ChunkIndex, Region};
use zarr_store::{Fetched, Next, Reply, Snapshot};

/// A region, and where it goes.
type Pick<'a> = (Region, ViewMut<'a>);

/// Picks of one shard.
#[derive(Debug)]
pub(crate) struct Picked<'a> {
    context: &'a ReadContext<'a>,
    source: Source,
    /// The shard, and the region of it that `first` is for.
    cell: Cell,
    first: Begun<'a>,
    /// Further regions of the shard.
    others: Vec<Pick<'a>>,
    /// Where its index is to be kept, and the stamp that it had before it was asked for.
    place: Option<(Place, u64)>,
}

#[derive(Debug)]
enum Begun<'a> {
    No(ViewMut<'a>),
    Yes(Box<Item<'a>>),
}

/// Picks that lie in the same cell, by the cells in the order in which they come.
#[derive(Default)]
struct Groups<'a> {
    groups: Vec<(Cell, ViewMut<'a>, Vec<Pick<'a>>)>,
    places: HashMap<ChunkIndex, usize>,
}

impl<'a> Groups<'a> {
    fn add(&mut self, cell: Cell, out: ViewMut<'a>) {
        let place = *self.places.entry(cell.index.clone()).or_insert(self.groups.len());
        match self.groups.get_mut(place) {
            Some((.., others)) => others.push((cell.region, out)),
            None => self.groups.push((cell, out, Vec::new())),
        }
    }

    fn into_jobs(self, context: &'a ReadContext<'a>, source: &Source) -> impl Iterator<Item = ReadJob<'a>> {
        self.groups.into_iter().map(move |(cell, first, others)| {
            let first = Begun::No(first);
            ReadJob::Picked(Box::new(Picked { context, source: source.clone(), cell, first, others, place: None }))
        })
    }
}

impl<'a> ReadJob<'a> {
    /// Reads regions, each into its own output.
    pub(crate) fn picks(context: &'a ReadContext<'a>, picks: Vec<Pick<'a>>) -> Result<Self> {
        let core = context.core;
        let mut jobs = Vec::new();
        let mut groups = Groups::default();
        // As long as it is not known where chunks lie, each is looked for by itself.
        let together = splits(&core.codecs, &core.grid.largest_chunk_shape()) && !core.place_unknown();
        for (region, out) in picks {
            let cuts = core.grid.meet(&region);
            if together && cuts.len() == 1 {
                groups.add(cuts.cell(0), out);
            } else {
                jobs.push(Self::new(context, &region, out)?);
            }
        }
        jobs.extend(groups.into_jobs(context, &Source::Chunks));
        Ok(Self::Many(jobs))
    }
}

impl<'a> Picked<'a> {
    pub(super) fn step(mut self: Box<Self>, replies: &[Reply], job: &mut ReadJob<'a>) -> Result<Next<ReadJob<'a>>> {
        let mut requests = Requests::default();
        let nothing = Begun::No(ViewMut::new(&mut [], 1, &[0])?);
        let jobs = match std::mem::replace(&mut self.first, nothing) {
            Begun::No(out) => self.begin(out, &mut requests)?,
            Begun::Yes(mut item) => {
                let fetched = match replies.first() {
                    Some(Reply::Got(fetched)) => fetched.as_ref(),
                    Some(Reply::Conflict) => {
                        self.context.replaced(&item.chunk);
                        return Ok(Next::Done(()));
                    }
                    _ => return Err(item.place(jobs::unfit())),
                };
                let parts = item.pending.take().map_or(0..0, |(_, parts)| parts);
                self.take(*item, fetched, parts, &mut requests)?
            }
        };
        if requests.is_empty() {
            return job.fork(jobs);
        }
        *job = ReadJob::Picked(self);
        Ok(Next::Ask(requests.into_vec()))
    }

    /// Goes on at once if the index is kept; asks for it if not.
    fn begin(&mut self, out: ViewMut<'a>, requests: &mut Requests) -> Result<Vec<ReadJob<'a>>> {
        let Some(mut item) = self.source.item(self.context, &self.cell, out)? else {
            self.others.iter_mut().try_for_each(|(_, out)| self.context.fill(out))?;
            return Ok(Vec::new());
        };
        let cached = self.context.cached.as_ref();
        self.place = cached.map(|cached| cached.place(&self.source, &self.cell));
        let kept = cached.and_then(|cached| cached.shard(&self.source, &self.cell));
        let mut decode = item.codecs.partial(&item.shape, &item.region, &self.context.access);
        if let Some(known) = kept
            && let Content::Shard(shard) = &known.content
            && let Some(split) = decode.as_ref().and_then(|decode| decode.split_by(&shard.index))
        {
            item.snapshot = item.snapshot.or_else(|| known.version.clone().map(Snapshot::of_version));
            return self.go_on(item, split, Some(&known));
        }
        let step = decode.as_mut().map(|decode| decode.step(&[], &mut item.out)).transpose()?;
        item.decode = decode;
        match step {
            Some(Step::Need(ranges)) => item.ask(&ranges, requests)?,
            _ => return Err(item.place(Error::internal("a shard is split before its index is read"))),
        }
        self.first = Begun::Yes(Box::new(item));
        Ok(Vec::new())
    }

    fn take(
        &mut self,
        mut item: Item<'a>,
        fetched: Option<&Fetched>,
        parts: Range<usize>,
        requests: &mut Requests,
    ) -> Result<Vec<ReadJob<'a>>> {
        let Some(fetched) = fetched else {
            if item.is_begun() {
                self.context.replaced(&item.chunk);
                return Ok(Vec::new());
            }
            item.not_stored(self.context)?;
            self.others.iter_mut().try_for_each(|(_, out)| self.context.fill(out))?;
            return Ok(Vec::new());
        };
        item.note_state(fetched);
        let got: smallvec::SmallVec<[&[u8]; 4]> = parts.map(|part| fetched.part(part)).collect();
        let step = item.decode.as_mut().map(|decode| decode.step(&got, &mut item.out)).transpose();
        match step.map_err(|error| item.place(error.into()))? {
            Some(Step::Split(split)) => {
                let cached = self.context.cached.as_ref().zip(self.place.take());
                let known = cached.map(|(cached, place)| cached.keep_shard(place, &split, fetched));
                self.go_on(item, *split, known.as_deref())
            }
            Some(Step::Need(ranges)) => {
                item.ask(&ranges, requests)?;
                self.first = Begun::Yes(Box::new(item));
                Ok(Vec::new())
            }
            Some(Step::Done) | None => Err(item.place(Error::internal("a shard is read without its index"))),
        }
    }

    /// The inner chunks that the picks lie in.
    fn go_on(&mut self, mut item: Item<'a>, split: Split, known: Option<&Known>) -> Result<Vec<ReadJob<'a>>> {
        let context = self.context;
        let index = Arc::clone(&split.index);
        let (codecs, shape) = (Arc::clone(&item.codecs), item.shape.clone());
        let nests = split.cuts.cursor().cell().is_some_and(|cell| splits(&split.codecs, &cell.shape));
        let state = known.and_then(|known| State::of(known, &split));
        let size = known.and_then(Known::size);
        let Spread { cuts, tiles, source, cell_size, .. } = item.spread(split, size, state, context)?;
        let mut inner = vec![(cuts, tiles)];
        for (region, out) in std::mem::take(&mut self.others) {
            let split = codecs.partial(&shape, &region, &context.access).and_then(|decode| decode.split_by(&index));
            let split = split.ok_or_else(|| item.place(Error::internal("an index is not of the shard's grid")))?;
            inner.push((Arc::new(split.cuts.clone()), split.tile(out)?));
        }
        let mut jobs = Vec::new();
        let mut shards = Groups::default();
        let mut items = Vec::new();
        let mut lookup = Lookup::new(context, &source, cell_size, &mut jobs);
        for (cuts, tiles) in inner {
            for (cell, out) in cuts.iter().zip(tiles) {
                match &mut lookup {
                    _ if nests => shards.add(cell, out),
                    Some(lookup) => lookup.cell(&cell, out)?,
                    None => items.extend(source.item(context, &cell, out)?),
                }
            }
        }
        let most = context.group_len(cell_size);
        if let Some(lookup) = lookup {
            lookup.finish(most);
        }
        let cells = groups(items, most, |item| item.window.as_ref());
        jobs.extend(cells.into_iter().map(|items| ReadJob::Cells(Leaf::new(context, items))));
        jobs.extend(shards.into_jobs(context, &source));
        Ok(jobs)
    }
}
