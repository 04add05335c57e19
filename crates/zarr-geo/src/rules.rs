//! Rules about single attributes, as data.

use crate::crs;
use zarr_json::Value;
use zarr_json::pointer::{At, ValueError};

/// Form of the value of an attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// String.
    Text,
    /// String `AUTHORITY:CODE`.
    Code,
    /// Description in WKT2.
    Wkt2,
    /// Object.
    Object,
    /// List of this number of strings.
    Texts(usize),
    /// List of this number of finite numbers.
    Numbers(usize),
    /// List of this number of integers, each at least 1.
    Sizes(usize),
    /// One of these strings.
    OneOf(&'static [&'static str]),
}

/// Attributes of `proj` and `spatial`, each with the form of its value.
pub(crate) const ATTRIBUTES: [(&str, Form); 9] = [
    ("proj:code", Form::Code),
    ("proj:wkt2", Form::Wkt2),
    ("proj:projjson", Form::Object),
    ("spatial:dimensions", Form::Texts(2)),
    ("spatial:bbox", Form::Numbers(4)),
    ("spatial:transform_type", Form::Text),
    ("spatial:transform", Form::Numbers(6)),
    ("spatial:shape", Form::Sizes(2)),
    ("spatial:registration", Form::OneOf(&["node", "pixel"])),
];

/// Members of a level in the layout of `multiscales`, apart from `asset`, which each must have, and `transform`.
pub(crate) const OF_LEVELS: [(&str, Form); 3] =
    [("resampling_method", Form::Text), ("spatial:shape", Form::Sizes(2)), ("spatial:transform", Form::Numbers(6))];

impl Form {
    /// Checks the value of an attribute.
    pub(crate) fn check(self, at: &At<'_>) -> Result<(), ValueError> {
        let items = |count: usize, what: &str, is_item: fn(&Value) -> bool| {
            let list = at.value().as_array().filter(|list| list.len() == count);
            let Some(list) = list else { return Err(at.invalid(format!("a list of {count} {what}"))) };
            match list.iter().position(|item| !is_item(item)) {
                Some(index) => {
                    let item = at.item(index, list.get(index).unwrap_or(&Value::Null));
                    Err(item.invalid(format!("one of {count} {what}")))
                }
                None => Ok(()),
            }
        };
        match self {
            Self::Text => at.text().map(drop),
            Self::Code if at.text().is_ok_and(crs::is_code) => Ok(()),
            Self::Code => Err(at.invalid("a code such as EPSG:4326")),
            Self::Wkt2 if at.text().is_ok_and(crs::is_wkt2) => Ok(()),
            Self::Wkt2 => {
                Err(at.invalid("a coordinate reference system in WKT2, which begins with a word such as PROJCRS["))
            }
            Self::Object => at.object().map(drop),
            Self::Texts(count) => items(count, "strings", |item| item.as_str().is_some()),
            Self::Numbers(count) => items(count, "numbers", |item| item.as_f64().is_some_and(f64::is_finite)),
            Self::Sizes(count) => items(count, "integers above 0", |item| item.as_u64().is_some_and(|size| size > 0)),
            Self::OneOf(words) if at.text().is_ok_and(|text| words.contains(&text)) => Ok(()),
            Self::OneOf(words) => Err(at.invalid(words.join(" or "))),
        }
    }
}

/// Numbers of a list that was checked; `None` for another count.
pub(crate) fn numbers<const N: usize>(value: &Value) -> Option<[f64; N]> {
    let list: Option<Vec<f64>> = value.as_array()?.iter().map(Value::as_f64).collect();
    list?.try_into().ok()
}

/// Rows and columns of a list that was checked.
pub(crate) fn sizes(value: &Value) -> Option<[u64; 2]> {
    let list: Option<Vec<u64>> = value.as_array()?.iter().map(Value::as_u64).collect();
    list?.try_into().ok()
}
