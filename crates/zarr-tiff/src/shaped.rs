//! Descriptions of tifffile: a JSON object with the shape of an array.

use zarr_json::Value;

use crate::description::Axis;

/// The array that a description describes.
#[derive(Debug)]
pub(crate) struct Shaped {
    shape: Vec<u64>,
    axes: Option<String>,
    /// Only the first page has a directory.
    pub(crate) is_truncated: bool,
}

/// Maximum length of a description of this kind.
const MAX_LEN: usize = 1 << 20;

/// Whether a description is one of tifffile.
pub(crate) fn is_shaped(text: &str) -> bool {
    text.starts_with("{\"shape\":") && text.len() <= MAX_LEN
}

/// Reads a description, if it has a shape.
pub(crate) fn parse(text: &str) -> Option<Shaped> {
    if !is_shaped(text) {
        return None;
    }
    let value = Value::from_json(text).ok()?;
    let shape: Option<Vec<u64>> = value.get("shape")?.as_array()?.iter().map(Value::as_u64).collect();
    let shape = shape?;
    if shape.contains(&0) {
        return None;
    }
    let axes = value.get("axes").and_then(Value::as_str).map(str::to_owned);
    let is_truncated = value.get("truncated").and_then(Value::as_bool).unwrap_or(false);
    Some(Shaped { shape, axes, is_truncated })
}

impl Shaped {
    /// The axes of pages that have `samples` numbers each, the slowest first; `None` if the shape does not fit.
    pub(crate) fn axes(&self, samples: u128) -> Option<Vec<Axis>> {
        let product = |lens: &[u64]| lens.iter().try_fold(1_u128, |product, len| product.checked_mul(u128::from(*len)));
        let leading = (0..=self.shape.len()).rev().find(|at| product(&self.shape[*at..]) == Some(samples))?;
        // The axes of the pages themselves are known, and Q stands for one without a name.
        let names = self
            .axes
            .as_ref()
            .map(|axes| axes.chars().take(leading).map(|axis| axis.to_lowercase().collect()).collect::<Vec<String>>());
        let is_clear = |names: &Vec<String>| {
            let is_known = |(at, name): (usize, &String)| !"xyqs".contains(&**name) && !names[..at].contains(name);
            names.len() == leading && names.iter().enumerate().all(is_known)
        };
        let names = names.filter(is_clear);
        let long = self.shape[..leading].iter().enumerate().filter(|(_, len)| **len != 1);
        let count = long.clone().count();
        let axes = long.enumerate().map(|(number, (at, len))| {
            let named = names.as_ref().and_then(|names| names.get(at)).cloned();
            let name = named.unwrap_or_else(|| if count == 1 { "page".to_owned() } else { format!("page_{number}") });
            Axis::new(name, *len)
        });
        Some(axes.collect())
    }
}
