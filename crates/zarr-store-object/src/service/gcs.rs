//! Google Cloud Storage.

use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey as Key};
use zarr_store::Result;

use super::{Build, Service};

/// Options of Google Cloud Storage, with or without `google_` before them.
pub(super) const KNOWN: &[&str] = &[
    "application_credentials",
    "base_url",
    "bearer_token",
    "service_account",
    "service_account_key",
    "service_account_path",
    "skip_signature",
];

const SECRET: &[&str] = &["bearer_token", "service_account_key"];

pub(super) fn open(mut build: Build<'_>) -> Result<Service> {
    let mut builder = GoogleCloudStorageBuilder::from_env();
    for (key, value) in build.keys::<Key>("google_", KNOWN, SECRET)? {
        builder = builder.with_config(key, value);
    }
    if let Some(endpoint) = build.endpoint {
        builder = builder.with_base_url(endpoint.trim_end_matches('/'));
    }
    if build.common.anonymous {
        builder = builder.with_skip_signature(true);
    }
    let value = |key: Key| builder.get_config_value(&key);
    let endpoint = value(Key::BaseUrl);
    if let Some(endpoint) = &endpoint {
        build.check_endpoint(endpoint)?;
    }
    build.secrets.extend([Key::BearerToken, Key::ServiceAccountKey].into_iter().filter_map(value));
    // The private key within an account (JSON text) is secret even alone.
    let private = |text: &String| Some(text.split_once("\"private_key\"")?.1.split('"').nth(1)?.to_owned());
    let private: Vec<String> = build.secrets.iter().filter_map(private).collect();
    build.secrets.extend(private);
    let anonymous = value(Key::SkipSignature).as_deref() == Some("true");
    let built = builder
        .with_bucket_name(&build.address.bucket)
        .with_http_connector(build.connector.clone())
        .with_retry(build.retry.clone())
        .build();
    build.service(built.map(super::in_parts), endpoint.unwrap_or_default(), None, true, anonymous)
}
