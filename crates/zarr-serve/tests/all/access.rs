//! Who may read.

use crate::support::{climate, exchange, get, request, serve};
use zarr_serve::{Cors, ServeOptions, Token};

#[test]
fn hosts_that_are_not_this_machine_are_refused() {
    let server = serve(climate(), &ServeOptions::default());
    let status = |host: &str| {
        let text = format!("GET /api/store HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
        String::from_utf8_lossy(&exchange(server.address(), text.as_bytes())).get(9..12).unwrap_or_default().to_owned()
    };
    for host in ["Host: localhost\r\n", "Host: 127.0.0.1:9999\r\n", "Host: [::1]:80\r\n"] {
        assert_eq!(status(host), "200", "{host}");
    }
    for host in [
        "Host: evil.example\r\n",
        "Host: localhost.evil.example:8000\r\n",
        "",
        "Host: localhost\r\nHost: evil.example\r\n",
    ] {
        assert!(["421", "400"].contains(&status(host).as_str()), "{host}: {}", status(host));
    }
}

#[test]
fn tokens_are_asked_for() {
    let options = ServeOptions::default().token(Token::Given("abc-1".to_owned()));
    let server = serve(climate(), &options);
    assert_eq!(server.token(), Some("abc-1"));
    assert!(server.page_url().ends_with("/?token=abc-1") && server.raw_url().ends_with("/token/abc-1/raw/"));
    for path in ["/raw/zarr.json", "/api/info?path=/", "/raw/zarr.json?token=abc-2", "/token/abc/raw/zarr.json"] {
        let answer = get(&server, path);
        assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some("Bearer")), "{path}");
        assert!(!answer.text().contains("zarr_format") && !answer.text().contains("abc-1"));
    }
    for path in ["/raw/zarr.json?token=abc-1", "/token/abc-1/raw/zarr.json", "/token/abc-1/api/info"] {
        assert_eq!(get(&server, path).status, 200, "{path}");
    }
    let bearer = request(&server, "GET", "/raw/zarr.json", "Authorization: Bearer abc-1\r\n");
    assert_eq!(bearer.status, 200);
    // The page itself says nothing about the store.
    for path in ["/", "/page.js", "/token/abc-1/", "/token/abc-1/page.css"] {
        let answer = get(&server, path);
        assert_eq!((answer.status, answer.header("referrer-policy")), (200, Some("no-referrer")), "{path}");
    }
    // A token is asked for by default where others can connect.
    let beyond = serve(climate(), &ServeOptions::default().address(([0, 0, 0, 0], 0).into()));
    assert_eq!(beyond.token().map(str::len), Some(32));
    assert_eq!(get(&beyond, "/api/store").status, 401);
    assert!(beyond.raw_url().starts_with("http://127.0.0.1:"));
}

#[test]
fn pages_of_other_origins_read_only_if_they_may() {
    let server = serve(climate(), &ServeOptions::default().cors(Cors::Origin("https://example.org".to_owned())));
    let answer = request(&server, "GET", "/raw/zarr.json", "Origin: https://example.org\r\n");
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://example.org"));
    assert!(answer.header("access-control-expose-headers").unwrap().contains("Content-Range"));
    let before = request(&server, "OPTIONS", "/raw/zarr.json", "Access-Control-Request-Method: GET\r\n");
    assert_eq!(before.status, 204);
    assert!(before.header("access-control-allow-headers").unwrap().contains("Range"));
    let server = serve(climate(), &ServeOptions::default().cors(Cors::Any));
    assert_eq!(get(&server, "/api/store").header("access-control-allow-origin"), Some("*"));
    let server = serve(climate(), &ServeOptions::default());
    let before = request(&server, "OPTIONS", "/raw/zarr.json", "Origin: https://example.org\r\n");
    assert_eq!((before.status, before.header("access-control-allow-origin")), (204, None));
}

#[test]
fn the_page_runs_its_own_script_alone() {
    let server = serve(climate(), &ServeOptions::default());
    let page = get(&server, "/");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"), "{policy}");
    for path in ["/page.js", "/server.js", "/picture.js", "/tree.js", "/details.js", "/image.js"] {
        assert_eq!(get(&server, path).header("content-type"), Some("text/javascript; charset=utf-8"), "{path}");
    }
}
