//! Orders to a running server, one in a line: for programs that start the server.

use crate::{bytes, duration};
use std::io::{BufRead, Write};
use zarr_testserver::TestServer;

/// Executes the order in each line, and answers each line with a line, until the input ends.
pub(crate) fn obey(server: &TestServer, orders: impl BufRead, mut answers: impl Write) -> Result<(), String> {
    for line in orders.lines() {
        let line = line.map_err(|error| format!("standard input: {error}"))?;
        let answer = answer(server, &line).unwrap_or_else(|error| format!("error: {error}"));
        // Flushed, as the other program waits for it.
        writeln!(answers, "{answer}").and_then(|()| answers.flush()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn answer(server: &TestServer, order: &str) -> Result<String, String> {
    match order.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["latency", time] => server.set_latency(duration(time)?),
        ["bandwidth", "none"] => server.set_bandwidth(None),
        ["bandwidth", count] => server.set_bandwidth(Some(bytes(count)?)),
        ["reset"] => server.reset_counts(),
        ["counts"] => return Ok(counts(server)),
        _ => return Err(format!("latency TIME, bandwidth BYTES, reset or counts is expected, found {order:?}")),
    }
    Ok("ok".to_owned())
}

fn counts(server: &TestServer) -> String {
    let counts = server.counts();
    let fields = [
        ("requests", counts.requests()),
        ("gets", counts.gets),
        ("heads", counts.heads),
        ("puts", counts.puts),
        ("lists", counts.lists),
        ("deletes", counts.deletes),
        ("others", counts.others),
        ("bytes_sent", counts.bytes_sent),
        ("bytes_received", counts.bytes_received),
        ("most_in_flight", counts.most_in_flight),
        ("aborted", counts.aborted),
        ("connections", counts.connections),
    ];
    let members: Vec<_> = fields.iter().map(|(name, count)| format!("\"{name}\": {count}")).collect();
    format!("{{{}}}", members.join(", "))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpStream;
    use std::time::{Duration, Instant};

    fn ask(server: &TestServer, orders: &str) -> Vec<String> {
        let mut answers = Vec::new();
        obey(server, orders.as_bytes(), &mut answers).unwrap();
        String::from_utf8(answers).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn orders() {
        let server = TestServer::start().unwrap();
        server.put("data", "a", "12345");
        let get = || {
            let start = Instant::now();
            let mut stream = TcpStream::connect(server.address()).unwrap();
            stream.write_all(b"GET /data/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.ends_with("12345"), "{answer}");
            start.elapsed()
        };
        get();
        assert_eq!(ask(&server, "latency 300ms\nreset\nbandwidth 1M"), ["ok"; 3]);
        assert!(get() >= Duration::from_millis(300));
        let found = ask(&server, "counts").concat();
        for part in ["{\"requests\": 1,", "\"gets\": 1,", "\"bytes_sent\": 5,", "\"connections\": 1}"] {
            assert!(found.contains(part), "{part} in {found}");
        }
        assert_eq!(ask(&server, "bandwidth none\nlatency 0ms"), ["ok"; 2]);
        for wrong in ["", "latency", "latency soon", "bandwidth -1", "stop"] {
            assert!(ask(&server, &format!("{wrong}\n")).concat().starts_with("error: "), "{wrong}");
        }
    }
}
