//! Colour maps: tables of colours.

use std::fmt;

/// Red, green and blue components of a colour.
pub type Rgb = [u8; 3];

/// Number of colours of a map that is not categorical.
const LEN: usize = 256;

/// Colour map: a table of colours from the least value to the greatest, or for categories.
///
/// The tables are those that matplotlib publishes, rounded to bytes; `src/tables/README.md` has their authors and licences.
///
/// ```
/// use zarr_view::ColorMap;
///
/// let map = ColorMap::by_name("viridis").unwrap();
/// assert_eq!(map.colors().len(), 256);
/// assert_eq!(map.colors()[0], [0x44, 0x01, 0x54]);
/// assert!(ColorMap::by_name("jet").is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ColorMap {
    name: &'static str,
    colors: &'static [Rgb],
    kind: ColorMapKind,
}

/// Kind of values that a colour map is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColorMapKind {
    Sequential,
    Diverging,
    Categorical,
}

impl ColorMap {
    /// Map from dark violet over green to yellow. Perceptually even, also for people who see no red or no green.
    pub const VIRIDIS: Self = Self::new("viridis", &VIRIDIS, ColorMapKind::Sequential);
    /// Map from dark blue over grey to yellow. Looks nearly the same to people who see no red or no green.
    pub const CIVIDIS: Self = Self::new("cividis", &CIVIDIS, ColorMapKind::Sequential);
    /// Map from black over violet to light yellow.
    pub const MAGMA: Self = Self::new("magma", &MAGMA, ColorMapKind::Sequential);
    /// Map from black over red to light yellow.
    pub const INFERNO: Self = Self::new("inferno", &INFERNO, ColorMapKind::Sequential);
    /// Map from blue over red to yellow.
    pub const PLASMA: Self = Self::new("plasma", &PLASMA, ColorMapKind::Sequential);
    /// Map from black to white.
    pub const GRAY: Self = Self::new("gray", &GRAY, ColorMapKind::Sequential);
    /// Map from red over white to blue, for deviations.
    pub const RDBU: Self = Self::new("rdbu", &RDBU, ColorMapKind::Diverging);
    /// Map from blue over light grey to red, for deviations.
    pub const COOLWARM: Self = Self::new("coolwarm", &COOLWARM, ColorMapKind::Diverging);
    /// Map of twenty colours for categories.
    pub const TAB20: Self = Self::new("tab20", &TAB20, ColorMapKind::Categorical);

    /// All colour maps.
    pub const ALL: [Self; 9] = [
        Self::VIRIDIS,
        Self::CIVIDIS,
        Self::MAGMA,
        Self::INFERNO,
        Self::PLASMA,
        Self::GRAY,
        Self::RDBU,
        Self::COOLWARM,
        Self::TAB20,
    ];

    const fn new(name: &'static str, colors: &'static [Rgb], kind: ColorMapKind) -> Self {
        Self { name, colors, kind }
    }

    /// Returns the colour map with a name, in any case; `grey` is accepted for `gray`. `None` if there is none.
    pub fn by_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let name = if name == "grey" { "gray" } else { &name };
        Self::ALL.into_iter().find(|map| map.name == name)
    }

    /// Returns the name of the map, such as `viridis`.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns the colours: 256 from the least value to the greatest, or 20 for categories.
    pub fn colors(self) -> &'static [Rgb] {
        self.colors
    }

    /// Returns the bytes of the [colours](Self::colors): red, green and blue of each colour in turn.
    pub fn bytes(self) -> &'static [u8] {
        self.colors.as_flattened()
    }

    /// Returns whether the map is for categories: neighbouring colours in the table differ strongly.
    pub fn is_categorical(self) -> bool {
        self.kind == ColorMapKind::Categorical
    }

    /// Returns whether the middle of the map is a neutral colour, for deviations from a value.
    pub fn is_diverging(self) -> bool {
        self.kind == ColorMapKind::Diverging
    }

    /// Returns the colour at `fraction` of the range, as matplotlib does: the colour with index `256 * fraction`, rounded down. Fractions
    /// below 0 have the first colour, those from 1 the last; `None` for NaN.
    pub fn at(self, fraction: f64) -> Option<Rgb> {
        if fraction.is_nan() {
            return None;
        }
        let last = self.colors.len().saturating_sub(1);
        // Saturates at both ends.
        let index = (fraction * self.colors.len() as f64) as usize;
        self.colors.get(index.min(last)).copied()
    }

    /// Returns the colour of the category with index `number`. Colours repeat after the last.
    pub fn category(self, number: usize) -> Rgb {
        self.colors.get(number % self.colors.len().max(1)).copied().unwrap_or_default()
    }
}

impl fmt::Debug for ColorMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ColorMap({})", self.name)
    }
}

impl fmt::Display for ColorMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

static VIRIDIS: [Rgb; LEN] = table(include_bytes!("tables/viridis.rgb"));
static CIVIDIS: [Rgb; LEN] = table(include_bytes!("tables/cividis.rgb"));
static MAGMA: [Rgb; LEN] = table(include_bytes!("tables/magma.rgb"));
static INFERNO: [Rgb; LEN] = table(include_bytes!("tables/inferno.rgb"));
static PLASMA: [Rgb; LEN] = table(include_bytes!("tables/plasma.rgb"));
static RDBU: [Rgb; LEN] = table(include_bytes!("tables/rdbu.rgb"));
static COOLWARM: [Rgb; LEN] = table(include_bytes!("tables/coolwarm.rgb"));
static GRAY: [Rgb; LEN] = gray();

static TAB20: [Rgb; 20] = [
    [0x1f, 0x77, 0xb4],
    [0xae, 0xc7, 0xe8],
    [0xff, 0x7f, 0x0e],
    [0xff, 0xbb, 0x78],
    [0x2c, 0xa0, 0x2c],
    [0x98, 0xdf, 0x8a],
    [0xd6, 0x27, 0x28],
    [0xff, 0x98, 0x96],
    [0x94, 0x67, 0xbd],
    [0xc5, 0xb0, 0xd5],
    [0x8c, 0x56, 0x4b],
    [0xc4, 0x9c, 0x94],
    [0xe3, 0x77, 0xc2],
    [0xf7, 0xb6, 0xd2],
    [0x7f, 0x7f, 0x7f],
    [0xc7, 0xc7, 0xc7],
    [0xbc, 0xbd, 0x22],
    [0xdb, 0xdb, 0x8d],
    [0x17, 0xbe, 0xcf],
    [0x9e, 0xda, 0xe5],
];

const fn table(bytes: &[u8; 3 * LEN]) -> [Rgb; LEN] {
    let mut colors = [[0; 3]; LEN];
    let mut at = 0;
    while at < LEN {
        colors[at] = [bytes[3 * at], bytes[3 * at + 1], bytes[3 * at + 2]];
        at += 1;
    }
    colors
}

const fn gray() -> [Rgb; LEN] {
    let mut colors = [[0; 3]; LEN];
    let mut at = 0;
    while at < LEN {
        colors[at] = [at as u8; 3];
        at += 1;
    }
    colors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_have_their_published_colours() {
        for (name, first, middle, last) in [
            ("viridis", "440154", "21918c", "fde725"),
            ("cividis", "00224e", "7d7c78", "fee838"),
            ("magma", "000004", "b73779", "fcfdbf"),
            ("inferno", "000004", "bc3754", "fcffa4"),
            ("plasma", "0d0887", "cc4778", "f0f921"),
            ("gray", "000000", "808080", "ffffff"),
            ("RdBu", "67001f", "f6f7f7", "053061"),
            ("coolwarm", "3b4cc0", "dddcdc", "b40426"),
        ] {
            let map = ColorMap::by_name(name).unwrap();
            let hex = |fraction| {
                let [r, g, b] = map.at(fraction).unwrap();
                format!("{r:02x}{g:02x}{b:02x}")
            };
            assert_eq!([hex(0.0), hex(0.5), hex(1.0)], [first, middle, last], "{name}");
            assert_eq!(map.bytes().len(), 768);
        }
        assert_eq!(ColorMap::by_name("Grey"), Some(ColorMap::GRAY));
    }

    #[test]
    fn lightness_of_sequential_maps_rises() {
        let sequential = |map: &ColorMap| !map.is_diverging() && !map.is_categorical();
        for map in ColorMap::ALL.into_iter().filter(sequential) {
            // Relative luminance, with the weights of sRGB; the last colours of plasma alone fall by a little.
            let light = |&[r, g, b]: &Rgb| 0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b);
            let falls = map.colors().windows(2).filter(|pair| light(&pair[1]) < light(&pair[0]) - 1.0).count();
            assert_eq!(falls, 0, "{map}");
        }
    }

    #[test]
    fn fractions_are_those_of_matplotlib() {
        let map = ColorMap::GRAY;
        for (fraction, gray) in
            [(0.0, 0), (0.003, 0), (0.004, 1), (0.5, 128), (0.999, 255), (1.0, 255), (-3.0, 0), (9e99, 255)]
        {
            assert_eq!(map.at(fraction), Some([gray; 3]), "{fraction}");
        }
        assert_eq!(map.at(f64::NAN), None);
        assert_eq!(ColorMap::TAB20.category(21), ColorMap::TAB20.category(1));
    }
}
