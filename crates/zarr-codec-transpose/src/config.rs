//! The configuration: the order of axes.

use zarr_codec::{BuildContext, Error};

/// An order of axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// `"C"`: as they are.
    C,
    /// `"F"`: the last one first.
    F,
    /// Encoded axis `i` is decoded axis `order[i]`; each axis is there once.
    Axes(Vec<usize>),
}

impl Order {
    /// The permutation of `rank` axes; `None` if the order is one of another number of axes.
    pub fn axes(&self, rank: usize) -> Option<Vec<usize>> {
        match self {
            Self::C => Some((0..rank).collect()),
            Self::F => Some((0..rank).rev().collect()),
            Self::Axes(axes) => (axes.len() == rank).then(|| axes.clone()),
        }
    }
}

/// The configuration of codec `transpose`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransposeConfig {
    /// The order of the encoded axes.
    pub order: Order,
}

impl TransposeConfig {
    /// Reads the configuration.
    ///
    /// # Errors
    /// [`Error::Metadata`] if `order` is missing or no permutation.
    pub fn from_context(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let value = config.required("order")?;
        let order = match value.as_str() {
            Some("C") => Order::C,
            Some("F") => Order::F,
            Some(_) => return Err(config.unexpected("order", "a permutation of the axes", value)),
            None => {
                let axes = config.integers("order")?.unwrap_or_default();
                let permutation = permutation(&axes);
                Order::Axes(permutation.ok_or_else(|| config.unexpected("order", "a permutation of the axes", value))?)
            }
        };
        Ok(Self { order })
    }
}

/// The axes as they are used, if each is there once.
fn permutation(axes: &[u64]) -> Option<Vec<usize>> {
    let mut seen = vec![false; axes.len()];
    axes.iter()
        .map(|&axis| {
            let axis = usize::try_from(axis).ok()?;
            let again = std::mem::replace(seen.get_mut(axis)?, true);
            (!again).then_some(axis)
        })
        .collect()
}
