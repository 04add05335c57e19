use zarr_json::{Map, NamedConfig, Value};

use super::{AxisChunks, BoundedGrid, ChunkGrid, RectilinearGrid, Run};
use crate::config::{count, list, only, unexpected};
use crate::error::{Error, Result};

/// Name that the crate zarrs gives to its bounded grid.
const BOUNDED: &str = "zarrs.regular_bounded";

const LENGTH: &str = "an integer from 1 to 2^63-1";

/// Maximum number of chunks that metadata may list along one axis. Runs of any length cost nothing here, but no real array lists 10^12
/// chunks along an axis, and other readers expand runs.
const MAX_LISTED: u64 = 1 << 40;

impl ChunkGrid {
    /// Creates the chunk grid of an array of `shape` from metadata: `regular`, `rectilinear`, or `zarrs.regular_bounded`.
    ///
    /// # Errors
    /// [`Error::UnknownName`], or [`Error::Config`] and [`Error::At`] with a JSON pointer into the configuration.
    ///
    /// # Example
    /// ```
    /// # use zarr_grid::ChunkGrid;
    /// # use zarr_json::{NamedConfig, Value};
    /// let configuration = Value::from_json(r#"{"kind": "inline", "chunk_shapes": [5, [[2, 3], 4]]}"#)?;
    /// let config = NamedConfig::with("rectilinear", configuration.as_object().unwrap().clone());
    /// let grid = ChunkGrid::from_config(&config, &[12, 10])?;
    /// assert_eq!(grid.grid_shape().as_slice(), [3, 4]);
    /// assert_eq!(grid.chunk_shape(&[0, 3]).as_slice(), [5, 4]);
    /// assert_eq!(grid.to_config(), config);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_config(config: &NamedConfig, shape: &[u64]) -> Result<Self> {
        match config.name.as_str() {
            "regular" => regular(&config.configuration, shape, ChunkGrid::regular),
            BOUNDED => {
                let grid = |shape: &[u64], chunk: &[u64]| BoundedGrid::new(shape, chunk).map(Self::Bounded);
                regular(&config.configuration, shape, grid)
            }
            "rectilinear" => rectilinear(&config.configuration, shape),
            name => Err(Error::UnknownName { what: "chunk grid", name: name.to_owned() }),
        }
    }

    /// Returns the grid as in metadata. A run of a single chunk is written as a number.
    pub fn to_config(&self) -> NamedConfig {
        let mut configuration = Map::new();
        match self {
            Self::Regular(grid) => {
                configuration.insert("chunk_shape", grid.chunk_shape().to_vec());
                NamedConfig::with("regular", configuration)
            }
            Self::Bounded(grid) => {
                configuration.insert("chunk_shape", grid.chunk_shape().to_vec());
                NamedConfig::with(BOUNDED, configuration)
            }
            Self::Rectilinear(grid) => {
                configuration.insert("kind", "inline");
                configuration.insert("chunk_shapes", grid.axes().iter().map(axis_value).collect::<Vec<_>>());
                NamedConfig::with("rectilinear", configuration)
            }
        }
    }
}

fn axis_value(axis: &AxisChunks) -> Value {
    match axis.repeated_len() {
        Some(len) => Value::from(len),
        None => axis
            .runs()
            .map(|run| if run.count == 1 { Value::from(run.len) } else { Value::from(vec![run.len, run.count]) })
            .collect::<Vec<_>>()
            .into(),
    }
}

/// Creates a grid, by `grid`, whose configuration is the chunk shape alone.
fn regular(
    configuration: &Map,
    shape: &[u64],
    grid: impl Fn(&[u64], &[u64]) -> Result<ChunkGrid>,
) -> Result<ChunkGrid> {
    only(configuration, &["chunk_shape"], "chunk_shape")?;
    let lens = list(configuration, "chunk_shape", "an array of chunk lengths")?;
    let at = |axis: usize| format!("/chunk_shape/{axis}");
    let chunk: Vec<u64> = lens
        .iter()
        .enumerate()
        .map(|(axis, len)| count(len).ok_or_else(|| unexpected(at(axis), Some(len), LENGTH)))
        .collect::<Result<_>>()?;
    grid(shape, &chunk).map_err(|problem| match problem {
        Error::ZeroChunk { axis, .. } => Error::At { pointer: at(axis), problem: problem.into() },
        _ => Error::At { pointer: "/chunk_shape".to_owned(), problem: problem.into() },
    })
}

fn rectilinear(configuration: &Map, shape: &[u64]) -> Result<ChunkGrid> {
    only(configuration, &["kind", "chunk_shapes"], "kind and chunk_shapes")?;
    let kind = configuration.get("kind");
    if kind.and_then(Value::as_str) != Some("inline") {
        return Err(unexpected("/kind".to_owned(), kind, "\"inline\""));
    }
    let entries = list(configuration, "chunk_shapes", "an array with one entry per dimension")?;
    let axes: Vec<AxisChunks> =
        entries.iter().enumerate().map(|(axis, entry)| axis_chunks(axis, entry)).collect::<Result<_>>()?;
    let grid = RectilinearGrid::new(shape, axes).map_err(|problem| match problem {
        Error::Uncovered { axis, .. } => Error::At { pointer: pointer(axis, ""), problem: problem.into() },
        _ => Error::At { pointer: "/chunk_shapes".to_owned(), problem: problem.into() },
    })?;
    Ok(ChunkGrid::Rectilinear(grid))
}

fn pointer(axis: usize, rest: &str) -> String {
    format!("/chunk_shapes/{axis}{rest}")
}

fn axis_chunks(axis: usize, entry: &Value) -> Result<AxisChunks> {
    let Some(items) = entry.as_array() else {
        return count(entry)
            .and_then(AxisChunks::repeated)
            .ok_or_else(|| unexpected(pointer(axis, ""), Some(entry), "an array, or an integer from 1 to 2^63-1"));
    };
    let runs = items.iter().enumerate().map(|(i, item)| {
        let expected = "a length, or [length, count], each from 1 to 2^63-1";
        run(item).ok_or_else(|| unexpected(pointer(axis, &format!("/{i}")), Some(item), expected))
    });
    let runs: Vec<Run> = runs.collect::<Result<_>>()?;
    if runs.iter().fold(0u64, |count, run| count.saturating_add(run.count)) > MAX_LISTED {
        return Err(unexpected(pointer(axis, ""), Some(entry), "at most 2^40 chunks"));
    }
    AxisChunks::listed(runs).map_err(|problem| Error::At { pointer: pointer(axis, ""), problem: problem.into() })
}

fn run(item: &Value) -> Option<Run> {
    let positive = |value: &Value| count(value).filter(|&n| n > 0);
    match item.as_array() {
        None => Some(Run { len: positive(item)?, count: 1 }),
        Some([len, count]) => Some(Run { len: positive(len)?, count: positive(count)? }),
        Some(_) => None,
    }
}
