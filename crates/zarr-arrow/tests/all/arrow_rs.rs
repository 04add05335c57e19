//! Batches as types of arrow-rs: the same elements in the same memory.

use crate::{add, counted, group, new, table};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::DataType;
use std::ops::Range;
use zarr_arrow::{Batch, BatchReader, Batches, Data, TableOptions};

/// Checks that arrow-rs has the batch without a copy, and returns it.
pub(crate) fn converted(batch: &Batch) -> RecordBatch {
    let found = RecordBatch::try_from(batch).unwrap();
    assert_eq!((found.num_rows(), found.num_columns()), (batch.rows(), batch.columns().len()));
    let mut memory = Vec::new();
    batch.columns().iter().for_each(|data| ranges(data, &mut memory));
    for (array, data) in found.columns().iter().zip(batch.columns()) {
        assert_eq!((array.len(), array.null_count()), (data.len(), data.null_count()));
        check_memory(array, &memory);
    }
    found
}

fn ranges(data: &Data, into: &mut Vec<Range<usize>>) {
    let range = |bytes: &[u8]| bytes.as_ptr() as usize..bytes.as_ptr() as usize + bytes.len();
    into.extend(data.buffers().iter().flatten().map(|buffer| range(buffer.bytes())));
    data.child_data().iter().chain(data.dictionary()).for_each(|data| ranges(data, into));
}

/// Checks that the buffers of an array lie in memory that batches have.
fn check_memory(array: &ArrayRef, memory: &[Range<usize>]) {
    let mut left = vec![array.to_data()];
    while let Some(data) = left.pop() {
        for buffer in data.buffers().iter().filter(|buffer| !buffer.is_empty()) {
            let start = buffer.as_ptr() as usize;
            assert!(memory.iter().any(|range| range.start <= start && start + buffer.len() <= range.end), "{data:?}");
        }
        left.extend(data.child_data().iter().cloned());
    }
}

/// Elements of an array as strings, `None` for nulls.
pub(crate) fn texts(array: &ArrayRef) -> Vec<Option<String>> {
    let text = |at: usize| match array.data_type() {
        DataType::Boolean => array.as_boolean().value(at).to_string(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(at).to_string(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(at).to_string(),
        DataType::Float32 => array.as_primitive::<Float32Type>().value(at).to_string(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(at).to_string(),
        DataType::Utf8View => array.as_string_view().value(at).to_owned(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(at).to_owned(),
        other => panic!("{other}"),
    };
    match array.data_type() {
        DataType::Dictionary(..) => {
            let (keys, values) =
                (array.as_dictionary::<Int32Type>().keys(), texts(array.as_dictionary::<Int32Type>().values()));
            keys.values().iter().map(|key| values[*key as usize].clone()).collect()
        }
        DataType::RunEndEncoded(..) => {
            let runs = array.as_run::<Int32Type>();
            let values = texts(runs.values());
            (0..array.len()).map(|at| values[runs.get_physical_index(at)].clone()).collect()
        }
        _ => (0..array.len()).map(|at| array.is_valid(at).then(|| text(at))).collect(),
    }
}

fn batches(memory: u64) -> Batches {
    let group = group();
    let values: Vec<f32> = (0..4800_u16).map(f32::from).collect();
    add(&group, "v", new(&[8, 20, 30], "float32", &["time", "lat", "lon"]).chunks(&[2, 10, 30]), &values);
    table(&counted(&group), &TableOptions::default().memory(memory).batch_rows(700))
}

#[test]
fn a_reader_has_all_rows_and_their_types() {
    let reader = BatchReader::new(batches(1 << 20)).unwrap();
    let names: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["time", "lat", "lon", "v"]);
    let found: Vec<f32> =
        reader.flat_map(|batch| batch.unwrap().column(3).as_primitive::<Float32Type>().values().to_vec()).collect();
    assert_eq!(found, (0..4800_u16).map(f32::from).collect::<Vec<_>>());
}

#[cfg(feature = "parquet")]
mod parquet_files {
    use super::*;
    use arrow_array::types::TimestampMillisecondType;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use zarr_arrow::ParquetWriter;

    /// Writes batches as a file of Parquet, and reads it.
    pub(crate) fn read_back(batches: Batches) -> Vec<RecordBatch> {
        let mut writer = ParquetWriter::new(Vec::new(), batches.schema()).unwrap();
        batches.for_each(|batch| writer.write(&batch.unwrap()).unwrap());
        let file = bytes::Bytes::from(writer.finish().unwrap());
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        reader.map(Result::unwrap).collect()
    }

    #[test]
    fn rows_and_types_are_those_of_the_table() {
        let expected: Vec<RecordBatch> = BatchReader::new(batches(1 << 20)).unwrap().map(Result::unwrap).collect();
        let found = read_back(batches(4_000));
        assert_eq!(found[0].schema().fields(), expected[0].schema().fields());
        for column in 0..4 {
            let texts = |batches: &[RecordBatch]| -> Vec<_> {
                batches.iter().flat_map(|batch| texts(batch.column(column))).collect()
            };
            assert_eq!(texts(&found), texts(&expected));
        }
    }

    const DATETIME: &str = r#"{"name":"numpy.datetime64","configuration":{"unit":"UNIT","scale_factor":1}}"#;

    /// Makes a table of times along x, in seconds and in days, in batches of 2 rows.
    fn times(seconds: &[i64], days: &[i64]) -> Batches {
        let group = group();
        let len = seconds.len() as u64;
        add(&group, "s", new(&[len], &DATETIME.replace("UNIT", "s"), &["x"]), seconds);
        add(&group, "d", new(&[len], &DATETIME.replace("UNIT", "D"), &["x"]), days);
        table(&counted(&group), &TableOptions::default().variables(["s", "d"]).batch_rows(2))
    }

    #[test]
    fn times_in_seconds_are_in_milliseconds() {
        let found = read_back(times(&[0, 1, i64::MIN, -7, 9], &[i64::MIN, 2, -3, 4, 5]));
        let milliseconds = |column: usize| -> Vec<Option<i64>> {
            let arrays = found.iter().map(|batch| batch.column(column).as_primitive::<TimestampMillisecondType>());
            arrays.flat_map(|array| array.iter().collect::<Vec<_>>()).collect()
        };
        assert_eq!(milliseconds(1), [Some(0), Some(1_000), None, Some(-7_000), Some(9_000)]);
        let day = |days: i64| Some(days * 86_400_000);
        assert_eq!(milliseconds(2), [None, day(2), day(-3), day(4), day(5)]);
        // Readers that do not know Arrow find times, too.
        let batches = times(&[0], &[0]);
        let writer = ParquetWriter::new(Vec::new(), batches.schema()).unwrap();
        let file = bytes::Bytes::from(writer.finish().unwrap());
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        for column in [1, 2] {
            let logical = builder.parquet_schema().column(column).logical_type_ref().cloned();
            assert!(matches!(logical, Some(parquet::basic::LogicalType::Timestamp { .. })), "{logical:?}");
        }
    }

    #[test]
    fn times_in_seconds_within_structs_and_dictionaries_are_in_milliseconds() {
        let group = group();
        let seconds = DATETIME.replace("UNIT", "s");
        let record = format!(
            r#"{{"name":"struct","configuration":{{"fields":[{{"name":"id","data_type":"int64"}},
            {{"name":"at","data_type":{seconds}}}]}}}}"#
        );
        let array = group.create_array("v", new(&[3], &record, &["x"])).unwrap();
        let items: Vec<u8> = [1_i64, 5, 2, i64::MIN, 3, -7].iter().flat_map(|item| item.to_ne_bytes()).collect();
        array.write(.., &zarr_array::ArrayData::from_items(array.data_type(), &[3], &items, None).unwrap()).unwrap();
        add(&group, "x", new(&[3], &seconds, &["x"]), &[10_i64, 20, 30]);
        let options = TableOptions::default().coordinates(zarr_arrow::Coordinates::Dictionary).batch_rows(2);
        let found = read_back(table(&counted(&group), &options));
        let milliseconds =
            |array: &ArrayRef| array.as_primitive::<TimestampMillisecondType>().iter().collect::<Vec<_>>();
        let (mut fields, mut labels) = (Vec::new(), Vec::new());
        for batch in found {
            let column = |name: &str| batch.column_by_name(name).unwrap();
            fields.extend(milliseconds(column("v").as_struct().column(1)));
            labels.extend(milliseconds(column("x")));
        }
        assert_eq!(fields, [Some(5_000), None, Some(-7_000)]);
        assert_eq!(labels, [Some(10_000), Some(20_000), Some(30_000)]);
    }

    #[test]
    fn a_time_that_milliseconds_cannot_hold_is_an_error_with_its_column() {
        let mut batches = times(&[1, i64::MAX / 1_000 + 1], &[0, 0]);
        let mut writer = ParquetWriter::new(Vec::new(), batches.schema()).unwrap();
        let error = writer.write(&batches.next().unwrap().unwrap()).unwrap_err();
        let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<zarr_arrow::Error>());
        let cause = cause.unwrap();
        assert_eq!(cause.kind(), zarr_arrow::ErrorKind::NotExpressible);
        assert!(cause.message().starts_with("column s: row 1: found the time 9223372036854776 in seconds"), "{cause}");
    }

    #[test]
    fn errors_of_the_writer_are_their_sources() {
        let written = |room: usize| {
            let batches = batches(1 << 20);
            let mut writer = ParquetWriter::new(crate::ipc::Full(room), batches.schema())?;
            batches.into_iter().try_for_each(|batch| writer.write(&batch.unwrap()))?;
            writer.finish()
        };
        let whole = 1 << 20;
        let whole = whole - written(whole).unwrap().0;
        for room in [0, 3, whole / 2, whole - 1] {
            let error: parquet::errors::ParquetError = written(room).map(|full| full.0).unwrap_err();
            let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<std::io::Error>());
            assert_eq!(cause.map(std::io::Error::kind), Some(std::io::ErrorKind::StorageFull), "{room}: {error}");
        }
    }

    #[test]
    fn a_table_without_columns_is_refused() {
        let none: [&str; 0] = [];
        let group = group();
        add(&group, "v", new(&[5], "int8", &["x"]), &[0_i8; 5]);
        let batches = table(&counted(&group), &TableOptions::default().columns(none));
        let error = ParquetWriter::new(Vec::new(), batches.schema()).unwrap_err().to_string();
        assert!(error.ends_with("found no columns, expected at least one: Parquet counts rows by columns"), "{error}");
    }

    #[test]
    fn a_batch_of_another_table_is_refused() {
        let mut writer = ParquetWriter::new(Vec::new(), batches(1 << 20).schema()).unwrap();
        let group = group();
        add(&group, "w", new(&[2], "int8", &["x"]), &[1_i8, 2]);
        let other = table(&counted(&group), &TableOptions::default()).next().unwrap().unwrap();
        assert!(writer.write(&other).is_err());
        // Columns of the same types under other names.
        let of = |name: &str| {
            let group = crate::group();
            add(&group, name, new(&[2], "int8", &["x"]), &[1_i8, 2]);
            table(&counted(&group), &TableOptions::default())
        };
        let mut writer = ParquetWriter::new(Vec::new(), of("a").schema()).unwrap();
        let error = writer.write(&of("b").next().unwrap().unwrap()).unwrap_err().to_string();
        assert!(error.ends_with("found a batch of another table, expected the columns of its schema"), "{error}");
        writer.write(&of("a").next().unwrap().unwrap()).unwrap();
    }
}
#[cfg(feature = "parquet")]
pub(crate) use parquet_files::read_back;
