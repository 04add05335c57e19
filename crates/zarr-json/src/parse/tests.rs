//! Tests of the parser, strict and lenient.

use super::*;

fn strict(text: &str) -> Result<Value, SyntaxError> {
    Value::from_json(text)
}

#[test]
fn keeps_order_and_spelling() {
    for text in [r#"{"b":1.0,"a":1e2,"c":[1180591620717411303424,-0.0,5e-324]}"#, "[]", "{}", r#""\u0001é🐍\\\"""#] {
        assert_eq!(strict(text).unwrap().to_string(), text);
    }
}

#[test]
fn says_where() {
    let error = strict("{\n \"a\": 1,\n \"a\": 2}").unwrap_err();
    assert_eq!((error.line, error.column), (3, 2));
    for text in
        ["", "[1,]", "{\"a\" 1}", "01", "1.", "[1 2]", "nul", "NaN", "\"\\ud800\"", "\u{feff}1", "1 1", "\"\n\""]
    {
        assert!(strict(text).is_err(), "{text:?}");
    }
    assert!(parse(b"\"\xff\"", ParseOptions::default()).is_err());
    assert!(strict(&"[".repeat(100_000)).is_err());
}

#[test]
fn deviations_are_read_if_allowed() {
    let parsed = parse(b"{\"a\": [NaN, -Infinity, -1,], \"a\": Infinity,}", ParseOptions::ALL).unwrap();
    assert_eq!(parsed.value, crate::json!({"a": (Value::Number(Number::INFINITY))}));
    let pointers: Vec<_> = parsed.deviations.iter().map(|deviation| deviation.pointer.as_str()).collect();
    assert_eq!(pointers, ["/a/0", "/a/1", "/a", "/a", "/a", ""]);
}

#[test]
fn a_byte_order_mark_in_front_is_read_if_allowed() {
    let parsed = parse("\u{feff}{\"a\": NaN}".as_bytes(), ParseOptions::ALL).unwrap();
    assert_eq!(parsed.value.to_string(), r#"{"a":NaN}"#);
    let [mark, nan] = parsed.deviations.as_slice() else { panic!("{:?}", parsed.deviations) };
    assert_eq!((&mark.kind, mark.pointer.as_str(), mark.offset), (&DeviationKind::ByteOrderMark, "", 0));
    assert_eq!((nan.line, nan.column, nan.offset), (1, 13, 12));
    for text in ["\u{feff}", "\u{feff}\u{feff}1", " \u{feff}1", "[\u{feff}1]"] {
        assert!(parse(text.as_bytes(), ParseOptions::ALL).is_err(), "{text:?}");
    }
}

#[test]
fn nan_literals_are_numbers() {
    let options = ParseOptions { nan_literals: true, ..ParseOptions::default() };
    let value = parse(b"{\"a\": [NaN, -Infinity, Infinity, 1e999], \"b\": \"NaN\"}", options).unwrap().value;
    assert_eq!(value.to_string(), r#"{"a":[NaN,-Infinity,Infinity,1e999],"b":"NaN"}"#);
    assert_eq!(value.count_nan_literals(), 3);
    let numbers: Vec<_> = value.get("a").unwrap().as_array().unwrap().iter().filter_map(Value::as_number).collect();
    assert_eq!(numbers[..3], [&Number::NAN, &Number::NEG_INFINITY, &Number::INFINITY]);
    assert!(numbers[0].as_f64().is_nan() && numbers[1].as_f64() == f64::NEG_INFINITY);
    assert!(numbers[..3].iter().all(|number| !number.is_integer() && number.to_i128().is_none()));
    assert!(numbers[0].semantically_eq(&Number::NAN) && !numbers[2].semantically_eq(numbers[3]));
    assert_eq!(
        value.clone().without_nan_literals().to_string(),
        r#"{"a":["NaN","-Infinity","Infinity",1e999],"b":"NaN"}"#
    );
    assert!(!value.semantically_eq(&value.clone().without_nan_literals()));
}

/// Document in which members with well-known names occur repeatedly, in nearly the same spelling.
fn repetitive() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let leaf = prop_oneof![Just("1"), Just("1.0"), Just(" 1"), Just("\"a\""), Just("NaN"), Just("[ ]"), Just("{}")];
    let value = leaf.prop_map(str::to_owned).prop_recursive(5, 48, 4, |inner| {
        let member = (prop_oneof![Just("codecs"), Just("name"), Just("shape"), Just("x")], inner.clone());
        let object = proptest::collection::vec(member, 0..4).prop_map(|members| {
            let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            format!("{{{}}}", members.join(","))
        });
        let list = proptest::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(", ")));
        prop_oneof![object, list]
    });
    proptest::collection::vec(value, 1..4).prop_map(|values| format!("[{}]", [&values[..], &values].concat().join(",")))
}

#[test]
fn earlier_values_do_not_count_as_depth() {
    let inner = |levels: usize| format!("{{\"shape\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    let wrapped = |levels: usize, inner: &str| format!("{}{inner}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(strict(&inner(100)).is_ok());
    assert!(strict(&wrapped(20, &inner(100))).is_ok());
    assert!(strict(&wrapped(40, &inner(100))).is_err());
    assert!(strict(&format!("[{}, {}]", inner(100), wrapped(40, &inner(100)))).is_err());
}

proptest::proptest! {
    #[test]
    fn parses_do_not_depend_on_earlier_ones(text in repetitive()) {
        // Each in a thread of its own, which has seen nothing.
        let fresh = |text: &str, options| {
            std::thread::scope(|scope| scope.spawn(|| parse(text.as_bytes(), options)).join().unwrap())
        };
        for options in [ParseOptions::default(), ParseOptions::ALL] {
            let known = parse(text.as_bytes(), options).map(|parsed| (parsed.value, parsed.deviations));
            let again = parse(text.as_bytes(), options).map(|parsed| (parsed.value, parsed.deviations));
            let alone = fresh(&text, options).map(|parsed| (parsed.value, parsed.deviations));
            proptest::prop_assert_eq!(&known, &alone);
            proptest::prop_assert_eq!(&again, &alone);
        }
        if let Ok(value) = strict(&text) {
            // Against a parser that remembers nothing at all.
            if let Ok(theirs) = serde_json::from_str::<serde_json::Value>(&text) {
                proptest::prop_assert!(Value::from(theirs).semantically_eq(&value));
            }
        }
    }

    #[test]
    fn never_panics(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..64)) {
        let _ = parse(&bytes, ParseOptions::default());
    }

    #[test]
    fn agrees_with_serde_json(text in "[\\[\\]{},:\"0-9.eE+\\-a\\\\ntrufls ]{0,24}") {
        // Ours also refuses duplicate names, which these texts are too short to have but by `"":`.
        if let Ok(ours) = strict(&text) {
            let theirs: serde_json::Value = serde_json::from_str(&text).unwrap();
            proptest::prop_assert!(Value::from(theirs).semantically_eq(&ours) || text.contains(['e', 'E', '.']));
        }
    }
}
