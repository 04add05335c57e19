//! `zarr serve`: serves a store over HTTP.

use crate::args::dialect;
use crate::context::Context;
use crate::escape;
use crate::failure::{Failure, Result};
use crate::number;
use crate::object::{object, or_null};
use clap::Args;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc;
use zarr::meta::Dialect;
use zarr::serve::{Cors, ServeLimits, ServeOptions, Server, Token};

/// Serve a store over HTTP: a page to look at its arrays, and its values for other software.
///
/// Nothing is written, and no other store can be reached. By default only this machine can connect; beyond that, requests have to show the
/// token that is in the printed addresses. Zarr software opens the second address; keys are appended to it. Ctrl-C ends the server.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The store.
    #[arg(value_name = "URL")]
    url: String,
    /// The address of this machine to listen on: 0.0.0.0 and :: are all.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// The port; 0 is one that is free.
    #[arg(long, value_name = "PORT", default_value_t = 8000)]
    port: u16,
    /// Let pages of this origin read values, such as https://example.org, or `*` for all.
    #[arg(long, value_name = "ORIGIN")]
    cors: Option<String>,
    /// The token that requests have to show, of letters, digits, - and _; by default a random one beyond 127.0.0.1.
    #[arg(long, value_name = "TOKEN", conflicts_with = "no_token")]
    token: Option<String>,
    /// Let everyone read who can reach the server.
    #[arg(long)]
    no_token: bool,
    /// See only nodes of this dialect, if the store has several: v2, v3...
    #[arg(long, value_name = "DIALECT", aliases = ["format", "zarr-format"], value_parser = dialect)]
    dialect: Option<Dialect>,
    /// The memory for decoded chunks that are kept.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = number::parse_size)]
    cache: u64,
    /// How many connections are served at the same time; one more takes the place
    /// of the one that has waited longest for a request.
    #[arg(long, value_name = "N", default_value_t = 256)]
    connections: usize,
}

pub(crate) fn run(context: &Context, args: &Serve) -> Result<()> {
    let (address, path) = context.node_address(&args.url)?;
    if let Some(path) = path.filter(|path| !path.trim_matches('/').is_empty()) {
        let failure = Failure::usage(format!("{}: found the node {path}, expected a store", args.url));
        return Err(failure.with_hint(format!("zarr serve {address}")));
    }
    let store = context.open_store(&address)?;
    let (end, ended) = mpsc::channel();
    // The handler is set before the addresses are printed, since their reader may end the server.
    let handler = move || {
        // This fails if the server has ended already.
        let _ = end.send(());
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::usage(format!("Ctrl-C: {error}")))?;
    let server = Server::start(store, Arc::clone(&context.registry), &options(context, args))
        .map_err(|error| Failure::listening(SocketAddr::new(args.host, args.port), &error))?;
    if args.no_token && !args.host.is_loopback() {
        context.warnings(&["all who can reach this machine can read the store"]);
    }
    let (page, raw) = (server.page_url(), server.raw_url());
    let json = || object! { "page": page.as_str(), "raw": raw.as_str(), "token": or_null(server.token()) };
    context.print(json, || {
        let line = |name: &str, url: &str| format!("{name}  {}\n", escape::line(url));
        let mut text = format!("{}{}", line("page", &page), line("zarr", &raw));
        if args.host.is_unspecified()
            && let Some(own) = own_address(args.host)
        {
            // Other machines reach this one by an address of its network.
            let own =
                |url: &str| url.replacen("127.0.0.1", &own.to_string(), 1).replacen("[::1]", &format!("[{own}]"), 1);
            text.push_str(&format!("From other machines:\n{}{}", line("page", &own(&page)), line("zarr", &own(&raw))));
        }
        text
    })?;
    // An error would mean that no signal can arrive any more.
    let _ = ended.recv();
    server.stop();
    Ok(())
}

/// The address of this machine in its network, if it has one. Sends nothing: a route decides which one it is.
fn own_address(any: IpAddr) -> Option<IpAddr> {
    // Addresses of documentation, which no machine has.
    let other = match any {
        IpAddr::V4(_) => "192.0.2.1:9",
        IpAddr::V6(_) => "[2001:db8::1]:9",
    };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0)).ok()?;
    socket.connect(other).ok()?;
    let own = socket.local_addr().ok()?.ip();
    (!own.is_unspecified() && !own.is_loopback()).then_some(own)
}

fn options(context: &Context, args: &Serve) -> ServeOptions {
    let token = match &args.token {
        Some(token) => Token::Given(token.clone()),
        None if args.no_token => Token::None,
        None => Token::BeyondLoopback,
    };
    let cors = match args.cors.as_deref() {
        None => Cors::None,
        Some("*") => Cors::Any,
        Some(origin) => Cors::Origin(origin.to_owned()),
    };
    let cache = usize::try_from(args.cache).unwrap_or(usize::MAX);
    ServeOptions::default()
        .address(SocketAddr::new(args.host, args.port))
        .token(token)
        .cors(cors)
        .dialect(args.dialect)
        .arrays(context.options())
        .limits(ServeLimits::default().connections(args.connections).cache_bytes(cache))
}
