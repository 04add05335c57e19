//! Chunks of JPEG, whose tables may be in a tag.

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::fault::Refusal;
use crate::form::Form;

/// Maximum number of scans of a progressive image.
const MAX_SCANS: usize = 64;
/// The largest width and height.
const MAX_SIDE: u64 = 65_535;
const BEGIN: [u8; 2] = [0xff, 0xd8];
const END: [u8; 2] = [0xff, 0xd9];

/// The reason why chunks of a form are not read.
pub(crate) fn refusal(form: &Form) -> Option<Refusal> {
    let (width, height, components) = (form.chunk_width, form.chunk_height, form.chunk_samples());
    if width > MAX_SIDE || height > MAX_SIDE {
        let reason = format!("JPEG of {width} x {height} pixels is not read, a side has at most {MAX_SIDE}");
        return Some(Refusal::new(reason));
    }
    colors(components).is_none().then(|| of_components(components))
}

fn of_components(components: u64) -> Refusal {
    Refusal::new(format!("JPEG of {components} components is not read"))
}

fn colors(components: u64) -> Option<ColorSpace> {
    match components {
        1 => Some(ColorSpace::Luma),
        3 => Some(ColorSpace::RGB),
        4 => Some(ColorSpace::CMYK),
        _ => None,
    }
}

/// The samples of a chunk of `rows` rows.
pub(crate) fn decode(form: &Form, bytes: &[u8], tables: Option<&[u8]>, rows: u64) -> Result<Vec<u8>, Refusal> {
    let (width, components) = (form.chunk_width, form.chunk_samples());
    let colors = colors(components).ok_or_else(|| of_components(components))?;
    let rest = bytes.strip_prefix(&BEGIN).ok_or_else(|| Refusal::new("JPEG: its first bytes are no JPEG"))?;
    let mut whole = BEGIN.to_vec();
    if components == 3 {
        // The tag says which colours there are; a decoder of JPEG goes by this marker of Adobe.
        whole.extend_from_slice(b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0");
        whole.push(u8::from(form.has_ycbcr()));
    }
    if let Some(tables) = tables {
        let tables = tables.strip_prefix(&BEGIN).unwrap_or(tables);
        whole.extend_from_slice(tables.strip_suffix(&END).unwrap_or(tables));
    }
    whole.extend_from_slice(&without_adobe(rest));
    let options = DecoderOptions::new_safe()
        .set_max_width(MAX_SIDE as usize)
        .set_max_height(MAX_SIDE as usize)
        .jpeg_set_max_scans(MAX_SCANS)
        .jpeg_set_out_colorspace(colors);
    let fault = |error: zune_jpeg::errors::DecodeErrors| Refusal::new(format!("JPEG: {error}"));
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(&*whole), options);
    decoder.decode_headers().map_err(fault)?;
    let info = decoder.info().ok_or_else(|| Refusal::new("JPEG: it has no header"))?;
    let (found_width, found_height) = (u64::from(info.width), u64::from(info.height));
    if found_width != width
        || found_height < rows
        || found_height > form.chunk_height
        || u64::from(info.components) != components
    {
        return Err(Refusal::new(format!(
            "JPEG: found {found_width} x {found_height} pixels of {} components, expected {width} x {rows} of {components}",
            info.components
        )));
    }
    decoder.decode().map_err(fault)
}

/// The parts of an image without the marker of Adobe, which the tag overrules.
fn without_adobe(rest: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::with_capacity(rest.len()), 0);
    while let Some(&[0xff, marker, high, low]) = rest.get(at..at + 4).and_then(|head| head.first_chunk()) {
        let end = at + 2 + usize::from(u16::from_be_bytes([high, low]));
        // The scan and what follows is copied as it is.
        if marker == 0xda || marker == 0xff || end > rest.len() {
            break;
        }
        let segment = &rest[at..end];
        if marker != 0xee || !segment.get(4..).is_some_and(|content| content.starts_with(b"Adobe")) {
            out.extend_from_slice(segment);
        }
        at = end;
    }
    out.extend_from_slice(rest.get(at..).unwrap_or_default());
    out
}
