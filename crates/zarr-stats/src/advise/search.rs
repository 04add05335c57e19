//! Shapes of chunks and shards that are worth counting.

use super::storage::{Storage, threads};
use crate::sample::Measured;
use zarr_grid::total_size;

/// Sizes of the elements of a chunk in bytes, from the smallest to the largest, if the array is so large.
const CHUNK_BYTES: [u128; 2] = [1 << 17, 1 << 26];
/// Sizes of the elements of a shard in bytes, from the smallest to the largest.
const SHARD_BYTES: [u128; 2] = [32 << 20, 512 << 20];
/// Number of objects from which listings, copies and file systems suffer.
pub(super) const MANY_OBJECTS: u128 = 100_000;
/// Maximum number of inner chunks of a shard, whose index has 16 bytes for each.
const MOST_INNER: u128 = 1 << 16;
/// Maximum number of shapes that are compared roughly.
const MOST_SHAPES: usize = 200_000;
/// Number of shapes that are counted exactly: the best ones in balance, and the best ones for each access.
const KEPT: [usize; 2] = [10, 3];

/// Access in terms of axes: the number of elements along each, and whether they are written.
#[derive(Clone, Debug)]
pub(super) struct AxisLengths {
    pub(super) lengths: Vec<u64>,
    pub(super) is_write: bool,
}

/// Array as the search sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Problem<'a> {
    pub(super) shape: &'a [u64],
    pub(super) item: u64,
    pub(super) accesses: &'a [AxisLengths],
    pub(super) storage: &'a Storage,
    /// Codecs that chunks are taken to have.
    pub(super) codecs: &'a Measured,
    pub(super) has_shards: bool,
}

/// Shape of chunks with the roughly estimated seconds of each access.
#[derive(Debug)]
struct Scored {
    shape: Vec<u64>,
    seconds: Vec<f64>,
    /// Sum of the logarithms of the seconds, and of the ratio of stored elements to elements.
    score: f64,
}

impl Problem<'_> {
    /// Returns shapes of chunks that are worth counting, the best in balance first.
    pub(super) fn chunk_shapes(&self) -> Vec<Vec<u64>> {
        let scored = |shape: Vec<u64>| {
            let seconds: Vec<f64> = self.accesses.iter().map(|access| self.roughly(&shape, access)).collect();
            let score = seconds.iter().map(|seconds| seconds.max(1e-9).ln()).sum::<f64>() + self.waste(&shape).ln();
            Scored { shape, seconds, score }
        };
        let mut scored: Vec<Scored> = self.all_shapes().into_iter().map(scored).collect();
        scored.sort_by(|a, b| a.score.total_cmp(&b.score).then_with(|| a.shape.cmp(&b.shape)));
        let [of_all, of_each] = KEPT;
        let mut kept: Vec<usize> = (0..scored.len().min(of_all)).collect();
        for access in 0..self.accesses.len() {
            let mut order: Vec<usize> = (0..scored.len()).collect();
            let seconds = |&number: &usize| {
                scored.get(number).and_then(|scored| scored.seconds.get(access)).copied().unwrap_or(f64::MAX)
            };
            // Among shapes that are equally good for the access, the better balanced one.
            order.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)).then(a.cmp(b)));
            kept.extend(order.into_iter().take(of_each));
        }
        kept.sort_unstable();
        kept.dedup();
        kept.into_iter().filter_map(|number| scored.get(number)).map(|scored| scored.shape.clone()).collect()
    }

    /// Returns the shapes of shards that are worth counting for a shape of chunks; `None` for no shards.
    pub(super) fn shard_shapes(&self, chunk: &[u64]) -> Vec<Option<Vec<u64>>> {
        let objects = self.objects(chunk);
        if !self.has_shards || objects <= 1 {
            return vec![None];
        }
        let mut shapes: Vec<Option<Vec<u64>>> = Vec::new();
        if objects <= MANY_OBJECTS {
            shapes.push(None);
        }
        let mut sharded = vec![self.grown(chunk, &vec![true; chunk.len()])];
        // Shards that a write fills as a whole are written once.
        for access in self.accesses.iter().filter(|access| access.is_write) {
            let free: Vec<bool> = access.lengths.iter().zip(chunk).map(|(len, chunk)| len > chunk).collect();
            sharded.push(self.grown(chunk, &free));
        }
        sharded.retain(|shard| shard != chunk);
        sharded.dedup();
        shapes.extend(sharded.into_iter().map(Some));
        if shapes.is_empty() {
            shapes.push(None);
        }
        shapes
    }

    /// Returns the shapes beside those of a layout: an axis of the chunks or the shards longer or shorter, one longer and another one shorter,
    /// with shards and without.
    pub(super) fn beside(&self, chunks: &[u64], shards: Option<&[u64]>) -> Vec<(Vec<u64>, Option<Vec<u64>>)> {
        let [least, most] = CHUNK_BYTES;
        let least = least.min(total_size(self.shape, self.item).max(1));
        let mut found = Vec::new();
        for chunk in steps(chunks, self.shape) {
            let bytes = total_size(&chunk, self.item);
            if bytes > most || bytes < least {
                continue;
            }
            // About the shards that there are.
            let shard = shards.map(|shards| {
                let whole = |(shard, &chunk): (&u64, &u64)| shard.div_ceil(chunk.max(1)).saturating_mul(chunk.max(1));
                shards.iter().zip(&chunk).map(whole).collect::<Vec<u64>>()
            });
            if shard.as_ref().is_some_and(|shard| self.may_be_shard(shard, &chunk)) {
                found.push((chunk, shard));
            } else {
                found.extend(self.shard_shapes(&chunk).into_iter().map(|shard| (chunk.clone(), shard)));
            }
        }
        let Some(shards) = shards else {
            found.extend(self.shard_shapes(chunks).into_iter().map(|shard| (chunks.to_vec(), shard)));
            return found;
        };
        let parts = |shape: &[u64]| -> Vec<u64> {
            shape.iter().zip(chunks).map(|(len, chunk)| len.div_ceil((*chunk).max(1))).collect()
        };
        for factors in steps(&parts(shards), &parts(self.shape)) {
            let shard: Vec<u64> =
                factors.iter().zip(chunks).map(|(factor, chunk)| factor.saturating_mul(*chunk)).collect();
            if self.may_be_shard(&shard, chunks) {
                found.push((chunks.to_vec(), Some(shard)));
            }
        }
        if self.objects(chunks) <= MANY_OBJECTS {
            found.push((chunks.to_vec(), None));
        }
        found
    }

    /// Whether shards have a sensible number of bytes and of chunks.
    fn may_be_shard(&self, shard: &[u64], chunk: &[u64]) -> bool {
        let [least, most] = SHARD_BYTES;
        let bytes = total_size(shard, self.item);
        let inner = total_size(shard, 1) / total_size(chunk, 1).max(1);
        let is_all = self.objects(shard) == 1;
        bytes <= most
            && (bytes >= least || is_all)
            && (2..=MOST_INNER).contains(&inner)
            && self.objects(shard) <= MANY_OBJECTS
    }

    /// Number of parts of a shape into which the array is divided.
    pub(super) fn objects(&self, part: &[u64]) -> u128 {
        let counts = self.shape.iter().zip(part).map(|(&len, &part)| u128::from(len.div_ceil(part.max(1))));
        counts.fold(1, u128::saturating_mul)
    }

    /// Grows a chunk to a shard, along the axes with the most chunks among those that are `free`.
    fn grown(&self, chunk: &[u64], free: &[bool]) -> Vec<u64> {
        let [least, most] = SHARD_BYTES;
        let mut shard = chunk.to_vec();
        loop {
            let bytes = total_size(&shard, self.item);
            if bytes >= least && self.objects(&shard) < MANY_OBJECTS {
                return shard;
            }
            let rest = |axis: usize| match (self.shape.get(axis), shard.get(axis), free.get(axis)) {
                (Some(&len), Some(&part), Some(true)) => len.div_ceil(part.max(1)),
                _ => 0,
            };
            let Some(axis) = (0..shard.len()).max_by_key(|&axis| (rest(axis), axis)).filter(|&axis| rest(axis) > 1)
            else {
                return shard;
            };
            let unit = chunk.get(axis).copied().unwrap_or(1).max(1);
            let len = self.shape.get(axis).copied().unwrap_or(1);
            let mut larger = shard.clone();
            let whole = len.div_ceil(unit).saturating_mul(unit);
            larger.get_mut(axis).into_iter().for_each(|part| *part = part.saturating_mul(2).min(whole));
            let inner = total_size(&larger, 1) / total_size(chunk, 1).max(1);
            if total_size(&larger, self.item) > most || inner > MOST_INNER {
                return shard;
            }
            shard = larger;
        }
    }

    /// Ratio of the elements of all chunks to those of the array.
    fn waste(&self, chunk: &[u64]) -> f64 {
        let axes = self.shape.iter().zip(chunk);
        axes.map(|(&len, &chunk)| len.div_ceil(chunk.max(1)) as f64 * chunk.max(1) as f64 / len.max(1) as f64).product()
    }

    /// Estimates the seconds of an access, in terms of the mean number of chunks that it meets.
    fn roughly(&self, chunk: &[u64], access: &AxisLengths) -> f64 {
        let mut met = 1.0;
        let mut is_part = false;
        for ((&len, &chunk), &wanted) in self.shape.iter().zip(chunk).zip(&access.lengths) {
            let chunk = chunk.max(1);
            let all = len.div_ceil(chunk) as f64;
            met *= ((wanted.saturating_sub(1)) as f64 / chunk as f64 + 1.0).min(all);
            is_part |= wanted < len && wanted % chunk != 0;
        }
        let bytes = met * total_size(chunk, self.item) as f64;
        let (stored, storage) = (bytes / self.codecs.ratio.max(1e-9), self.storage);
        // Where there are many chunks, shards follow, whose indexes are read first.
        let rounds = if self.has_shards && self.objects(chunk) > MANY_OBJECTS { 2.0 } else { 1.0 };
        let waves = (met / storage.concurrency as f64).max(rounds);
        let transfer = storage.latency * waves + stored / storage.bandwidth;
        let workers = met.clamp(1.0, threads() as f64);
        match access.is_write {
            false => transfer + bytes / self.codecs.decode / workers,
            true if is_part => 2.0 * transfer + bytes * (1.0 / self.codecs.decode + 1.0 / self.codecs.encode) / workers,
            true => transfer + bytes / self.codecs.encode / workers,
        }
    }

    /// Returns all shapes of chunks with a sensible number of bytes.
    fn all_shapes(&self) -> Vec<Vec<u64>> {
        let total = total_size(self.shape, self.item);
        let [least, most] = CHUNK_BYTES;
        let least = least.min(total.max(1));
        // So that shapes of many dimensions take no more memory.
        let most_shapes = MOST_SHAPES / self.shape.len().div_ceil(8).max(1);
        for detail in 0..3 {
            let axes: Vec<Vec<u64>> = (0..self.shape.len()).map(|axis| self.axis_lengths(axis, detail)).collect();
            let mut shapes: Vec<Vec<u64>> = vec![Vec::new()];
            let mut is_complete = true;
            for lengths in &axes {
                let longer = shapes.iter().flat_map(|shape| {
                    lengths.iter().map(move |&len| shape.iter().copied().chain([len]).collect::<Vec<u64>>())
                });
                shapes = longer.filter(|shape| total_size(shape, self.item) <= most).take(most_shapes + 1).collect();
                is_complete &= shapes.len() <= most_shapes;
                if !is_complete {
                    break;
                }
            }
            shapes.retain(|shape| total_size(shape, self.item) >= least);
            if is_complete && !shapes.is_empty() {
                return shapes;
            }
        }
        // So many dimensions, or such long elements, that there are too many shapes between the bounds, or none.
        vec![self.halved()]
    }

    /// Shape of the array, halved along its longest axis until it has few bytes.
    fn halved(&self) -> Vec<u64> {
        const BYTES: u128 = 1 << 20;
        let mut shape: Vec<u64> = self.shape.to_vec();
        while total_size(&shape, self.item) > BYTES {
            let Some(longest) = shape.iter_mut().max().filter(|longest| **longest > 1) else { break };
            *longest = longest.div_ceil(2);
        }
        shape
    }

    /// Lengths of chunks along an axis: powers of two, the whole, parts of the whole, and the lengths of accesses. A higher `detail` is
    /// coarser.
    fn axis_lengths(&self, axis: usize, detail: u32) -> Vec<u64> {
        let len = self.shape.get(axis).copied().unwrap_or(1).max(1);
        let step = 1 << detail;
        let powers = (0..63).step_by(step).map(|power| 1_u64 << power).take_while(|&power| power < len);
        let mut lengths: Vec<u64> = powers.chain([len]).collect();
        if detail == 0 {
            // Equal parts of the whole, without a short last one where the length can be divided.
            lengths.extend((2..=16).map(|parts| len.div_ceil(parts)));
            lengths.extend((17..=128).filter(|parts| len % parts == 0).map(|parts| len / parts));
        }
        lengths.extend(self.accesses.iter().filter_map(|access| access.lengths.get(axis)).copied());
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    }
}

/// Returns a shape with an axis twice or half as long, and with one twice and another one half as long; at most as long as `most`.
fn steps(shape: &[u64], most: &[u64]) -> Vec<Vec<u64>> {
    let changed = |shape: &[u64], axis: usize, is_longer: bool| {
        let (&len, &most) = (shape.get(axis)?, most.get(axis)?);
        // A whole axis is halved to a power of two, as the others are.
        let shorter = if len == most { (len.div_ceil(2)).next_power_of_two().min(len - 1) } else { len / 2 };
        let new = if is_longer { len.saturating_mul(2).min(most) } else { shorter };
        let mut shape = shape.to_vec();
        *shape.get_mut(axis)? = new;
        (new != len && new > 0).then_some(shape)
    };
    let mut found = Vec::new();
    for axis in 0..shape.len() {
        found.extend(changed(shape, axis, true));
        let Some(shorter) = changed(shape, axis, false) else { continue };
        found
            .extend((0..shape.len()).filter(|&other| other != axis).filter_map(|other| changed(&shorter, other, true)));
        found.push(shorter);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Measured {
        Measured { codecs: "none".into(), configs: Vec::new(), ratio: 2.0, encode: 1e9, decode: 1e9, is_lossless: true }
    }

    fn check(shape: &[u64], item: u64, accesses: &[(&[u64], bool)], test: impl Fn(&Problem<'_>)) {
        let accesses: Vec<AxisLengths> = accesses
            .iter()
            .map(|(lengths, is_write)| AxisLengths { lengths: lengths.to_vec(), is_write: *is_write })
            .collect();
        let (codecs, storage) = (measured(), Storage::s3());
        test(&Problem { shape, item, accesses: &accesses, storage: &storage, codecs: &codecs, has_shards: true });
    }

    #[test]
    fn chunks_follow_the_reads() {
        let shape = [8760, 721, 1440];
        check(&shape, 4, &[(&[1, 721, 1440], false)], |problem| {
            assert_eq!(problem.chunk_shapes()[0][0], 1, "{:?}", problem.chunk_shapes());
        });
        check(&shape, 4, &[(&[8760, 1, 1], false)], |problem| {
            let best = &problem.chunk_shapes()[0];
            assert!(best[0] >= 2190 && best[1] * best[2] <= 1024, "{best:?}");
        });
        check(&shape, 4, &[(&[1, 721, 1440], false), (&[8760, 1, 1], false)], |problem| {
            let best = &problem.chunk_shapes()[0];
            assert!(best[0] >= 4 && best[0] < 2190 && best[1] * best[2] > 64, "{best:?}");
        });
    }

    #[test]
    fn all_shapes_have_sensible_sizes() {
        for (shape, item) in [(vec![8760, 721, 1440], 4), (vec![30; 6], 8), (vec![1 << 50], 1), (vec![2; 40], 2)] {
            check(&shape, item, &[(&shape, false)], |problem| {
                let shapes = problem.all_shapes();
                assert!(!shapes.is_empty() && shapes.len() <= MOST_SHAPES);
                for found in shapes.iter().filter(|found| found.iter().any(|&len| len > 1)) {
                    let bytes = total_size(found, item);
                    assert!((CHUNK_BYTES[0]..=CHUNK_BYTES[1]).contains(&bytes), "{found:?}");
                }
            });
        }
        // An array that is smaller than a chunk has one.
        check(&[10, 10], 4, &[(&[10, 10], false)], |problem| assert_eq!(problem.chunk_shapes(), [[10, 10]]));
        check(&[], 4, &[(&[], false)], |problem| assert_eq!(problem.chunk_shapes(), [[0_u64; 0]]));
        check(&[u64::MAX], 1, &[(&[10], false)], |problem| assert!(problem.chunk_shapes()[0][0] < 1 << 27));
    }

    #[test]
    fn shards_make_few_objects_and_are_written_once() {
        check(&[8760, 721, 1440], 4, &[(&[1, 721, 1440], true)], |problem| {
            for shape in problem.shard_shapes(&[1, 256, 256]).into_iter().flatten() {
                assert!(shape.iter().zip([1, 256, 256]).all(|(shard, chunk)| shard % chunk == 0), "{shape:?}");
                assert!(total_size(&shape, 4) <= SHARD_BYTES[1]);
            }
            assert!(problem.shard_shapes(&[1, 256, 256]).iter().flatten().any(|shape| shape[0] == 1));
        });
        check(&[100, 100], 4, &[(&[1, 1], false)], |problem| assert_eq!(problem.shard_shapes(&[100, 100]), [None]));
        check(&[1_000_000, 1000, 1000], 4, &[(&[1, 1, 1], false)], |problem| {
            let shapes = problem.shard_shapes(&[100, 50, 50]);
            assert!(shapes.iter().all(Option::is_some), "{shapes:?}");
        });
    }
}
