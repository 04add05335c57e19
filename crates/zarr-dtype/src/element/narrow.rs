//! Floats of less than 8 bits as elements. Their upper bits are cleared in both directions: in an array they may have any value, but the
//! Rust types take them as a part of the value.

use super::field::mismatch;
use super::{Element, FieldValue, Offsets, count, with_room};
use crate::{DataType, Error, Heap, SmallFloat};
use num_complex::Complex;

/// Returns the bits of a byte that belong to the float.
const fn mask(format: SmallFloat) -> u8 {
    match format {
        SmallFloat::Float4E2M1Fn => 0x0f,
        SmallFloat::Float6E2M3Fn | SmallFloat::Float6E3M2Fn => 0x3f,
        _ => 0xff,
    }
}

macro_rules! narrow {
    ($($rust:ty = $kind:ident($format:expr),)*) => { $(
        impl Element for $rust {
            fn name() -> String {
                stringify!($rust).replace(' ', "")
            }

            fn accepts(data_type: &DataType) -> bool {
                *data_type == DataType::$kind($format)
            }

            fn default_data_type() -> Result<DataType, Error> {
                Ok(DataType::$kind($format))
            }

            fn zeroed_vec(len: usize) -> Result<Vec<Self>, Error> {
                bytemuck::allocation::try_zeroed_vec(len).map_err(|()| Error::Memory { len, item_size: size_of::<Self>() })
            }

            fn from_items(data_type: &DataType, items: &[u8], _: &Heap) -> Result<Vec<Self>, Error> {
                Self::check(data_type)?;
                let mut elements = Self::zeroed_vec(count(data_type, items)?)?;
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut elements);
                bytes.iter_mut().zip(items).for_each(|(byte, item)| *byte = item & mask($format));
                Ok(elements)
            }

            fn to_items(data_type: &DataType, elements: &[Self], _: &Heap) -> Result<Vec<u8>, Error> {
                Self::check(data_type)?;
                let bytes: &[u8] = bytemuck::cast_slice(elements);
                let mut items = with_room(bytes.len(), 1)?;
                items.extend(bytes.iter().map(|byte| byte & mask($format)));
                Ok(items)
            }
        }

        impl FieldValue for $rust {
            const SIZE: usize = size_of::<Self>();
            const PARTS: usize = 0;

            fn offsets(data_type: &DataType, shape: &[u64], _: &mut Vec<usize>) -> Result<(), Error> {
                match shape.is_empty() && Self::accepts(data_type.storage()) {
                    true => Ok(()),
                    false => Err(mismatch::<Self>(data_type, shape)),
                }
            }

            fn field_type() -> Result<(DataType, Vec<u64>), Error> {
                Ok((DataType::$kind($format), Vec::new()))
            }

            fn zero() -> Self {
                bytemuck::Zeroable::zeroed()
            }

            #[inline(always)]
            fn load(&mut self, _: Offsets<'_>, bytes: &[u8]) -> Result<(), Error> {
                *self = bytemuck::pod_read_unaligned(bytes);
                bytemuck::bytes_of_mut(self).iter_mut().for_each(|byte| *byte &= mask($format));
                Ok(())
            }

            #[inline(always)]
            fn store(&self, _: Offsets<'_>, bytes: &mut [u8]) -> Result<(), Error> {
                let own = bytemuck::bytes_of(self);
                bytes.iter_mut().zip(own).for_each(|(byte, own)| *byte = own & mask($format));
                Ok(())
            }
        }
    )* };
}

super::small_floats!(narrow narrow);

#[cfg(test)]
mod tests {
    use super::*;
    use microfloat::f4e2m1fn;

    #[test]
    fn upper_bits_are_cleared() {
        let (data_type, heap) = (DataType::SmallFloat(SmallFloat::Float4E2M1Fn), Heap::new());
        let elements = f4e2m1fn::from_items(&data_type, &[0x11, 0xf9, 0x07], &heap).unwrap();
        assert_eq!(elements.iter().map(|element| element.to_f64()).collect::<Vec<_>>(), [0.5, -0.5, 6.0]);
        let items = f4e2m1fn::to_items(&data_type, &[f4e2m1fn::from_bits(0xf9)], &heap).unwrap();
        assert_eq!(items, [0x09]);

        let mut field = <Complex<f4e2m1fn>>::zero();
        field.load(Offsets::AS_DECLARED, &[0x12, 0xfa]).unwrap();
        assert_eq!((field.re.to_f64(), field.im.to_f64()), (1.0, -1.0));
        let mut bytes = [0xff; 2];
        field.store(Offsets::AS_DECLARED, &mut bytes).unwrap();
        assert_eq!(bytes, [0x02, 0x0a]);
        let mut offsets = Vec::new();
        let complex = DataType::SmallComplex(SmallFloat::Float4E2M1Fn);
        <Complex<f4e2m1fn>>::offsets(&complex, &[], &mut offsets).unwrap();
        assert!(<Complex<f4e2m1fn>>::offsets(&data_type, &[], &mut offsets).is_err());
        assert!(f4e2m1fn::offsets(&data_type, &[2], &mut offsets).is_err() && offsets.is_empty());
    }
}
