//! Encoding of pictures as PNG.

use crate::color_map::Rgb;
use crate::picture::Picture;
use crate::{Error, ErrorKind, Result};
use std::io::Write;

/// Encodes a picture as a PNG file.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the picture is too large for PNG.
pub fn png(picture: &Picture) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = Animation::new(&mut bytes, (picture.width(), picture.height()), 1, 1)?;
    file.write(picture)?;
    file.finish()?;
    Ok(bytes)
}

/// Animated PNG that is written frame by frame and repeats endlessly. Software without support for animations shows the first frame.
///
/// ```
/// use zarr_view::{Animation, Picture};
///
/// let mut file = Vec::new();
/// // Two frames, eight in a second.
/// let mut animation = Animation::new(&mut file, (4, 3), 2, 8)?;
/// animation.write(&Picture::new(4, 3, [0; 3])?)?;
/// animation.write(&Picture::new(4, 3, [255; 3])?)?;
/// animation.finish()?;
/// assert!(file.starts_with(b"\x89PNG"));
/// # Ok::<(), zarr_view::Error>(())
/// ```
pub struct Animation<W: Write> {
    writer: png::Writer<W>,
    size: (usize, usize),
}

impl<W: Write> Animation<W> {
    /// Begins an animation of `frames` frames. `size` is the width and height of a frame in pixels, and `per_second` the number of frames
    /// per second.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if `frames` is 0 or the frames are too large; the errors of writing to `out`.
    pub fn new(out: W, size: (usize, usize), frames: usize, per_second: u16) -> Result<Self> {
        let number = |length: usize| {
            u32::try_from(length).map_err(|_| Error::argument("found pictures that are too large for PNG"))
        };
        let mut encoder = png::Encoder::new(out, number(size.0)?, number(size.1)?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.validate_sequence(true);
        match number(frames)? {
            0 => return Err(Error::argument("found no pictures for an animation")),
            1 => {}
            count => {
                encoder.set_animated(count, 0).map_err(failed)?;
                encoder.set_frame_delay(1, per_second.max(1)).map_err(failed)?;
            }
        }
        Ok(Self { writer: encoder.write_header().map_err(failed)?, size })
    }

    /// Appends a frame. A frame that is smaller than the animation gets white pixels to the right and below.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the frame is larger than the animation, or exceeds the announced number of
    /// frames; the errors of writing.
    pub fn write(&mut self, picture: &Picture) -> Result<()> {
        let (width, height) = self.size;
        if (picture.width(), picture.height()) == self.size {
            return self.writer.write_image_data(picture.bytes()).map_err(failed);
        }
        if picture.width() > width || picture.height() > height {
            let found = format!("{} x {}", picture.width(), picture.height());
            return Err(Error::argument(format!("found a frame of {found} pixels, expected {width} x {height}")));
        }
        const WHITE: Rgb = [255; 3];
        let mut rows: Vec<Rgb> = Vec::new();
        for row in picture.pixels().chunks(picture.width()) {
            rows.extend(row);
            rows.extend(std::iter::repeat_n(WHITE, width - row.len()));
        }
        rows.resize(width.saturating_mul(height), WHITE);
        self.writer.write_image_data(rows.as_flattened()).map_err(failed)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if fewer frames were written than announced; the errors of writing.
    pub fn finish(self) -> Result<()> {
        self.writer.finish().map_err(failed)
    }
}

fn failed(error: png::EncodingError) -> Error {
    let kind = if matches!(error, png::EncodingError::IoError(_)) { ErrorKind::Store } else { ErrorKind::Argument };
    Error::new(kind, format!("PNG: {error}"))
}
