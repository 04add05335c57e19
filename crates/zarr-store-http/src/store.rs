//! Stores to read over HTTP.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::runtime::Handle;
use zarr_store::{
    AccessProfile, AsyncStore, BoxFuture, ByteRange, Capabilities, Error, ErrorKind, Fetched, GetOptions, Key, Listing,
    Operation, Prefix, Result,
};
use zarr_store_runtime::http::{Client, ClientOptions};
use zarr_store_runtime::{
    Answer, Condition, Hedge, IoRuntime, RangeRequest, Retry, Sizes, Source, StoreOptions, Throttle,
};

use crate::answer::open;
use crate::base::Base;
use crate::cache::Cache;
use crate::requests::Requests;
use crate::site::Site;

const KNOWN: &[&str] = &[
    "allow_invalid_certificates",
    "concurrency",
    "connect_timeout",
    "deadline",
    "header.NAME",
    "hedge",
    "max_value",
    "missing",
    "proxy_url",
    "retries",
    "timeout",
    "user_agent",
];

/// The values below an `http://` or `https://` address, as a store to read.
///
/// Its futures need no particular runtime, and dropping one ends its request. It can not list: open nodes by their paths, or by
/// consolidated metadata. Versions are strong ETags, or times of the last change where these are old enough; where a server names
/// neither, several ranges of a value are read as one.
///
/// A query string of the address, such as a signature, is part of each request. Neither that, nor a name and password in it, nor
/// headers are ever shown. Up to 10 redirects are followed, not from `https://` to `http://`; another server does not get the headers.
///
/// A server that does not know ranges sends all of a value. It is cut, and values up to 16 MiB are kept, 64 MiB in all; before one is
/// used again the server is asked whether it has changed.
///
/// # Options
/// | name | value | without it |
/// |---|---|---|
/// | `header.NAME` | a header of each request: `header.Authorization` | |
/// | `missing` | `403`: a refused value counts as missing | `404`, and 410 |
/// | `deadline` | seconds after which a request has failed, with all its attempts; it has more time for bytes that come: as long as they take, and no longer than 64 KiB/s need | `30` |
/// | `timeout` | seconds after which an attempt fails to which nothing comes | a third of `deadline` |
/// | `connect_timeout` | seconds that opening a connection may take | `5` |
/// | `retries` | how often a request is tried again, at most | no bound but `deadline` |
/// | `max_value` | bytes of one answer | 2 GiB |
/// | `concurrency` | how many requests are under way at once; fewer while the server says that it has too many | `256` |
/// | `hedge` | `true`: a get whose answer takes longer than 95 of 100 others did is sent a second time, at most 2 of 100 | `false` |
/// | `proxy_url`, `user_agent`, `allow_invalid_certificates` | of connections | |
pub struct HttpStore {
    inner: Arc<Site>,
    runtime: Arc<IoRuntime>,
}

impl HttpStore {
    /// Opens the store at an address. No request is made.
    ///
    /// # Errors
    /// If the address or an option is not known or not valid. The error shows no secret.
    pub fn open(url: &str, options: &[(String, String)]) -> Result<Self> {
        let base = Base::parse(url)?;
        let name = base.to_string();
        let mut options = StoreOptions::new(&name, options);
        let mut secrets = base.secrets();
        let mut headers = HeaderMap::new();
        for (header, text) in options.beginning("header.") {
            let (Ok(header), Ok(mut value)) = (HeaderName::try_from(header), HeaderValue::try_from(text)) else {
                return Err(options.refuse(format!(
                    "option header.{header:?}: no header, or its value has other characters than text"
                )));
            };
            if ["range", "if-match", "accept-encoding", "host", "content-length"].contains(&header.as_str()) {
                return Err(options.refuse(format!("option header.{header}: the store sets this header")));
            }
            value.set_sensitive(true);
            headers.append(header, value);
            // A scheme, such as `Bearer`, is none.
            secrets.extend(text.split_whitespace().filter(|part| part.len() > 6).map(str::to_owned));
        }
        let missing_403 = match options.text("missing") {
            None | Some("404") => false,
            Some("403") => true,
            Some(other) => {
                return Err(options
                    .refuse(format!("option missing: found {other:?}, expected 403 (refused is missing) or 404")));
            }
        };
        let mut client = ClientOptions::default();
        let retry = Retry::take(&mut options)?;
        client.timeout = retry.timeout;
        client.connect_timeout = options.duration("connect_timeout")?.unwrap_or(client.connect_timeout);
        client.proxy = options.text("proxy_url").map(str::to_owned);
        if let Some(name) = options.text("user_agent") {
            name.clone_into(&mut client.user_agent);
        }
        client.allow_invalid_certificates = options.flag("allow_invalid_certificates")?.unwrap_or(false);
        let concurrency =
            options.number("concurrency", 1, 4096)?.and_then(|number| usize::try_from(number).ok()).unwrap_or(256);
        let max_value = options.number("max_value", 1, 1 << 53)?.unwrap_or(2 << 30);
        let hedge = Hedge::new(options.flag("hedge")?.unwrap_or(false));
        options.finish(KNOWN)?;
        let client = Client::new(&client).map_err(|text| options.refuse(text))?;
        let requests =
            Requests { base, client, headers, secrets, retry, throttle: Arc::new(Throttle::new(concurrency)), hedge };
        let inner = Site {
            requests,
            missing_403,
            max_value,
            concurrency,
            whole_only: AtomicBool::new(false),
            cache: Cache::default(),
            suffix_refusals: AtomicU32::new(0),
            sizes: Sizes::default(),
        };
        Ok(Self { inner: Arc::new(inner), runtime: Arc::new(IoRuntime::new()) })
    }

    /// With its requests on a runtime of the program, instead of threads that all stores share.
    #[must_use]
    pub fn on_runtime(self, handle: Handle) -> Self {
        Self { inner: self.inner, runtime: Arc::new(IoRuntime::of_handle(handle)) }
    }
}

impl HttpStore {
    /// The error of a listing.
    fn no_list(&self, prefix: &Prefix) -> Error {
        let text = "the web lists nothing: name an array by its path, or write consolidated metadata (zarr consolidate) where the data \
                    come from, which names all";
        let prefix = if prefix.is_root() { "/" } else { prefix.as_str() };
        Error::failed(&self.inner.requests.base, Operation::List, prefix, ErrorKind::Unsupported, text)
    }
}

impl fmt::Display for HttpStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.requests.base.fmt(f)
    }
}

impl fmt::Debug for HttpStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpStore").field("address", &self.to_string()).finish_non_exhaustive()
    }
}

/// The values of a store.
struct Values(Arc<Site>);

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.requests.base.fmt(f)
    }
}

impl Source for Values {
    fn open(&self, key: &Key, range: RangeRequest, condition: Condition) -> BoxFuture<'static, Result<Answer>> {
        Box::pin(open(Arc::clone(&self.0), key.clone(), range, condition))
    }

    fn whole_only(&self) -> bool {
        self.0.whole_only()
    }

    fn sizes(&self) -> Option<&Sizes> {
        (self.0.no_suffix() && !self.0.whole_only()).then_some(&self.0.sizes)
    }

    fn concurrency(&self) -> usize {
        self.0.concurrency
    }
}

impl AsyncStore for HttpStore {
    fn get<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>> {
        let (values, asked, ranges, options) =
            (Values(Arc::clone(&self.inner)), key.clone(), ranges.to_vec(), options.clone());
        let get = async move { zarr_store_runtime::get(&values, &asked, &ranges, &options).await };
        Box::pin(self.runtime.run(&self.inner.requests.base, Operation::Get, key.as_str(), get))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().suffix_ranges(true)
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::REMOTE.concurrency(self.inner.concurrency)
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async { Err(self.no_list(prefix)) })
    }

    fn list_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Vec<Key>>> {
        Box::pin(async { Err(self.no_list(prefix)) })
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(self.runtime.sleep(duration))
    }
}
