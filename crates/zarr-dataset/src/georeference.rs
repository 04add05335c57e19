//! Where on Earth the elements of variables are: by attributes of GeoZarr, grid mappings and coordinates of CF.

use crate::{Dataset, Result, Variable};
use std::collections::HashMap;
use zarr_array::Array;
use zarr_geo::{Crs, Georeference, Transform, grid_mapping};
use zarr_json::{Map, Value};

/// Greatest number of coordinates along an axis that are looked at.
const MOST_COORDINATES: u64 = 1 << 20;

/// Values of the coordinates of dimensions; `None` for a dimension without numbers.
type Known = HashMap<String, Option<Vec<f64>>>;

/// Words by which an axis is recognised: values of `axis`, `standard_name` and `units` of its coordinate, and names of the dimension.
struct Words {
    axis: &'static str,
    standard_names: [&'static str; 3],
    units: [&'static str; 3],
    names: [&'static str; 5],
}

/// Words for y and x.
const WORDS: [Words; 2] = [
    Words {
        axis: "Y",
        standard_names: ["latitude", "projection_y_coordinate", "grid_latitude"],
        units: ["degrees_north", "degree_north", "degrees_N"],
        names: ["y", "lat", "latitude", "northing", "row"],
    },
    Words {
        axis: "X",
        standard_names: ["longitude", "projection_x_coordinate", "grid_longitude"],
        units: ["degrees_east", "degree_east", "degrees_E"],
        names: ["x", "lon", "longitude", "easting", "col"],
    },
];

impl Words {
    /// Whether a dimension, with its coordinate if it has one, is the axis.
    fn fit(&self, name: &str, coordinate: Option<&Variable>) -> bool {
        let text = |attribute: &str| coordinate.and_then(|it| it.attributes().get(attribute)).and_then(Value::as_str);
        text("axis") == Some(self.axis)
            || text("standard_name").is_some_and(|found| self.standard_names.contains(&found))
            || text("units").is_some_and(|found| self.units.contains(&found))
            || self.names.contains(&name.to_lowercase().as_str())
    }
}

impl Dataset {
    /// Returns where the elements of a variable are, as far as it is known; `None` if two of its dimensions are not y and x.
    ///
    /// The attributes of GeoZarr count first, of the variable and then of the group; then its grid mapping, for the coordinate reference
    /// system and GDAL's transformation; then coordinates of y and x that are evenly spaced, which are read, up to 2^20 along each. Such
    /// coordinates are the centres of pixels. No coordinate reference system is assumed where none is named.
    ///
    /// # Errors
    /// The errors of [`variable`](Self::variable) and [`Variable::read`].
    pub fn georeference(&self, name: &str) -> Result<Option<Georeference>> {
        let of_group = Georeference::read(self.group().attributes()?).unwrap_or_default();
        self.place_of(self.variable(name)?, &of_group, &mut HashMap::new())
    }

    /// Returns the data variables of which two dimensions are y and x, each with its georeference, as far as it is known. Coordinates are
    /// read once.
    ///
    /// # Errors
    /// The errors of [`georeference`](Self::georeference).
    pub fn georeferences(&self) -> Result<Vec<(&Variable, Georeference)>> {
        let of_group = Georeference::read(self.group().attributes()?).unwrap_or_default();
        let (mut all, mut known) = (Vec::new(), HashMap::new());
        for variable in self.data_variables() {
            all.extend(self.place_of(variable, &of_group, &mut known)?.map(|found| (variable, found)));
        }
        Ok(all)
    }

    /// Georeference of a variable. `known` are the coordinates that were read.
    fn place_of(
        &self,
        variable: &Variable,
        of_group: &Georeference,
        known: &mut Known,
    ) -> Result<Option<Georeference>> {
        let own = Georeference::read(variable.stored().attributes()?).unwrap_or_default();
        let mut found = own.inheriting(of_group, variable.name());
        let dimensions: Vec<&str> = variable.dimensions().collect();
        let named =
            found.dimensions.clone().filter(|names| names.iter().all(|name| dimensions.contains(&name.as_str())));
        let Some([y, x]) = named.or_else(|| self.horizontal(&dimensions)) else { return Ok(None) };
        let len = |name: &str| {
            let at = dimensions.iter().position(|known| *known == name);
            at.and_then(|at| variable.shape().get(at).copied()).unwrap_or_default()
        };
        found.shape = Some([len(&y), len(&x)]);
        if let Some(mapping) = self.grid_mapping(variable, [&y, &x])? {
            let attributes = mapping.stored().attributes()?;
            found.crs = found.crs.or_else(|| self.crs_of(attributes, [&y, &x]).ok().flatten());
        }
        if found.transform.is_none() && found.transform_type.is_none() {
            // Coordinates follow a selection, while the transformation of a grid mapping does not.
            let transform = match self.even(&x, &y, known)? {
                Some(transform) => Some(transform),
                None => match self.grid_mapping(variable, [&y, &x])?.filter(|_| !self.has_centres(&x, &y, known)) {
                    Some(mapping) => grid_mapping::transform(mapping.stored().attributes()?),
                    None => None,
                },
            };
            // Both are of the corner of the first pixel.
            found = match transform {
                Some(transform) => found.placed_by(transform),
                None => found,
            };
        }
        found.dimensions = Some([y, x]);
        Ok(Some(found))
    }

    /// Returns why the coordinate reference system is not known that the grid mapping of a variable describes; `None` if it is known, or the
    /// variable has no grid mapping or no dimensions that are y and x.
    ///
    /// # Errors
    /// The errors of [`variable`](Self::variable), and those of attributes that cannot be read.
    pub fn grid_mapping_fault(&self, name: &str) -> Result<Option<String>> {
        let variable = self.variable(name)?;
        let dimensions: Vec<&str> = variable.dimensions().collect();
        let Some(axes) = self.horizontal(&dimensions) else { return Ok(None) };
        let [y, x] = &axes;
        let Some(mapping) = self.grid_mapping(variable, [y, x])? else { return Ok(None) };
        let reason = self.crs_of(mapping.stored().attributes()?, [y, x]).err();
        Ok(reason.map(|reason| format!("{}: {reason}", mapping.name())))
    }

    /// Reads the coordinate reference system of a grid mapping, by the units of the coordinates of two dimensions.
    fn crs_of(&self, attributes: &Map, axes: [&str; 2]) -> Result<Option<Crs>, String> {
        let units = axes.map(|name| self.variable(name).ok()?.attributes().get("units")?.as_str());
        match units {
            [Some(y), Some(x)] if !grid_mapping::are_same_units(y, x) => {
                Err(format!("found coordinates in {y:?} and in {x:?}, expected the same units"))
            }
            [y, x] => grid_mapping::read_in(attributes, x.or(y)),
        }
    }

    /// Transformation by evenly spaced coordinates; `None` if there are none.
    fn even(&self, x: &str, y: &str, known: &mut Known) -> Result<Option<Transform>> {
        for name in [x, y] {
            if !known.contains_key(name) {
                let centres = self.centres(name)?;
                known.insert(name.to_owned(), centres);
            }
        }
        let [x, y] = [x, y].map(|name| known.get(name).and_then(Option::as_deref));
        Ok(x.zip(y).and_then(|(x, y)| Transform::of_centres(x, y)))
    }

    /// Whether both dimensions have coordinates, among those that were read.
    fn has_centres(&self, x: &str, y: &str, known: &Known) -> bool {
        [x, y].iter().all(|name| known.get(*name).is_some_and(Option::is_some))
    }

    /// Names of the dimensions that are y and x; `None` if there is not one of each.
    fn horizontal(&self, dimensions: &[&str]) -> Option<[String; 2]> {
        let coordinate = |name: &str| self.variable(name).ok();
        let [y, x] = WORDS.map(|words| {
            let mut fitting = dimensions.iter().filter(|name| words.fit(name, coordinate(name)));
            fitting.next().filter(|_| fitting.next().is_none()).map(|name| (*name).to_owned())
        });
        y.zip(x).filter(|(y, x)| y != x).map(|(y, x)| [y, x])
    }

    /// Variable that the attribute `grid_mapping` of a variable names for two of its dimensions; `None` if there is none.
    fn grid_mapping(&self, variable: &Variable, axes: [&str; 2]) -> Result<Option<&Variable>> {
        let text = variable.stored().attributes()?.get("grid_mapping").and_then(Value::as_str);
        let name = text.and_then(|text| grid_mapping::name_for(text, axes));
        Ok(name.and_then(|name| self.variable(name).ok()))
    }

    /// Values of the coordinate of a dimension; `None` if there is none, or if it has values that are no numbers.
    fn centres(&self, dimension: &str) -> Result<Option<Vec<f64>>> {
        let coordinate = self.variable(dimension).ok().filter(|it| it.shape().len() == 1);
        let Some(coordinate) = coordinate.filter(|it| it.shape().iter().all(|&len| len <= MOST_COORDINATES)) else {
            return Ok(None);
        };
        let values = coordinate.read()?;
        Ok((0..values.len()).map(|index| values.json(index).as_f64()).collect())
    }
}

/// Returns where the elements of an array are, by its attributes and the names of its dimensions alone; `None` if two of them are not y and
/// x.
///
/// # Errors
/// An error if the attributes cannot be read.
pub fn georeference_of(array: &Array) -> Result<Option<Georeference>> {
    let mut found = Georeference::read(array.attributes()?).unwrap_or_default();
    let names: Vec<&str> = array.dimension_names().unwrap_or_default().iter().flatten().map(String::as_str).collect();
    let by_words = || {
        let [y, x] = WORDS.map(|words| names.iter().find(|name| words.fit(name, None)).map(|name| (*name).to_owned()));
        y.zip(x).map(|(y, x)| [y, x])
    };
    let named = found.dimensions.clone().filter(|of| of.iter().all(|name| names.contains(&name.as_str())));
    let Some([y, x]) = named.or_else(by_words) else { return Ok(None) };
    let of_array = array.dimension_names().unwrap_or_default();
    let len = |name: &str| {
        let at = of_array.iter().position(|known| known.as_deref() == Some(name));
        at.and_then(|at| array.shape().get(at).copied()).unwrap_or_default()
    };
    found.shape = Some([len(&y), len(&x)]);
    found.dimensions = Some([y, x]);
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use zarr_array::{Group, NewArray, NewGroup, Registry, Store};
    use zarr_json::json;

    /// Group without members in a store in memory.
    fn group() -> Group {
        let mut registry = Registry::default();
        zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
        let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
        Group::create(&store, "/", NewGroup::new(), &Arc::new(registry)).unwrap()
    }

    /// Returns an array of float32 without compression.
    fn new(shape: &[u64], names: &[&str]) -> NewArray {
        NewArray::new(shape, "float32").dimension_names(names).codecs("bytes").unwrap()
    }

    /// Data set with the variables `t(time, lat, lon)` and `grid`, on coordinates of 32 bits.
    fn dataset(lat: &[f32], attributes: Value) -> Dataset {
        let group = group();
        let coordinate = |name: &str, values: &[f32], units: &str| {
            let new = new(&[values.len() as u64], &[name]).attribute("units", units);
            group.create_array(name, new).unwrap().write(.., values).unwrap();
        };
        coordinate("lat", lat, "degrees_north");
        let lon: Vec<f32> = (0..36).map(|number| -175.0 + 10.0 * number as f32).collect();
        coordinate("lon", &lon, "degrees_east");
        let mut of_t = attributes.as_object().unwrap().clone();
        of_t.insert("grid_mapping", "grid");
        let shape = [2, lat.len() as u64, 36];
        group.create_array("t", new(&shape, &["time", "lat", "lon"]).attributes(of_t)).unwrap();
        let mapping = grid_mapping::attributes(&Crs::epsg(4326)).unwrap();
        group.create_array("grid", new(&[], &[]).attributes(mapping)).unwrap();
        group.create_array("line", new(&[36], &["lon"])).unwrap();
        Dataset::open(&group).unwrap()
    }

    #[test]
    fn places_follow_from_coordinates_and_grid_mappings() {
        let lat: Vec<f32> = (0..18).map(|number| 85.0 - 10.0 * number as f32).collect();
        let dataset = dataset(&lat, json!({}));
        let found = dataset.georeference("t").unwrap().unwrap();
        assert_eq!(found.to_string(), "EPSG:4326, pixels of 10 x 10, x -180 to 180, y -90 to 90");
        assert_eq!(dataset.georeference("line").unwrap(), None);
        let all = dataset.georeferences().unwrap();
        assert_eq!(all.iter().map(|(variable, found)| (variable.name(), found)).collect::<Vec<_>>(), [("t", &found)]);
        let array = dataset.group().array("t").unwrap();
        assert_eq!(georeference_of(&array).unwrap().unwrap().shape, Some([18, 36]));
    }

    /// Lengths among parameters, and the description, are in the unit of the coordinates.
    #[test]
    fn grid_mappings_are_those_of_the_units_of_coordinates() {
        let mapping = json!({"grid_mapping_name": "sinusoidal", "longitude_of_projection_origin": 0,
            "earth_radius": 6_371_007.181});
        for (units, expected) in [
            ([Some("km"), Some("km")], Ok("kilometre")),
            ([Some("km"), None], Ok("kilometre")),
            ([None, None], Ok("m")),
            ([Some("m"), Some("metre")], Ok("m")),
            ([Some("m"), Some("km")], Err("the same units")),
            ([Some("degrees_north"), Some("m")], Err("the same units")),
            ([Some("rad"), Some("rad")], Err("expected metres or kilometres")),
        ] {
            let group = group();
            for (name, units) in ["y", "x"].into_iter().zip(units) {
                let array = new(&[3], &[name]);
                let array = units.map_or_else(|| array.clone(), |units| array.clone().attribute("units", units));
                group.create_array(name, array).unwrap();
            }
            group.create_array("t", new(&[3, 3], &["y", "x"]).attribute("grid_mapping", "crs")).unwrap();
            let attributes = mapping.as_object().unwrap().clone();
            group.create_array("crs", new(&[], &[]).attributes(attributes)).unwrap();
            let dataset = Dataset::open(&group).unwrap();
            let crs = dataset.georeference("t").unwrap().unwrap().crs;
            let fault = dataset.grid_mapping_fault("t").unwrap();
            match expected {
                Ok(unit) => assert_eq!((crs.unwrap().unit(), fault), (Some(unit), None)),
                Err(text) => assert!(crs.is_none() && fault.unwrap().contains(text), "{text}"),
            }
        }
    }

    #[test]
    fn coordinates_that_are_not_even_give_no_place() {
        let uneven = dataset(&[80.0, 40.0, 35.0], json!({}));
        assert_eq!(uneven.georeference("t").unwrap().unwrap().transform, None);
    }

    /// Centres of pixels give the corner of the first one, whatever the attributes say of the registration.
    #[test]
    fn coordinates_are_those_of_pixels() {
        let lat: Vec<f32> = (0..18).map(|number| 85.0 - 10.0 * number as f32).collect();
        let found = dataset(&lat, json!({"spatial:dimensions": ["lat", "lon"], "spatial:registration": "node"}));
        assert_eq!(found.georeference("t").unwrap().unwrap().extent(), Some([-180.0, -90.0, 180.0, 90.0]));
    }

    #[test]
    fn levels_have_their_own_place() {
        let lat: Vec<f32> = (0..18).map(|number| 85.0 - 10.0 * number as f32).collect();
        let dataset = dataset(&lat, json!({"spatial:dimensions": ["lat", "lon"]}));
        let scene = Georeference::new().transform(Transform([5.0, 0.0, -180.0, 0.0, -5.0, 90.0]));
        let pyramid = scene.pyramid(&[("fine", [36, 72]), ("t", [18, 36])]);
        let mut group = dataset.group().clone();
        let mut attributes = group.attributes().unwrap().clone();
        pyramid.write(&mut attributes).unwrap();
        attributes.insert("spatial:transform", vec![5.0, 0.0, -180.0, 0.0, -5.0, 90.0]);
        group.set_attributes(attributes).unwrap();
        let found = Dataset::open(&group).unwrap().georeference("t").unwrap().unwrap();
        assert_eq!(found.transform.unwrap().pixel_size(), (10.0, 10.0));
    }

    #[test]
    fn attributes_count_before_coordinates() {
        let stated = json!({"proj:code": "EPSG:3857", "spatial:transform": [1, 0, 0, 0, 1, 0]});
        let found = dataset(&[80.0, 70.0], stated).georeference("t").unwrap().unwrap();
        assert_eq!(found.to_string(), "EPSG:3857, pixels of 1 x 1, x 0 to 36, y 0 to 2");
    }
}
