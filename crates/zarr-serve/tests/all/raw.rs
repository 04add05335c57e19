//! `/raw/KEY`.

use crate::support::{Answer, climate, connect, get, registry, request, serve};
use std::io::{Read, Write};
use std::sync::Arc;
use zarr_array::Store;
use zarr_serve::{ServeOptions, Server};
use zarr_store::{Key, MemoryStore, StoreExt};

fn digits() -> Server {
    let store = MemoryStore::new();
    store.set_all(&Key::new("a/c/0").unwrap(), b"0123456789").unwrap();
    store.set_all(&Key::new("a b/%41").unwrap(), b"odd").unwrap();
    store.set_all(&Key::new("empty").unwrap(), b"").unwrap();
    serve(Arc::new(store), &ServeOptions::default())
}

#[test]
fn whole_values_and_their_headers() {
    let server = digits();
    let answer = get(&server, "/raw/a/c/0");
    assert_eq!((answer.status, answer.text().as_str()), (200, "0123456789"));
    assert_eq!(answer.header("content-length"), Some("10"));
    assert_eq!(answer.header("accept-ranges"), Some("bytes"));
    assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
    assert_eq!(answer.header("cache-control"), Some("no-cache"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert!(answer.header("content-security-policy").unwrap().contains("sandbox"));
    assert_eq!(answer.header("access-control-allow-origin"), None);
    assert!(answer.header("etag").unwrap().starts_with('"'));
    let head = request(&server, "HEAD", "/raw/a/c/0", "");
    assert_eq!((head.status, head.body.len(), head.header("content-length")), (200, 0, Some("10")));
    assert_eq!(head.header("etag"), answer.header("etag"));
    assert_eq!(get(&server, "/raw/a%20b/%2541").text(), "odd");
    let empty = get(&server, "/raw/empty");
    assert_eq!((empty.status, empty.header("content-length"), empty.body.len()), (200, Some("0"), 0));
    let server = serve(climate(), &ServeOptions::default());
    assert_eq!(get(&server, "/raw/t2m/zarr.json").header("content-type"), Some("application/json"));
}

#[test]
fn ranges() {
    let server = digits();
    let part = |range: &str| request(&server, "GET", "/raw/a/c/0", &format!("Range: {range}\r\n"));
    for (range, text, content_range) in [
        ("bytes=0-0", "0", "bytes 0-0/10"),
        ("bytes=2-4", "234", "bytes 2-4/10"),
        ("bytes=7-99", "789", "bytes 7-9/10"),
        ("bytes=-3", "789", "bytes 7-9/10"),
        ("bytes=4-", "456789", "bytes 4-9/10"),
    ] {
        let answer = part(range);
        assert_eq!((answer.status, answer.text().as_str()), (206, text), "{range}");
        assert_eq!(answer.header("content-range"), Some(content_range), "{range}");
        let length = text.len().to_string();
        assert_eq!(answer.header("content-length"), Some(length.as_str()), "{range}");
    }
    let refused = part("bytes=10-");
    assert_eq!((refused.status, refused.header("content-range")), (416, Some("bytes */10")));
    for whole in ["bytes=0-1,5-6", "bytes=5-2", "items=0-1", "bytes=x-"] {
        let answer = part(whole);
        assert_eq!((answer.status, answer.text().as_str()), (200, "0123456789"), "{whole}");
    }
    let head = request(&server, "HEAD", "/raw/a/c/0", "Range: bytes=2-4\r\n");
    assert_eq!((head.status, head.header("content-length"), head.body.len()), (206, Some("3"), 0));
}

#[test]
fn conditions() {
    let server = digits();
    let tag = get(&server, "/raw/a/c/0").header("etag").unwrap().to_owned();
    let with = |headers: &str| request(&server, "GET", "/raw/a/c/0", headers);
    let same = with(&format!("If-None-Match: \"other\", W/{tag}\r\n"));
    assert_eq!((same.status, same.body.len(), same.header("etag")), (304, 0, Some(tag.as_str())));
    // The length would be that of the value, which 0 is not.
    let head = request(&server, "HEAD", "/raw/a/c/0", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!((head.status, head.header("content-length"), same.header("content-length")), (304, None, None));
    assert_eq!(with("If-None-Match: \"other\"\r\n").status, 200);
    assert_eq!(with("If-Match: \"other\"\r\n").status, 412);
    assert_eq!(with(&format!("If-Match: {tag}\r\n")).status, 200);
    let range = "Range: bytes=2-4\r\n";
    assert_eq!(with(&format!("{range}If-Range: {tag}\r\n")).text(), "234");
    assert_eq!(with(&format!("{range}If-Range: \"other\"\r\n")).text(), "0123456789");
    assert_eq!(with(&format!("{range}If-Range: Sat, 29 Oct 1994 19:43:31 GMT\r\n")).status, 200);
}

#[test]
fn keys_that_are_none() {
    let server = digits();
    for (path, status) in [
        ("/raw/", 404),
        ("/raw/a/", 404),
        ("/raw/a", 404),
        ("/raw/nothing", 404),
        ("/raw/../a/c/0", 400),
        ("/raw/%2e%2e/a", 400),
        ("/raw/a/%2E%2E%2Fa", 400),
        ("/raw//etc/passwd", 400),
        ("/raw/%2Fetc/passwd", 400),
        ("/raw/a%00b", 400),
        ("/raw/a%5cb", 400),
        ("/raw/a/./b", 400),
        ("/raw/c:", 400),
        ("/raw/%zz", 400),
        ("/raw/%ff", 400),
        ("/raw", 404),
        ("/elsewhere", 404),
    ] {
        assert_eq!(get(&server, path).status, status, "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW"] {
        let answer = request(&server, method, "/raw/a/c/0", "");
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD, OPTIONS")), "{method}");
    }
    let body = request(&server, "GET", "/raw/a/c/0", "Content-Length: 5\r\n");
    assert_eq!((body.status, body.header("connection")), (413, Some("close")));
}

/// One connection is used again and again, also after refusals.
#[test]
fn requests_follow_each_other() {
    let server = digits();
    let mut stream = connect(server.address());
    for (path, status) in [("/raw/a/c/0", 200), ("/raw/no", 404), ("/raw/%00", 400), ("/raw/a/c/0", 200), ("/", 200)] {
        write!(stream, "HEAD {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            bytes.push(byte[0]);
        }
        assert_eq!(Answer::parse(&bytes).unwrap().status, status, "{path}");
    }
}

/// A value of many pieces arrives whole, and one that is replaced meanwhile never as a mixture.
#[test]
fn large_values_are_of_one_state() {
    let (store, key) = (Arc::new(MemoryStore::new()), Key::new("large").unwrap());
    let value = |byte: u8| vec![byte; 3 << 20];
    store.set_all(&key, &value(1)).unwrap();
    let server = serve(Arc::clone(&store) as Arc<dyn Store>, &ServeOptions::default());
    assert_eq!(get(&server, "/raw/large").body, value(1));
    let part = request(&server, "GET", "/raw/large", "Range: bytes=100000-2000000\r\n");
    assert_eq!((part.status, part.body.len()), (206, 1_900_001));
    let writer = {
        let (store, key) = (Arc::clone(&store), key.clone());
        std::thread::spawn(move || (2..60).for_each(|byte| drop(store.set_all(&key, &value(byte)).unwrap())))
    };
    for _ in 0..20 {
        let body = get(&server, "/raw/large").body;
        assert!(body.iter().all(|byte| Some(byte) == body.first()), "a mixture");
    }
    writer.join().unwrap();
    drop(registry());
}
