//! Checks of the conventions of GeoZarr: whether attributes are valid, and fit the arrays and each other.

use crate::attributes::AttributeDocuments;
use crate::hierarchy::Hierarchy;
use crate::sink::Sink;
use crate::{Code, Finding};
use std::collections::{HashMap, HashSet};
use zarr_geo::{Georeference, grid_mapping};
use zarr_hierarchy::Result;
use zarr_json::Value;
use zarr_meta::{ArrayMetadata, NodePath, StoredNode};

/// Pointer to the names of the dimensions of y and x.
const DIMENSIONS: &str = "/attributes/spatial:dimensions";

/// Checks all nodes that have attributes of GeoZarr, and with `is_named` also what is only recommended. Returns whether there are any.
pub(crate) fn check(hierarchy: &Hierarchy, is_named: bool, sink: &Sink<'_>) -> Result<bool> {
    let mut is_any = false;
    let groups = Groups::of(hierarchy);
    for node in &hierarchy.nodes {
        let Some(read) = Georeference::read(node.node.attributes()) else { continue };
        is_any = true;
        let places = AttributeDocuments::new(node);
        let find = |code, message: String, pointer: &str| sink.find(places.at(Finding::new(code, message), pointer));
        for fault in &read.faults {
            find(Code::BadGeo, format!("found {}, expected {}", fault.found(), fault.expected()), fault.pointer());
            sink.go_on()?;
        }
        if let Some((stated, computed)) = read.contradiction() {
            let message = format!("found {stated:?}, and {computed:?} by spatial:transform and spatial:shape");
            find(Code::GeoContradiction, message, "/attributes/spatial:bbox");
        }
        match node.node.as_array() {
            Some(array) => of_array((hierarchy, &groups), node, array, &read, is_named, &find),
            None => levels(hierarchy, node, &read, is_named, &find),
        }
        sink.go_on()?;
    }
    Ok(is_any)
}

/// Groups with attributes of GeoZarr, which are read once.
struct Groups {
    /// Georeference of each group, by its path.
    read: HashMap<NodePath, Georeference>,
    /// Paths of the levels of which a pyramid says where they are.
    placed: HashSet<NodePath>,
}

impl Groups {
    fn of(hierarchy: &Hierarchy) -> Self {
        let mut groups = Self { read: HashMap::new(), placed: HashSet::new() };
        for node in hierarchy.nodes.iter().filter(|node| node.node.as_array().is_none()) {
            let Some(read) = Georeference::read(node.node.attributes()) else { continue };
            let levels = read.levels.iter().filter(|level| level.transform.is_some());
            groups.placed.extend(levels.filter_map(|level| node.path.join(&level.asset).ok()));
            groups.read.insert(node.path.clone(), read);
        }
        groups
    }

    /// Returns the georeference of an array with what it inherits from the group that it is directly in.
    fn whole(&self, node: &StoredNode, read: &Georeference) -> Georeference {
        let above = node.path.parent().and_then(|group| self.read.get(&group));
        match above.zip(node.path.name()) {
            Some((above, name)) => read.clone().inheriting(above, name),
            None => read.clone(),
        }
    }

    /// Returns whether an array is a level of the pyramid of a group above it, or lies in one, which says where it is.
    fn is_level(&self, node: &StoredNode) -> bool {
        std::iter::successors(Some(node.path.clone()), NodePath::parent).any(|path| self.placed.contains(&path))
    }
}

fn of_array(
    (hierarchy, groups): (&Hierarchy, &Groups),
    node: &StoredNode,
    array: &ArrayMetadata,
    read: &Georeference,
    is_named: bool,
    find: &impl Fn(Code, String, &str),
) {
    let names = array.attributes.keys();
    let is_spatial = names.into_iter().any(|name| name.starts_with("spatial:"));
    let has_names = array.attributes.contains_key("spatial:dimensions");
    if is_spatial && !has_names {
        find(Code::GeoDimensions, "found no spatial:dimensions, which an array must have".to_owned(), "/attributes");
    }
    if !read.levels.is_empty() {
        find(Code::BadGeo, "found levels of an array, expected them in a group".to_owned(), "/attributes/multiscales");
    }
    if let Some(shape) = read.dimensions.as_ref().and_then(|names| named_shape(array, names, find))
        && let Some(stated) = read.shape.filter(|stated| *stated != shape)
    {
        let message = format!("found {stated:?}, and the array has {shape:?} elements along these dimensions");
        find(Code::GeoContradiction, message, "/attributes/spatial:shape");
    }
    let whole = groups.whole(node, read);
    let mapping = array.attributes.get("grid_mapping").and_then(Value::as_str);
    let axes = whole.dimensions.as_ref().map_or(["", ""], |[y, x]| [y, x]);
    if let Some(name) = mapping.and_then(|mapping| grid_mapping::name_for(mapping, axes)) {
        let beside = |name: &str| {
            let path = node.path.parent().and_then(|group| group.join(name).ok());
            path.and_then(|path| hierarchy.node(&path)).map(|found| found.node.attributes())
        };
        let [y, x] = axes.map(|axis| beside(axis).and_then(|found| found.get("units")).and_then(Value::as_str));
        let of_mapping = beside(name)
            .and_then(|found| grid_mapping::read_in(found, x.or(y)).ok().flatten())
            .and_then(|crs| crs.epsg_code());
        let own = whole.crs.as_ref().and_then(zarr_geo::Crs::epsg_code);
        if let (Some(own), Some(other)) = (own, of_mapping)
            && own != other
        {
            let pointer =
                if read.crs.is_some() { read.crs.as_ref().map_or("", |crs| crs.attribute()) } else { "grid_mapping" };
            let message = format!("found EPSG:{own}, and EPSG:{other} by the grid mapping {name:?}");
            find(Code::GeoContradiction, message, &format!("/attributes/{pointer}"));
        }
    }
    let is_placed = || whole.transform.is_some() || whole.transform_type.is_some() || groups.is_level(node);
    if is_named && has_names && !is_placed() {
        find(Code::GeoAdvice, "found no spatial:transform, of the array or its group".to_owned(), DIMENSIONS);
    }
}

/// Number of elements along the dimensions that are named; `None` if the array does not have them, which is a finding.
fn named_shape(array: &ArrayMetadata, names: &[String; 2], find: &impl Fn(Code, String, &str)) -> Option<[u64; 2]> {
    let Some(known) = &array.dimension_names else {
        find(Code::GeoDimensions, "found names of dimensions of an array that names none".to_owned(), DIMENSIONS);
        return None;
    };
    let mut shape = [0; 2];
    for (number, (name, len)) in names.iter().zip(&mut shape).enumerate() {
        let at = known.iter().position(|known| known.as_deref() == Some(name)).and_then(|at| array.shape.get(at));
        let Some(&found) = at else {
            let known: Vec<&str> = known.iter().map(|name| name.as_deref().unwrap_or("null")).collect();
            let message = format!("found {name:?}, expected one of the dimensions {}", known.join(", "));
            find(Code::GeoDimensions, message, &format!("{DIMENSIONS}/{number}"));
            return None;
        };
        *len = found;
    }
    Some(shape)
}

/// Checks that the levels of a pyramid exist and have the shapes that it says.
fn levels(
    hierarchy: &Hierarchy,
    group: &StoredNode,
    read: &Georeference,
    is_named: bool,
    find: &impl Fn(Code, String, &str),
) {
    if is_named && !read.levels.is_empty() && (read.transform.is_some() || read.shape.is_some()) {
        let name = if read.transform.is_some() { "transform" } else { "shape" };
        let message = format!("found spatial:{name} beside levels, expected it in each level alone");
        find(Code::GeoAdvice, message, &format!("/attributes/spatial:{name}"));
    }
    let layout = group.node.attributes().get("multiscales").and_then(|it| it.get("layout")).and_then(Value::as_array);
    for level in &read.levels {
        let is_it = |item: &Value| item.get("asset").and_then(Value::as_str) == Some(&level.asset);
        let number = layout.and_then(|layout| layout.iter().position(is_it)).unwrap_or_default();
        let pointer = format!("/attributes/multiscales/layout/{number}");
        let path = group.path.join(&level.asset).ok();
        if path.as_ref().is_some_and(|path| hierarchy.is_broken(path)) {
            continue;
        }
        let Some(node) = path.and_then(|path| hierarchy.node(&path)) else {
            let message = format!("found no node {:?} in the group", level.asset);
            find(Code::MissingAsset, message, &format!("{pointer}/asset"));
            continue;
        };
        if let (Some(array), Some(stated), Some(names)) = (node.node.as_array(), level.shape, &read.dimensions)
            && let Some(shape) = named_shape(array, names, &|_, _, _| ())
            && shape != stated
        {
            let message = format!("found {stated:?}, and the array has {shape:?} elements along these dimensions");
            find(Code::GeoContradiction, message, &format!("{pointer}/spatial:shape"));
        }
        if is_named && read.dimensions.is_some() && (level.transform.is_none() || level.shape.is_none()) {
            let message = "found a level without spatial:transform and spatial:shape, which are recommended".to_owned();
            find(Code::GeoAdvice, message, &pointer);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{CheckOptions, Convention, Event, Level, check};
    use std::sync::Arc;
    use zarr_array::{Array, Group, NewArray, NewGroup, Registry, Store};
    use zarr_geo::{Crs, Georeference, Transform};
    use zarr_json::{Map, Value, json};
    use zarr_store::MemoryStore;

    fn attributes(georeference: &Georeference) -> Map {
        let mut attributes = Map::new();
        georeference.write(&mut attributes).unwrap();
        attributes
    }

    fn scene() -> Georeference {
        let transform = Transform([10.0, 0.0, 500_000.0, 0.0, -10.0, 5_000_000.0]);
        Georeference::new().crs(Crs::epsg(32633)).dimensions("y", "x").transform(transform).shape(8, 6)
    }

    /// Findings of a check of a pyramid of two levels, each as its code and its place, after a change of the attributes of a node.
    fn findings(path: &str, change: impl Fn(&mut Map)) -> Vec<String> {
        let mut registry = Registry::default();
        registry.codecs.add(zarr_codec_bytes::BYTES);
        let registry = Arc::new(registry);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let of = |node: &str, georeference: Georeference| {
            let mut attributes = attributes(&georeference);
            if node == path {
                change(&mut attributes);
            }
            attributes
        };
        let root = of("/", scene().pyramid(&[("0", [8, 6]), ("1", [4, 3])]));
        Group::create(&store, "/", NewGroup::new().attributes(root), &registry).unwrap();
        let mapping = json!({"grid_mapping_name": "latitude_longitude", "crs_wkt": "GEOGCRS[\"x\",ID[\"EPSG\",4326]]"});
        let new = NewArray::new(&[], "int32").codecs("bytes").unwrap();
        let new = new.attributes(mapping.as_object().unwrap().clone());
        Array::create(&store, "/crs", new, &registry).unwrap();
        for (name, [y, x], factor) in [("/0", [8, 6], 1.0), ("/1", [4, 3], 2.0)] {
            let transform = scene().transform.map(|transform| transform.scaled(factor, factor));
            let new = NewArray::new(&[2, y, x], "uint8").codecs("bytes").unwrap().dimension_names(&["band", "y", "x"]);
            let new = new.attributes(of(name, scene().transform(transform).shape(y, x)));
            Array::create(&store, name, new, &registry).unwrap();
        }
        let mut found = Vec::new();
        let options = CheckOptions::default().level(Level::Documents).named(vec![Convention::GeoZarr]);
        check(&store, "/", &registry, &options, |event| {
            if let Event::Finding(finding) = event {
                assert!(finding.section.is_some(), "{finding}");
                found.push(format!("{} {}", finding.code, finding.pointer.unwrap_or_default()));
            }
        })
        .unwrap();
        found
    }

    #[test]
    fn sound_attributes_have_no_findings() {
        assert_eq!(findings("/", |_| ()), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_found_at_its_place() {
        for (path, at, value, code) in [
            ("/", "/proj:code", json!("4326"), "bad-geo"),
            ("/0", "/spatial:bbox", json!([500_000, 0, 500_060, 5_000_000]), "geo-contradiction"),
            ("/", "/multiscales/layout/1/asset", json!("2"), "missing-asset"),
            ("/", "/multiscales/layout/1/spatial:shape", json!([4, 4]), "geo-contradiction"),
            ("/", "/multiscales/layout/1/spatial:shape", json!([4]), "bad-geo"),
            ("/0", "/spatial:dimensions/1", json!("lon"), "geo-dimensions"),
            ("/0", "/spatial:shape/1", json!(7), "geo-contradiction"),
            ("/0", "/spatial:transform", json!("x"), "bad-geo"),
            ("/0", "/zarr_conventions", json!([]), "bad-geo"),
        ] {
            let found = findings(path, |attributes| attributes.set_pointer(at, value.clone()).map(drop).unwrap());
            let is_it = |found: &String| {
                found.split_once(" /attributes").is_some_and(|(kind, place)| kind == code && at.starts_with(place))
            };
            assert!(found.iter().any(is_it), "{at} {value}: {found:?}");
        }
    }

    #[test]
    fn arrays_name_their_dimensions_and_agree_with_their_grid_mapping() {
        let found = findings("/1", |attributes| drop(attributes.remove("spatial:dimensions")));
        assert_eq!(found, ["geo-dimensions /attributes"]);
        let found = findings("/1", |attributes| drop(attributes.insert("grid_mapping", Value::from("crs"))));
        assert_eq!(found, ["geo-contradiction /attributes/proj:code"]);
        // The mapping of other coordinates says nothing about y and x.
        let named =
            |mapping: &str| findings("/1", |attributes| drop(attributes.insert("grid_mapping", Value::from(mapping))));
        assert_eq!(named("crs: lat lon other: y x"), Vec::<String>::new());
        assert_eq!(named("other: lat lon crs: x y"), ["geo-contradiction /attributes/proj:code"]);
    }

    #[test]
    fn what_is_recommended_is_a_note() {
        let found = findings("/", |attributes| {
            attributes.set_pointer("/multiscales/layout/1", json!({"asset": "1"})).unwrap();
        });
        assert_eq!(found, ["geo-advice /attributes/multiscales/layout/1"]);
        // Each level has its own, the root has none.
        let found = findings("/", |attributes| {
            attributes.insert("spatial:transform", vec![10.0, 0.0, 500_000.0, 0.0, -10.0, 5_000_000.0]);
        });
        assert_eq!(found, ["geo-advice /attributes/spatial:transform"]);
        let place = ["spatial:transform", "spatial:bbox", "spatial:shape"];
        let without = |attributes: &mut Map| place.iter().for_each(|name| drop(attributes.remove(name)));
        assert_eq!(findings("/1", without), Vec::<String>::new());
    }
}
