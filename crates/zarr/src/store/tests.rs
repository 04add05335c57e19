//! Tests of addresses, schemes and options of stores.

use super::*;
use zarr_store::ErrorKind;

/// Returns the table of this build, with two further kinds of remote stores that are empty stores in memory.
fn table() -> Schemes {
    let mut schemes = schemes();
    let open = |_: &StoreAddress, _: &StoreOptions, _: &Schemes| -> Result<Arc<dyn Store>> {
        Ok(Arc::new(MemoryStore::new()))
    };
    schemes.add(Scheme::url(&["s3", "s3a"], open).any_options());
    schemes.add(Scheme::url(&["http", "https"], open).web().options(&["timeout"]));
    schemes
}

#[track_caller]
fn node(text: &str, store: &str, path: Option<&str>) {
    let (address, found) = table().node(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let shown = address.url().unwrap_or_else(|| address.to_string());
    assert_eq!((shown.as_str(), found.as_deref()), (store, path), "{text}");
    // Parsing the address of the store again gives the same address, also with an explicit root.
    if let Some(scheme) = address.scheme() {
        assert!(store.starts_with(scheme), "{text}");
        assert_eq!(table().address(store).unwrap(), address, "{text}");
        assert_eq!(table().node(&format!("{store}::/")).unwrap(), (address, Some("/".to_owned())), "{text}");
    }
}

#[test]
fn the_path_of_a_node_follows_the_store() {
    node("x.zarr/g/a", "x.zarr", Some("/g/a"));
    node("d/x.zarr/", "d/x.zarr", None);
    node("plain/g", "plain/g", None);
    node("plain::g/a", "plain", Some("g/a"));
    node("plain::/g/a", "plain", Some("/g/a"));
    node("x.zarr/y::/a", "x.zarr/y", Some("/a"));
    node("x.zarr::/a::b", "x.zarr", Some("/a::b"));
    node("x.zarr::", "x.zarr", Some("/"));
    node("file:///d/x.zarr/a%20b", "/d/x.zarr", Some("/a b"));
    node("file://localhost/d%41::/a", "/dA", Some("/a"));
    node("memory:::/a", "memory:", Some("/a"));
    node("MEMORY://", "memory:", None);
    node("s3://bucket/a/x.zarr/group/array", "s3://bucket/a/x.zarr", Some("/group/array"));
    node("S3A://bucket/x.ZARR/y.zarr/a/", "s3a://bucket/x.ZARR", Some("/y.zarr/a"));
    node("s3://bucket.zarr/x", "s3://bucket.zarr/x", None);
    node("s3://bucket/.zarr/x", "s3://bucket/.zarr/x", None);
    node("s3://bucket/x.zarr/y::/a", "s3://bucket/x.zarr/y", Some("/a"));
    node("s3://bucket/a%20b.zarr/c%20d", "s3://bucket/a%20b.zarr", Some("/c%20d"));
    node("https://h:80/x.zarr/c%20d?v=1&w=/", "https://h:80/x.zarr?v=1&w=/", Some("/c d"));
    node("http://[::1]:9000/x.zarr/a", "http://[::1]:9000/x.zarr", Some("/a"));
    node("http://[::1]/x::/a", "http://[::1]/x", Some("/a"));
    node("http://[::1]/x", "http://[::1]/x", None);
}

#[cfg(feature = "zip")]
#[test]
fn zip_files_are_at_any_address() {
    node("zip:a.zip", "zip:a.zip", None);
    node("zip:d/a.zip/g/b", "zip:d/a.zip", Some("/g/b"));
    node("zip:file:///a.zip::/b", "zip:/a.zip", Some("/b"));
    node("zip:s3://bucket/x.zip::/a/b", "zip:s3://bucket/x.zip", Some("/a/b"));
    node("zip:s3://bucket/x.zip/a/b", "zip:s3://bucket/x.zip", Some("/a/b"));
    node("zip::s3://bucket/x.zip", "zip:s3://bucket/x.zip", None);
    node("ZIP::s3://bucket/x.zip::/a", "zip:s3://bucket/x.zip", Some("/a"));
    // `x` is not a scheme, so that it is the path of a node.
    node("zip::x", "zip", Some("x"));
    let (address, _) = table().node("zip:s3://bucket/x.zip::/a").unwrap();
    assert_eq!(address.inner().unwrap().url().as_deref(), Some("s3://bucket/x.zip"));
    assert!(table().open(&address, &StoreOptions::new()).unwrap_err().is_not_found());
    // The file is a value of the store above it.
    let mut schemes = table();
    schemes.add(Scheme::url(&["s3"], |above, _, _| {
        assert_eq!(above.url().as_deref(), Some("s3://bucket"));
        let store = MemoryStore::new();
        // The end record of a zip file without entries.
        store.set_all(&Key::new("x.zip")?, &[&b"PK\x05\x06"[..], &[0; 18]].concat())?;
        Ok(Arc::new(store))
    }));
    assert_eq!(schemes.open(&address, &StoreOptions::new()).unwrap().list().unwrap(), []);
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_files_are_opened_and_made() {
    node("sqlite:a/b.sqlite", "sqlite:a/b.sqlite", None);
    node("sqlite:a/b.DB/g/x", "sqlite:a/b.DB", Some("/g/x"));
    node("sqlite:a/b::/g", "sqlite:a/b", Some("/g"));
    let folder = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", folder.path().join("x").display());
    assert!(open(&address).unwrap_err().is_not_found());
    let wal = StoreOptions::new().set("journal", "wal").set("busy_timeout", "0.5");
    let store = create_with(&address, &wal).unwrap();
    store.set_all(&Key::new("a").unwrap(), b"1").unwrap();
    assert!(folder.path().join("x-wal").exists());
    assert_eq!(open(&address).unwrap().list().unwrap().len(), 1);
    // The file exists, so that the names behind it are the path of a node.
    node(&format!("{address}/a/b"), &address, Some("/a/b"));
    let read_only = open_with(&address, &"read_only=true".parse().unwrap()).unwrap();
    assert!(!read_only.capabilities().write);
    for (option, word) in [
        ("journal=none", "option journal: expected rollback or wal"),
        ("busy_timeout=-1", "option busy_timeout: expected a number of seconds"),
        ("busy_timeout=soon", "a number"),
        ("read_only=yes", "expected true or false"),
        ("x=1", "option x is not known, expected busy_timeout, journal or read_only"),
    ] {
        let error = open_with(&address, &option.parse().unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn what_is_no_scheme_is_a_path() {
    for text in
        ["C:\\x.zarr", "c:/x", "C://x", "/a:b", "./memory:", "a b:c", "1a:b", "x:", "unknown:x", "", "a\u{e4}:x"]
    {
        let address = table().address(text).unwrap();
        assert_eq!((address.scheme(), address.path()), (None, Some(std::path::Path::new(text))), "{text}");
    }
}

#[test]
fn a_path_that_is_there_is_one_whatever_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("a::b");
    let text = odd.display().to_string();
    node(&text, &folder.path().join("a").display().to_string(), Some("b"));
    std::fs::create_dir(&odd).unwrap();
    node(&text, &text, None);
}

#[test]
fn addresses_that_cannot_be() {
    for (text, word) in [
        ("ftp://host/a", "ftp://host/a: no store for addresses of this kind, expected a path, file://, memory:, "),
        ("gopher://u:SECRET@host/a?SECRET", "gopher://host/a?...: no store"),
        ("s3://KEY:SECRET@bucket/x?versionId=SECRET", "s3://bucket/x?...: the address has a ? or #"),
        ("s3://b/x#SECRET", "settings are options of the store"),
        ("s3:bucket/x", "expected s3://"),
        ("s3:///x", "found no name behind the //"),
        ("file://host/a", "expected file:///path"),
        ("file:a", "expected file://"),
        ("file:///a%zz", "expected file:///path"),
        ("file:///a?b", "the address has a ?"),
        ("memory:x", "expected nothing"),
        ("http://h/x.zarr/%zz", "not percent-encoded"),
        #[cfg(feature = "zip")]
        ("zip:", "found nothing behind the colon"),
        #[cfg(feature = "zip")]
        ("zip://a/b::s3://bucket/x.zip", "expected zip:ADDRESS"),
        #[cfg(feature = "sqlite")]
        ("sqlite:s3://bucket/x", "expected a path"),
    ] {
        let error = table().node(text).map(|(address, _)| address).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        let error = format!("{error} {error:?}");
        assert!(error.contains(word) && !error.contains("SECRET"), "{text}: {error}");
    }
    let error = table().address("x.zarr::/a").unwrap_err().to_string();
    assert_eq!(error, "x.zarr: found the path \"/a\" of a node, expected the address of a store");
}

#[test]
fn options_have_to_be_known() {
    let table = table();
    let open = |text: &str, options: &StoreOptions| table.open(&table.address(text).unwrap(), options);
    let options = StoreOptions::new().set("region", "eu").set("timeout", "5");
    open("s3://b/x", &options).unwrap();
    assert_eq!(
        open("https://h/x", &options).unwrap_err().to_string(),
        "https://h/x: option region is not known, expected timeout"
    );
    assert_eq!(
        open("memory:", &options).unwrap_err().to_string(),
        "memory:: option region is not known, which has no options"
    );
    let of = |text: &str| table.options_for(&table.address(text).unwrap(), &options).unwrap();
    assert_eq!(of("s3://b"), options);
    assert_eq!(of("https://h/x").pairs(), [("timeout".to_owned(), "5".to_owned())]);
    assert!(of("memory:").is_empty());
    let secret = StoreOptions::new().set("password", "SECRET");
    assert_eq!(format!("{secret:?}"), "[\"password\"]");
    assert_eq!("a=b=c".parse::<StoreOptions>().unwrap().get("a"), Some("b=c"));
    for text in ["SECRET", "=SECRET", ""] {
        assert!(!text.parse::<StoreOptions>().unwrap_err().to_string().contains("SECRET"));
    }
    assert_eq!(options.clone().set("region", "us").get("region"), Some("us"));
}

#[test]
fn a_table_of_ones_own_opens_nodes() {
    let shared: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut schemes = schemes();
    let open = {
        let shared = Arc::clone(&shared);
        move |address: &StoreAddress, options: &StoreOptions, _: &Schemes| {
            assert_eq!(options.get("k"), Some("v"), "{address}");
            Ok(Arc::clone(&shared))
        }
    };
    schemes.add(Scheme::url(&["mine"], open.clone()).create(open).options(&["k"]));
    let new = crate::NewArray::new(&[2], "int8");
    crate::create("mine://h/x.zarr/g/a").schemes(&schemes).store_option("k", "v").array(new).unwrap();
    let begun = crate::open("mine://h/x.zarr/g/a").schemes(&schemes).store_option("k", "v");
    assert_eq!(begun.array().unwrap().path().to_string(), "/g/a");
    assert!(crate::open("mine://h/x.zarr").node().unwrap_err().to_string().contains("no store for addresses"));
    let error = crate::open((&shared, "/g")).store_option("k", "v").group().unwrap_err();
    assert!(error.to_string().contains("the store is open already"), "{error}");
    let error = crate::create("memory:").store_option("k", "v").group(crate::NewGroup::default()).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Argument);
}

#[test]
#[cfg(not(feature = "zip"))]
fn zip_files_name_their_feature() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("x.zip");
    std::fs::write(&path, b"PK").expect("written");
    let path = path.to_str().expect("UTF-8");
    for address in [path.to_owned(), format!("zip:{path}"), format!("{path}/a")] {
        let error = crate::open(&address).node().expect_err("no zip files");
        assert!(error.to_string().contains("feature `zip`"), "{error}");
        assert_eq!(error.kind(), crate::ErrorKind::Argument);
    }
}

#[test]
#[cfg(not(feature = "sqlite"))]
fn sqlite_files_name_their_feature() {
    for opened in [open("sqlite:x"), create("sqlite:x")] {
        let error = opened.expect_err("no SQLite files").to_string();
        assert!(error.contains("feature `sqlite`"), "{error}");
    }
}

#[test]
#[cfg(not(feature = "filesystem"))]
fn directories_name_their_feature() {
    for opened in [open("x.zarr"), create("x.zarr"), open("file:///x.zarr")] {
        let error = opened.expect_err("no directories").to_string();
        assert!(error.contains("feature `filesystem`"), "{error}");
    }
}

#[test]
#[cfg(feature = "filesystem")]
fn opening() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("x.zarr");
    let path = path.to_str().expect("UTF-8");
    assert!(open(path).expect_err("not there").is_not_found());
    assert_eq!(create(path).expect("made").to_string(), path);
    assert_eq!(open(&format!("file://{path}")).expect("there").to_string(), path);
    open_with(path, &"durability=full".parse().unwrap()).expect("there");
    let error = open_with(path, &"durability=much".parse().unwrap()).expect_err("refused").to_string();
    assert_eq!(error, format!("{path}: option durability: expected none, file or full"));
}
