//! Places on Earth of joined nodes: GeoZarr attributes, which those of the first file alone would contradict.

use std::collections::BTreeSet;

use zarr_geo::{ATTRIBUTE, Convention, Georeference, Level, Transform};
use zarr_json::{Map, Value};
use zarr_meta::{ArrayMetadata, Node, NodePath};

use crate::nodes::{FileArray, FileNodes};

/// Greatest distance of a corner from where it is expected, as a share of a pixel.
const MOST_OFF: f64 = 0.01;

/// Sets the places of the nodes that `files` were joined to along `dimension`, which are those of the first file. Returns a message for
/// each node that loses a part of its place.
///
/// Arrays that adjoin along rows or columns, in the order of the files, get the place of all of them. Other arrays keep a place that they
/// have in each file. A group keeps that as well, if no array in it became longer along rows or columns, or else the bounding box of all
/// files.
pub(crate) fn settle(nodes: &mut [(NodePath, Node)], files: &[FileNodes<'_>], dimension: &str) -> Vec<String> {
    let (mut notes, mut longer) = (Vec::new(), BTreeSet::new());
    let mut note = |path: &NodePath, why: &str| notes.push(format!("{path}: its place on Earth is left out: {why}"));
    for (path, node) in nodes.iter_mut() {
        let (path, Node::Array(array)) = (&*path, node) else { continue };
        let found: Vec<&FileArray<'_>> = files.iter().filter_map(|file| file.arrays.get(path)).collect();
        let places: Vec<_> = found.iter().map(|array| read(&array.metadata.attributes)).collect();
        let names = places.iter().flatten().find_map(|place| place.dimensions.clone());
        let names = names.or_else(|| dimensions_above(files, path));
        let axis = names.as_ref().and_then(|names| names.iter().position(|name| name == dimension));
        match (axis, names) {
            (Some(axis), Some(names)) if array.dimension_names.iter().flatten().flatten().any(|it| it == dimension) => {
                longer.extend(groups_of(files, path));
                let shapes = found.iter().map(|array| lengths(&array.metadata, &names)).collect::<Option<Vec<_>>>();
                let place = shapes.and_then(|shapes| adjoined(&places, &shapes, axis));
                match place {
                    Some(place) => write(&place, &mut array.attributes),
                    None if has_place(&array.attributes) => {
                        leave_out(&mut array.attributes, are_of_one_crs(&places), None);
                        note(path, &format!("the files do not adjoin along {dimension}"));
                    }
                    None => {}
                }
            }
            _ if are_same(&places) => {}
            _ => {
                leave_out(&mut array.attributes, are_of_one_crs(&places), None);
                note(path, "it differs among the files");
            }
        }
    }
    for (path, node) in nodes.iter_mut() {
        let (path, Node::Group(group)) = (&*path, node) else { continue };
        let of_file = |file: &FileNodes<'_>| file.groups.get(path).and_then(read);
        let places: Vec<_> = files.iter().map(of_file).collect();
        let is_same = are_same(&places);
        if is_same && !longer.contains(path) {
            continue;
        }
        let loses = has_transform(&group.attributes);
        let is_one_crs = are_of_one_crs(&places);
        let bbox = around(&places).filter(|_| is_one_crs);
        leave_out(&mut group.attributes, is_one_crs, bbox);
        if loses || (bbox.is_none() && places.iter().flatten().any(|place| place.bbox.is_some() || !is_one_crs)) {
            note(path, if is_same { "its arrays are longer" } else { "it differs among the files" });
        }
    }
    notes
}

/// Reads the place in attributes, if there is one, without the faults of its form.
fn read(attributes: &Map) -> Option<Georeference> {
    let mut place = Georeference::read(attributes)?;
    place.faults.clear();
    Some(place)
}

fn are_same(places: &[Option<Georeference>]) -> bool {
    places.windows(2).all(|pair| pair[0] == pair[1])
}

fn are_of_one_crs(places: &[Option<Georeference>]) -> bool {
    let crs = |place: &Option<Georeference>| place.as_ref().and_then(|place| place.crs.clone());
    places.windows(2).all(|pair| crs(&pair[0]) == crs(&pair[1]))
}

/// Returns the names of the dimensions of y and x of the closest group above a node that has some.
fn dimensions_above(files: &[FileNodes<'_>], path: &NodePath) -> Option<[String; 2]> {
    let groups = &files.first()?.groups;
    std::iter::successors(path.parent(), NodePath::parent).find_map(|group| read(groups.get(&group)?)?.dimensions)
}

/// Returns the groups whose place is that of an array: the one that it is directly in, and those above with the levels of a pyramid.
fn groups_of(files: &[FileNodes<'_>], path: &NodePath) -> Vec<NodePath> {
    let of_group = |group: &NodePath| files.first().and_then(|file| read(file.groups.get(group)?));
    let above = std::iter::successors(path.parent(), NodePath::parent).enumerate();
    let is_about = |(distance, group): &(usize, NodePath)| {
        of_group(group).is_some_and(|place| *distance == 0 || !place.levels.is_empty())
    };
    above.filter(is_about).map(|(_, group)| group).collect()
}

/// Returns the numbers of rows and columns of an array; `None` if it does not have the dimensions.
fn lengths(array: &ArrayMetadata, names: &[String; 2]) -> Option<[u64; 2]> {
    let known = array.dimension_names.as_deref()?;
    let len = |name: &String| {
        let axis = known.iter().position(|known| known.as_ref() == Some(name))?;
        array.shape.get(axis).copied()
    };
    Some([len(&names[0])?, len(&names[1])?])
}

/// Returns the place of arrays that lie one behind the other along rows (`axis` 0) or columns (1); `None` if they do not, or if one does not
/// say where it lies.
fn adjoined(places: &[Option<Georeference>], shapes: &[[u64; 2]], axis: usize) -> Option<Georeference> {
    let mut first = places.first()?.clone()?;
    let (transform, mut shape) = (first.transform?, *shapes.first()?);
    shape[axis] = 0;
    for (place, own) in places.iter().zip(shapes) {
        let place = place.as_ref()?;
        let is_like =
            (&place.crs, &place.dimensions, place.registration) == (&first.crs, &first.dimensions, first.registration);
        let [row, column] = if axis == 0 { [shape[0], 0] } else { [0, shape[1]] };
        let expected = transform.shifted(column as f64, row as f64);
        if !is_like || !are_near(place.transform?, expected, *own) {
            return None;
        }
        shape[axis] = shape[axis].checked_add(own[axis])?;
    }
    let whole = Georeference::new().transform(transform).registration(first.registration).shape(shape[0], shape[1]);
    first.bbox = first.bbox.and_then(|_| whole.computed_extent());
    first.shape = first.shape.map(|_| shape);
    Some(first.levels(Vec::new()))
}

/// Whether the corners of a grid are at the same places by two transformations.
fn are_near(one: Transform, other: Transform, [rows, columns]: [u64; 2]) -> bool {
    let (width, height) = other.pixel_size();
    let most = width.min(height) * MOST_OFF;
    let corners = [(0.0, 0.0), (columns as f64, 0.0), (0.0, rows as f64)];
    corners.into_iter().all(|(column, row)| {
        let ((x, y), (other_x, other_y)) = (one.at(column, row), other.at(column, row));
        (x - other_x).abs() <= most && (y - other_y).abs() <= most
    })
}

/// Returns the bounding box of the bounding boxes of all files, if each has one.
fn around(places: &[Option<Georeference>]) -> Option<[f64; 4]> {
    let boxes = places.iter().map(|place| place.as_ref()?.extent()).collect::<Option<Vec<_>>>()?;
    let join = |[l, b, r, t]: [f64; 4], [left, bottom, right, top]: [f64; 4]| {
        [l.min(left), b.min(bottom), r.max(right), t.max(top)]
    };
    boxes.into_iter().reduce(join)
}

/// Whether attributes say where elements are.
fn has_place(attributes: &Map) -> bool {
    read(attributes).is_some_and(|place| place.bbox.is_some()) || has_transform(attributes)
}

/// Whether attributes have a transformation, also one of a level.
fn has_transform(attributes: &Map) -> bool {
    read(attributes).is_some_and(|place| {
        let of_level = |level: &Level| level.transform.is_some() || level.shape.is_some();
        place.transform.is_some()
            || place.shape.is_some()
            || place.transform_type.is_some()
            || place.levels.iter().any(of_level)
    })
}

/// Removes what says where elements are, also of levels, but for a bounding box, and the coordinate reference system if it is not that of
/// all.
fn leave_out(attributes: &mut Map, has_crs: bool, bbox: Option<[f64; 4]>) {
    let Some(mut place) = read(attributes) else { return };
    (place.transform, place.transform_type, place.shape, place.bbox) = (None, None, None, bbox);
    place.levels.iter_mut().for_each(|level| (level.transform, level.shape) = (None, None));
    if !has_crs {
        place.crs = None;
        if let Some(Value::Array(list)) = attributes.get_mut(ATTRIBUTE) {
            list.retain(|entry| !Convention::Proj.is_entry(entry));
        }
    }
    write(&place, attributes);
}

/// Writes a place to attributes from which it was read.
fn write(place: &Georeference, attributes: &mut Map) {
    // Levels that were read are in an object, so that nothing is refused.
    let _ = place.write(attributes);
}
