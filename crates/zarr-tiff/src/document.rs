//! Documents of Zarr v3.

use zarr_dtype::{DataType, FillValue};
use zarr_geo::Georeference;
use zarr_json::{Map, Value, json};

use crate::fault::Failure;
use crate::form::{Compression, Form};
use crate::ifd::{Order, Reader};
use crate::layout::Layout;
use crate::page::Page;
use crate::series::Series;
use crate::warnings::Warnings;
use crate::{geo, image, tags};

/// The document of the array that a level is, whose place on Earth is known or not.
pub(crate) fn array(layout: &Layout, form: &Form, fill: Option<&FillValue>, place: Option<&Georeference>) -> Value {
    let data_type = &form.sample.data_type;
    let rank = layout.axes.len();
    let mut codecs = Vec::new();
    if let Some(channels) = layout.interleaved {
        let order: Vec<u64> = (0..rank).filter(|at| *at != channels).chain([channels]).map(|at| at as u64).collect();
        codecs.push(json!({"name": "transpose", "configuration": {"order": order}}));
    }
    let order = match form.order {
        Order::Big if form.is_direct() => "big",
        _ => "little",
    };
    codecs.push(match form.sample.size() {
        1 => json!({"name": "bytes"}),
        _ => json!({"name": "bytes", "configuration": {"endian": order}}),
    });
    match form.compression {
        // Levels are those of the writer, and no reader needs them.
        Compression::Deflate if form.is_direct() => {
            codecs.push(json!({"name": "numcodecs.zlib", "configuration": {"level": 6}}));
        }
        Compression::Zstd if form.is_direct() => {
            codecs.push(json!({"name": "zstd", "configuration": {"level": 3, "checksum": false}}));
        }
        _ => {}
    }
    let mut attributes = Map::new();
    if let Some(fill) = fill {
        attributes.insert(zarr_cf::fill::FILL_VALUE, zarr_cf::fill::to_attribute(data_type, fill));
    }
    if let Some(place) = place {
        write_place(place, &mut attributes);
    }
    let fill = fill.cloned().unwrap_or_else(|| FillValue::zero(data_type));
    let shape: Vec<u64> = layout.axes.iter().map(|axis| axis.len).collect();
    let names: Vec<Value> = layout.axes.iter().map(|axis| Value::from(&*axis.name)).collect();
    json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": (data_type.to_config().short_value()),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": (layout.chunk_shape.clone())}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": (fill.to_json(data_type)),
        "codecs": codecs,
        "attributes": attributes,
        "dimension_names": names,
    })
}

/// Adds a place on Earth to attributes, which have nothing that it could contradict.
fn write_place(place: &Georeference, attributes: &mut Map) {
    // Without levels nothing is refused.
    let _ = place.write(attributes);
}

/// The document of a group.
pub(crate) fn group(attributes: Map) -> Map {
    Map::from([("zarr_format", json!(3)), ("node_type", json!("group")), ("attributes", attributes.into())])
}

/// The attributes of a series: the tags of its first page, those of GeoTIFF with the place that they say, and its axes and levels as OME-Zarr
/// has them.
pub(crate) fn attributes(
    reader: &Reader<'_>,
    series: &Series,
    (layouts, geo): (&[Layout], Option<Map>),
    warnings: &mut Warnings,
) -> Result<Map, Failure> {
    let page = &series.page;
    let mut attributes = Map::new();
    let text = warnings.part(reader.text(&page.ifd, tags::IMAGE_DESCRIPTION))?;
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        let name = if crate::ome_xml::is_ome(&text) { "ome_xml" } else { "description" };
        attributes.insert(name, text);
    }
    for (name, tag) in [
        ("make", tags::MAKE),
        ("model", tags::MODEL),
        ("software", tags::SOFTWARE),
        ("date_time", tags::DATE_TIME),
        ("artist", tags::ARTIST),
        ("copyright", tags::COPYRIGHT),
    ] {
        if let Some(text) = warnings.part(reader.text(&page.ifd, tag))?.filter(|text| !text.is_empty()) {
            attributes.insert(name, text);
        }
    }
    if let Some(name) = photometric(&page.form) {
        attributes.insert("photometric", name);
    }
    let x = warnings.part(reader.floats(&page.ifd, tags::X_RESOLUTION, 1))?;
    let y = warnings.part(reader.floats(&page.ifd, tags::Y_RESOLUTION, 1))?;
    let first = |numbers: Option<Vec<f64>>| {
        numbers.and_then(|numbers| numbers.first().copied()).filter(|number| number.is_finite())
    };
    // Writers that know none write ones.
    if let (Some(x), Some(y)) = (first(x), first(y))
        && (x, y) != (1.0, 1.0)
    {
        let unit = warnings.part(reader.number(&page.ifd, tags::RESOLUTION_UNIT, 2).map(Some))?;
        attributes.insert(
            "resolution",
            json!({
                "x": x,
                "y": y,
                "unit": (match unit {
                    Some(2) => "inch",
                    Some(3) => "centimeter",
                    _ => "none",
                })
            }),
        );
    }
    if let Some(colors) = warnings.part(color_map(reader, page))? {
        attributes.insert("color_map", colors);
    }
    // Levels alone make a map an image of OME-Zarr, whose places are in the other attribute.
    let is_map = geo.is_some();
    let is_image = !is_map || series.levels.len() > 1;
    if let Some(geo) = geo {
        let finest = layouts.first().and_then(|layout| geo::place(&geo, layout, layout));
        attributes.insert(geo::GEOTIFF, geo);
        // Each level has a transformation of its own.
        if let Some(place) = finest {
            let mut of_all = place;
            (of_all.bbox, of_all.transform, of_all.shape) = (of_all.computed_extent(), None, None);
            write_place(&of_all, &mut attributes);
        }
    }
    if is_image && let Some(ome) = image::attribute(series, layouts, is_map) {
        attributes.insert(image::OME, ome);
    }
    Ok(attributes)
}

fn photometric(form: &Form) -> Option<&'static str> {
    Some(match form.photometric {
        _ if form.is_rgb() => "rgb",
        0 => "white_is_zero",
        1 => "black_is_zero",
        3 => "palette",
        4 => "mask",
        5 => "separated",
        6 => "ycbcr",
        8 => "cielab",
        32803 => "cfa",
        _ => return None,
    })
}

/// Maximum number of colours of a palette that is an attribute.
const MAX_COLORS: usize = 256;

/// The colours of a palette: red, green and blue of each value, of 16 bits.
fn color_map(reader: &Reader<'_>, page: &Page) -> Result<Option<Value>, Failure> {
    let Some(numbers) = reader.numbers(&page.ifd, tags::COLOR_MAP, 3 * MAX_COLORS as u64 + 1)? else { return Ok(None) };
    let count = numbers.len() / 3;
    if count == 0 || count > MAX_COLORS || numbers.len() % 3 != 0 {
        return Ok(None);
    }
    let colors = (0..count).map(|at| json!([(numbers[at]), (numbers[count + at]), (numbers[2 * count + at])]));
    Ok(Some(Value::Array(colors.collect())))
}

/// The value of pixels that are not known, if the file names one of the type of the samples.
pub(crate) fn fill_value(
    reader: &Reader<'_>,
    page: &Page,
    warnings: &mut Warnings,
) -> Result<Option<FillValue>, Failure> {
    let Some(text) = warnings.part(reader.text(&page.ifd, tags::GDAL_NODATA))? else { return Ok(None) };
    let data_type = &page.form.sample.data_type;
    Ok(element(data_type, text.trim()).and_then(|bytes| FillValue::from_bytes(data_type, &bytes).ok()))
}

/// The bytes of a number in a type; `None` if it is no value of the type.
fn element(data_type: &DataType, text: &str) -> Option<Vec<u8>> {
    macro_rules! integer {
        ($number:ty) => {{
            let whole = text
                .parse::<f64>()
                .ok()
                .filter(|number| number.fract() == 0.0 && number.abs() < 1e15)
                .map(|number| number as i64);
            let exact = text.parse::<$number>().ok();
            let number = exact.or_else(|| whole.and_then(|number| <$number>::try_from(number).ok()))?;
            Some(number.to_ne_bytes().to_vec())
        }};
    }
    match data_type {
        DataType::UInt8 => integer!(u8),
        DataType::UInt16 => integer!(u16),
        DataType::UInt32 => integer!(u32),
        DataType::UInt64 => integer!(u64),
        DataType::Int8 => integer!(i8),
        DataType::Int16 => integer!(i16),
        DataType::Int32 => integer!(i32),
        DataType::Int64 => integer!(i64),
        DataType::Float32 => Some((text.parse::<f64>().ok()? as f32).to_ne_bytes().to_vec()),
        DataType::Float64 => Some(text.parse::<f64>().ok()?.to_ne_bytes().to_vec()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_not_known_are_of_the_type() {
        assert_eq!(element(&DataType::Int16, "-9999"), Some((-9999_i16).to_ne_bytes().to_vec()));
        assert_eq!(element(&DataType::Int16, "-9999.0"), Some((-9999_i16).to_ne_bytes().to_vec()));
        assert_eq!(element(&DataType::UInt8, "-1"), None);
        assert_eq!(element(&DataType::UInt8, "1.5"), None);
        assert_eq!(element(&DataType::UInt64, "18446744073709551615"), Some(u64::MAX.to_ne_bytes().to_vec()));
        assert_eq!(element(&DataType::Float32, "-3.4028234663852886e+38"), Some(f32::MIN.to_ne_bytes().to_vec()));
        assert!(element(&DataType::Float64, "nan").is_some());
        assert_eq!(element(&DataType::Bool, "1"), None);
    }
}
