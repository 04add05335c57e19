//! Descriptions of ImageJ: lines of names and values.

use crate::description::{About, Axis, Channel, Spacing, unit};

/// A stack of ImageJ.
#[derive(Debug)]
pub(crate) struct Stack {
    /// Axes of the planes, the slowest first.
    pub(crate) axes: Vec<Axis>,
    pub(crate) about: About,
}

/// Whether a description is one of ImageJ.
pub(crate) fn is_imagej(text: &str) -> bool {
    text.starts_with("ImageJ=")
}

/// The stack that a description describes. The resolution is that of the page, in pixels of a unit; `samples` are those of a pixel, and
/// `pages` have directories.
pub(crate) fn parse(text: &str, resolution: [Option<f64>; 2], samples: u64, pages: usize) -> Stack {
    let value = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once('='));
        lines.find(|(found, _)| *found == name).map(|(_, value)| value.trim())
    };
    let number = |name: &str| value(name).and_then(|text| text.parse::<f64>().ok()).filter(|number| number.is_finite());
    let count = |name: &str| value(name).and_then(|text| text.parse::<u64>().ok()).filter(|count| *count > 0);
    // The fastest axis first, as letters.
    let order = value("order").map(str::to_lowercase).filter(|order| {
        let mut letters: Vec<char> = order.chars().collect();
        letters.sort_unstable();
        letters == ['c', 't', 'z']
    });
    let mut axes = Vec::new();
    for axis in order.as_deref().unwrap_or("czt").chars().rev() {
        let len = count(match axis {
            't' => "frames",
            'z' => "slices",
            _ => "channels",
        });
        // Colours of a pixel are in one page.
        let is_of_pixel = axis == 'c' && samples > 1 && len == Some(samples);
        axes.extend(len.filter(|len| *len > 1 && !is_of_pixel).map(|len| Axis::new(axis, len)));
    }
    if axes.is_empty() {
        // Without lengths all directories are the stack, or the images behind the only one.
        let images = if pages > 1 { pages as u64 } else { count("images").unwrap_or(1) };
        axes.extend((images > 1).then(|| Axis::new("page", images)));
    }
    let mut about = About::default();
    let of_space = value("unit").and_then(unit);
    let mut add = |axis, size: Option<f64>, unit| {
        if let Some(size) = size.filter(|size| size.is_finite() && *size > 0.0) {
            about.spacings.push(Spacing { axis, size, unit });
        }
    };
    add('z', number("spacing").map(f64::abs), of_space);
    add('t', number("finterval"), value("tunit").and_then(unit).or(Some("second")));
    if of_space.is_some() {
        for (axis, resolution) in ['x', 'y'].into_iter().zip(resolution) {
            add(axis, resolution.map(|pixels| 1.0 / pixels), of_space);
        }
    }
    let window = number("min").zip(number("max")).filter(|(min, max)| min < max);
    if window.is_some() && axes.iter().all(|axis| axis.name != "c") {
        about.channels.push(Channel { window, color: Some([255; 3]), label: None });
    }
    Stack { axes, about }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_those_of_the_planes() {
        let text =
            "ImageJ=1.11a\nimages=6\nchannels=2\nframes=3\nhyperstack=true\nunit=micron\nspacing=2.0\nfinterval=0.5\n";
        let stack = parse(text, [Some(4.0), None], 1, 6);
        assert_eq!(stack.axes, [Axis::new("t", 3), Axis::new("c", 2)]);
        let spacing = |axis, size, unit| Spacing { axis, size, unit: Some(unit) };
        let expected = [spacing('z', 2.0, "micrometer"), spacing('t', 0.5, "second"), spacing('x', 0.25, "micrometer")];
        assert_eq!(stack.about.spacings, expected);
        let axes = |text: &str, samples, pages| parse(text, [None; 2], samples, pages).axes;
        // The number of images is not what counts.
        assert_eq!(axes("ImageJ=1\nimages=4\nslices=3\n", 1, 4), [Axis::new("z", 3)]);
        assert_eq!(axes("ImageJ=1\nimages=4\n", 1, 1), [Axis::new("page", 4)]);
        assert_eq!(axes("ImageJ=1\n", 1, 5), [Axis::new("page", 5)]);
        assert_eq!(axes("ImageJ=1\nchannels=3\nslices=2\n", 3, 2), [Axis::new("z", 2)]);
        let ordered = [Axis::new("c", 2), Axis::new("t", 4), Axis::new("z", 3)];
        assert_eq!(axes("ImageJ=1\nchannels=2\nslices=3\nframes=4\norder=ztc\n", 1, 24), ordered);
        let large = axes("ImageJ=1\nchannels=99999999999999\nframes=99999999999\n", 1, 1);
        assert_eq!(large.len(), 2);
    }
}
