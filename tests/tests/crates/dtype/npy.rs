use zarr_dtype::*;

#[test]
fn type_strings_come_back() {
    for descr in [
        "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16", "|V4",
        "|S5", "<U3", "<M8[25s]", "<m8[ns]", "<M8", "<M8[Y]",
    ] {
        let (data_type, _) = from_npy_descr(descr).unwrap();
        assert_eq!(npy_descr(&data_type).as_deref(), Some(descr));
    }
}

#[test]
fn orders_are_reported() {
    let check = |descr: &str, order: ByteOrder| assert_eq!(from_npy_descr(descr).unwrap().1, order, "{descr}");
    check("<f4", ByteOrder::Little);
    check("f4", ByteOrder::Little);
    check(">U3", ByteOrder::Big);
    check(">M8[s]", ByteOrder::Big);
    check("<u1", ByteOrder::Irrelevant);
    check(">S3", ByteOrder::Irrelevant);
    check("|i2", ByteOrder::Little);
}

#[test]
fn other_strings_are_refused() {
    for descr in [
        "",
        "<",
        "q",
        "O",
        "|O",
        "<f16",
        "<f3",
        "b2",
        "V",
        "V0",
        "V+4",
        "S99999999999",
        "V4294967295",
        "<M8[q]",
        "<M8[0s]",
        "<M8[s",
        "M4[s]",
        "\u{e9}4",
        "<\u{e9}4",
        "|S-1",
        "int2",
        "bfloat16",
    ] {
        assert_eq!(from_npy_descr(descr), Err(Error::Unknown { name: descr.to_owned(), hint: None }));
    }
}
