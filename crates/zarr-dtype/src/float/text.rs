//! Floating point numbers as JSON, as strings, and in memory.

use super::{F32, F64, Format};
use zarr_json::{Number, Value};

impl Format {
    /// Returns the bit pattern of a number in JSON; `None` if the format cannot represent it.
    pub(crate) fn parse_number(&self, number: &Number) -> Option<u64> {
        if !number.is_json() {
            return self.parse_text(number.as_str());
        }
        // By way of f64 a float32 would be rounded twice.
        let value = if *self == F32 { number.as_str().parse::<f32>().ok()?.into() } else { number.as_f64() };
        self.nearest(value)
    }

    /// Returns the bit pattern of a string: a name such as `NaN`, or `0x` with all hexadecimal digits, or `0b` with all binary digits.
    pub(crate) fn parse_text(&self, text: &str) -> Option<u64> {
        match text {
            "NaN" => return self.nan(false),
            "Infinity" | "+Infinity" => return self.nearest(f64::INFINITY),
            "-Infinity" => return self.nearest(f64::NEG_INFINITY),
            _ => (),
        }
        let (digits, radix, each) = match (text.strip_prefix("0x"), text.strip_prefix("0b")) {
            (Some(digits), _) => (digits, 16, 4),
            (_, Some(digits)) => (digits, 2, 1),
            _ => return None,
        };
        let all = digits.len() == 8 * self.size / each && digits.bytes().all(|digit| char::from(digit).is_digit(radix));
        let bits = if all { u64::from_str_radix(digits, radix).ok()? } else { return None };
        // Types of four and six bits have no use for the upper ones.
        (bits & !self.mask() == 0).then_some(bits)
    }

    /// Returns the number as JSON: a number as in [`to_text`](Self::to_text), a name, or the bits for a NaN without a name.
    pub(crate) fn to_json(self, bits: u64) -> Value {
        let bits = bits & self.mask();
        let value = self.value(bits);
        if value.is_nan() && Some(bits) != self.nan(false) {
            return Value::String(format!("0x{bits:0width$x}", width = 2 * self.size));
        }
        let text = self.to_text(bits);
        Number::parse(&text).map_or(Value::String(text), Value::Number)
    }

    /// Returns the number as text: the shortest decimal that is read as the same number (the exact value for floats of one byte), or `NaN`,
    /// `Infinity`, `-Infinity`.
    pub(crate) fn to_text(self, bits: u64) -> String {
        let bits = bits & self.mask();
        let value = self.value(bits);
        if value.is_nan() {
            return "NaN".to_owned();
        }
        if value.is_infinite() {
            return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
        }
        // Floats of one byte are so coarse that the shortest text is far from the value: 300 for 256.
        if self == F64 || self.size == 1 {
            return format!("{value:?}");
        }
        if self == F32 {
            let Ok(bits) = u32::try_from(bits) else { return format!("{value:?}") };
            let text = format!("{:?}", f32::from_bits(bits));
            // Readers that go by way of f64 must find the same, too.
            let same = text.parse::<f64>().is_ok_and(|by_way| self.nearest(by_way) == Some(bits.into()));
            return if same { text } else { format!("{value:?}") };
        }
        (0..17)
            .filter_map(|digits| format!("{value:.digits$e}").parse::<f64>().ok())
            .find(|short| self.nearest(*short) == Some(bits))
            .map_or_else(|| format!("{value:?}"), |short| format!("{short:?}"))
    }

    /// Returns the bit pattern in the first bytes of `item`; `None` if `item` is too short.
    pub(crate) fn load(&self, item: &[u8]) -> Option<u64> {
        let item = item.get(..self.size)?;
        let mut wide = [0; 8];
        let range = if cfg!(target_endian = "little") { 0..self.size } else { 8 - self.size..8 };
        wide.get_mut(range)?.copy_from_slice(item);
        Some(u64::from_ne_bytes(wide))
    }

    /// Appends a bit pattern in memory form to `into`.
    pub(crate) fn store(&self, bits: u64, into: &mut Vec<u8>) {
        let wide = bits.to_ne_bytes();
        let range = if cfg!(target_endian = "little") { 0..self.size } else { 8 - self.size..8 };
        into.extend_from_slice(&wide[range]);
    }
}
