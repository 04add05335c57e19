//! Where on Earth the elements of variables are: by attributes of GeoZarr, grid mappings and coordinates of CF.

use crate::{Dataset, Result, Variable};
use zarr_array::Array;
use zarr_geo::{Crs, Georeference, Transform, grid_mapping};
use zarr_json::Value;

/// Greatest number of coordinates along an axis that are looked at.
const MOST_COORDINATES: u64 = 1 << 20;

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
        let variable = self.variable(name)?;
        let own = Georeference::read(variable.stored().attributes()?).unwrap_or_default();
        let of_group = Georeference::read(self.group().attributes()?).unwrap_or_default();
        let mut found = own.inheriting(&of_group);
        let dimensions: Vec<&str> = variable.dimensions().collect();
        let named =
            found.dimensions.clone().filter(|names| names.iter().all(|name| dimensions.contains(&name.as_str())));
        let Some([y, x]) = named.or_else(|| self.horizontal(&dimensions)) else { return Ok(None) };
        let len = |name: &str| {
            let at = dimensions.iter().position(|known| *known == name);
            at.and_then(|at| variable.shape().get(at).copied()).unwrap_or_default()
        };
        found.shape = Some([len(&y), len(&x)]);
        if let Some(mapping) = self.grid_mapping(variable)? {
            let attributes = mapping.stored().attributes()?;
            found.crs = found.crs.or_else(|| grid_mapping::read(attributes));
        }
        if found.transform.is_none() && found.transform_type.is_none() {
            // Coordinates follow a selection, while the transformation of a grid mapping does not.
            let coordinates = (self.centres(&x)?, self.centres(&y)?);
            found.transform = match coordinates {
                (Some(x), Some(y)) => Transform::of_centres(&x, &y),
                _ => match self.grid_mapping(variable)? {
                    Some(mapping) => grid_mapping::transform(mapping.stored().attributes()?),
                    None => None,
                },
            };
        }
        found.dimensions = Some([y, x]);
        Ok(Some(found))
    }

    /// Returns the data variables whose place is known whole, each with its georeference. `crs` and `transform` hold for all in the place
    /// of what the data set says.
    ///
    /// # Errors
    /// The errors of [`georeference`](Self::georeference).
    pub fn georeferences(
        &self,
        crs: Option<&Crs>,
        transform: Option<Transform>,
    ) -> Result<Vec<(&Variable, Georeference)>> {
        let mut all = Vec::new();
        for variable in self.data_variables() {
            let Some(mut found) = self.georeference(variable.name())? else { continue };
            found.crs = crs.cloned().or(found.crs);
            if let Some(transform) = transform {
                (found.transform, found.transform_type, found.bbox) = (Some(transform), None, None);
            }
            if found.crs.is_some() && found.transform.is_some() {
                all.push((variable, found));
            }
        }
        Ok(all)
    }

    /// Writes georeferences of variables to the attributes of their arrays, and to those of the group if all are the same. The
    /// data set itself stays as it was opened.
    ///
    /// # Errors
    /// The errors of [`Array::set_attributes`].
    pub fn write_georeferences(&self, georeferences: &[(&Variable, Georeference)]) -> Result<()> {
        for (variable, georeference) in georeferences {
            let mut array = variable.stored().clone();
            let mut attributes = array.attributes()?.clone();
            georeference.write(&mut attributes);
            array.set_attributes(attributes)?;
        }
        let Some((_, first)) = georeferences.first() else { return Ok(()) };
        if georeferences.iter().all(|(_, georeference)| georeference == first) {
            let mut group = self.group().clone();
            let mut attributes = group.attributes()?.clone();
            first.write(&mut attributes);
            group.set_attributes(attributes)?;
        }
        Ok(())
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

    /// Variable that the attribute `grid_mapping` of a variable names; `None` if there is none.
    fn grid_mapping(&self, variable: &Variable) -> Result<Option<&Variable>> {
        let text = variable.stored().attributes()?.get("grid_mapping").and_then(Value::as_str);
        let name = text.and_then(|text| text.split_whitespace().next()).map(|name| name.trim_end_matches(':'));
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

    /// Data set with the variables `t(time, lat, lon)` and `grid`, on coordinates of 32 bits.
    fn dataset(lat: &[f32], attributes: Value) -> Dataset {
        let mut registry = Registry::default();
        zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
        let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
        let group = Group::create(&store, "/", NewGroup::new(), &Arc::new(registry)).unwrap();
        let new = |shape: &[u64], names: &[&str]| {
            NewArray::new(shape, "float32").dimension_names(names).codecs("bytes").unwrap()
        };
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
        let all = dataset.georeferences(None, None).unwrap();
        assert_eq!(all.len(), 1);
        dataset.write_georeferences(&all).unwrap();
        let group = Group::open(dataset.group().store(), "/", dataset.group().registry()).unwrap();
        for attributes in [group.attributes().unwrap(), group.array("t").unwrap().attributes().unwrap()] {
            let read = Georeference::read(attributes).unwrap();
            assert!(read.faults.is_empty() && read.extent() == Some([-180.0, -90.0, 180.0, 90.0]), "{read:?}");
        }
        assert_eq!(georeference_of(&group.array("t").unwrap()).unwrap().unwrap().shape, Some([18, 36]));
    }

    #[test]
    fn coordinates_that_are_not_even_give_no_place() {
        let uneven = dataset(&[80.0, 40.0, 35.0], json!({}));
        assert_eq!(uneven.georeference("t").unwrap().unwrap().transform, None);
        assert!(uneven.georeferences(None, None).unwrap().is_empty());
        let given = Transform([1.0, 0.0, 0.0, 0.0, -1.0, 0.0]);
        let all = uneven.georeferences(Some(&Crs::epsg(3035)), Some(given)).unwrap();
        assert_eq!(all[0].1.to_string(), "EPSG:3035, pixels of 1 x 1, x 0 to 36, y -3 to 0");
    }

    #[test]
    fn attributes_count_before_coordinates() {
        let stated = json!({"proj:code": "EPSG:3857", "spatial:transform": [1, 0, 0, 0, 1, 0]});
        let found = dataset(&[80.0, 70.0], stated).georeference("t").unwrap().unwrap();
        assert_eq!(found.to_string(), "EPSG:3857, pixels of 1 x 1, x 0 to 36, y 0 to 2");
    }
}
