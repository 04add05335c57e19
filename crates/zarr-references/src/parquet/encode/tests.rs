//! Tests of invalid files: an error shows the place of the fault, and the reader does not panic.

use proptest::prelude::*;

use super::super::{Budget, Record, Row};
use super::*;

const LIMIT: u64 = 1 << 20;

fn read(file: &[u8], rows: u64) -> Result<Record, String> {
    let read = Record::read(file, rows, 100, &mut Budget::new(LIMIT));
    read.map_err(|bad| format!("{}: found {}, expected {}", bad.place, bad.found, bad.expected))
}

/// Returns rows of each kind of reference.
fn some_rows() -> Rows {
    let mut rows = Rows::default();
    for row in 0..40 {
        rows.push_path(if row % 7 == 0 { "a.bin" } else { "b.bin" }, row * 100, 10);
    }
    rows.push_raw(b"bytes");
    rows.fill(45);
    rows
}

/// Name and type of a column, the number and bytes of the values of its dictionary, and the content of its page of values.
type Column<'a> = (&'static str, i64, Option<(usize, &'a [u8])>, &'a [u8]);

/// Returns a file with these columns, whose pages are given without compression.
fn file(rows: usize, columns: &[Column<'_>]) -> Vec<u8> {
    let mut file = File { bytes: b"PAR1".to_vec(), columns: Vec::new(), rows };
    for (name, kind, dictionary, page) in columns {
        file.column(name, *kind, 0, *dictionary, page).expect("compressed");
    }
    file.end()
}

#[test]
fn rows_are_read_as_they_were_written() {
    let record = read(&some_rows().encode().expect("a file"), 45).expect("a record");
    assert_eq!(record.row(0), Row::Path("a.bin", Some(0..10)));
    assert_eq!(record.row(39), Row::Path("b.bin", Some(3900..3910)));
    assert_eq!(record.row(40), Row::Raw(zarr_store::Bytes::from_static(b"bytes")));
    assert_eq!((record.row(41), record.row(45), record.next(41)), (Row::Missing, Row::Missing, None));
    // The record is cut off by the end of its array.
    assert_eq!(read(&some_rows().encode().expect("a file"), 3).expect("a record").next(3), None);
}

#[test]
fn faults_have_a_column_and_a_row() {
    let there = |count: usize| levels(std::iter::repeat_n(true, count));
    let with = |values: &[u8]| [&there(2)[..], values].concat();
    let text = |text: &[u8]| {
        let mut page = Vec::new();
        put_text(&mut page, text);
        page
    };
    let texts = [text(b"a"), text(b"b")].concat();
    let paths = with(&texts);
    let numbers = |values: [i64; 2]| values.map(i64::to_le_bytes).concat();
    let good = numbers([0, 10]);
    let path = |page: &[u8]| {
        file(2, &[(PATH, BYTE_ARRAY, None, page), (OFFSET, INT64, None, &good), (SIZE, INT64, None, &good)])
    };
    let dictionary = |count, values: &[u8], page: &[u8]| file(2, &[(PATH, BYTE_ARRAY, Some((count, values)), page)]);
    let sizes = |kind, page: &[u8]| {
        file(2, &[(PATH, BYTE_ARRAY, None, &paths), (OFFSET, INT64, None, &good), (SIZE, kind, None, page)])
    };
    read(&path(&paths), 2).expect("a record");
    let sound = path(&paths);
    for (file, expected) in [
        (Vec::new(), "byte 0: found other bytes, expected PAR1"),
        (b"PAR1".to_vec(), "byte 4: found other bytes, expected PAR1, with which a file of Parquet ends"),
        (b"PAR1\xff\xff\0\0PAR1".to_vec(), "byte 4: found a footer that is longer than the file"),
        (b"PAR1\0\0\0\0PARE".to_vec(), "byte 4: found an encrypted footer"),
        (sound[..sound.len() - 1].to_vec(), "expected PAR1, with which a file of Parquet ends"),
        (file(1, &[(PATH, BYTE_ARRAY, None, &paths)]), "footer: found 1 rows, expected a row for each of 2 chunks"),
        (file(101, &[]), "footer: found 101 rows"),
        (
            path(&with(&text(b"a"))),
            "column path, row 1: found a value that is cut off, expected a value of type BYTE_ARRAY",
        ),
        (path(&with(&[9, 0, 0, 0])), "column path, row 0: found a value that is cut off"),
        (path(&with(&[text(b"a"), text(b"\xe4")].concat())), "column path: found the bytes"),
        (path(&[9, 0, 0, 0]), "column path: found levels that are cut off"),
        (path(&[1, 0, 0, 0, 6]), "column path: found runs that are cut off, expected 2 values"),
        (
            dictionary(2, &texts[..9], &with(&[1, 4, 0])),
            "column path: found a dictionary that is cut off, or has no texts",
        ),
        (
            dictionary(4, &texts, &with(&[1, 4, 0])),
            "column path: found a dictionary of 4 values, expected at most a fourth",
        ),
        (dictionary(2, &texts, &with(&[2, 4, 2])), "column path, row 0: found an index outside of the dictionary"),
        (dictionary(2, &texts, &with(&[33, 4, 0])), "column path: found integers of 33 bits, expected at most 32"),
        (sizes(INT64, &numbers([5, -1])), "column size, row 1: found -1, expected an integer that is not negative"),
        (sizes(INT64, &good[..9]), "column size, row 1: found a value that is cut off, expected a value of type INT64"),
        (sizes(4, &good), "column size, row 0: found a value that is cut off, expected a value of type FLOAT"),
        (file(2, &[(PATH, BYTE_ARRAY, None, &paths)]), "column offset, row 0: found no value"),
        (path(&vec![0; LIMIT as usize + 1]), "column path: found more bytes of pages, expected at most 1048576"),
    ] {
        let error = read(&file, 2).expect_err(expected);
        assert!(error.starts_with(expected) || error.contains(expected), "{error}\n{expected}");
    }
    let rows = read(&file(200, &[]), 101).expect_err("too many");
    assert!(rows.contains("no more than the 100 of a record"), "{rows}");
    // pyarrow writes all values of a dictionary for each group of rows, also values that no row of the group has.
    let three = [text(b"a"), text(b"b"), text(b"c")].concat();
    let rows = with(&[2, 4, 2]);
    let columns = [
        (PATH, BYTE_ARRAY, Some((3, &three[..])), &rows[..]),
        (OFFSET, INT64, None, &good),
        (SIZE, INT64, None, &good),
    ];
    let record = read(&file(2, &columns), 2).expect("a record");
    assert_eq!(record.row(1), Row::Path("c", Some(10..20)));
    // All rows are null, which is valid for any type of the column.
    let nulls = levels(std::iter::repeat_n(false, 2));
    let record =
        read(&file(2, &[(PATH, BYTE_ARRAY, None, &nulls), (RAW, BYTE_ARRAY, None, &nulls)]), 2).expect("a record");
    assert_eq!(record.next(0), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_are_read_or_refused(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in 0..3_usize) {
        let mut bytes = some_rows().encode().expect("a file");
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len() - cut);
        if let Ok(record) = read(&bytes, 45) {
            for row in 0..46 {
                record.row(row);
            }
            prop_assert!(record.size() < 1 << 21);
        }
    }
}
