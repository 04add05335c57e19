//! Sizes in bytes of boxes of a table, whose columns have all or some of its dimensions.

use crate::column::MOST_ELEMENTS;

/// Sizes of the columns of a table, and the sizes that a box may have.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    /// Dimensions of each column that is read box by box, and the bytes of an element.
    pub(crate) columns: Vec<(Vec<usize>, u64)>,
    /// Number of bytes that is enough for threads to work beside each other.
    pub(crate) wanted: u64,
    /// Number of bytes that memory has room for.
    pub(crate) most: u64,
    /// Number of rows of a batch, which a box should have at least.
    pub(crate) wanted_rows: u64,
}

impl Sizes {
    /// Whether memory has room for a box of these lengths.
    pub(crate) fn fits(&self, lens: &[u64]) -> bool {
        let bytes = self.columns.iter().map(|(dimensions, bytes)| {
            dimensions.iter().fold(*bytes, |size, &number| size.saturating_mul(lens.get(number).copied().unwrap_or(1)))
        });
        bytes.fold(0, u64::saturating_add) <= self.most && product(lens.iter().copied()) <= MOST_ELEMENTS
    }

    /// Returns how many indices of dimension `number` a box may have whose other lengths are `lens`: the number that is wanted, and the
    /// greatest number.
    pub(crate) fn along(&self, number: usize, lens: &[u64]) -> (u64, u64) {
        let others = |dimensions: &[usize]| {
            let others = dimensions.iter().filter(|&&other| other != number);
            product(others.map(|&other| lens.get(other).copied().unwrap_or(1)))
        };
        let (mut fixed, mut each) = (0_u64, 0_u64);
        for (dimensions, bytes) in &self.columns {
            let part = if dimensions.contains(&number) { &mut each } else { &mut fixed };
            *part = part.saturating_add(bytes.saturating_mul(others(dimensions)));
        }
        let rows = product(lens.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, &len)| len)).max(1);
        // Columns without the dimension take no more for more indices of it.
        let in_bytes = |bytes: u64| bytes.saturating_sub(fixed).checked_div(each).unwrap_or(u64::MAX);
        let most = in_bytes(self.most).min(MOST_ELEMENTS / rows);
        (in_bytes(self.wanted).max(self.wanted_rows / rows), most)
    }
}

fn product(lens: impl Iterator<Item = u64>) -> u64 {
    lens.fold(1, u64::saturating_mul)
}
