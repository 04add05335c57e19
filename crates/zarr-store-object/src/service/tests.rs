use super::*;
use zarr_store::ErrorKind;

fn open(url: &str, options: &[(&str, &str)]) -> Result<Service> {
    let options: Vec<(String, String)> =
        options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Service::open(&Address::parse(url).expect("an address"), &options)
}

fn refused(url: &str, options: &[(&str, &str)]) -> String {
    let error = open(url, options).map(|_| ()).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    assert!(!format!("{error:?} {error}").contains("SENTINEL"), "{error:?}");
    error.to_string()
}

#[test]
fn unknown_options_are_refused() {
    let text = refused("s3://b", &[("colour", "SENTINEL")]);
    for name in ["found \"colour\"", "anonymous", "region", "secret_access_key", "requester_pays", "timeout"] {
        assert!(text.contains(name), "{name}: {text}");
    }
    assert!(refused("gs://b", &[("region", "x")]).contains("service_account"));
    assert!(refused("az://b", &[("requester_pays", "true")]).contains("sas_token"));
    for (name, value) in
        [("anonymous", "maybe"), ("missing", "500"), ("concurrency", "0"), ("timeout", "soon"), ("retries", "-1")]
    {
        assert!(refused("s3://b", &[(name, value)]).contains(name));
    }
    assert!(refused("s3://b", &[("conditional_put", "never")]).contains("never"));
}

#[test]
fn every_known_option_is_one() {
    fn check<K: std::str::FromStr>(known: &[&str], begins: &[&str]) {
        for name in known {
            assert!(name.parse::<K>().is_ok(), "{name}");
            assert!(begins.iter().any(|begin| format!("{begin}{name}").parse::<K>().is_ok()), "{name}");
        }
    }
    check::<object_store::aws::AmazonS3ConfigKey>(s3::KNOWN, &["aws_"]);
    check::<object_store::gcp::GoogleConfigKey>(gcs::KNOWN, &["google_"]);
    check::<object_store::azure::AzureConfigKey>(azure::KNOWN, &["azure_", "azure_storage_", ""]);
}

#[test]
fn unencrypted_endpoints() {
    let keys = [("access_key_id", "id"), ("aws_secret_access_key", "SENTINEL")];
    let with = |more: &[(&'static str, &'static str)]| keys.iter().chain(more).copied().collect::<Vec<_>>();
    for endpoint in ["http://127.0.0.1:9000", "http://localhost:9000/x", "http://[::1]:1", "https://host"] {
        open("s3://b", &with(&[("endpoint", endpoint)])).map(|_| ()).expect("a service");
    }
    assert!(
        refused("s3://b", &with(&[("endpoint", "http://10.0.0.1:9000")])).contains("--store-option allow_http=true")
    );
    assert!(refused("s3://b", &with(&[("endpoint", "http://127.0.0.1.evil.org")])).contains("allow_http"));
    open("s3://b", &with(&[("endpoint", "http://10.0.0.1:9000"), ("allow_http", "true")]))
        .map(|_| ())
        .expect("a service");
    for endpoint in ["host:9000", "ftp://host", "https://SENTINEL@host", "https://host/?SENTINEL"] {
        assert!(refused("s3://b", &with(&[("endpoint", endpoint)])).contains("endpoint"), "{endpoint}");
    }
}

#[test]
fn accounts_of_azure() {
    assert!(refused("az://c/p", &[("account_key", "SENTINEL")]).contains("account_name"));
    open("az://c/p", &[("account_name", "me"), ("azure_storage_account_key", "c2VudGluZWw=")])
        .map(|_| ())
        .expect("a service");
    open("abfss://c@me.dfs.core.windows.net/p", &[("anonymous", "true")]).map(|_| ()).expect("a service");
}
