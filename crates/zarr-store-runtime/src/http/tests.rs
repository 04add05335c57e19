use super::*;

fn headers(pairs: &[(reqwest::header::HeaderName, &str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.clone(), value.parse().expect("a value"))).collect()
}

#[test]
fn content_ranges() {
    let parse = |text| ContentRange::parse(text).map(|range| (range.at, range.size));
    assert_eq!(parse("bytes 0-0/1"), Some((Some(0..1), Some(1))));
    assert_eq!(parse("bytes 5-9/*"), Some((Some(5..10), None)));
    assert_eq!(parse("bytes */0"), Some((None, Some(0))));
    for text in [
        "",
        "bytes",
        "bytes 1-2",
        "bytes 2-1/9",
        "bytes 0-9/9",
        "bytes -1/9",
        "bytes 1-/9",
        "bytes +1-2/9",
        "items 0-1/2",
        "bytes 0-18446744073709551615/*",
        "bytes 0-1/-2",
    ] {
        assert_eq!(parse(text), None, "{text:?}");
    }
}

#[test]
fn validators() {
    let at = |modified: &str, date: &str| validator(&headers(&[(LAST_MODIFIED, modified), (DATE, date)]));
    assert_eq!(validator(&headers(&[(ETAG, "\"ab\"")])).as_deref(), Some("\"ab\""));
    for tag in ["W/\"ab\"", "ab", "\"", ""] {
        assert_eq!(
            validator(&headers(&[(ETAG, tag), (LAST_MODIFIED, "Sun, 06 Nov 1994 08:49:37 GMT")])),
            None,
            "{tag}"
        );
    }
    let modified = "Sun, 06 Nov 1994 08:49:37 GMT";
    assert_eq!(at(modified, "Sun, 06 Nov 1994 08:50:37 GMT").as_deref(), Some(modified));
    assert_eq!(at(modified, "Sun, 06 Nov 1994 08:50:36 GMT"), None);
    assert_eq!(at(modified, "Sun, 06 Nov 1994 08:49:36 GMT"), None);
    assert_eq!(validator(&headers(&[(LAST_MODIFIED, modified)])), None);
}

#[test]
fn pauses() {
    let pause = |text| retry_after(&headers(&[(RETRY_AFTER, text)]));
    assert_eq!(pause("3"), Some(Duration::from_secs(3)));
    assert_eq!(pause("999999999"), Some(Duration::from_secs(3600)));
    assert_eq!(pause("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
    assert_eq!(pause("soon"), None);
    assert_eq!(retry_after(&HeaderMap::new()), None);
}

#[test]
fn pages_and_encodings() {
    assert!(is_html(&headers(&[(CONTENT_TYPE, "Text/HTML; charset=utf-8")])));
    assert!(!is_html(&headers(&[(CONTENT_TYPE, "application/json")])));
    assert!(begins_as_html(b"\n <!DOCTYPE html><p>") && begins_as_html(b"\xef\xbb\xbf<HTML>"));
    assert!(!begins_as_html(b"{}") && !begins_as_html(b"<h") && !begins_as_html(b""));
    let encoding = |text| encoding(&headers(&[(CONTENT_ENCODING, text)]));
    assert_eq!(encoding("gzip").as_deref(), Some("gzip"));
    assert_eq!((encoding("identity"), encoding(""), encoding("aws-chunked")), (None, None, None));
}

#[test]
fn bodies_grow_with_what_comes() {
    let mut body = Body::new(1 << 40).expect("a body");
    body.push(Bytes::from_static(b"ab")).expect("memory");
    let pointer = body.first.as_ptr();
    assert_eq!(body.len(), 2);
    body.push(Bytes::from_static(b"cd")).expect("memory");
    assert!(body.rest.capacity() <= 2 * usize::try_from(FIRST_ALLOCATION).expect("small"));
    assert_eq!(body.into_bytes(), "abcd");
    let mut one = Body::new(2).expect("a body");
    one.push(Bytes::from_static(b"ab")).expect("memory");
    assert_eq!(one.into_bytes().as_ptr(), pointer, "one chunk is not copied");
    assert!(Body::new(u64::MAX).is_err());
}

#[test]
fn failures_show_no_url() {
    let runtime = crate::IoRuntime::new();
    let client = Client::new(&ClientOptions::default()).expect("a client");
    let url = "http://127.0.0.1:1/a?token=SENTINEL".parse().expect("a URL");
    let result =
        zarr_drive::block_on(runtime.spawn(async move { client.execute(Request::new(Method::GET, url), 0).await }));
    let failure = result.expect("a result").expect_err("nobody listens");
    assert!(!format!("{failure:?}").contains("SENTINEL"), "{failure:?}");
    assert_eq!((failure.kind, failure.unsent), (ErrorKind::Transient, true), "{failure:?}");
    assert!(failure.text.contains("Connection refused"), "{failure:?}");
    assert_eq!(failure.again(), Some(Again::Once));
}

/// A server that has responded once and is gone does not count as absent, since it may come back.
#[test]
fn a_server_that_answered_is_not_absent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url: Url = format!("http://{}/a", listener.local_addr().expect("an address")).parse().expect("a URL");
    let server = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().expect("a connection");
        let mut request = [0; 1024];
        assert!(connection.read(&mut request).expect("a request") > 0);
        let answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        std::io::Write::write_all(&mut connection, answer).expect("an answer");
    });
    let runtime = crate::IoRuntime::new();
    let client = Client::new(&ClientOptions::default()).expect("a client");
    let ask = || {
        let (client, request) = (client.clone(), Request::new(Method::GET, url.clone()));
        zarr_drive::block_on(runtime.spawn(async move { client.execute(request, 0).await })).expect("a result")
    };
    assert_eq!(ask().expect("an answer").status(), StatusCode::NOT_FOUND);
    server.join().expect("a server");
    let failure = ask().expect_err("nobody listens");
    assert!((failure.unsent, failure.absent) == (true, false), "{failure:?}");
    assert_eq!(failure.again(), Some(Again::Later));
}

#[test]
fn gzip() {
    // `{"zarr_format": 3}`.
    let bytes = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\xaa\x4a\x2c\x2a\x8a\x4f\xcb\x2f\xca\x4d\x2c\x51\xb2\x52\x30\xae\x05\x00\xfb\x79\x2c\x90\x12\x00\x00\x00";
    assert_eq!(gunzip(bytes, 18).expect("whole"), &br#"{"zarr_format": 3}"#[..]);
    assert_eq!(gunzip(&[&bytes[..], &bytes[..]].concat(), 36).expect("two members").len(), 36);
    assert_eq!(gunzip(bytes, 17).expect_err("larger").kind, ErrorKind::Limit);
    for cut in [0, 5, 20, bytes.len() - 1] {
        assert_eq!(gunzip(&bytes[..cut], 100).expect_err("cut").kind, ErrorKind::Io, "{cut}");
    }
    assert!(is_gzip(" GZIP") && !is_gzip("gzip, gzip") && !is_gzip("br"));
}

#[test]
fn a_proxy_that_refuses_is_named() {
    let runtime = crate::IoRuntime::new();
    let options =
        ClientOptions { proxy: Some("http://me:SENTINEL@127.0.0.1:1".to_owned()), ..ClientOptions::default() };
    let client = Client::new(&options).expect("a client");
    let url = "http://127.0.0.1:2/a".parse().expect("a URL");
    let result =
        zarr_drive::block_on(runtime.spawn(async move { client.execute(Request::new(Method::GET, url), 0).await }));
    let failure = result.expect("a result").expect_err("nobody listens");
    assert!(failure.text.ends_with("; requests go through the proxy http://127.0.0.1:1"), "{failure:?}");
    assert!(failure.kind == ErrorKind::Io && !format!("{failure:?}").contains("SENTINEL"), "{failure:?}");
}
