//! Gets of values that lie near each other in one file, and are joined to one call of the store.

use std::ops::Range;

use zarr_store::{
    AccessProfile, Error, Fetched, GotMany, Key, Location, Reply, Request, Result, Store, StoreExt, ValueGet,
};

use crate::coalesce::coalesce;
use crate::replies::{check_replies, conflict};
use crate::trace::Span;

/// Gets that one call of the store answers: several gets of parts of one file, sorted by offset, or a single get.
pub(crate) struct Run<T> {
    pub(crate) gets: Vec<T>,
    /// Number of bytes from the begin of the first part to the end of the last part, including gaps; 0 for a get without a location.
    pub(crate) size: u64,
    /// Sum of the numbers of bytes of the parts, without gaps; 0 for a get without a location.
    pub(crate) asked: u64,
}

impl<T> Run<T> {
    /// Creates a run of a single get, whose place in a file is unknown, so that it is joined with no other.
    pub(crate) fn alone(get: T) -> Self {
        Self { gets: vec![get], size: 0, asked: 0 }
    }

    /// Converts each get of the run by `map`.
    pub(crate) fn map<R>(self, map: impl FnMut(T) -> R) -> Run<R> {
        Run { gets: self.gets.into_iter().map(map).collect(), size: self.size, asked: self.asked }
    }
}

/// Returns the part of a file that `request` reads; `None` if the request cannot be joined with others: it is no get, has no location, or
/// its ranges do not merge into one.
pub(crate) fn part(
    request: &Request,
    profile: &AccessProfile,
    location: impl Fn(&Key) -> Option<Location>,
) -> Option<Location> {
    let Request::Get { key, ranges, options } = request else { return None };
    // The reply to a get of a known version may have no bytes.
    if ranges.is_empty() || options.if_none_match.is_some() || profile.max_size == 0 {
        return None;
    }
    let Location { file, range: whole } = location(key)?;
    let within = |range: Range<u64>| whole.start + range.start..whole.start + range.end;
    let size = whole.end.checked_sub(whole.start)?;
    let asked = match &ranges[..] {
        [range] => within(range.resolve(size)?),
        ranges => {
            let parts: Option<Vec<_>> = ranges.iter().map(|range| range.resolve(size).map(within)).collect();
            match &coalesce(&parts?, profile).ranges[..] {
                [all] => all.clone(),
                _ => return None,
            }
        }
    };
    Some(Location::new(file, asked))
}

/// Groups parts of files into runs of neighbouring parts, according to the gaps and sizes that `profile` allows.
pub(crate) fn runs<T>(mut parts: Vec<(Location, T)>, profile: &AccessProfile) -> Vec<Run<T>> {
    parts.sort_by_key(|(location, _)| (location.file, location.range.start, location.range.end));
    let mut runs: Vec<Run<T>> = Vec::new();
    let mut last: Option<Location> = None;
    for (Location { file, range }, get) in parts {
        let size = range.end - range.start;
        match (&mut last, runs.last_mut()) {
            (Some(last), Some(run)) if last.file == file && profile.joins(&last.range, &range) => {
                last.range.end = last.range.end.max(range.end);
                run.size = last.range.end - last.range.start;
                run.asked = run.asked.saturating_add(size);
                run.gets.push(get);
            }
            _ => {
                runs.push(Run { gets: vec![get], size, asked: size });
                last = Some(Location { file, range });
            }
        }
    }
    runs
}

/// Returns the gets among `requests`.
pub(crate) fn value_gets<'r>(requests: impl IntoIterator<Item = &'r Request>) -> Vec<ValueGet<'r>> {
    let get = |request: &'r Request| match request {
        Request::Get { key, ranges, options } => Some(ValueGet::new(key, ranges, options)),
        _ => None,
    };
    requests.into_iter().filter_map(get).collect()
}

/// Converts the result of [`Store::get_many`] for `requests` to replies. Fails with the error of the first get that failed.
pub(crate) fn replies<'r>(
    store: &dyn std::fmt::Display,
    requests: impl ExactSizeIterator<Item = &'r Request>,
    got: GotMany,
) -> Result<Vec<Reply>> {
    check_replies(got.len(), requests.len())?;
    let reply = |(request, got): (&Request, Result<Option<Fetched>>)| match request {
        Request::Get { key, ranges, options } => {
            let checked = got.and_then(|got| Fetched::checked(store, key, got, ranges.len(), options));
            checked.map(Reply::Got).or_else(conflict)
        }
        _ => Err(Error::OTHER_REPLY),
    };
    requests.zip(got).map(reply).collect()
}

/// Answers those gets among `requests` that can be joined with others. Returns the replies, with `None` for requests that must be answered
/// singly; an empty list if the store has no locations.
pub(crate) fn answers(store: &dyn Store, requests: &[Request]) -> Result<Vec<Option<Reply>>> {
    if requests.len() < 2 || !store.capabilities().locates {
        return Ok(Vec::new());
    }
    let profile = store.access_profile();
    let parts = requests
        .iter()
        .enumerate()
        .filter_map(|(number, request)| Some((part(request, &profile, |key| store.location(key))?, (number, request))));
    let mut answered: Vec<Option<Reply>> = requests.iter().map(|_| None).collect();
    for run in runs(parts.collect(), &profile) {
        if run.gets.len() < 2 {
            continue;
        }
        let requests = || run.gets.iter().map(|(_, request)| *request);
        let gets = value_gets(requests());
        let span = Span::gets(&store, &gets);
        let got = span.within(|| store.get_many(gets))?;
        let replies = replies(&store, requests(), got)?;
        span.replied_all(&replies);
        for ((number, _), reply) in run.gets.iter().zip(replies) {
            if let Some(slot) = answered.get_mut(*number) {
                *slot = Some(reply);
            }
        }
    }
    Ok(answered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use zarr_store::{ByteRange, GetOptions, Version};

    fn places(runs: &[Run<(u64, Range<u64>)>]) -> Vec<Vec<(u64, Range<u64>)>> {
        runs.iter().map(|run| run.gets.clone()).collect()
    }

    proptest! {
        #[test]
        fn each_part_is_in_one_run_that_is_as_small_as_the_profile_says(
            parts in prop::collection::vec((0_u64..3, 0_u64..300, 0_u64..40), 0..40),
            max_gap in 0_u64..20,
            max_size in 1_u64..200,
        ) {
            let profile = AccessProfile::REMOTE.merging(max_gap, max_size);
            let parts: Vec<_> = parts.into_iter().map(|(file, start, len)| (file, start..start + len)).collect();
            let located = parts.iter().map(|(file, range)| (Location::new(*file, range.clone()), (*file, range.clone())));
            let runs = runs(located.collect(), &profile);
            let mut found: Vec<_> = runs.iter().flat_map(|run| run.gets.clone()).collect();
            let mut expected = parts;
            let order = |(file, range): &(u64, Range<u64>)| (*file, range.start, range.end);
            found.sort_by_key(order);
            expected.sort_by_key(order);
            prop_assert_eq!(found, expected);
            for run in &runs {
                let (file, first) = &run.gets[0];
                let end = run.gets.iter().map(|(_, range)| range.end).max().unwrap_or(0);
                prop_assert!(run.gets.iter().all(|(of, _)| of == file));
                prop_assert_eq!(run.size, end - first.start);
                prop_assert!(run.gets.len() == 1 || run.size <= max_size || run.gets.iter().all(|(_, range)| range.end <= first.end));
                prop_assert_eq!(run.asked, run.gets.iter().map(|(_, range)| range.end - range.start).sum::<u64>());
            }
            // What one range of the file would be is one run.
            for file in 0..3 {
                let ranges: Vec<_> =
                    runs.iter().flat_map(|run| &run.gets).filter(|(of, _)| *of == file).map(|(_, range)| range.clone()).collect();
                let of_file = runs.iter().filter(|run| run.gets[0].0 == file).count();
                prop_assert_eq!(of_file, coalesce(&ranges, &profile).ranges.len(), "{:?}", places(&runs));
            }
        }
    }

    #[test]
    fn gets_of_one_range_of_a_file_are_parts() {
        let key = Key::new("a").expect("a key");
        let profile = AccessProfile::REMOTE.merging(4, 100);
        let of = |ranges: &[ByteRange], options: GetOptions| {
            let request = Request::Get { key: key.clone(), ranges: ranges.to_vec(), options };
            part(&request, &profile, |_| Some(Location::new(7, 100..150))).map(|part| part.range)
        };
        let newest = GetOptions::default;
        assert_eq!(of(&[ByteRange::Full], newest()), Some(100..150));
        assert_eq!(of(&[ByteRange::Suffix(8)], GetOptions::snapshot()), Some(142..150));
        assert_eq!(of(&[ByteRange::Range(3..5), ByteRange::Range(9..12)], newest()), Some(103..112));
        assert_eq!(of(&[ByteRange::Range(3..5), ByteRange::Range(10..12)], newest()), None);
        assert_eq!(of(&[ByteRange::Range(3..51)], newest()), None);
        assert_eq!(of(&[], newest()), None);
        assert_eq!(of(&[ByteRange::Full], GetOptions::if_none_match(Version::new("1"))), None);
        let request = Request::get(key.clone());
        assert_eq!(part(&request, &AccessProfile::MEMORY, |_| Some(Location::new(7, 100..150))), None);
        assert_eq!(part(&Request::Size { key: key.clone() }, &profile, |_| Some(Location::new(7, 100..150))), None);
    }
}
