//! Pictures as PNG.

use crate::picture::Picture;
use crate::{Error, ErrorKind, Result};

/// The picture as a PNG file.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if it is too large for one.
pub fn png(picture: &Picture) -> Result<Vec<u8>> {
    animation(std::slice::from_ref(picture), 1)
}

/// Pictures of the same size as an animated PNG, which begins again at its end. Software that knows no animations shows the first.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if there are none, if they differ in size, or are too large.
pub fn animation(pictures: &[Picture], per_second: u16) -> Result<Vec<u8>> {
    let Some(first) = pictures.first() else { return Err(Error::argument("found no pictures for an animation")) };
    if pictures.iter().any(|other| (other.width(), other.height()) != (first.width(), first.height())) {
        return Err(Error::argument("pictures of an animation differ in size"));
    }
    let size = |length: usize| u32::try_from(length).map_err(|_| Error::argument("a picture is too large for PNG"));
    let count = size(pictures.len())?;
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size(first.width())?, size(first.height())?);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    if count > 1 {
        encoder.set_animated(count, 0).map_err(failed)?;
        encoder.set_frame_delay(1, per_second.max(1)).map_err(failed)?;
    }
    let mut writer = encoder.write_header().map_err(failed)?;
    for picture in pictures {
        writer.write_image_data(picture.bytes()).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

/// Bytes in memory take everything: only sizes can be refused.
fn failed(error: png::EncodingError) -> Error {
    Error::new(ErrorKind::Argument, format!("PNG: {error}"))
}
