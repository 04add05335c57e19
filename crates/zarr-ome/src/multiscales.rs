//! Metadata `multiscales` of a group.

use crate::Result;
use crate::axis::{self, Axis};
use crate::channel::{self, Channel};
use crate::coordinates;
use crate::metadata::Metadata;
use crate::transform::{self, Transform};
use crate::version::{self, Version};
use std::collections::HashSet;
use std::fmt;
use zarr_json::Map;
use zarr_json::pointer::{At, ValueError};
use zarr_meta::text::rounded;

/// Metadata `multiscales` of a group: its images, of which there is mostly one, and the display of channels.
///
/// ```
/// use zarr_json::json;
/// use zarr_ome::{Multiscales, Version};
///
/// let attributes = json!({"ome": {"version": "0.5", "multiscales": [{
///     "axes": [{"name": "y", "type": "space", "unit": "micrometer"}, {"name": "x", "type": "space", "unit": "micrometer"}],
///     "datasets": [
///         {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [0.5, 0.5]}]},
///         {"path": "1", "coordinateTransformations": [{"type": "scale", "scale": [1, 1]}, {"type": "translation", "translation": [0.25, 0.25]}]}
///     ]
/// }]}});
/// let image = Multiscales::read(attributes.as_object().unwrap())?.unwrap();
/// assert_eq!(image.version, Version::V05);
/// assert_eq!(image.to_string(), "image, 2 levels, 0.5 µm");
/// assert_eq!(image.images[0].levels[1].position(1, 3), 3.25);
/// # Ok::<(), zarr_ome::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Multiscales {
    /// Version of the metadata.
    pub version: Version,
    /// Images of the group, at least one. The first is the default.
    pub images: Vec<Multiscale>,
    /// Channels, as `omero` describes them; empty without that member.
    pub channels: Vec<Channel>,
    /// Whether the elements are labels of segments, since the group has `image-label`.
    pub is_labels: bool,
    /// Deviations from the specification that do not prevent reading, as messages with JSON pointers.
    pub deviations: Vec<String>,
}

/// Image in several resolutions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Multiscale {
    /// Name of the image; `None` if the document has none.
    pub name: Option<String>,
    /// Axes of the image, in the order of the axes of each level's array.
    pub axes: Vec<Axis>,
    /// Levels, from the finest to the coarsest; at least one.
    pub levels: Vec<Level>,
    /// Method by which coarser levels were computed, such as `gaussian`; `None` if the document names none.
    pub downscaling: Option<String>,
    /// Reason why the positions of elements are unknown: an unsupported transformation, with its JSON pointer. `None` if the positions are
    /// known. Otherwise the scales and translations of levels are those that could be read, without a unit.
    pub unplaced: Option<String>,
}

impl Multiscale {
    /// Returns the symbol of the unit of positions along an axis; `None` without a unit, and if positions are unknown.
    pub fn unit_symbol(&self, axis: usize) -> Option<&str> {
        self.axes.get(axis).filter(|_| self.unplaced.is_none())?.unit_symbol()
    }
}

/// Level of an image: one resolution.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Level {
    /// Path of the array, relative to the group.
    pub path: String,
    /// Distance of neighbouring elements along each axis, in the unit of the axis.
    pub scale: Vec<f64>,
    /// Position of the centre of the first element along each axis, in the unit of the axis.
    pub translation: Vec<f64>,
}

impl Level {
    /// Returns the position of the centre of the element at `index` along an axis, in the unit of the axis.
    pub fn position(&self, axis: usize, index: u64) -> f64 {
        let of = |list: &[f64], default| list.get(axis).copied().unwrap_or(default);
        of(&self.scale, 1.0) * index as f64 + of(&self.translation, 0.0)
    }
}

impl Multiscales {
    /// Reads the metadata `multiscales` in the attributes of a group; `None` if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) with the JSON pointer of the member,
    /// [`ErrorKind::UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion) for versions before 0.4, whose levels have no scales, and
    /// after 0.6.
    pub fn read(attributes: &Map) -> Result<Option<Self>> {
        let Some(metadata) = Metadata::find(attributes, None) else { return Ok(None) };
        let Some(list) = metadata.member("multiscales") else { return Ok(None) };
        let version = metadata.version()?;
        parse(&metadata, &list, version).map(Some).map_err(|error| version::invalid(&format!(" {version}"), &error))
    }

    /// Returns the paths of all levels, relative to the group, each with the names of the axes of its image.
    pub fn level_names(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = &str> + Clone)> {
        self.images.iter().flat_map(|image| {
            let names = image.axes.iter().map(|axis| axis.name.as_str());
            image.levels.iter().map(move |level| (level.path.trim_end_matches('/'), names.clone()))
        })
    }

    /// Returns the default image, which is the first.
    pub fn first(&self) -> Option<&Multiscale> {
        self.images.first()
    }
}

/// Prints a summary such as `image, 5 levels, 0.65 µm`: the last part is the distance of elements along the axes of space, if they have a
/// unit.
impl fmt::Display for Multiscales {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_labels { "labels" } else { "image" })?;
        match self.first() {
            Some(image) => write!(f, ", {image}")?,
            None => write!(f, ", no levels")?,
        }
        match self.images.len() {
            0 | 1 => Ok(()),
            more => write!(f, ", and {} more", more - 1),
        }
    }
}

/// Prints a summary such as `5 levels, 0.65 µm`.
impl fmt::Display for Multiscale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.levels.len();
        write!(f, "{count} level{}", if count == 1 { "" } else { "s" })?;
        let scale = self.levels.first().map(|level| level.scale.as_slice()).unwrap_or_default();
        let mut sizes = Vec::<(f64, &str)>::new();
        for (number, (axis, scale)) in self.axes.iter().zip(scale).enumerate() {
            if let Some(unit) = self.unit_symbol(number).filter(|_| axis.kind == crate::AxisKind::Space) {
                sizes.push((*scale, unit));
            }
        }
        let Some(&(_, unit)) = sizes.first() else { return Ok(()) };
        if !sizes.iter().all(|size| size.1 == unit) {
            return Ok(());
        }
        let mut numbers: Vec<String> = sizes.iter().map(|(size, _)| rounded(*size, 4)).collect();
        if numbers.windows(2).all(|pair| matches!(pair, [a, b] if a == b)) {
            numbers.truncate(1);
        }
        write!(f, ", {} {unit}", numbers.join(" x "))
    }
}

fn parse(metadata: &Metadata<'_>, list: &At<'_>, version: Version) -> Result<Multiscales, ValueError> {
    let mut found = Vec::new();
    let images: Result<Vec<Multiscale>, ValueError> =
        list.items()?.iter().map(|item| multiscale(item, version, &mut found)).collect();
    let images = images?;
    if version == Version::V06 && !metadata.is_draft() {
        found.extend(list.items()?.iter().flat_map(coordinates::faults));
    }
    if images.is_empty() {
        return Err(list.invalid("at least one image"));
    }
    // Invalid channels are only a deviation, since they affect the display alone.
    let channels = match metadata.member("omero").map(|omero| channel::channels(&omero, &mut found)) {
        None => Vec::new(),
        Some(Ok(channels)) => channels,
        Some(Err(error)) => {
            found.push(error);
            Vec::new()
        }
    };
    let mut deviations: Vec<String> = found.iter().map(ToString::to_string).collect();
    // Deviations in what applies to all levels are found once for each level.
    let mut seen = HashSet::new();
    deviations.retain(|deviation| seen.insert(deviation.clone()));
    Ok(Multiscales { version, images, channels, is_labels: metadata.member("image-label").is_some(), deviations })
}

fn multiscale(at: &At<'_>, version: Version, found: &mut Vec<ValueError>) -> Result<Multiscale, ValueError> {
    let text = |name: &str| at.get_non_null(name).map(|text| text.text().map(str::to_owned)).transpose();
    let datasets = at.member("datasets")?;
    let items = datasets.items()?;
    if items.is_empty() {
        return Err(datasets.invalid("at least one level"));
    }
    let axes = match version {
        Version::V06 => axis::axes(&intrinsic(at, &items)?.member("axes")?, version, found)?,
        _ => axis::axes(&at.member("axes")?, version, found)?,
    };
    // Up to 0.5 these transformations apply to all levels, after those of each level; in 0.6 they lead to other coordinate systems.
    let of_all = at.get_non_null("coordinateTransformations").filter(|_| version != Version::V06);
    if let Some(Ok(faults)) = of_all.as_ref().map(transform::faults_of_all) {
        found.extend(faults);
    }
    // An image without positions is still an image, since its levels and axes are known.
    let mut unplaced = None;
    let mut levels = Vec::new();
    for item in &items {
        let path = item.member("path")?;
        let text = path.text()?;
        if text.is_empty() {
            return Err(path.invalid("the path of an array"));
        }
        let own = Transform::identity(axes.len()).with(item, version, found);
        let own = own.unwrap_or_else(|error| {
            unplaced.get_or_insert(error);
            Transform::identity(axes.len())
        });
        let all = of_all.as_ref().map_or(Ok(own.clone()), |of_all| own.clone().then_all(of_all));
        let Transform { scale, translation } = all.unwrap_or_else(|error| {
            unplaced.get_or_insert(error);
            own
        });
        levels.push(Level { path: text.to_owned(), scale, translation });
    }
    found.extend(unplaced.clone());
    let unplaced = unplaced.map(|error| error.to_string());
    Ok(Multiscale { name: text("name")?, axes, levels, downscaling: text("type")?, unplaced })
}

/// Returns the coordinate system to which the transformations of all levels lead.
pub(crate) fn intrinsic<'v>(image: &At<'v>, datasets: &[At<'v>]) -> Result<At<'v>, ValueError> {
    let list = image.member("coordinateSystems")?;
    let systems = list.items()?;
    let mut chosen = None::<(&'v str, At<'v>)>;
    for dataset in datasets {
        let output = transform::only(&dataset.member("coordinateTransformations")?)?.member("output")?;
        // Drafts have the name itself instead of an object.
        let name = if output.value().as_str().is_some() { output } else { output.member("name")? };
        let text = name.text()?;
        match &chosen {
            Some((known, _)) if *known == text => {}
            Some((known, _)) => return Err(name.invalid(format!("{known:?}, as for the first level"))),
            None => {
                let is_it =
                    |system: &At<'_>| system.get("name").is_some_and(|name| name.value().as_str() == Some(text));
                let system = systems.iter().find(|system| is_it(system));
                chosen = Some((text, system.ok_or_else(|| name.invalid("the name of a coordinate system"))?.clone()));
            }
        }
    }
    chosen.map(|(_, system)| system).ok_or_else(|| list.invalid("a coordinate system of the levels"))
}
