//! Geographic coordinate reference systems: ellipsoids, prime meridians, and the systems of widely used codes of EPSG.

use super::{Unit, id, quoted};

/// Ellipsoids by the code of EPSG: name, semi-major axis in metres, inverse flattening (0 for a sphere).
const ELLIPSOIDS: [(u32, &str, f64, f64); 18] = [
    (7001, "Airy 1830", 6_377_563.396, 299.324_964_6),
    (7003, "Australian National Spheroid", 6_378_160.0, 298.25),
    (7004, "Bessel 1841", 6_377_397.155, 299.152_812_8),
    (7008, "Clarke 1866", 6_378_206.4, 294.978_698_213_898),
    (7011, "Clarke 1880 (IGN)", 6_378_249.2, 293.466_021_293_627),
    (7012, "Clarke 1880 (RGS)", 6_378_249.145, 293.465),
    (7019, "GRS 1980", 6_378_137.0, 298.257_222_101),
    (7022, "International 1924", 6_378_388.0, 297.0),
    (7024, "Krassowsky 1940", 6_378_245.0, 298.3),
    (7030, "WGS 84", 6_378_137.0, 298.257_223_563),
    (7035, "Sphere", 6_371_000.0, 0.0),
    (7036, "GRS 1967", 6_378_160.0, 298.247_167_427),
    (7043, "WGS 72", 6_378_135.0, 298.26),
    (7048, "GRS 1980 Authalic Sphere", 6_371_007.0, 0.0),
    (7049, "IAG 1975", 6_378_140.0, 298.257),
    (7050, "GRS 1967 Modified", 6_378_160.0, 298.25),
    (7052, "Clarke 1866 Authalic Sphere", 6_370_997.0, 0.0),
    (1024, "CGCS2000", 6_378_137.0, 298.257_222_101),
];

/// Geographic systems by the code of EPSG: name, datum, its code, and the code of the ellipsoid. All count degrees from Greenwich.
const SYSTEMS: [(u32, &str, &str, u32, u32); 30] = [
    (4167, "NZGD2000", "New Zealand Geodetic Datum 2000", 6167, 7019),
    (4171, "RGF93 v1", "Reseau Geodesique Francais 1993 v1", 6171, 7019),
    (4202, "AGD66", "Australian Geodetic Datum 1966", 6202, 7003),
    (4203, "AGD84", "Australian Geodetic Datum 1984", 6203, 7003),
    (4214, "Beijing 1954", "Beijing 1954", 6214, 7024),
    (4230, "ED50", "European Datum 1950", 6230, 7022),
    (4258, "ETRS89", "European Terrestrial Reference System 1989 ensemble", 6258, 7019),
    (4267, "NAD27", "North American Datum 1927", 6267, 7008),
    (4269, "NAD83", "North American Datum 1983", 6269, 7019),
    (4272, "NZGD49", "New Zealand Geodetic Datum 1949", 6272, 7022),
    (4277, "OSGB36", "Ordnance Survey of Great Britain 1936", 6277, 7001),
    (4283, "GDA94", "Geocentric Datum of Australia 1994", 6283, 7019),
    (4284, "Pulkovo 1942", "Pulkovo 1942", 6284, 7024),
    (4289, "Amersfoort", "Amersfoort", 6289, 7004),
    (4301, "Tokyo", "Tokyo", 6301, 7004),
    (4312, "MGI", "Militar-Geographische Institut", 6312, 7004),
    (4314, "DHDN", "Deutsches Hauptdreiecksnetz", 6314, 7004),
    (4322, "WGS 72", "World Geodetic System 1972", 6322, 7043),
    (4326, "WGS 84", "World Geodetic System 1984", 6326, 7030),
    (4490, "China Geodetic Coordinate System 2000", "China 2000", 1043, 1024),
    (4610, "Xian 1980", "Xian 1980", 6610, 7049),
    (4612, "JGD2000", "Japanese Geodetic Datum 2000", 6612, 7019),
    (4617, "NAD83(CSRS)", "NAD83 Canadian Spatial Reference System", 6140, 7019),
    (4618, "SAD69", "South American Datum 1969", 6618, 7050),
    (4619, "SWEREF99", "SWEREF99", 6619, 7019),
    (4674, "SIRGAS 2000", "Sistema de Referencia Geocentrico para las AmericaS 2000", 6674, 7019),
    (4759, "NAD83(NSRS2007)", "NAD83 (National Spatial Reference System 2007)", 6759, 7019),
    (6318, "NAD83(2011)", "NAD83 (National Spatial Reference System 2011)", 1116, 7019),
    (6668, "JGD2011", "Japanese Geodetic Datum 2011", 1128, 7019),
    (7844, "GDA2020", "Geocentric Datum of Australia 2020", 1168, 7019),
];

/// Ellipsoid: its size and its form.
#[derive(Clone, Debug, PartialEq)]
pub struct Ellipsoid {
    name: String,
    semi_major_axis: f64,
    inverse_flattening: f64,
}

impl Ellipsoid {
    /// Makes an ellipsoid of its semi-major axis in metres and its inverse flattening, which is 0 for a sphere.
    ///
    /// # Errors
    /// A message if the numbers are none of an ellipsoid.
    pub fn new(name: impl Into<String>, semi_major_axis: f64, inverse_flattening: f64) -> Result<Self, String> {
        let is_form = inverse_flattening == 0.0 || (inverse_flattening > 1.0 && inverse_flattening.is_finite());
        match semi_major_axis.is_finite() && semi_major_axis > 0.0 && is_form {
            true => Ok(Self { name: name.into(), semi_major_axis, inverse_flattening }),
            false => Err(format!(
                "found an ellipsoid with a semi-major axis of {semi_major_axis} and an inverse flattening of {inverse_flattening}"
            )),
        }
    }

    /// Makes an ellipsoid of both of its axes, in metres.
    ///
    /// # Errors
    /// A message if the numbers are none of an ellipsoid.
    pub fn of_axes(name: impl Into<String>, semi_major_axis: f64, semi_minor_axis: f64) -> Result<Self, String> {
        let inverse = match semi_major_axis == semi_minor_axis {
            true => 0.0,
            false => semi_major_axis / (semi_major_axis - semi_minor_axis),
        };
        let made = Self::new(name, semi_major_axis, inverse);
        made.map_err(|_| format!("found an ellipsoid with axes of {semi_major_axis} and {semi_minor_axis}"))
    }

    /// Makes an ellipsoid of its semi-major axis, and of its semi-minor axis, its inverse flattening, or both, which have to be those of one
    /// ellipsoid to a millimetre; `None` without any.
    ///
    /// # Errors
    /// A message if the numbers are none of an ellipsoid, or are those of two.
    pub fn of_parts(
        name: &str,
        semi_major_axis: f64,
        semi_minor_axis: Option<f64>,
        inverse_flattening: Option<f64>,
    ) -> Result<Option<Self>, String> {
        let by_axes = semi_minor_axis.map(|minor| Self::of_axes(name, semi_major_axis, minor)).transpose()?;
        let by_form = inverse_flattening.map(|inverse| Self::new(name, semi_major_axis, inverse)).transpose()?;
        match (by_form, by_axes) {
            (Some(by_form), Some(by_axes)) if !by_form.is_near(&by_axes) => {
                let [inverse, minor] = [inverse_flattening, semi_minor_axis].map(Option::unwrap_or_default);
                Err(format!("found an inverse flattening of {inverse} and a semi-minor axis of {minor}, which differ"))
            }
            (by_form, by_axes) => Ok(by_form.or(by_axes)),
        }
    }

    /// Semi-major axis in metres.
    pub fn semi_major_axis(&self) -> f64 {
        self.semi_major_axis
    }

    /// Inverse flattening; 0 for a sphere.
    pub fn inverse_flattening(&self) -> f64 {
        self.inverse_flattening
    }

    /// Returns the ellipsoid with a code of EPSG; `None` if it is not known here.
    pub fn of_code(code: u32) -> Option<Self> {
        let (_, name, semi_major_axis, inverse_flattening) = ELLIPSOIDS.into_iter().find(|known| known.0 == code)?;
        Some(Self { name: name.to_owned(), semi_major_axis, inverse_flattening })
    }

    /// Returns the ellipsoid that EPSG calls `name`; `None` if it is not known here.
    pub fn of_name(name: &str) -> Option<Self> {
        let (code, ..) = ELLIPSOIDS.into_iter().find(|known| known.1 == name)?;
        Self::of_code(code)
    }

    /// Returns the ellipsoid with another name.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Returns whether both axes of another ellipsoid are the same to a millimetre, as files have them. Those of WGS 84 and of GRS 1980 are.
    pub fn is_near(&self, other: &Self) -> bool {
        let minor = |of: &Self| match of.inverse_flattening {
            0.0 => of.semi_major_axis,
            inverse => of.semi_major_axis * (1.0 - 1.0 / inverse),
        };
        let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-3;
        is_near(self.semi_major_axis, other.semi_major_axis) && is_near(minor(self), minor(other))
    }

    /// Returns whether another ellipsoid has the same semi-major axis and the same inverse flattening.
    pub fn is_same(&self, other: &Self) -> bool {
        let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs();
        is_near(self.semi_major_axis, other.semi_major_axis)
            && is_near(self.inverse_flattening, other.inverse_flattening)
    }
}

/// Meridian from which longitudes are counted.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimeMeridian {
    name: String,
    /// Longitude from Greenwich, in the unit of the geographic system.
    longitude: f64,
}

impl PrimeMeridian {
    /// Makes the meridian of a longitude from Greenwich, in the unit of the geographic system.
    pub fn new(name: impl Into<String>, longitude: f64) -> Self {
        Self { name: name.into(), longitude }
    }

    /// Meridian of Greenwich.
    pub fn greenwich() -> Self {
        Self::new("Greenwich", 0.0)
    }
}

/// Geographic coordinate reference system: latitudes and longitudes on an ellipsoid.
#[derive(Clone, Debug, PartialEq)]
pub struct GeographicCrs {
    name: String,
    datum: String,
    ellipsoid: Ellipsoid,
    prime_meridian: PrimeMeridian,
    unit: Unit,
    /// Code of EPSG.
    code: Option<u32>,
}

impl GeographicCrs {
    /// Makes a system of the names of the system and of its datum, with longitudes from Greenwich in degrees.
    pub fn new(name: impl Into<String>, datum: impl Into<String>, ellipsoid: Ellipsoid) -> Self {
        let (prime_meridian, unit) = (PrimeMeridian::greenwich(), Unit::degree());
        Self { name: name.into(), datum: datum.into(), ellipsoid, prime_meridian, unit, code: None }
    }

    /// Sets the meridian from which longitudes are counted, and the unit of angles. With others than its own a system of EPSG is one without a
    /// code and a name, and with another meridian its datum has none either.
    ///
    /// # Errors
    /// A message if the meridian is more than half of a circle from Greenwich.
    pub fn angles(self, prime_meridian: PrimeMeridian, unit: Unit) -> Result<Self, String> {
        let degrees = prime_meridian.longitude * unit.factor.to_degrees();
        match degrees.abs() <= 180.0 + 1e-9 {
            true if prime_meridian == self.prime_meridian && unit == self.unit => Ok(self),
            true => {
                let is_own = self.code.is_none();
                let is_datum = is_own || prime_meridian == self.prime_meridian;
                let name = if is_own { self.name } else { "unknown".to_owned() };
                let datum = if is_datum { self.datum } else { "unknown".to_owned() };
                Ok(Self { name, datum, ellipsoid: self.ellipsoid, prime_meridian, unit, code: None })
            }
            false => Err(format!("found a prime meridian at {degrees} degrees, expected -180 to 180")),
        }
    }

    /// Returns the system with a code of EPSG; `None` if it is not known here.
    pub fn of_code(code: u32) -> Option<Self> {
        SYSTEMS.into_iter().find(|known| known.0 == code).and_then(of_row)
    }

    /// Returns the system whose datum has a code of EPSG; `None` if it is not known here.
    pub fn of_datum(code: u32) -> Option<Self> {
        SYSTEMS.into_iter().find(|known| known.3 == code).and_then(of_row)
    }

    /// Returns the system whose datum EPSG calls `name`, or other software, by the name of the system or with other signs between the words;
    /// `None` if it is not known here.
    pub fn of_datum_name(name: &str) -> Option<Self> {
        let plain = |name: &str| {
            let letters = name.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, '(' | ')'));
            let letters = letters.collect::<String>().to_lowercase();
            letters.strip_suffix("ensemble").map(str::to_owned).unwrap_or(letters)
        };
        // Names of datums of other software begin with D_.
        let wanted = plain(name.strip_prefix("D_").unwrap_or(name));
        let wanted = match wanted.as_str() {
            "wgs1984" => "wgs84".to_owned(),
            "northamerican1927" => "nad27".to_owned(),
            "northamerican1983" => "nad83".to_owned(),
            "etrs1989" => "etrs89".to_owned(),
            _ => wanted,
        };
        SYSTEMS.into_iter().find(|known| [known.1, known.2].iter().any(|known| plain(known) == wanted)).and_then(of_row)
    }

    /// Ellipsoid of the system.
    pub fn ellipsoid(&self) -> &Ellipsoid {
        &self.ellipsoid
    }

    /// Code of EPSG of the system; `None` if it has none.
    pub fn code(&self) -> Option<u32> {
        self.code
    }

    pub(super) fn unit(&self) -> &Unit {
        &self.unit
    }

    /// Returns the description in WKT2: latitude comes before longitude.
    pub fn wkt2(&self) -> String {
        let unit = self.unit.text("ANGLEUNIT");
        let (datum, code) = (self.datum(), id(self.code));
        let axes = format!("AXIS[\"latitude\",north,ORDER[1],{unit}],AXIS[\"longitude\",east,ORDER[2],{unit}]");
        format!("GEOGCRS[{},{datum},CS[ellipsoidal,2],{axes}{code}]", quoted(&self.name))
    }

    /// Returns the inside of the description as the base of a projected system.
    pub(super) fn inner(&self) -> String {
        let unit = match self.unit == Unit::degree() {
            true => String::new(),
            false => format!(",{}", self.unit.text("ANGLEUNIT")),
        };
        format!("{},{}{unit}{}", quoted(&self.name), self.datum(), id(self.code))
    }

    fn datum(&self) -> String {
        let Ellipsoid { name, semi_major_axis, inverse_flattening } = &self.ellipsoid;
        let PrimeMeridian { name: meridian, longitude } = &self.prime_meridian;
        format!(
            "DATUM[{},ELLIPSOID[{},{semi_major_axis},{inverse_flattening},LENGTHUNIT[\"metre\",1]]],PRIMEM[{},{longitude},{}]",
            quoted(&self.datum),
            quoted(name),
            quoted(meridian),
            self.unit.text("ANGLEUNIT")
        )
    }
}

fn of_row((code, name, datum, _, ellipsoid): (u32, &str, &str, u32, u32)) -> Option<GeographicCrs> {
    let ellipsoid = Ellipsoid::of_code(ellipsoid)?;
    Some(GeographicCrs { code: Some(code), ..GeographicCrs::new(name, datum, ellipsoid) })
}
