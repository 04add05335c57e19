//! Pictures as PNG.

use crate::color_map::Rgb;
use crate::picture::Picture;
use crate::{Error, ErrorKind, Result};
use std::io::Write;

/// The picture as a PNG file.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if it is too large for one.
pub fn png(picture: &Picture) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = Animation::new(&mut bytes, (picture.width(), picture.height()), 1, 1)?;
    file.write(picture)?;
    file.finish()?;
    Ok(bytes)
}

/// An animated PNG that is written frame by frame, and begins again at its end. Software that knows no animations shows the first frame.
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
    /// An animation of `frames` frames of a width and a height in pixels, `per_second` of them in a second.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if there are none, or they are too large; an error of `out`.
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

    /// Appends a frame. One that is smaller gets white pixels to the right and below.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if it is larger, or there are more frames than were announced; an error of what
    /// is written to.
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
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if there are fewer frames than were announced; an error of what is written to.
    pub fn finish(self) -> Result<()> {
        self.writer.finish().map_err(failed)
    }
}

fn failed(error: png::EncodingError) -> Error {
    let kind = if matches!(error, png::EncodingError::IoError(_)) { ErrorKind::Store } else { ErrorKind::Argument };
    Error::new(kind, format!("PNG: {error}"))
}
