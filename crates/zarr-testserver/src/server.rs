//! The server: started, changed while it runs, stopped.

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

/// Number of connections that may wait to be accepted: clients that open hundreds at once would else wait a second for some of them.
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
    /// The time before the first byte of an answer. The operation is done after it. Requests do not wait for each
    /// other. None by default.
    pub fn latency(mut self, latency: Duration) -> Self {
        self.settings.latency = latency;
        self
    }

    /// The bytes/s of each connection, of bodies in either direction. By default as many as go.
    pub fn bandwidth(mut self, bytes_per_second: u64) -> Self {
        self.settings.bandwidth = Some(bytes_per_second);
        self
    }

    /// Requests to S3 buckets have to be signed with this secret, but for reads of public buckets. By default anyone
    /// may do anything.
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

    /// The port. By default one that is free.
    pub fn port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// How many threads answer requests. 2 by default.
    pub fn threads(self, count: usize) -> Self {
        Self { threads: count, ..self }
    }

    /// Starts the server.
    ///
    /// # Errors
    ///
    /// Where the port is taken or the system does not give a thread.
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

/// Accepts connections, forever.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            // For example too many open files: some of them will be closed.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        // Without it some answers wait for an acknowledgement. A socket that is closed already fails later.
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

/// An HTTP server over values in memory, on a free port of 127.0.0.1. It stops when it is dropped.
///
/// It runs on threads of its own, so that tests without a runtime can use it as well.
#[derive(Debug)]
pub struct TestServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    /// There until the server is dropped.
    runtime: Option<Runtime>,
}

impl TestServer {
    /// A server with the defaults of [`Builder`].
    ///
    /// # Errors
    ///
    /// Where there is no free port or the system does not give a thread.
    pub fn start() -> io::Result<Self> {
        Self::builder().start()
    }

    /// Settings of a server that is to be started.
    pub fn builder() -> Builder {
        Builder { settings: Settings::default(), buckets: Vec::new(), port: 0, threads: 2 }
    }

    /// The address of the server: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Makes an empty bucket, or changes how one answers. Its values stay.
    pub fn bucket(&self, name: &str, options: Bucket) {
        self.shared.values().bucket(name).options = options;
    }

    /// Sets a value, as a client would, and returns its ETag. A bucket that is not there becomes one of S3.
    pub fn put(&self, bucket: &str, key: &str, value: impl Into<Bytes>) -> String {
        let new = Payload::new(value.into(), Vec::new());
        let etag = new.etag.clone();
        self.shared.values().put(bucket, key, new);
        etag
    }

    /// As [`Self::put`], of a value that is stored encoded: the header `Content-Encoding` comes with it.
    pub fn put_encoded(&self, bucket: &str, key: &str, value: impl Into<Bytes>, encoding: &'static str) -> String {
        let headers = vec![(http::header::CONTENT_ENCODING, http::HeaderValue::from_static(encoding))];
        let new = Payload::new(value.into(), headers);
        let etag = new.etag.clone();
        self.shared.values().put(bucket, key, new);
        etag
    }

    /// The value of a key.
    pub fn get(&self, bucket: &str, key: &str) -> Option<Bytes> {
        Some(self.shared.values().buckets.get(bucket)?.objects.get(key)?.value.clone())
    }

    /// The ETag of a key's value, with its quotes.
    pub fn etag(&self, bucket: &str, key: &str) -> Option<String> {
        Some(self.shared.values().buckets.get(bucket)?.objects.get(key)?.etag.clone())
    }

    /// The generation of a key's value, which Google Cloud Storage has as its version.
    pub fn generation(&self, bucket: &str, key: &str) -> Option<u64> {
        Some(self.shared.values().buckets.get(bucket)?.objects.get(key)?.generation)
    }

    /// Removes a key, and returns its value.
    pub fn remove(&self, bucket: &str, key: &str) -> Option<Bytes> {
        Some(self.shared.values().buckets.get_mut(bucket)?.objects.remove(key)?.value)
    }

    /// The keys of a bucket in order. None for a bucket that is not there.
    pub fn keys(&self, bucket: &str) -> Vec<String> {
        let values = self.shared.values();
        values.buckets.get(bucket).map(|contents| contents.objects.keys().cloned().collect()).unwrap_or_default()
    }

    /// How many multipart uploads of a bucket are neither complete nor given up.
    pub fn uploads(&self, bucket: &str) -> usize {
        self.shared.values().buckets.get(bucket).map_or(0, |contents| contents.uploads.len())
    }

    /// The keys of a bucket as they are now, for [`crate::FaultKind::Stale`].
    pub fn snapshot(&self, bucket: &str) -> Snapshot {
        let values = self.shared.values();
        Snapshot(Arc::new(values.buckets.get(bucket).map(|contents| contents.objects.clone()).unwrap_or_default()))
    }

    /// Reads all files below `directory` into a bucket. The keys are the paths from there on, with `/` between names.
    ///
    /// # Errors
    ///
    /// Where a directory or file cannot be read, or its name is not UTF-8.
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

    /// The requests that came since the start or since [`Self::reset_counts`].
    pub fn counts(&self) -> Counts {
        self.shared.tally.counts()
    }

    /// Begins to count and to log anew. Requests that are being answered stay in flight.
    pub fn reset_counts(&self) {
        self.shared.tally.reset();
    }

    /// The last 100,000 requests that [`Self::counts`] counts, in the order in which they came.
    pub fn log(&self) -> Vec<Logged> {
        self.shared.tally.log()
    }

    /// Adds a rule to the end of the script of faults.
    pub fn fault(&self, fault: Fault) {
        self.shared.faults.push(fault);
    }

    /// Takes all rules out of the script of faults.
    pub fn clear_faults(&self) {
        self.shared.faults.clear();
    }

    /// How many rules of the script of faults have not come to their end.
    pub fn faults_left(&self) -> usize {
        self.shared.faults.len()
    }

    /// Changes what [`Builder::latency`] sets, for requests to come.
    pub fn set_latency(&self, latency: Duration) {
        self.shared.settings_mut().latency = latency;
    }

    /// Changes what [`Builder::bandwidth`] sets, for requests to come.
    pub fn set_bandwidth(&self, bytes_per_second: Option<u64>) {
        self.shared.settings_mut().bandwidth = bytes_per_second;
    }

    /// How many requests are answered at the same time: more get 503 `SlowDown` at once. By default as many as come.
    pub fn set_capacity(&self, capacity: Option<u64>) {
        self.shared.settings_mut().capacity = capacity;
    }

    /// Changes what [`Builder::credentials`] sets, an access key and its secret, for requests to come.
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

/// `error` with the path that it is about.
fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
