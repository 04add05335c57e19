//! Methods of projection, with their parameters, by the names and codes of EPSG. Those without a code have the names of PROJ.

/// Method of projection.
#[derive(Debug, PartialEq)]
pub struct Method {
    /// Name of the method.
    pub(super) name: &'static str,
    /// Code of EPSG; `None` if it has none.
    pub(super) code: Option<u32>,
    /// Parameters, in the order of their values.
    pub(super) parameters: &'static [Parameter],
    /// Directions of the axes.
    pub(super) axes: Axes,
}

/// Parameter of a method.
#[derive(Debug, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) code: Option<u32>,
    pub(super) kind: Kind,
}

/// Kind of the value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Angle from the equator.
    Latitude,
    /// Angle from a meridian.
    Longitude,
    /// Number above 0.
    Scale,
    /// Length in the unit of coordinates.
    Length,
    /// Height in metres, above 0.
    Height,
}

/// Directions of the axes of coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Axes {
    /// East and north.
    Plain,
    /// Away from the pole on whose side the first parameter is.
    Polar,
    /// [`Polar`](Self::Polar) if the first parameter is a pole and the second 0, and otherwise east and north.
    PolarAtPole,
}

const fn parameter(name: &'static str, code: u32, kind: Kind) -> Parameter {
    Parameter { name, code: Some(code), kind }
}

const ORIGIN_LATITUDE: Parameter = parameter("Latitude of natural origin", 8801, Kind::Latitude);
const ORIGIN_LONGITUDE: Parameter = parameter("Longitude of natural origin", 8802, Kind::Longitude);
const SCALE: Parameter = parameter("Scale factor at natural origin", 8805, Kind::Scale);
const EASTING: Parameter = parameter("False easting", 8806, Kind::Length);
const NORTHING: Parameter = parameter("False northing", 8807, Kind::Length);
const FALSE_LATITUDE: Parameter = parameter("Latitude of false origin", 8821, Kind::Latitude);
const FALSE_LONGITUDE: Parameter = parameter("Longitude of false origin", 8822, Kind::Longitude);
const PARALLEL_1: Parameter = parameter("Latitude of 1st standard parallel", 8823, Kind::Latitude);
const PARALLEL_2: Parameter = parameter("Latitude of 2nd standard parallel", 8824, Kind::Latitude);
const FALSE_EASTING: Parameter = parameter("Easting at false origin", 8826, Kind::Length);
const FALSE_NORTHING: Parameter = parameter("Northing at false origin", 8827, Kind::Length);
const PARALLEL: Parameter = parameter("Latitude of standard parallel", 8832, Kind::Latitude);
const POLAR_LONGITUDE: Parameter = parameter("Longitude of origin", 8833, Kind::Longitude);
const SATELLITE_HEIGHT: Parameter = Parameter { name: "Satellite Height", code: None, kind: Kind::Height };

/// Latitude and longitude of the origin, the scale there, and the coordinates of the origin.
const SCALED: &[Parameter] = &[ORIGIN_LATITUDE, ORIGIN_LONGITUDE, SCALE, EASTING, NORTHING];
/// Latitude and longitude of the origin, and its coordinates.
const CENTRED: &[Parameter] = &[ORIGIN_LATITUDE, ORIGIN_LONGITUDE, EASTING, NORTHING];
/// Longitude of the origin, and its coordinates.
const ON_MERIDIAN: &[Parameter] = &[ORIGIN_LONGITUDE, EASTING, NORTHING];
/// Latitude and longitude of the false origin, two standard parallels, and the coordinates of the false origin.
const CONIC: &[Parameter] = &[FALSE_LATITUDE, FALSE_LONGITUDE, PARALLEL_1, PARALLEL_2, FALSE_EASTING, FALSE_NORTHING];
/// Standard parallel, longitude of the origin, and its coordinates.
const ON_PARALLEL: &[Parameter] = &[PARALLEL_1, ORIGIN_LONGITUDE, EASTING, NORTHING];
/// Longitude and height of a satellite, and the coordinates below it.
const FROM_SPACE: &[Parameter] = &[ORIGIN_LONGITUDE, SATELLITE_HEIGHT, EASTING, NORTHING];

const fn method(name: &'static str, code: Option<u32>, parameters: &'static [Parameter]) -> Method {
    Method { name, code, parameters, axes: Axes::Plain }
}

impl Method {
    /// Transverse Mercator. Values: latitude and longitude of the origin, scale there, coordinates of the origin.
    pub const TRANSVERSE_MERCATOR: Self = method("Transverse Mercator", Some(9807), SCALED);
    /// Mercator with a scale at the equator. Values: latitude and longitude of the origin, scale there, coordinates of the origin.
    pub const MERCATOR_A: Self = method("Mercator (variant A)", Some(9804), SCALED);
    /// Mercator with a standard parallel. Values: that, longitude of the origin, coordinates of the origin.
    pub const MERCATOR_B: Self = method("Mercator (variant B)", Some(9805), ON_PARALLEL);
    /// Lambert conformal conic with a scale at the origin. Values: latitude and longitude of the origin, scale there, coordinates of the
    /// origin.
    pub const LAMBERT_CONFORMAL_1: Self = method("Lambert Conic Conformal (1SP)", Some(9801), SCALED);
    /// Lambert conformal conic with two standard parallels. Values: latitude and longitude of the false origin, the parallels, coordinates of
    /// the false origin.
    pub const LAMBERT_CONFORMAL_2: Self = method("Lambert Conic Conformal (2SP)", Some(9802), CONIC);
    /// Albers equal area. Values as those of [`LAMBERT_CONFORMAL_2`](Self::LAMBERT_CONFORMAL_2).
    pub const ALBERS: Self = method("Albers Equal Area", Some(9822), CONIC);
    /// Equidistant conic. Values as those of [`LAMBERT_CONFORMAL_2`](Self::LAMBERT_CONFORMAL_2).
    pub const EQUIDISTANT_CONIC: Self = method("Equidistant Conic", Some(1119), CONIC);
    /// Lambert azimuthal equal area. Values: latitude and longitude of the origin, coordinates of the origin.
    pub const LAMBERT_AZIMUTHAL: Self =
        Self { axes: Axes::PolarAtPole, ..method("Lambert Azimuthal Equal Area", Some(9820), CENTRED) };
    /// Azimuthal equidistant. Values: latitude and longitude of the origin, coordinates of the origin.
    pub const AZIMUTHAL_EQUIDISTANT: Self = method("Azimuthal Equidistant", Some(1125), CENTRED);
    /// Polar stereographic with a scale at the pole. Values: latitude of the pole, longitude that leads down or up from it, scale,
    /// coordinates of the pole.
    pub const POLAR_STEREOGRAPHIC_A: Self =
        Self { axes: Axes::Polar, ..method("Polar Stereographic (variant A)", Some(9810), SCALED) };
    /// Polar stereographic with a standard parallel. Values: that, longitude that leads down or up from the pole, coordinates of the pole.
    pub const POLAR_STEREOGRAPHIC_B: Self = Self {
        axes: Axes::Polar,
        ..method("Polar Stereographic (variant B)", Some(9829), &[PARALLEL, POLAR_LONGITUDE, EASTING, NORTHING])
    };
    /// Oblique stereographic, by way of a sphere. Values: latitude and longitude of the origin, scale there, coordinates of the origin.
    pub const OBLIQUE_STEREOGRAPHIC: Self = method("Oblique Stereographic", Some(9809), SCALED);
    /// Stereographic, without a sphere between. Values: latitude and longitude of the origin, scale there, coordinates of the origin.
    pub const STEREOGRAPHIC: Self = method("Stereographic", None, SCALED);
    /// Equidistant cylindrical. Values: standard parallel, longitude of the origin, coordinates of the origin.
    pub const EQUIDISTANT_CYLINDRICAL: Self = method("Equidistant Cylindrical", Some(1028), ON_PARALLEL);
    /// Lambert cylindrical equal area. Values: standard parallel, longitude of the origin, coordinates of the origin.
    pub const CYLINDRICAL_EQUAL_AREA: Self = method("Lambert Cylindrical Equal Area", Some(9835), ON_PARALLEL);
    /// Cassini-Soldner. Values: latitude and longitude of the origin, coordinates of the origin.
    pub const CASSINI: Self = method("Cassini-Soldner", Some(9806), CENTRED);
    /// Gnomonic. Values: latitude and longitude of the origin, coordinates of the origin.
    pub const GNOMONIC: Self = method("Gnomonic", None, CENTRED);
    /// Orthographic. Values: latitude and longitude of the origin, coordinates of the origin.
    pub const ORTHOGRAPHIC: Self = method("Orthographic", Some(9840), CENTRED);
    /// American polyconic. Values: latitude and longitude of the origin, coordinates of the origin.
    pub const POLYCONIC: Self = method("American Polyconic", Some(9818), CENTRED);
    /// Miller cylindrical. Values: longitude of the origin, coordinates of the origin.
    pub const MILLER: Self = method("Miller Cylindrical", None, ON_MERIDIAN);
    /// Robinson. Values: longitude of the origin, coordinates of the origin.
    pub const ROBINSON: Self = method("Robinson", None, ON_MERIDIAN);
    /// Sinusoidal. Values: longitude of the origin, coordinates of the origin.
    pub const SINUSOIDAL: Self = method("Sinusoidal", None, ON_MERIDIAN);
    /// Van der Grinten. Values: longitude of the origin, coordinates of the origin.
    pub const VAN_DER_GRINTEN: Self = method("Van Der Grinten", None, ON_MERIDIAN);
    /// New Zealand map grid. Values: latitude and longitude of the origin, coordinates of the origin.
    pub const NEW_ZEALAND: Self = method("New Zealand Map Grid", Some(9811), CENTRED);
    /// View of a satellite that sweeps along x, such as GOES. Values: longitude and height of the satellite, coordinates below it.
    pub const GEOSTATIONARY_X: Self = method("Geostationary Satellite (Sweep X)", None, FROM_SPACE);
    /// View of a satellite that sweeps along y, such as Meteosat. Values: longitude and height of the satellite, coordinates below it.
    pub const GEOSTATIONARY_Y: Self = method("Geostationary Satellite (Sweep Y)", None, FROM_SPACE);
}
