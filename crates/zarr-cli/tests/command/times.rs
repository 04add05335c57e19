//! Dates and durations as people write them.

use crate::folder::Folder;

#[test]
fn dates_are_iso_text_in_and_out() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "t", "--shape", "4", "--chunks", "2", "--dtype", "M8[s]", "--fill", "2000-01-01"]);
    assert_eq!(folder.ok(&["read", "s", "t", "--select", "0"]), "2000-01-01T00:00:00\n");
    let write = |path: &str, form: &str, text: &str| {
        folder.run_with(&["write", "s", path, "--from", "-", "--as", form], text.as_bytes())
    };
    let json = "[\"1969-12-31T23:59:59\", \"2024-02-29T12:00:00\", \"NaT\", \"1970-01-01T00:00:05\"]\n";
    let ran = write("t", "json", r#"["1969-12-31T23:59:59Z", "2024-02-29 12:00", "NaT", 5]"#);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(folder.ok(&["read", "s", "t", "--as", "json"]), json);
    let csv = folder.ok(&["read", "s", "t", "--as", "csv"]);
    assert_eq!(csv, "1969-12-31T23:59:59\n2024-02-29T12:00:00\nNaT\n1970-01-01T00:00:05\n");
    for (form, text) in [("csv", csv.as_str()), ("json", json)] {
        folder.ok(&["create", "s", form, "--shape", "4", "--dtype", "M8[s]"]);
        assert_eq!(write(form, form, text).code, Some(0));
        assert_eq!(folder.raw("s", form), folder.raw("s", "t"));
    }
    for wrong in ["2024-02-30", "2024-02-29T12:00:00.5", "yesterday", "9999999999999-01-01T00:00:00"] {
        let ran = write("t", "json", &format!("[\"{wrong}\", 0, 0, 0]"));
        assert_eq!(ran.code, Some(4), "{wrong}");
        assert!(ran.err.contains("a date that the unit s can say"), "{}", ran.err);
    }
    let ran = folder.run(&["create", "s", "x", "--shape", "4", "--dtype", "M8[D]", "--fill", "2000-01-01T12"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
}

#[test]
fn durations_years_and_structs() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "d", "--shape", "2", "--dtype", "m8[ms]", "--fill", "2 s"]);
    let ran = folder.run_with(&["write", "s", "d", "--from", "-", "--as", "csv", "--select", "0:1"], b"-5 ms\n");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(folder.ok(&["read", "s", "d", "--as", "json"]), "[\"-5 ms\", \"2000 ms\"]\n");
    // A year is no count.
    folder.ok(&["create", "s", "y", "--shape", "2", "--dtype", "M8[Y]"]);
    let ran = folder.run_with(&["write", "s", "y", "--from", "-", "--as", "csv"], b"1999\n-0001\n");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(folder.ok(&["read", "s", "y", "--as", "csv"]), "1999\n-0001\n");
    assert_eq!(folder.ok(&["read", "s", "y"]), "1999\n-0001\n");
    let data_type = r#"[["when", "<M8[D]"], ["n", "<i4"]]"#;
    folder.ok(&["create", "s", "r", "--shape", "1", "--dtype", data_type]);
    let row = b"when,n\n2024-02-29,3\n";
    let ran = folder.run_with(&["write", "s", "r", "--from", "-", "--as", "csv"], row);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(folder.ok(&["read", "s", "r", "--as", "csv"]).as_bytes(), row);
    assert_eq!(folder.ok(&["read", "s", "r", "--as", "json"]), "[{\"when\":\"2024-02-29\",\"n\":3}]\n");
}

#[test]
fn an_output_that_cannot_be_written_is_a_failure_of_a_file() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "i4"]);
    let ran = folder.run(&["read", "s", "a", "-o", "nowhere/x"]);
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    assert!(ran.err.contains("nowhere/x: No such file or directory"), "{}", ran.err);
}
