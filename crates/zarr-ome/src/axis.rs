//! Axes of images.

use crate::Result;
use crate::version::Version;
use zarr_json::pointer::{At, ValueError};

/// Axis of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Name of the axis, such as `x`.
    pub name: String,
    /// Kind of the axis.
    pub kind: AxisKind,
    /// Unit of positions along the axis, as a word of UDUNITS such as `micrometer`; `None` if the document has none.
    pub unit: Option<String>,
}

/// Kind of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AxisKind {
    /// Axis in space.
    Space,
    /// Axis of time.
    Time,
    /// Axis of channels, such as colours or dyes.
    Channel,
    /// Kind that the specification does not define, as the document names it; `None` if the document names no kind.
    Other(Option<String>),
}

impl AxisKind {
    /// Returns the kind as documents have it, such as `space`; `None` for an axis whose document has no kind.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Space => Some("space"),
            Self::Time => Some("time"),
            Self::Channel => Some("channel"),
            Self::Other(name) => name.as_deref(),
        }
    }

    pub(crate) fn of(name: Option<&str>) -> Self {
        match name {
            Some("space") => Self::Space,
            Some("time") => Self::Time,
            Some("channel") => Self::Channel,
            other => Self::Other(other.map(str::to_owned)),
        }
    }

    /// Returns a number by which the specification orders kinds of axes: time before channels and other kinds before space.
    fn rank(&self) -> u8 {
        match self {
            Self::Time => 0,
            Self::Channel | Self::Other(_) => 1,
            Self::Space => 2,
        }
    }
}

impl Axis {
    /// Returns the symbol of the unit, such as `µm` for `micrometer`; the word itself if the unit has no common symbol, and `None` without
    /// a unit.
    ///
    /// ```
    /// # use zarr_ome::{Axis, AxisKind};
    /// let unit = Some("micrometer".to_owned());
    /// assert_eq!(Axis { name: "x".to_owned(), kind: AxisKind::Space, unit }.unit_symbol(), Some("µm"));
    /// ```
    pub fn unit_symbol(&self) -> Option<&str> {
        let unit = self.unit.as_deref()?;
        let symbol = SYMBOLS.iter().find(|(word, _)| *word == unit).map(|(_, symbol)| *symbol);
        Some(symbol.unwrap_or(unit))
    }
}

/// Words for units, each with its symbol.
const SYMBOLS: [(&str, &str); 23] = [
    ("angstrom", "Å"),
    ("attosecond", "as"),
    ("centimeter", "cm"),
    ("day", "d"),
    ("decimeter", "dm"),
    ("femtometer", "fm"),
    ("femtosecond", "fs"),
    ("foot", "ft"),
    ("hour", "h"),
    ("inch", "in"),
    ("kilometer", "km"),
    ("meter", "m"),
    ("micrometer", "µm"),
    ("microsecond", "µs"),
    ("millimeter", "mm"),
    ("millisecond", "ms"),
    ("minute", "min"),
    ("nanometer", "nm"),
    ("nanosecond", "ns"),
    ("picometer", "pm"),
    ("picosecond", "ps"),
    ("second", "s"),
    ("yard", "yd"),
];

/// Returns the word of UDUNITS for a unit, which is a word or a symbol; `None` for no unit (empty).
///
/// # Errors
/// The known units, if the unit is not known.
pub(crate) fn unit_of(unit: &str) -> Result<Option<&'static str>, String> {
    let plain = unit.replace(['u', 'μ'], "µ");
    let known = SYMBOLS.iter().find(|(word, symbol)| *word == unit || *symbol == unit || *symbol == plain);
    match known {
        _ if unit.is_empty() => Ok(None),
        Some((word, _)) => Ok(Some(word)),
        None => Err(SYMBOLS.map(|(word, _)| word).join(", ")),
    }
}

/// Reads the axes of a document. Adds deviations from the specification that do not prevent reading to `deviations`.
pub(crate) fn axes(list: &At<'_>, version: Version, deviations: &mut Vec<ValueError>) -> Result<Vec<Axis>, ValueError> {
    let items = list.items()?;
    let mut axes = Vec::<Axis>::new();
    for item in &items {
        let name = item.member("name")?;
        let text = name.text()?;
        if text.is_empty() || axes.iter().any(|axis| axis.name == text) {
            return Err(name.invalid("a name that no other axis has"));
        }
        let text_of = |member: &str| item.get_non_null(member).map(|at| at.text().map(str::to_owned)).transpose();
        let kind = AxisKind::of(text_of("type")?.as_deref());
        axes.push(Axis { name: text.to_owned(), kind, unit: text_of("unit")? });
    }
    if !(1..=MOST_AXES).contains(&axes.len()) {
        return Err(list.invalid(format!("1 to {MOST_AXES} axes")));
    }
    // Since 0.6 the axes may be those of an array instead of directions in space.
    let of_array = axes.iter().filter(|axis| axis.kind.name() == Some("array")).count();
    if version < Version::V06 || of_array < 2 {
        deviations.extend(deviations_of(list, &items, &axes));
    }
    if !(2..=5).contains(&axes.len()) {
        deviations.push(list.invalid("2 to 5 axes"));
    }
    Ok(axes)
}

/// Returns the deviations of the kinds, the number and the order of axes from the specification.
fn deviations_of(list: &At<'_>, items: &[At<'_>], axes: &[Axis]) -> Vec<ValueError> {
    let mut deviations = Vec::new();
    let mut most = 0;
    for (number, (item, axis)) in items.iter().zip(axes).enumerate() {
        let rank = axis.kind.rank();
        if rank < most {
            deviations.push(item.invalid("axes in the order time, channel, space"));
        }
        most = most.max(rank);
        let before = axes.get(..number).unwrap_or_default();
        if axis.kind != AxisKind::Space && before.iter().any(|other| other.kind.rank() == rank) {
            deviations.push(item.invalid("at most one axis of type time, and one of channels or another type"));
        }
    }
    let in_space = axes.iter().filter(|axis| axis.kind == AxisKind::Space).count();
    if !(2..=3).contains(&in_space) {
        deviations.push(list.invalid("2 or 3 axes of type space"));
    }
    deviations
}

/// Greatest number of axes that are read, more than the specification permits.
const MOST_AXES: usize = 32;
