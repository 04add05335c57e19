//! Methods by which a block of elements becomes one element.

use crate::Unfit;
use std::fmt;
use std::str::FromStr;

/// How a block of elements becomes one element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Mean of all elements: of integers rounded, halves to the even neighbour; of floats computed in binary64.
    #[default]
    Mean,
    /// Element in the middle of the sorted elements, or the mean of the two in the middle.
    Median,
    /// Least element.
    Min,
    /// Greatest element.
    Max,
    /// Most frequent element; of several the least. For labels.
    Mode,
    /// Element at the centre of the block; of two at the centre along an axis the first.
    Nearest,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 6] = [Self::Mean, Self::Median, Self::Min, Self::Max, Self::Mode, Self::Nearest];

    fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Min => "min",
            Self::Max => "max",
            Self::Mode => "mode",
            Self::Nearest => "nearest",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = Unfit;

    fn from_str(text: &str) -> Result<Self, Unfit> {
        Self::ALL.into_iter().find(|method| method.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Unfit::new(format!("found method {text:?}, expected one of {names}"))
        })
    }
}
