//! Levels of pyramids of images and maps: which one is drawn, and which part of it.

use crate::Result;
use crate::cut::Cut;
use crate::figure::Room;

impl Room {
    /// Chooses the level of a pyramid on which a part of its finest level is drawn, and returns its number and the part of it: the coarsest
    /// level with as many elements along the shown axes as the part has samples in the room, or the level `chosen`. A selection with steps
    /// uses the finest level. `whole` is the part of the finest level, whose shape is `finest`; `shape` returns the shape of one of the
    /// `count` levels, and is called from the coarsest to finer ones. Levels of another number of dimensions are chosen by the caller alone.
    ///
    /// ```
    /// use zarr_view::{Cut, Room};
    ///
    /// let shapes = [[512_u64, 512], [256, 256], [128, 128]];
    /// let whole = Cut::new(&shapes[0], &"0:256, :".parse()?, None)?;
    /// let (level, cut) = Room::pixels(200, 100).level(whole, &shapes[0], 3, None, |number| Ok(shapes[number].to_vec()))?;
    /// assert_eq!((level, cut.samples()[0].of), (1, 128));
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of `shape`, and those of [`Cut::scaled`].
    pub fn level(
        &self,
        whole: Cut,
        finest: &[u64],
        count: usize,
        chosen: Option<usize>,
        mut shape: impl FnMut(usize) -> Result<Vec<u64>>,
    ) -> Result<(usize, Cut)> {
        if let Some(number) = chosen.filter(|number| *number > 0) {
            let cut = whole.scaled(finest, &shape(number)?)?;
            return Ok((number, cut));
        }
        if chosen.is_none() && !whole.has_steps() {
            let least = self.least(&whole, finest);
            for number in (1..count).rev() {
                let shape = shape(number)?;
                let has = |&(axis, least): &(usize, u64)| shape.get(axis).is_some_and(|&len| len >= least);
                if shape.len() == finest.len() && least.iter().all(has) {
                    return Ok((number, whole.scaled(finest, &shape)?));
                }
            }
        }
        Ok((0, whole))
    }

    /// Returns the axes that are shown, each with the length of a level of which the part has as many samples as are drawn of the finest
    /// level.
    fn least(&self, whole: &Cut, finest: &[u64]) -> Vec<(usize, u64)> {
        let samples = whole.samples();
        let most = self.most(&samples.iter().map(|samples| samples.of).collect::<Vec<_>>());
        let axes = whole.shown().iter().zip(&most).zip(&samples);
        axes.map(|((&axis, &most), samples)| {
            let len = finest.get(axis).copied().unwrap_or(1);
            let least = u128::from(samples.thinned(most).count) * u128::from(len) / u128::from(samples.of.max(1));
            (axis, u64::try_from(least).unwrap_or(u64::MAX))
        })
        .collect()
    }
}
