//! Division of the work of a pyramid into units, and of the memory among them. Pure arithmetic.

use super::tree::{LevelShape, Tree};
use super::{Level, PyramidOptions};
use std::num::NonZeroUsize;
use zarr_array::{Array, Options};
use zarr_grid::{gcd, lcm};
use zarr_hierarchy::{Error, Result};
use zarr_scan::Memory;
use zarr_store::Store;

/// Size in bytes of the elements of the source that a unit is computed of, if chunks are smaller.
const COMFORT: u64 = 4 << 20;
/// Number by which the memory is divided: [`COMFORT`] and [`PIECE`] have at most one such part.
const SHARE: u64 = 16;
/// Size in bytes of the elements of the source that are read at once for a unit.
const PIECE: u64 = 16 << 20;

/// Number of threads for which the units of parts are planned.
const PLANNED_THREADS: Option<NonZeroUsize> = NonZeroUsize::new(8);

/// Division of the work into units, and the memory that it takes.
#[derive(Clone, Debug)]
pub(super) struct WorkPlan {
    pub(super) tree: Tree,
    /// Number of elements of the finest level along each axis that are computed of what is read at once. Reads end at multiples of it.
    pub(super) piece: Vec<u64>,
    /// Number of units that are computed at the same time.
    pub(super) workers: usize,
    pub(super) options: Options,
}

impl WorkPlan {
    /// Plans units that hold whole parts of the source if memory suffices, and as many of them at a time as fit. If it does not, units grow
    /// along the axes where growth saves most reads of parts for the memory it costs.
    ///
    /// The units of parts depend on the memory alone: the machines that compute them may have other processors.
    pub(super) fn new(
        source: &Array,
        target: &dyn Store,
        levels: &[Level],
        options: &PyramidOptions,
        is_in_parts: bool,
    ) -> Result<Self> {
        let numbers: Vec<usize> = levels.iter().map(|level| level.number).collect();
        let levels: Vec<LevelShape> = levels.iter().map(Level::to_shape).collect();
        let parts = source.part_shape().to_vec();
        let item = source.data_type().item_size() as u64;
        let encoded = levels.iter().map(|level| (&level.chunk[..], item));
        let sizes = encoded.chain([(&parts[..], item)]);
        let is_remote = source.store().as_async().is_some() || target.as_async().is_some();
        let memory = Memory::new(options.memory, sizes.clone(), &options.options).with_requests(is_remote);
        let of_plan = match is_in_parts {
            true => Memory::new(options.memory, sizes, &options.options.clone().threads(PLANNED_THREADS))
                .with_requests(is_remote),
            false => memory,
        };
        let comfort = match options.region {
            // A region touches as few chunks as it can.
            Some(_) => 0,
            None => COMFORT.min(memory.bytes() / SHARE),
        };
        let planner = Planner {
            source: source.shape(),
            parts: &parts,
            levels: &levels,
            item,
            memory: of_plan,
            is_remote,
            has_whole_pieces: true,
        };
        let planned = planner.whole_parts(comfort).or_else(|| match options.region {
            // Longer units save reads of the whole source, and read chunks that the region does not need.
            Some(_) => planner.smallest(),
            None => planner.few_reads(comfort),
        });
        let planned = planned.ok_or_else(|| planner.too_large(&numbers, options.memory))?;
        let Units { tree, piece, size } = planned;
        let workers = Planner { memory, ..planner }.workers(size).unwrap_or(1);
        let threads = memory.threads_in(memory.bytes().saturating_sub(size.saturating_mul(workers as u64)));
        let workers = workers.min(usize::try_from(tree.leaves()).unwrap_or(usize::MAX)).max(1);
        Ok(Self { piece, workers, options: memory.limit(&options.options, threads, workers), tree })
    }
}

/// Source, levels and memory for which units are planned.
#[derive(Clone, Copy)]
struct Planner<'p> {
    /// Shape of the source.
    source: &'p [u64],
    /// Shape of the parts of the source that are decoded at once.
    parts: &'p [u64],
    levels: &'p [LevelShape],
    /// Size of an element in bytes.
    item: u64,
    memory: Memory,
    /// Whether the source or the target is remote.
    is_remote: bool,
    /// Whether what is read at once has whole parts, wherever a unit has room for these.
    has_whole_pieces: bool,
}

/// Units that were planned.
struct Units {
    tree: Tree,
    piece: Vec<u64>,
    /// Number of bytes of one unit of each level, and of the elements of the source that are read at once.
    size: u64,
}

impl Planner<'_> {
    /// Plans units of whole parts; `None` if memory does not suffice.
    fn whole_parts(&self, comfort: u64) -> Option<Units> {
        let growth = vec![1; self.source.len()];
        let least = self.units(self.parts, &growth);
        self.comfortable(self.parts, growth, least, comfort)
    }

    /// Plans units that need not consist of whole parts, so that parts are read as few times as memory allows; `None` if it does not suffice
    /// for the smallest units.
    fn few_reads(self, comfort: u64) -> Option<Units> {
        let with = |has_whole_pieces: bool| Planner { has_whole_pieces, ..self }.grown(comfort);
        match (with(true), with(false)) {
            (Some(whole), Some(others)) if self.reads(&whole) > self.reads(&others) => Some(others),
            (whole, others) => whole.or(others),
        }
    }

    /// Error that the memory does not suffice, with the largest chunks and the memory that does. `numbers` are those of the levels.
    fn too_large(self, numbers: &[usize], memory: u64) -> Error {
        let size = |shape: &[u64]| u64::try_from(zarr_grid::total_size(shape, self.item)).unwrap_or(u64::MAX);
        let of_level = |(level, number): (&LevelShape, &usize)| (size(&level.chunk), Some(*number));
        let of_levels = self.levels.iter().zip(numbers).map(of_level);
        let all: Vec<(u64, Option<usize>)> = std::iter::once((size(self.parts), None)).chain(of_levels).collect();
        // The first of several that are as large.
        let (bytes, number) = all.into_iter().rev().max_by_key(|(bytes, _)| *bytes).unwrap_or_default();
        let units = Planner { has_whole_pieces: false, ..self }.units(&[], &vec![1; self.source.len()]);
        // What is read at once may have a 16th of the memory.
        let least = units.size.saturating_add(self.memory.for_thread());
        let least = least.saturating_add(least / (SHARE - 1)).saturating_add(1);
        let least = Memory::with_reserve(least, self.is_remote);
        let (owner, advice) = match number {
            Some(number) => (format!("level {number}"), ", or choose smaller chunks or shards"),
            None => ("the source".to_owned(), "; other chunks of the levels do not help"),
        };
        let message =
            format!("{owner} has chunks of {bytes} bytes, which need more than the {memory} bytes of memory allowed");
        Error::argument(message).with_hint(format!("give it at least {least} bytes{advice}"))
    }

    /// Plans the smallest units; `None` if memory does not suffice for them.
    fn smallest(self) -> Option<Units> {
        [true, false].into_iter().find_map(|has_whole_pieces| {
            let units = Planner { has_whole_pieces, ..self }.units(&[], &vec![1; self.source.len()]);
            self.workers(units.size).map(|_| units)
        })
    }

    /// Plans units, from the smallest ones on.
    fn grown(&self, comfort: u64) -> Option<Units> {
        let mut growth = vec![1; self.source.len()];
        let mut units = self.units(&[], &growth);
        self.workers(units.size)?;
        while let Some((better, more)) = self.best_growth(&units, &growth) {
            (units, growth) = (better, more);
        }
        self.comfortable(&[], growth, units, comfort)
    }

    /// Returns the units whose growth along one axis saves most reads for the memory it costs; `None` if no growth saves reads within the
    /// memory. Growth by which fewer workers fit saves more than their share of the reads: each worker has fewer then.
    fn best_growth(&self, units: &Units, growth: &[u64]) -> Option<(Units, Vec<u64>)> {
        let (reads, size) = (self.reads(units), units.size.max(1) as f64);
        let of_worker = |reads: f64, size: u64| self.workers(size).map(|workers| reads / workers as f64);
        let before = of_worker(reads, units.size)?;
        let mut best: Option<(f64, Units, Vec<u64>)> = None;
        for axis in 0..growth.len() {
            for longer in self.longer(units, growth, axis) {
                let mut more = growth.to_vec();
                more[axis] = longer;
                let grown = self.units(&[], &more);
                let after = self.reads(&grown);
                if of_worker(after, grown.size).is_none_or(|after| after >= before) {
                    continue;
                }
                let score = (reads / after).ln() / (grown.size as f64 / size).ln().max(f64::MIN_POSITIVE);
                if best.as_ref().is_none_or(|(most, ..)| score > *most) {
                    best = Some((score, grown, more));
                }
            }
        }
        best.map(|(_, units, growth)| (units, growth))
    }

    /// Growths along an axis that are tried: to whole parts, to twice as much, and to the whole axis.
    fn longer(&self, units: &Units, growth: &[u64], axis: usize) -> impl Iterator<Item = u64> + use<> {
        let finest = &units.tree.levels()[0];
        let (now, len) = (growth[axis], finest.shape[axis]);
        let single = Tree::new(self.source, &[], self.levels, &vec![1; growth.len()]).levels()[0].unit[axis].max(1);
        let (part, factor) = (self.parts[axis].max(1), finest.factors[axis].max(1));
        let aligned = lcm(single, part / gcd(part, factor)).map_or(u64::MAX, |both| both / single).max(1);
        let whole = len.div_ceil(single);
        let is_longer = finest.unit[axis] < len;
        let all = [(now + 1).checked_next_multiple_of(aligned).unwrap_or(whole), now.saturating_mul(2), whole];
        all.map(|longer| longer.min(whole)).into_iter().filter(move |&longer| is_longer && longer > now)
    }

    /// Returns the number of reads of parts, if each piece reads all parts that it meets.
    fn reads(&self, units: &Units) -> f64 {
        let finest = &units.tree.levels()[0];
        let along = |axis: usize| {
            let factor = finest.factors[axis];
            let [unit, piece] = [finest.unit[axis], units.piece[axis]].map(|len| len.saturating_mul(factor).max(1));
            // The bounds of units, pieces and parts divide the axis: each position counts once.
            let bounds = |every: Option<u64>| every.map_or(0, |every| self.source[axis].saturating_sub(1) / every);
            let part = self.parts[axis].max(1);
            let pairs = [lcm(unit, piece), lcm(unit, part), lcm(piece, part)];
            let all = pairs[0].and_then(|both| lcm(both, part));
            let singles = [unit, piece, part].map(|len| bounds(Some(len)) as f64).iter().sum::<f64>();
            singles - pairs.map(|both| bounds(both) as f64).iter().sum::<f64>() + bounds(all) as f64 + 1.0
        };
        (0..self.source.len()).map(along).product()
    }

    /// Returns units that are as much longer than `units` as comfort allows, since small chunks are computed together, or `units` if longer
    /// ones need more than the memory; `None` if `units` do. `units` were planned with `parts` and `growth`.
    fn comfortable(&self, parts: &[u64], growth: Vec<u64>, units: Units, comfort: u64) -> Option<Units> {
        self.workers(units.size)?;
        let block: u64 = self.levels[0].factors.iter().product();
        let (mut grown, mut growth) = (Tree::clone(&units.tree), growth);
        for axis in (0..growth.len()).rev() {
            loop {
                let mut more = growth.clone();
                more[axis] = more[axis].saturating_mul(2);
                let longer = Tree::new(self.source, parts, self.levels, &more);
                let size = longer.unit_len(0).saturating_mul(block).saturating_mul(self.item);
                if size > comfort || longer.unit_len(0) <= grown.unit_len(0) {
                    break;
                }
                (grown, growth) = (longer, more);
            }
        }
        let grown = self.units(parts, &growth);
        Some(if self.workers(grown.size).is_some() { grown } else { units })
    }

    fn units(&self, parts: &[u64], growth: &[u64]) -> Units {
        let tree = Tree::new(self.source, parts, self.levels, growth);
        let piece = self.piece(&tree);
        let block: u64 = self.levels[0].factors.iter().product();
        let read = piece.iter().fold(block.saturating_mul(self.item), |size, &len| size.saturating_mul(len));
        let each = |level: usize| tree.unit_len(level).saturating_mul(self.item);
        let size = (0..self.levels.len()).fold(read, |sum, level| sum.saturating_add(each(level)));
        Units { tree, piece, size }
    }

    /// Returns the number of workers that the memory suffices for, each with `size` bytes; `None` for none.
    fn workers(&self, size: u64) -> Option<usize> {
        // Each worker decodes and encodes on its own thread where a read or a write is too small for others.
        let with_thread = size.saturating_add(self.memory.for_thread());
        let most = self.memory.bytes() / with_thread;
        let wanted = self.memory.threads_in(u64::MAX);
        (most > 0).then(|| usize::try_from(most).unwrap_or(usize::MAX).min(wanted))
    }

    /// Returns the number of elements of the finest level along each axis that are computed of what is read at once: at most [`PIECE`] bytes
    /// of the source and the [`SHARE`] of the memory, or one whole part if that is larger.
    fn piece(&self, tree: &Tree) -> Vec<u64> {
        let (units, factors) = (&tree.levels()[0], &self.levels[0].factors);
        let most = PIECE.min(self.memory.bytes() / SHARE);
        let least = |axis: usize| {
            let part = if self.has_whole_pieces { self.parts[axis].max(1) } else { 1 };
            (part / gcd(part, factors[axis].max(1))).min(units.unit[axis]).max(1)
        };
        let mut piece: Vec<u64> = (0..self.source.len()).map(least).collect();
        let block: u64 = factors.iter().product();
        for axis in (0..piece.len()).rev() {
            loop {
                let doubled = (piece[axis].saturating_mul(2)).min(units.unit[axis]);
                let size = piece.iter().enumerate().fold(block.saturating_mul(self.item), |size, (other, &len)| {
                    size.saturating_mul(if other == axis { doubled } else { len })
                });
                if doubled <= piece[axis] || size > most {
                    break;
                }
                piece[axis] = doubled;
            }
        }
        piece
    }
}
