use zarr_dtype::*;

#[test]
fn threads_add_and_read() {
    let heap = Heap::new();
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let heap = &heap;
            scope.spawn(move || {
                for round in 1..50_u8 {
                    let block = heap.add(vec![thread; usize::from(round)]);
                    let all = HeapRef { block, offset: 0, len: u32::from(round) };
                    assert_eq!(heap.get(all), Some(&vec![thread; usize::from(round)][..]));
                    assert_eq!(heap.get(HeapRef { offset: 1, ..all }), None);
                }
            });
        }
    });
    assert_eq!(heap.size(), 4 * (1..50).sum::<u64>());
    assert_eq!(heap.get(HeapRef { block: 197, offset: 0, len: 1 }), None);
    assert_eq!(heap.get(HeapRef { block: u32::MAX, offset: u64::MAX, len: 1 }), None);
}

#[test]
fn references_survive_as_bytes() {
    let reference = HeapRef { block: 1, len: 2, offset: 3 };
    assert_eq!(HeapRef::from_bytes(reference.to_bytes()), reference);
    assert_eq!(HeapRef::from_item(&reference.to_bytes()), Some(reference));
    assert_eq!(HeapRef::from_item(&[0; 15]), None);
}
