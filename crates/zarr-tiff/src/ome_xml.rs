//! OME-XML: the images of a file, and which page has which plane.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::description::{About, Axis, Channel, Spacing, unit};

/// Maximum depth of elements.
const MAX_DEPTH: usize = 64;
/// Maximum number of images, channels and planes together.
const MAX_ITEMS: usize = 1 << 20;
/// Maximum number of planes of all images.
const MAX_PLANES: u64 = 1 << 20;

/// An image.
#[derive(Debug)]
pub(crate) struct Image {
    /// Axes of the planes, the slowest first.
    pub(crate) axes: Vec<Axis>,
    /// The page of each plane; `None` for one that is not in this file.
    pub(crate) pages: Vec<Option<u64>>,
    pub(crate) about: About,
    /// Whether planes are in other files.
    pub(crate) has_others: bool,
}

/// Whether a description is OME-XML.
pub(crate) fn is_ome(text: &str) -> bool {
    text.trim_start().starts_with('<') && text.trim_end().ends_with("OME>")
}

/// An image while it is read.
#[derive(Default)]
struct Open {
    name: Option<String>,
    order: String,
    /// Sizes along t, c and z, with the samples of a pixel among the channels.
    sizes: [u64; 3],
    has_sizes: bool,
    spacings: Vec<Spacing>,
    channels: Vec<Channel>,
    samples: Vec<u64>,
    significant: Option<u32>,
    data: Vec<PlaneData>,
}

/// An element `TiffData`.
struct PlaneData {
    first: [u64; 3],
    ifd: u64,
    count: Option<u64>,
    /// The file, if it is named.
    file: Option<File>,
    /// Whether that is another file.
    is_other: bool,
}

/// A file with planes.
#[derive(Debug, Default)]
struct File {
    name: Option<String>,
    uuid: String,
}

impl File {
    fn id(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.uuid)
    }
}

/// Marks the planes that are in other files than the one with this UUID and name.
///
/// Without a UUID of its own a file is known by its name, and if no planes have that, it is the only one that is named.
fn mark_others(images: &mut [Open], own: Option<&str>, name: &str) {
    let is_own: Box<dyn Fn(&File) -> bool> = match own {
        Some(own) => {
            let own = own.to_owned();
            Box::new(move |file| file.uuid == own)
        }
        None => {
            let files = || images.iter().flat_map(|image| &image.data).filter_map(|data| data.file.as_ref());
            let mut ids: Vec<String> = files().map(|file| file.id().to_owned()).collect();
            ids.sort_unstable();
            ids.dedup();
            let id = if ids.iter().any(|id| id == name) { Some(name.to_owned()) } else { None };
            let id = id.or_else(|| ids.pop().filter(|_| ids.is_empty()));
            Box::new(move |file| id.as_deref() == Some(file.id()))
        }
    };
    for data in images.iter_mut().flat_map(|image| &mut image.data) {
        data.is_other = data.file.as_ref().is_some_and(|file| !is_own(file));
    }
}

/// The images of a document in a file of this name; the reason if it is not read.
pub(crate) fn parse(text: &str, name: &str) -> Result<Vec<Image>, String> {
    let mut reader = Reader::from_str(text);
    let (mut images, mut open, mut own) = (Vec::<Open>::new(), None::<Open>, None::<String>);
    let (mut depth, mut items) = (0_usize, 0_usize);
    let mut is_uuid = false;
    loop {
        let event =
            reader.read_event().map_err(|error| format!("byte {} of the XML: {error}", reader.buffer_position()))?;
        let (start, is_empty) = match &event {
            Event::Start(start) => (start, false),
            Event::Empty(start) => (start, true),
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                is_uuid = false;
                if end.local_name().as_ref() == b"Image" {
                    images.extend(open.take());
                }
                continue;
            }
            Event::Text(found) if is_uuid => {
                let uuid = found.decode().map_err(|error| error.to_string())?;
                let data = open.as_mut().and_then(|open| open.data.last_mut());
                if let Some(file) = data.and_then(|data| data.file.as_mut()) {
                    uuid.trim().clone_into(&mut file.uuid);
                }
                continue;
            }
            Event::Eof => break,
            _ => continue,
        };
        items += 1;
        depth += usize::from(!is_empty);
        if depth > MAX_DEPTH || items > MAX_ITEMS {
            return Err(format!(
                "found more than {MAX_DEPTH} elements in each other or {MAX_ITEMS} of all, which is the limit"
            ));
        }
        match (start.local_name().as_ref(), &mut open) {
            (b"OME", _) => own = attribute(start, "UUID")?,
            (b"Image", _) => open = Some(Open { name: attribute(start, "Name")?, ..Open::default() }),
            (b"Pixels", Some(open)) => open.pixels(start)?,
            (b"Channel", Some(open)) => open.channel(start)?,
            (b"TiffData", Some(open)) => {
                let number = |name| Ok::<_, String>(attribute(start, name)?.and_then(|text| text.trim().parse().ok()));
                let first = [number("FirstT")?, number("FirstC")?, number("FirstZ")?].map(|at| at.unwrap_or(0));
                let (ifd, count) = (number("IFD")?, number("PlaneCount")?);
                // One plane, if its directory is named.
                let count = count.or(ifd.map(|_| 1));
                open.data.push(PlaneData { first, ifd: ifd.unwrap_or(0), count, file: None, is_other: false });
            }
            (b"UUID", Some(open)) => {
                is_uuid = !is_empty;
                if let Some(data) = open.data.last_mut() {
                    data.file = Some(File { name: attribute(start, "FileName")?, uuid: String::new() });
                }
            }
            _ => {}
        }
    }
    mark_others(&mut images, own.as_deref(), name);
    let mut planes = MAX_PLANES;
    let images = images.into_iter().map(|open| open.into_image(&mut planes));
    Ok(images.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// The value of an attribute of an element, if it is there.
fn attribute(start: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    let fault = |error: String| format!("attribute {name} in the XML: {error}");
    let found = start.try_get_attribute(name).map_err(|error| fault(error.to_string()))?;
    found
        .map(|found| found.normalized_value(XmlVersion::Implicit1_0).map(|text| text.into_owned()))
        .transpose()
        .map_err(|error| fault(error.to_string()))
}

impl Open {
    fn pixels(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        self.order = attribute(start, "DimensionOrder")?.unwrap_or_else(|| "XYZCT".to_owned());
        for (size, name) in self.sizes.iter_mut().zip(["SizeT", "SizeC", "SizeZ"]) {
            let text = attribute(start, name)?;
            *size = text.as_ref().and_then(|text| text.trim().parse().ok()).filter(|size| *size > 0).unwrap_or(1);
        }
        self.has_sizes = true;
        self.significant = attribute(start, "SignificantBits")?.and_then(|text| text.trim().parse().ok());
        for (axis, name, default) in [
            ('x', "PhysicalSizeX", "\u{b5}m"),
            ('y', "PhysicalSizeY", "\u{b5}m"),
            ('z', "PhysicalSizeZ", "\u{b5}m"),
            ('t', "TimeIncrement", "s"),
        ] {
            let size = attribute(start, name)?.and_then(|text| text.trim().parse::<f64>().ok());
            let Some(size) = size.filter(|size| size.is_finite() && *size > 0.0) else { continue };
            let found = attribute(start, &format!("{name}Unit"))?;
            self.spacings.push(Spacing { axis, size, unit: unit(found.as_deref().unwrap_or(default)) });
        }
        Ok(())
    }

    fn channel(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        let samples = attribute(start, "SamplesPerPixel")?.and_then(|text| text.trim().parse().ok());
        self.samples.push(samples.filter(|samples| *samples > 0).unwrap_or(1));
        let color = attribute(start, "Color")?.and_then(|text| text.trim().parse::<i64>().ok());
        // Red, green, blue and opacity, from the highest byte on.
        let color = color.map(|color| [24, 16, 8].map(|shift| u8::try_from(color >> shift & 0xff).unwrap_or(0)));
        self.channels.push(Channel { label: attribute(start, "Name")?, color, window: None });
        Ok(())
    }

    fn into_image(self, left: &mut u64) -> Result<Option<Image>, String> {
        if !self.has_sizes {
            return Ok(None);
        }
        let [t, mut c, z] = self.sizes;
        // Samples of a pixel are in one page.
        let samples = self.samples.first().copied().unwrap_or(1);
        let is_of_pixels = self.samples.iter().all(|found| *found == samples) && c.is_multiple_of(samples);
        let samples = if is_of_pixels { samples } else { 1 };
        c /= samples;
        let order: Vec<char> = self.order.chars().skip(2).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if sorted != ['C', 'T', 'Z'] || !self.order.starts_with("XY") {
            return Err(format!("found {:?} as the order of dimensions, expected XY and Z, C, T", self.order));
        }
        let len = |axis: &char| match axis {
            'T' => t,
            'C' => c,
            _ => z,
        };
        let count = order.iter().try_fold(1_u64, |count, axis| count.checked_mul(len(axis)));
        let left_of_all = count.and_then(|count| left.checked_sub(count));
        let count = count.filter(|_| left_of_all.is_some()).ok_or_else(|| {
            format!("found {t} times, {c} channels and {z} slices, expected at most {MAX_PLANES} planes in a file")
        })?;
        *left = left_of_all.unwrap_or(0);
        let mut pages = vec![None; usize::try_from(count).unwrap_or(0)];
        let (mut has_others, mut places) = (false, MAX_ITEMS);
        if self.data.is_empty() {
            pages.iter_mut().zip(0..).for_each(|(page, number)| *page = Some(number));
        }
        for data in &self.data {
            let [first_t, first_c, first_z] = data.first;
            // The first axis behind X and Y is the fastest.
            let first = order.iter().rev().try_fold(0_u64, |at, axis| {
                let along = match axis {
                    'T' => first_t,
                    'C' => first_c / samples,
                    _ => first_z,
                };
                at.checked_mul(len(axis))?.checked_add(along)
            });
            let first = first.and_then(|first| usize::try_from(first).ok()).unwrap_or(usize::MAX);
            let count = data.count.unwrap_or(count);
            has_others |= data.is_other;
            for (page, ifd) in pages.iter_mut().skip(first).zip(data.ifd..data.ifd.saturating_add(count)) {
                places = places
                    .checked_sub(1)
                    .ok_or_else(|| format!("found more than {MAX_ITEMS} planes, which is the limit"))?;
                *page = (!data.is_other).then_some(ifd);
            }
        }
        let axes = order.iter().rev().map(|axis| Axis::new(axis.to_ascii_lowercase(), len(axis))).collect();
        let mut about = About { name: self.name, spacings: self.spacings, ..About::default() };
        let is_described = self.channels.iter().any(|channel| channel.label.is_some() || channel.color.is_some());
        if samples == 1 && is_described && self.channels.len() as u64 == c {
            about.channels = self.channels;
            let window = self
                .significant
                .filter(|bits| (1..=32).contains(bits))
                .map(|bits| 2_f64.powi(bits.cast_signed()) - 1.0);
            for channel in &mut about.channels {
                channel.window = window.map(|most| (0.0, most));
            }
        }
        Ok(Some(Image { axes, pages, about, has_others }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(pixels: &str, inside: &str) -> Result<Vec<Image>, String> {
        let image = format!("<Image Name=\"a &amp; b\"><Pixels {pixels}>{inside}</Pixels></Image>");
        parse(&format!("<?xml version=\"1.0\"?><OME UUID=\"urn:uuid:1\">{image}</OME>"), "a.tif")
    }

    #[test]
    fn planes_are_where_the_data_say() {
        let sizes = "DimensionOrder=\"XYCZT\" SizeT=\"2\" SizeC=\"2\" SizeZ=\"3\"";
        let images = image(sizes, "<TiffData/>").expect("images");
        let [only] = &images[..] else { panic!("{images:?}") };
        assert_eq!(only.about.name.as_deref(), Some("a & b"));
        assert_eq!(only.axes, [Axis::new("t", 2), Axis::new("z", 3), Axis::new("c", 2)]);
        assert_eq!(only.pages, (0..12).map(Some).collect::<Vec<_>>());
        let data = "<TiffData IFD=\"4\" FirstT=\"1\" FirstZ=\"2\" FirstC=\"1\"/><TiffData IFD=\"1\" PlaneCount=\"2\"/>\
            <TiffData IFD=\"9\" FirstZ=\"1\"><UUID FileName=\"b\">urn:uuid:2</UUID></TiffData>";
        let images = image(sizes, data).expect("images");
        let pages = &images[0].pages;
        assert_eq!((pages[11], pages[0], pages[1], pages[2]), (Some(4), Some(1), Some(2), None));
        assert!(images[0].has_others);
        // Samples of a pixel are in one page.
        let images = image("DimensionOrder=\"XYCZT\" SizeC=\"3\"", "<Channel SamplesPerPixel=\"3\"/>").expect("images");
        assert_eq!(images[0].pages, [Some(0)]);
    }

    #[test]
    fn files_without_a_uuid_are_known_by_their_names() {
        let planes = |name: &str, others: [&str; 2]| {
            let data = |z: usize, file: &str| {
                format!(
                    "<TiffData FirstZ=\"{z}\" IFD=\"0\"><UUID FileName=\"{file}\">urn:uuid:{file}</UUID></TiffData>"
                )
            };
            let pixels = format!(
                "<Pixels DimensionOrder=\"XYZCT\" SizeZ=\"2\">{}{}</Pixels>",
                data(0, others[0]),
                data(1, others[1])
            );
            let images = parse(&format!("<OME><Image>{pixels}</Image></OME>"), name).expect("images");
            (images[0].pages.clone(), images[0].has_others)
        };
        assert_eq!(planes("a.tif", ["a.tif", "b.tif"]), (vec![Some(0), None], true));
        assert_eq!(planes("b.tif", ["a.tif", "b.tif"]), (vec![None, Some(0)], true));
        // A file that was renamed is still the only one.
        assert_eq!(planes("c.tif", ["a.tif", "a.tif"]), (vec![Some(0), Some(0)], false));
        assert_eq!(planes("c.tif", ["a.tif", "b.tif"]), (vec![None, None], true));
    }

    #[test]
    fn samples_that_do_not_divide_channels_are_left_out() {
        let pixels = "DimensionOrder=\"XYCZT\" SizeC=\"4\"";
        let inside = "<Channel SamplesPerPixel=\"3\"/><TiffData FirstC=\"3\" IFD=\"7\"/>";
        assert_eq!(image(pixels, inside).expect("images")[0].pages, [None, None, None, Some(7)]);
    }

    #[test]
    fn what_no_image_has_is_refused() {
        for (pixels, inside, expected) in [
            ("DimensionOrder=\"YXCZT\"", "", "expected XY and Z, C, T"),
            (
                "DimensionOrder=\"XYCZT\" SizeT=\"4294967295\" SizeZ=\"4294967295\"",
                "",
                "expected at most 1048576 planes",
            ),
            ("DimensionOrder=\"XYCZT\" SizeT=\"1048576\"", "<TiffData/><TiffData/>", "more than 1048576 planes"),
            ("DimensionOrder=\"XYCZT", "", "XML"),
        ] {
            let error = image(pixels, inside).expect_err("it is refused");
            assert!(error.contains(expected), "{error}");
        }
        let deep = "<a>".repeat(100);
        assert!(image("", &deep).expect_err("it is refused").contains("64 elements in each other"));
    }
}
