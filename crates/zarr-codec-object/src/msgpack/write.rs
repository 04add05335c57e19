//! Writing of MessagePack, each value in its shortest form.

use super::Style;
use crate::special::Special;
use zarr_json::{Number, Value};

impl Style {
    pub(super) fn write_value(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        match value {
            Value::Null => out.push(0xc0),
            Value::Bool(value) => out.push(0xc2 | u8::from(*value)),
            Value::Number(number) => self.number(number, out)?,
            Value::String(text) => self.string(text.as_bytes(), true, out)?,
            Value::Array(items) => {
                start(items.len(), (0x90, 0x0f), 0xdc, out)?;
                for item in items {
                    self.write_value(item, out)?;
                }
            }
            Value::Object(members) => match Special::of(value) {
                Some(Special::Float(float)) => self.float(float, out),
                Some(Special::Bytes(bytes)) => self.string(&bytes, !self.use_bin_type, out)?,
                None => {
                    start(members.len(), (0x80, 0x0f), 0xde, out)?;
                    for (name, value) in members.iter() {
                        self.string(name.as_bytes(), true, out)?;
                        self.write_value(value, out)?;
                    }
                }
            },
        }
        Ok(())
    }

    fn number(&self, number: &Number, out: &mut Vec<u8>) -> Result<(), String> {
        if !number.is_integer() {
            self.float(number.as_f64(), out);
            return Ok(());
        }
        if let Some(value) = number.as_u64() {
            match value {
                0..=0x7f => out.push(value as u8),
                0x80..=0xff => out.extend([0xcc, value as u8]),
                0x100..=0xffff => marked(0xcd, &(value as u16).to_be_bytes(), out),
                0x1_0000..=0xffff_ffff => marked(0xce, &(value as u32).to_be_bytes(), out),
                _ => marked(0xcf, &value.to_be_bytes(), out),
            }
            return Ok(());
        }
        let value = number.as_i64().ok_or_else(|| format!("{number}, expected an integer of at most 64 bits"))?;
        match value {
            -0x20.. => out.push(value as u8),
            -0x80..-0x20 => out.extend([0xd0, value as u8]),
            -0x8000..-0x80 => marked(0xd1, &(value as i16).to_be_bytes(), out),
            -0x8000_0000..-0x8000 => marked(0xd2, &(value as i32).to_be_bytes(), out),
            _ => marked(0xd3, &value.to_be_bytes(), out),
        }
        Ok(())
    }

    fn float(&self, value: f64, out: &mut Vec<u8>) {
        if self.use_single_float {
            marked(0xca, &(value as f32).to_be_bytes(), out);
        } else {
            marked(0xcb, &value.to_be_bytes(), out);
        }
    }

    /// Appends a string or bytes. Strings of 32 to 255 bytes have a form with a length of 8 bits only in versions with a type for bytes.
    fn string(&self, bytes: &[u8], is_text: bool, out: &mut Vec<u8>) -> Result<(), String> {
        let len = bytes.len();
        match (u32::try_from(len), is_text) {
            (Ok(len @ 0..=0x1f), true) => out.push(0xa0 | len as u8),
            (Ok(len @ 0..=0xff), true) if self.use_bin_type => out.extend([0xd9, len as u8]),
            (Ok(len @ 0..=0xff), false) => out.extend([0xc4, len as u8]),
            (Ok(len @ 0..=0xffff), _) => marked(if is_text { 0xda } else { 0xc5 }, &(len as u16).to_be_bytes(), out),
            (Ok(len), _) => marked(if is_text { 0xdb } else { 0xc6 }, &len.to_be_bytes(), out),
            (Err(_), _) => return Err(format!("{len} bytes, expected at most {}", u32::MAX)),
        }
        out.extend_from_slice(bytes);
        Ok(())
    }
}

/// Appends the number of items or members: in the marker `few` if the number fits its mask, else after marker `many` in 16 bits, or after
/// marker `many + 1` in 32 bits.
fn start(len: usize, few: (u8, u8), many: u8, out: &mut Vec<u8>) -> Result<(), String> {
    match u32::try_from(len) {
        Ok(len) if len <= u32::from(few.1) => out.push(few.0 | len as u8),
        Ok(len @ 0..=0xffff) => marked(many, &(len as u16).to_be_bytes(), out),
        Ok(len) => marked(many + 1, &len.to_be_bytes(), out),
        Err(_) => return Err(format!("an array of {len}, expected at most {}", u32::MAX)),
    }
    Ok(())
}

fn marked(marker: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(marker);
    out.extend_from_slice(bytes);
}
