//! `zarr serve`.

use crate::folder::Folder;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use zarr::meta::json::Value;

/// A server that is killed when it is dropped.
struct Serving {
    child: Child,
    lines: Vec<String>,
}

impl Serving {
    /// Starts a server, and reads the lines that it prints.
    fn start(folder: &Folder, args: &[&str], lines: usize) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_zarr"))
            .args(["serve", "s", "--port", "0"])
            .args(args)
            .current_dir(folder.path("."))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let lines = out.lines().take(lines).map(Result::unwrap).collect();
        Self { child, lines }
    }

    /// The address of the values.
    fn raw(&self) -> &str {
        self.lines.iter().find_map(|line| line.strip_prefix("zarr  ")).unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answer to a GET.
fn get(url: &str, key: &str) -> String {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET /{path}{key} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

fn store() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/a", "--shape", "4", "--dtype", "int8", "--codecs", "none"]);
    folder.fill("s", "g/a", "|i1", "(4,)", b"abcd");
    folder
}

/// A group that nodes below it imply shows only in a listing, which the web does not have.
#[test]
fn errors_say_that_a_store_cannot_list() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "foo/a", "--shape", "4", "--dtype", "int8", "--dialect", "d2022"]);
    let serving = Serving::start(&folder, &[], 2);
    let url = serving.raw().trim_end_matches('/');
    assert!(folder.ok(&["info", url, "/foo/a"]).starts_with("Type "));
    for verb in ["info", "ls", "attrs"] {
        let ran = folder.run(&[verb, url, "/foo"]);
        let hint = "hint: the store cannot list: a group that has no document, only nodes below it, is not found";
        assert!(ran.code == Some(3) && ran.err.contains(hint), "{verb}: {:?} {}", ran.code, ran.err);
    }
}

#[test]
fn values_are_served_until_the_server_is_ended() {
    let folder = store();
    let mut serving = Serving::start(&folder, &[], 2);
    let answer = get(serving.raw(), "g/a/c/0");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nabcd"), "{answer}");
    assert!(get(serving.raw(), "g/../../secret").starts_with("HTTP/1.1 400 "));
    let page = serving.lines.first().and_then(|line| line.strip_prefix("page  ")).unwrap();
    assert!(get(page, "").contains("<title>Zarr</title>"));
    let info = get(page, "api/info?path=/g/a");
    let stored = Value::from_json(info.rsplit("\r\n\r\n").next().unwrap()).unwrap();
    let printed = Value::from_json(&folder.ok(&["info", "s", "g/a", "--json"])).unwrap();
    for name in [
        "path",
        "kind",
        "dialect",
        "shape",
        "data_type",
        "fill_value",
        "chunk_shape",
        "codecs",
        "metadata",
        "attributes",
    ] {
        assert_eq!(stored.get(name), printed.get(name), "{name}");
    }
    interrupt(&serving.child);
    let begun = Instant::now();
    let status = loop {
        match serving.child.try_wait().unwrap() {
            Some(status) => break status,
            None if begun.elapsed() > Duration::from_secs(20) => panic!("it runs on"),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    if cfg!(unix) {
        assert!(status.success(), "{status}");
    }
}

/// Ends a process as Ctrl-C does.
fn interrupt(child: &Child) {
    let (program, number) = if cfg!(unix) { ("kill", "-INT") } else { ("taskkill", "/PID") };
    Command::new(program).args([number, &child.id().to_string()]).status().unwrap();
}

#[test]
fn a_token_is_asked_for() {
    let folder = store();
    let serving = Serving::start(&folder, &["--token", "secret", "--json"], 5);
    let value = Value::from_json(&serving.lines.concat()).unwrap();
    let at = |name: &str| value.get(name).and_then(Value::as_str).unwrap();
    assert_eq!(at("token"), "secret");
    assert!(at("page").ends_with("/?token=secret"));
    assert!(get(at("raw"), "g/a/c/0").ends_with("abcd"));
    assert!(get(&at("raw").replace("secret", "guessed"), "g/a/c/0").starts_with("HTTP/1.1 401 "));
}

#[test]
fn what_cannot_be_served_is_an_error() {
    let folder = store();
    let refused = |args: &[&str]| {
        let ran = folder.run(args);
        (ran.code, ran.err)
    };
    let (code, err) = refused(&["serve", "nowhere"]);
    assert_eq!(code, Some(3), "{err}");
    let (code, err) = refused(&["serve", "s::/g/a"]);
    assert!(code == Some(2) && err.contains("hint: zarr serve "), "{err}");
    let (code, err) = refused(&["serve", "s", "--port", "0", "--token", "a b"]);
    assert!(code == Some(2) && err.contains("a token has 1 to 256 letters"), "{err}");
    let serving = Serving::start(&folder, &[], 2);
    let port = serving.raw().rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
    let (code, err) = refused(&["serve", "s", "--port", &port]);
    assert!(code == Some(5) && err.contains("--port 0"), "{err}");
}

/// A server for all machines has addresses that others can use, where this machine has one.
#[test]
fn other_machines_have_addresses() {
    let folder = store();
    let network = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    // Without a route there is no address to print.
    let Ok(()) = network.connect("192.0.2.1:9") else { return };
    let own = network.local_addr().unwrap().ip().to_string();
    let serving = Serving::start(&folder, &["--host", "0.0.0.0"], 5);
    assert!(serving.raw().starts_with("http://127.0.0.1:"), "{:?}", serving.lines);
    assert_eq!(serving.lines[2], "From other machines:");
    let raw = serving.lines[4].strip_prefix("zarr  ").unwrap();
    assert_eq!(raw, serving.raw().replace("127.0.0.1", &own));
    assert!(get(raw, "g/a/c/0").ends_with("abcd"));
}
