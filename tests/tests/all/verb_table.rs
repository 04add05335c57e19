//! The table of verbs beside each other in the documentation is that by which the tests of processes judge them.

use zarr_tests::processes::verbs_beside_each_other;

#[test]
fn the_table_of_verbs_beside_each_other_is_that_of_their_tests() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/consistency.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let heading = "## Verbs beside each other\n";
    let section = text.find(heading).expect("a section");
    let begin = section + text[section..].find("\n| |").expect("a table") + 1;
    let end = begin + text[begin..].find("\n\n## ").expect("a section behind it") + 1;
    let table = verbs_beside_each_other();
    if std::env::var_os("ZARR_BLESS").is_some() {
        std::fs::write(&path, [&text[..begin], &table, &text[end..]].concat()).unwrap();
        return;
    }
    assert_eq!(text[begin..end], table, "ZARR_BLESS=1 writes it");
}
