//! JSON values as elements.

use super::text::{each, empty, to_heap};
use super::{Element, with_room};
use crate::heap::content;
use crate::{DataType, Error, Heap, print};
use zarr_json::Value;

impl Element for Value {
    fn name() -> String {
        "Value".to_owned()
    }

    fn accepts(data_type: &DataType) -> bool {
        *data_type == DataType::Object
    }

    fn default_data_type() -> Result<DataType, Error> {
        Ok(DataType::Object)
    }

    fn zeroed_vec(len: usize) -> Result<Vec<Self>, Error> {
        empty(len)
    }

    fn from_items(data_type: &DataType, items: &[u8], heap: &Heap) -> Result<Vec<Self>, Error> {
        Self::check(data_type)?;
        each(data_type, items, |index, item| {
            let text = content(item, Some(heap)).and_then(|bytes| std::str::from_utf8(bytes).ok());
            let value =
                text.and_then(|text| if text.is_empty() { Some(Self::Null) } else { Self::from_json(text).ok() });
            let found = || text.unwrap_or("a reference to nothing").to_owned();
            value.ok_or_else(|| Error::Item { index, found: found(), expected: "a JSON text".to_owned() })
        })
    }

    fn to_items(data_type: &DataType, elements: &[Self], heap: &Heap) -> Result<Vec<u8>, Error> {
        Self::check(data_type)?;
        let mut texts: Vec<Vec<u8>> = with_room(elements.len(), size_of::<Vec<u8>>())?;
        for element in elements {
            texts.push(print::parse(data_type, element)?);
        }
        to_heap(texts.iter().map(AsRef::as_ref), heap)
    }
}
