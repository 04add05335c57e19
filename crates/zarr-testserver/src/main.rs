//! `zarr-testserver`: serves directories as buckets, from memory.

#![forbid(unsafe_code)]

mod control;

use clap::{Parser, ValueEnum};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use zarr_testserver::{Bucket, Listing, TestServer};

/// Serves directories over HTTP from memory: for tests and benchmarks, on 127.0.0.1 alone.
#[derive(Debug, Parser)]
#[command(name = "zarr-testserver")]
struct Arguments {
    /// A directory; its last name is that of the bucket. May be given several times.
    #[arg(long)]
    dir: Vec<PathBuf>,
    /// The name of an empty bucket. May be given several times.
    #[arg(long)]
    bucket: Vec<String>,
    /// The port; 0 is one that is free.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The time before each answer, as in `50ms` or `1.5s`.
    #[arg(long, default_value = "0ms", value_parser = duration)]
    latency: Duration,
    /// The bytes/s of each connection, as in `60M` (60,000,000) or `64Mi` (67,108,864).
    #[arg(long, value_parser = bytes)]
    bandwidth: Option<u64>,
    /// An access key and its secret that requests to S3 buckets have to have, as in `key:secret`.
    #[arg(long)]
    credentials: Option<String>,
    /// How the buckets answer.
    #[arg(long, value_enum, default_value_t = FaceName::S3)]
    face: FaceName,
    /// How many threads answer.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Takes orders from standard input, one in a line, and ends with it: `latency 50ms`, `bandwidth 60M`, `bandwidth
    /// none`, `reset` (of the counts), `counts`. The answer is a line as well: `ok`, the counts in JSON, or `error:` and
    /// a message.
    #[arg(long)]
    control: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FaceName {
    /// S3 with the bucket in the path.
    S3,
    /// The XML API of Google Cloud Storage.
    Gcs,
    /// Files, without listing.
    Plain,
    /// Files, with listings in the JSON of nginx.
    Json,
    /// Files, with listings in HTML.
    Html,
    /// Files, with listings of WebDAV.
    Webdav,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("zarr-testserver: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<(), String> {
    let mut builder = TestServer::builder().port(arguments.port).latency(arguments.latency).threads(arguments.threads);
    if let Some(bandwidth) = arguments.bandwidth {
        builder = builder.bandwidth(bandwidth);
    }
    if let Some(credentials) = &arguments.credentials {
        let (key, secret) = credentials.split_once(':').ok_or("--credentials: no `:` between key and secret")?;
        builder = builder.credentials(key, secret);
    }
    let options = match arguments.face {
        FaceName::S3 => Bucket::s3(),
        FaceName::Gcs => Bucket::gcs(),
        FaceName::Plain => Bucket::plain(),
        FaceName::Json => Bucket::plain().listing(Listing::Json),
        FaceName::Html => Bucket::plain().listing(Listing::Html),
        FaceName::Webdav => Bucket::plain().listing(Listing::WebDav),
    };
    let server = builder.start().map_err(|error| format!("port {}: {error}", arguments.port))?;
    for name in &arguments.bucket {
        server.bucket(name, options);
    }
    for directory in &arguments.dir {
        // The name is known even for `.` and `data/..`.
        let path = directory.canonicalize().map_err(|error| format!("{}: {error}", directory.display()))?;
        let name = path.file_name().and_then(|name| name.to_str());
        let name =
            name.ok_or_else(|| format!("{}: the name of the directory is no name of a bucket", path.display()))?;
        server.bucket(name, options);
        server.load(name, &path).map_err(|error| error.to_string())?;
        eprintln!("bucket {name}: {} keys", server.keys(name).len());
    }
    // Flushed, as scripts wait for this line.
    let mut output = std::io::stdout().lock();
    writeln!(output, "{}", server.url()).and_then(|()| output.flush()).map_err(|error| error.to_string())?;
    // It is locked again for each answer.
    drop(output);
    if arguments.control {
        return control::obey(&server, std::io::stdin().lock(), std::io::stdout());
    }
    loop {
        std::thread::park();
    }
}

/// Parses a duration: a number and `ms` or `s`.
fn duration(text: &str) -> Result<Duration, String> {
    let expected = || format!("a time as in 50ms or 1.5s is expected, found {text:?}");
    let (number, scale) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').ok_or_else(expected)?, 1.0),
    };
    let number: f64 = number.trim().parse().map_err(|_| expected())?;
    Duration::try_from_secs_f64(number * scale).map_err(|_| expected())
}

/// Parses a number of bytes, with or without a unit.
fn bytes(text: &str) -> Result<u64, String> {
    let expected = || format!("a number of bytes as in 1000, 60M or 64Mi is expected, found {text:?}");
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let scale: u64 = match unit {
        "" => 1,
        "k" | "K" => 1000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        _ => return Err(expected()),
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(scale))
        .filter(|count| *count > 0)
        .ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes() {
        assert_eq!(duration("50ms"), Ok(Duration::from_millis(50)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(bytes("60M"), Ok(60_000_000));
        assert_eq!(bytes("64Mi"), Ok(64 << 20));
        assert_eq!(bytes("7"), Ok(7));
        for text in ["", "ms", "5", "-1s", "nans", "1e400s"] {
            assert!(duration(text).is_err(), "{text}");
        }
        for text in ["", "M", "-1", "1T", "0", "99999999999G"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
