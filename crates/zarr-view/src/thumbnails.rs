//! Grids of thumbnails: the wells of a plate, or the fields of a well.

use crate::channels::{Channels, DrawnChannel};
use crate::color_map::Rgb;
use crate::composite::{Layer, composite};
use crate::cut::Cut;
use crate::cut_samples::Budget;
use crate::figure::{Figure, Room};
use crate::fit;
use crate::labels::{AxisLabels, Positions, Tick};
use crate::located::in_group;
use crate::ome::ImageCut;
use crate::samples::Samples;
use crate::shading::Shading;
use crate::slice::{Numbers, Slice};
use crate::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::sync::Mutex;
use zarr_array::{Group, Options};
use zarr_grid::Selection;
use zarr_meta::text::grouped;
use zarr_ome::{AxisKind, Image, Metadata, Plate, Well};
use zarr_scan::{in_parallel, lock};

/// Greatest number of places of a grid, with those that are empty.
const MOST_PLACES: usize = 1 << 14;
/// Number of threads that read thumbnails, each of which may wait for a store.
const AT_ONCE: usize = 8;
/// Greatest number of images that cannot be read of which each has a warning.
const MOST_WARNINGS: usize = 8;
/// Colour of places without an image, and between images.
const EMPTY: Rgb = [72; 3];

/// Grid of images: the wells of a plate by rows and columns, or the fields of a well in the order of its metadata.
#[derive(Clone, Debug)]
pub struct ImageGrid {
    /// Names of the rows; empty for those without a name.
    pub rows: Vec<String>,
    /// Names of the columns; empty for those without a name.
    pub columns: Vec<String>,
    /// Images with their places, in the order of the metadata.
    pub images: Vec<GridImage>,
    /// Whether the images are wells, each of which is shown by its first field.
    pub is_plate: bool,
    group: Group,
    arrays: Option<Options>,
}

/// Image of a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridImage {
    /// Path of the group of the well or the image, relative to that of the grid.
    pub path: String,
    /// Index of its row.
    pub row: usize,
    /// Index of its column.
    pub column: usize,
}

/// Choices for the thumbnails of a grid.
#[derive(Clone, Debug)]
pub struct ThumbnailOptions {
    /// Names or numbers of the channels to draw; `None` for those that are active.
    pub channels: Option<Vec<String>>,
    /// Greatest numbers of parts and bytes that are read for all thumbnails together.
    pub budget: Budget,
    /// Greatest number of images that are read.
    pub most: usize,
}

impl Default for ThumbnailOptions {
    /// Returns the active channels of at most 1,536 images, 65,536 parts and 4 GiB.
    fn default() -> Self {
        Self { channels: None, budget: Budget { parts: 1 << 16, bytes: 4 << 30, is_strict: false }, most: 1536 }
    }
}

/// Thumbnails of a grid, drawn.
#[derive(Clone, Debug)]
pub struct Thumbnails {
    /// Figure with the grid.
    pub figure: Figure,
    /// Number of images that are drawn.
    pub drawn: usize,
    /// Messages about images that cannot be shown.
    pub warnings: Vec<String>,
}

impl ImageGrid {
    /// Opens the grid that a group is by its metadata; `None` if the group is neither a plate nor a well. Reads nothing but the attributes.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`] for a plate or a well without an image, and for a plate whose wells have no rows and columns;
    /// [`ErrorKind::Limit`] for more than 16,384 places.
    pub fn open(group: &Group) -> Result<Option<Self>> {
        let Some(metadata) = Metadata::find(group.attributes()?, None) else { return Ok(None) };
        let grid = match (Plate::read(&metadata), Well::read(&metadata)) {
            (Some(plate), _) => {
                let wells = plate.wells.iter().filter_map(|well| {
                    Some(GridImage { path: well.path.clone(), row: well.row?, column: well.column? })
                });
                let images = wells.collect();
                Self {
                    rows: plate.rows,
                    columns: plate.columns,
                    images,
                    is_plate: true,
                    group: group.clone(),
                    arrays: None,
                }
            }
            (None, Some(well)) => {
                let count = well.fields.len();
                let columns = (1..=count).find(|columns| columns * columns >= count).unwrap_or(1);
                let place = |(number, field): (usize, &zarr_ome::Field)| GridImage {
                    path: field.path.clone(),
                    row: number / columns,
                    column: number % columns,
                };
                Self {
                    rows: vec![String::new(); count.div_ceil(columns)],
                    columns: vec![String::new(); columns],
                    images: well.fields.iter().enumerate().map(place).collect(),
                    is_plate: false,
                    group: group.clone(),
                    arrays: None,
                }
            }
            (None, None) => return Ok(None),
        };
        let places = grid.rows.len().saturating_mul(grid.columns.len());
        if places > MOST_PLACES {
            let (rows, columns) = (grouped(grid.rows.len() as u64), grouped(grid.columns.len() as u64));
            let most = grouped(MOST_PLACES as u64);
            let message = match grid.is_plate {
                true => format!("found a plate of {rows} x {columns} wells, expected at most {most}"),
                false => {
                    format!("found a well of {} fields, expected at most {most}", grouped(grid.images.len() as u64))
                }
            };
            return Err(in_group(group, Error::new(ErrorKind::Limit, message)));
        }
        if grid.images.is_empty() {
            let what = if grid.is_plate { "plate has no well in its rows and columns" } else { "well has no field" };
            return Err(in_group(group, Error::new(ErrorKind::InvalidMetadata, format!("the {what}"))));
        }
        Ok(Some(grid))
    }

    /// Sets the options with which the arrays of images are opened.
    #[must_use]
    pub fn arrays(self, arrays: Options) -> Self {
        Self { arrays: Some(arrays), ..self }
    }

    /// Opens the image that is shown in a place: of a well its first field.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`] for a group that is no image; the errors of opening groups.
    pub fn image(&self, place: &GridImage) -> Result<Image> {
        let group = self.group.group(&place.path)?;
        let image = first_image(&group, self.is_plate)?;
        Ok(match &self.arrays {
            Some(arrays) => image.arrays(arrays.clone()),
            None => image,
        })
    }

    /// Opens the first image of the grid.
    ///
    /// # Errors
    /// The errors of [`image`](Self::image).
    pub fn first_image(&self) -> Result<Image> {
        let place = self.images.first().ok_or_else(|| in_group(&self.group, Error::argument("found no image")))?;
        self.image(place)
    }

    /// Reads the coarsest level that fits of each image, several at the same time, and draws them. A range of values that an image does not
    /// say is one of all images. Images that cannot be read are left out, with a warning.
    ///
    /// # Errors
    /// The error of the first image if no image can be read.
    pub fn draw(&self, room: Room, options: &ThumbnailOptions) -> Result<Thumbnails> {
        let images = self.images.get(..self.images.len().min(options.most.max(1))).unwrap_or_default();
        // A pixel is between two images.
        let side = |pixels: usize, count: usize| (pixels / count.max(1)).saturating_sub(1).max(1);
        let pixel = usize::from(room.pixel.max(1));
        let cell = (side(room.width, self.columns.len()), side(room.height * pixel, self.rows.len()) / pixel);
        let cell = (cell.0, cell.1.max(1));
        let inner = Room { width: cell.0, height: cell.1, ..room };
        let budget = options.budget.shared(images.len());
        let read = Mutex::new(BTreeMap::new());
        in_parallel(AT_ONCE.min(images.len()), images.iter().enumerate(), &|(number, place)| {
            let found = self.image(place).and_then(|image| Thumbnail::read(&image, inner, options, &budget));
            lock(&read).insert(number, found);
            Ok(())
        })?;
        let read = std::mem::take(&mut *lock(&read));
        let (mut found, mut failed) = (Vec::new(), Vec::new());
        for (place, thumbnail) in images.iter().zip(read.into_values()) {
            match thumbnail {
                Ok(thumbnail) => found.push((place, thumbnail)),
                Err(error) => failed.push((place, error)),
            }
        }
        let warning = |(place, error): &(&GridImage, Error)| format!("{} is left out: {error}", place.path);
        let mut warnings: Vec<String> = failed.iter().take(MOST_WARNINGS).map(warning).collect();
        if failed.len() > MOST_WARNINGS {
            warnings.push(format!("{} more are left out", grouped((failed.len() - MOST_WARNINGS) as u64)));
        }
        if let (true, Some((_, error))) = (found.is_empty(), failed.into_iter().next()) {
            return Err(error);
        }
        let drawn = found.len();
        let (left_out, total) = (self.images.len() - images.len(), self.images.len());
        let note = (left_out > 0).then(|| {
            let what = if self.is_plate { "wells" } else { "fields" };
            format!("{} of {} {what}", grouped(images.len() as u64), grouped(total as u64))
        });
        let figure = self.figure(found, cell, room, note);
        Ok(Thumbnails { figure, drawn, warnings })
    }

    /// Returns the figure of thumbnails, in cells of this width and height.
    fn figure(
        &self,
        found: Vec<(&GridImage, Thumbnail)>,
        cell: (usize, usize),
        room: Room,
        note: Option<String>,
    ) -> Figure {
        let (columns, rows) = (self.columns.len(), self.rows.len());
        let windows = windows(found.iter().map(|(_, thumbnail)| thumbnail));
        let layers: Vec<(&GridImage, Vec<Layer>)> =
            found.into_iter().map(|(place, thumbnail)| (place, thumbnail.layers(&windows))).collect();
        // Cells are as large as the largest thumbnail.
        let size = |(_, layers): &(&GridImage, Vec<Layer>)| fitted(layers.first(), cell, room);
        let sizes: Vec<(usize, usize)> = layers.iter().map(size).collect();
        let width = sizes.iter().map(|size| size.0).max().unwrap_or(1);
        let height = sizes.iter().map(|size| size.1).max().unwrap_or(1);
        let (across, down) = (columns * (width + 1) - 1, rows * (height + 1) - 1);
        let mut pixels = vec![EMPTY; across * down];
        let mut legend: Option<(usize, Shading)> = None;
        for ((place, layers), (w, h)) in layers.into_iter().zip(sizes) {
            let (colors, shading) = composite(&layers);
            // The image with most channels names them all.
            if legend.as_ref().is_none_or(|(most, _)| layers.len() > *most) {
                legend = Some((layers.len(), shading));
            }
            let Some(Layer { slice, .. }) = layers.first() else { continue };
            let left = place.column * (width + 1) + (width - w) / 2;
            let top = place.row * (height + 1) + (height - h) / 2;
            for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
                let (row, column) = (y * slice.rows() / h, x * slice.columns() / w);
                let color = colors.get(row * slice.columns() + column);
                if let (Some(color), Some(pixel)) = (color, pixels.get_mut((top + y) * across + left + x)) {
                    *pixel = *color;
                }
            }
        }
        let axis = |names: &[String], each: usize| {
            let named = names.iter().enumerate().filter(|(_, name)| !name.is_empty());
            let tick = |(number, name): (usize, &String)| Tick {
                at: (number * (each + 1)) as f64 + (each as f64 - 1.0) / 2.0,
                text: name.clone(),
            };
            AxisLabels { name: None, units: None, positions: Positions::Ticks(named.map(tick).collect()) }
        };
        let slice = Slice {
            samples: vec![Samples::all(0, 1, down as u64), Samples::all(0, 1, across as u64)],
            values: vec![0.0; across * down],
            numbers: Numbers::Floats,
            is_cut: false,
            text: None,
        };
        Figure {
            title: self.group.path().name().unwrap_or(if self.is_plate { "plate" } else { "well" }).to_owned(),
            slice,
            axes: vec![axis(&self.rows, height), axis(&self.columns, width)],
            shading: legend.map_or_else(|| composite(&[]).1, |(_, shading)| shading),
            colors: Some(pixels),
            units: None,
            note,
            has_scale_bar: false,
            is_in_pixels: true,
        }
    }
}

/// Opens the image of a group; if `is_well`, the first field of the well that it is.
fn first_image(group: &Group, is_well: bool) -> Result<Image> {
    let invalid = |what: &str| in_group(group, Error::new(ErrorKind::InvalidMetadata, format!("found no {what}")));
    if !is_well {
        return Image::open(group)?.ok_or_else(|| invalid("image of OME-Zarr"));
    }
    let metadata = Metadata::find(group.attributes()?, None);
    let well = metadata.as_ref().and_then(Well::read).ok_or_else(|| invalid("metadata of a well"))?;
    let field = well.fields.first().ok_or_else(|| invalid("field of the well"))?;
    let field = group.group(&field.path)?;
    Image::open(&field)?
        .ok_or_else(|| in_group(&field, Error::new(ErrorKind::InvalidMetadata, "found no image of OME-Zarr")))
}

/// Values of the channels of an image, as many as a small picture needs.
#[derive(Clone, Debug)]
pub struct Thumbnail {
    channels: Vec<(DrawnChannel, Slice)>,
}

impl Thumbnail {
    /// Reads the coarsest level of an image that fills the room: its last two axes in space, at the first index of the others. An image
    /// without several channels has one, which is white.
    ///
    /// # Errors
    /// The errors of [`ImageCut::new`], [`Channels::new`] and [`Slice::read`].
    pub fn read(image: &Image, room: Room, options: &ThumbnailOptions, budget: &Budget) -> Result<Self> {
        let in_space: Vec<usize> = axes_in_space(image);
        let axes = in_space.get(in_space.len().saturating_sub(2)..).filter(|axes| axes.len() == 2);
        let ImageCut { array, cut, .. } =
            ImageCut::new(image, |shape| Cut::new(shape, &Selection::all(), axes), room, None)?;
        let selected: Vec<u64> = cut.samples().iter().map(|samples| samples.of).collect();
        let most = room.most(&selected);
        if selected.len() != 2 {
            return Err(in_group(image.group(), Error::argument("found an image of fewer than two axes")));
        }
        let channels = match Channels::new(image, &array, &cut, options.channels.as_deref())? {
            Some(channels) => {
                let slices = channels.slices(&array, &cut, &most, &budget.shared(channels.drawn.len()))?;
                channels.drawn.into_iter().zip(slices).collect()
            }
            None => {
                let window = image.metadata().channels.first().and_then(|channel| channel.window);
                let window = window.filter(|(start, end)| start != end);
                let alone =
                    DrawnChannel { number: 0, name: "0".to_owned(), color: [255; 3], window, is_inverted: false };
                vec![(alone, Slice::read(&array, &cut, &most, budget)?)]
            }
        };
        Ok(Self { channels })
    }

    /// Returns the layers of the picture. `windows` are the ranges of values of channels, by their numbers, of which the image says none;
    /// by default they depend on the values.
    pub fn layers(self, windows: &BTreeMap<u64, (f64, f64)>) -> Vec<Layer> {
        let layer = |(channel, slice): (DrawnChannel, Slice)| {
            let window = channel.window.or_else(|| windows.get(&channel.number).copied());
            let window = window.unwrap_or_else(|| channel.window_of([&slice]));
            channel.layer(slice, window)
        };
        self.channels.into_iter().map(layer).collect()
    }
}

fn axes_in_space(image: &Image) -> Vec<usize> {
    let axes = image.multiscale().axes.iter().enumerate();
    axes.filter(|(_, axis)| axis.kind == AxisKind::Space).map(|(axis, _)| axis).collect()
}

/// Returns the range of values of each channel for which an image says none: one for all images.
fn windows<'t>(thumbnails: impl Iterator<Item = &'t Thumbnail>) -> BTreeMap<u64, (f64, f64)> {
    let mut without = BTreeMap::<u64, (&DrawnChannel, Vec<&Slice>)>::new();
    for (channel, slice) in thumbnails.flat_map(|thumbnail| &thumbnail.channels) {
        if channel.window.is_none() {
            without.entry(channel.number).or_insert_with(|| (channel, Vec::new())).1.push(slice);
        }
    }
    without.into_iter().map(|(number, (channel, slices))| (number, channel.window_of(slices))).collect()
}

/// Returns the width and height in pixels of a thumbnail in a cell.
fn fitted(layer: Option<&Layer>, cell: (usize, usize), room: Room) -> (usize, usize) {
    let of = |axis: usize| layer.and_then(|layer| layer.slice.samples.get(axis)).map_or(1, |samples| samples.of);
    let (width, height) = fit::fit(of(0), of(1), cell.0, cell.1, f64::from(room.pixel));
    (width.clamp(1, cell.0), height.clamp(1, cell.1))
}

#[cfg(test)]
mod tests;
