//! Tests of bounds of errors: they hold for all elements that the codec `bitround` writes, and marks of missing data stay.

use crate::{create, memory};
use half::f16;
use zarr_array::{Array, NewArray};
use zarr_dtype::Element;
use zarr_json::Value;
use zarr_stats::{ErrorBound, LargestError, RoundingOptions, Unmeasurable};

/// Random bits, the same in each run.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) ^ (*state << 31)
}

/// Number that is of a kind which rounding may get wrong, or of any other.
fn number(state: &mut u64, mantissa: u32, width: u32) -> u64 {
    let bits = random(state) & (u64::MAX >> (64 - width));
    let exponents = ((1_u64 << (width - 1 - mantissa)) - 1) << mantissa;
    let sign = bits & (1 << (width - 1));
    match random(state) % 12 {
        // NaN of any content, infinite numbers, zeros, subnormals, and the largest numbers.
        0 => exponents | bits,
        1 => exponents | sign,
        2 => sign,
        3 => bits & !exponents,
        4 => (exponents - (1 << mantissa)) | (bits & ((1 << mantissa) - 1)) | sign,
        // Ties, and numbers next to them.
        5 => {
            let drop = random(state) % u64::from(mantissa) + 1;
            ((bits >> drop << drop) | (1 << (drop - 1))).wrapping_add(random(state) % 3).wrapping_sub(1) & !exponents
                | (exponents >> 1 & exponents)
        }
        // Numbers of like size.
        6..=9 => (bits & ((1 << mantissa) - 1)) | (exponents >> 1 & exponents),
        _ => bits,
    }
}

/// Checks the bound of one array of random numbers beside what the codec writes and reads.
fn check<T: Element + Copy>(
    state: &mut u64,
    (data_type, mantissa, width): (&str, u32, u32),
    from_bits: fn(u64) -> T,
    to_f64: fn(T) -> f64,
) -> u32 {
    let count = 1 + random(state) as usize % 24;
    let elements: Vec<T> = (0..count).map(|_| from_bits(number(state, mantissa, width))).collect();
    let numbers: Vec<f64> = elements.iter().map(|&element| to_f64(element)).collect();
    let new = NewArray::new(&[count as u64], data_type).chunks(&[7]);
    // A mark that is one of the numbers, half of the time.
    let mark = numbers.iter().copied().find(|number| number.is_finite() && *number != 0.0);
    let mark = mark.filter(|_| random(state).is_multiple_of(2));
    let new = match mark {
        Some(mark) => new.attribute("missing_value", mark),
        None => new,
    };
    let array = create(&memory(), "/", new.clone().codecs("none").unwrap());
    array.write(.., &elements).unwrap();
    let most = 2_f64.powi((random(state) % 60) as i32 - 50);
    let (bound, is_relative) = match random(state) % 2 {
        0 => (ErrorBound::Absolute(most), false),
        _ => (ErrorBound::Relative(most), true),
    };
    let keep = match bound.keepbits(&array, &RoundingOptions::default()).unwrap() {
        Ok(keep) => keep,
        Err(why) => {
            assert_eq!(why, Unmeasurable::TooFew(0));
            // Chunks of zeros, the fill value, are not stored.
            let is_none = |&number: &f64| !number.is_finite() || number == 0.0 || Some(number) == mark;
            assert!(numbers.iter().all(is_none), "{numbers:?}");
            return 0;
        }
    };
    let rounded = |keep: u32| {
        let codecs = format!("bitround({keep})");
        let array = create(&memory(), "/", new.clone().codecs(codecs.as_str()).unwrap());
        array.write(.., &elements).unwrap();
        array.read::<T>(..).unwrap().into_iter().map(to_f64).collect::<Vec<f64>>()
    };
    let holds = |keep: u32| {
        numbers.iter().zip(rounded(keep)).all(|(&number, rounded)| match number {
            number if number.is_nan() => rounded.is_nan(),
            number if number.is_infinite() || Some(number) == mark => rounded == number,
            number => {
                let most = if is_relative { most * number.abs() } else { most };
                (number - rounded).abs() <= most && rounded.is_finite() && Some(rounded) != mark
            }
        })
    };
    assert!(holds(keep), "{data_type} {bound:?} {keep} {mark:?} {numbers:?}");
    // The coarsest rounding that keeps it.
    assert!(keep == 1 || !holds(keep - 1), "{data_type} {bound:?} {keep} {mark:?} {numbers:?}");
    let error = LargestError::of_rounding(&array, keep, &RoundingOptions::default()).unwrap().unwrap();
    let found = numbers.iter().zip(rounded(keep)).map(|(&number, rounded)| (number, rounded));
    assert_eq!(error, LargestError::of(found), "{data_type} {bound:?} {keep} {numbers:?}");
    keep
}

#[test]
fn bounds_hold_for_all_elements_of_random_arrays() {
    let mut state = 11;
    let mut seen = [0_u32; 53];
    for number in 0..10_000 {
        let keep = match number % 3 {
            0 => check(&mut state, ("float16", 10, 16), |bits| f16::from_bits(bits as u16), f16::to_f64),
            1 => check(&mut state, ("float32", 23, 32), |bits| f32::from_bits(bits as u32), f64::from),
            _ => check(&mut state, ("float64", 52, 64), f64::from_bits, |number| number),
        };
        seen[keep as usize] += 1;
    }
    // Roundings of all kinds were tried.
    assert!(seen[1..].iter().filter(|count| **count > 0).count() > 48, "{seen:?}");
}

fn of(elements: &[f32], new: NewArray) -> Array {
    let array = create(&memory(), "/", new);
    array.write(.., elements).unwrap();
    array
}

#[test]
fn arrays_without_numbers_are_not_rounded() {
    let bound = ErrorBound::Absolute(1.0);
    let new = NewArray::new(&[3], "float32").attribute("missing_value", 7.5);
    let none = create(&memory(), "/", new.clone());
    // Zeros that are stored are no numbers yet.
    let zeros = of(&[0.0; 3], new.clone().fill(5.0));
    for array in [none, of(&[f32::NAN, 7.5, f32::INFINITY], new.clone()), zeros] {
        assert_eq!(bound.keepbits(&array, &RoundingOptions::default()).unwrap(), Err(Unmeasurable::TooFew(0)));
    }
    // A part of an array has its own bound.
    let array = of(&[1.0, 1.3, 1.000_001], new);
    let bits = |region| ErrorBound::Absolute(1e-3).keepbits(&array, &RoundingOptions::default().region(region));
    let first = zarr_grid::Region::from_ranges(std::slice::from_ref(&(0..1)));
    assert_eq!((bits(Some(first)).unwrap(), bits(None).unwrap()), (Ok(3), Ok(8)));
}

#[test]
fn a_fill_value_that_rounding_would_change_is_looked_at() {
    // Its bits would overflow to zero; it is encoded beside elements of the same chunk.
    let new = NewArray::new(&[4], "float32").chunks(&[2]).fill("0xffffffff").codecs("none").unwrap();
    let array = create(&memory(), "/", new);
    array.write(0..2, &[1.0_f32, 1.3]).unwrap();
    let keep = ErrorBound::Absolute(1.0).keepbits(&array, &RoundingOptions::default()).unwrap().unwrap();
    assert_eq!(keep, 23);
    let found = LargestError::of_rounding(&array, 3, &RoundingOptions::default()).unwrap().unwrap_err();
    assert!(matches!(found, Unmeasurable::Changed { bits: 3, .. }), "{found}");
}

#[test]
fn numbers_do_not_become_marks() {
    let elements = [-9998.9_f32, -9999.0, 1.0, 2.5];
    let new = NewArray::new(&[4], "float32").attribute("missing_value", -9999.0);
    // 13 bits keep the mark, and make the first number one.
    let keep =
        ErrorBound::Absolute(1.0).keepbits(&of(&elements, new.clone()), &RoundingOptions::default()).unwrap().unwrap();
    assert!(keep > 13, "{keep}");
    let found = LargestError::of_rounding(&of(&elements, new), 13, &RoundingOptions::default()).unwrap().unwrap_err();
    assert_eq!(found, Unmeasurable::Changed { bits: 13, from: f64::from(-9998.9_f32), to: -9999.0 });
    assert!(found.to_string().contains("one marks missing data"), "{found}");
}

#[test]
fn valid_numbers_stay_valid() {
    // 99.9 becomes 96 by 1 to 3 bits, 100 by 4 to 8, and 99.875 by 9; 68 needs 4 bits.
    let (elements, bound) = ([99.9_f32, 68.0], ErrorBound::Absolute(3.95));
    let plain = of(&elements, NewArray::new(&[2], "float32"));
    assert_eq!(bound.keepbits(&plain, &RoundingOptions::default()).unwrap(), Ok(4));
    let limits = [
        ("valid_max", Value::from(99.95)),
        ("valid_max", Value::from(vec![Value::from(99.95)])),
        ("valid_range", Value::from(vec![Value::from(0), Value::from(99.95)])),
        ("valid_min", Value::from(99.95)),
    ];
    for (name, limit) in limits {
        let array = of(&elements, NewArray::new(&[2], "float32").attribute(name, limit));
        assert_eq!(bound.keepbits(&array, &RoundingOptions::default()).unwrap(), Ok(9), "{name}");
        let found = LargestError::of_rounding(&array, 4, &RoundingOptions::default()).unwrap().unwrap_err();
        assert_eq!(found, Unmeasurable::Changed { bits: 4, from: f64::from(99.9_f32), to: 100.0 });
        assert!(found.to_string().contains("limit"), "{found}");
        assert!(LargestError::of_rounding(&array, 9, &RoundingOptions::default()).unwrap().is_ok());
    }
}

#[test]
fn marks_have_the_forms_of_xarray() {
    let elements = [1e20_f32, 1.0, 1.3];
    // The base64 of the float64 1e20, as xarray writes `_FillValue` in version 3.
    let base64 = Value::from("QIy1eB2vFUQ=");
    for (mark, keep) in [(base64, 21), (Value::from(1e20), 21), (Value::from(2.0), 2)] {
        let array = of(&elements, NewArray::new(&[3], "float32").attribute("_FillValue", mark.clone()));
        assert_eq!(
            ErrorBound::Relative(0.1).keepbits(&array, &RoundingOptions::default()).unwrap(),
            Ok(keep),
            "{mark}"
        );
    }
    let array = of(&elements, NewArray::new(&[3], "float32").attribute("_FillValue", "no number"));
    let error = ErrorBound::Relative(0.1).keepbits(&array, &RoundingOptions::default()).unwrap_err().to_string();
    assert!(error.contains("_FillValue") && error.contains("no number"), "{error}");
    // The fill value of the array, as its bits.
    let fill = Value::from("0x60ad78ec");
    let array = of(&elements, NewArray::new(&[3], "float32").fill(fill));
    assert_eq!(ErrorBound::Relative(0.1).keepbits(&array, &RoundingOptions::default()).unwrap(), Ok(21));
}
