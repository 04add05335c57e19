use zarr_store::*;

#[test]
fn pieces_stay_and_the_thread_keeps_their_memory() {
    let mut address = None;
    for round in 0..3_u8 {
        let mut fetched = Fetched::new();
        fetched.reserve(5003).expect("memory");
        fetched.buffer(3).expect("memory").fill(round);
        fetched.push(Bytes::from_static(b"x"));
        fetched.buffer(5000).expect("memory").fill(round + 1);
        assert_eq!(fetched.part(0), [round; 3]);
        assert_eq!(fetched.part(1), b"x");
        assert_eq!(fetched.part(2), [round + 1; 5000]);
        assert_eq!(fetched.part(3), b"");
        assert_eq!((fetched.len(), fetched.is_empty()), (3, false));
        assert_eq!(*address.get_or_insert(fetched.part(0).as_ptr()), fetched.part(0).as_ptr());
    }
}

#[test]
fn a_small_value_holds_no_large_memory() {
    let mut large = Fetched::new();
    large.buffer(1 << 20).expect("memory").fill(1);
    drop(large);
    let mut small = Fetched::new();
    small.buffer(10).expect("memory").fill(2);
    let bytes = small.into_bytes();
    assert_eq!(*bytes, [2; 10]);
    assert!(Vec::from(bytes).capacity() < 1000);
    assert_eq!(Fetched::new().spare(), 1 << 20, "the thread keeps the memory");
}

#[test]
fn too_much_memory_is_an_error() {
    let mut fetched = Fetched::new();
    assert!(matches!(fetched.buffer(usize::MAX / 2), Err(Error::Memory { .. })));
    fetched.buffer(1).expect("memory").fill(1);
    assert!(matches!(fetched.buffer(usize::MAX), Err(Error::Memory { .. })));
    assert!(matches!(fetched.buffer(usize::MAX / 2), Err(Error::Memory { .. })));
    assert_eq!(fetched.part(0), [1]);
}

#[test]
fn cutting_pieces() {
    let mut fetched = Fetched::new();
    fetched.buffer(4).expect("memory").copy_from_slice(b"abcd");
    fetched.push(Bytes::from_static(b"efgh"));
    assert!(!fetched.recut([(0, 3..5)].into_iter()));
    assert!(!fetched.recut([(2, 0..0)].into_iter()));
    assert!(fetched.recut([(1, 1..3), (0, 2..4), (0, 0..1)].into_iter()));
    assert_eq!(fetched.parts().collect::<Vec<_>>(), [&b"fg"[..], b"cd", b"a"]);
    assert_eq!(fetched.into_bytes(), "fg");
}
