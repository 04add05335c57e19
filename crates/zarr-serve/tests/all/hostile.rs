//! Requests that mean harm: paths, ranges, headers, bytes that are no request; many connections.
//!
//! A few hundred here; `ZARR_SERVE_REQUESTS=10000` for more, with a thousand connections.

use crate::slow::resident;
use crate::support::{Answer, connect, exchange, get, registry, serve};
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use zarr_array::{Array, NewArray, Store};
use zarr_serve::{ServeLimits, ServeOptions};
use zarr_store_filesystem::FilesystemStore;

const SECRET: &str = "the secret outside";
/// Requests, unless the environment says how many.
const REQUESTS: u64 = 300;

/// Random numbers (xorshift), the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[usize::try_from(self.next() % of.len() as u64).unwrap()]
    }
}

const SEGMENTS: &[&str] = &[
    "..",
    "%2e%2e",
    "%2E%2e%2f",
    "..%5c",
    "..\\",
    ".",
    "",
    "%00",
    "a",
    "zarr.json",
    "c",
    "0",
    "secret",
    "link",
    "etc",
    "passwd",
    "C:",
    "%2F",
    "%252e%252e",
    "%c0%ae%c0%ae",
    "\u{202e}",
    "%ff",
    "%",
    "%zz",
    "~",
    "....//",
    "store",
    "proc",
    "self",
    "environ",
    "token",
];
const RANGES: &[&str] = &[
    "bytes=0-",
    "bytes=-1",
    "bytes=-0",
    "bytes=99999999999999999999-",
    "bytes=0-99999999999999999999",
    "bytes=5-2",
    "bytes=0-0,1-1,2-2",
    "bytes=",
    "bytes",
    "bytes=--1",
    "bytes=0x0-1",
    "items=0-1",
    "bytes=18446744073709551615-18446744073709551615",
    "bytes=-18446744073709551615",
];
const VALUES: &[&str] = &[
    "-1",
    "0",
    "1",
    "99999999999999999999",
    "18446744073709551615",
    "NaN",
    "1e999",
    "",
    "%00",
    "0,0",
    "0,0,0,0,0",
    "/",
    "/a",
    "/../a",
    "/link",
    "nan:nan",
    "inf:-inf",
    "0:0",
    "5:1",
    "%ff",
    "..",
    "/a/c",
    "9223372036854775807",
];
const NAMES: &[&str] = &[
    "path", "y", "x", "at", "y0", "y1", "x0", "x1", "width", "height", "axis", "start", "step", "count", "full",
    "stored", "limit", "offset", "level", "sizes", "token",
];
const QUESTIONS: &[&str] = &[
    "store",
    "children",
    "info",
    "attributes",
    "plane",
    "plane",
    "profile",
    "coordinates",
    "table",
    "colormaps",
    "",
    "../x",
];

/// A request of one kind or another.
fn hostile(random: &mut Random) -> Vec<u8> {
    let path = match random.next() % 4 {
        0 | 1 => {
            let count = random.next() % 6;
            let segments: Vec<&str> = (0..=count).map(|_| random.pick(SEGMENTS)).collect();
            format!("/{}{}", random.pick(&["raw/", "raw//", "", "token/x/raw/", "api/"]), segments.join("/"))
        }
        2 => {
            let count = random.next() % 8;
            let pairs: Vec<String> =
                (0..count).map(|_| format!("{}={}", random.pick(NAMES), random.pick(VALUES))).collect();
            format!("/api/{}?path=/a&{}", random.pick(QUESTIONS), pairs.join("&"))
        }
        _ => format!("/raw/{}", random.pick(&["a/c/0/0", "a/zarr.json", "link", "linked/secret"])),
    };
    let method = random.pick(&["GET", "GET", "GET", "HEAD", "OPTIONS", "POST", "get", "GET\t", "\u{0}"]);
    let version = random.pick(&["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9", ""]);
    let mut headers = String::new();
    for _ in 0..random.next() % 5 {
        headers.push_str(&match random.next() % 10 {
            0..=3 => format!("Range: {}\r\n", random.pick(RANGES)),
            4 => format!("If-None-Match: {}\r\n", random.pick(&["*", "\"", "W/\"x\"", ",,,,", "\"a\",\"b\""])),
            5 => format!("If-Range: {}\r\n", random.pick(&["*", "\"x\"", "Sat, 29 Oct 1994 19:43:31 GMT"])),
            6 => format!("Content-Length: {}\r\n", random.pick(&["5", "-5", "99999999999999999999", "0"])),
            7 => "Transfer-Encoding: chunked\r\n".to_owned(),
            8 => format!("X-Long: {}\r\n", "x".repeat(usize::try_from(random.next() % 40_000).unwrap())),
            _ => random
                .pick(&[
                    "Bad Header\r\n",
                    ": \r\n",
                    "Host: evil.example\r\n",
                    "A: \u{0}\r\n",
                    "Expect: 100-continue\r\n",
                ])
                .to_owned(),
        });
    }
    let mut bytes =
        format!("{method} {path} {version}\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").into_bytes();
    // Some are damaged, some are cut off.
    match random.next() % 8 {
        0 => {
            let at = usize::try_from(random.next()).unwrap_or(0) % bytes.len();
            bytes[at] = random.next() as u8;
        }
        1 => bytes.truncate(usize::try_from(random.next()).unwrap_or(0) % bytes.len()),
        2 => bytes.extend((0..random.next() % 2000).map(|_| random.next() as u8)),
        _ => {}
    }
    bytes
}

/// Sends a request, and looks at the answer, if there is one.
fn send(address: SocketAddr, bytes: &[u8], answered: &AtomicU64) {
    let stream = connect(address);
    let mut stream = stream;
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    let _ = std::io::Read::read_to_end(&mut stream, &mut answer);
    let text = String::from_utf8_lossy(&answer);
    assert!(!text.contains(SECRET), "{:?}", String::from_utf8_lossy(bytes));
    if let Some(answer) = Answer::parse(&answer) {
        answered.fetch_add(1, Ordering::Relaxed);
        assert!(answer.status < 500 || answer.status == 503, "{:?}: {}", String::from_utf8_lossy(bytes), answer.text());
    }
}

#[test]
fn nothing_outside_is_read_and_the_server_goes_on() {
    let requests = std::env::var("ZARR_SERVE_REQUESTS").ok().and_then(|text| text.parse().ok()).unwrap_or(REQUESTS);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("secret"), SECRET).unwrap();
    let root = folder.path().join("store");
    let store: Arc<dyn Store> = Arc::new(FilesystemStore::create(&root).unwrap());
    let new = NewArray::new(&[40, 50], "int32").chunks(&[10, 10]).codecs("bytes").unwrap();
    let array = Array::create(&store, "/a", new, &registry()).unwrap();
    array.write(.., &(0..2000).collect::<Vec<i32>>()).unwrap();
    #[cfg(unix)]
    for (target, link) in [("../secret", "link"), ("..", "linked")] {
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
    }
    // Every answer ends within the time of the test, whatever is sent.
    let limits = ServeLimits::default().request_time(Duration::from_millis(500)).stall_time(Duration::from_secs(2));
    let server = serve(store, &ServeOptions::default().limits(limits));
    let (address, before, answered) = (server.address(), resident(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let answered = &answered;
            scope.spawn(move || {
                let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (thread + 1));
                for _ in 0..requests / 8 {
                    send(address, &hostile(&mut random), answered);
                }
            });
        }
    });
    let answered = answered.into_inner();
    assert!(answered > requests / 3, "{answered} of {requests} answered");
    let idle = if requests > REQUESTS { 1000 } else { 100 };
    let held: Vec<TcpStream> = (0..idle).filter_map(|_| TcpStream::connect(address).ok()).collect();
    assert_eq!(get(&server, "/raw/a/zarr.json").status, 200, "beside {} idle connections", held.len());
    drop(held);
    if let (Some(before), Some(after)) = (before, resident()) {
        assert!(after.saturating_sub(before) < 64 << 20, "{before} bytes, then {after}");
        println!(
            "{requests} requests, {answered} answered, {idle} idle connections, {} bytes more",
            after.saturating_sub(before)
        );
    }
    assert_eq!(exchange(address, b"").len(), 0);
}
