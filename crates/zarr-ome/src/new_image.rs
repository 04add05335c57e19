//! Metadata of new images, from their axes, scales and levels.

mod factors;
mod into;

pub use factors::level_factors;

use crate::Result;
use crate::axis::{Axis, AxisKind, unit_of};
use crate::channel::Channel;
use crate::document::{Display, DisplayedChannel, Document, ImageDocument, LevelDocument, Placement, Window};
use crate::multiscales::Multiscales;
use crate::version::Version;
use crate::{Error, ErrorKind};
use zarr_json::{Map, Value};
use zarr_meta::NodePath;

/// Method by which elements of a level were computed from blocks of elements of the level before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reduction {
    /// Mean, least or greatest value, or another one of whole blocks, whose name the metadata get: elements lie at the centres of blocks.
    OfBlocks(&'static str),
    /// Element at the centre of each block, of two at the centre along an axis the first: elements of levels lie where the elements lie that
    /// were picked.
    Nearest,
}

/// Metadata of an image that is to be written: axes, scales, levels, channels.
///
/// ```
/// use zarr_ome::document::Window;
/// use zarr_ome::{NewImage, Version};
///
/// let image = NewImage::new("cyx")?.name("cells").scale("y", 0.5, "um")?.scale("x", 0.5, "um")?;
/// let image = image.level("0", &[1.0, 1.0, 1.0])?.level("1", &[1.0, 2.0, 2.0])?.channel("DAPI", Window::new(0.0, 255.0));
/// let attributes = image.attributes(Version::V05)?;
///
/// let level = attributes.get("ome").unwrap().pointer("/multiscales/0/datasets/1/coordinateTransformations").unwrap();
/// let expected = r#"[{"type":"scale","scale":[1,1,1]},{"type":"translation","translation":[0,0.25,0.25]}]"#;
/// assert_eq!(level.to_string(), expected);
/// # Ok::<(), zarr_ome::Error>(())
/// ```
///
/// Positions are those of the centres of elements: an element of a level that is the mean of 2 elements lies half an element behind the first
/// of them ([`Reduction`]).
#[derive(Clone, Debug, PartialEq)]
pub struct NewImage {
    name: Option<String>,
    axes: Vec<Axis>,
    scale: Vec<f64>,
    translation: Vec<f64>,
    levels: Vec<(String, Vec<f64>)>,
    /// Shape of the first level, if it is known.
    finest: Option<Vec<u64>>,
    reduction: Reduction,
    channels: Vec<DisplayedChannel>,
}

impl NewImage {
    /// Makes an image without levels, whose axes have names of one letter: `tczyx` are time, channel and space, other letters are axes in
    /// space. Elements are 1 apart until [`scale`](Self::scale) is called.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if these are no axes of an image: 2 to 5, of which 2 or 3 are in space, behind time and channels.
    pub fn new(axes: &str) -> Result<Self> {
        let axis = |name: char| Axis { name: name.to_string(), kind: kind_of(name), unit: None };
        Self::of_axes(axes.chars().map(axis).collect())
    }

    /// Makes an image without levels.
    ///
    /// # Errors
    /// As [`new`](Self::new); also if two axes have the same name.
    pub fn of_axes(axes: Vec<Axis>) -> Result<Self> {
        let rank = axes.len();
        let image = Self {
            name: None,
            axes,
            scale: vec![1.0; rank],
            translation: vec![0.0; rank],
            levels: Vec::new(),
            finest: None,
            reduction: Reduction::OfBlocks("mean"),
            channels: Vec::new(),
        };
        image.clone().level("0", &vec![1.0; rank])?.check()?;
        Ok(image)
    }

    /// Sets the name of the image.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the distance of the elements of level 0 along an axis, and its unit: a word of UDUNITS such as `micrometer`, or a symbol such as
    /// `um`, `µm` or `ms`; empty for no unit.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is no such axis, the distance is not positive, or the unit is not known.
    pub fn scale(mut self, axis: &str, distance: f64, unit: &str) -> Result<Self> {
        let number = self.axis(axis)?;
        if !(distance > 0.0 && distance.is_finite()) {
            return Err(Error::argument(format!("axis {axis}: found the scale {distance}, expected a number above 0")));
        }
        let unit = unit_of(unit).map_err(|known| {
            Error::argument(format!("axis {axis}: found the unit {unit:?}, expected one of {known}"))
        })?;
        if let (Some(axis), Some(scale)) = (self.axes.get_mut(number), self.scale.get_mut(number)) {
            axis.unit = unit.map(str::to_owned);
            *scale = distance;
        }
        Ok(self)
    }

    /// Sets scales that a text lists, such as `z=0.5um,y=0.1um,x=0.1um`: for each axis the distance of elements and, behind it, the unit.
    ///
    /// # Errors
    /// As [`scale`](Self::scale); also for strings of another form.
    pub fn scales(self, text: &str) -> Result<Self> {
        text.split(',').map(str::trim).filter(|part| !part.is_empty()).try_fold(self, |image, part| {
            let wrong =
                || Error::argument(format!("found the scale {part:?}, expected AXIS=NUMBER and a unit, as z=0.5um"));
            let (axis, value) = part.split_once('=').ok_or_else(wrong)?;
            // An exponent belongs to the number only if digits follow it.
            let ends = value.char_indices().map(|(at, _)| at).chain([value.len()]).rev();
            let parsed = ends.filter_map(|end| {
                let (number, unit) = value.split_at_checked(end)?;
                let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
                Some((number.trim().parse::<f64>().ok().filter(|_| is_plain)?, unit))
            });
            let (distance, unit) = parsed.into_iter().next().ok_or_else(wrong)?;
            image.scale(axis.trim(), distance, unit.trim())
        })
    }

    /// Sets the position of the first element of level 0 along an axis, in the unit of the axis.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is no such axis, or the position is not finite.
    pub fn translation(mut self, axis: &str, position: f64) -> Result<Self> {
        let number = self.axis(axis)?;
        if !position.is_finite() {
            return Err(Error::argument(format!("axis {axis}: found the position {position}, expected a number")));
        }
        self.translation.get_mut(number).into_iter().for_each(|own| *own = position);
        Ok(self)
    }

    /// Makes the image that of a region of its elements: for each axis the index of the first element, and the distance of an element to the
    /// next. The positions of elements stay, but those of channels, which are counted anew.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the region has another number of axes, or a distance is 0.
    pub fn region(mut self, region: &[(u64, u64)]) -> Result<Self> {
        let rank = self.axes.len();
        if region.len() != rank || region.iter().any(|&(_, step)| step == 0) {
            let message = format!("found the region {region:?}, expected a start and a step above 0 of {rank} axes");
            return Err(Error::argument(message));
        }
        let places = self.scale.iter_mut().zip(&mut self.translation);
        for ((axis, (scale, translation)), &(start, step)) in self.axes.iter().zip(places).zip(region) {
            if axis.kind != AxisKind::Channel {
                *translation += start as f64 * *scale;
                *scale *= step as f64;
            }
        }
        Ok(self)
    }

    /// Adds a level: the path of its array, and for each axis the number of elements of level 0 that one element stands for.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the path is empty, has names that no node has (`..`), or is that of another level, or if there is not a factor
    /// of at least 1 for each axis.
    pub fn level(mut self, path: &str, factors: &[f64]) -> Result<Self> {
        let rank = self.axes.len();
        let is_below =
            |path: &str| NodePath::root().join(path).is_ok_and(|joined| joined.key_prefix() == format!("{path}/"));
        if path.is_empty() || !is_below(path) || self.levels.iter().any(|(other, _)| other == path) {
            return Err(Error::argument(format!("found the path {path:?} of a level, expected one of its own")));
        }
        if factors.len() != rank || factors.iter().any(|factor| !(*factor >= 1.0 && factor.is_finite())) {
            let message = format!("level {path}: found the factors {factors:?}, expected {rank} numbers of at least 1");
            return Err(Error::argument(message));
        }
        self.levels.push((path.to_owned(), factors.to_vec()));
        Ok(self)
    }

    /// Sets the shape of level 0, with which the elements of levels whose blocks are longer than an axis lie where they were picked
    /// ([`Reduction::Nearest`]). [`levels_of_shapes`](Self::levels_of_shapes) sets it as well.
    #[must_use]
    pub fn finest_shape(mut self, shape: &[u64]) -> Self {
        self.finest = Some(shape.to_vec());
        self
    }

    /// Adds levels of arrays with their paths and shapes, the finest first, which is level 0. Their factors are those of [`level_factors`].
    ///
    /// ```
    /// # use zarr_ome::{NewImage, Version};
    /// let image = NewImage::new("yx")?.levels_of_shapes(&[("0", &[101, 64]), ("1", &[51, 32]), ("2", &[26, 16])])?;
    /// let scale = image.document().images[0].levels[2].placement.scale.clone();
    /// assert_eq!(scale, Some(vec![4.0, 4.0]));
    /// # Ok::<(), zarr_ome::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`level`](Self::level) and [`level_factors`].
    pub fn levels_of_shapes(self, levels: &[(&str, &[u64])]) -> Result<Self> {
        let shapes: Vec<&[u64]> = levels.iter().map(|(_, shape)| *shape).collect();
        let factors = level_factors(&shapes)?;
        let image = self.finest_shape(shapes.first().copied().unwrap_or_default());
        image.levels(levels.iter().zip(&factors).map(|((path, _), factors)| (*path, factors.as_slice())))
    }

    /// Adds levels, each as [`level`](Self::level) does.
    ///
    /// # Errors
    /// As [`level`](Self::level).
    pub fn levels<'a>(self, levels: impl IntoIterator<Item = (&'a str, &'a [f64])>) -> Result<Self> {
        levels.into_iter().try_fold(self, |image, (path, factors)| image.level(path, factors))
    }

    /// Sets the method by which coarser levels are computed, which says where their elements lie. Default: means of blocks.
    #[must_use]
    pub fn reduction(mut self, reduction: Reduction) -> Self {
        self.reduction = reduction;
        self
    }

    /// Adds a channel with its name, and the values that are displayed as black and in the full colour.
    #[must_use]
    pub fn channel(self, label: &str, window: Window) -> Self {
        let label = Some(label.to_owned());
        self.channels([DisplayedChannel { label, window: Some(window), ..DisplayedChannel::default() }])
    }

    /// Adds channels. Channels without a colour get white if there is only one, and colours that differ otherwise.
    #[must_use]
    pub fn channels(mut self, channels: impl IntoIterator<Item = DisplayedChannel>) -> Self {
        self.channels.extend(channels);
        self
    }

    /// Axes of the image.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Paths of the levels.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.levels.iter().map(|(path, _)| path.as_str())
    }

    /// Number of channels with a name, a colour or a window.
    pub fn channel_count(&self) -> usize {
        self.channels.len()
    }

    /// Returns the metadata.
    pub fn document(&self) -> Document {
        let mut document = Document::default();
        let downscaling = match self.reduction {
            _ if self.levels.len() < 2 => None,
            Reduction::OfBlocks(name) => Some(name.to_owned()),
            Reduction::Nearest => Some("nearest".to_owned()),
        };
        document.images.push(ImageDocument {
            name: self.name.clone(),
            axes: self.axes.iter().cloned().map(Into::into).collect(),
            levels: (0..self.levels.len()).map(|number| self.placed(number)).collect(),
            downscaling,
            ..ImageDocument::default()
        });
        if !self.channels.is_empty() {
            let count = self.channels.len();
            let channel = |(number, channel): (usize, &DisplayedChannel)| DisplayedChannel {
                color: channel.color.or(Some(Channel::default_color(number, count))),
                active: channel.active.or(Some(true)),
                ..channel.clone()
            };
            let channels = self.channels.iter().enumerate().map(channel).collect();
            document.display = Some(Display { channels, ..Display::default() });
        }
        document
    }

    /// Returns the attributes of the group of the image.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the image has no levels, or a channel has no window.
    pub fn attributes(&self, version: Version) -> Result<Map> {
        self.check()?;
        self.document().attributes(version)
    }

    /// Returns the metadata `multiscales` of the image, with one image: the value of that member.
    ///
    /// # Errors
    /// As [`attributes`](Self::attributes).
    pub fn multiscales(&self, version: Version) -> Result<Value> {
        let attributes = self.attributes(version)?;
        let ome = attributes.get("ome").and_then(|ome| ome.get("multiscales"));
        Ok(ome.or(attributes.get("multiscales")).cloned().unwrap_or_default())
    }

    fn axis(&self, name: &str) -> Result<usize> {
        self.axes.iter().position(|axis| axis.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.axes.iter().map(|axis| axis.name.as_str()).collect();
            Error::argument(format!("found no axis {name:?}, expected one of {}", names.join(", ")))
        })
    }

    /// Returns the positions of the elements of a level.
    fn placed(&self, number: usize) -> LevelDocument {
        let (path, factors) = &self.levels[number];
        let scale: Vec<f64> = self.scale.iter().zip(factors).map(|(scale, factor)| scale * factor).collect();
        let offset = |axis: usize| match self.reduction {
            Reduction::OfBlocks(_) => (factors[axis] - 1.0) / 2.0,
            Reduction::Nearest => self.picked(number, axis),
        };
        let moved = |axis: usize| self.translation[axis] + offset(axis) * self.scale[axis];
        let translation: Vec<f64> = (0..factors.len()).map(moved).collect();
        let is_moved = translation.iter().any(|&offset| offset != 0.0);
        let translation = is_moved.then_some(translation);
        let placement = Placement { scale: Some(scale), translation, ..Placement::default() };
        LevelDocument { path: path.clone(), placement, ..LevelDocument::default() }
    }

    /// Returns the position along an axis of the first element of a level, in elements of the array of which the factors are: each level
    /// picks the element at the centre of a block of the one before it. Where a level is no whole number of times coarser than the one
    /// before, that is taken for the centre of the block.
    fn picked(&self, number: usize, axis: usize) -> f64 {
        let factors: Vec<f64> = self.levels[..=number].iter().map(|(_, factors)| factors[axis]).collect();
        let before = std::iter::once(1.0).chain(factors.iter().copied());
        let steps: Vec<f64> = before.zip(&factors).map(|(finer, factor)| factor / finer).collect();
        if steps.iter().any(|step| step.fract() != 0.0) {
            return (factors[number] - 1.0) / 2.0;
        }
        let len = self.finest.as_ref().and_then(|shape| shape.get(axis).copied()).unwrap_or(u64::MAX);
        zarr_grid::first_picked(len, steps.iter().map(|step| *step as u64)) as f64
    }

    /// Checks what is to be written by reading it.
    fn check(&self) -> Result<()> {
        if self.levels.is_empty() {
            return Err(Error::argument("found an image without levels, expected at least one level"));
        }
        let attributes = self.document().attributes(Version::V05)?;
        let argument = |error: &Error| Error::argument(format!("image: {}", error.message()));
        let read = Multiscales::read(&attributes).map_err(|error| argument(&error))?;
        let wrong = read.into_iter().flat_map(|read| read.deviations).next();
        match wrong {
            Some(text) => Err(Error::new(ErrorKind::Argument, format!("image: {text}"))),
            None => Ok(()),
        }
    }
}

fn kind_of(name: char) -> AxisKind {
    match name {
        't' => AxisKind::Time,
        'c' => AxisKind::Channel,
        _ => AxisKind::Space,
    }
}
