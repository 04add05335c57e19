//! One get as several concurrent requests: one for each merged range, and for each part of a large range.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use zarr_store::{
    AccessProfile, AsyncStore, AsyncStoreExt, BoxFuture, ByteRange, Error, Fetched, GetOptions, Key, Precondition,
    Result, Snapshot, StoreKind, Version,
};

use super::future_set::all;
use super::permits::Permits;
use crate::get_plan::{GetPlan, Parts};
use crate::trace::Span;

/// Number of attempts to read a value that changes between two requests for its parts, before it is read by one request.
const ATTEMPTS: usize = 3;

/// Gets `ranges` of a value. Neighbouring ranges are merged according to the access profile of the store, and the reply is cut into
/// `ranges` again.
pub(super) async fn get(
    store: &dyn AsyncStore,
    permits: &Permits,
    key: &Key,
    ranges: &[ByteRange],
    options: &GetOptions,
) -> Result<Option<Fetched>> {
    let profile = store.access_profile();
    let plan = GetPlan::new(ranges, &profile);
    let asked = plan.as_ref().map_or(ranges, |plan| &plan.ranges);
    let of_value = OfValue { store, permits, key, options, profile: &profile };
    let mut attempts = 1;
    let fetched = loop {
        match of_value.ranges(asked).await {
            Err(error) if error.is_precondition() && options.if_match.is_none() && attempts < ATTEMPTS => attempts += 1,
            // The reply to a single request is of one version, even if the value is replaced again and again.
            Err(error) if error.is_precondition() && options.if_match.is_none() => {
                break of_value.single(asked, options).await;
            }
            fetched => break fetched,
        }
    };
    match plan {
        None => Fetched::checked(&store, key, fetched?, ranges.len(), options),
        Some(plan) => plan.cut(&store, key, fetched.map_err(|error| plan.blame(error, ranges))?, options),
    }
}

/// Context of the requests for one value.
#[derive(Clone, Copy)]
struct OfValue<'a> {
    store: &'a dyn AsyncStore,
    permits: &'a Permits,
    key: &'a Key,
    options: &'a GetOptions,
    profile: &'a AccessProfile,
}

impl OfValue<'_> {
    async fn ranges(&self, ranges: &[ByteRange]) -> Result<Option<Fetched>> {
        match ranges {
            // Concurrent requests are faster only on remote stores.
            _ if self.profile.kind != StoreKind::Remote => self.single(ranges, self.options).await,
            [] => self.single(ranges, self.options).await,
            // A single request checks whether the caller has this version of the value.
            [_, _, ..] if self.options.if_none_match.is_some() => self.single(ranges, self.options).await,
            [range] => self.one(range).await,
            ranges => self.several(ranges).await,
        }
    }

    /// Gets all `ranges` by one request.
    async fn single(&self, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        let _permit = Span::wait().during(self.permits.take()).await;
        let span = Span::get(&self.store, self.key, ranges);
        let fetched = span.during(self.store.get(self.key, ranges, options)).await?;
        span.got(fetched.as_ref());
        Fetched::checked(&self.store, self.key, fetched, ranges.len(), options)
    }

    /// Gets each of `ranges` by a concurrent request. Fails with a precondition error if the replies are of different versions of the
    /// value, and falls back to one request if the store has no versions.
    async fn several(&self, ranges: &[ByteRange]) -> Result<Option<Fetched>> {
        let this = *self;
        let gets = ranges.iter().map(|range| Box::pin(this.one(range)) as BoxFuture<'_, Result<Option<Fetched>>>);
        let replies = all(gets.collect::<Vec<_>>(), self.permits.count()).await?;
        let is_missing = replies.iter().any(Option::is_none);
        let mut replies = replies.into_iter().flatten();
        let Some(mut joined) = replies.next() else { return Ok(None) };
        if is_missing {
            return Err(self.changed(&joined, None));
        }
        for reply in replies {
            // If a version is required, each reply is of this version.
            if self.options.if_match.is_none() && !is_same_state(&joined, &reply) {
                // If the store has no versions, only the reply to a single get is known to be of one version.
                let says = joined.version.is_some() || joined.snapshot.is_some();
                return if says {
                    Err(self.changed(&joined, reply.version))
                } else {
                    self.single(ranges, self.options).await
                };
            }
            joined.push(reply.to_bytes(0));
            joined.size = joined.size.or(reply.size);
        }
        Ok(Some(joined))
    }

    /// Gets one range, in parts if it is large.
    async fn one(&self, range: &ByteRange) -> Result<Option<Fetched>> {
        let Some(Parts { bounds, part }) = Parts::of(range, self.options, self.profile) else {
            return self.single(std::slice::from_ref(range), self.options).await;
        };
        self.in_parts(range, bounds, part).await
    }

    /// Gets a large range in parts of `part` bytes. The reply to the first part has the version of the value that the requests for all
    /// further parts require.
    async fn in_parts(&self, range: &ByteRange, bounds: Range<u64>, part: u64) -> Result<Option<Fetched>> {
        let whole = || self.single(std::slice::from_ref(range), self.options);
        let first_range = match range {
            ByteRange::Range(_) => ByteRange::Range(bounds.start..bounds.start + part),
            _ => ByteRange::First(part),
        };
        let mut options = self.options.clone();
        options.snapshot = true;
        let first = self.single(&[first_range], &options).await.map_err(|error| match error {
            Error::Range { store, key, size, .. } => Error::Range { store, key, range: range.clone(), size },
            error => error,
        })?;
        let Some(first) = first else { return Ok(None) };
        if first.is_unchanged() {
            return Ok(Some(first));
        }
        let begun = first.part(0).len() as u64;
        let end = match (range, first.size) {
            (ByteRange::Range(_), Some(size)) if size < bounds.end => {
                let (store, key) = (self.store.to_string(), self.key.clone());
                return Err(Error::Range { store, key, range: range.clone(), size });
            }
            (ByteRange::Range(_), _) => bounds.end,
            (_, Some(size)) => size.min(bounds.end),
            // All of the value has come.
            (_, None) if begun < part => begun,
            (_, None) => return whole().await,
        };
        let rest = bounds.start + begun..end;
        if rest.is_empty() {
            return Ok(Some(first));
        }
        let snapshot = first.snapshot.clone().or_else(|| first.version.clone().map(Snapshot::of_version));
        // If the store has no versions, only the reply to a single get is known to be of one version.
        let Some(snapshot) = snapshot else { return whole().await };
        let too_large = || Error::Memory { size: end - bounds.start };
        let total = usize::try_from(end - bounds.start).map_err(|_| too_large())?;
        // Each part is copied when it comes, so that the parts and the whole are not in memory at once.
        let joined = Mutex::new(zeroed(total).ok_or_else(too_large)?);
        copy_to(&joined, 0, first.part(0));
        let mut same = self.options.clone();
        (same.if_match, same.if_none_match) = (Some(snapshot), None);
        let (this, same) = (*self, &same);
        let joined_parts = &joined;
        let gets = (0..(rest.end - rest.start).div_ceil(part)).map(|number| {
            let start = rest.start + number * part;
            let range = start..start.saturating_add(part).min(rest.end);
            let len = range.end - range.start;
            Box::pin(async move {
                let Some(fetched) = this.single(&[ByteRange::Range(range)], same).await? else { return Ok(None) };
                let bytes = fetched.part(0);
                if bytes.len() as u64 != len {
                    let found = format!("{} bytes of a part", bytes.len());
                    return Err(Error::contract(&this.store, this.key, found, format!("{len}")));
                }
                copy_to(joined_parts, start - bounds.start, bytes);
                Ok(Some(()))
            }) as BoxFuture<'_, Result<Option<()>>>
        });
        let parts = all(gets.collect::<Vec<_>>(), self.permits.parts(part)).await?;
        // The value was erased between two requests.
        if parts.iter().any(Option::is_none) {
            return Err(self.changed(&first, None));
        }
        let bytes = joined.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Some(first.with_piece(bytes.into())))
    }

    /// Returns the error for a value that changed between two requests.
    fn changed(&self, first: &Fetched, found: Option<Version>) -> Error {
        let expected = first.version.clone().map_or(Precondition::None, Precondition::Version);
        Error::Precondition { store: self.store.to_string(), key: self.key.clone(), expected, found }
    }
}

/// Allocates `len` zeros, whose memory is not committed before it is written; `None` if the memory is not available.
fn zeroed(len: usize) -> Option<Vec<u8>> {
    // `vec!` aborts if the allocation fails, hence the attempt before.
    Vec::<u8>::new().try_reserve_exact(len).ok()?;
    Some(vec![0; len])
}

/// Copies `bytes`, a part of the range, to the offset `at` in `joined`.
fn copy_to(joined: &Mutex<Vec<u8>>, at: u64, bytes: &[u8]) {
    let mut joined = joined.lock().unwrap_or_else(PoisonError::into_inner);
    let place = usize::try_from(at).ok().and_then(|at| joined.get_mut(at..)?.get_mut(..bytes.len()));
    place.into_iter().for_each(|place| place.copy_from_slice(bytes));
}

/// Returns whether two replies are known to be of the same version of the value.
fn is_same_state(a: &Fetched, b: &Fetched) -> bool {
    match (&a.version, &b.version) {
        (Some(a), Some(b)) => a == b,
        _ => a.snapshot.is_some() && a.snapshot == b.snapshot,
    }
}
