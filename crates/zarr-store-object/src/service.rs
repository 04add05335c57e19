//! Set-up of services, each behind a feature.

#[cfg(feature = "az")]
mod azure;
#[cfg(feature = "gs")]
mod gcs;
#[cfg(feature = "s3")]
mod s3;

use object_store::multipart::MultipartStore;
use object_store::{ObjectStore, RetryConfig};
use std::sync::Arc;
use zarr_store::Result;
use zarr_store_runtime::http::{Client, ClientOptions};
use zarr_store_runtime::{Hedge, Retry, StoreOptions, Throttle};

use crate::address::{Address, Protocol};
use crate::conditions::Kept;
use crate::connector::Connector;

/// Options of all services, which the documentation of [`BucketStore`](crate::BucketStore) explains.
const KNOWN: &[&str] = &[
    "allow_http",
    "allow_invalid_certificates",
    "anonymous",
    "concurrency",
    "connect_timeout",
    "deadline",
    "endpoint",
    "hedge",
    "missing",
    "proxy_url",
    "retries",
    "timeout",
    "user_agent",
];

/// Service that is set up, with further options.
pub(crate) struct Service {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// Store that erases each object with its own request; `None` if `store` does so.
    pub(crate) singly: Option<Arc<dyn ObjectStore>>,
    /// Identity of service and bucket; `None` if it is not known.
    pub(crate) service: Option<Arc<str>>,
    /// Store that uploads values in parts; `None` if values are not uploaded in parts.
    pub(crate) multipart: Option<Arc<dyn MultipartStore>>,
    pub(crate) region: Option<String>,
    /// Whether puts can have conditions.
    pub(crate) conditional: bool,
    /// Whether the service respects conditions of puts.
    pub(crate) kept: Kept,
    pub(crate) anonymous: bool,
    pub(crate) secrets: Vec<String>,
    pub(crate) common: Common,
}

/// Options that all services share.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    /// Whether a response with status 403 means that the key is missing.
    pub(crate) missing_403: bool,
    pub(crate) concurrency: usize,
    pub(crate) retry: Retry,
    anonymous: bool,
    allow_http: bool,
}

/// Parts from which a service is built.
struct Build<'o> {
    address: &'o Address,
    options: StoreOptions<'o>,
    common: Common,
    connector: Connector,
    retry: RetryConfig,
    endpoint: Option<&'o str>,
    /// Whether there is a proxy, which may lead the same address to another service.
    has_proxy: bool,
    secrets: Vec<String>,
}

impl Service {
    /// Sets up the service of an address. Makes no request.
    pub(crate) fn open(address: &Address, given: &[(String, String)]) -> Result<Self> {
        let name = address.to_string();
        let mut options = StoreOptions::new(&name, given);
        let missing_403 = match options.text("missing") {
            None | Some("404") => false,
            Some("403") => true,
            Some(other) => {
                return Err(options
                    .refuse(format!("option missing: found {other:?}, expected 403 (refused is missing) or 404")));
            }
        };
        let attempts = Retry::take(&mut options)?;
        let mut client = ClientOptions::default();
        client.timeout = attempts.timeout;
        if let Some(timeout) = options.duration("connect_timeout")? {
            client.connect_timeout = timeout;
        }
        client.proxy = options.text("proxy_url").map(str::to_owned);
        if let Some(name) = options.text("user_agent") {
            name.clone_into(&mut client.user_agent);
        }
        client.allow_invalid_certificates = options.flag("allow_invalid_certificates")?.unwrap_or(false);
        let number =
            |number: Option<u64>, default| number.and_then(|number| usize::try_from(number).ok()).unwrap_or(default);
        let common = Common {
            missing_403,
            concurrency: number(options.number("concurrency", 1, 4096)?, 512),
            retry: attempts,
            anonymous: options.flag("anonymous")?.unwrap_or(false),
            allow_http: options.flag("allow_http")?.unwrap_or(false),
        };
        // The connector repeats requests itself; retries of object_store would multiply with those.
        let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let mut secrets = Vec::new();
        // The address of a proxy may contain a password.
        secrets.extend(
            client
                .proxy
                .iter()
                .filter_map(|url| url.split_once("://")?.1.rsplit_once('@'))
                .map(|(user, _)| user.to_owned()),
        );
        let has_proxy = client.proxy.is_some();
        let client = Client::new(&client).map_err(|text| options.refuse(text))?;
        let hedge = Arc::new(Hedge::new(options.flag("hedge")?.unwrap_or(false)));
        let throttle = Arc::new(Throttle::new(common.concurrency));
        let names = address.names.clone();
        let connector = Connector { client, retry: attempts, throttle, hedge, names };
        let endpoint = options.text("endpoint");
        let build = Build { address, options, common, connector, retry, endpoint, has_proxy, secrets };
        match address.protocol {
            #[cfg(feature = "s3")]
            Protocol::S3 => s3::open(build),
            #[cfg(feature = "gs")]
            Protocol::Gcs => gcs::open(build),
            #[cfg(feature = "az")]
            Protocol::Azure => azure::open(build),
            #[cfg(not(all(feature = "s3", feature = "gs", feature = "az")))]
            _ => Err(build
                .options
                .refuse("this program is built without stores of this kind (features s3, gs, az)".to_owned())),
        }
    }
}

/// Store, and the same store if values are uploaded in parts.
type Stores = (Arc<dyn ObjectStore>, Option<Arc<dyn MultipartStore>>);

#[cfg(any(feature = "s3", feature = "gs"))]
fn in_parts<S: ObjectStore + MultipartStore>(store: S) -> Stores {
    let store = Arc::new(store);
    (Arc::clone(&store) as Arc<dyn ObjectStore>, Some(store))
}

#[cfg(any(feature = "s3", feature = "gs", feature = "az"))]
impl Build<'_> {
    /// Parses the remaining options as keys of the service. Their names, with or without `begin`, must be in `known`. The values of
    /// `secret` options are never shown.
    fn keys<K: std::str::FromStr>(&mut self, begin: &str, known: &[&str], secret: &[&str]) -> Result<Vec<(K, String)>> {
        let mut keys = Vec::new();
        for (name, value) in self.options.left() {
            let plain = name.strip_prefix(begin).unwrap_or(name);
            let key = known.contains(&plain).then(|| plain.parse().ok()).flatten();
            let Some(key) = key else {
                let all: Vec<&str> = KNOWN.iter().chain(known).copied().collect();
                return Err(self.options.unknown(name, &all));
            };
            if secret.contains(&plain) {
                self.secrets.push((*value).to_owned());
            }
            keys.push((key, (*value).to_owned()));
        }
        Ok(keys)
    }

    /// Checks the address of an endpoint.
    fn check_endpoint(&self, endpoint: &str) -> Result<()> {
        let refuse = |text: String| Err(self.options.refuse(text));
        let Some((scheme, rest)) = endpoint.split_once("://") else {
            return refuse("option endpoint: expected an address such as https://host:port".to_owned());
        };
        let authority = rest.split('/').next().unwrap_or_default();
        if authority.contains('@') || rest.contains(['?', '#']) {
            return refuse("option endpoint: it has an @, ? or #; credentials are options of their own".to_owned());
        }
        match scheme {
            "https" => Ok(()),
            "http" if self.common.allow_http || is_loopback(authority) => Ok(()),
            "http" => refuse(format!(
                "the endpoint http://{authority} is not encrypted, so that others can read and change what is sent: \
                 give --store-option allow_http=true if that is meant, or an endpoint with https://"
            )),
            _ => refuse("option endpoint: expected an address with https:// or http://".to_owned()),
        }
    }

    /// Completes the service from the store of object_store. `place` names its endpoint, account and region, as far as they are given.
    fn service(
        self,
        built: object_store::Result<Stores>,
        place: String,
        region: Option<String>,
        conditional: bool,
        anonymous: bool,
    ) -> Result<Service> {
        let Address { protocol, bucket, .. } = self.address;
        let service: Option<Arc<str>> = (!self.has_proxy).then(|| format!("{protocol:?} {place} {bucket}").into());
        // Drop very short secrets: hiding these would hide parts of many texts.
        let mut secrets = self.secrets;
        secrets.retain(|secret| secret.len() >= 4);
        let (store, multipart) = built.map_err(|error| {
            let mut text = error.to_string();
            secrets.iter().for_each(|secret| text = text.replace(secret.as_str(), "***"));
            self.options.refuse(text)
        })?;
        let (singly, kept) = (None, Kept::Yes);
        Ok(Service {
            store,
            singly,
            multipart,
            service,
            region,
            conditional,
            kept,
            anonymous,
            secrets,
            common: self.common,
        })
    }
}

#[cfg(any(feature = "s3", feature = "gs", feature = "az"))]
fn is_loopback(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

#[cfg(all(test, feature = "s3", feature = "gs", feature = "az"))]
mod tests;
