//! Conversion of JSON values to Rust types.

use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::spelling::{NumberText, VALUE, number_of_variant};
use crate::{Map, NamedConfig, Number, SerdeError, Value};

/// Converts a JSON value into any type that serde deserializes.
///
/// Integers keep all their digits up to 128 bits; `NaN`, `Infinity` and `-Infinity` are floats; a field of type [`Value`] or [`Number`]
/// preserves the spelling of numbers. Below `#[serde(flatten)]` and in untagged enums, values go through types of serde, which have no
/// spelling and no integers of more than 64 bits: larger integers are an error.
///
/// # Errors
/// [`SerdeError`] with the JSON pointer of the value that does not fit, the value found and the type expected.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct Attributes {
///     units: String,
///     valid_range: Option<[f64; 2]>,
/// }
/// let value = zarr_json::json!({"units": "K", "valid_range": [0, "x"]});
/// let error = zarr_json::from_value::<Attributes>(&value).err().expect("\"x\" is no number");
/// assert_eq!(error.to_string(), r#"/valid_range/1: found string "x", expected f64"#);
/// ```
pub fn from_value<'de, T: Deserialize<'de>>(value: &'de Value) -> Result<T, SerdeError> {
    T::deserialize(value)
}

/// Hands a number to `visitor` as a float or as the smallest integer type that holds it, as its spelling says.
fn visit_number<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Result<V::Value, SerdeError> {
    if !number.is_integer() {
        return visitor.visit_f64(number.as_f64());
    }
    if let Some(value) = number.as_u64() {
        return visitor.visit_u64(value);
    }
    if let Some(value) = number.as_i64() {
        return visitor.visit_i64(value);
    }
    if let Some(value) = number.as_u128() {
        return visitor.visit_u128(value);
    }
    if let Some(value) = number.as_i128() {
        return visitor.visit_i128(value);
    }
    Err(de::Error::invalid_type(Unexpected::Other(&format!("integer {number} of more than 128 bits")), &visitor))
}

fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(value), _) => Unexpected::Unsigned(value),
            (None, Some(value)) => Unexpected::Signed(value),
            (None, None) => Unexpected::Float(number.as_f64()),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

impl<'de> Deserializer<'de> for &'de Value {
    type Error = SerdeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        match self {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => visit_number(number, visitor),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(elements) => {
                let mut access = Elements { rest: elements.iter(), index: 0 };
                let visited = visitor.visit_seq(&mut access)?;
                match access.rest.len() {
                    0 => Ok(visited),
                    _ => Err(SerdeError::new(format!("found {} elements, expected {}", elements.len(), access.index))),
                }
            }
            Value::Object(members) => visitor.visit_map(Members { rest: members.iter(), last: None }),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        match self {
            // Rounded once: by way of f64 it would be twice.
            Value::Number(number) => visitor.visit_f32(number.as_str().parse().unwrap_or(f32::NAN)),
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        match self {
            Value::Number(number) => visitor.visit_f64(number.as_f64()),
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        match self {
            Value::Null => visitor.visit_none(),
            some => visitor.visit_some(some),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        match self {
            Value::Number(number) if name == VALUE => visitor.visit_newtype_struct(NumberText(number)),
            other => visitor.visit_newtype_struct(other),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        match self {
            Value::String(variant) => visitor.visit_enum(Variant { name: variant, content: None }),
            Value::Object(members) => match (members.iter().next(), members.len()) {
                (Some((name, content)), 1) => visitor.visit_enum(Variant { name, content: Some(content) }),
                (_, len) => Err(SerdeError::new(format!("found {len} members, expected one: the name of a variant"))),
            },
            other => {
                Err(de::Error::invalid_type(unexpected(other), &"a variant: a string, or an object of one member"))
            }
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

struct Elements<'de> {
    rest: std::slice::Iter<'de, Value>,
    index: usize,
}

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = SerdeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, SerdeError> {
        let Some(element) = self.rest.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        seed.deserialize(element).map(Some).map_err(|error| error.within(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

struct Members<'de, I: Iterator<Item = (&'de str, &'de Value)>> {
    rest: I,
    last: Option<(&'de str, &'de Value)>,
}

impl<'de, I: Iterator<Item = (&'de str, &'de Value)>> MapAccess<'de> for Members<'de, I> {
    type Error = SerdeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, SerdeError> {
        self.last = self.rest.next();
        self.last.map(|(name, _)| seed.deserialize(MemberName(name)).map_err(|error| error.within(name))).transpose()
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, SerdeError> {
        let (name, value) = self.last.take().ok_or_else(|| SerdeError::new("a value is asked for before its name"))?;
        seed.deserialize(value).map_err(|error| error.within(name))
    }

    fn size_hint(&self) -> Option<usize> {
        self.rest.size_hint().1
    }
}

/// Name of a member as a serde deserializer: a string, or a number or bool if the key of a map is a number or bool.
struct MemberName<'de>(&'de str);

macro_rules! deserialize_parsed {
    ($($method:ident $visit:ident),*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
            match self.0.parse() {
                Ok(key) => visitor.$visit(key),
                Err(_) => Err(de::Error::invalid_type(Unexpected::Str(self.0), &visitor)),
            }
        }
    )* };
}

impl<'de> Deserializer<'de> for MemberName<'de> {
    type Error = SerdeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        visitor.visit_borrowed_str(self.0)
    }

    deserialize_parsed! {
        deserialize_bool visit_bool, deserialize_i8 visit_i8, deserialize_i16 visit_i16, deserialize_i32 visit_i32,
        deserialize_i64 visit_i64, deserialize_i128 visit_i128, deserialize_u8 visit_u8, deserialize_u16 visit_u16,
        deserialize_u32 visit_u32, deserialize_u64 visit_u64, deserialize_u128 visit_u128
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, SerdeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Variant<'de> {
    name: &'de str,
    content: Option<&'de Value>,
}

impl Variant<'_> {
    fn without_content(&self) -> SerdeError {
        SerdeError::new(format!("found the name {:?} alone, expected an object of that member", self.name))
    }
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = SerdeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), SerdeError> {
        Ok((seed.deserialize(MemberName(self.name))?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = SerdeError;

    fn unit_variant(self) -> Result<(), SerdeError> {
        match self.content {
            None | Some(Value::Null) => Ok(()),
            Some(content) => Err(de::Error::invalid_type(unexpected(content), &"null"))
                .map_err(|error: SerdeError| error.within(self.name)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, SerdeError> {
        let content = self.content.ok_or_else(|| self.without_content())?;
        seed.deserialize(content).map_err(|error| error.within(self.name))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, SerdeError> {
        let content = self.content.ok_or_else(|| self.without_content())?;
        content.deserialize_any(visitor).map_err(|error| error.within(self.name))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, SerdeError> {
        self.tuple_variant(0, visitor)
    }
}

/// Visitor that builds a [`Value`] of any self-describing value.
struct AnyValue;

macro_rules! visit_number {
    ($($method:ident $type:ty),*) => { $(
        fn $method<E>(self, value: $type) -> Result<Value, E> {
            Ok(Value::Number(Number::from(value)))
        }
    )* };
}

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    visit_number! { visit_i64 i64, visit_u64 u64, visit_i128 i128, visit_u128 u128 }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_f32<E>(self, value: f32) -> Result<Value, E> {
        Ok(Value::Number(Number::of_f32(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(Number::of_f64(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        // A format may claim any length.
        let mut array = Vec::with_capacity(elements.size_hint().unwrap_or(0).min(1024));
        while let Some(element) = elements.next_element()? {
            array.push(element);
        }
        Ok(Value::Array(array))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Value, A::Error> {
        number_of_variant(access).map(Value::Number)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut collected = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            collected.push((name, members.next_value::<Value>()?));
        }
        Ok(Value::Object(collected.into_iter().collect()))
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(VALUE, AnyValue)
    }
}

impl<'de> Deserialize<'de> for Map {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Object(members) => Ok(members),
            other => Err(de::Error::custom(format!("found {}, expected an object", other.kind()))),
        }
    }
}

impl<'de> Deserialize<'de> for NamedConfig {
    /// Reads a name alone, or an object with `name`, `configuration` and `must_understand`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::from_value(&value).ok_or_else(|| {
            let expected = "a name, or an object with a name and a configuration";
            de::Error::custom(format!("found {}, expected {expected}", value.excerpt()))
        })
    }
}
