use zarr_json::{Map, NamedConfig, Value};

use super::{ChunkKeyEncoding, Separator};
use crate::config::{count, only, unexpected};
use crate::error::{Error, Result};

/// Name in metadata for the key encoding of the drafts of 2020 to 2022, which did not name it.
const JOINED: &str = "joined";

impl ChunkKeyEncoding {
    /// Creates the encoding that metadata names: `default`, `v2`, `suffix`, `fanout`, or `joined` for the drafts of version 3.
    /// `zarrs.default_suffix`, an experiment of the crate zarrs, becomes `default` with a suffix.
    ///
    /// # Errors
    /// [`Error::UnknownName`], or [`Error::Config`] with a JSON pointer into the configuration.
    ///
    /// # Example
    /// ```
    /// # use zarr_grid::{ChunkKeyEncoding, Separator};
    /// # use zarr_json::NamedConfig;
    /// let encoding = ChunkKeyEncoding::from_config(&NamedConfig::new("v2"))?;
    /// assert_eq!(encoding, ChunkKeyEncoding::V2 { separator: Separator::Dot });
    /// # Ok::<(), zarr_grid::Error>(())
    /// ```
    pub fn from_config(config: &NamedConfig) -> Result<Self> {
        let configuration = &config.configuration;
        let separator = |default| {
            only(configuration, &["separator"], "separator")?;
            let value = configuration.get("separator");
            match value.map(|value| value.as_str().and_then(Separator::from_text)) {
                None => Ok(default),
                Some(separator) => {
                    separator.ok_or_else(|| unexpected("/separator".to_owned(), value, "\"/\" or \".\""))
                }
            }
        };
        match config.name.as_str() {
            "default" => Ok(Self::Default { separator: separator(Separator::Slash)? }),
            "v2" => Ok(Self::V2 { separator: separator(Separator::Dot)? }),
            JOINED => Ok(Self::Joined { separator: separator(Separator::Slash)? }),
            "suffix" => suffix(configuration),
            "zarrs.default_suffix" => default_suffix(configuration),
            "fanout" => fanout(configuration),
            name => Err(Error::UnknownName { what: "chunk key encoding", name: name.to_owned() }),
        }
    }

    /// Returns the encoding as in metadata; the separator is included even if it is the default.
    pub fn to_config(&self) -> NamedConfig {
        let mut configuration = Map::new();
        let name = match self {
            Self::Default { .. } => "default",
            Self::V2 { .. } => "v2",
            Self::Joined { .. } => JOINED,
            Self::Suffix { .. } => "suffix",
            Self::Fanout { .. } => "fanout",
        };
        match self {
            Self::Default { separator } | Self::V2 { separator } | Self::Joined { separator } => {
                configuration.insert("separator", separator.to_string());
            }
            Self::Suffix { suffix, base } => {
                configuration.insert("suffix", suffix.as_str());
                configuration.insert("base_encoding", base.to_config().to_value());
            }
            Self::Fanout { max_children } => {
                configuration.insert("max_children", *max_children);
            }
        }
        NamedConfig::with(name, configuration)
    }
}

fn suffix(configuration: &Map) -> Result<ChunkKeyEncoding> {
    // The first example of the text spells the second member with a hyphen.
    let spelling = if configuration.contains_key("base-encoding") { "base-encoding" } else { "base_encoding" };
    only(configuration, &["suffix", spelling], "suffix and base_encoding")?;
    let value = configuration.get("suffix");
    let suffix = value.and_then(Value::as_str).ok_or_else(|| unexpected("/suffix".to_owned(), value, "a string"))?;
    let value = configuration.get(spelling);
    let base = value.and_then(named);
    let base = base.ok_or_else(|| unexpected(format!("/{spelling}"), value, "a chunk key encoding"))?;
    let base = ChunkKeyEncoding::from_config(&base).map_err(|problem| {
        let inner = problem.pointer().map_or_else(String::new, |pointer| format!("/configuration{pointer}"));
        let pointer = format!("/{spelling}{inner}");
        match problem {
            Error::Config { found, expected, .. } => Error::Config { pointer, found, expected },
            problem => Error::At { pointer, problem: problem.into() },
        }
    })?;
    Ok(ChunkKeyEncoding::Suffix { suffix: suffix.to_owned(), base: base.into() })
}

/// Parses a configuration that has the members of `default` beside the suffix.
fn default_suffix(configuration: &Map) -> Result<ChunkKeyEncoding> {
    only(configuration, &["separator", "suffix"], "separator and suffix")?;
    let value = configuration.get("suffix");
    let suffix = value.and_then(Value::as_str).ok_or_else(|| unexpected("/suffix".to_owned(), value, "a string"))?;
    let members = configuration.iter().filter(|(name, _)| *name == "separator");
    let members = members.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    let base = ChunkKeyEncoding::from_config(&NamedConfig::with("default", members))?;
    Ok(ChunkKeyEncoding::Suffix { suffix: suffix.to_owned(), base: base.into() })
}

/// Parses a name with a configuration, or a name alone.
fn named(value: &Value) -> Option<NamedConfig> {
    if let Some(name) = value.as_str() {
        return Some(NamedConfig::new(name));
    }
    let configuration = match value.get("configuration") {
        None => Map::new(),
        Some(configuration) => configuration.as_object()?.clone(),
    };
    Some(NamedConfig::with(value.get("name")?.as_str()?, configuration))
}

fn fanout(configuration: &Map) -> Result<ChunkKeyEncoding> {
    only(configuration, &["max_children"], "max_children")?;
    match configuration.get("max_children") {
        // 1001 is the default of the registered text.
        None => Ok(ChunkKeyEncoding::Fanout { max_children: 1001 }),
        Some(value) => match count(value).filter(|&n| n > 3) {
            Some(max_children) => Ok(ChunkKeyEncoding::Fanout { max_children }),
            None => Err(unexpected("/max_children".to_owned(), Some(value), "an integer greater than 3")),
        },
    }
}
