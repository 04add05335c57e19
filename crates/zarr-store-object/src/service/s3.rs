//! S3, and services that speak its protocol.

use object_store::ClientConfigKey;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key};
use zarr_store::Result;

use super::{Build, Service};

/// Options of this service, also with `aws_` before them.
pub(super) const KNOWN: &[&str] = &[
    "access_key_id",
    "checksum_algorithm",
    "conditional_put",
    "container_authorization_token_file",
    "container_credentials_full_uri",
    "container_credentials_relative_uri",
    "default_region",
    "disable_bulk_delete",
    "disable_tagging",
    "endpoint_url",
    "endpoint_url_sts",
    "imdsv1_fallback",
    "metadata_endpoint",
    "region",
    "request_payer",
    "role_arn",
    "role_session_name",
    "s3_express",
    "secret_access_key",
    "server_side_encryption",
    "session_token",
    "skip_signature",
    "sse_bucket_key_enabled",
    "sse_customer_key_base64",
    "sse_kms_key_id",
    "unsigned_payload",
    "virtual_hosted_style_request",
    "web_identity_token_file",
];

const SECRET: &[&str] = &["secret_access_key", "session_token", "sse_customer_key_base64"];

pub(super) fn open(mut build: Build<'_>) -> Result<Service> {
    let requester_pays = build.options.flag("requester_pays")?;
    let mut builder = AmazonS3Builder::from_env();
    for (key, value) in build.keys::<Key>("aws_", &[KNOWN, &["requester_pays"]].concat(), SECRET)? {
        builder = builder.with_config(key, value);
    }
    if let Some(endpoint) = build.endpoint {
        // That of the environment for S3 alone would otherwise come first.
        builder = builder.with_config(Key::S3Endpoint, endpoint);
    }
    if let Some(pays) = requester_pays {
        builder = builder.with_request_payer(pays);
    }
    if build.common.anonymous {
        builder = builder.with_skip_signature(true);
    }
    let value = |key: Key| builder.get_config_value(&key);
    build.common.allow_http |= value(Key::Client(ClientConfigKey::AllowHttp)).as_deref() == Some("true");
    if let Some(endpoint) = value(Key::S3Endpoint).or_else(|| value(Key::Endpoint)) {
        build.check_endpoint(&endpoint)?;
    }
    let region = value(Key::Region).or_else(|| value(Key::DefaultRegion)).unwrap_or_else(|| "us-east-1".to_owned());
    build.secrets.extend([Key::SecretAccessKey, Key::Token].into_iter().filter_map(value));
    let anonymous = value(Key::SkipSignature).as_deref() == Some("true");
    let conditional = value(Key::ConditionalPut).is_none_or(|text| text != "disabled");
    let built = builder
        .with_region(&region)
        .with_bucket_name(&build.address.bucket)
        .with_http_connector(build.connector.clone())
        .with_retry(build.retry.clone())
        .build();
    build.service(built, Some(region), conditional, anonymous)
}
