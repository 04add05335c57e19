//! Verbs at work on a bucket whose answers take a while, which are sent a signal meanwhile.

use crate::folder::Folder;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use zarr_testserver::{Bucket, Logged, TestServer};

/// A bucket that has the store `s` of a folder.
pub(crate) struct Remote {
    pub(crate) folder: Folder,
    pub(crate) server: TestServer,
    endpoint: String,
}

impl Remote {
    pub(crate) fn of(folder: Folder) -> Self {
        let server = TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap();
        let endpoint = format!("endpoint={}", server.url());
        let remote = Self { folder, server, endpoint };
        remote.ok(&["cp", "s", "s3://data/s"]);
        remote
    }

    /// The arguments, with options of the bucket.
    pub(crate) fn with<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        let options = ["--store-option", "anonymous=true", "--store-option", &self.endpoint];
        args.iter().copied().chain(options).collect()
    }

    pub(crate) fn ok(&self, args: &[&str]) -> String {
        self.folder.ok(&self.with(args))
    }

    /// Runs the command and sends it a signal once it has made such a request, each of which takes so long. The signal that it ended by, and
    /// standard error.
    pub(crate) fn signalled(
        &self,
        args: &[&str],
        latency: Duration,
        is_such: impl Fn(&Logged) -> bool,
        signal: &str,
    ) -> (Option<i32>, String) {
        self.server.reset_counts();
        self.server.set_latency(latency);
        // Whoever runs the tests in the background has them ignore the signal.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT,TERM", env!("CARGO_BIN_EXE_zarr")]);
        command.args(self.with(args)).current_dir(self.folder.path("")).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let begun = Instant::now();
        let is_made = || self.server.log().iter().any(&is_such);
        while !is_made() && child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().is_ok());
        let ended = child.wait_with_output().unwrap();
        self.server.set_latency(Duration::ZERO);
        (ended.status.signal(), String::from_utf8(ended.stderr).unwrap())
    }
}
