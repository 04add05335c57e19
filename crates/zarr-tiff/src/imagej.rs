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

/// The stack that a description describes; the resolution is that of the page, in pixels of a unit.
pub(crate) fn parse(text: &str, resolution: [Option<f64>; 2]) -> Stack {
    let value = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once('='));
        lines.find(|(found, _)| *found == name).map(|(_, value)| value.trim())
    };
    let number = |name: &str| value(name).and_then(|text| text.parse::<f64>().ok()).filter(|number| number.is_finite());
    let count = |name: &str| value(name).and_then(|text| text.parse::<u64>().ok()).filter(|count| *count > 0);
    let mut axes = Vec::new();
    for (name, axis) in [("frames", "t"), ("slices", "z"), ("channels", "c")] {
        axes.extend(count(name).filter(|len| *len > 1).map(|len| Axis::new(axis, len)));
    }
    let product = axes.iter().try_fold(1_u64, |product, axis| product.checked_mul(axis.len));
    let images = count("images").unwrap_or(1);
    if product != Some(images) {
        // The number of images is what ImageJ goes by.
        axes = if images > 1 { vec![Axis::new("page", images)] } else { Vec::new() };
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
        let stack = parse(text, [Some(4.0), None]);
        assert_eq!(stack.axes, [Axis::new("t", 3), Axis::new("c", 2)]);
        let spacing = |axis, size, unit| Spacing { axis, size, unit: Some(unit) };
        let expected = [spacing('z', 2.0, "micrometer"), spacing('t', 0.5, "second"), spacing('x', 0.25, "micrometer")];
        assert_eq!(stack.about.spacings, expected);
        assert_eq!(parse("ImageJ=1\nimages=4\nslices=3\n", [None; 2]).axes, [Axis::new("page", 4)]);
        assert!(parse("ImageJ=1\nchannels=99999999999999\nframes=99999999999\n", [None; 2]).axes.is_empty());
    }
}
