use zarr_dtype::*;

fn of(inner: DataType) -> DataType {
    DataType::VlenArray(Box::new(inner))
}

#[test]
fn lists_come_back() {
    let heap = Heap::new();
    let lists = [vec![], vec![1_i16, -2], vec![3]];
    let items = Vec::to_items(&of(DataType::Int16), &lists, &heap).unwrap();
    assert_eq!(items.len(), 3 * HeapRef::SIZE);
    assert_eq!(Vec::<i16>::from_items(&of(DataType::Int16), &items, &heap).unwrap(), lists);
    assert!(Vec::<i16>::check(&of(DataType::Int32)).is_err());
    assert!(Vec::<i16>::check(&DataType::Int16).is_err());
    assert!(Vec::<i32>::from_items(&of(DataType::Int32), &items[32..], &heap).is_err(), "half an inner element");
    let bytes = Vec::<u8>::to_items(&of(DataType::UInt8), &[vec![1, 2]], &heap).unwrap();
    assert_eq!(Vec::<u8>::from_items(&of(DataType::UInt8), &bytes, &heap).unwrap(), [[1, 2]]);
}
