//! Azure Blob Storage.

use std::sync::Arc;

use object_store::azure::{AzureConfigKey as Key, MicrosoftAzureBuilder};
use object_store::{ClientConfigKey, ObjectStore};
use zarr_store::Result;

use super::{Build, Service};

/// Options of Azure, with or without `azure_storage_` or `azure_` before them.
pub(super) const KNOWN: &[&str] = &[
    "access_key",
    "account_key",
    "account_name",
    "authority_host",
    "bearer_token",
    "client_id",
    "client_secret",
    "credential_type",
    "disable_tagging",
    "encryption_key",
    "fabric_cluster_identifier",
    "fabric_session_token",
    "fabric_token_service_url",
    "fabric_workload_host",
    "federated_token_file",
    "identity_endpoint",
    "msi_endpoint",
    "msi_resource_id",
    "object_id",
    "sas_key",
    "sas_token",
    "skip_signature",
    "tenant_id",
    "token",
    "use_azure_cli",
    "use_emulator",
    "use_fabric_endpoint",
];

const SECRET: &[&str] = &[
    "access_key",
    "account_key",
    "bearer_token",
    "client_secret",
    "encryption_key",
    "fabric_session_token",
    "sas_key",
    "sas_token",
    "token",
];

pub(super) fn open(mut build: Build<'_>) -> Result<Service> {
    let mut builder = MicrosoftAzureBuilder::from_env();
    let begin = if build.options.left().iter().any(|(name, _)| name.starts_with("azure_storage_")) {
        "azure_storage_"
    } else {
        "azure_"
    };
    for (key, value) in build.keys::<Key>(begin, KNOWN, SECRET)? {
        builder = builder.with_config(key, value);
    }
    if let Some(endpoint) = build.endpoint {
        builder = builder.with_endpoint(endpoint.to_owned());
    }
    if build.common.anonymous {
        builder = builder.with_skip_signature(true);
    }
    if let Some(account) = &build.address.account {
        builder = builder.with_account(account);
    }
    let value = |key: Key| builder.get_config_value(&key);
    let emulator = value(Key::UseEmulator).as_deref() == Some("true");
    if value(Key::AccountName).is_none() && !emulator {
        let text = "the account is missing: give --store-option account_name=..., AZURE_STORAGE_ACCOUNT_NAME in the environment, \
                    or abfss://container@account.dfs.core.windows.net/prefix";
        return Err(build.options.refuse(text.to_owned()));
    }
    build.common.allow_http |= value(Key::Client(ClientConfigKey::AllowHttp)).as_deref() == Some("true");
    if let Some(endpoint) = value(Key::Endpoint) {
        build.check_endpoint(&endpoint)?;
    }
    let place = [Key::AccountName, Key::Endpoint, Key::UseEmulator, Key::UseFabricEndpoint];
    let place = place.map(|key| value(key).unwrap_or_default()).join(" ");
    build.secrets.extend([Key::AccessKey, Key::ClientSecret, Key::SasKey, Key::Token].into_iter().filter_map(value));
    // The signature of a SAS is secret even alone, and is sent with other escapes.
    let signatures: Vec<String> = build
        .secrets
        .iter()
        .filter_map(|secret| {
            let signature = secret.split_once("sig=")?.1.split('&').next()?.replace("%3D", "=");
            Some(signature.trim_end_matches('=').to_owned())
        })
        .flat_map(|signature| [signature.replace("%2B", "+").replace("%2F", "/"), signature])
        .collect();
    build.secrets.extend(signatures);
    let anonymous = value(Key::SkipSignature).as_deref() == Some("true");
    let built = builder
        .with_container_name(&build.address.bucket)
        .with_http_connector(build.connector.clone())
        .with_retry(build.retry.clone())
        .build();
    let built = built.map(|store| (Arc::new(store) as Arc<dyn ObjectStore>, None));
    build.service(built, place, None, true, anonymous)
}
