//! Conversion of Rust types to JSON values.

use serde::ser::{
    Error, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use crate::spelling::{NUMBER, serialize_number};
use crate::{Map, NamedConfig, Number, SerdeError, Value};

/// Converts any type that serde serializes into a JSON value.
///
/// Integers keep all their digits. Floats, `f32` too, get the shortest spelling that parses to the same float. NaN and the infinities
/// become [`Number::NAN`] and the like. A [`Value`] or [`Number`] within the value keeps its spelling.
///
/// # Errors
/// [`SerdeError`] for keys of maps that are neither strings nor numbers nor bools, and errors of the type's own.
///
/// ```
/// #[derive(serde::Serialize)]
/// struct Attributes<'a> { units: &'a str, valid_range: [f32; 2] }
/// let value = zarr_json::to_value(&Attributes { units: "K", valid_range: [0.1, 350.0] })?;
/// assert_eq!(value.to_string(), r#"{"units":"K","valid_range":[0.1,350.0]}"#);
/// # Ok::<(), zarr_json::SerdeError>(())
/// ```
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, SerdeError> {
    value.serialize(ToValue)
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(elements) => serializer.collect_seq(elements),
            Self::Object(members) => members.serialize(serializer),
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl Serialize for NamedConfig {
    /// Writes the name alone if there is no configuration and readers must understand the name, else an object.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.short_value().serialize(serializer)
    }
}

/// Serializer that builds a [`Value`].
struct ToValue;

macro_rules! serialize_number {
    ($($method:ident $type:ty),*) => { $(
        fn $method(self, value: $type) -> Result<Value, SerdeError> {
            Ok(Value::Number(Number::from(value)))
        }
    )* };
}

impl Serializer for ToValue {
    type Ok = Value;
    type Error = SerdeError;
    type SerializeSeq = Elements;
    type SerializeTuple = Elements;
    type SerializeTupleStruct = Elements;
    type SerializeTupleVariant = Elements;
    type SerializeMap = Members;
    type SerializeStruct = Members;
    type SerializeStructVariant = Members;

    serialize_number! {
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64, serialize_i128 i128,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_u128 u128
    }

    fn serialize_bool(self, value: bool) -> Result<Value, SerdeError> {
        Ok(Value::Bool(value))
    }

    fn serialize_f32(self, value: f32) -> Result<Value, SerdeError> {
        Ok(Value::Number(Number::of_f32(value)))
    }

    fn serialize_f64(self, value: f64) -> Result<Value, SerdeError> {
        Ok(Value::Number(Number::of_f64(value)))
    }

    fn serialize_char(self, value: char) -> Result<Value, SerdeError> {
        Ok(Value::String(value.to_string()))
    }

    fn serialize_str(self, value: &str) -> Result<Value, SerdeError> {
        Ok(Value::from(value))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Value, SerdeError> {
        Ok(Value::from(value.to_vec()))
    }

    fn serialize_none(self) -> Result<Value, SerdeError> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, SerdeError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Value, SerdeError> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Value, SerdeError> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Value, SerdeError> {
        Ok(Value::from(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Value, SerdeError> {
        match name {
            NUMBER => serialize_number(value, |value| value.serialize(self)),
            _ => value.serialize(self),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value, SerdeError> {
        Ok(in_variant(Some(variant), value.serialize(self).map_err(|error| error.within(variant))?))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Elements, SerdeError> {
        Ok(Elements { variant: None, elements: Vec::with_capacity(len.unwrap_or(0).min(1024)) })
    }

    fn serialize_tuple(self, len: usize) -> Result<Elements, SerdeError> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Elements, SerdeError> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements, SerdeError> {
        Ok(Elements { variant: Some(variant), elements: Vec::new() })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members, SerdeError> {
        Ok(Members { variant: None, members: Vec::new(), name: None })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members, SerdeError> {
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members, SerdeError> {
        Ok(Members { variant: Some(variant), members: Vec::new(), name: None })
    }
}

/// Wraps the content of an enum variant in an object with the variant as member name, as serde tags enums by default.
fn in_variant(variant: Option<&str>, content: Value) -> Value {
    match variant {
        Some(variant) => Value::Object(Map::from_unique([(variant.to_owned(), content)])),
        None => content,
    }
}

struct Elements {
    variant: Option<&'static str>,
    elements: Vec<Value>,
}

impl Elements {
    fn push<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), SerdeError> {
        let element = to_value(element).map_err(|error| error.within(self.elements.len()))?;
        self.elements.push(element);
        Ok(())
    }

    fn finish(self) -> Result<Value, SerdeError> {
        Ok(in_variant(self.variant, Value::Array(self.elements)))
    }
}

macro_rules! serialize_elements {
    ($($trait:ident $method:ident),*) => { $(
        impl $trait for Elements {
            type Ok = Value;
            type Error = SerdeError;

            fn $method<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), SerdeError> {
                self.push(element)
            }

            fn end(self) -> Result<Value, SerdeError> {
                self.finish()
            }
        }
    )* };
}
serialize_elements! {
    SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
}

struct Members {
    variant: Option<&'static str>,
    members: Vec<(String, Value)>,
    /// Name of the member whose value comes next.
    name: Option<String>,
}

impl Members {
    fn push<T: Serialize + ?Sized>(&mut self, name: String, value: &T) -> Result<(), SerdeError> {
        let value = to_value(value).map_err(|error| error.within(&name))?;
        self.members.push((name, value));
        Ok(())
    }

    fn finish(self) -> Result<Value, SerdeError> {
        Ok(in_variant(self.variant, Value::Object(self.members.into_iter().collect())))
    }
}

impl SerializeMap for Members {
    type Ok = Value;
    type Error = SerdeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), SerdeError> {
        self.name = Some(key.serialize(MemberName)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerdeError> {
        let name = self.name.take().ok_or_else(|| SerdeError::new("a value comes before its key"))?;
        self.push(name, value)
    }

    fn end(self) -> Result<Value, SerdeError> {
        self.finish()
    }
}

macro_rules! serialize_members {
    ($($trait:ident),*) => { $(
        impl $trait for Members {
            type Ok = Value;
            type Error = SerdeError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), SerdeError> {
                self.push(name.to_owned(), value)
            }

            fn end(self) -> Result<Value, SerdeError> {
                self.finish()
            }
        }
    )* };
}
serialize_members! { SerializeStruct, SerializeStructVariant }

/// Serializer that converts the key of a map to the name of a member.
struct MemberName;

impl MemberName {
    fn refused(found: &str) -> SerdeError {
        SerdeError::custom(format!("found {found} as the key of a map, expected a string, an integer or a bool"))
    }
}

macro_rules! serialize_name {
    ($($method:ident $type:ty),*) => { $(
        fn $method(self, value: $type) -> Result<String, SerdeError> {
            Ok(value.to_string())
        }
    )* };
}

macro_rules! refuse_name {
    ($($method:ident($($type:ty),*) -> $ok:ty, $found:literal;)*) => { $(
        fn $method(self, $(_: $type),*) -> Result<$ok, SerdeError> {
            Err(Self::refused($found))
        }
    )* };
}

type Never = Impossible<String, SerdeError>;

impl Serializer for MemberName {
    type Ok = String;
    type Error = SerdeError;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    serialize_name! {
        serialize_bool bool, serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_i128 i128, serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64,
        serialize_u128 u128, serialize_char char, serialize_str &str
    }

    refuse_name! {
        serialize_f32(f32) -> String, "a float";
        serialize_f64(f64) -> String, "a float";
        serialize_bytes(&[u8]) -> String, "bytes";
        serialize_none() -> String, "no value";
        serialize_unit() -> String, "a unit";
        serialize_unit_struct(&'static str) -> String, "a unit";
        serialize_seq(Option<usize>) -> Never, "a sequence";
        serialize_tuple(usize) -> Never, "a tuple";
        serialize_tuple_struct(&'static str, usize) -> Never, "a tuple";
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never, "a tuple";
        serialize_map(Option<usize>) -> Never, "a map";
        serialize_struct(&'static str, usize) -> Never, "a struct";
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never, "a struct";
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<String, SerdeError> {
        Ok(variant.to_owned())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<String, SerdeError> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<String, SerdeError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, SerdeError> {
        Err(Self::refused("a variant with content"))
    }
}
