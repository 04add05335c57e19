//! Axes, distances and channels, as descriptions of any form give them.

/// An axis of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) name: String,
    pub(crate) len: u64,
}

impl Axis {
    pub(crate) fn new(name: impl Into<String>, len: u64) -> Self {
        Self { name: name.into(), len }
    }
}

/// Distance between two elements along an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spacing {
    pub(crate) axis: char,
    pub(crate) size: f64,
    /// A unit as OME-Zarr names it.
    pub(crate) unit: Option<&'static str>,
}

/// A channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Channel {
    pub(crate) label: Option<String>,
    pub(crate) color: Option<[u8; 3]>,
    /// The values that are shown as the darkest and the brightest.
    pub(crate) window: Option<(f64, f64)>,
}

/// Facts about a series beside its pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct About {
    pub(crate) name: Option<String>,
    pub(crate) spacings: Vec<Spacing>,
    pub(crate) channels: Vec<Channel>,
}

/// A unit of length or of time as OME-Zarr names it; `None` for one that it does not have.
pub(crate) fn unit(text: &str) -> Option<&'static str> {
    // ImageJ writes letters that are not ASCII by their numbers.
    Some(match text.trim().trim_start_matches('\\') {
        "nm" | "nanometer" | "nanometers" => "nanometer",
        "\u{b5}m" | "\u{3bc}m" | "um" | "u00B5m" | "micron" | "microns" | "micrometer" | "micrometers" => "micrometer",
        "mm" | "millimeter" | "millimeters" => "millimeter",
        "cm" | "centimeter" | "centimeters" => "centimeter",
        "m" | "meter" | "meters" => "meter",
        "km" => "kilometer",
        "pm" => "picometer",
        "\u{c5}" | "A" | "angstrom" => "angstrom",
        "in" | "inch" | "inches" => "inch",
        "ft" => "foot",
        "s" | "sec" | "second" | "seconds" => "second",
        "ms" | "msec" | "millisecond" => "millisecond",
        "\u{b5}s" | "\u{3bc}s" | "us" | "microsecond" => "microsecond",
        "ns" | "nanosecond" => "nanosecond",
        "min" | "minute" => "minute",
        "h" | "hour" => "hour",
        "d" | "day" => "day",
        _ => return None,
    })
}
