//! Base addresses of stores.

use std::fmt;

use reqwest::Url;
use zarr_store::{Error, Key, Result};

/// Base address, whose query string is part of every request. The query string, and a name and password, are never shown.
#[derive(Clone)]
pub(crate) struct Base(Url);

impl Base {
    /// Parses an `http://` or `https://` address.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let scheme = match text.split_once("://") {
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("http") => "http",
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("https") => "https",
            _ => {
                let scheme: String = text.split(':').next().unwrap_or_default().chars().take(20).collect();
                let scheme: String =
                    scheme.chars().filter(|char| char.is_ascii_alphanumeric() || "+-.".contains(*char)).collect();
                return Err(Error::Address { url: format!("{scheme}:"), expected: "http:// or https://" });
            }
        };
        // Do not show an address that is not understood: it may contain secrets.
        let fault = |text: String| Error::Argument { store: format!("{scheme}://"), message: text };
        let url = Url::parse(text).map_err(|error| fault(format!("the address is no URL: {error}")))?;
        if url.host_str().is_none_or(str::is_empty) {
            return Err(fault("the address has no host".to_owned()));
        }
        if url.fragment().is_some() {
            return Err(fault("the address has a #, which servers do not see".to_owned()));
        }
        Ok(Self(url))
    }

    /// Returns the address of a key.
    pub(crate) fn of(&self, key: &Key) -> Url {
        let mut path = self.0.path().to_owned();
        // Further slashes are empty segments, which a server may tell apart.
        if !path.ends_with('/') {
            path.push('/');
        }
        for byte in key.as_str().bytes() {
            // `+` is a space for some servers, and `%` begins an escape.
            if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
                path.push(char::from(byte));
            } else {
                path.push_str(&format!("%{byte:02X}"));
            }
        }
        let mut url = self.0.clone();
        url.set_path(&path);
        url
    }

    /// Returns the strings that no message may contain.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let values = self.0.query_pairs().map(|(_, value)| value.into_owned());
        let mut secrets: Vec<String> = values.chain(self.0.password().map(str::to_owned)).collect();
        secrets.extend(self.0.query().map(str::to_owned));
        // Drop very short secrets: hiding these would hide parts of many texts.
        secrets.retain(|secret| secret.len() >= 4);
        secrets
    }
}

/// Returns an address without parts that may be secret.
pub(crate) fn shown(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let path = url.path().strip_suffix('/').filter(|path| !path.ends_with('/')).unwrap_or(url.path());
    format!("{}://{}{port}{path}", url.scheme(), url.host_str().unwrap_or_default())
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn addresses() {
        let base = Base::parse("HTTPS://me:SENTINEL@Host.org:8443/a%20b/x.zarr/?sig=SENTINEL&v=1").expect("an address");
        assert_eq!(base.to_string(), "https://host.org:8443/a%20b/x.zarr");
        let url = base.of(&Key::new("c/0 \u{e4}/%+?#").expect("a key"));
        assert_eq!(url.path(), "/a%20b/x.zarr/c/0%20%C3%A4/%25%2B%3F%23");
        assert_eq!((url.query(), url.password()), (Some("sig=SENTINEL&v=1"), Some("SENTINEL")));
        assert_eq!(
            Base::parse("http://h").expect("an address").of(&Key::new("a").expect("a key")).as_str(),
            "http://h/a"
        );
        for (given, path, shown) in [
            ("http://h/", "/a", "http://h"),
            ("http://h/d//x", "/d//x/a", "http://h/d//x"),
            ("http://h/d//x/", "/d//x/a", "http://h/d//x"),
            ("http://h/d//", "/d//a", "http://h/d//"),
            ("http://h//", "//a", "http://h//"),
        ] {
            let base = Base::parse(given).expect(given);
            assert_eq!(base.of(&Key::new("a").expect("a key")).path(), path, "{given}");
            assert_eq!(base.to_string(), shown, "{given}");
        }
        for text in [
            "",
            "s3://SENTINEL",
            "http://",
            "http://h/#SENTINEL",
            "http://SENTINEL:port/",
            "SENTINEL/x",
            "http:SENTINEL",
        ] {
            let error = Base::parse(text).map(|base| base.to_string()).expect_err(text);
            assert!(
                !format!("{error:?}").contains("SENTINEL/") && !format!("{error:?}").contains("#SENTINEL"),
                "{error:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_key_stays_below_the_base(text in "[a./\\\\%?#:@ \u{e4}]{1,8}") {
            if let Ok(key) = Key::new(&text) {
                let url = Base::parse("http://h/base").expect("an address").of(&key);
                prop_assert!(url.path().starts_with("/base/"));
                prop_assert_eq!(url.path().matches('/').count(), 2 + text.matches('/').count(), "{}", url);
                prop_assert!(url.query().is_none() && url.host_str() == Some("h"));
            }
        }
    }
}
