//! Lists (`Vec`) of numbers as elements.

use super::text::{each, empty, to_heap};
use super::{Element, with_room};
use crate::heap::content;
use crate::{DataType, Error, Heap};
use half::{bf16, f16};
use num_complex::Complex;

macro_rules! lists {
    ($($rust:ty $(= $data_type:ident $(($format:expr))? $(or $other:pat)?)?,)*) => { $(
        impl Element for Vec<$rust> {
            fn name() -> String {
                format!("Vec<{}>", <$rust>::name())
            }

            fn accepts(data_type: &DataType) -> bool {
                matches!(data_type, DataType::VlenArray(inner) if <$rust>::accepts(inner))
            }

            fn default_data_type() -> Result<DataType, Error> {
                Ok(DataType::VlenArray(Box::new(<$rust>::default_data_type()?)))
            }

            fn zeroed_vec(len: usize) -> Result<Vec<Self>, Error> {
                empty(len)
            }

            fn from_items(data_type: &DataType, items: &[u8], heap: &Heap) -> Result<Vec<Self>, Error> {
                Self::check(data_type)?;
                let DataType::VlenArray(inner) = data_type else { return Ok(Vec::new()) };
                each(data_type, items, |index, item| {
                    let lost = || Error::Item {
                        index,
                        found: "a reference to nothing".to_owned(),
                        expected: "a part of the heap".to_owned(),
                    };
                    <$rust>::from_items(inner, content(item, Some(heap)).ok_or_else(lost)?, heap)
                })
            }

            fn to_items(data_type: &DataType, elements: &[Self], heap: &Heap) -> Result<Vec<u8>, Error> {
                Self::check(data_type)?;
                let DataType::VlenArray(inner) = data_type else { return Ok(Vec::new()) };
                let mut lists: Vec<Vec<u8>> = with_room(elements.len(), size_of::<Vec<u8>>())?;
                for element in elements {
                    lists.push(<$rust>::to_items(inner, element, heap)?);
                }
                to_heap(lists.iter().map(AsRef::as_ref), heap)
            }
        }
    )* };
}

// Of `u8` there is one for byte strings.
lists! { bool, }
super::numbers!(lists);
#[cfg(feature = "microfloat")]
super::small_floats!(lists);
#[cfg(feature = "microfloat")]
super::small_floats!(narrow lists);
