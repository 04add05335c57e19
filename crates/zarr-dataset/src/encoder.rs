//! Encoding of values to stored elements, the inverse of [`Decoder`](crate::decoder::Decoder): times are counted in their units, numbers
//! packed, strings converted to bytes.

use crate::attribute::{FILL_VALUE, invalid, unmarked};
use crate::decoder::time_units;
use crate::values::Values;
use crate::{Error, Result, calendar_time, strings};
use bytemuck::cast_slice;
use half::{bf16, f16};
use zarr_array::ArrayData;
use zarr_cf::encoding::{Encoding, TimeEncoding, number};
use zarr_cf::fill::{Fill, parts};
use zarr_cf::packed::Factor;
use zarr_cf::textual::is_textual;
use zarr_cf::time::{Calendar, DeltaUnits, Encoded, EncodedNumbers, NumberKind, Numbers, TimeUnits};
use zarr_dtype::{Class, DataType, Scalar, TimeUnit};

/// Returns the elements of type `stored` that decode to `values`. `characters` is the number of characters per string if strings are stored
/// as characters.
///
/// # Errors
/// For a value that the elements cannot have, with its index in C order.
pub(crate) fn encode(
    values: &Values,
    stored: &DataType,
    characters: Option<u64>,
    encoding: &Encoding,
) -> Result<ArrayData> {
    let data_type = values.data_type();
    if is_textual(data_type) && is_textual(stored) {
        return strings::encode(values, stored, characters, encoding);
    }
    let unfit = || {
        let message = format!("found values of data type {data_type}, which cannot be stored as {stored}");
        Error::argument(format!("{message}{}", meaning(&encoding.times)))
    };
    if encoding.scale.is_some_and(|scale| scale.to_f64() == 0.0) {
        return Err(invalid("scale_factor", "0", "another number"));
    }
    let kind = match number(stored) {
        _ if encoding.scale.is_some() || encoding.offset.is_some() => NumberKind::Float,
        Some(Scalar::F16 | Scalar::F32 | Scalar::F64) => NumberKind::Float,
        _ => NumberKind::Integer,
    };
    let counted = match &encoding.times {
        TimeEncoding::Since(text, calendar) => {
            let units = time_units(text, calendar.as_deref())?;
            count_times(values, &units, kind)?
                .map(|counted| Ok::<_, Error>((counted, as_written(&units)?)))
                .transpose()?
        }
        TimeEncoding::Span(text, _) => {
            let units =
                DeltaUnits::parse(text).map_err(|error| invalid("units", &error.to_string(), "a unit of time"))?;
            count_spans(values, &units, kind)?.map(|counted| (counted, text.clone()))
        }
        TimeEncoding::None | TimeEncoding::Count => None,
    };
    // Numbers are counts in the units already, as in xarray.
    let is_count = data_type.class().is_some_and(|class| class != Class::Bool);
    if counted.is_none() && !is_count && matches!(encoding.times, TimeEncoding::Since(..) | TimeEncoding::Span(..)) {
        return Err(unfit());
    }
    if let Some((counted, units)) = counted {
        if counted.units != units {
            let message = format!("found times that are no whole numbers of {units:?}, which are stored as {stored}");
            return Err(Error::argument(message).with_hint(format!("they are in {:?}", counted.units)));
        }
        return match &counted.numbers {
            EncodedNumbers::I64(numbers) => pack(values, Scalar::I64, true, cast_slice(numbers), stored, encoding),
            EncodedNumbers::F64(numbers) => pack(values, Scalar::F64, false, cast_slice(numbers), stored, encoding),
        };
    }
    match number(data_type).zip(number(stored)) {
        Some((Scalar::Bool, Scalar::Bool)) => encode_bools(values, stored, encoding),
        Some((_, Scalar::Bool)) => Err(unfit()),
        Some((from, _)) => {
            let has_nat = encoding.times == TimeEncoding::Count && from == Scalar::I64;
            pack(values, from, has_nat, values.data().items(), stored, encoding)
        }
        None if [data_type, stored].iter().all(|it| it.class() == Some(Class::Complex)) => {
            encode_complex(values, stored, encoding)
        }
        None if data_type == stored => Ok(values.data().clone()),
        None => Err(unfit()),
    }
}

fn meaning(times: &TimeEncoding) -> String {
    match times {
        TimeEncoding::Since(units, _) => format!(" of times in {units:?}"),
        TimeEncoding::Span(units, _) => format!(" of time spans in {units}"),
        TimeEncoding::None | TimeEncoding::Count => String::new(),
    }
}

/// Returns the string for `units` as xarray writes it, which is compared with the units that values were counted in.
///
/// # Errors
/// If the stored string has another reference date than the string that xarray writes.
fn as_written(units: &TimeUnits) -> Result<String> {
    if units.written() != units.text() {
        let other = TimeUnits::parse(units.written(), units.calendar()).ok();
        let zero = |units: &TimeUnits| units.decode(Numbers::I64(&[0])).ok();
        if other.as_ref().and_then(zero) != zero(units) {
            return Err(invalid("units", &format!("{:?}", units.text()), "a reference date that can be written"));
        }
    }
    Ok(units.written().to_owned())
}

/// Returns times as counts of `units`; `None` if the values are no times.
///
/// # Errors
/// For a time that the calendar does not have, or that is too far from the reference date.
pub(crate) fn count_times(values: &Values, units: &TimeUnits, kind: NumberKind) -> Result<Option<Encoded>> {
    let counted = if calendar_time::calendar(values.data_type()).is_some() {
        units.encode_dates(&values.to_dates()?, kind)
    } else if let DataType::DateTime64(unit) = values.data_type() {
        units.encode_nanoseconds(&nanoseconds(values, *unit)?, kind)
    } else {
        return Ok(None);
    };
    counted.map(Some).map_err(|error| Error::argument(error.to_string()))
}

/// Returns time spans as counts of `units`; `None` if the values are no time spans.
///
/// # Errors
/// For a time span beyond nanoseconds of 64 bits.
pub(crate) fn count_spans(values: &Values, units: &DeltaUnits, kind: NumberKind) -> Result<Option<Encoded>> {
    let DataType::TimeDelta64(unit) = values.data_type() else { return Ok(None) };
    Ok(Some(units.encode(&nanoseconds(values, *unit)?, kind)))
}

/// Returns the units and the calendar that xarray chooses for times without units; `None` if the values are no times.
///
/// # Errors
/// For times of no calendar, or beyond nanoseconds of 64 bits.
pub(crate) fn infer_units(values: &Values, calendar: Option<Calendar>) -> Result<Option<TimeUnits>> {
    let own = calendar_time::calendar(values.data_type());
    let failed = |error: zarr_cf::time::Error| Error::argument(error.to_string());
    let units = match (values.data_type(), own) {
        (_, Some(own)) => {
            let dates = values.to_dates()?;
            if dates.iter().all(Option::is_none) {
                TimeUnits::parse("microseconds since 1970-01-01", own).map_err(failed)?
            } else {
                TimeUnits::infer_dates(&dates).map_err(failed)?
            }
        }
        (DataType::DateTime64(unit), None) => {
            TimeUnits::infer_nanoseconds(&nanoseconds(values, *unit)?).map_err(failed)?
        }
        _ => return Ok(None),
    };
    match calendar {
        Some(calendar) if calendar != units.calendar() => {
            TimeUnits::parse(units.written(), calendar).map(Some).map_err(failed)
        }
        _ => Ok(Some(units)),
    }
}

/// Returns the units that xarray chooses for time spans without units; `None` if the values are no time spans.
///
/// # Errors
/// For time spans beyond nanoseconds of 64 bits.
pub(crate) fn infer_span_units(values: &Values) -> Result<Option<DeltaUnits>> {
    let DataType::TimeDelta64(unit) = values.data_type() else { return Ok(None) };
    Ok(Some(DeltaUnits::infer(&nanoseconds(values, *unit)?)))
}

/// Returns times or time spans, which are in `unit`, in nanoseconds.
fn nanoseconds(values: &Values, unit: TimeUnit) -> Result<Vec<i64>> {
    let data_type = values.data_type();
    let length = crate::index::nanoseconds(unit)
        .ok_or_else(|| Error::argument(format!("found values of {data_type}, which have no fixed length")))?;
    let numbers = values.data().items().as_chunks::<8>().0.iter().map(|&item| i64::from_ne_bytes(item));
    let scaled = numbers.enumerate().map(|(index, number)| match number {
        i64::MIN => Ok(number),
        number => number
            .checked_mul(length)
            .ok_or_else(|| Error::argument(format!("value {index} of {data_type} is beyond nanoseconds of 64 bits"))),
    });
    scaled.collect()
}

/// Packs `items`, numbers of type `from`, as elements of type `stored`.
fn pack(
    values: &Values,
    from: Scalar,
    has_nat: bool,
    items: &[u8],
    stored: &DataType,
    encoding: &Encoding,
) -> Result<ArrayData> {
    let Some(packer) = encoding.packer(from, has_nat, stored) else {
        let found = values.data_type();
        return Err(Error::argument(format!("found values of data type {found}, which cannot be stored as {stored}")));
    };
    let mut elements = zeros(items.len() / from.size(), stored)?;
    packer.pack(items, &mut elements).map_err(|unfit| {
        let (index, value) = (unfit.index, values.text(unfit.index));
        let message = match unfit.is_missing {
            true => format!("value {index} is {value}, and {stored} has no value for missing data"),
            false => format!("value {index} is {value}, which {stored} does not have{}", packed(encoding)),
        };
        match unfit.is_missing {
            true => Error::argument(message).with_hint(format!("{FILL_VALUE} marks missing data")),
            false => Error::argument(message),
        }
    })?;
    // Bools, which have no value for missing data.
    let missing = values.missing.iter().flatten().enumerate().filter(|(_, missing)| **missing);
    for (index, _) in missing {
        let fill = packer.mark().ok_or_else(|| unmarked(index, stored))?;
        let element = elements.get_mut(index * fill.len()..(index + 1) * fill.len());
        element.into_iter().for_each(|element| element.copy_from_slice(fill));
    }
    ArrayData::from_items(stored, values.shape(), &elements, None)
}

fn packed(encoding: &Encoding) -> String {
    let factor = |name: &str, factor: Option<Factor>| {
        factor.map(|factor| format!(" {name} {}", factor.to_f64())).unwrap_or_default()
    };
    let found = factor("scale_factor", encoding.scale) + &factor("add_offset", encoding.offset);
    if found.is_empty() { found } else { format!(" with{found}") }
}

fn zeros(count: usize, data_type: &DataType) -> Result<Vec<u8>> {
    let size = count.saturating_mul(data_type.item_size());
    let mut zeros = Vec::new();
    let memory = |_| Error::new(crate::ErrorKind::Limit, format!("no memory for {count} elements of {data_type}"));
    zeros.try_reserve_exact(size).map_err(memory)?;
    zeros.resize(size, 0);
    Ok(zeros)
}

fn encode_bools(values: &Values, stored: &DataType, encoding: &Encoding) -> Result<ArrayData> {
    let Some(missing) = &values.missing else { return Ok(values.data().clone()) };
    let mut items = values.data().items().to_vec();
    for (index, item) in items.iter_mut().enumerate().filter(|(index, _)| missing.get(*index) == Some(&true)) {
        let Some(Fill::Integer(fill)) = encoding.fills.first() else { return Err(unmarked(index, stored)) };
        *item = u8::from(*fill != 0);
    }
    ArrayData::from_items(stored, values.shape(), &items, None)
}

fn encode_complex(values: &Values, stored: &DataType, encoding: &Encoding) -> Result<ArrayData> {
    let fill = encoding.fills.iter().find_map(|fill| match *fill {
        Fill::Complex(re, im) => Some([re, im]),
        Fill::Integer(re) => Some([re as f64, 0.0]),
        Fill::Float(re) => Some([re, 0.0]),
        Fill::Bytes(_) => None,
    });
    if values.data_type() == stored && fill.is_none() {
        return Ok(values.data().clone());
    }
    let data_type = values.data_type();
    let encode: fn(f64, &mut [u8]) = match stored {
        DataType::ComplexFloat16 => |part, bytes| bytes.copy_from_slice(&f16::from_f64(part).to_ne_bytes()),
        DataType::ComplexBFloat16 => |part, bytes| bytes.copy_from_slice(&bf16::from_f64(part).to_ne_bytes()),
        DataType::Complex64 => |part, bytes| bytes.copy_from_slice(&(part as f32).to_ne_bytes()),
        DataType::Complex128 => |part, bytes| bytes.copy_from_slice(&part.to_ne_bytes()),
        _ if data_type == stored => return Ok(values.data().clone()),
        _ => return Err(Error::argument(format!("found values of {data_type}, expected {stored}"))),
    };
    let mut elements = zeros(values.len(), stored)?;
    let (from, to) = (data_type.item_size(), stored.item_size());
    for (value, element) in values.data().items().chunks_exact(from).zip(elements.chunks_exact_mut(to)) {
        let (re, im) = parts(data_type, value).unwrap_or((f64::NAN, f64::NAN));
        let number = fill.filter(|_| re.is_nan() && im.is_nan()).unwrap_or([re, im]);
        for (part, bytes) in number.iter().zip(element.chunks_exact_mut(to / 2)) {
            encode(*part, bytes);
        }
    }
    ArrayData::from_items(stored, values.shape(), &elements, None)
}
