//! Stores for reading over HTTP.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::runtime::Handle;
use zarr_store::{
    self as store, AccessProfile, AsyncStore, Asynchronous, BoxFuture, Call, Capabilities, Error, ErrorKind, Key,
    Operation, Prefix, Result, fallback,
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

/// A read-only store of the values below an `http://` or `https://` address.
///
/// The futures need no particular runtime, and dropping a future ends its request. The store cannot list: open nodes by their paths, or by
/// consolidated metadata. Versions are strong ETags, or times of the last change if those are old enough. If a server sends neither,
/// several ranges of a value are read as one range.
///
/// A query string of the address, such as a signature, is part of each request. The query string, a name and password in the address, and
/// headers are never shown. Up to 10 redirects are followed, but not from `https://` to `http://`. The headers of the options are not sent
/// to another server.
///
/// A server without support for ranges sends whole values, from which the store cuts the range. It caches values of up to 16 MiB, 64 MiB
/// in total. Before a cached value is used, the server is asked whether the value has changed.
///
/// # Options
/// | name | value | default |
/// |---|---|---|
/// | `header.NAME` | a header of each request: `header.Authorization` | |
/// | `missing` | `403`: a refused value counts as missing, as with 404 and 410 | `404`: only 404 and 410 do |
/// | `deadline` | seconds after which a request, with all its attempts, fails; received bytes extend the time by as long as they take, at most by the time that they need at 64 KiB/s | `30` |
/// | `timeout` | seconds without received bytes after which an attempt fails | a third of `deadline` |
/// | `connect_timeout` | seconds for opening a connection | `5` |
/// | `retries` | greatest number of retries of a request | limited only by `deadline` |
/// | `max_value` | greatest number of bytes of one response | 2 GiB |
/// | `concurrency` | greatest number of concurrent requests; reduced while the server says that it has too many | `256` |
/// | `hedge` | `true`: a get whose response takes longer than 95 of 100 other responses is sent a second time, at most 2 of 100 gets | `false` |
/// | `proxy_url`, `user_agent`, `allow_invalid_certificates` | settings of connections | |
pub struct HttpStore {
    inner: Arc<Site>,
    runtime: Arc<IoRuntime>,
}

impl HttpStore {
    /// Opens the store at an address. Makes no request.
    ///
    /// # Errors
    /// If the address or an option is unknown or invalid. The message contains no secret.
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
            // Short words are no secrets: they are schemes, such as `Bearer`.
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

    /// Returns the store with its requests on a runtime of the program, instead of the threads that all stores share.
    #[must_use]
    pub fn on_runtime(self, handle: Handle) -> Self {
        Self { inner: self.inner, runtime: Arc::new(IoRuntime::of_handle(handle)) }
    }
}

impl HttpStore {
    /// Returns the error for a listing, which HTTP does not support.
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

/// Source of the values of a store.
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
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<store::Answer>> {
        Box::pin(async move {
            match call {
                Call::Get { key, ranges, options } => {
                    let (values, asked) = (Values(Arc::clone(&self.inner)), key.clone().into_owned());
                    let (ranges, options) = (ranges.into_owned(), options.into_owned());
                    let get = async move { zarr_store_runtime::get(&values, &asked, &ranges, &options).await };
                    let base = &self.inner.requests.base;
                    self.runtime.run(base, Operation::Get, key.as_str(), get).await.map(store::Answer::Got)
                }
                Call::ListDir { prefix } | Call::ListPrefix { prefix } => Err(self.no_list(&prefix)),
                call => fallback(Asynchronous(self), call).await,
            }
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().suffix_ranges(true)
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::REMOTE.concurrency(self.inner.concurrency)
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(self.runtime.sleep(duration))
    }
}
