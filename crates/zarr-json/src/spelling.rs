//! Serde support for numbers with spellings. Serde's data model has no spellings: other formats see a number, and this crate sees the
//! spelling.

use std::cell::Cell;

use serde::de::{self, Deserialize, Deserializer, EnumAccess, VariantAccess, Visitor};
use serde::ser::{Error, Serialize, Serializer};

use crate::{Number, SerdeError, Value};

/// Name of the newtype by which the serializer of this crate recognizes a [`Number`]. Other serializers use the content of the newtype.
pub(crate) const NUMBER: &str = "$zarr_json::Number";

/// Name of the newtype by which the deserializer of this crate recognizes that a [`Value`] is requested.
pub(crate) const VALUE: &str = "$zarr_json::Value";

thread_local! {
    /// Whether the next [`Spelled`] serializes as its spelling. Serde has no other way to tell this to a value of any type.
    static AS_TEXT: Cell<bool> = const { Cell::new(false) };
}

/// Content of the newtype as which a [`Number`] is serialized.
struct Spelled<'a>(&'a Number);

impl Serialize for Spelled<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = self.0;
        if AS_TEXT.take() {
            return serializer.serialize_str(number.as_str());
        }
        if let Some(value) = number.as_u64() {
            return serializer.serialize_u64(value);
        }
        if let Some(value) = number.as_i64() {
            return serializer.serialize_i64(value);
        }
        if let Some(value) = number.as_u128() {
            return serializer.serialize_u128(value);
        }
        if let Some(value) = number.as_i128() {
            return serializer.serialize_i128(value);
        }
        let value = number.as_f64();
        if number.is_integer() {
            return Err(S::Error::custom(format!("found {number}, expected an integer of at most 128 bits")));
        }
        if number.is_json() && value.is_infinite() {
            return Err(S::Error::custom(format!("found {number}, expected a number in the range of float64")));
        }
        serializer.serialize_f64(value)
    }
}

/// Serializes the content of a newtype named [`NUMBER`] with the serializer of this crate, and makes a number of its spelling.
pub(crate) fn serialize_number<T: Serialize + ?Sized>(
    content: &T,
    serialize: impl FnOnce(&T) -> Result<Value, SerdeError>,
) -> Result<Value, SerdeError> {
    AS_TEXT.set(true);
    let value = serialize(content);
    AS_TEXT.set(false);
    Ok(match value? {
        Value::String(text) => Number::from_spelling(&text).map_or(Value::String(text), Value::Number),
        other => other,
    })
}

impl Serialize for Number {
    /// Serializes the number. The serializer of this crate preserves its spelling; other formats get an integer of at most 128 bits or an
    /// `f64`, and an error for numbers beyond both.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(NUMBER, &Spelled(self))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Number(number) => Ok(number),
            other => Err(de::Error::custom(format!("found {}, expected a number", other.kind()))),
        }
    }
}

/// Reads the number that the deserializer of this crate presents as an enum variant named [`NUMBER`]. No JSON value is such a variant.
pub(crate) fn number_of_variant<'de, A: EnumAccess<'de>>(access: A) -> Result<Number, A::Error> {
    let (name, content): (String, _) = access.variant()?;
    let text: String = content.newtype_variant()?;
    let number = if name == NUMBER { Number::from_spelling(&text) } else { None };
    number.ok_or_else(|| de::Error::custom(format!("found variant {name:?}, expected a JSON value")))
}

/// Deserializer that presents a number as an enum variant with its spelling, for [`number_of_variant`].
pub(crate) struct NumberText<'de>(pub(crate) &'de Number);

impl<'de> Deserializer<'de> for NumberText<'de> {
    type Error = SerdeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        let member = std::iter::once((NUMBER, self.0.as_str()));
        visitor.visit_enum(de::value::MapAccessDeserializer::new(de::value::MapDeserializer::new(member)))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
