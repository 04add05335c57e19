use super::*;
use crate::{Element, FillValue, Heap, from_npy_descr, npy_descr, npy_literal};
use zarr_json::{Map, json};

/// Data type of strings in capital letters, stored as the data type in the configuration.
#[derive(Debug)]
struct Loud(DataType);

const LOUD: DataTypeEntry = DataTypeEntry {
    names: &["loud", "old.loud"],
    build: |config, types| {
        let inner = config.configuration.get("of").ok_or_else(|| Error::invalid(&Value::Null, "a type"))?;
        let inner = NamedConfig::from_value(inner).ok_or_else(|| Error::invalid(inner, "a type"))?;
        let inner = types.from_config(&inner).map_err(|error| error.within("/configuration/of"))?;
        Ok(Arc::new(Loud(inner)))
    },
};

impl ExtensionType for Loud {
    fn storage(&self) -> DataType {
        self.0.clone()
    }

    fn parse(&self, value: &Value) -> Result<Vec<u8>, Error> {
        let text = value.as_str().ok_or_else(|| Error::invalid(value, "a string"))?;
        print::parse(&self.0, &Value::from(text.to_uppercase()))
    }

    fn to_text(&self, element: &[u8]) -> String {
        format!("{}!", print::bytes_to_text(&self.0, element))
    }
}

/// Data type that parses values to bytes without checking that they are elements of its storage.
#[derive(Debug)]
struct Careless;

impl ExtensionType for Careless {
    fn storage(&self) -> DataType {
        DataType::Bool
    }

    fn parse(&self, value: &Value) -> Result<Vec<u8>, Error> {
        Ok(value.to_string().into_bytes())
    }
}

fn types() -> DataTypes {
    let mut types = DataTypes::default();
    types.add(LOUD);
    types
}

fn loud(of: &Value) -> Result<DataType, Error> {
    let mut configuration = Map::new();
    configuration.insert("of", of.clone());
    types().from_config(&NamedConfig::with("loud", configuration))
}

#[test]
fn configurations_come_back() {
    let of = json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}});
    let data_type = loud(&of).unwrap();
    assert_eq!(data_type.to_config().to_value(), json!({"name": "loud", "configuration": {"of": of}}));
    assert_eq!(types().from_config(&data_type.to_config()).unwrap(), data_type);
    assert_eq!(data_type.to_string(), data_type.to_config().to_value().to_string());
    assert_ne!(loud(&json!("string")).unwrap(), data_type);
    assert_eq!(data_type.storage(), &DataType::FixedUtf32 { len: 3 });
    assert_eq!((data_type.item_size(), data_type.layout()), (12, data_type.storage().layout()));
}

#[test]
fn errors_have_a_pointer() {
    let message = |of: &Value| loud(of).unwrap_err().to_string();
    assert_eq!(message(&json!("quiet")), "unknown data type quiet");
    let of = json!({"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 0}});
    assert_eq!(
        message(&of),
        "/configuration/of/configuration/scale_factor: found 0, expected an integer from 1 to 2147483647"
    );
    let unknown = DataType::from_config(&NamedConfig::new("loud")).unwrap_err();
    assert_eq!(unknown, Error::Unknown { name: "loud".to_owned(), hint: None });
}

#[test]
fn elements_follow_the_definition() {
    let fixed = loud(&json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}})).unwrap();
    let heap = Heap::new();
    for data_type in [
        fixed,
        loud(&json!("string")).unwrap(),
        loud(&json!({"name": "loud", "configuration": {"of": "string"}})).unwrap(),
    ] {
        let fill = FillValue::parse(&data_type, &json!("abc")).unwrap();
        assert_eq!(fill.to_json(&data_type), json!("ABC"), "{data_type}");
        assert_eq!(FillValue::from_bytes(&data_type, fill.bytes()).unwrap(), fill);
        let stored = data_type.as_taken_by::<String>().unwrap();
        assert_eq!(stored, data_type.storage());
        let items = String::to_items(stored, &["X".to_owned()], &heap).unwrap();
        assert_eq!(print::to_json(&data_type, &items, Some(&heap)), json!("X"));
        assert_eq!(print::to_text(&data_type, &items, Some(&heap)).trim_end_matches('!'), "X");
        assert!(print::to_text(&data_type, &items, Some(&heap)).ends_with('!'));
        assert!(data_type.as_taken_by::<f32>().is_err());
        assert_eq!(npy_descr(&data_type), None);
    }
}

#[test]
fn results_of_a_definition_are_checked() {
    let data_type = DataType::Extension(Extension::new(NamedConfig::new("careless"), Arc::new(Careless)).unwrap());
    let message = |value: Value| FillValue::parse(&data_type, &value).unwrap_err().to_string();
    assert_eq!(
        message(json!("ab")),
        r#"found "ab", expected an element of bool: 4 bytes are not a whole number of elements of 1 bytes"#
    );
    assert_eq!(
        message(json!(7)),
        "found 7, expected an element of bool: element 0: found byte 0x37, expected a bool: 0x00 or 0x01"
    );
    let empty = loud(&json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": 67_108_864}}));
    assert!(empty.is_ok(), "as large as may be");
    #[derive(Debug)]
    struct Nothing;
    impl ExtensionType for Nothing {
        fn storage(&self) -> DataType {
            DataType::RawBits(0)
        }
    }
    assert!(Extension::new(NamedConfig::new("nothing"), Arc::new(Nothing)).is_err());
}

#[test]
fn fields_and_lists_have_them() {
    let field = |of: &str| {
        json!({"name": "struct", "configuration": {"fields": [
            {"name": "a", "data_type": "int8"},
            {"name": "b", "data_type": {"name": "old.loud", "configuration": {"of": (of)}}}
        ]}})
    };
    let parse = |value: &Value| types().from_config(&NamedConfig::from_value(value).unwrap());
    let data_type = parse(&field("int16")).unwrap();
    assert_eq!(data_type.item_size(), 3);
    assert_eq!(data_type.to_config().to_value(), field("int16"));
    assert_eq!(print::to_text(&data_type, &[1, 0, 0], None), "(1, 0!)");
    assert_eq!(npy_literal(&data_type), None);
    assert_eq!(
        parse(&field("string")).unwrap_err().to_string(),
        r#"/configuration/fields/1/data_type: found {"name":"old.loud","configuration":{"of":"string"}}, expected a data type of fixed size"#
    );
    let list = json!({"name": "vlen-array", "configuration": {"data_type": {"name": "loud", "configuration": {"of": "int8"}}}});
    let list = parse(&list).unwrap();
    let heap = Heap::new();
    let items = Vec::<i8>::to_items(&DataType::VlenArray(Box::new(DataType::Int8)), &[vec![1, 2]], &heap).unwrap();
    assert_eq!(print::to_text(&list, &items, Some(&heap)), "[1!, 2!]");
}

#[test]
fn the_last_of_a_name_counts() {
    let mut types = types();
    types.add(DataTypeEntry { names: &["int8"], build: |_, _| Ok(Arc::new(Careless)) });
    assert_eq!(types.from_config(&NamedConfig::new("int8")).unwrap().storage(), &DataType::Bool);
    assert_eq!(types.iter().count(), 2);
    assert!(types.get("old.loud").is_some() && types.get("int16").is_none());
    assert_eq!(from_npy_descr("|i1").unwrap().0, DataType::Int8);
}
