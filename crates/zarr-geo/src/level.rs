//! Levels of pyramids.

use crate::Transform;

/// Level of a pyramid: an array or a group of one resolution.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Level {
    /// Path of the array or group, relative to the group of the pyramid.
    pub asset: String,
    /// Path of the level that this one was computed from; `None` for the original.
    pub derived_from: Option<String>,
    /// Factors from the level that this one was computed from, one for each axis; empty if the document has none.
    pub scale: Vec<f64>,
    /// Offsets from that level, one for each axis; empty if the document has none.
    pub translation: Vec<f64>,
    /// Transformation from indices of the level to coordinates; `None` if the document has none.
    pub transform: Option<Transform>,
    /// Number of rows and columns of the level; `None` if the document does not say.
    pub shape: Option<[u64; 2]>,
}

impl Level {
    /// Level at a path.
    pub fn new(asset: impl Into<String>) -> Self {
        Self { asset: asset.into(), ..Self::default() }
    }

    /// Sets the level that this one was computed from, and how many times larger its pixels are along y and x.
    #[must_use]
    pub fn derived_from(self, source: impl Into<String>, rows: f64, columns: f64) -> Self {
        Self { derived_from: Some(source.into()), scale: vec![rows, columns], translation: vec![0.0, 0.0], ..self }
    }

    /// Sets the transformation, and the number of rows and columns.
    #[must_use]
    pub fn at(self, transform: Transform, rows: u64, columns: u64) -> Self {
        Self { transform: Some(transform), shape: Some([rows, columns]), ..self }
    }
}
