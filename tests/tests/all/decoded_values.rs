//! The decoded values of a data set stay the same through conversions between dialects.

use num_complex::Complex32;
use proptest::prelude::*;
use proptest::sample::select;
use std::fmt::Debug;
use std::sync::Arc;
use zarr::codec::IntoCodecs;
use zarr::convert::{Conversion, ConvertOptions};
use zarr::dataset::{IntoValues, NewDataset, NewVariable, Variable};
use zarr::{ArrayData, Dialect, NewGroup};
use zarr_dtype::WriteElement;
use zarr_json::{Value, json};
use zarr_meta::NodePath;
use zarr_store::{MemoryStore, Store};

/// The dialects that have groups.
const DIALECTS: [Dialect; 5] =
    [Dialect::V2, Dialect::V3Protocol2019, Dialect::V3Protocol2020, Dialect::V3Draft2022, Dialect::V3];

/// Elements along the dimension `x`.
const LEN: usize = 4;

/// A variable by its name, its data type, and each value that is not missing.
type Decoded = (String, String, Vec<Option<String>>);

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn meanings(store: &Arc<dyn Store>) -> Vec<Decoded> {
    let dataset = zarr::open(store).dataset().unwrap();
    assert_eq!(dataset.broken().len(), 0, "{:?}", dataset.broken());
    dataset.variables().map(meaning).collect()
}

fn meaning(variable: &Variable) -> Decoded {
    let values = variable.read().unwrap();
    let text = |index| (!values.is_missing(index)).then(|| values.text(index));
    (variable.name().to_owned(), values.data_type().to_string(), (0..values.len()).map(text).collect())
}

fn convert(source: &Arc<dyn Store>, target: &Arc<dyn Store>, options: ConvertOptions) -> zarr::Result<()> {
    Conversion::plan(source, &zarr::registry::default(), options)?.run(target, |_| {}).map(drop)
}

fn to(dialect: Dialect) -> ConvertOptions {
    ConvertOptions::default().dialect(dialect)
}

/// A variable along `x`, or without dimensions.
fn variable(name: &str, is_scalar: bool, values: impl IntoValues) -> NewVariable {
    let values = values.into_values().unwrap();
    if !is_scalar {
        return NewVariable::new(name, &["x"], values).unwrap();
    }
    let data = values.data();
    let first = data.items().get(..data.data_type().item_size()).unwrap();
    NewVariable::new(name, &[], ArrayData::from_items(data.data_type(), &[], first, data.heap().cloned()).unwrap())
        .unwrap()
}

/// Values of few kinds, so that some are marked as missing.
fn few<T: Clone + Debug + 'static>(values: &[T]) -> impl Strategy<Value = Vec<T>> + use<T> {
    proptest::collection::vec(select(values.to_vec()), LEN)
}

/// One of the marks, null for none, or nothing said.
fn mark(marks: &[Value]) -> impl Strategy<Value = Option<Value>> + use<> {
    select(marks.iter().cloned().map(Some).chain([None, Some(Value::Null)]).collect::<Vec<_>>())
}

fn marked(variable: NewVariable, attribute: &str, mark: Option<Value>) -> NewVariable {
    mark.into_iter().fold(variable, |variable, mark| variable.encoding(attribute, mark))
}

fn integers<T>(name: &'static str) -> BoxedStrategy<NewVariable>
where
    T: WriteElement + TryFrom<u8, Error: Debug> + Clone + Debug + 'static,
{
    let numbers = [0, 1, 7].map(|number| T::try_from(number).unwrap());
    let attribute = select(vec!["_FillValue", "missing_value"]);
    (any::<bool>(), few(&numbers), attribute, mark(&[json!(0), json!(7), json!(100)]))
        .prop_map(move |(is_scalar, values, attribute, mark)| {
            marked(variable(name, is_scalar, values), attribute, mark)
        })
        .boxed()
}

fn of_values<T>(name: &'static str, values: &[T], marks: &[Value]) -> BoxedStrategy<NewVariable>
where
    T: WriteElement + Clone + Debug + 'static,
{
    (any::<bool>(), few(values), mark(marks))
        .prop_map(move |(is_scalar, values, mark)| marked(variable(name, is_scalar, values), "_FillValue", mark))
        .boxed()
}

fn variables(name: &'static str) -> BoxedStrategy<NewVariable> {
    let floats = of_values(name, &[0.0_f32, 1.5, f32::NAN, -1.0], &[json!("NaN"), json!(-1)]);
    let scaled = of_values(name, &[0.0_f32, 1.5, f32::NAN], &[json!("NaN"), json!(0)])
        .prop_map(|new| new.stored_as("float32").encoding("scale_factor", 0.5));
    let packed = (any::<bool>(), few(&[10.0_f64, 10.5, f64::NAN, 12.0]), select(vec![0, 4, -1]));
    let packed = packed.prop_map(move |(is_scalar, values, mark)| {
        let new = variable(name, is_scalar, values).stored_as("int16").encoding("scale_factor", 0.5);
        new.encoding("add_offset", 10.0).encoding("_FillValue", mark)
    });
    let strings = of_values(name, &["", "a", "é"].map(str::to_owned), &[json!(""), json!("a")]);
    let bools = of_values(name, &[false, true], &[json!(false), json!(true)]);
    let times = (of_values(name, &[0_i64, 1, 400], &[json!(0), json!(1)]), select(vec!["standard", "noleap"]));
    let times =
        times.prop_map(|(new, calendar)| new.encoding("units", "days since 2000-01-01").encoding("calendar", calendar));
    let spans = of_values(name, &[0_i32, 1, 48], &[json!(0)])
        .prop_map(|new| new.attribute("units", "hours").attribute("dtype", "timedelta64[ns]"));
    let complex = [Complex32::new(0.0, 0.0), Complex32::new(1.0, 0.0), Complex32::new(0.5, 2.0)];
    let complex = of_values(name, &complex, &[json!([0, 0]), json!([1, 0])]);
    let numbers = prop_oneof![
        integers::<i16>(name),
        integers::<u8>(name),
        integers::<i32>(name),
        integers::<i64>(name),
        integers::<u64>(name)
    ];
    prop_oneof![
        2 => numbers,
        1 => floats,
        1 => scaled,
        1 => packed,
        1 => strings,
        1 => bools,
        1 => times,
        1 => spans,
        1 => complex,
    ]
    .boxed()
}

/// How many data sets each law looks at: `PROPTEST_CASES`, and 128 without it.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() { default } else { ProptestConfig { cases: 128, ..default } }
}

proptest! {
    #![proptest_config(cases())]

    /// Fill values mark missing data in some dialects, and mean nothing in the others.
    // clause: xarray-26
    #[test]
    fn values_stay_through_any_two_conversions(
        variables in (variables("a"), variables("b"), variables("c")),
        dialects in [select(&DIALECTS[..]), select(&DIALECTS[..]), select(&DIALECTS[..])],
    ) {
        let [first, second, third] = dialects;
        let source = memory();
        let (a, b, c) = variables;
        let new = NewDataset::new().variable(a).variable(b).variable(c).dialect(first);
        zarr::create(&source).dataset(new).unwrap();
        let expected = meanings(&source);
        let (between, last) = (memory(), memory());
        convert(&source, &between, to(second)).unwrap();
        prop_assert_eq!(meanings(&between), expected.clone());
        convert(&between, &last, to(third)).unwrap();
        prop_assert_eq!(meanings(&last), expected);
    }

    /// Elements that are copied as they are stored mean the same, in any dialect.
    #[test]
    fn values_stay_in_variables_that_are_like_others(
        variables in (variables("a"), variables("b"), variables("c")),
        first in select(&DIALECTS[..]),
        second in select(&DIALECTS[..]),
    ) {
        let (source, target) = (memory(), memory());
        let (a, b, c) = variables;
        let new = NewDataset::new().variable(a).variable(b).variable(c).dialect(first);
        let dataset = zarr::create(&source).dataset(new).unwrap();
        let like = |variable| NewVariable::like(variable).unwrap();
        let new = dataset.variables().fold(NewDataset::new(), |new, variable| new.variable(like(variable)));
        let copy = zarr::create(&target).dataset(new.dialect(second)).unwrap();
        for (from, to) in dataset.variables().zip(copy.variables()) {
            to.stored().write(.., &from.read_stored().unwrap()).unwrap();
            let [copied, given] = [to, from].map(|variable| Value::from(variable.encoding()));
            prop_assert!(copied.semantically_eq(&given), "{} became {}", given, copied);
            prop_assert_eq!(to.attributes(), from.attributes());
        }
        prop_assert_eq!(meanings(&target), meanings(&source));
    }

    /// In version 1 a variable is alone, and its group is that of the conversion after it.
    #[test]
    fn values_stay_where_a_store_is_one_array(
        variable in variables("a"),
        first in select(&DIALECTS[..]),
        last in select(&DIALECTS[..]),
    ) {
        let source = memory();
        zarr::create(&source).dataset(NewDataset::new().variable(variable).dialect(first)).unwrap();
        let name = NodePath::root().join("a").unwrap();
        let (alone, target) = (memory(), memory());
        let options = to(Dialect::V1).node(name.clone()).to(NodePath::root());
        let expected = meanings(&source);
        // It has no strings of any length.
        prop_assume!(expected.iter().all(|(_, data_type, _)| data_type != "string"));
        convert(&source, &alone, options.codecs("bytes".into_codecs().unwrap())).unwrap();
        zarr::create(&target).group(NewGroup::new().dialect(last)).unwrap();
        convert(&alone, &target, to(last).to(name)).unwrap();
        prop_assert_eq!(meanings(&target), expected);
    }
}
