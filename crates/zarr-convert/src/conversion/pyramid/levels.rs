//! Levels of a pyramid: their paths, factors, shapes and metadata.

use super::super::destination::NodeDocuments;
use super::super::rechunk::{Flat, rechunk};
use super::super::{Action, ConvertOptions, PlannedNode, Shards, lengths};
use super::options::PyramidOptions;
use super::tree::LevelShape;
use zarr_array::{Array, Registry};
use zarr_hierarchy::{Error, Result};
use zarr_meta::{Node, NodePath};
use zarr_reduce::MOST_ELEMENTS;

/// Greatest number of levels of a pyramid.
const MOST_LEVELS: usize = 64;

/// Number of automatic shards that fit the memory: of several levels at the same time some are in memory, encoded and not.
const SHARDS: u64 = 32;

/// Level of a pyramid.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Level {
    /// Number of the level; 0 for a copy of the source.
    pub number: usize,
    /// Path of the array in its store.
    pub path: NodePath,
    /// Factor along each axis from the next finer level.
    pub step: Vec<u64>,
    /// Factor along each axis from the array that is read: the source, or the next finer level if one level alone is written.
    pub factors: Vec<u64>,
    /// Shape of the array.
    pub shape: Vec<u64>,
    /// Shape of the chunks of the array, or of its inner chunks.
    pub chunks: Vec<u64>,
    /// Shape of the shards of the array; `None` if it has none.
    pub shards: Option<Vec<u64>>,
    pub(super) node: PlannedNode,
}

impl Level {
    pub(super) fn documents(&self) -> Result<NodeDocuments> {
        NodeDocuments::new(&self.node, &zarr_meta::Documents::new())
    }

    /// Returns the level as it is written into an existing array, with the chunks and codecs of that.
    pub(super) fn like(&self, array: &Array, options: &PyramidOptions) -> Result<Self> {
        let chunk = chunk_shape(array, options)?;
        let (number, step, factors) = (self.number, self.step.clone(), self.factors.clone());
        let shape = (self.shape.clone(), &chunk[..]);
        level(array, (number, self.path.clone()), (step, factors), shape, options, array.registry())
    }

    pub(super) fn to_shape(&self) -> LevelShape {
        let chunk = self.shards.clone().unwrap_or_else(|| self.chunks.clone());
        LevelShape { shape: self.shape.clone(), factors: self.step.clone(), chunk }
    }
}

/// Returns the factor along each axis from a level to the next.
pub(super) fn factors(source: &Array, options: &PyramidOptions) -> Result<Vec<u64>> {
    let rank = source.shape().len();
    let mut factors = vec![1; rank];
    if options.factors.is_empty() {
        factors.iter_mut().rev().take(2).for_each(|factor| *factor = 2);
    }
    let names = source.dimension_names().unwrap_or_default();
    for (name, &factor) in &options.factors {
        let named = names.iter().position(|known| known.as_deref() == Some(name.as_str()));
        let axis = named.or_else(|| name.parse::<usize>().ok().filter(|&axis| axis < rank)).ok_or_else(|| {
            let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
            let known = if known.is_empty() { String::new() } else { format!("{} or ", known.join(", ")) };
            let message = format!("factor: found dimension {name}, expected {known}an index less than {rank}");
            Error::argument(message)
        })?;
        if factor == 0 {
            return Err(Error::argument(format!("factor: found 0 along {name}, expected 1 or more")));
        }
        factors[axis] = factor;
    }
    let block = factors.iter().fold(1, |product: u64, &factor| product.saturating_mul(factor));
    if block > MOST_ELEMENTS {
        let message = format!("factor: found blocks of {block} elements, expected at most {MOST_ELEMENTS}");
        return Err(Error::argument(message).with_hint("smaller factors and more levels"));
    }
    if block == 1 {
        return Err(Error::argument("factor: found 1 along all axes, expected a greater one along some axis"));
    }
    Ok(factors)
}

/// Names of the levels: the name of the source, and how those of the levels are made.
pub(super) struct Names {
    /// Group of the levels.
    group: NodePath,
    /// Beginning of all names.
    stem: String,
    /// Number that ends the name of level 0.
    first: usize,
}

impl Names {
    /// Names of levels beside a source whose name ends with a number; `None` if it does not.
    pub(super) fn beside(path: &NodePath) -> Option<Self> {
        let (group, name) = (path.parent()?, path.name()?);
        let stem = name.trim_end_matches(|symbol: char| symbol.is_ascii_digit());
        let digits = &name[stem.len()..];
        // A number with leading zeros would be spelled in another way.
        let first = digits.parse::<usize>().ok().filter(|first| first.to_string() == digits)?;
        Some(Self { group, stem: stem.to_owned(), first })
    }

    /// Names 0, 1, 2.. in a group.
    pub(super) fn within(group: NodePath) -> Self {
        Self { group, stem: String::new(), first: 0 }
    }

    pub(super) fn of(&self, level: usize) -> Result<NodePath> {
        Ok(self.group.join(&format!("{}{}", self.stem, self.first.saturating_add(level)))?)
    }
}

/// Plans the levels of a source. If `copies`, the first one is a copy of it.
pub(super) fn plan(
    source: &Array,
    names: &Names,
    copies: bool,
    options: &PyramidOptions,
    registry: &Registry,
) -> Result<Vec<Level>> {
    let step = factors(source, options)?;
    let chunk = chunk_shape(source, options)?;
    let mut shapes = vec![source.shape().to_vec()];
    let is_small =
        |shape: &[u64]| shape.iter().zip(&chunk).zip(&step).all(|((len, chunk), &factor)| factor == 1 || len <= chunk);
    while let Some(shape) = shapes.last() {
        let is_last = match options.levels {
            Some(count) => shapes.len() > count,
            None => is_small(shape),
        };
        if is_last {
            break;
        }
        let next: Vec<u64> = shape.iter().zip(&step).map(|(len, factor)| len.div_ceil(*factor)).collect();
        if &next == shape {
            let message =
                format!("found {} levels, expected at most {}", options.levels.unwrap_or(0), shapes.len() - 1);
            return Err(Error::argument(message).with_hint("further ones would not be smaller"));
        }
        if shapes.len() > MOST_LEVELS {
            return Err(Error::argument(format!(
                "found more than {MOST_LEVELS} levels, expected {MOST_LEVELS} or fewer"
            )));
        }
        shapes.push(next);
    }
    if shapes.len() == 1 && !copies {
        let message = format!("found an array of {:?}, expected one that is larger than a chunk", source.shape());
        return Err(Error::argument(message).with_hint(
            "a number of levels is computed even so, and lets parts be abandoned that began before the array shrank",
        ));
    }
    let mut total = vec![1_u64; step.len()];
    let mut levels = Vec::new();
    for (number, shape) in shapes.into_iter().enumerate() {
        let step = if number == 0 { vec![1; step.len()] } else { step.clone() };
        total.iter_mut().zip(&step).for_each(|(total, factor)| *total = total.saturating_mul(*factor));
        if number > 0 || copies {
            let path = (number, names.of(number)?);
            levels.push(level(source, path, (step, total.clone()), (shape, &chunk), options, registry)?);
        }
    }
    Ok(levels)
}

/// Returns the shape of the (innermost) chunks of the levels.
fn chunk_shape(source: &Array, options: &PyramidOptions) -> Result<Vec<u64>> {
    let rank = source.shape().len();
    let metadata = source.metadata();
    let own = || {
        let flat = Flat::of(metadata).chunk;
        flat.unwrap_or_else(|| source.chunk_grid().largest_chunk_shape().to_vec())
    };
    let chunk = match &options.chunks {
        Some(chunks) if chunks.len() != rank => {
            let message = format!("chunks: found {} lengths, expected {rank}, one for each axis", chunks.len());
            return Err(Error::argument(message));
        }
        Some(chunks) => chunks.clone(),
        None if options.chunk_lengths.is_empty() => own(),
        None => {
            lengths::check("chunks", &options.chunk_lengths, std::iter::once(metadata))?;
            lengths::by_name(&options.chunk_lengths, metadata, &own()).unwrap_or_else(own)
        }
    };
    match chunk.contains(&0) {
        true => Err(Error::argument("chunks: found a length of 0, expected 1 or more")),
        false => Ok(chunk),
    }
}

fn level(
    source: &Array,
    (number, path): (usize, NodePath),
    (step, factors): (Vec<u64>, Vec<u64>),
    (shape, chunk): (Vec<u64>, &[u64]),
    options: &PyramidOptions,
    registry: &Registry,
) -> Result<Level> {
    let found = source.found();
    let mut metadata = source.metadata().clone();
    let own = Flat::of(&metadata);
    metadata.shape = shape.clone();
    let chunk: Vec<u64> = chunk.iter().zip(&shape).map(|(&chunk, &len)| chunk.min(len.max(1))).collect();
    // A shard is of whole chunks, and no longer than its level.
    let fitted = |shard: &[u64]| -> Vec<u64> {
        let axes = shard.iter().zip(&chunk).zip(&shape);
        axes.map(|((shard, chunk), len)| (*shard).min(len.next_multiple_of(*chunk)).max(*chunk)).collect()
    };
    let shards = match &options.shards {
        Some(Shards::Of(shard)) if shard.len() == shape.len() => {
            let uneven =
                shard.iter().zip(&chunk).zip(&shape).any(|((shard, chunk), len)| shard < len && shard % chunk != 0);
            if uneven {
                let message = format!("shards: found {shard:?}, expected multiples of the chunks {chunk:?}");
                return Err(Error::argument(message));
            }
            Some(Shards::Of(fitted(shard)))
        }
        Some(Shards::Of(shard)) => {
            let message = format!("shards: found {} lengths, expected {}, one for each axis", shard.len(), shape.len());
            return Err(Error::argument(message));
        }
        Some(Shards::Auto) => {
            let item = source.data_type().item_size() as u64;
            let shard = lengths::chosen_up_to(&shape, &chunk, item, options.memory / SHARDS);
            Some(shard.map_or(Shards::None, Shards::Of))
        }
        Some(others) => Some(others.clone()),
        None => match &own.shard {
            Some(shard) if options.chunks.is_none() && options.chunk_lengths.is_empty() => {
                Some(Shards::Of(fitted(shard)))
            }
            _ => Some(Shards::None),
        },
    };
    let convert = ConvertOptions::default().chunks(chunk).shards(shards).codecs(options.codecs.clone());
    rechunk(&mut metadata, found.dialect, &convert, registry)?;
    let flat = Flat::of(&metadata);
    let chunks = flat.chunk.unwrap_or_else(|| shape.clone());
    let size = zarr_grid::total_size(&shape, source.data_type().item_size() as u64);
    let node = PlannedNode {
        source: found.clone(),
        path: path.clone(),
        target: Node::Array(metadata),
        dialect: found.dialect,
        how: Action::Reencode,
        region: None,
        notes: Vec::new(),
        warning: None,
        unread: Vec::new(),
        ome: None,
        size,
    };
    Ok(Level { number, path, step, factors, shape, chunks, shards: flat.shard, node })
}
