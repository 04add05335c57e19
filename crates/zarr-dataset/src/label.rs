//! Labels: values of a coordinate by which indices are selected.

/// A value of a coordinate, as a program writes it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Label {
    /// An integer. Of times, nanoseconds since 1970.
    Integer(i128),
    /// A float.
    Number(f64),
    /// A string; of times a date as in ISO 8601, or a part of one: `2020`, `2020-01`, `2020-01-31T12:00`.
    Text(String),
}

/// The labels that are selected along a dimension: one, a list, or all between two.
///
/// A label is found exactly, unless [`nearest`](Self::nearest) or the like says otherwise. A date with parts left out stands for all times
/// within it; in a list, or where the nearest time is asked for, for the first of them.
///
/// ```
/// use zarr_dataset::Labels;
///
/// let one = Labels::from(52.5);
/// let some = Labels::from(["a", "b"]);
/// let near = Labels::nearest(52.4);
/// let some_near = Labels::nearest([52.4, 48.1]);
/// let all_of_winter = Labels::between("2019-12", "2020-02");
/// assert_ne!(near, one);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    pub(crate) find: Find,
    pub(crate) method: Method,
    /// Whether the coordinate is searched by halves, however small it is.
    pub(crate) is_sorted: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Find {
    One(Label),
    List(Vec<Label>),
    Slice(Option<Label>, Option<Label>),
}

/// Which value of the coordinate a label is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Exact,
    Nearest,
    /// The last at or before the label.
    Pad,
    /// The first at or behind the label.
    Backfill,
}

impl Labels {
    fn new(find: Find) -> Self {
        Self { find, method: Method::Exact, is_sorted: false }
    }

    /// The label, or for each of a list the one, that is nearest; of two, the greater.
    pub fn nearest(labels: impl Into<Self>) -> Self {
        Self { method: Method::Nearest, ..labels.into() }
    }

    /// The last label at or before this one, in the order of the coordinate: of latitudes from north to south the next one in the north.
    pub fn pad(labels: impl Into<Self>) -> Self {
        Self { method: Method::Pad, ..labels.into() }
    }

    /// The first label at or behind this one, in the order of the coordinate.
    pub fn backfill(labels: impl Into<Self>) -> Self {
        Self { method: Method::Backfill, ..labels.into() }
    }

    /// From a label to another one, both included, in the order of the coordinate: from north to south, if latitudes descend.
    pub fn between(first: impl Into<Label>, last: impl Into<Label>) -> Self {
        Self::new(Find::Slice(Some(first.into()), Some(last.into())))
    }

    /// From a label on, it included.
    pub fn from_first(first: impl Into<Label>) -> Self {
        Self::new(Find::Slice(Some(first.into()), None))
    }

    /// Up to a label, it included.
    pub fn to_last(last: impl Into<Label>) -> Self {
        Self::new(Find::Slice(None, Some(last.into())))
    }

    /// Searches the coordinate by halves, however small it is: of `n` chunks, log2(n) + 2 are read for a label, and twice as many for a slice.
    /// Without it a coordinate of up to 2^18 values is read as a whole.
    ///
    /// A coordinate that is not sorted is an error if its order is broken among the values read; else labels may not be found in it.
    #[must_use]
    pub fn assume_sorted(self) -> Self {
        Self { is_sorted: true, ..self }
    }
}

impl<L: Into<Label>> From<L> for Labels {
    fn from(label: L) -> Self {
        Self::new(Find::One(label.into()))
    }
}

impl<L: Into<Label>> From<Vec<L>> for Labels {
    fn from(labels: Vec<L>) -> Self {
        Self::new(Find::List(labels.into_iter().map(Into::into).collect()))
    }
}

impl<L: Into<Label>, const N: usize> From<[L; N]> for Labels {
    fn from(labels: [L; N]) -> Self {
        Self::new(Find::List(labels.into_iter().map(Into::into).collect()))
    }
}

macro_rules! labels {
    ($($kind:ident: $($number:ty),*;)*) => { $($(
        impl From<$number> for Label {
            fn from(value: $number) -> Self {
                Self::$kind(value.into())
            }
        }
    )*)* };
}

labels! {
    Integer: i8, i16, i32, i64, i128, u8, u16, u32, u64, bool;
    Number: f32, f64;
    Text: &str, String;
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Text(value) => write!(f, "{value:?}"),
        }
    }
}
