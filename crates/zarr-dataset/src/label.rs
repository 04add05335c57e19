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

/// The labels that are selected along a dimension.
///
/// A label, or a list of labels, is found exactly; a date with parts left out stands for all times within it. The other ways to look are
/// constructors.
///
/// ```
/// use zarr_dataset::Labels;
///
/// let one = Labels::from(52.5);
/// let some = Labels::from(["a", "b"]);
/// let near = Labels::nearest(52.4);
/// let all_of_winter = Labels::between("2019-12", "2020-02");
/// assert_ne!(near, one);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Labels(pub(crate) Find);

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Find {
    Exact(Label),
    List(Vec<Label>),
    Nearest(Label),
    /// The last at or before the label.
    Pad(Label),
    /// The first at or behind the label.
    Backfill(Label),
    Slice(Option<Label>, Option<Label>),
}

impl Labels {
    /// The label that is nearest; of two, the greater.
    pub fn nearest(label: impl Into<Label>) -> Self {
        Self(Find::Nearest(label.into()))
    }

    /// The last label at or before this one, in the order of the coordinate: of latitudes from north to south the next one in the north.
    pub fn pad(label: impl Into<Label>) -> Self {
        Self(Find::Pad(label.into()))
    }

    /// The first label at or behind this one, in the order of the coordinate.
    pub fn backfill(label: impl Into<Label>) -> Self {
        Self(Find::Backfill(label.into()))
    }

    /// From a label to another one, both included, in the order of the coordinate: from north to south, if latitudes descend.
    pub fn between(first: impl Into<Label>, last: impl Into<Label>) -> Self {
        Self(Find::Slice(Some(first.into()), Some(last.into())))
    }

    /// From a label on, it included.
    pub fn from_first(first: impl Into<Label>) -> Self {
        Self(Find::Slice(Some(first.into()), None))
    }

    /// Up to a label, it included.
    pub fn to_last(last: impl Into<Label>) -> Self {
        Self(Find::Slice(None, Some(last.into())))
    }
}

impl<L: Into<Label>> From<L> for Labels {
    fn from(label: L) -> Self {
        Self(Find::Exact(label.into()))
    }
}

impl<L: Into<Label>> From<Vec<L>> for Labels {
    fn from(labels: Vec<L>) -> Self {
        Self(Find::List(labels.into_iter().map(Into::into).collect()))
    }
}

impl<L: Into<Label>, const N: usize> From<[L; N]> for Labels {
    fn from(labels: [L; N]) -> Self {
        Self(Find::List(labels.into_iter().map(Into::into).collect()))
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
