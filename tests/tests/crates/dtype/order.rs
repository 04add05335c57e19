use zarr_dtype::*;

#[test]
fn one_order_for_all() {
    let fields = |orders: &[ByteOrder]| ByteOrder::Fields(orders.into());
    let check = |order: ByteOrder, uniform: Option<ByteOrder>| {
        assert_eq!(order.uniform().cloned(), uniform, "{order:?}");
    };
    let (little, big, none) = (ByteOrder::Little, ByteOrder::Big, ByteOrder::Irrelevant);
    check(big.clone(), Some(big.clone()));
    check(none.clone(), Some(little.clone()));
    let inner = fields(&[none.clone(), big.clone()]);
    check(fields(&[none.clone(), inner.clone(), big.clone()]), Some(big.clone()));
    check(fields(&[inner, little.clone()]), None);
    check(fields(&[none.clone(), fields(&[none]), little.clone()]), Some(little));
}
