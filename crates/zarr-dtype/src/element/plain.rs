//! Elements whose values in a Rust vector equal their items.

use super::{Element, count, has_size, with_room};
use crate::{DataType, Error, Heap};
use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::Complex;

/// Generates the methods that are equal for all types in which every bit pattern is a value.
macro_rules! methods {
    () => {
        fn zeroed_vec(len: usize) -> Result<Vec<Self>, Error> {
            bytemuck::allocation::try_zeroed_vec(len).map_err(|()| Error::Memory { len, item_size: size_of::<Self>() })
        }

        fn as_bytes_mut(elements: &mut [Self]) -> Option<&mut [u8]> {
            Some(bytemuck::cast_slice_mut(elements))
        }

        fn as_bytes(elements: &[Self]) -> Option<&[u8]> {
            Some(bytemuck::cast_slice(elements))
        }

        fn from_items(data_type: &DataType, items: &[u8], _: &Heap) -> Result<Vec<Self>, Error> {
            Self::check(data_type)?;
            crate::element::plain::from_items(data_type, items)
        }

        fn to_items(data_type: &DataType, elements: &[Self], _: &Heap) -> Result<Vec<u8>, Error> {
            Self::check(data_type)?;
            crate::element::plain::to_items(data_type, bytemuck::cast_slice(elements))
        }
    };
}
pub(super) use methods;

macro_rules! plain {
    ($($rust:ty = $data_type:ident $(($format:expr))? $(or $other:pat)?,)*) => { $(
        impl Element for $rust {
            fn name() -> String {
                // Which has spaces between tokens that come from another macro.
                stringify!($rust).replace(' ', "")
            }

            fn accepts(data_type: &DataType) -> bool {
                *data_type == DataType::$data_type $(($format))? $(|| matches!(data_type, $other))?
            }

            fn default_data_type() -> Result<DataType, Error> {
                Ok(DataType::$data_type $(($format))?)
            }

            methods!();
        }
    )* };
}

plain! {
    u8 = UInt8 or DataType::UInt4 | DataType::UInt2,
}
super::numbers!(plain);
#[cfg(feature = "microfloat")]
super::small_floats!(plain);

impl<const N: usize> Element for [u8; N] {
    fn name() -> String {
        format!("[u8; {N}]")
    }

    fn accepts(data_type: &DataType) -> bool {
        N > 0 && has_size(data_type, N)
    }

    fn default_data_type() -> Result<DataType, Error> {
        match u32::try_from(N) {
            Ok(len @ 1..) => Ok(DataType::RawBytes { len }),
            _ => Err(Error::NoDataType { element: Self::name() }),
        }
    }

    methods!();
}

impl Element for bool {
    fn name() -> String {
        "bool".to_owned()
    }

    fn accepts(data_type: &DataType) -> bool {
        *data_type == DataType::Bool
    }

    fn default_data_type() -> Result<DataType, Error> {
        Ok(DataType::Bool)
    }

    fn zeroed_vec(len: usize) -> Result<Vec<Self>, Error> {
        bytemuck::allocation::try_zeroed_vec(len).map_err(|()| Error::Memory { len, item_size: 1 })
    }

    fn as_bytes(elements: &[Self]) -> Option<&[u8]> {
        Some(bytemuck::cast_slice(elements))
    }

    fn from_items(data_type: &DataType, items: &[u8], _: &Heap) -> Result<Vec<Self>, Error> {
        Self::check(data_type)?;
        data_type.layout().check(items)?;
        let mut elements = with_room(items.len(), 1)?;
        elements.extend(items.iter().map(|&byte| byte != 0));
        Ok(elements)
    }

    fn from_item_vec(data_type: &DataType, items: Vec<u8>) -> Result<Vec<Self>, Error> {
        Self::check(data_type)?;
        data_type.layout().check(&items)?;
        // The standard library collects it into the same memory.
        Ok(items.into_iter().map(|byte| byte != 0).collect())
    }

    fn to_items(data_type: &DataType, elements: &[Self], _: &Heap) -> Result<Vec<u8>, Error> {
        Self::check(data_type)?;
        to_items(data_type, bytemuck::cast_slice(elements))
    }
}

pub(super) fn from_items<T: Pod + Element>(data_type: &DataType, items: &[u8]) -> Result<Vec<T>, Error> {
    let mut elements = T::zeroed_vec(count(data_type, items)?)?;
    bytemuck::cast_slice_mut(&mut elements).copy_from_slice(items);
    Ok(elements)
}

pub(super) fn to_items(data_type: &DataType, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    data_type.layout().check(bytes)?;
    let mut items = with_room(bytes.len(), 1)?;
    items.extend_from_slice(bytes);
    Ok(items)
}
