//! The server: its start, its settings while it runs, and its end.

use crate::answer::answer;
use crate::bucket::Bucket;
use crate::connection::{Connection, Io};
use crate::counts::{Counts, Logged};
use crate::faults::{Fault, Snapshot};
use crate::shared::{Credentials, Settings, Shared};
use crate::values::Payload;
use bytes::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Runtime;

/// Greatest number of connections that wait to be accepted: with fewer, clients that open hundreds at once would wait a second for some of
/// them.
const BACKLOG: u32 = 4096;

/// Settings of a server before it starts.
#[derive(Clone, Debug)]
pub struct Builder {
    settings: Settings,
    buckets: Vec<(String, Bucket)>,
    port: u16,
    threads: usize,
}

impl Builder {
    /// Sets the time between the arrival of a request and its operation. Requests do not wait for each other. The default is none.
    pub fn latency(mut self, latency: Duration) -> Self {
        self.settings.latency = latency;
        self
    }

    /// Sets the bandwidth of each connection in bytes/s, for bodies in either direction. The default is no limit.
    pub fn bandwidth(mut self, bytes_per_second: u64) -> Self {
        self.settings.bandwidth = Some(bytes_per_second);
        self
    }

    /// Requires requests to S3 buckets to be signed with this secret, except reads of public buckets. By default no signatures are
    /// required.
    pub fn credentials(mut self, access_key: impl Into<String>, secret: impl Into<String>) -> Self {
        let credentials = Credentials { access_key: access_key.into(), secret: secret.into() };
        self.settings.credentials = Some(Arc::new(credentials));
        self
    }

    /// Adds an empty bucket.
    pub fn bucket(mut self, name: impl Into<String>, options: Bucket) -> Self {
        self.buckets.push((name.into(), options));
        self
    }

    /// Sets the port. The default is any free port.
    pub fn port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// Sets the number of threads that answer requests. The default is 2.
    pub fn threads(self, count: usize) -> Self {
        Self { threads: count, ..self }
    }

    /// Starts the server.
    ///
    /// # Errors
    ///
    /// If the port is in use, or the system refuses a thread.
    pub fn start(self) -> io::Result<TestServer> {
        let Self { settings, buckets, port, threads } = self;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads.max(1))
            .thread_name("zarr-testserver")
            .enable_all()
            .build()?;
        let listener = {
            let _inside = runtime.enter();
            let socket = TcpSocket::new_v4()?;
            #[cfg(unix)]
            socket.set_reuseaddr(true)?;
            socket.bind((Ipv4Addr::LOCALHOST, port).into())?;
            socket.listen(BACKLOG)?
        };
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        *shared.settings_mut() = settings;
        for (name, options) in buckets {
            shared.values().bucket(&name).options = options;
        }
        runtime.spawn(accept(listener, shared.clone()));
        Ok(TestServer { shared, address, runtime: Some(runtime) })
    }
}

/// Accepts connections forever.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            // For example too many open files: some of them will be closed.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        // Without this option some answers wait for an acknowledgement. It fails for a socket that is already closed.
        let _ = socket.set_nodelay(true);
        let connection = Arc::new(Connection::new(shared.clone()));
        let io = Io::new(socket, connection.clone());
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(connection.clone(), request));
            // Errors are those of clients that went away, and faults on purpose.
            let _ = http1::Builder::new().serve_connection(io, service).await;
        });
    }
}

/// HTTP server over values in memory, on a free port of 127.0.0.1. The server stops when it is dropped.
///
/// The server runs on threads of its own, so that tests without a runtime can use it too.
#[derive(Debug)]
pub struct TestServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    /// Runtime of the server; `None` only while the server is dropped.
    runtime: Option<Runtime>,
}

impl TestServer {
    /// Starts a server with the default settings of [`Builder`].
    ///
    /// # Errors
    ///
    /// If there is no free port, or the system refuses a thread.
    pub fn start() -> io::Result<Self> {
        Self::builder().start()
    }

    /// Returns the settings of a server to be started.
    pub fn builder() -> Builder {
        Builder { settings: Settings::default(), buckets: Vec::new(), port: 0, threads: 2 }
    }

    /// Returns the URL of the server: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Creates an empty bucket, or changes the options of an existing one, whose values are unchanged.
    pub fn bucket(&self, name: &str, options: Bucket) {
        self.shared.values().bucket(name).options = options;
    }

    /// Sets a value, as a client would, and returns its ETag. Creates a bucket of S3 if the bucket does not exist.
    pub fn put(&self, bucket: &str, key: &str, value: impl Into<Bytes>) -> String {
        let new = Payload::new(value.into(), Vec::new());
        let etag = new.etag.clone();
        self.shared.values().put(bucket, key, new);
        etag
    }

    /// Sets a value that is stored encoded, with the header `Content-Encoding`, and returns its ETag. Creates a bucket of S3 if the bucket
    /// does not exist.
    pub fn put_encoded(&self, bucket: &str, key: &str, value: impl Into<Bytes>, encoding: &'static str) -> String {
        let headers = vec![(http::header::CONTENT_ENCODING, http::HeaderValue::from_static(encoding))];
        let new = Payload::new(value.into(), headers);
        let etag = new.etag.clone();
        self.shared.values().put(bucket, key, new);
        etag
    }

    /// Returns the value at a key; `None` if there is none.
    pub fn get(&self, bucket: &str, key: &str) -> Option<Bytes> {
        Some(self.shared.values().buckets.get(bucket)?.objects.get(key)?.value.clone())
    }

    /// Returns the ETag of the value at a key, with its quotes; `None` if there is no value.
    pub fn etag(&self, bucket: &str, key: &str) -> Option<String> {
        Some(self.shared.values().buckets.get(bucket)?.objects.get(key)?.etag.clone())
    }

    /// Returns the generation of the value at a key, which is its version in Google Cloud Storage; `None` if there is no value.
    pub fn generation(&self, bucket: &str, key: &str) -> Option<u64> {
        Some(self.shared.values().buckets.get(bucket)?.objects.get(key)?.generation)
    }

    /// Removes a key, and returns its value; `None` if there was none.
    pub fn remove(&self, bucket: &str, key: &str) -> Option<Bytes> {
        Some(self.shared.values().buckets.get_mut(bucket)?.objects.remove(key)?.value)
    }

    /// Returns the keys of a bucket in order; empty if the bucket does not exist.
    pub fn keys(&self, bucket: &str) -> Vec<String> {
        let values = self.shared.values();
        values.buckets.get(bucket).map(|contents| contents.objects.keys().cloned().collect()).unwrap_or_default()
    }

    /// Returns the number of multipart uploads of a bucket that are neither complete nor aborted.
    pub fn uploads(&self, bucket: &str) -> usize {
        self.shared.values().buckets.get(bucket).map_or(0, |contents| contents.uploads.len())
    }

    /// Returns the current keys and values of a bucket, for [`crate::FaultKind::Stale`] and [`crate::FaultKind::Cached`].
    pub fn snapshot(&self, bucket: &str) -> Snapshot {
        let values = self.shared.values();
        Snapshot(Arc::new(values.buckets.get(bucket).map(|contents| contents.objects.clone()).unwrap_or_default()))
    }

    /// Reads all files below `directory` into a bucket. The keys are the paths relative to `directory`, with `/` between names.
    ///
    /// # Errors
    ///
    /// If a directory or file cannot be read, or its name is not UTF-8.
    pub fn load(&self, bucket: &str, directory: impl AsRef<Path>) -> io::Result<()> {
        let mut directories = vec![(directory.as_ref().to_owned(), String::new())];
        self.shared.values().bucket(bucket);
        while let Some((directory, prefix)) = directories.pop() {
            for entry in std::fs::read_dir(&directory).map_err(|error| at(&directory, &error))? {
                let path = entry.map_err(|error| at(&directory, &error))?.path();
                let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
                    io::Error::new(io::ErrorKind::InvalidData, format!("{}: the name is not UTF-8", path.display()))
                })?;
                let key = format!("{prefix}{name}");
                if path.is_dir() {
                    directories.push((path, key + "/"));
                } else {
                    self.put(bucket, &key, std::fs::read(&path).map_err(|error| at(&path, &error))?);
                }
            }
        }
        Ok(())
    }

    /// Returns the counts of requests since the start or the last [`Self::reset_counts`].
    pub fn counts(&self) -> Counts {
        self.shared.tally.counts()
    }

    /// Resets the counts and the log. Requests that are being answered stay in flight.
    pub fn reset_counts(&self) {
        self.shared.tally.reset();
    }

    /// Returns the last 100,000 requests that [`Self::counts`] counts, in the order of their arrival.
    pub fn log(&self) -> Vec<Logged> {
        self.shared.tally.log()
    }

    /// Adds a rule to the end of the script of faults.
    pub fn fault(&self, fault: Fault) {
        self.shared.faults.push(fault);
    }

    /// Removes all rules from the script of faults.
    pub fn clear_faults(&self) {
        self.shared.faults.clear();
    }

    /// Returns the number of rules of the script of faults that are not used up.
    pub fn faults_left(&self) -> usize {
        self.shared.faults.len()
    }

    /// Changes the setting of [`Builder::latency`] for later requests.
    pub fn set_latency(&self, latency: Duration) {
        self.shared.settings_mut().latency = latency;
    }

    /// Changes the setting of [`Builder::bandwidth`] for later requests; `None` is no limit.
    pub fn set_bandwidth(&self, bytes_per_second: Option<u64>) {
        self.shared.settings_mut().bandwidth = bytes_per_second;
    }

    /// Sets the number of requests that are answered at the same time: further requests get 503 `SlowDown` at once. The default is no
    /// limit.
    pub fn set_capacity(&self, capacity: Option<u64>) {
        self.shared.settings_mut().capacity = capacity;
    }

    /// Changes the setting of [`Builder::credentials`], an access key and its secret, for later requests; `None` requires no signatures.
    pub fn set_credentials(&self, credentials: Option<(&str, &str)>) {
        let credentials = credentials.map(|(access_key, secret)| {
            Arc::new(Credentials { access_key: access_key.to_owned(), secret: secret.to_owned() })
        });
        self.shared.settings_mut().credentials = credentials;
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Does not wait, so that it may happen within another runtime.
            runtime.shutdown_background();
        }
    }
}

/// Adds the path to the message of an error.
fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
