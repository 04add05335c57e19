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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HeapRef;
    use zarr_json::json;

    #[test]
    fn values_come_back() {
        let heap = Heap::new();
        let values = [json!(null), json!("a"), json!([1, {"b": 1.5}]), json!("")];
        let items = Value::to_items(&DataType::Object, &values, &heap).unwrap();
        assert_eq!(Value::from_items(&DataType::Object, &items, &heap).unwrap(), values);
        assert_eq!(items[..16], HeapRef::default().to_bytes(), "null is the empty element");
        assert!(Value::from_items(&DataType::String, &items, &heap).is_err());
        let broken = HeapRef { block: heap.add(b"[1".to_vec()), len: 2, offset: 0 }.to_bytes();
        let error = Value::from_items(&DataType::Object, &broken, &heap).unwrap_err().to_string();
        assert_eq!(error, "element 0: found [1, expected a JSON text");
    }
}
