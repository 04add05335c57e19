//! Files and streams of the IPC format, by the rules of the format alone. With feature `parquet`, arrow-ipc reads each table that a test
//! reads; other software reads files in the tests of Python.

use crate::{add, counted, group, new, table};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use zarr_arrow::{Batches, Coordinates, IpcForm, IpcWriter, TableOptions};

fn batches(options: &TableOptions) -> Batches {
    let group = group();
    let values: Vec<f32> = (0..60_u8).map(|value| if value % 7 == 0 { f32::NAN } else { value.into() }).collect();
    add(&group, "v", new(&[3, 20], "float32", &["time", "lat"]), &values);
    table(&counted(&group), options)
}

fn written(form: IpcForm) -> Vec<u8> {
    let batches = batches(&TableOptions::default().batch_rows(25));
    let mut writer = IpcWriter::new(Vec::new(), batches.schema(), form).unwrap();
    batches.for_each(|batch| writer.write(&batch.unwrap()).unwrap());
    writer.finish().unwrap()
}

#[test]
fn a_file_is_a_stream_between_marks() {
    let (file, stream) = (written(IpcForm::File), written(IpcForm::Stream));
    assert_eq!(stream[..4], [255; 4]);
    assert_eq!(stream[stream.len() - 8..], [255, 255, 255, 255, 0, 0, 0, 0]);
    assert_eq!(&file[..8], b"ARROW1\0\0");
    assert_eq!(file[8..8 + stream.len()], stream[..]);
    let (footer, end) = file[8 + stream.len()..].split_at(file.len() - 8 - stream.len() - 10);
    assert_eq!((&end[..4], &end[4..]), (&(footer.len() as i32).to_le_bytes()[..], &b"ARROW1"[..]));
    assert_eq!(stream.len() % 8, 0);
}

/// Writer that has room for some bytes.
pub(crate) struct Full(pub(crate) usize);

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn errors_of_the_writer_are_passed_on() {
    let whole = written(IpcForm::File).len();
    for room in [0, 7, 100, whole / 2, whole - 1, whole] {
        let batches = batches(&TableOptions::default().batch_rows(25));
        let written = IpcWriter::new(Full(room), batches.schema(), IpcForm::File).and_then(|mut writer| {
            batches.into_iter().try_for_each(|batch| writer.write(&batch.unwrap()))?;
            writer.finish()
        });
        match room == whole {
            true => assert_eq!(written.map(|full| full.0).unwrap(), 0),
            false => assert_eq!(written.map(|full| full.0).unwrap_err().kind(), io::ErrorKind::StorageFull),
        }
    }
}

#[test]
fn dictionaries_and_other_tables_are_refused() {
    let dictionary = batches(&TableOptions::default().coordinates(Coordinates::Dictionary));
    let error = IpcWriter::new(Vec::new(), dictionary.schema(), IpcForm::Stream).unwrap_err();
    let expected = "column time: found values in a dictionary, expected values in each row (`Coordinates::Plain`)";
    assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::InvalidInput, expected));
    let plain = batches(&TableOptions::default());
    let mut writer = IpcWriter::new(Vec::new(), plain.schema(), IpcForm::Stream).unwrap();
    let error = writer.write(&dictionary.into_iter().next().unwrap().unwrap()).unwrap_err();
    assert!(error.to_string().starts_with("found a batch of another table"), "{error}");
}

/// Writer whose bytes can be looked at.
#[derive(Clone, Default)]
struct Seen(Rc<RefCell<Vec<u8>>>);

impl io::Write for Seen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_stream_that_breaks_off_ends_within_a_message() {
    let seen = Seen::default();
    let batches = batches(&TableOptions::default().batch_rows(25));
    let schema = batches.schema().clone();
    let buffered = io::BufWriter::with_capacity(1 << 20, seen.clone());
    let mut writer = IpcWriter::new(buffered, &schema, IpcForm::Stream).unwrap();
    for batch in batches.take(2) {
        writer.write(&batch.unwrap()).unwrap();
        // Readers of a stream have each batch at once, and the first bytes of what must follow.
        let bytes = seen.0.borrow();
        assert!(bytes.len() % 8 == 4 && bytes.ends_with(&[255; 4]));
        assert!(written(IpcForm::Stream).starts_with(&bytes));
    }
    drop(writer);
    #[cfg(feature = "parquet")]
    {
        let bytes = seen.0.borrow().clone();
        let mut reader = arrow_ipc::reader::StreamReader::try_new(&bytes[..], None).unwrap();
        let rows: Vec<usize> = reader.by_ref().take(2).map(|batch| batch.unwrap().num_rows()).collect();
        assert_eq!(rows, [25, 25]);
        assert!(reader.next().unwrap().is_err());
    }
}

#[test]
fn a_string_that_rows_share_is_written_once() {
    let group = group();
    let long = "long ".repeat(20_000);
    let array = zarr_array::NewArray::new(&[3_000], "string").dimension_names(&["x"]).codecs("vlen-utf8").unwrap();
    group.create_array("v", array.fill(long.as_str())).unwrap();
    let batches = table(&counted(&group), &TableOptions::default().variables(["v"]));
    let mut writer = IpcWriter::new(Vec::new(), batches.schema(), IpcForm::Stream).unwrap();
    for batch in batches {
        let batch = batch.unwrap();
        #[cfg(feature = "parquet")]
        check_read_back(batch.schema(), std::slice::from_ref(&batch));
        writer.write(&batch).unwrap();
    }
    let stream = writer.finish().unwrap();
    // A view of 16 bytes and an index of 8 in each row.
    assert!(stream.len() < 3_000 * 24 + 2 * long.len(), "{}", stream.len());
    assert_eq!(stream.windows(100).filter(|part| *part == &long.as_bytes()[..100]).count(), long.len() / 5 - 19);
}

/// Writes batches as a stream and as a file, and checks that arrow-ipc reads what arrow-rs has of them without the format.
#[cfg(feature = "parquet")]
pub(crate) fn check_read_back(schema: &std::sync::Arc<zarr_arrow::Schema>, batches: &[zarr_arrow::Batch]) {
    use arrow_array::RecordBatch;
    if schema.fields().iter().any(|field| field.dictionary().is_some()) {
        return;
    }
    for form in [IpcForm::Stream, IpcForm::File] {
        let mut writer = IpcWriter::new(Vec::new(), schema, form).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        let bytes = io::Cursor::new(writer.finish().unwrap());
        let found: Vec<RecordBatch> = match form {
            IpcForm::File => arrow_ipc::reader::FileReader::try_new(bytes, None).unwrap().map(Result::unwrap).collect(),
            _ => arrow_ipc::reader::StreamReader::try_new(bytes, None).unwrap().map(Result::unwrap).collect(),
        };
        assert_eq!(found.len(), batches.len());
        for (found, batch) in found.iter().zip(batches) {
            let expected = RecordBatch::try_from(batch).unwrap();
            assert_eq!(found.num_rows(), expected.num_rows());
            for (field, (found, expected)) in schema.fields().iter().zip(found.columns().iter().zip(expected.columns()))
            {
                match field.format() {
                    // Whether values of runs may be null differs in the types.
                    "+r" => assert_eq!(crate::arrow_rs::texts(found), crate::arrow_rs::texts(expected)),
                    _ => assert_eq!(found.to_data(), expected.to_data(), "{}", field.name()),
                }
            }
        }
    }
}
