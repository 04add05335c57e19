//! Start and stop of the server.

use crate::access_policy::{AccessPolicy, TOKEN_PATH};
use crate::answer::answer;
use crate::nodes::Nodes;
use crate::options::{ServeLimits, ServeOptions};
use crate::paced_socket::PacedSocket;
use crate::places::{ConnectionLimit, Place};
use crate::server_state::ServerState;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioTimer;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinSet;
use zarr_array::{Registry, Store};

/// Greatest number of connections that wait to be accepted.
const BACKLOG: u32 = 1024;
/// Greatest size of the head of a request in bytes.
const MAX_HEAD: usize = 16 << 10;
/// Greatest number of headers of a request.
const MAX_HEADERS: usize = 64;
/// Time for answers to complete after the server was stopped.
const END: Duration = Duration::from_secs(5);
/// Number of threads that wait for sockets. Other threads read and compute.
const THREADS: usize = 2;

/// HTTP server for one store, with its own threads. It stops when it is dropped.
///
/// `/` is a page to view the arrays. `/raw/KEY` is a value of the store, unchanged: Zarr software opens [`raw_url`](Self::raw_url).
/// `/api/` answers the questions of the page. The server never writes.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    token: Option<String>,
    stop: watch::Sender<bool>,
    accepting: Option<tokio::task::JoinHandle<()>>,
    /// Runtime of the threads; `None` once the server is stopped.
    runtime: Option<Runtime>,
}

impl Server {
    /// Starts a server for `store`.
    ///
    /// # Errors
    /// If the address is in use or does not belong to this machine, the token or origin in `options` is invalid, or the system provides
    /// no threads.
    pub fn start(store: Arc<dyn Store>, registry: Arc<Registry>, options: &ServeOptions) -> io::Result<Self> {
        let limits = &options.limits;
        let access = AccessPolicy::new(options)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .max_blocking_threads(limits.gets.max(1).saturating_add(limits.computations.max(1)))
            .thread_name("zarr-serve")
            .enable_all()
            .build()?;
        let listener = {
            let _inside = runtime.enter();
            listen(options.address)?
        };
        let address = listener.local_addr()?;
        let token = access.token().map(str::to_owned);
        let shared = Arc::new(ServerState::new(access, Nodes::new(store, registry, options), limits));
        let (stop, stopped) = watch::channel(false);
        let accepting = Some(runtime.spawn(accept(listener, shared, limits.clone(), stopped)));
        Ok(Self { address, token, stop, accepting, runtime: Some(runtime) })
    }

    /// Returns the address at which the server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the token that requests must show; `None` if none is required.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Returns the URL of the page, including the token.
    #[must_use]
    pub fn page_url(&self) -> String {
        let token = self.token().map_or(String::new(), |token| format!("?token={token}"));
        format!("http://{}/{token}", self.reachable())
    }

    /// Returns the URL at which Zarr software opens the store, including the token. Keys are appended to it.
    #[must_use]
    pub fn raw_url(&self) -> String {
        let token = self.token().map_or(String::new(), |token| format!("{TOKEN_PATH}{token}"));
        format!("http://{}{}/raw/", self.reachable(), token.trim_end_matches('/'))
    }

    /// Returns an address by which this machine reaches the server.
    fn reachable(&self) -> SocketAddr {
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        SocketAddr::new(ip, self.address.port())
    }

    /// Stops the server: it accepts no more connections, and answers that are being sent have five seconds to complete.
    pub fn stop(mut self) {
        let _ = self.stop.send(true);
        if let (Some(runtime), Some(accepting)) = (self.runtime.take(), self.accepting.take()) {
            let _ = runtime.block_on(accepting);
            runtime.shutdown_background();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Do not wait for tasks to end, since this may be called within another runtime.
            runtime.shutdown_background();
        }
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Else the port would be taken for a minute after a server that was stopped.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts connections until the server stops, serves at most `limits.connections` of them concurrently, and waits for their end.
async fn accept(listener: TcpListener, shared: Arc<ServerState>, limits: ServeLimits, stopped: watch::Receiver<bool>) {
    let places = ConnectionLimit::new(limits.connections);
    let mut connections = JoinSet::new();
    let next = async {
        loop {
            match listener.accept().await {
                Ok((socket, _)) => {
                    let Some(place) = places.take().await else { return };
                    connections.spawn(serve(socket, Arc::clone(&shared), limits.clone(), stopped.clone(), place));
                }
                // For example too many open files: some of them will be closed.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
            while connections.try_join_next().is_some() {}
        }
    };
    let mut ended = stopped.clone();
    tokio::select! {
        () = next => {}
        () = until(&mut ended) => {}
    }
    drop(listener);
    let _ = tokio::time::timeout(END, async { while connections.join_next().await.is_some() {} }).await;
}

/// Waits until the server stops.
async fn until(stopped: &mut watch::Receiver<bool>) {
    // Waiting fails only if the server is gone already.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// Serves one connection.
async fn serve(
    socket: TcpStream,
    shared: Arc<ServerState>,
    limits: ServeLimits,
    mut stopped: watch::Receiver<bool>,
    place: Place,
) {
    // Without this, some answers wait for an acknowledgement. A socket that is already closed fails later.
    let _ = socket.set_nodelay(true);
    let place = Arc::new(place);
    let client = Arc::clone(place.connection());
    let io = PacedSocket::new(socket, limits.stall_time, Arc::clone(&place));
    let service = service_fn(move |request| {
        let (shared, client, answering) = (Arc::clone(&shared), Arc::clone(place.connection()), place.answers());
        async move { Ok::<_, Infallible>(answer(shared, client, request).await.map(|body| answering.of(body))) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.request_time)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD)
        .serve_connection(io, service);
    let mut connection = pin!(connection);
    // Errors are ignored: they mean that a client went away or took too long.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = client.given_up() => return,
        () = until(&mut stopped) => {}
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        _ = connection => {}
        () = client.given_up() => {}
    }
}
