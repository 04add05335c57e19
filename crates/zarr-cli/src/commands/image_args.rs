//! Options of images of OME-Zarr that `zarr convert --convention ome` makes.

use super::image_windows::{self, Windows};
use crate::args::{ByConvention, ConventionName};
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use clap::Args;
use zarr::Array;
use zarr::convert::ConvertOptions;
use zarr::grid::Region;
use zarr::ome::document::{DisplayedChannel, Window};
use zarr::ome::{Metadata, NewImage, Version};

/// Heading in the help of the options of images.
const IMAGE: &str = "Images, with --convention ome";
/// Path of the level that an array becomes.
const LEVEL: &str = "0";

/// Options of images of OME-Zarr.
#[derive(Clone, Debug, Args)]
pub(crate) struct ImageArgs {
    /// The version of OME-Zarr: 0.4 (Zarr v2), 0.5 or 0.6 (v3). By default that of an image in SRC, or 0.5.
    #[arg(long, value_name = "VERSION", value_parser = version, help_heading = IMAGE)]
    ome_version: Option<Version>,
    /// The axes of an array that becomes an image, a letter each: tczyx; by default the names of its dimensions.
    #[arg(long, value_name = "AXES", help_heading = IMAGE)]
    axes: Option<String>,
    /// Distances of elements, with units: z=0.5um,y=0.1um,x=0.1um.
    #[arg(long, value_name = "SCALES", help_heading = IMAGE)]
    scale: Option<String>,
    /// Names of the channels, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', num_args = 1, help_heading = IMAGE)]
    channel_names: Vec<String>,
    /// The values that are displayed as black and white, for each channel: `minmax`, or two percentiles, 1,99. Images in SRC get them too.
    #[arg(long, value_name = "RANGE", value_parser = Windows::parse, help_heading = IMAGE)]
    channel_windows: Option<Windows>,
    /// Leave out what the version cannot hold: scenes, transformations that are no scale.
    #[arg(long, help_heading = IMAGE, hide_short_help = true)]
    ome_losses: bool,
}

fn version(text: &str) -> Result<Version, String> {
    text.parse().map_err(|error: zarr::Error| error.message().to_owned())
}

impl ImageArgs {
    fn is_given(&self) -> bool {
        self.ome_version.is_some() || self.ome_losses || self.names_parts() || self.channel_windows.is_some()
    }

    /// Whether the axes, positions or channels of an array are named.
    fn names_parts(&self) -> bool {
        self.axes.is_some() || self.scale.is_some() || !self.channel_names.is_empty()
    }

    /// Adds the image that the source becomes to the options of a conversion. `target` is the address of the target, which names the image.
    pub(crate) fn taken(
        &self,
        context: &Context,
        source: &NodeLocation,
        target: &str,
        convention: ByConvention,
        options: ConvertOptions,
    ) -> Result<ConvertOptions> {
        if !matches!(convention.convention, Some(ConventionName::Ome)) {
            return match self.is_given() {
                true => Err(Failure::usage("found options of images without --convention ome".to_owned())),
                false => Ok(options),
            };
        }
        let found = context.node(source)?;
        let options = options.ome_version(self.ome_version).ome_losses(self.ome_losses);
        if let Some(group) = found.node.as_group() {
            let is_image = Metadata::find(&group.attributes, source.path.name()).is_some();
            if self.names_parts() || !(is_image || self.ome_version.is_some()) {
                let failure =
                    Failure::usage(format!("{}: found a group, expected an array to make an image of", source.path));
                return Err(failure.with_hint("--node names an array; a group of OME-Zarr keeps its metadata"));
            }
            return match self.channel_windows {
                Some(windows) => {
                    let found = windows.of_images(context, source, &options)?;
                    Ok(options.channel_windows(found))
                }
                None => Ok(options),
            };
        }
        let array = context.array_of(source, found)?;
        let axes = match &self.axes {
            Some(axes) => axes.clone(),
            None => {
                let names: Vec<&str> =
                    array.dimension_names().unwrap_or_default().iter().flatten().map(String::as_str).collect();
                match names.len() == array.shape().len() && names.iter().all(|name| name.chars().count() == 1) {
                    true => names.concat(),
                    false => return Err(Failure::usage("expected --axes, such as tczyx".to_owned())),
                }
            }
        };
        let mut image = NewImage::new(&axes)?.scales(self.scale.as_deref().unwrap_or_default())?;
        image = image.level(LEVEL, &vec![1.0; axes.chars().count()])?.name(stem(target));
        let region = options.regions.get(&source.path);
        // Where the number of axes is another one, the conversion says so.
        if let Some(region) = region.filter(|region| region.rank() == image.axes().len()) {
            let starts: Vec<(u64, u64)> = region.axes().iter().map(|axis| (axis.start, axis.step)).collect();
            image = image.region(&starts)?;
        }
        let region = region.cloned().unwrap_or_else(|| Region::whole(array.shape()));
        let image = image.channels(self.channels(&array, &region, &axes)?);
        Ok(options.image(image))
    }

    /// Returns the channels, with windows; none without names and windows.
    fn channels(&self, array: &Array, region: &Region, axes: &str) -> Result<Vec<DisplayedChannel>> {
        if self.channel_names.is_empty() && self.channel_windows.is_none() {
            return Ok(Vec::new());
        }
        let axis = axes.chars().position(|axis| axis == 'c').filter(|_| axes.chars().count() == region.rank());
        let count = axis.and_then(|axis| Some(region.axes().get(axis)?.len)).unwrap_or(1);
        if !self.channel_names.is_empty() && self.channel_names.len() as u64 != count {
            let found = self.channel_names.len();
            return Err(Failure::usage(format!(
                "--channel-names: found {found} names, expected {count} as the array has channels"
            )));
        }
        image_windows::check_count(array.path(), count)?;
        (0..count)
            .map(|number| {
                let label = self.channel_names.get(number as usize).cloned();
                Ok(DisplayedChannel {
                    label,
                    window: Some(self.window(array, region, axis, number)?),
                    ..DisplayedChannel::default()
                })
            })
            .collect()
    }

    /// Returns the window of a channel: of its values in the region, or, unless these are asked for, of the data type if it is a small integer.
    fn window(&self, array: &Array, region: &Region, axis: Option<usize>, number: u64) -> Result<Window> {
        if let Some(windows) = self.channel_windows {
            return windows.of_channel(array, region, axis, number);
        }
        match image_windows::of_type(array.data_type()) {
            Some((min, max)) => Ok(Window::new(min, max)),
            // Nobody asked for a window, so that missing values alone are no error.
            None => Ok(Windows::WHOLE.of_finite(array, region, axis, number)?.unwrap_or(Window::new(0.0, 1.0))),
        }
    }
}

/// Returns the name of an image: the last name in an address, without extensions.
fn stem(address: &str) -> &str {
    let name = address.trim_end_matches('/').rsplit(['/', '\\', ':']).next().unwrap_or(address);
    let name = [".zarr", ".ozx", ".zip"].into_iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    name.strip_suffix(".ome").unwrap_or(name)
}
