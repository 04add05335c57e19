//! Transformations between coordinate systems, since version 0.6. They are read and written, and not applied.

use super::members::{Members, items, list, number, numbers, object, text};
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value};

/// Greatest depth of nested transformations.
const MOST_DEEP: usize = 16;

/// Transformation between two coordinate systems.
#[derive(Clone, Debug, PartialEq)]
pub struct Transformation {
    /// Kind of the transformation, with its parameters.
    pub kind: TransformationKind,
    /// Name of the transformation.
    pub name: Option<String>,
    /// Coordinate system of the positions that are transformed; `None` inside of another transformation.
    pub input: Option<SystemReference>,
    /// Coordinate system of the results; `None` inside of another transformation.
    pub output: Option<SystemReference>,
    /// Further members, such as `interpolation`.
    pub other: Map,
}

/// Reference to a coordinate system: by its name, here or in the group at a path; or to the array at a path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemReference {
    /// Name of the coordinate system.
    pub name: Option<String>,
    /// Path of the group that has the coordinate system, or of an array, relative to this group.
    pub path: Option<String>,
    /// Further members.
    pub other: Map,
}

/// Numbers of a transformation: in the document, or in an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers<T> {
    /// Numbers in the document.
    Here(T),
    /// Path of the array of the numbers, relative to the group.
    Stored(String),
}

/// Kind of a transformation, with its parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TransformationKind {
    /// Positions stay.
    Identity,
    /// Each coordinate times a number.
    Scale(Numbers<Vec<f64>>),
    /// Each coordinate plus a number.
    Translation(Numbers<Vec<f64>>),
    /// Matrix with a row for each output axis: a number for each input axis, and the offset.
    Affine(Numbers<Vec<Vec<f64>>>),
    /// Matrix of a rotation: a row for each axis.
    Rotation(Numbers<Vec<Vec<f64>>>),
    /// Index of the input axis of each output axis.
    MapAxis(Vec<i128>),
    /// Axes that are dropped, and axes that are added.
    ProjectAxis {
        /// Indices of input axes that are dropped.
        dropped: Vec<i128>,
        /// Indices at which the output gets axes.
        created: Vec<i128>,
    },
    /// Offset for each position, in the array at a path.
    Displacements(String),
    /// Result for each position, in the array at a path.
    Coordinates(String),
    /// Two transformations that undo each other: forward and inverse.
    Bijection(Box<Transformation>, Box<Transformation>),
    /// Transformations one after another.
    Sequence(Vec<Transformation>),
    /// Transformations of some axes each.
    ByDimension(Vec<PartialTransformation>),
}

/// Transformation of some axes.
#[derive(Clone, Debug, PartialEq)]
pub struct PartialTransformation {
    /// The transformation.
    pub transformation: Transformation,
    /// Indices of the axes that are transformed.
    pub input_axes: Vec<i128>,
    /// Indices of the axes of the result.
    pub output_axes: Vec<i128>,
    /// Further members.
    pub other: Map,
}

impl TransformationKind {
    /// Returns the name of the kind, as documents have it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Scale(_) => "scale",
            Self::Translation(_) => "translation",
            Self::Affine(_) => "affine",
            Self::Rotation(_) => "rotation",
            Self::MapAxis(_) => "mapAxis",
            Self::ProjectAxis { .. } => "projectAxis",
            Self::Displacements(_) => "displacements",
            Self::Coordinates(_) => "coordinates",
            Self::Bijection(..) => "bijection",
            Self::Sequence(_) => "sequence",
            Self::ByDimension(_) => "byDimension",
        }
    }
}

impl SystemReference {
    /// Makes a reference to a coordinate system of the same group.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::default() }
    }

    fn read(at: &At<'_>) -> Result<Self, ValueError> {
        // Drafts have the name itself.
        if let Some(name) = at.value().as_str() {
            return Ok(Self::named(name));
        }
        let mut members = Members::of(at)?;
        Ok(Self { name: members.text("name")?, path: members.text("path")?, other: members.rest() })
    }

    fn write(&self) -> Value {
        object([("path", text(&self.path)), ("name", text(&self.name))], &self.other)
    }
}

impl Transformation {
    /// Makes a transformation of a kind.
    pub fn new(kind: TransformationKind) -> Self {
        Self { kind, name: None, input: None, output: None, other: Map::new() }
    }

    /// Returns the transformation with its ends.
    #[must_use]
    pub fn between(mut self, input: SystemReference, output: SystemReference) -> Self {
        (self.input, self.output) = (Some(input), Some(output));
        self
    }

    pub(super) fn read(at: &At<'_>) -> Result<Self, ValueError> {
        Self::read_within(at, MOST_DEEP)
    }

    fn read_within(at: &At<'_>, depth: usize) -> Result<Self, ValueError> {
        let inner = |at: &At<'_>| match depth {
            0 => Err(at.invalid(format!("transformations at most {MOST_DEEP} deep"))),
            depth => Self::read_within(at, depth - 1),
        };
        let mut members = Members::of(at)?;
        let kind = members.need("type")?;
        let name = kind.text()?;
        let kind = match name {
            "identity" => TransformationKind::Identity,
            "scale" => TransformationKind::Scale(stored_or(&mut members, name, vector)?),
            "translation" => TransformationKind::Translation(stored_or(&mut members, name, vector)?),
            "affine" => TransformationKind::Affine(stored_or(&mut members, name, matrix)?),
            "rotation" => TransformationKind::Rotation(stored_or(&mut members, name, matrix)?),
            "mapAxis" => TransformationKind::MapAxis(indices(&members.need(name)?)?),
            "projectAxis" => {
                let mut list = |name: &str| members.get(name).map(|at| indices(&at)).transpose();
                let (dropped, created) = (list("droppedInputs")?, list("createdOutputs")?);
                let [dropped, created] = [dropped, created].map(Option::unwrap_or_default);
                TransformationKind::ProjectAxis { dropped, created }
            }
            "displacements" => TransformationKind::Displacements(members.need_text("path")?),
            "coordinates" => TransformationKind::Coordinates(members.need_text("path")?),
            "bijection" => {
                let mut one = |name: &str| Ok(Box::new(inner(&members.need(name)?)?));
                TransformationKind::Bijection(one("forward")?, one("inverse")?)
            }
            "sequence" => TransformationKind::Sequence(items(&members.need("transformations")?, inner)?),
            "byDimension" => TransformationKind::ByDimension(items(&members.need("transformations")?, |at| {
                let mut members = Members::of(at)?;
                Ok(PartialTransformation {
                    transformation: inner(&members.need("transformation")?)?,
                    input_axes: indices(&members.need("inputAxes")?)?,
                    output_axes: indices(&members.need("outputAxes")?)?,
                    other: members.rest(),
                })
            })?),
            _ => return Err(kind.invalid("a type of transformation")),
        };
        let mut end = |name: &str| members.get(name).map(|at| SystemReference::read(&at)).transpose();
        let (input, output) = (end("input")?, end("output")?);
        Ok(Self { kind, name: members.text("name")?, input, output, other: members.rest() })
    }

    pub(super) fn write(&self) -> Value {
        let end = |end: &Option<SystemReference>| end.as_ref().map(SystemReference::write);
        let head = [
            ("type", Some(Value::from(self.kind.name()))),
            ("name", text(&self.name)),
            ("input", end(&self.input)),
            ("output", end(&self.output)),
        ];
        let mut map = Map::from_some(head);
        for (name, value) in self.parameters() {
            map.insert(name, value);
        }
        self.other.iter().for_each(|(name, value)| drop(map.insert(name, value.clone())));
        Value::Object(map)
    }

    fn parameters(&self) -> Vec<(&'static str, Value)> {
        let name = self.kind.name();
        let rows = |rows: &Vec<Vec<f64>>| list(rows, |row| numbers(row));
        let some = |name, list: &[i128]| (!list.is_empty()).then(|| (name, Value::from(list.to_vec())));
        match &self.kind {
            TransformationKind::Identity => Vec::new(),
            TransformationKind::Scale(one) | TransformationKind::Translation(one) => {
                vec![here_or(name, one, |one| numbers(one))]
            }
            TransformationKind::Affine(one) | TransformationKind::Rotation(one) => vec![here_or(name, one, rows)],
            TransformationKind::MapAxis(indices) => vec![(name, Value::from(indices.clone()))],
            TransformationKind::ProjectAxis { dropped, created } => {
                some("droppedInputs", dropped).into_iter().chain(some("createdOutputs", created)).collect()
            }
            TransformationKind::Displacements(path) | TransformationKind::Coordinates(path) => {
                vec![("path", Value::from(path.as_str()))]
            }
            TransformationKind::Bijection(forward, inverse) => {
                vec![("forward", forward.write()), ("inverse", inverse.write())]
            }
            TransformationKind::Sequence(items) => vec![("transformations", list(items, Self::write))],
            TransformationKind::ByDimension(items) => {
                let part = |part: &PartialTransformation| {
                    let members = [
                        ("transformation", Some(part.transformation.write())),
                        ("inputAxes", Some(Value::from(part.input_axes.clone()))),
                        ("outputAxes", Some(Value::from(part.output_axes.clone()))),
                    ];
                    object(members, &part.other)
                };
                vec![("transformations", list(items, part))]
            }
        }
    }
}

/// Reads the numbers of the member `name`, or the path of the array that has them.
fn stored_or<T>(
    members: &mut Members<'_>,
    name: &str,
    read: impl Fn(&At<'_>) -> Result<T, ValueError>,
) -> Result<Numbers<T>, ValueError> {
    match (members.get(name), members.text("path")?) {
        (None, Some(path)) => Ok(Numbers::Stored(path)),
        (Some(at), None) => read(&at).map(Numbers::Here),
        (Some(at), Some(_)) => Err(at.invalid("no numbers beside the path of an array that has them")),
        (None, None) => Err(members.need(name).map_or_else(|error| error, |at| at.invalid("numbers"))),
    }
}

fn here_or<T>(name: &'static str, numbers: &Numbers<T>, write: impl Fn(&T) -> Value) -> (&'static str, Value) {
    match numbers {
        Numbers::Here(here) => (name, write(here)),
        Numbers::Stored(path) => ("path", Value::from(path.as_str())),
    }
}

fn vector(at: &At<'_>) -> Result<Vec<f64>, ValueError> {
    items(at, number)
}

fn matrix(at: &At<'_>) -> Result<Vec<Vec<f64>>, ValueError> {
    items(at, vector)
}

fn indices(at: &At<'_>) -> Result<Vec<i128>, ValueError> {
    items(at, |item| crate::faults::integer(item, 0))
}
