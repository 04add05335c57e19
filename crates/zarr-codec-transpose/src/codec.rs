//! Codec `transpose`.

use std::sync::{Arc, OnceLock};
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, CodecValue, ElementSpec, Error, View, ViewMut};
use zarr_grid::Shape;
use zarr_json::{Map, Value};

/// Entry of the codec `transpose` for the table of codecs.
pub const TRANSPOSE: CodecEntry = CodecEntry::array_to_array("transpose", |context| {
    let codec = Transpose::from_config(context)?;
    Ok(Arc::new(Bound { codec, element: context.element.clone(), order: OnceLock::new() }))
})
.list_argument("order")
.example(r#"{"order": [1, 0]}"#);

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[TRANSPOSE];

/// Order of axes of the encoded chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Order {
    /// `"C"`: unchanged.
    C,
    /// `"F"`: reversed.
    F,
    /// Permutation: encoded axis `i` is decoded axis `order[i]`.
    Axes(Vec<usize>),
}

/// Codec `transpose`: the axes of a chunk in another order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transpose {
    order: Order,
}

impl Transpose {
    /// Creates the codec with `order`, a permutation of the axes: encoded axis `i` is decoded axis `order[i]`.
    ///
    /// # Errors
    /// [`Error::Argument`] if `order` is not a permutation.
    pub fn new(order: impl IntoIterator<Item = usize>) -> Result<Self, Error> {
        let order: Vec<usize> = order.into_iter().collect();
        if !is_permutation(&order) {
            return Err(TRANSPOSE.argument("order", &format!("expected a permutation of the axes, found {order:?}")));
        }
        Ok(Self { order: Order::Axes(order) })
    }

    /// Returns the permutation of `rank` axes, or `None` if the order has another number of axes.
    fn axes(&self, rank: usize) -> Option<Vec<usize>> {
        match &self.order {
            Order::C => Some((0..rank).collect()),
            Order::F => Some((0..rank).rev().collect()),
            Order::Axes(axes) => (axes.len() == rank).then(|| axes.clone()),
        }
    }
}

impl CodecValue for Transpose {
    const ENTRY: CodecEntry = TRANSPOSE;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let value = config.required("order")?;
        let order = match value.as_str() {
            Some("C") => Some(Order::C),
            Some("F") => Some(Order::F),
            Some(_) => None,
            None => {
                let axes = config.integers("order")?.unwrap_or_default();
                let axes: Option<Vec<usize>> = axes.into_iter().map(|axis| usize::try_from(axis).ok()).collect();
                axes.filter(|axes| is_permutation(axes)).map(Order::Axes)
            }
        };
        let order = order.ok_or_else(|| config.unexpected("order", "a permutation of the axes", value))?;
        Ok(Self { order })
    }

    fn to_config(&self) -> Map {
        let order = match &self.order {
            Order::C => "C".into(),
            Order::F => "F".into(),
            Order::Axes(axes) => Value::from(axes.clone()),
        };
        Map::from([("order", order)])
    }
}

/// Returns whether `axes` contains each axis exactly once.
fn is_permutation(axes: &[usize]) -> bool {
    let mut seen = vec![false; axes.len()];
    axes.iter().all(|&axis| seen.get_mut(axis).is_some_and(|seen| !std::mem::replace(seen, true)))
}

/// Codec for the data type of an array: built from metadata, used for every chunk.
#[derive(Debug)]
struct Bound {
    codec: Transpose,
    element: ElementSpec,
    /// Permutation, set when the first shape shows the number of axes. All chunks of an array have the same number of axes, but the
    /// metadata of the codec does not state it for the orders `C` and `F`.
    order: OnceLock<Vec<usize>>,
}

impl Bound {
    fn order(&self, rank: usize) -> Result<&[usize], Error> {
        let wrong = |what: String| Error::Metadata { pointer: "/configuration/order".to_owned(), what };
        let order = match self.order.get() {
            Some(order) => order,
            None => {
                let order = self.codec.axes(rank);
                let order = order.ok_or_else(|| wrong(format!("expected a permutation of {rank} axes")))?;
                self.order.get_or_init(|| order)
            }
        };
        if order.len() != rank {
            return Err(wrong(format!("found an order of {} axes, expected {rank}", order.len())));
        }
        Ok(order)
    }
}

impl ArrayToArray for Bound {
    fn encoded(&self) -> &ElementSpec {
        &self.element
    }

    fn encoded_shape(&self, shape: &[u64]) -> Result<Shape, Error> {
        let order = self.order(shape.len())?;
        Ok(order.iter().filter_map(|&axis| shape.get(axis).copied()).collect())
    }

    fn permutation(&self) -> Option<&[usize]> {
        self.order.get().map(Vec::as_slice)
    }

    fn encode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let order = self.order(chunk.shape().len())?;
        out.copy_from(&chunk.clone().permuted(order));
        Ok(())
    }

    fn decode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let order = self.order(chunk.shape().len())?;
        out.reborrow().permuted(order).copy_from(chunk);
        Ok(())
    }
}
