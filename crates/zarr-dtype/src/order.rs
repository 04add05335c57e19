//! Byte order of stored elements, and conversion to the byte order of the machine.

use crate::{Layout, Scalar};
use std::sync::Arc;

/// Order of the bytes of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Lowest byte first: `<`, and if no order is given.
    Little,
    /// Big-endian, highest byte first: `>`.
    Big,
    /// No byte order: `|`, for types of single bytes.
    Irrelevant,
    /// Byte order of each field of a struct.
    Fields(Arc<[ByteOrder]>),
}

impl ByteOrder {
    /// Byte order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };

    /// Returns the byte order common to all fields that have one; [`Little`](Self::Little) if no field has one, `None` if they differ.
    pub fn uniform(&self) -> Option<&Self> {
        let Self::Fields(fields) = self else {
            return Some(if *self == Self::Irrelevant { &Self::Little } else { self });
        };
        let mut orders = fields.iter().filter(|order| !order.is_irrelevant()).map(Self::uniform);
        match orders.next() {
            None => Some(&Self::Little),
            Some(first) => first.filter(|_| orders.all(|order| order == first)),
        }
    }

    /// Returns whether there is no byte order, not in any field.
    fn is_irrelevant(&self) -> bool {
        match self {
            Self::Irrelevant => true,
            Self::Fields(fields) => fields.iter().all(Self::is_irrelevant),
            Self::Little | Self::Big => false,
        }
    }

    /// Returns the byte order of the field at `index` of a struct.
    fn of_field(&self, index: usize) -> &Self {
        match self {
            Self::Fields(fields) => fields.get(index).unwrap_or(&Self::Irrelevant),
            all => all,
        }
    }

    /// Returns whether elements of `layout` can be stored in this byte order: each part that needs an order has one, and `Fields`
    /// corresponds to a struct.
    pub fn fits(&self, layout: &Layout) -> bool {
        match (self, layout) {
            (Self::Little | Self::Big, _) => true,
            (Self::Irrelevant, layout) => !layout.has_byte_order(),
            (Self::Fields(orders), Layout::Struct { fields, .. }) => {
                orders.len() == fields.len()
                    && orders.iter().zip(&**fields).all(|(order, field)| order.fits(&field.layout))
            }
            (Self::Fields(_), _) => false,
        }
    }
}

/// Equally spaced numbers in an element whose bytes have to be reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SwapRun {
    /// Offset of the first number in the element, in bytes.
    pub offset: usize,
    /// Size of each number in bytes; 2, 4 and 8 have specialized loops.
    pub width: usize,
    /// Number of numbers to reverse.
    pub count: usize,
    /// Distance from one number to the next in bytes, at least `width`.
    pub stride: usize,
}

impl SwapRun {
    fn is_dense(&self) -> bool {
        self.count == 1 || self.stride == self.width
    }

    /// Returns the end of a run without gaps, as an offset in the element.
    fn end(&self) -> usize {
        self.offset.saturating_add(self.width.saturating_mul(self.count))
    }

    /// Reverses the bytes of the numbers in one element.
    fn apply(&self, item: &mut [u8]) {
        let numbers = item.get_mut(self.offset..).unwrap_or_default().chunks_mut(self.stride.max(1)).take(self.count);
        numbers.for_each(|number| number.get_mut(..self.width).unwrap_or_default().reverse());
    }
}

impl Layout {
    /// Returns the numbers in an element whose bytes have to be reversed to convert between memory form and `order`. Empty if `order` is
    /// that of the machine.
    ///
    /// ```
    /// # use zarr_dtype::{ByteOrder, DataType};
    /// let other = if cfg!(target_endian = "big") { ByteOrder::Little } else { ByteOrder::Big };
    /// let runs = DataType::Complex64.layout().swaps(&other);
    /// assert_eq!((runs[0].offset, runs[0].width, runs[0].count), (0, 4, 2));
    /// assert!(DataType::Complex64.layout().swaps(&ByteOrder::NATIVE).is_empty());
    /// ```
    pub fn swaps(&self, order: &ByteOrder) -> Vec<SwapRun> {
        let mut runs = Vec::new();
        // `StructType::new` refuses structs with more than `MAX_RUNS` runs, so that no limit is needed.
        collect(self, order, 0, &mut runs, usize::MAX);
        merged(runs)
    }

    /// Reverses bytes in contiguous elements, to convert them from memory form to `order` or back. An incomplete element at the end is not
    /// changed.
    pub fn swap(&self, order: &ByteOrder, items: &mut [u8]) {
        let runs = self.swaps(order);
        if !runs.is_empty() {
            items
                .chunks_exact_mut(self.item_size().max(1))
                .for_each(|item| runs.iter().for_each(|run| run.apply(item)));
        }
    }

    /// Returns whether elements have at most `limit` runs of numbers that may have to be reversed, for any byte order.
    pub(crate) fn has_runs_within(&self, limit: usize) -> bool {
        let other = if ByteOrder::NATIVE == ByteOrder::Little { ByteOrder::Big } else { ByteOrder::Little };
        collect(self, &other, 0, &mut Vec::new(), limit)
    }
}

/// Adds the runs of one element that begins at byte `base` to `runs`. Returns false if there are more than `limit`.
fn collect(layout: &Layout, order: &ByteOrder, base: usize, runs: &mut Vec<SwapRun>, limit: usize) -> bool {
    match layout {
        Layout::Fixed { scalar, count } => add(*scalar, crate::layout::to_usize(*count), order, base, runs),
        Layout::Bytes { .. } | Layout::Variable { .. } => {}
        Layout::Struct { fields, .. } => {
            for (index, field) in fields.iter().enumerate() {
                let (order, base) = (order.of_field(index), base.saturating_add(field.offset));
                let fits = match (&field.layout, field.count) {
                    (Layout::Fixed { scalar, count }, times) => {
                        add(*scalar, crate::layout::to_usize(*count).saturating_mul(times), order, base, runs);
                        true
                    }
                    (layout, 1) => collect(layout, order, base, runs, limit),
                    (layout, times) => repeat(layout, times, order, base, runs, limit),
                };
                if !fits {
                    return false;
                }
            }
        }
    }
    runs.len() <= limit
}

fn add(scalar: Scalar, count: usize, order: &ByteOrder, offset: usize, runs: &mut Vec<SwapRun>) {
    let width = scalar.size();
    if width > 1 && matches!(order, ByteOrder::Little | ByteOrder::Big) && *order != ByteOrder::NATIVE {
        runs.push(SwapRun { offset, width, count, stride: width });
    }
}

/// Adds the runs of `times` inner elements side by side to `runs`. Returns false if there are more than `limit`.
fn repeat(
    layout: &Layout,
    times: usize,
    order: &ByteOrder,
    base: usize,
    runs: &mut Vec<SwapRun>,
    limit: usize,
) -> bool {
    let size = layout.item_size();
    let mut inner = Vec::new();
    if !collect(layout, order, 0, &mut inner, limit) {
        return false;
    }
    if let [whole] = merged(inner.clone()).as_slice()
        && whole.is_dense()
        && whole.end() == size
        && whole.offset == 0
    {
        runs.push(SwapRun { offset: base, count: whole.count.saturating_mul(times), stride: whole.width, ..*whole });
        return runs.len() <= limit;
    }
    for run in inner {
        let offset = base.saturating_add(run.offset);
        if run.count == 1 {
            runs.push(SwapRun { offset, count: times, stride: size, ..run });
        } else {
            // Runs within runs have two strides: one run for each inner element.
            if runs.len().saturating_add(times) > limit {
                return false;
            }
            runs.extend(
                (0..times).map(|index| SwapRun { offset: offset.saturating_add(index.saturating_mul(size)), ..run }),
            );
        }
    }
    runs.len() <= limit
}

/// Merges each run with the previous one if it begins at the end of that run.
fn merged(runs: Vec<SwapRun>) -> Vec<SwapRun> {
    let mut merged: Vec<SwapRun> = Vec::new();
    for run in runs {
        match merged.last_mut() {
            Some(last) if last.is_dense() && run.is_dense() && last.width == run.width && last.end() == run.offset => {
                last.count = last.count.saturating_add(run.count);
                last.stride = last.width;
            }
            _ => merged.push(run),
        }
    }
    merged
}
