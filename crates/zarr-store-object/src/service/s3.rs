//! S3, and services that speak its protocol.

mod profile;

use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key};
use object_store::{ClientConfigKey, ObjectStore};
use zarr_store::Result;

use super::{Build, Service};
use crate::conditions::Kept;
use profile::{Profile, Shared};

/// Options of S3, with or without `aws_` before them.
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
    let profile = build.options.text("profile");
    let given = build.keys::<Key>("aws_", &[KNOWN, &["profile", "requester_pays"]].concat(), SECRET)?;
    let has_keys = given.iter().any(|(key, _)| *key == Key::AccessKeyId);
    let is_anonymous =
        build.common.anonymous || given.iter().any(|(key, value)| *key == Key::SkipSignature && value == "true");
    let has_endpoint = given.iter().any(|(key, _)| *key == Key::Endpoint);
    // The builder has a value for it in any case.
    let says_conditions =
        given.iter().any(|(key, _)| *key == Key::ConditionalPut) || std::env::var_os("AWS_CONDITIONAL_PUT").is_some();
    let mut builder = of_environment(profile.is_none() && !has_keys);
    let in_environment = CREDENTIALS.iter().any(|key| builder.get_config_value(key).is_some());
    let found = match Shared::new(&|name| std::env::var(name).ok()).profile(profile) {
        Ok(found) => found,
        // Its credentials are not needed.
        Err(_) if profile.is_none() && (has_keys || is_anonymous || in_environment) => Profile::default(),
        Err(text) => return Err(build.options.refuse(text)),
    };
    let takes_keys = !(has_keys || is_anonymous || (in_environment && profile.is_none()));
    builder = with_profile(builder, found, takes_keys, profile.is_some() && !has_endpoint);
    for (key, value) in given {
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
    let endpoint = value(Key::S3Endpoint).or_else(|| value(Key::Endpoint));
    if let Some(endpoint) = &endpoint {
        build.check_endpoint(endpoint)?;
    }
    let region = value(Key::Region).or_else(|| value(Key::DefaultRegion)).unwrap_or_else(|| "us-east-1".to_owned());
    build.secrets.extend([Key::SecretAccessKey, Key::Token].into_iter().filter_map(value));
    let anonymous = value(Key::SkipSignature).as_deref() == Some("true");
    // Also of the environment.
    let conditional = value(Key::ConditionalPut).is_none_or(|text| text != "disabled");
    let erases_singly = value(Key::DisableBulkDelete).as_deref() == Some("true");
    let builder = builder
        .with_region(&region)
        .with_bucket_name(&build.address.bucket)
        .with_http_connector(build.connector.clone())
        .with_retry(build.retry.clone());
    let built = builder.clone().build();
    let singly = built.as_ref().ok().filter(|_| !erases_singly).and_then(|store| {
        let credentials = Arc::clone(store.credentials());
        builder.with_disable_bulk_delete(true).with_credentials(credentials).build().ok()
    });
    // Whoever says how puts have conditions is believed, and so is the owner of the protocol.
    let host = endpoint.as_deref().unwrap_or_default().split("://").last().unwrap_or_default();
    let host = host.split(['/', ':']).next().unwrap_or_default();
    let is_known =
        host.is_empty() || host.ends_with(".amazonaws.com") || host.ends_with(".amazonaws.com.cn") || says_conditions;
    let place = format!("{} {region}", endpoint.unwrap_or_default());
    let mut service = build.service(built.map(super::in_parts), place, Some(region), conditional, anonymous)?;
    service.kept = if is_known { Kept::Yes } else { Kept::Unknown };
    service.singly = singly.map(|store| Arc::new(store) as Arc<dyn ObjectStore>);
    Ok(service)
}

/// Sources of credentials. Credentials from two places are not mixed.
const CREDENTIALS: [Key; 6] = [
    Key::AccessKeyId,
    Key::SecretAccessKey,
    Key::Token,
    Key::WebIdentityTokenFile,
    Key::ContainerCredentialsRelativeUri,
    Key::ContainerCredentialsFullUri,
];

/// Returns a builder with the settings of the environment, with or without its credentials.
fn of_environment(credentials: bool) -> AmazonS3Builder {
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut builder = AmazonS3Builder::new();
    for (name, value) in variables.filter(|(name, _)| name.starts_with("AWS_")) {
        if let Ok(key) = name.to_ascii_lowercase().parse::<Key>()
            && (credentials || !CREDENTIALS.contains(&key))
        {
            builder = builder.with_config(key, value);
        }
    }
    builder
}

/// Adds the settings of a profile, with its credentials if `takes_keys`. They override the settings of the environment if `is_first`, and
/// only fill gaps otherwise.
fn with_profile(builder: AmazonS3Builder, profile: Profile, takes_keys: bool, is_first: bool) -> AmazonS3Builder {
    let Profile { access_key_id, secret_access_key, session_token, region, endpoint_url } = profile;
    let is_unset =
        |builder: &AmazonS3Builder, keys: &[Key]| keys.iter().all(|key| builder.get_config_value(key).is_none());
    let mut builder = builder;
    if let (Some(id), Some(secret), true) = (access_key_id, secret_access_key, takes_keys) {
        builder = builder.with_access_key_id(id).with_secret_access_key(secret);
        if let Some(token) = session_token {
            builder = builder.with_token(token);
        }
    }
    if let Some(region) = region.filter(|_| is_first || is_unset(&builder, &[Key::Region, Key::DefaultRegion])) {
        builder = builder.with_region(region);
    }
    if let Some(endpoint) = endpoint_url {
        // That for S3 alone goes before options of the name `endpoint_url`.
        if is_first {
            builder = builder.with_config(Key::S3Endpoint, endpoint);
        } else if is_unset(&builder, &[Key::S3Endpoint, Key::Endpoint]) {
            builder = builder.with_config(Key::Endpoint, endpoint);
        }
    }
    builder
}
