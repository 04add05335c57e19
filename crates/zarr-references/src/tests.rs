//! Tests of opening references, and of the files that references may name.

use std::sync::{Arc, Mutex};

use zarr_store::{ErrorKind, Key, MemoryStore, Prefix, Result, Store, StoreExt};
use zarr_store_virtual::VirtualStore;

use crate::{ReferencesOptions, open};

const ARRAY: &str =
    r#"{\"zarr_format\": 2, \"shape\": [4, 6], \"chunks\": [2, 2], \"dtype\": \"<i2\", \"compressor\": null}"#;

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

/// Opens the references `dir/refs.json` with the content `text`, beside `dir/data.bin` and `dir/sub/more.bin`.
fn opened(text: &str, options: &ReferencesOptions) -> Result<VirtualStore> {
    let files = MemoryStore::new();
    files.set_all(&key("dir/refs.json"), text.as_bytes()).expect("set");
    files.set_all(&key("dir/data.bin"), b"0123456789abcdef").expect("set");
    files.set_all(&key("dir/sub/more.bin"), b"more").expect("set");
    files.set_all(&key("outside.bin"), b"outside").expect("set");
    files.set_all(&key("dir/array.json"), format!("12{ARRAY}3").replace('\\', "").as_bytes()).expect("set");
    open(Arc::new(files), key("dir/refs.json"), options)
}

fn store(text: &str) -> VirtualStore {
    opened(text, &ReferencesOptions::default()).expect("a store")
}

fn error(text: &str) -> String {
    opened(text, &ReferencesOptions::default()).expect_err("refused").to_string()
}

fn value(store: &VirtualStore, name: &str) -> Option<String> {
    let value = store.get_all(&key(name)).expect("get");
    value.map(|value| String::from_utf8(value.to_vec()).expect("a text"))
}

#[test]
fn all_forms_of_references_are_read() {
    // Chunks precede and follow the document of their array.
    let references = format!(
        r#"{{
        ".zgroup": "{{\"zarr_format\": 2}}",
        "a/0.0": ["data.bin", 0, 8],
        "a/1.2": "text",
        "a/.zarray": "{ARRAY}",
        "a/0.1": ["./sub/more.bin"],
        "a/.zattrs": {{"units": "m", "list": [1, "]"]}},
        "a/1.0": "base64:AAH+/w==",
        "a/1.1": "\u00e4\n",
        "other": "a value"
    }}"#
    );
    for text in
        [references.clone(), format!(r#"{{"version": 1, "refs": {references}}}"#), format!("\u{feff} {references}")]
    {
        let store = store(&text);
        assert_eq!(value(&store, "a/0.0").as_deref(), Some("01234567"));
        assert_eq!(value(&store, "a/0.1").as_deref(), Some("more"));
        assert_eq!(value(&store, "a/1.2").as_deref(), Some("text"));
        assert_eq!(value(&store, "a/1.1").as_deref(), Some("\u{e4}\n"));
        assert_eq!(store.get_all(&key("a/1.0")).expect("get").as_deref(), Some(&[0, 1, 0xfe, 0xff][..]));
        assert_eq!(value(&store, "a/0.2"), None);
        assert_eq!(value(&store, "other").as_deref(), Some("a value"));
        assert_eq!(value(&store, "a/.zattrs").as_deref(), Some(r#"{"units": "m", "list": [1, "]"]}"#));
        let listed = StoreExt::list_dir(&store, &Prefix::new("a/").expect("a prefix")).expect("list").keys;
        let listed: Vec<&str> = listed.iter().map(Key::as_str).collect();
        assert_eq!(listed, ["a/.zarray", "a/.zattrs", "a/0.0", "a/0.1", "a/1.0", "a/1.1", "a/1.2"]);
        assert!(Store::take_warnings(&store).is_empty());
    }
}

#[test]
fn documents_may_be_in_other_files() {
    let text = ARRAY.replace('\\', "");
    let references = format!(r#"{{"b/0.1": ["data.bin", 1, 2], "b/.zarray": ["array.json", 2, {}]}}"#, text.len());
    let store = store(&references);
    assert_eq!(value(&store, "b/.zarray").as_deref(), Some(text.as_str()));
    assert_eq!(value(&store, "b/0.1").as_deref(), Some("12"));
}

#[test]
fn templates_and_generators_are_filled_in() {
    let store = store(&format!(
        r#"{{
        "version": 1,
        "templates": {{"u": "data", "f": "{{{{c}}}}.bin", "d": "sub"}},
        "gen": [
            {{"key": "a/{{{{i}}}}.{{{{j}}}}", "url": "{{{{u}}}}.bin", "offset": "{{{{(i * 2 + j) * 2}}}}", "length": "2",
              "dimensions": {{"i": {{"stop": 2}}, "j": [0, 1]}}}},
            {{"key": "a/{{{{i // 3}}}}.2", "url": "{{{{d}}}}/more.bin", "dimensions": {{"i": {{"start": 3, "stop": 2, "step": -1}}}}}}
        ],
        "refs": {{"a/.zarray": "{ARRAY}", "a/0.2": ["{{{{f(c='data')}}}}", 15, 1]}}
    }}"#
    ));
    let values: Vec<_> =
        ["a/0.0", "a/0.1", "a/1.0", "a/1.1"].iter().map(|name| value(&store, name).expect("there")).collect();
    assert_eq!(values, ["01", "23", "45", "67"]);
    assert_eq!(value(&store, "a/0.2").as_deref(), Some("f"));
    assert_eq!(value(&store, "a/1.2").as_deref(), Some("more"));
}

#[test]
fn arrays_of_each_version_have_their_keys() {
    let v3 = |encoding: &str| {
        format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [3, 4], "chunk_grid": {{"name": "regular",
                "configuration": {{"chunk_shape": [3, 2]}}}}, "chunk_key_encoding": {encoding}}}"#
        )
    };
    let nested = r#"{"zarr_format": 2, "shape": [3, 4], "chunks": [3, 2], "dimension_separator": "/"}"#;
    let scalar = r#"{"zarr_format": 2, "shape": [], "chunks": []}"#;
    let consolidated =
        |name: &str, member: &str| format!(r#"{{"{name}": {{"metadata": {member}}}, "metadata": {member}}}"#);
    for (document, text, chunk) in [
        ("x/zarr.json", v3(r#"{"name": "default"}"#), "x/c/0/1"),
        ("x/zarr.json", v3(r#"{"name": "default", "configuration": {"separator": "."}}"#), "x/c.0.1"),
        ("x/zarr.json", v3(r#"{"name": "v2"}"#), "x/0.1"),
        ("x/zarr.json", v3(r#"{"name": "v2", "configuration": {"separator": "/"}}"#), "x/0/1"),
        ("x/.zarray", nested.to_owned(), "x/0/1"),
        ("x/.zarray", nested.replace("\"/\"", "null"), "x/0.1"),
        ("x/.zarray", scalar.to_owned(), "x/0"),
        (".zmetadata", consolidated("none", &format!(r#"{{"x/.zarray": {nested}}}"#)), "x/0/1"),
        ("zarr.json", consolidated("consolidated_metadata", &format!(r#"{{"x": {}}}"#, v3(r#""default""#))), "x/c/0/1"),
    ] {
        let store = store(&format!(r#"{{"{document}": {text}, "{chunk}": ["data.bin", 1, 2]}}"#));
        assert_eq!(value(&store, chunk).as_deref(), Some("12"), "{document} {chunk}");
    }
}

#[test]
fn references_lead_nowhere_but_where_they_may() {
    let refs = |url: &str| format!(r#"{{"a/.zarray": "{ARRAY}", "a/0.0": ["{url}", 0, 4]}}"#);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let options = |directory: &str, allowed: &[&str]| {
        let asked = Arc::clone(&asked);
        let options = ReferencesOptions::default().directory(directory).open_by(move |address| {
            asked.lock().expect("no panic").push(address.to_owned());
            let store = MemoryStore::new();
            store.set_all(&key("y/z.bin"), b"elsewhere")?;
            store.set_all(&key("a b.bin"), b"with a space")?;
            Ok(Arc::new(store))
        });
        allowed.iter().fold(options, |options, prefix| options.allow(*prefix))
    };
    let got = |url: &str, options: &ReferencesOptions| {
        let store = opened(&refs(url), options)?;
        store.get_all(&key("a/0.0")).map(|value| String::from_utf8(value.expect("there").to_vec()).expect("a text"))
    };
    let here = options("/data/dir", &["/other", "https://host/x", "s3://bucket/"]);
    for (url, expected) in [
        ("data.bin", "0123"),
        ("/data/dir/data.bin", "0123"),
        ("file:///data/dir/sub/more.bin", "more"),
        ("local:///data/dir/data.bin", "0123"),
        ("file:///data/d%69r/data.bin", "0123"),
        ("/other/y/z.bin", "else"),
        ("https://host/x/y/z.bin", "else"),
        ("HTTPS://host/x/a%20b.bin", "with"),
        ("s3://bucket/y/z.bin", "else"),
    ] {
        assert_eq!(got(url, &here).expect(url), expected, "{url}");
    }
    let mut opened_stores = asked.lock().expect("no panic").clone();
    opened_stores.dedup();
    assert_eq!(opened_stores, ["/other", "https://host/x", "s3://bucket/"]);
    asked.lock().expect("no panic").clear();
    for url in [
        "../outside.bin",
        "sub/../../outside.bin",
        "/data/dir/../outside.bin",
        "/data/directory/data.bin",
        "/data/dir",
        "/etc/passwd",
        "file:///etc/passwd",
        "file:///data/dir/..%2foutside.bin",
        "file://localhost/etc/passwd",
        "FILE:///etc/passwd",
        "/other/../etc/passwd",
        "/otherwise/x",
        "https://host/xy/z.bin",
        "https://host/x/../y",
        "https://host/x/y?z",
        "https://host@elsewhere/x/y",
        "https://elsewhere/x",
        "http://host/x/y/z.bin",
        "s3://bucket2/y",
        "s3://bucket",
        "gs://bucket/x",
        "zip::https://host/x/y/z.bin",
        "simplecache::/etc/passwd",
        "c:\\\\windows",
        "\\\\\\\\host\\\\x",
        "",
    ] {
        let error = got(url, &here).expect_err(url);
        assert!(matches!(error.kind(), ErrorKind::Denied), "{url}: {error}");
        assert!(error.to_string().starts_with("memory:dir/refs.json: key a/0.0: refers to "), "{error}");
    }
    assert!(asked.lock().expect("no panic").is_empty());
    let error = got("/etc/passwd", &here).expect_err("refused").to_string();
    assert!(error.ends_with("which does not lie below /data/dir, /other, https://host/x, s3://bucket: references lead elsewhere only where the caller allows it"), "{error}");
    // References in a directory elsewhere never name files of this machine, even if the files are allowed.
    let far = options("https://host/dir", &["/", "file:///"]);
    for url in ["/etc/passwd", "file:///etc/passwd", "c:/windows"] {
        let error = got(url, &far).expect_err(url).to_string();
        assert!(error.contains("to which references from elsewhere never lead"), "{error}");
    }
    assert_eq!(got("https://host/dir/data.bin", &far).expect("below the directory"), "0123");
}

#[test]
fn faults_say_where_they_are() {
    for (text, expected) in [
        ("", "byte 0: found the end of the file, expected an object of references"),
        ("[]", "byte 0: found `[`"),
        (r#"{"a": 1}"#, "byte 6: found `1`, expected a text, a document, or a list"),
        (r#"{"a": "b"} x"#, "byte 11: found `x`, expected the end of the file"),
        (r#"{"a": "b" "c": "d"}"#, "byte 10: found `\"`, expected `,` or the end"),
        (r#"{"a": ["x", 1]}"#, "expected `,` and a length behind the offset"),
        (r#"{"a": ["x", -1, 1]}"#, "found `-`, expected an integer that is not negative"),
        (r#"{"a": ["x", 1.5, 1]}"#, "found `1`, expected an integer that is not negative"),
        (r#"{"a": ["x", 1, 2, 3]}"#, "expected the end of a list"),
        (r#"{"a": "base64:?"}"#, "byte 6: found another text, expected base64"),
        (r#"{"version": 2, "refs": {}}"#, "version 2 of references, expected 0 or 1"),
        (r#"{"version": 1, "gen": [{"key": "a"}], "refs": {}}"#, "expected a list of generators"),
        (r#"{"version": 1, "refs": {"a": ["{{x}}"]}}"#, "template \"{{x}}\": found \"x\", which is no template"),
        (r#"{"a/.zarray": "{"}"#, "a/.zarray: line 1"),
        (r#"{"a/.zarray": "{\"shape\": [1]}"}"#, "a/.zarray: found no shapes of the array and of its chunks"),
        (r#"{"a/.zarray": ["data.bin", 0, 1]}"#, "a/.zarray: found no shapes of the array"),
        (r#"{"a/.zarray": ["gone.bin", 0, 1]}"#, "key a/.zarray: found no file gone.bin, in which the document lies"),
        (
            r#"{"a/.zarray": ["data.bin", 0, 1000000000]}"#,
            "found 1000000000 bytes, of which at most 268435456 are read",
        ),
        (r#"{"a/.zarray": ["/etc/passwd"]}"#, "refers to /etc/passwd, which does not lie below"),
        (
            r#"{"zarr.json": {"node_type": "array", "shape": [1], "chunk_grid": {"name": "hexagonal"}}}"#,
            "zarr.json: found the chunk grid Some(\"hexagonal\")",
        ),
        (
            r#"{"zarr.json": {"node_type": "array", "shape": [1], "chunk_grid": {"name": "rectilinear"}}}"#,
            "zarr.json: chunk grid: ",
        ),
    ] {
        let error = error(text);
        assert!(error.contains(expected) && error.starts_with("memory:dir/refs.json: "), "{text}: {error}");
    }
    let many = r#"{"version": 1, "gen": [{"key": "a", "url": "b", "dimensions": {"i": {"stop": 1000000000}, "j": {"stop": 1000000000}}}], "refs": {}}"#;
    assert!(error(many).contains("more than 4194304 generated references"), "{}", error(many));
    let options = ReferencesOptions::default().max_size(10);
    assert!(
        opened("{          }", &options).expect_err("too long").to_string().contains("of which at most 10 are read")
    );
    let twice = format!(r#"{{"a/.zarray": "{ARRAY}", "a/0.0": ["data.bin", 0, 1], "a/0.0": ["data.bin", 0, 1]}}"#);
    assert!(error(&twice).contains("found two places"), "{}", error(&twice));
}

#[test]
fn work_and_memory_are_bounded_whatever_is_generated() {
    let generated = |key: &str, url: &str, count: u64| {
        format!(
            r#"{{"version": 1, "gen": [{{"key": "{key}", "url": "{url}", "offset": "0", "length": "1",
                "dimensions": {{"i": {{"stop": {count}}}}}}}],
                "refs": {{"a/.zarray": {{"zarr_format": 2, "shape": [100000], "chunks": [1]}}}}}}"#
        )
    };
    // Names of 60 KB each, which would stay in memory.
    let long = "x".repeat(60_000);
    let fault = error(&generated("a/{{i}}", &format!("{long}{{{{i}}}}"), 20_000));
    assert!(fault.contains("texts of more than") && fault.contains("which is the limit"), "{fault}");
    // Many short documents in other files.
    let fault = error(&generated("{{i}}/.zattrs", "data.bin", 70_000));
    assert!(fault.contains("of which at most 268435456 are read"), "{fault}");
    // The values of variables are not stored: each variable has four million.
    let dimensions: Vec<String> = (0..64).map(|at| format!(r#""v{at}": {{"stop": 4000000}}"#)).collect();
    let many = format!(
        r#"{{"version": 1, "gen": [{{"key": "a", "url": "b", "dimensions": {{{}}}}}], "refs": {{}}}}"#,
        dimensions.join(", ")
    );
    assert!(error(&many).contains("generated references"), "{}", error(&many));
}

#[test]
fn secrets_of_addresses_are_not_shown_and_change_no_place() {
    let array = r#"{\"zarr_format\": 2, \"shape\": [4], \"chunks\": [2], \"dtype\": \"<i2\"}"#;
    let refs = |url: &str| format!(r#"{{"a/.zarray": "{array}", "a/0": ["{url}", 0, 4]}}"#);
    let options = ReferencesOptions::default()
        .directory("https://user:SECRET@host/dir?token=SECRET")
        .allow("HTTPS://SECRET@other/x/?sig=SECRET")
        .allow("s3://KEY:SECRET@bucket/y")
        .open_by(|address| {
            assert!(address.contains("SECRET"), "{address}");
            let store = MemoryStore::new();
            store.set_all(&key("y.bin"), b"elsewhere")?;
            Ok(Arc::new(store))
        });
    assert!(!format!("{options:?}").contains("SECRET"), "{options:?}");
    for (url, expected) in
        [("https://host/dir/data.bin", "0123"), ("https://other/x/y.bin", "else"), ("s3://bucket/y/y.bin", "else")]
    {
        let store = opened(&refs(url), &options).expect(url);
        assert_eq!(value(&store, "a/0").as_deref(), Some(expected), "{url}");
    }
    let error = opened(&refs("https://elsewhere/x"), &options).expect_err("refused").to_string();
    assert!(error.contains("below https://host/dir, https://other/x, s3://bucket/y: "), "{error}");
}

#[test]
fn references_that_are_no_chunks_are_left_out_with_a_warning() {
    let store = store(&format!(r#"{{"a/.zarray": "{ARRAY}", "a/9.9": ["data.bin", 0, 1], "b/0": ["/etc/passwd"]}}"#));
    assert_eq!(value(&store, "a/9.9"), None);
    assert_eq!(Store::take_warnings(&store), ["2 references are left out, a/9.9 the first: no chunks of an array"]);
}

/// Prints the cost of a million references, if run by `--ignored --release --nocapture`.
#[test]
#[ignore = "a measurement"]
fn a_million_references() {
    use std::fmt::Write;
    let mut text = r#"{"version":1,"refs":{".zgroup":"{\"zarr_format\":2}","a/.zarray":"{\"zarr_format\":2,\"shape\":[100000,1000],\"chunks\":[100,1],\"dtype\":\"<i2\"}""#.to_owned();
    for i in 0..1_000_000_u64 {
        let (offset, length) = (i * 5000, 1000 + i * 7919 % 1000);
        write!(
            text,
            r#","a/{}.{}":["s3://bucket/some/prefix/data{:03}.nc",{offset},{length}]"#,
            i / 1000,
            i % 1000,
            i / 1000
        )
        .expect("a text");
    }
    text.push_str("}}");
    let files = MemoryStore::new();
    files.set_all(&key("refs.json"), text.as_bytes()).expect("set");
    let files: Arc<dyn Store> = Arc::new(files);
    println!("{} bytes", text.len());
    drop(text);
    let options = ReferencesOptions::default().allow("s3://bucket").open_by(|_| Ok(Arc::new(MemoryStore::new())));
    // CPU time in nanoseconds.
    let spent = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        text.split(' ').next().and_then(|first| first.parse::<u64>().ok()).unwrap_or(0)
    };
    let begin = spent();
    let store = open(files, key("refs.json"), &options).expect("a store");
    println!("opened in {} ms of CPU time", (spent() - begin) / 1_000_000);
    println!(
        "{}",
        std::fs::read_to_string("/proc/self/status")
            .unwrap_or_default()
            .lines()
            .find(|line| line.starts_with("VmHWM"))
            .unwrap_or_default()
    );
    assert_eq!(store.size(&key("a/999.999")).expect("size"), Some(1000 + 999_999 * 7919 % 1000));
}
