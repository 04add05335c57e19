//! Stores in buckets.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tokio::runtime::Handle;
use zarr_store::{
    AccessProfile, Answer, AsyncStore, Asynchronous, BoxFuture, Call, Capabilities, CopySource, Key, Operation, Result,
    fallback,
};
use zarr_store_runtime::{IoRuntime, Remembered, Sizes};

use crate::address::{Address, Protocol};
use crate::bucket::Bucket;
use crate::conditions::{Conditions, Kept};
use crate::erasures::Erasures;
use crate::fault::Subject;
use crate::list::{list_dir, list_prefix, list_sizes};
use crate::read::Values;
use crate::service::Service;
use crate::{copy, erase, stream, write};

/// A prefix in a bucket of S3, Google Cloud Storage or Azure Blob Storage, as a store.
///
/// The futures need no particular runtime, and dropping a future ends its request. Values are read with GET only, never HEAD. Versions are
/// ETags, or generations in Google Cloud Storage. The service copies values within the bucket ([`copy`](zarr_store::AsyncStoreExt::copy)).
///
/// # Addresses
/// `s3://bucket/prefix`, `gs://bucket/prefix` (also `gcs://`), `az://container/prefix` and
/// `abfss://container@account.dfs.core.windows.net/prefix` (also `abfs://`). The prefix is written as the service stores it, without
/// percent-encoding. It may have empty segments after the first: `s3://bucket/d//x.zarr` is another store than `s3://bucket/d/x.zarr`.
/// Credentials are options or come from the environment.
///
/// # Options
/// Options of all services:
///
/// | name | value | default |
/// |---|---|---|
/// | `anonymous` | `true`: requests without credentials, for public buckets | `false` |
/// | `endpoint` | the address of the service: `https://host:port` | that of the provider |
/// | `allow_http` | `true`: the endpoint may be unencrypted. An endpoint of this machine always may | `false` |
/// | `missing` | `403`: a refused value counts as missing, for public buckets that cannot be listed | `404` |
/// | `deadline` | seconds after which a request, with all its attempts, fails; received bytes extend the time by as long as they take, sent bytes by the time that they need at 64 KiB/s | `30` |
/// | `timeout` | seconds without received bytes after which an attempt fails | a third of `deadline` |
/// | `connect_timeout` | seconds for opening a connection | `5` |
/// | `retries` | greatest number of retries of a request | limited only by `deadline` |
/// | `concurrency` | greatest number of concurrent requests; reduced while the service says that it has too many | `512` |
/// | `hedge` | `true`: a get whose response takes longer than 95 of 100 other responses is sent a second time, at most 2 of 100 gets | `false` |
/// | `proxy_url`, `user_agent`, `allow_invalid_certificates` | settings of connections | |
///
/// Options of S3: `profile` (in `~/.aws/credentials` and `~/.aws/config`; by default that of `AWS_PROFILE`, or else the default profile),
/// `region` (by default that of the environment, or else of the profile, or else `us-east-1`), `requester_pays`, and those of the crate
/// object_store, with or without `aws_`: `access_key_id`, `secret_access_key`, `session_token`, `virtual_hosted_style_request`,
/// `checksum_algorithm` and others. Options of Google Cloud Storage: `service_account`, `service_account_key`, `bearer_token` and others.
/// Options of Azure: `account_name`, `account_key`, `sas_token` and others. They are also read from the environment, in capitals:
/// `AWS_ACCESS_KEY_ID`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME`. Options override the environment. The error for an
/// unknown option lists the known ones.
///
/// # Names
/// Objects of the bucket whose names are no keys, such as `a/` or `a//b`, are not listed, read or erased.
pub struct BucketStore {
    inner: Arc<Bucket>,
    runtime: Arc<IoRuntime>,
}

impl BucketStore {
    /// Opens the store at an address. Makes no request.
    ///
    /// # Errors
    /// If the address or an option is unknown or invalid. The message contains no secret.
    pub fn open(url: &str, options: &[(String, String)]) -> Result<Self> {
        let address = Address::parse(url)?;
        let Service { store, singly, multipart, service, region, conditional, kept, anonymous, secrets, common } =
            Service::open(&address, options)?;
        let sizes = (address.protocol == Protocol::Azure).then(Sizes::default);
        let subject = Subject { address, region, secrets, anonymous };
        let inner = Bucket {
            subject,
            store,
            singly,
            erasures: Erasures::default(),
            multipart,
            common,
            conditional,
            conditions: Conditions::new(kept),
            service,
            no_copies: AtomicBool::new(false),
            sizes,
            writes: Remembered::default(),
        };
        Ok(Self { inner: Arc::new(inner), runtime: Arc::new(IoRuntime::new()) })
    }

    /// Returns the store with its requests on a runtime of the program, instead of the threads that all stores share.
    #[must_use]
    pub fn on_runtime(self, handle: Handle) -> Self {
        Self { inner: self.inner, runtime: Arc::new(IoRuntime::of_handle(handle)) }
    }

    /// Runs an operation on the runtime for I/O.
    fn run<'a, T, F>(
        &'a self,
        operation: Operation,
        key: &'a str,
        work: impl FnOnce(Arc<Bucket>) -> F,
    ) -> BoxFuture<'a, Result<T>>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let key = if key.is_empty() { "/" } else { key };
        Box::pin(self.runtime.run(&self.inner.subject.address, operation, key, work(Arc::clone(&self.inner))))
    }
}

impl fmt::Display for BucketStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.subject.address.fmt(f)
    }
}

impl fmt::Debug for BucketStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BucketStore").field("address", &self.to_string()).finish_non_exhaustive()
    }
}

impl AsyncStore for BucketStore {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let (operation, name) = (call.operation(), call.name().to_owned());
            Ok(match call {
                Call::Get { key, ranges, options } => {
                    let (key, ranges, options) = (key.into_owned(), ranges.into_owned(), options.into_owned());
                    let get =
                        |inner| async move { zarr_store_runtime::get(&Values(inner), &key, &ranges, &options).await };
                    Answer::Got(self.run(operation, &name, get).await?)
                }
                Call::Set { key, value, options } => {
                    let (key, value, when) = (key.into_owned(), value.into_bytes(), options.into_owned().when);
                    Answer::Set(self.run(operation, &name, |inner| write::set(inner, key, value.into(), when)).await?)
                }
                Call::SetPieces { key, pieces, options } => {
                    let (key, when) = (key.into_owned(), options.into_owned().when);
                    let value = pieces.into_bytes().into_iter().collect();
                    Answer::Set(self.run(operation, &name, |inner| write::set(inner, key, value, when)).await?)
                }
                // No request is made. Pieces are uploaded in parts of 8 MiB if the set has no condition, in S3 and Google Cloud Storage.
                // Otherwise, and for values smaller than a part, they are held in memory, and finishing the set is a single put.
                Call::BeginSet { key, head, options } => {
                    Answer::Begun(stream::begin(&self.inner, &key, head, &options)?)
                }
                Call::AppendToSet { key, stream, pieces } => {
                    let streamed = stream::take(&self.inner, &key, &stream)?;
                    let streamed = self.run(operation, &name, |_| streamed.append(pieces)).await?;
                    stream::put_back(&self.inner, &key, &stream, streamed)?.into()
                }
                Call::FinishSet { key, stream, head } => {
                    stream.check_head(&self.inner.subject.address, &key, &head)?;
                    let streamed = stream::take(&self.inner, &key, &stream)?;
                    Answer::Set(self.run(operation, &name, |_| streamed.finish(head)).await?)
                }
                // A source of another bucket, service or account cannot be copied by this service.
                Call::Copy { from, to } if self.copy_source(&to).is_some_and(|target| target.is_beside(&from)) => {
                    let (from, to) = (from.into_owned(), to.into_owned());
                    Answer::Copied(self.run(operation, &name, |inner| copy::copy(inner, from, to)).await?)
                }
                Call::Erase { key } => {
                    let key = key.into_owned();
                    self.run(operation, &name, |inner| erase::erase(inner, key)).await?.into()
                }
                Call::ErasePrefix { prefix } => {
                    let prefix = prefix.into_owned();
                    self.run(operation, &name, |inner| erase::erase_prefix(inner, prefix)).await?.into()
                }
                Call::ListDir { prefix } => {
                    let prefix = prefix.into_owned();
                    Answer::Listing(self.run(operation, &name, |inner| list_dir(inner, prefix)).await?)
                }
                Call::ListPrefix { prefix } => {
                    let prefix = prefix.into_owned();
                    Answer::Keys(self.run(operation, &name, |inner| list_prefix(inner, prefix)).await?)
                }
                Call::ListSizes { prefix, visit } => {
                    let (prefix, visit) = (prefix.into_owned(), visit.into_owned());
                    self.run(operation, &name, |inner| list_sizes(inner, prefix, visit)).await?.into()
                }
                call => return fallback(Asynchronous(self), call).await,
            })
        })
    }

    fn capabilities(&self) -> Capabilities {
        let conditional = self.inner.conditional && self.inner.conditions.kept() != Kept::No;
        let capabilities = Capabilities::none().write(true).list(true).conditional(conditional);
        // Values that a service has confirmed survive a power loss.
        capabilities.suffix_ranges(self.inner.sizes.is_none()).durable(true).streams(true)
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::REMOTE.concurrency(self.inner.common.concurrency)
    }

    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        Some(CopySource::new(self.inner.service.as_ref()?, self.inner.subject.address.names.object(key.as_str())))
    }

    fn take_warnings(&self) -> Vec<String> {
        self.inner.conditions.take_warnings()
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(self.runtime.sleep(duration))
    }
}
