use zarr_store::*;

// clause: d2022-163
#[test]
fn reads_and_refuses_writes() {
    let inner = MemoryStore::new();
    let key = Key::new("a/b").expect("a key");
    inner.set_all(&key, b"value").expect("set");
    let store = ReadOnly(&inner);
    testing::contract_read(&store, &[("a/b", b"value")]);
    testing::contract_read_only(&store);
    assert_eq!(inner.get_all(&key).expect("get").as_deref(), Some(&b"value"[..]));
}
