//! Addresses of buckets.

use std::fmt;

use zarr_store::{Error, Result};

use crate::names::Names;

/// Accepted forms of addresses, for messages.
const EXPECTED: &str = "s3://, gs://, gcs://, az://, abfs:// or abfss://, with the name of a bucket behind it";

/// Protocol of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    S3,
    Gcs,
    Azure,
}

impl Protocol {
    /// Returns the word of the service for a bucket.
    pub(crate) fn bucket(self) -> &'static str {
        match self {
            Self::S3 | Self::Gcs => "bucket",
            Self::Azure => "container",
        }
    }
}

/// Address of a prefix in a bucket. The prefix is in the form in which the service stores it, not percent-encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) protocol: Protocol,
    scheme: &'static str,
    /// Azure account; `None` if the address names none.
    pub(crate) account: Option<String>,
    /// Host of the Azure account, as in the address; `None` if the address names none.
    host: Option<String>,
    pub(crate) bucket: String,
    pub(crate) names: Names,
}

impl Address {
    /// Parses `s3://bucket/prefix` and the other forms of addresses.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        // No part of an address that is not understood is shown: it may have secrets in it.
        let (scheme, rest) = url.split_once("://").unwrap_or((url.split(':').next().unwrap_or_default(), ""));
        let fault = |text: &str| {
            let name: String = scheme.chars().filter(char::is_ascii_alphanumeric).take(10).collect();
            Err(Error::Argument { store: format!("{name}://"), message: text.to_owned() })
        };
        let (protocol, scheme) = match scheme.to_ascii_lowercase().as_str() {
            "s3" => (Protocol::S3, "s3"),
            "s3a" => (Protocol::S3, "s3"),
            "gs" | "gcs" => (Protocol::Gcs, "gs"),
            "az" => (Protocol::Azure, "az"),
            "abfs" => (Protocol::Azure, "abfs"),
            "abfss" => (Protocol::Azure, "abfss"),
            _ => return Err(Error::Address { url: format!("{}:", clean(scheme)), expected: EXPECTED }),
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if rest.contains(['?', '#']) {
            return fault("the address has a ? or #; settings are options (--store-option name=value)");
        }
        let (bucket, host) = match authority.split_once('@') {
            None => (authority, None),
            Some((container, host)) if scheme.starts_with("abfs") => (container, Some(host)),
            Some(_) => return fault("the address has an @; credentials are options or come from the environment"),
        };
        let account = match host {
            None => None,
            Some(host) if !is_name(host) => {
                return fault("the name of the account has other characters than names of hosts");
            }
            Some(host) => host.split('.').next().map(str::to_owned),
        };
        // `$root` and `$web` are containers of Azure.
        let plain = if protocol == Protocol::Azure { bucket.strip_prefix('$').unwrap_or(bucket) } else { bucket };
        if !is_name(plain) {
            return fault(&format!(
                "the name of the {} is missing, or has other characters than letters, digits, dots, - and _",
                protocol.bucket()
            ));
        }
        if path.starts_with('/') {
            return fault(&format!(
                "two slashes stand behind the name of the {}: objects whose names begin with a slash cannot be reached",
                protocol.bucket()
            ));
        }
        let names = Names::below(path)?;
        let host = host.map(str::to_owned);
        Ok(Self { protocol, scheme, account, host, bucket: bucket.to_owned(), names })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.bucket)?;
        if let Some(host) = &self.host {
            write!(f, "@{host}")?;
        }
        match self.names.shown() {
            "" => Ok(()),
            shown => write!(f, "/{shown}"),
        }
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
}

fn clean(scheme: &str) -> String {
    scheme.chars().filter(|char| char.is_ascii_alphanumeric() || "+-.".contains(*char)).take(20).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let parse = |url: &str| {
            let address = Address::parse(url).expect("an address");
            (address.to_string(), address.bucket, address.names.object(""), address.account)
        };
        let of =
            |shown: &str, bucket: &str, prefix: &str| (shown.to_owned(), bucket.to_owned(), prefix.to_owned(), None);
        assert_eq!(parse("s3://bucket"), of("s3://bucket", "bucket", ""));
        assert_eq!(parse("S3://my.bucket-1/"), of("s3://my.bucket-1", "my.bucket-1", ""));
        assert_eq!(parse("s3://b/a b/%20/\u{e4}/"), of("s3://b/a b/%20/\u{e4}", "b", "a b/%20/\u{e4}/"));
        assert_eq!(parse("s3://b/d//x.zarr"), of("s3://b/d//x.zarr", "b", "d//x.zarr/"));
        assert_eq!(parse("az://b/d//"), of("az://b/d//", "b", "d//"));
        assert_eq!(parse("gcs://b/x.zarr"), of("gs://b/x.zarr", "b", "x.zarr/"));
        assert_eq!(parse("az://$web/x"), of("az://$web/x", "$web", "x/"));
        let (shown, container, prefix, account) = parse("abfss://data@acc.dfs.core.windows.net/x/y");
        assert_eq!((shown.as_str(), container.as_str()), ("abfss://data@acc.dfs.core.windows.net/x/y", "data"));
        assert_eq!((prefix.as_str(), account.as_deref()), ("x/y/", Some("acc")));
    }

    #[test]
    fn other_texts() {
        for url in [
            "s3://",
            "s3:///a",
            "s3://b//a",
            "s3://b/a/../c",
            "s3://KEY:SENTINEL@b/a",
            "s3://b/a?token=SENTINEL",
            "s3://b/a#SENTINEL",
            "http://SENTINEL/",
            "SENTINEL",
            "s3",
            "az://c@SENTINEL/x",
            "abfs://c@host:SENTINEL/x",
            "s3://b c/",
            "gs://\u{e4}/",
            "",
        ] {
            let error = Address::parse(url).expect_err(url);
            assert!(!format!("{error:?} {error}").contains("SENTINEL") || url == "SENTINEL", "{url}: {error:?}");
        }
        let error = Address::parse("s3://b//a").expect_err("no such objects").to_string();
        assert!(error.contains("cannot be reached"), "{error}");
    }
}
