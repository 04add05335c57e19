//! Pairs of concurrent verbs of the command, each in its own process, some of which are killed or stopped for a while.
//!
//! A round begins with a store in a known state. A model judges its end: the changes of a verb that succeeded must be present, as if the
//! two verbs had run one after the other, or the other verb must have removed them. The changes of a verb that failed must be present,
//! absent, or recognised as unfinished.

mod judge;
mod model;
mod place;
mod promise;
mod round;
mod verb;

use super::{Result, Scale, Tally, folder_in_memory};
use crate::Random;
use round::Rounds;
use std::time::{SystemTime, UNIX_EPOCH};
use verb::{Verb, World};

pub(super) use place::Place;
pub use promise::verbs_beside_each_other;

/// Number of elements that are appended: two chunks.
const MORE: usize = 8;

/// Numbers of rounds of the short and the long form; the long form runs each pair several times, with arrays and with groups.
const ROUNDS: (u64, u64) = (10, 3_060);

/// Least share of rounds, in percent, in which the verbs must run at the same time.
const OVERLAPPING: u64 = 25;

/// Returns all pairs of verbs, including pairs of a verb with itself.
fn pairs() -> Vec<[Verb; 2]> {
    let all = Verb::ALL.map(|(_, verb)| verb);
    let with = |(index, &first): (usize, &Verb)| {
        all.iter().skip(index).map(move |&second| [first, second]).collect::<Vec<_>>()
    };
    all.iter().enumerate().flat_map(with).collect()
}

/// Runs pairs of verbs that are chosen by a seed.
pub(super) fn check(place: Place, scale: Scale) -> Result<Tally> {
    let folder = folder_in_memory()?;
    let mut tally = Tally::default();
    let mut rounds = Rounds::new(place, folder.path())?;
    let now =
        || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64 % 1_000_000_000);
    let first = scale.seed.unwrap_or_else(now);
    let count = scale.rounds.unwrap_or_else(|| scale.of(if place == Place::Bucket { 4 } else { ROUNDS.0 }, ROUNDS.1));
    let only = std::env::var("ZARR_PAIR").ok();
    let pairs: Vec<_> = pairs()
        .into_iter()
        .filter(|[a, b]| {
            only.as_ref().is_none_or(|only| format!(" {} | {} ", a.name(), b.name()).contains(only.as_str()))
        })
        .collect();
    let mut overlaps = 0;
    for seed in first..first.saturating_add(count) {
        let mut random = Random::new(seed);
        // Each pair in turn: the step and the number of pairs have no common divisor.
        let pair = pairs[(seed.wrapping_mul(61) % pairs.len() as u64) as usize];
        let world = *random.pick(&[World::Array, World::Group]).unwrap_or(&World::Array);
        overlaps += u64::from(rounds.run(seed, pair, world, &mut random, &mut tally)?);
    }
    tally.done("rounds", count);
    tally.done("overlaps", overlaps);
    if overlaps * 100 < count * OVERLAPPING {
        tally.fault("rounds without an overlap", || format!("{} of {count}, from seed {first}", count - overlaps));
    }
    Ok(tally)
}
