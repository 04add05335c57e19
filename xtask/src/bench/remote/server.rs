//! Test server in a process of its own.

use super::measurements::Measurement;
use crate::cargo;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use zarr_json::Value;

/// Name of the bucket, and of the directory with its data.
pub(super) const BUCKET: &str = "remote";

/// Running server, which stops when it is dropped.
pub(super) struct Server {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    url: String,
}

impl Server {
    /// Builds the server, and starts it with the data in a directory.
    pub(super) fn start(root: &Path, data: &Path) -> Result<Self, String> {
        let target = root.join("target");
        cargo::build(&root.join("Cargo.toml"), &target, &["--release", "--package", "zarr-testserver"])?;
        let mut command = Command::new(target.join("release").join("zarr-testserver"));
        command.arg("--control").arg("--dir").arg(data).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("zarr-testserver: {error}"))?;
        let pipes = (process.stdin.take(), process.stdout.take());
        let (Some(orders), Some(answers)) = pipes else { return Err("zarr-testserver: no pipes".to_owned()) };
        let mut server = Self { process, orders, answers: BufReader::new(answers), url: String::new() };
        server.url = server.line()?;
        Ok(server)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Sets the latency and bandwidth of the server to those of a measurement.
    pub(super) fn set(&mut self, measurement: &Measurement) -> Result<(), String> {
        self.order(&format!("latency {}ms", measurement.latency))?;
        self.order(&format!("bandwidth {}", measurement.bandwidth.unwrap_or("none"))).map(drop)
    }

    /// Returns the counts of requests to the server since the last order `reset`.
    pub(super) fn counts(&mut self) -> Result<Value, String> {
        let line = self.order("counts")?;
        Value::from_json(&line).map_err(|error| format!("zarr-testserver printed {line:?}: {error}"))
    }

    /// Gives an order to the server, and returns the answer.
    pub(super) fn order(&mut self, order: &str) -> Result<String, String> {
        let given = writeln!(self.orders, "{order}").and_then(|()| self.orders.flush());
        given.map_err(|error| format!("zarr-testserver: {error}"))?;
        let line = self.line()?;
        if line.starts_with("error") { Err(format!("zarr-testserver: {line}")) } else { Ok(line) }
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(0) => Err("zarr-testserver ended".to_owned()),
            Ok(_) => Ok(line.trim_end().to_owned()),
            Err(error) => Err(format!("zarr-testserver: {error}")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
