//! Tests of the information of bits: known noise is found, and arrays for which the measure misleads are named.

use crate::{create, memory};
use std::time::Duration;
use zarr_array::{Array, NewArray};
use zarr_stats::{BenchOptions, BitInformation, CodecBench, ErrorBound, LargestError, RoundingOptions, Unmeasurable};

/// Random numbers below 1, the same in each run.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

/// Smooth field along y and x, whose mantissas are random behind `bits` bits.
fn smooth(bits: i32) -> Vec<f32> {
    let mut state = 7;
    let at = |y: usize, x: usize| 300.0 + 100.0 * ((y as f64) / 300.0).sin() * ((x as f64) / 500.0).cos();
    let step = 256.0 * f64::from(2.0_f32.powi(-bits));
    (0..256 * 256)
        .map(|number| {
            let value = (at(number / 256, number % 256) / step).floor() * step;
            (value + random(&mut state) * step) as f32
        })
        .collect()
}

fn stored(elements: &[f32], new: NewArray) -> Array {
    let array = create(&memory(), "/", new.chunks(&[64, 256]).codecs("zstd(1)").unwrap());
    array.write(.., elements).unwrap();
    array
}

fn of(elements: &[f32]) -> Result<BitInformation, Unmeasurable> {
    BitInformation::of(&stored(elements, NewArray::new(&[256, 256], "float32")), 1 << 20).unwrap()
}

#[test]
fn noise_has_no_information() {
    for bits in [4, 7, 10] {
        let information = of(&smooth(bits)).unwrap();
        let kept = information.keep(0.99);
        assert!((bits - 2..=bits).contains(&(kept as i32)), "{bits} {kept} {:?}", information.bits);
        assert_eq!(information.keep(0.999), bits as u32, "{:?}", information.bits);
        assert!(information.keep(0.5) <= kept);
        assert!(information.bits[9 + bits as usize..].iter().all(|bit| *bit < 1e-3), "{:?}", information.bits);
        assert_eq!((information.mantissa, information.bits.len(), information.pairs), (23, 32, 255 * 256));
    }
}

#[test]
fn missing_elements_are_left_out() {
    let mut elements = smooth(7);
    let whole = of(&elements).unwrap();
    for (number, element) in elements.iter_mut().enumerate().filter(|(number, _)| number % 256 < 64) {
        *element = if number % 2 == 0 { f32::NAN } else { 1e20 };
    }
    let new = NewArray::new(&[256, 256], "float32").attribute("_FillValue", 1e20);
    let found = BitInformation::of(&stored(&elements, new), 1 << 20).unwrap().unwrap();
    assert_eq!((found.keep(0.999), found.axis, found.pairs), (whole.keep(0.999), 1, 256 * 191));
    assert_eq!((found.lost_mark(7), found.lost_mark(22)), (Some((f64::from(1e20_f32), 21)), None));
    // Otherwise the exponents of missing elements have most of the information.
    let new = NewArray::new(&[256, 256], "float32");
    let found = BitInformation::of(&stored(&elements, new), 1 << 20).unwrap();
    assert_ne!(found.map(|found| found.bits), of(&smooth(7)).map(|found| found.bits));
}

#[test]
fn arrays_for_which_the_measure_misleads_are_named() {
    let check = |elements: Vec<f32>, expected: fn(&Unmeasurable) -> bool| {
        let found = of(&elements).unwrap_err();
        assert!(expected(&found), "{found:?}");
        assert!(!found.to_string().is_empty());
    };
    let field = smooth(8);
    check(vec![3.5; 65_536], |found| *found == Unmeasurable::Constant);
    check(field.iter().map(|element| element - 330.0).collect(), |found| matches!(found, Unmeasurable::MixedSigns(_)));
    let rain = |(number, element): (usize, &f32)| if number % 5 == 0 { 0.0 } else { *element };
    check(
        field.iter().enumerate().map(rain).collect(),
        |found| matches!(found, Unmeasurable::ManyZeros(share) if *share > 0.19),
    );
    let rounded = |element: &f32| f32::from_bits(element.to_bits() & !0x3_ffff);
    check(field.iter().map(rounded).collect(), |found| matches!(found, Unmeasurable::Rounded(bits) if *bits <= 5));
    check(field.iter().map(|element| (element * 2.0).round() / 2.1).collect(), |found| {
        *found == Unmeasurable::Quantised
    });
    check(vec![f32::NAN; 65_536], |found| *found == Unmeasurable::TooFew(0));
    let integers = create(&memory(), "/", NewArray::new(&[100], "int32"));
    assert_eq!(BitInformation::of(&integers, 1).unwrap().unwrap_err(), Unmeasurable::NotFloat);
    let packed = stored(&field, NewArray::new(&[256, 256], "float32").attribute("scale_factor", 0.1));
    assert_eq!(BitInformation::of(&packed, 1 << 20).unwrap().unwrap_err(), Unmeasurable::Packed);
    let few = create(&memory(), "/", NewArray::new(&[4], "float64"));
    few.write(.., &[1.0, 2.0, 3.0, 4.0]).unwrap();
    assert_eq!(BitInformation::of(&few, 1).unwrap().unwrap_err(), Unmeasurable::TooFew(3));
}

#[test]
fn doubles_and_halves_have_their_own_mantissas() {
    let doubles: Vec<f64> = smooth(7).into_iter().map(f64::from).collect();
    let array = create(&memory(), "/", NewArray::new(&[256, 256], "float64"));
    array.write(.., &doubles).unwrap();
    // The last bits of a double that was a float are zeros.
    let found = BitInformation::of(&array, 1 << 20).unwrap().unwrap_err();
    assert_eq!(found, Unmeasurable::Rounded(23));
    let halves: Vec<half::f16> = smooth(5).into_iter().map(half::f16::from_f32).collect();
    let array = create(&memory(), "/", NewArray::new(&[256, 256], "float16"));
    array.write(.., &halves).unwrap();
    let found = BitInformation::of(&array, 1 << 20).unwrap().unwrap();
    assert_eq!((found.mantissa, found.bits.len(), found.keep(0.999)), (10, 16, 5));
}

#[test]
fn errors_of_lossy_codecs_are_the_largest() {
    let pairs = [(1.0, 1.0), (2.0, 2.5), (f64::NAN, f64::NAN), (-8.0, -9.0), (0.0, -0.0)];
    let error = LargestError::of(pairs.into_iter());
    assert_eq!((error.absolute, error.relative), (1.0, 0.25));
    assert_eq!(LargestError::of([(f64::NAN, 1.0)].into_iter()).absolute, f64::INFINITY);
    assert_eq!(LargestError::of([(1.0, f64::INFINITY)].into_iter()).absolute, f64::INFINITY);
    let array = stored(&smooth(7), NewArray::new(&[256, 256], "float32"));
    let options = BenchOptions::default().time(Duration::ZERO);
    let bench = CodecBench::of(&array, &["zstd(3)".to_owned()], &options).unwrap();
    assert!(bench.codecs.iter().all(|result| result.measured.as_ref().unwrap().error.is_none()));
}

#[test]
fn bounds_hold_for_all_elements() {
    let elements = smooth(10);
    let array = stored(&elements, NewArray::new(&[256, 256], "float32").attribute("missing_value", -999.0));
    let codecs = |bits: u32, element: f32| {
        let drop = 23 - bits;
        let bits = u64::from(element.to_bits());
        f32::from_bits(((bits + (1 << (drop - 1)) - 1 + ((bits >> drop) & 1)) >> drop << drop) as u32)
    };
    for (text, is_relative, most) in
        [("0.5", false, 0.5), ("0.01", false, 0.01), ("1%", true, 0.01), ("0.02%", true, 2e-4)]
    {
        let bound: ErrorBound = text.parse().unwrap();
        let keep = bound.keepbits(&array, &RoundingOptions::default()).unwrap().unwrap();
        let holds = |bits: u32| {
            elements.iter().all(|&element| {
                let error = f64::from((codecs(bits, element) - element).abs());
                error <= if is_relative { most * f64::from(element) } else { most }
            })
        };
        // The marks take ten bits.
        assert!(holds(keep) && keep >= 9, "{text} {keep}");
        assert!(keep == 9 || !holds(keep - 1), "{text} {keep}");
    }
    for text in ["", "0", "-1", "x", "%", "inf"] {
        assert!(text.parse::<ErrorBound>().is_err(), "{text}");
    }
    let integers = create(&memory(), "/", NewArray::new(&[100], "int32"));
    assert_eq!(
        ErrorBound::Absolute(1.0).keepbits(&integers, &RoundingOptions::default()).unwrap(),
        Err(Unmeasurable::NotFloat)
    );
    let tenth = stored(&elements, NewArray::new(&[256, 256], "float32").attribute("missing_value", 0.1));
    assert_eq!(ErrorBound::Absolute(1.0).keepbits(&tenth, &RoundingOptions::default()).unwrap(), Ok(23));
}
