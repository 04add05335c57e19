use zarr_dtype::*;
use zarr_json::Value;
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
