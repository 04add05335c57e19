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
        let mut coarser = None;
        let (level, cut) = room.level(cut(finest.shape())?, finest.shape(), image.level_count(), level, |number| {
            let array = image.level(number)?;
            let shape = array.shape().to_vec();
            coarser = Some(array);
            Ok(shape)
        })?;
        let array = coarser.filter(|_| level > 0).unwrap_or(finest);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;
    use zarr_array::{Group, NewArray, NewGroup, Registry, Selection, Store};
    use zarr_json::{Value, json};
    use zarr_store::MemoryStore;

    /// Creates an image of one axis of rows, which is long, and one of columns; each level has half of the elements of the one before.
    fn image(rows: u64, columns: u64, levels: u32) -> Image {
        let mut registry = Registry::default();
        zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let scale = json!([{"type": "scale", "scale": [1.0, 1.0]}]);
        let datasets =
            (0..levels).map(|level| json!({"path": (level.to_string()), "coordinateTransformations": (scale.clone())}));
        let axes = json!([{"name": "y", "type": "space"}, {"name": "x", "type": "space"}]);
        let multiscale = json!({"axes": axes, "datasets": (Value::Array(datasets.collect()))});
        let ome = json!({"version": "0.5", "multiscales": [multiscale]});
        let group = Group::create(&store, "/", NewGroup::new().attribute("ome", ome), &Arc::new(registry)).unwrap();
        for level in 0..levels {
            let shape = [rows, columns].map(|len| len.div_ceil(1 << level));
            group.create_array(&level.to_string(), NewArray::new(&shape, "uint8").codecs("bytes").unwrap()).unwrap();
        }
        Image::open(&group).unwrap().unwrap()
    }

    proptest! {
        /// The level has as many elements as are drawn, and the next coarser one has not.
        #[test]
        fn the_coarsest_level_that_fits_is_chosen(
            rows in 1_u64..600, columns in 1_u64..600, levels in 1_u32..6, width in 1_usize..300, height in 1_usize..300
        ) {
            let image = image(rows, columns, levels);
            let room = Room::pixels(width, height);
            let whole = |shape: &[u64]| Cut::new(shape, &Selection::all(), Some(&[0, 1]));
            let cut = ImageCut::new(&image, whole, room, None).unwrap();
            let most = room.most(&[rows, columns]);
            let drawn: Vec<u64> = [rows, columns].iter().zip(&most).map(|(&len, &most)| Samples::all(0, 1, len).thinned(most).count).collect();
            let has = |level: usize| image.level(level).unwrap().shape().iter().zip(&drawn).all(|(len, drawn)| len >= drawn);
            prop_assert!(has(cut.level));
            prop_assert!((cut.level + 1..image.level_count()).all(|coarser| !has(coarser)));
            // A level that is asked for is taken.
            let last = image.level_count() - 1;
            prop_assert_eq!(ImageCut::new(&image, whole, room, Some(last)).unwrap().level, last);
        }
    }
}
