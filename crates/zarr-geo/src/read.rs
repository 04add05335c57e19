//! Georeferences read from attributes, with the places that break a rule.

use crate::rules::{ATTRIBUTES, OF_LEVELS, numbers, sizes};
use crate::{ATTRIBUTE, Convention, Crs, Georeference, Level, Registration, Transform, ValueError};
use std::collections::HashSet;
use zarr_json::pointer::{At, escaped};
use zarr_json::{Map, Value};

/// Greatest number of levels of a pyramid that are read.
const MOST_LEVELS: usize = 1000;

impl Georeference {
    /// Reads the georeference in the attributes of a node; `None` if they have nothing of GeoZarr. Values that break a rule are
    /// [`faults`](Self::faults), and are left out.
    ///
    /// ```
    /// use zarr_geo::Georeference;
    /// use zarr_json::json;
    ///
    /// let attributes = json!({"proj:code": "EPSG:4326", "spatial:bbox": [0, 0, 10]});
    /// let read = Georeference::read(attributes.as_object().unwrap()).unwrap();
    /// assert_eq!(read.crs.unwrap().to_string(), "EPSG:4326");
    /// assert_eq!(read.faults[0].pointer(), "/attributes/spatial:bbox");
    /// ```
    pub fn read(attributes: &Map) -> Option<Self> {
        let is_own = |name: &str| name.starts_with("proj:") || name.starts_with("spatial:");
        let is_listed = Convention::ALL.iter().any(|convention| convention.is_registered(attributes));
        if !attributes.keys().any(is_own) && !is_listed {
            return None;
        }
        let mut read = Self::new();
        let mut is_wrong = HashSet::new();
        for (name, form) in ATTRIBUTES {
            let Some(at) = at(attributes, name) else { continue };
            if let Err(fault) = form.check(&at) {
                read.faults.push(fault);
                is_wrong.insert(name);
            }
        }
        let value = |name: &str| attributes.get(name).filter(|value| !is_wrong.contains(name) && !value.is_null());
        read.crs = crs(value);
        if read.crs.is_none()
            && Convention::Proj.is_registered(attributes)
            && is_wrong.iter().all(|it| !it.starts_with("proj:"))
        {
            let list = At::new(attributes.get(ATTRIBUTE).unwrap_or(&Value::Null), &format!("/attributes/{ATTRIBUTE}"));
            read.faults.push(list.invalid("proj:code, proj:wkt2 or proj:projjson beside the convention proj"));
        }
        let texts = value("spatial:dimensions").and_then(Value::as_array).unwrap_or_default();
        if let [y, x] = texts {
            read.dimensions = y.as_str().zip(x.as_str()).map(|(y, x)| [y.to_owned(), x.to_owned()]);
        }
        if let Some([y, x]) = read.dimensions.as_ref().filter(|[y, x]| y == x) {
            let at =
                At::new(attributes.get("spatial:dimensions").unwrap_or(&Value::Null), "/attributes/spatial:dimensions");
            read.faults.push(at.invalid(format!("two dimensions, and not {y:?} and {x:?}")));
            read.dimensions = None;
        }
        let kind = value("spatial:transform_type").and_then(Value::as_str);
        read.transform_type = kind.filter(|kind| *kind != "affine").map(str::to_owned);
        let is_affine = read.transform_type.is_none();
        read.transform = value("spatial:transform").filter(|_| is_affine).and_then(numbers).map(Transform);
        read.bbox = value("spatial:bbox").and_then(numbers);
        if let Some([left, bottom, right, top]) = read.bbox.filter(|[l, b, r, t]| l > r || b > t) {
            let at = At::new(attributes.get("spatial:bbox").unwrap_or(&Value::Null), "/attributes/spatial:bbox");
            let sorted =
                format!("[{}, {}, {}, {}]", left.min(right), bottom.min(top), left.max(right), bottom.max(top));
            read.faults.push(at.invalid(format!("xmin, ymin, xmax, ymax, such as {sorted}")));
        }
        read.shape = value("spatial:shape").and_then(sizes);
        if value("spatial:registration").and_then(Value::as_str) == Some("node") {
            read.registration = Registration::Node;
        }
        read.registered(attributes);
        read.read_levels(attributes);
        Some(read)
    }

    /// Adds a fault for each convention of which there are attributes, and which is not registered, and for entries without an identity.
    fn registered(&mut self, attributes: &Map) {
        let has = |prefix: &str| attributes.keys().any(|name| name.starts_with(prefix));
        let is_used = |convention: Convention| match convention {
            Convention::Proj => has("proj:"),
            Convention::Spatial => has("spatial:"),
            Convention::Multiscales => attributes.get("multiscales").is_some_and(|it| it.get("layout").is_some()),
        };
        let null = Value::Null;
        let list = At::new(attributes.get(ATTRIBUTE).unwrap_or(&null), &format!("/attributes/{ATTRIBUTE}"));
        for &convention in Convention::ALL.iter().filter(|convention| is_used(**convention)) {
            if !convention.is_registered(attributes) {
                let (name, uuid) = (convention.name(), convention.uuid());
                self.faults.push(list.invalid(format!("an entry for the convention {name}, with the uuid {uuid}")));
            }
        }
        if attributes.get(ATTRIBUTE).is_none() {
            return;
        }
        match list.items() {
            Ok(items) => self.faults.extend(items.iter().filter_map(|entry| {
                let has_id = ["uuid", "schema_url", "spec_url"].iter().any(|name| entry.get(name).is_some());
                (!has_id).then(|| entry.invalid("an object with a uuid, a schema_url or a spec_url"))
            })),
            Err(fault) => self.faults.push(fault),
        }
    }

    fn read_levels(&mut self, attributes: &Map) {
        let is_listed = Convention::Multiscales.is_registered(attributes);
        let Some(pyramid) = at(attributes, "multiscales").filter(|it| it.get("layout").is_some() || is_listed) else {
            return;
        };
        // A list is that of OME-Zarr.
        if pyramid.value().as_array().is_some() && !is_listed {
            return;
        }
        let items = pyramid.member("layout").and_then(|layout| layout.items().map(|items| (layout, items)));
        let (layout, items) = match items {
            Ok(found) => found,
            Err(fault) => return self.faults.push(fault),
        };
        if !(1..=MOST_LEVELS).contains(&items.len()) {
            return self.faults.push(layout.invalid(format!("1 to {MOST_LEVELS} levels")));
        }
        self.faults.extend(pyramid.get("resampling_method").and_then(|method| method.text().err()));
        for item in &items {
            let level = level(item, &mut self.faults);
            self.levels.extend(level);
        }
        let assets: HashSet<&str> = self.levels.iter().map(|level| level.asset.as_str()).collect();
        for item in &items {
            let source = item.get("derived_from");
            if let Some(source) = source.filter(|it| it.value().as_str().is_some_and(|path| !assets.contains(path))) {
                self.faults.push(source.invalid("the asset of a level"));
            }
        }
    }
}

/// Attribute with its place; `None` if it is missing or null.
fn at<'v>(attributes: &'v Map, name: &str) -> Option<At<'v>> {
    let value = attributes.get(name).filter(|value| !value.is_null())?;
    Some(At::new(value, &format!("/attributes/{}", escaped(name))))
}

/// Coordinate reference system: the code if there is one, or else a description.
pub(crate) fn crs<'v>(value: impl Fn(&str) -> Option<&'v Value>) -> Option<Crs> {
    let text = |name: &str| value(name).and_then(Value::as_str).map(str::to_owned);
    let code = text("proj:code").map(Crs::Code);
    let wkt = || text("proj:wkt2").map(Crs::Wkt2);
    let json = || value("proj:projjson").and_then(Value::as_object).cloned().map(Crs::ProjJson);
    code.or_else(wkt).or_else(json)
}

fn level(at: &At<'_>, faults: &mut Vec<ValueError>) -> Option<Level> {
    let mut path = |name: &str| -> Option<String> {
        let found = at.get(name)?;
        match found.text() {
            Ok(text) if is_path(text) => Some(text.to_owned()),
            Ok(_) => {
                faults.push(found.invalid("a path below the group, such as 0 or 0/data"));
                None
            }
            Err(fault) => {
                faults.push(fault);
                None
            }
        }
    };
    let (asset, derived_from) = (path("asset"), path("derived_from"));
    faults.extend(at.member("asset").err());
    for (name, form) in OF_LEVELS {
        faults.extend(at.get(name).and_then(|found| form.check(&found).err()));
    }
    let transform = at.get("transform");
    if transform.is_none() && at.get("derived_from").is_some() {
        faults.push(at.invalid("a transform beside derived_from"));
    }
    let mut list = |name: &str| -> Vec<f64> {
        let Some(found) = transform.as_ref().and_then(|transform| transform.get(name)) else { return Vec::new() };
        let numbers: Option<Vec<f64>> =
            found.value().as_array().and_then(|items| items.iter().map(Value::as_f64).collect());
        numbers.unwrap_or_else(|| {
            faults.push(found.invalid("a list of numbers"));
            Vec::new()
        })
    };
    let (scale, translation) = (list("scale"), list("translation"));
    faults.extend(transform.as_ref().and_then(|transform| transform.object().err()));
    let value = |name: &str| at.get(name).map(|found| found.value().clone());
    Some(Level {
        asset: asset?,
        derived_from,
        scale,
        translation,
        transform: value("spatial:transform").as_ref().and_then(numbers).map(Transform),
        shape: value("spatial:shape").as_ref().and_then(sizes),
    })
}

/// Whether a path leads to a node below the group.
fn is_path(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(|name| !matches!(name, "" | "." | ".."))
}
