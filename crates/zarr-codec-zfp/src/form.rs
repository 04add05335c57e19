//! Stored form of chunks.

use crate::mode::Mode;
use zarr_codec::Error;
use zfp_rs::ZfpDimensionality;

/// Stored form of chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// Name of the codec.
    pub(crate) name: &'static str,
    pub(crate) mode: Mode,
    /// Whether data begin with a header.
    pub(crate) header: bool,
}

impl Form {
    /// Returns the dimensionality of the blocks of a chunk of `axes` axes.
    pub(crate) fn dimensionality(axes: usize) -> Result<ZfpDimensionality, Error> {
        Ok(match axes {
            0 | 1 => ZfpDimensionality::D1,
            2 => ZfpDimensionality::D2,
            3 => ZfpDimensionality::D3,
            4 => ZfpDimensionality::D4,
            _ => {
                let what = format!("expected chunks of 4 axes at most, found {axes}");
                return Err(Error::Metadata { pointer: String::new(), what });
            }
        })
    }
}
