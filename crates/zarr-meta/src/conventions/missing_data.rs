//! Values that mark missing data for xarray, and their conversion between versions.
//!
//! In version 2, and in other dialects that have null, the fill value of an array marks missing data. If it is null, the attribute
//! `_FillValue` does, as a plain value. In version 3, and in the draft of 2022, only the attribute marks missing data, in a form that
//! depends on the data type: [`zarr_cf::fill`] reads and writes that form.

use super::FILL_VALUE;
use crate::dialect::typestr;
use crate::{ArrayMetadata, Dialect};
pub(crate) use zarr_cf::fill::MISSING_VALUE;
use zarr_cf::fill::{Fill, from_attribute, to_attribute};
use zarr_dtype::{Class, DataType, FillValue, NumpyType, Spelling};
use zarr_json::{NamedConfig, Value};

/// Form of the attribute [`FILL_VALUE`] in version 3 for a data type, as xarray reads and writes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Coding {
    /// Base64 of the value as a float64, for floats.
    Float(DataType),
    /// List of two base64 strings, each of a float64.
    Complex(DataType),
    /// Value as plain JSON, for integers and bools.
    Plain(DataType),
    /// No form: the attribute [`MISSING_VALUE`] marks missing strings instead.
    Text,
    /// No form, although in version 2 the fill value marks missing data. Fill values of bytes are base64.
    Undecoded(Option<DataType>),
    /// No form: xarray masks no elements of the type.
    Unmasked,
}

impl Coding {
    pub(crate) fn of(data_type: &NamedConfig) -> Self {
        if data_type.name == "string" {
            return Self::Text;
        }
        match typestr::from_model(data_type) {
            Ok(NumpyType::Number(number)) if typestr::from_model_of_numpy(data_type).is_ok() => match number.class() {
                Some(Class::Float) => Self::Float(number),
                Some(Class::Complex) => Self::Complex(number),
                _ => Self::Plain(number),
            },
            Ok(NumpyType::Text(_)) => Self::Text,
            Ok(NumpyType::Time { .. }) => Self::Unmasked,
            _ => Self::Undecoded(DataType::from_config(data_type).ok()),
        }
    }

    /// Returns the value of the attribute in version 3 for a fill value in the notation of the model; `None` if the type has no form.
    pub(crate) fn encode(&self, value: &Value) -> Option<Value> {
        match self {
            // As the type has it, which may be less exact than the number in the document.
            Self::Float(number) | Self::Complex(number) => {
                Some(to_attribute(number, &FillValue::parse(number, value).ok()?))
            }
            Self::Plain(_) => Some(value.clone()),
            Self::Text | Self::Undecoded(_) | Self::Unmasked => None,
        }
    }

    /// Returns the fill value, in the notation of the model, for the attribute of version 3. Numbers are accepted for floats, though xarray
    /// accepts none. `None` if xarray rejects the attribute, or the data type has no such value.
    pub(crate) fn decode(&self, attribute: &Value) -> Option<Value> {
        let parsed =
            |data_type: &DataType, value: &Value| Some(FillValue::parse(data_type, value).ok()?.to_json(data_type));
        match self {
            Self::Float(number) => match from_attribute(number, attribute) {
                Ok(fill) => parsed(number, &fill.to_value()),
                Err(_) => parsed(number, &plain(attribute)),
            },
            Self::Complex(number) | Self::Plain(number) => match from_attribute(number, attribute).ok()? {
                Fill::Integer(truth) if number.class() == Some(Class::Bool) => Some(Value::from(truth != 0)),
                fill => parsed(number, &fill.to_value()),
            },
            Self::Text => attribute.as_str().map(Value::from),
            Self::Undecoded(data_type) => parsed(data_type.as_ref()?, attribute),
            Self::Unmasked => None,
        }
    }

    /// Returns whether xarray can open a version 3 data set in which an array has this attribute.
    fn is_decoded(&self, attribute: &Value) -> bool {
        match self {
            Self::Float(number) | Self::Complex(number) => from_attribute(number, attribute).is_ok(),
            Self::Plain(number) => number.class() == Some(Class::Bool) || from_attribute(number, attribute).is_ok(),
            Self::Text | Self::Undecoded(_) | Self::Unmasked => false,
        }
    }

    /// Returns the value of an attribute of version 2, in the notation of the model.
    pub(crate) fn plain(&self, attribute: &Value) -> Option<Value> {
        match self {
            Self::Float(number) | Self::Complex(number) | Self::Plain(number) => {
                let fill = FillValue::parse_as(number, &plain(attribute), Spelling::Lenient).ok()?;
                Some(fill.to_json(number))
            }
            Self::Text => attribute.as_str().map(Value::from),
            Self::Undecoded(_) | Self::Unmasked => None,
        }
    }

    /// Returns a number in the spelling of its data type, which may be less exact than the document.
    fn normalized(&self, value: Value) -> Value {
        match self {
            Self::Float(number) | Self::Complex(number) | Self::Plain(number) => {
                FillValue::parse(number, &value).map_or(value, |fill| fill.to_json(number))
            }
            _ => value,
        }
    }

    /// Returns whether `value` is a NaN of a float type, which is missing data for xarray regardless of the metadata.
    fn is_nan(&self, value: &Value) -> bool {
        matches!(self, Self::Float(_)) && value.as_str() == Some("NaN")
    }
}

/// Returns the attribute with literals of NaN and infinities as the strings that the model uses.
fn plain(attribute: &Value) -> Value {
    attribute.clone().without_nan_literals()
}

/// Returns the value that the attribute [`FILL_VALUE`] needs in version 3 so that the fill value of the array marks missing data for
/// xarray; `None` if the array has no fill value, or if xarray decodes no such attribute for its data type.
pub fn missing_data(array: &ArrayMetadata) -> Option<Value> {
    Coding::of(&array.data_type).encode(array.fill_value.as_ref()?)
}

/// Returns the values that mark missing data for xarray in an array. NaN, which always does, is not included.
///
/// # Errors
/// Fails with the attribute [`FILL_VALUE`] if xarray refuses to open a data set that has it.
pub(crate) fn masked(array: &ArrayMetadata, dialect: Dialect) -> Result<Vec<Value>, Value> {
    let coding = Coding::of(&array.data_type);
    let attribute = array.attributes.get(FILL_VALUE);
    let mut values = match (dialect.fill_value_marks_missing(), &array.fill_value, attribute) {
        (true, Some(_), _) if coding == Coding::Unmasked => Vec::new(),
        (true, Some(fill), _) => vec![fill.clone()],
        (true, None, Some(attribute)) => items(attribute).iter().filter_map(|item| coding.plain(item)).collect(),
        (false, _, Some(attribute)) if !coding.is_decoded(attribute) => return Err(attribute.clone()),
        (false, _, Some(attribute)) => coding.decode(attribute).into_iter().collect(),
        (_, _, None) => Vec::new(),
    };
    if let (Coding::Text, Some(missing)) = (&coding, array.attributes.get(MISSING_VALUE)) {
        values.extend(items(missing).iter().filter(|item| item.as_str().is_some()).cloned());
    }
    let values = values.into_iter().map(|value| coding.normalized(value));
    Ok(values.filter(|value| !coding.is_nan(value)).collect())
}

/// Returns whether one of the dialects marks missing data by the fill value, and the other by an attribute.
pub(crate) fn is_between_forms(from: Dialect, to: Dialect) -> bool {
    from.fill_value_marks_missing() != to.fill_value_marks_missing()
}

/// Returns the items of a list, or `value` itself as the only item if it is no list.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().unwrap_or(std::slice::from_ref(value))
}

/// Returns a description of the difference in missing data, for xarray, between an array in one dialect and its conversion in another;
/// `None` if there is none.
pub fn missing_data_difference(from: (&ArrayMetadata, Dialect), to: (&ArrayMetadata, Dialect)) -> Option<String> {
    if !is_between_forms(from.1, to.1) {
        return None;
    }
    let before = masked(from.0, from.1);
    let after = match masked(to.0, to.1) {
        Ok(after) => after,
        Err(_) if before.is_err() => return None,
        Err(attribute) => {
            let (attribute, data_type) = (attribute.excerpt(), to.0.data_type.short_value().excerpt());
            return Some(format!(
                "/attributes/{FILL_VALUE}: xarray cannot decode {attribute} for {data_type}, and does not open the data set"
            ));
        }
    };
    let before = before.unwrap_or_default();
    let missing_in = |others: &[Value], value: &&Value| !others.iter().any(|other| other.semantically_eq(value));
    let list = |values: Vec<&Value>| values.iter().map(|value| value.excerpt()).collect::<Vec<_>>().join(", ");
    let lost = list(before.iter().filter(|value| missing_in(&after, value)).collect());
    let gained = list(after.iter().filter(|value| missing_in(&before, value)).collect());
    let place = if to.1.fill_value_marks_missing() { "the fill value" } else { "the attribute _FillValue" };
    let lost =
        (!lost.is_empty()).then(|| format!("{lost} no longer marks missing data to xarray, which goes by {place}"));
    let gained = (!gained.is_empty()).then(|| format!("{gained} now marks missing data to xarray; before it did not"));
    let both: Vec<String> = lost.into_iter().chain(gained).collect();
    (!both.is_empty()).then(|| format!("/fill_value: {}", both.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::table::rules;
    use crate::{Documents, Node, NodePath};
    use zarr_json::{Number, json};

    /// An array of version 2 without dimensions.
    fn array(data_type: &str, fill: &Value) -> ArrayMetadata {
        let filters = if data_type == "|O" { r#"[{"id": "vlen-utf8"}]"# } else { "null" };
        let text = format!(
            r#"{{"zarr_format":2,"shape":[],"chunks":[],"dtype":"{data_type}","fill_value":{fill},"order":"C","compressor":null,"filters":{filters}}}"#
        );
        let documents: Documents = [(".zarray".to_owned(), text.into_bytes())].into_iter().collect();
        let parsed = rules(Dialect::V2).parse(&NodePath::root(), &documents).unwrap().unwrap();
        let Node::Array(array) = parsed.node else { unreachable!("a .zarray is an array") };
        array
    }

    /// The attributes that xarray 2026.9 wrote for `_FillValue` in version 3, each with the fill value that it wrote in version 2
    /// for the same encoding.
    #[test]
    fn missing_data_as_xarray_writes_it() {
        let cases = [
            ("<f4", json!("NaN"), json!("AAAAAAAA+H8=")),
            ("<f2", json!(3), json!("AAAAAAAACEA=")),
            (">f8", json!(-999), json!("AAAAAAA4j8A=")),
            ("<f4", json!(0.1), json!("AAAAoJmZuT8=")),
            ("<f8", json!("Infinity"), json!("AAAAAAAA8H8=")),
            ("<c8", json!([3, 0]), json!(["AAAAAAAACEA=", "AAAAAAAAAAA="])),
            ("<i2", json!(-32768), json!(-32768)),
            ("<u8", json!(9_223_372_036_854_775_813_u64), json!(9_223_372_036_854_775_813_u64)),
            ("|b1", json!(false), json!(false)),
        ];
        for (data_type, fill, attribute) in cases {
            let array = array(data_type, &fill);
            assert_eq!(missing_data(&array), Some(attribute.clone()), "{data_type}");
            let decoded = Coding::of(&array.data_type).decode(&attribute).unwrap();
            assert!(decoded.semantically_eq(array.fill_value.as_ref().unwrap()), "{data_type}: {decoded}");
        }
    }

    /// In version 3, xarray raises an error if an array of one of these types has the attribute.
    #[test]
    fn no_attribute_for_types_that_xarray_decodes_none_of() {
        for (data_type, fill) in [("<U2", json!("c")), ("|O", json!("c")), ("|S2", json!("Yw==")), ("<M8[s]", json!(0))]
        {
            assert_eq!(missing_data(&array(data_type, &fill)), None, "{data_type}");
        }
        assert_eq!(missing_data(&array("<i2", &json!(null))), None);
    }

    #[test]
    fn attributes_that_others_wrote_are_decoded() {
        let decode =
            |data_type: &str, attribute: Value| Coding::of(&array(data_type, &json!(0)).data_type).decode(&attribute);
        assert_eq!(decode("<i4", json!(1.0)), Some(json!(1)));
        assert_eq!(decode("<i4", json!("1")), None);
        assert_eq!(decode("|i1", json!(300)), None);
        assert_eq!(decode("<f4", json!(-999.0)).unwrap().as_f64(), Some(-999.0));
        assert_eq!(decode("<f4", json!("AAAA")), None);
        assert_eq!(decode("<f4", Value::Number(Number::NAN)), Some(json!("NaN")));
        assert_eq!(decode("<c16", json!(["AAAAAAAACEA="])), None);
        assert_eq!(decode("|b1", json!(1)), Some(json!(true)));
        assert_eq!(decode("|S2", json!("Yw==")), Some(json!("Yw==")));
    }
}
