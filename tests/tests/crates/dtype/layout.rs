use zarr_dtype::*;

#[test]
fn small_integers_lose_their_upper_bits() {
    let check = |scalar: Scalar, from: u8, to: u8| {
        let mut bytes = [from];
        scalar.normalize(&mut bytes).unwrap();
        assert_eq!(bytes, [to], "{scalar:?} {from:#x}");
        scalar.check(&bytes).unwrap();
    };
    check(Scalar::I4, 0x0f, 0xff);
    check(Scalar::I4, 0xf7, 0x07);
    check(Scalar::I2, 0x02, 0xfe);
    check(Scalar::U4, 0xfa, 0x0a);
    check(Scalar::U2, 0xff, 0x03);
    check(Scalar::I8, 0x80, 0x80);
    assert!(Scalar::I4.check(&[0x08]).is_err());
    assert!(Scalar::U2.check(&[0, 4]).is_err());
}

#[test]
fn integers_are_loaded_with_their_sign() {
    assert_eq!(Scalar::I2.integer(&[0xfe]), Some(-2));
    assert_eq!(Scalar::I16.integer(&i16::MIN.to_ne_bytes()), Some(i16::MIN.into()));
    assert_eq!(Scalar::I64.integer(&i64::MIN.to_ne_bytes()), Some(i64::MIN.into()));
    assert_eq!(Scalar::U32.integer(&0xffee_0001_u32.to_ne_bytes()), Some(0xffee_0001));
    assert_eq!(Scalar::U64.integer(&u64::MAX.to_ne_bytes()), Some(u64::MAX.into()));
    assert_eq!(Scalar::I32.integer(&[0; 3]), None);
    assert_eq!(Scalar::F32.integer(&[0; 4]), None);
}

#[test]
fn a_bool_is_0_or_1() {
    assert_eq!(
        Scalar::Bool.normalize(&mut [0, 1, 2]).unwrap_err().to_string(),
        "element 2: found byte 0x02, expected a bool: 0x00 or 0x01"
    );
}
