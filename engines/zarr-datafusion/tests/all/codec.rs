//! Plans that another process opens.

use crate::{add, group, new, rows, session, session_of};
use datafusion::physical_plan::collect;
use datafusion::prelude::SessionContext;
use datafusion_proto::bytes::{
    logical_plan_from_bytes_with_extension_codec, logical_plan_to_bytes_with_extension_codec,
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use std::path::Path;
use zarr::NewGroup;
use zarr::arrow::TableOptions;
use zarr_datafusion::{ZarrCodec, ZarrTable};

const QUERY: &str = "SELECT x, sum(v) AS sum, count(*) FROM t WHERE x >= 2 AND x <> 5 AND y < 3 GROUP BY x ORDER BY x";

fn create(folder: &Path, len: u64) {
    let group = zarr::create(folder).group(NewGroup::new()).unwrap();
    let values: Vec<i32> = (0..len as i32 * 4).collect();
    add(&group, "v", new(&[len, 4], "int32", &["x", "y"]).chunks(&[3, 2]), &values);
}

fn opened(folder: &Path) -> SessionContext {
    let address = folder.to_str().unwrap();
    session(ZarrTable::open(address, &TableOptions::default()).unwrap(), 3)
}

#[tokio::test(flavor = "multi_thread")]
async fn decoded_plans_have_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    create(folder.path(), 10);
    let session = opened(folder.path());
    let codec = ZarrCodec::default();
    let expected = rows(&session, QUERY).await;
    assert_eq!(expected.len(), 7);
    let plan = session.sql(QUERY).await.unwrap();
    let logical = logical_plan_to_bytes_with_extension_codec(plan.logical_plan(), &codec).unwrap();
    let physical = plan.create_physical_plan().await.unwrap();
    let physical = physical_plan_to_bytes_with_extension_codec(physical, &codec).unwrap();
    // A process that has no table.
    let other = SessionContext::new();
    let logical = logical_plan_from_bytes_with_extension_codec(&logical, &other.task_ctx(), &codec).unwrap();
    let found = other.execute_logical_plan(logical).await.unwrap().collect().await.unwrap();
    let physical = physical_plan_from_bytes_with_extension_codec(&physical, &other.task_ctx(), &codec).unwrap();
    for batches in [found, collect(physical, other.task_ctx()).await.unwrap()] {
        let text = datafusion::arrow::util::pretty::pretty_format_batches(&batches).unwrap().to_string();
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).skip(1).collect();
        assert_eq!(lines.len(), expected.len());
        for (line, expected) in lines.iter().zip(&expected) {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            assert_eq!(&cells.join("|"), expected);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_of_what_has_changed_and_of_no_address_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    create(folder.path(), 10);
    let plan = opened(folder.path()).sql(QUERY).await.unwrap().create_physical_plan().await.unwrap();
    let codec = ZarrCodec::default();
    let bytes = physical_plan_to_bytes_with_extension_codec(plan, &codec).unwrap();
    std::fs::remove_dir_all(folder.path()).unwrap();
    create(folder.path(), 11);
    let other = SessionContext::new();
    let error = physical_plan_from_bytes_with_extension_codec(&bytes, &other.task_ctx(), &codec).unwrap_err();
    assert!(error.to_string().contains("(\"x\", 10)"), "{error}");
    for end in [bytes.len() / 2, bytes.len() - 1] {
        assert!(physical_plan_from_bytes_with_extension_codec(&bytes[..end], &other.task_ctx(), &codec).is_err());
    }
    let group = group();
    add(&group, "v", new(&[2], "int32", &["x"]), &[1, 2]);
    let plan = session_of(&group, 1).sql("SELECT v FROM t").await.unwrap().create_physical_plan().await.unwrap();
    let error = physical_plan_to_bytes_with_extension_codec(plan, &codec).unwrap_err();
    assert!(error.to_string().contains("without an address"), "{error}");
}

/// Returns the bytes of a plan with `from` replaced in the message of its read, by text that is as long.
fn altered(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let place = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
    [&bytes[..place], to.as_bytes(), &bytes[place + from.len()..]].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_describe_no_read_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    create(folder.path(), 10);
    let plan = opened(folder.path()).sql("SELECT x, v FROM t WHERE x >= 2 AND x <> 5 ORDER BY x").await.unwrap();
    let codec = ZarrCodec::default();
    let plan = plan.create_physical_plan().await.unwrap();
    let bytes = physical_plan_to_bytes_with_extension_codec(plan, &codec).unwrap();
    let other = SessionContext::new();
    let decode = |bytes: &[u8]| physical_plan_from_bytes_with_extension_codec(bytes, &other.task_ctx(), &codec);
    decode(&bytes).unwrap();
    for (from, to, expected) in [
        (r#"{"start":6,"end":10}"#, r#"{"start":6,"end":11}"#, "a selection outside of the table"),
        (r#"{"start":2,"end":5}"#, r#"{"start":2,"end":7}"#, "indices that do not ascend"),
        (r#"{"start":2,"end":5}"#, r#"{"start":5,"end":2}"#, "indices that do not ascend"),
        (r#""ordering":[[0,"#, r#""ordering":[[9,"#, "an order by column 9 of 2"),
        (r#"["v","Int32"]"#, r#"["v","Int64"]"#, "column v: found Int32, expected Int64 as of the plan"),
        (r#""limit":"#, r#""timit":"#, "unknown field"),
    ] {
        let error = decode(&altered(&bytes, from, to)).unwrap_err().to_string();
        assert!(error.contains(expected), "{to}: {error}");
    }
}
