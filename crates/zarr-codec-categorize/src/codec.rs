//! Codec `categorize`.

use std::collections::HashMap;
use std::sync::Arc;
use zarr_codec::{
    ArrayToBytes, BuildContext, CodecEntry, CodecValue, ElementOffsets, Error, Size, View, ViewMut, read_variable,
    write_variable,
};
use zarr_dtype::{ByteOrder, DataType, FillValue, Scalar, from_npy_descr, npy_descr, print};
use zarr_grid::{Region, element_count};
use zarr_json::{Map, Value};

const NAME: &str = "categorize";

/// Entry of the codec `categorize` for the table of codecs.
pub const CATEGORIZE: CodecEntry = CodecEntry::array_to_bytes("numcodecs.categorize", |context| {
    Ok(Arc::new(Categorize::from_config(context)?.bind(context)?))
})
.id("categorize")
.only_read(&["categorize"])
.example(r#"{"labels": ["red", "grün", "a", "東"], "dtype": "|O", "astype": "|u1"}"#);

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[CATEGORIZE];

/// Codec `categorize`: strings as numbers of labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Categorize {
    labels: Vec<String>,
    /// Type string of numpy for the numbers; `None` for unsigned bytes.
    astype: Option<String>,
    number: Number,
}

impl Categorize {
    /// Creates the codec for strings that are among `labels` or empty.
    pub fn labels<T: AsRef<str>>(labels: impl IntoIterator<Item = T>) -> Self {
        let labels = labels.into_iter().map(|label| label.as_ref().to_owned()).collect();
        Self { labels, astype: None, number: Number::BYTE }
    }

    /// Sets the integer type of the numbers; unsigned bytes by default.
    ///
    /// # Errors
    /// [`Error::Argument`] for a type that is no integer type.
    pub fn astype(self, data_type: &DataType) -> Result<Self, Error> {
        let descr = npy_descr(data_type).unwrap_or_else(|| data_type.to_string());
        let number = Number::parse(&descr).ok_or_else(|| CATEGORIZE.argument("astype", NO_INTEGERS))?;
        Ok(Self { astype: Some(descr), number, ..self })
    }

    /// Returns the codec for the data type of an array.
    fn bind(&self, context: &BuildContext<'_>) -> Result<Bound, Error> {
        let (config, data_type) = (context.config, &context.element.data_type);
        if !matches!(data_type, DataType::String | DataType::FixedUtf32 { .. }) {
            let what = format!("elements of data type {data_type}, expected string or fixed_length_utf32");
            return Err(Error::Unsupported { codec: NAME, what });
        }
        let (labels, number) = (&self.labels, self.number);
        if labels.len() as u64 > number.greatest {
            let what = format!("{} labels, expected at most {} for their numbers", labels.len(), number.greatest);
            return Err(config.error("labels", what));
        }
        // Number 0 is the empty text.
        let mut texts = vec![FillValue::zero(data_type).bytes().to_vec()];
        for (index, label) in labels.iter().enumerate() {
            let text = print::parse(data_type, &Value::from(label.as_str()));
            texts.push(text.map_err(|error| config.error(&format!("labels/{index}"), error.to_string()))?);
        }
        // Of labels that are there twice the last one counts.
        let numbers = texts.iter().zip(0_u64..).map(|(text, number)| (text.clone(), number)).collect();
        let (is_variable, max_chunk) = (data_type.is_variable(), context.limits.max_chunk);
        Ok(Bound { is_variable, number, texts, numbers, max_chunk })
    }
}

impl CodecValue for Categorize {
    const ENTRY: CodecEntry = CATEGORIZE;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        // That of the array, which is known.
        config.value("dtype");
        let astype = config.text("astype")?;
        let number = astype.map_or(Some(Number::BYTE), Number::parse);
        let number = number.ok_or_else(|| config.error("astype", NO_INTEGERS.to_owned()))?;
        let labels = config.required("labels")?;
        let list = labels.as_array().ok_or_else(|| config.unexpected("labels", "an array of strings", labels))?;
        let label = |(index, label): (usize, &Value)| {
            let text = label.as_str().map(str::to_owned);
            text.ok_or_else(|| config.unexpected(&format!("labels/{index}"), "a string", label))
        };
        let labels = list.iter().enumerate().map(label).collect::<Result<_, _>>()?;
        Ok(Self { labels, astype: astype.map(str::to_owned), number })
    }

    fn to_config(&self) -> Map {
        let astype = self.astype.as_deref().map(Into::into);
        Map::from_some([("labels", Some(self.labels.clone().into())), ("astype", astype)])
    }
}

const NO_INTEGERS: &str = "expected numpy's name of a type of integers";

/// Storage type of the numbers of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    size: usize,
    is_big: bool,
    greatest: u64,
}

impl Number {
    /// Type of unsigned bytes, the default.
    const BYTE: Self = Self { size: 1, is_big: false, greatest: u8::MAX as u64 };

    fn parse(descr: &str) -> Option<Self> {
        let (data_type, order) = from_npy_descr(descr).ok()?;
        let scalar = data_type.layout().scalar()?;
        let greatest = match scalar {
            Scalar::I8 => i8::MAX.unsigned_abs().into(),
            Scalar::I16 => i16::MAX.unsigned_abs().into(),
            Scalar::I32 => i32::MAX.unsigned_abs().into(),
            Scalar::I64 => i64::MAX.unsigned_abs(),
            Scalar::U8 => u8::MAX.into(),
            Scalar::U16 => u16::MAX.into(),
            Scalar::U32 => u32::MAX.into(),
            Scalar::U64 => u64::MAX,
            _ => return None,
        };
        Some(Self { size: scalar.size(), is_big: order == ByteOrder::Big, greatest })
    }

    /// Returns the number in `bytes`; a negative number becomes one that has no label.
    fn load(self, bytes: &[u8]) -> u64 {
        let digit = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        if self.is_big { bytes.iter().fold(0, digit) } else { bytes.iter().rev().fold(0, digit) }
    }

    fn store(self, value: u64, out: &mut Vec<u8>) {
        let bytes = value.to_le_bytes().into_iter().take(self.size);
        if self.is_big { out.extend(bytes.rev()) } else { out.extend(bytes) }
    }
}

#[derive(Debug)]
struct Bound {
    is_variable: bool,
    number: Number,
    /// Strings by their numbers: the content of an element of variable length, or an element of fixed size in memory form.
    texts: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, u64>,
    /// Maximum size of a decoded chunk in bytes. Labels are stored once, but may occur in a chunk as often as it has elements.
    max_chunk: u64,
}

impl Bound {
    fn push(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let number = self.numbers.get(text).ok_or_else(|| {
            let found = Value::from(String::from_utf8_lossy(text).replace('\0', "")).excerpt();
            Error::Encode { codec: NAME, what: format!("found {found}, expected one of the labels") }
        })?;
        self.number.store(*number, out);
        Ok(())
    }
}

impl ArrayToBytes for Bound {
    fn encoded_size(&self, shape: &[u64]) -> Size {
        let size = element_count(shape).and_then(|count| count.checked_mul(self.number.size as u64));
        size.map_or(Size::Unknown, Size::Exact)
    }

    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.is_variable {
            return read_variable(NAME, chunk, |text| self.push(text, out));
        }
        let mut result = Ok(());
        chunk.all(|item| {
            result = self.push(item, out);
            result.is_ok()
        });
        result
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let found = encoded.len() as u64;
        match self.encoded_size(shape).exact().unwrap_or(u64::MAX) {
            expected if found < expected => return Err(Error::Truncated { codec: NAME, found, expected }),
            expected if found > expected => return Err(Error::TooLong { codec: NAME, found, expected }),
            _ => {}
        }
        let mut offsets = ElementOffsets::new(shape, region);
        let mut next = || {
            let at = offsets.next().and_then(|index| usize::try_from(index).ok()?.checked_mul(self.number.size));
            let bytes = at.and_then(|at| encoded.get(at..)?.get(..self.number.size)).unwrap_or_default();
            let number = self.number.load(bytes);
            let text = usize::try_from(number).ok().and_then(|number| self.texts.get(number));
            text.map(Vec::as_slice).ok_or_else(|| Error::Corrupt {
                codec: NAME,
                what: format!("found number {number}, expected one of {} labels", self.texts.len() - 1),
            })
        };
        if self.is_variable {
            return write_variable(NAME, out, Vec::new(), |block| {
                let text = next()?;
                let found = (block.len() as u64).saturating_add(text.len() as u64);
                if found > self.max_chunk {
                    return Err(Error::Limit { what: "decoded chunk", found, limit: self.max_chunk });
                }
                block.extend_from_slice(text);
                Ok(())
            });
        }
        let mut result = Ok(());
        out.all_mut(|item| {
            result = next().map(|text| item.copy_from_slice(text));
            result.is_ok()
        });
        result
    }
}
