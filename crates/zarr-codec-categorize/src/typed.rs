//! The codec by its type.

use crate::CATEGORIZE;
use zarr_codec::{TypedCodec, array_codec};
use zarr_dtype::{DataType, npy_descr};
use zarr_json::Value;

/// Codec `categorize`: texts as numbers of labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Categorize(TypedCodec);

impl Categorize {
    /// Texts that are among these labels or empty.
    pub fn labels<T: AsRef<str>>(labels: impl IntoIterator<Item = T>) -> Self {
        let labels: Vec<Value> = labels.into_iter().map(|label| Value::from(label.as_ref())).collect();
        Self(TypedCodec::new(CATEGORIZE).with("labels", labels))
    }

    /// With numbers of this type of integers; bytes without sign by default.
    #[must_use]
    pub fn astype(self, data_type: &DataType) -> Self {
        Self(self.0.with("astype", npy_descr(data_type).unwrap_or_else(|| data_type.to_string())))
    }
}

array_codec!(Categorize);
