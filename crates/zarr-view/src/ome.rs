//! OME-Zarr images: axis labels, and the level that is read.

use crate::cut::Cut;
use crate::figure::Room;
use crate::labels::{AxisLabels, Positions};
use crate::samples::Samples;
use crate::{Error, Result};
use zarr_array::Array;
use zarr_ome::Image;

/// Level of an image, and the part of it that is shown.
#[derive(Clone, Debug)]
pub struct ImageCut {
    /// Index of the level; 0 is the finest.
    pub level: usize,
    /// Array of the level.
    pub array: Array,
    /// Cut of `array` that is shown.
    pub cut: Cut,
}

impl ImageCut {
    /// Chooses the coarsest level that fills the room, and the part of it that corresponds to the cut which `cut` returns for the shape of
    /// the finest level. `level` chooses a level instead. A selection with steps uses the finest level.
    ///
    /// # Errors
    /// The errors of [`Image::level`] and of `cut`.
    pub fn new(image: &Image, cut: impl Fn(&[u64]) -> Result<Cut>, room: Room, level: Option<usize>) -> Result<Self> {
        let finest = image.level(0)?;
        let whole = cut(finest.shape())?;
        let samples = whole.samples();
        let (level, array) = match level {
            Some(0) => (0, finest.clone()),
            Some(number) => (number, image.level(number)?),
            None if whole.has_steps() => (0, finest.clone()),
            None => {
                let selected: Vec<u64> = samples.iter().map(|samples| samples.of).collect();
                let of_axis = |((&axis, &most), samples): ((&usize, &u64), &Samples)| {
                    let len = finest.shape().get(axis).copied().unwrap_or(1);
                    // As many elements of the axis as make as many samples of the part as the finest level has.
                    let least =
                        u128::from(samples.thinned(most).count) * u128::from(len) / u128::from(samples.of.max(1));
                    (axis, u64::try_from(least).unwrap_or(u64::MAX))
                };
                let most = room.most(&selected);
                let least: Vec<_> = whole.shown().iter().zip(&most).zip(&samples).map(of_axis).collect();
                match image.level_of(&least)? {
                    (0, _) => (0, finest.clone()),
                    coarser => coarser,
                }
            }
        };
        let cut = if level == 0 { whole } else { whole.scaled(finest.shape(), array.shape())? };
        Ok(Self { level, array, cut })
    }

    /// Returns the labels of a shown axis: positions by the scale of the level, or indices if positions are
    /// [unknown](zarr_ome::Multiscale::unplaced).
    pub fn labels(&self, image: &Image, axis: usize, samples: &Samples) -> Result<AxisLabels> {
        let multiscale = image.multiscale();
        let (Some(axis_of), Some(level)) = (multiscale.axes.get(axis), multiscale.levels.get(self.level)) else {
            return Err(Error::argument(format!("found axis {axis}, expected one of {}", multiscale.axes.len())));
        };
        let name = Some(axis_of.name.clone());
        let units = multiscale.unit_symbol(axis).map(str::to_owned);
        let positions = match (&units, self.level) {
            // Indices of the finest level are indices, and so are those of an image whose positions are not known.
            (None, 0) => Positions::Indices,
            _ if multiscale.unplaced.is_some() => Positions::Indices,
            _ => {
                let numbers = (0..samples.count).map(|number| level.position(axis, samples.index(number)));
                Positions::Numbers(numbers.collect())
            }
        };
        Ok(AxisLabels { name, units, positions })
    }
}
