//! Arrays of all kinds: shapes, grids, chains of codecs, dialects.

use crate::model::Sample;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use zarr_array::{NewArray, Options};
use zarr_json::{Map, NamedConfig, Value, json};
use zarr_meta::Dialect;

/// How an array is stored.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) dialect: Dialect,
    pub(crate) shape: Vec<u64>,
    pub(crate) grid: Grid,
    pub(crate) codecs: Vec<Value>,
    pub(crate) separator: char,
    /// Which sample is the fill value.
    pub(crate) fill: usize,
    pub(crate) write_empty_chunks: bool,
}

impl Layout {
    /// An array that is stored like this.
    pub(crate) fn new_array<T: Sample>(&self) -> NewArray {
        let fill = T::sample(self.fill);
        let new = NewArray::new(&self.shape, T::TYPE)
            .codecs(Value::Array(self.codecs.clone()).to_string())
            .expect("an array of codecs")
            .fill(fill.json())
            .dialect(self.dialect)
            .separator(self.separator)
            .options(Options::default().write_empty_chunks(self.write_empty_chunks));
        match &self.grid {
            Grid::Regular(chunk) => new.chunks(chunk),
            Grid::Rectilinear(axes) => {
                let mut configuration = Map::new();
                configuration.insert("kind", "inline");
                configuration.insert("chunk_shapes", axes.clone());
                new.chunk_grid(NamedConfig::with("rectilinear", configuration))
            }
        }
    }
}

/// How an array is cut into chunks.
#[derive(Clone, Debug)]
pub(crate) enum Grid {
    Regular(Vec<u64>),
    /// The lengths of all chunks of each axis.
    Rectilinear(Vec<Vec<u64>>),
}

impl Grid {
    /// The lengths of the chunks of each axis that hold a part of the array.
    pub(crate) fn lengths(&self, shape: &[u64]) -> Vec<Vec<u64>> {
        let within = |(lengths, &len): (&Vec<u64>, &u64)| {
            let start = |chunk: usize| lengths[..chunk].iter().sum::<u64>();
            (0..lengths.len()).take_while(|&chunk| start(chunk) < len).map(|chunk| lengths[chunk]).collect()
        };
        match self {
            Self::Rectilinear(axes) => axes.iter().zip(shape).map(within).collect(),
            Self::Regular(chunk) => {
                chunk.iter().zip(shape).map(|(&chunk, len)| vec![chunk; len.div_ceil(chunk) as usize]).collect()
            }
        }
    }
}

/// Arrays whose elements have one or more bytes (`wide`: several), or are strings.
pub(crate) fn layout(text: bool, wide: bool) -> impl Strategy<Value = Layout> {
    let shape = prop_oneof![
        8 => prop::collection::vec(1..=9_u64, 1..=3),
        1 => prop::collection::vec(0..=4_u64, 0..=4),
    ];
    let v2 = prop_oneof![3 => Just(false), 1 => Just(true)];
    (shape, v2).prop_flat_map(move |(shape, v2)| {
        let rank = shape.len();
        let chunks = chunks(rank);
        let rest = (select(vec!['/', '.']), 0..5_usize, any::<bool>());
        let stored = if v2 {
            (chunks.prop_map(Grid::Regular), v2_codecs(rank, text, wide)).boxed()
        } else {
            let regular = chunks
                .prop_flat_map(move |chunks| (Just(Grid::Regular(chunks.clone())), v3_codecs(chunks, text, wide, 2)));
            let rectilinear = (rectilinear(&shape), plain_codecs(rank, text, wide));
            prop_oneof![4 => regular, 1 => rectilinear].boxed()
        };
        (Just(shape), stored, rest).prop_map(move |(shape, (grid, codecs), rest)| Layout {
            dialect: if v2 { Dialect::V2 } else { Dialect::V3 },
            shape,
            grid,
            codecs,
            separator: rest.0,
            fill: rest.1,
            write_empty_chunks: rest.2,
        })
    })
}

fn chunks(rank: usize) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![1..=5_u64, Just(4), Just(6)], rank)
}

/// Chunks of any lengths that cover the shape, and perhaps one beyond.
fn rectilinear(shape: &[u64]) -> impl Strategy<Value = Grid> + use<> {
    let axes: Vec<_> = shape
        .iter()
        .map(|&len| {
            prop::collection::vec(1..=4_u64, 1..=3).prop_map(move |mut lengths| {
                while lengths.iter().sum::<u64>() < len {
                    lengths.push(2);
                }
                lengths
            })
        })
        .collect();
    axes.prop_map(Grid::Rectilinear)
}

fn v2_codecs(rank: usize, text: bool, wide: bool) -> BoxedStrategy<Vec<Value>> {
    let order: Vec<u64> = (0..rank as u64).rev().collect();
    // Without axes, or with one, both orders are the same and are written as C.
    let turned = if rank > 1 { any::<bool>().boxed() } else { Just(false).boxed() };
    (turned, serializer(text, wide), compressor())
        .prop_map(move |(turned, serializer, compressor)| {
            let order = json!({"name": "transpose", "configuration": {"order": (order.clone())}});
            let first = turned.then_some(order);
            first.into_iter().chain([serializer]).chain(compressor).collect()
        })
        .boxed()
}

/// A chain without shards.
fn plain_codecs(rank: usize, text: bool, wide: bool) -> BoxedStrategy<Vec<Value>> {
    (transposes(rank), serializer(text, wide), compressor(), checksum())
        .prop_map(|(turned, serializer, compressor, checksum)| {
            turned.into_iter().map(|(codec, _)| codec).chain([serializer]).chain(compressor).chain(checksum).collect()
        })
        .boxed()
}

/// A chain with shards up to `depth` deep.
fn v3_codecs(chunk: Vec<u64>, text: bool, wide: bool, depth: u32) -> BoxedStrategy<Vec<Value>> {
    let plain = plain_codecs(chunk.len(), text, wide);
    if depth == 0 {
        return plain;
    }
    let sharded = transposes(chunk.len()).prop_flat_map(move |turned| {
        let (first, chunk) = match turned {
            None => (None, chunk.clone()),
            Some((codec, order)) => (Some(codec), order.iter().map(|&axis| chunk[axis]).collect()),
        };
        let parts: Vec<_> = chunk.iter().map(|&len| select(divisors(len))).collect();
        parts.prop_flat_map(move |part| {
            let index = index_codecs();
            let location = select(vec!["start", "end"]);
            let inner = v3_codecs(part.clone(), text, wide, depth - 1);
            let first = first.clone();
            (inner, index, location, checksum()).prop_map(move |(inner, index, location, checksum)| {
                let shard = json!({"name": "sharding_indexed", "configuration": {
                    "chunk_shape": (part.clone()),
                    "codecs": (Value::Array(inner)),
                    "index_codecs": (Value::Array(index)),
                    "index_location": location,
                }});
                first.clone().into_iter().chain([shard]).chain(checksum).collect()
            })
        })
    });
    prop_oneof![plain, sharded].boxed()
}

fn divisors(len: u64) -> Vec<u64> {
    (1..=len).filter(|part| len.is_multiple_of(*part)).collect()
}

/// A permutation of the axes as a codec, or none.
fn transposes(rank: usize) -> impl Strategy<Value = Option<(Value, Vec<usize>)>> {
    let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
    (any::<bool>(), order).prop_map(|(turned, order)| {
        let codec = json!({"name": "transpose", "configuration": {"order": (order.clone())}});
        turned.then_some((codec, order))
    })
}

fn serializer(text: bool, wide: bool) -> BoxedStrategy<Value> {
    if text {
        return Just(json!({"name": "vlen-utf8"})).boxed();
    }
    if !wide {
        return Just(json!({"name": "bytes"})).boxed();
    }
    select(vec!["little", "big"])
        .prop_map(|endian| json!({"name": "bytes", "configuration": {"endian": endian}}))
        .boxed()
}

fn compressor() -> impl Strategy<Value = Option<Value>> {
    let blosc =
        (select(vec!["lz4", "blosclz", "zlib", "zstd", "snappy"]), select(vec!["noshuffle", "shuffle", "bitshuffle"]))
            .prop_map(|(cname, shuffle)| {
                let configuration = json!({
                    "cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": 4, "blocksize": 0
                });
                Some(json!({"name": "blosc", "configuration": configuration}))
            });
    prop_oneof![
        Just(None),
        Just(Some(json!({"name": "gzip", "configuration": {"level": 5}}))),
        Just(Some(json!({"name": "zstd", "configuration": {"level": 1, "checksum": true}}))),
        Just(Some(json!({"name": "numcodecs.zlib", "configuration": {"level": 1}}))),
        Just(Some(json!({"name": "numcodecs.lz4", "configuration": {"acceleration": 1}}))),
        blosc,
    ]
}

fn checksum() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        3 => Just(None),
        1 => Just(Some(json!({"name": "crc32c"}))),
    ]
}

fn index_codecs() -> impl Strategy<Value = Vec<Value>> {
    subsequence(vec![json!({"name": "crc32c"})], 0..=1).prop_map(|checksum| {
        let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
        [bytes].into_iter().chain(checksum).collect()
    })
}
