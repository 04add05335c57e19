//! Clients that take their time.

use crate::support::{connect, get, registry, serve};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zarr_array::{Array, Group, NewArray, NewGroup};
use zarr_serve::{ServeLimits, ServeOptions, Server};
use zarr_store::{Key, MemoryStore, StoreExt};

const SIZE: usize = 64 << 20;

fn server(limits: ServeLimits) -> Server {
    let store = MemoryStore::new();
    store.set_all(&Key::new("large").unwrap(), &vec![7; SIZE]).unwrap();
    serve(Arc::new(store), &ServeOptions::default().limits(limits))
}

/// Whether the server closes a connection within a time.
fn is_closed(stream: &mut TcpStream, within: Duration) -> bool {
    let begun = Instant::now();
    let mut bytes = vec![0; 1 << 20];
    stream.set_read_timeout(Some(within)).unwrap();
    while begun.elapsed() < within {
        match stream.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => {
                return !matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut);
            }
        }
    }
    false
}

#[test]
fn requests_that_do_not_arrive_are_given_up() {
    let server = server(ServeLimits::default().request_time(Duration::from_millis(200)));
    let mut silent = connect(server.address());
    let mut begun = connect(server.address());
    begun.write_all(b"GET /raw/large HTTP/1.1\r\nHost: local").unwrap();
    let mut kept = connect(server.address());
    kept.write_all(b"HEAD /raw/large HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    for stream in [&mut silent, &mut begun, &mut kept] {
        assert!(is_closed(stream, Duration::from_secs(20)));
    }
}

#[test]
fn clients_that_send_no_request_give_way_to_others() {
    // Nobody is given up for time while the test runs.
    let limits = ServeLimits::default().connections(4).request_time(Duration::from_secs(600));
    let server = server(limits.stall_time(Duration::from_secs(600)));
    let head = b"GET /raw/large HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut answered = connect(server.address());
    answered.write_all(head).unwrap();
    let mut begun = [0; 1000];
    answered.read_exact(&mut begun).unwrap();
    // Three fill the other places, twenty more take the places of the oldest.
    let mut silent: Vec<TcpStream> = (0..23).map(|_| connect(server.address())).collect();
    silent[22].write_all(&head[..20]).unwrap();
    for _ in 0..3 {
        let begun = Instant::now();
        assert_eq!(get(&server, "/api/store").status, 200);
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
    assert!(is_closed(&mut silent[0], Duration::from_secs(20)));
    // One that is being answered stays, and so does one that waits since then: it is used again.
    let mut rest = vec![0; SIZE - 1000];
    answered.read_exact(&mut rest).unwrap();
    assert!(begun.starts_with(b"HTTP/1.1 200 ") && rest.ends_with(&[7; 1000]));
}

/// More clients than places, each of which asks at once: none gives way to another before its request was looked at.
#[test]
fn many_requests_at_once_are_all_answered() {
    let server = server(ServeLimits::default().connections(2).request_time(Duration::from_secs(600)));
    let address = server.address();
    let head = b"HEAD /raw/large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let clients: Vec<_> =
        (0..60).map(|_| std::thread::spawn(move || crate::support::exchange(address, head))).collect();
    for client in clients {
        assert!(client.join().unwrap().starts_with(b"HTTP/1.1 200 "));
    }
}

/// All places are taken by clients that are answered: a further one waits until one has its answer.
#[test]
fn a_client_that_has_its_answer_gives_way() {
    let server = server(ServeLimits::default().connections(1).request_time(Duration::from_secs(600)));
    let mut first = connect(server.address());
    first.write_all(b"GET /raw/large HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut head = [0; 64];
    first.read_exact(&mut head).unwrap();
    let address = server.address();
    let second = std::thread::spawn(move || {
        let head = b"HEAD /raw/large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        crate::support::exchange(address, head)
    });
    let mut taken = head.len();
    let mut bytes = vec![0; 1 << 20];
    while let Ok(count @ 1..) = first.read(&mut bytes) {
        taken += count;
    }
    assert!(taken > SIZE, "{taken}");
    assert!(second.join().unwrap().starts_with(b"HTTP/1.1 200 "));
}

/// Clients that begin to read values of 8 MiB, of which a few would fill all that may be held, and read no further.
#[test]
fn clients_that_hardly_read_leave_room_to_others() {
    let store = MemoryStore::new();
    for (name, size) in [("slow", 8 << 20), ("middle", 1 << 20), ("small", 100)] {
        store.set_all(&Key::new(name).unwrap(), &vec![7; size]).unwrap();
    }
    let store: Arc<dyn zarr_array::Store> = Arc::new(store);
    Group::create(&store, "/", NewGroup::new(), &registry()).unwrap();
    // None of them is given up while the test runs.
    let limits = ServeLimits::default().held_bytes(32 << 20).stall_time(Duration::from_secs(600));
    let server = serve(store, &ServeOptions::default().limits(limits));
    let begin = |_| {
        let mut stream = connect(server.address());
        stream.write_all(b"GET /raw/slow HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut bytes = [0; 256];
        stream.read_exact(&mut bytes).unwrap();
        assert!(bytes.starts_with(b"HTTP/1.1 200 "));
        stream
    };
    let streams: Vec<TcpStream> = (0..33).map(begin).collect();
    for (path, size) in [("/raw/small", 100), ("/raw/middle", 1 << 20)] {
        let answer = get(&server, path);
        assert_eq!((answer.status, answer.body.len()), (200, size), "{path}");
    }
    assert_eq!(get(&server, "/api/info?path=/").status, 200);
    drop(streams);
}

/// Runs a test in a process of its own, as other tests take memory beside it.
fn alone(name: &str) {
    let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
    let ran = alone.args(["--exact", name, "--ignored"]).output().unwrap();
    let text = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn answers_that_are_not_taken_are_given_up_and_hold_little() {
    alone("slow::alone_answers_that_are_not_taken");
}

#[test]
fn answers_to_questions_hold_no_more_than_they_may() {
    alone("slow::alone_answers_to_questions");
}

/// Planes of 8 MiB, of which one may be held, for clients that take none.
#[test]
#[ignore = "the test above runs it alone"]
fn alone_answers_to_questions() {
    let store: Arc<dyn zarr_array::Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[1024, 1024], "float64").chunks(&[1024, 1024]).codecs("bytes").unwrap();
    Array::create(&store, "/a", new, &registry()).unwrap();
    let limits = ServeLimits::default().stall_time(Duration::from_millis(200)).held_bytes(9 << 20).computations(1, 60);
    let server = serve(store, &ServeOptions::default().limits(limits));
    let before = resident();
    let ask = |_| {
        let mut stream = connect(server.address());
        stream.write_all(b"GET /api/plane?path=/a&y=0&x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        stream
    };
    let streams: Vec<TcpStream> = (0..16).map(ask).collect();
    // Answered, or refused, after the others.
    assert!([200, 503].contains(&get(&server, "/api/info?path=/a").status));
    if let (Some(before), Some(after)) = (before, resident()) {
        // One that is held, one that is made, with all that this takes; 16 of them would be 128 MiB more.
        assert!(after.saturating_sub(before) < 130 << 20, "{before} bytes, then {after}");
    }
    drop(streams);
}

#[test]
#[ignore = "the test above runs it alone"]
fn alone_answers_that_are_not_taken() {
    let limits = ServeLimits::default().connections(40).stall_time(Duration::from_millis(300));
    let server = server(limits);
    let before = resident();
    let ask = |_| {
        let mut stream = connect(server.address());
        stream.write_all(b"GET /raw/large HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        stream
    };
    let mut streams: Vec<TcpStream> = (0..40).map(ask).collect();
    // All places are taken by clients that read nothing; they are freed for others.
    let begun = Instant::now();
    assert_eq!(get(&server, "/api/store").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    if let (Some(before), Some(after)) = (before, resident()) {
        // Of 128 KiB or, where the system has taken that, some more.
        assert!(after.saturating_sub(before) < 40 << 20, "{before} bytes, then {after}");
    }
    // One whose answer had not begun on a busy machine may come to its end now.
    let mut cut_off = 0;
    for stream in &mut streams {
        let mut taken = 0;
        let mut bytes = vec![0; 1 << 20];
        while let Ok(count @ 1..) = stream.read(&mut bytes) {
            taken += count;
        }
        cut_off += usize::from(taken < SIZE);
    }
    assert!(cut_off > 0, "the place for the other request was free");
}

/// The bytes of this process that are in memory, where the system tells.
pub(crate) fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok()? << 10)
}
