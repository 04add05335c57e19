//! Servers that are not there, or do not answer.

use crate::folder::Folder;
use zarr_testserver::{Bucket, Fault, FaultKind, TestServer};

#[test]
fn servers_that_are_not_there_are_told_at_once_and_others_after_a_while() {
    let folder = Folder::new();
    let bucket = ["--store-option", "endpoint=http://127.0.0.1:1", "--store-option", "anonymous=true"];
    let runs = [
        folder.run(&["tree", "http://127.0.0.1:1/x"]),
        folder.run(&["tree", "https://no-such-host.invalid/x"]),
        folder.run(&[&["tree", "s3://data/x"], &bucket[..]].concat()),
    ];
    for ran in runs {
        assert_eq!(ran.code, Some(5), "{}", ran.err);
        assert!(ran.err.contains(": 2 attempts in ") && !ran.err.contains("warning:"), "{}", ran.err);
    }
    // One that has answered is asked for longer, which a line says.
    let server = TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap();
    server.fault(Fault::new(FaultKind::status(503)).always());
    let endpoint = format!("endpoint={}", server.url());
    let given = ["anonymous=true", &endpoint, "deadline=4"].map(|option| ["--store-option", option]).concat();
    let ran = folder.run(&[&["tree", "s3://data/x"], &given[..]].concat());
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    let lines: Vec<&str> = ran.err.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert!(lines.len() == 1 && lines[0].contains("): tried again for up to "), "{}", ran.err);
    assert!(lines[0].contains("the service answered 503 Service Unavailable ("), "{}", ran.err);
}
