//! The proxy that the environment names for an address, for messages: the client goes through it by itself.

use reqwest::Url;

/// The proxy for requests to an address, without a name and password in it, and the variable that names it.
pub(super) fn of_environment(url: &Url, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let given = |names: &[&'static str]| {
        names.iter().find_map(|name| Some((*name, variable(name).filter(|value| !value.trim().is_empty())?)))
    };
    if given(&["no_proxy", "NO_PROXY"]).is_some_and(|(_, hosts)| is_among(url.host_str().unwrap_or_default(), &hosts)) {
        return None;
    }
    let of_scheme: &[&'static str] = if url.scheme() == "https" {
        &["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    } else {
        &["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
    };
    let (name, value) = given(of_scheme)?;
    Some(format!("{} of the environment ({name})", shown(&value)))
}

/// Whether a host is among those of `no_proxy`: by its name, or as one below it.
fn is_among(host: &str, hosts: &str) -> bool {
    hosts.split(',').map(|name| name.trim().trim_start_matches('.')).filter(|name| !name.is_empty()).any(|name| {
        name == "*"
            || host.eq_ignore_ascii_case(name)
            || host.to_ascii_lowercase().ends_with(&format!(".{}", name.to_ascii_lowercase()))
    })
}

/// The address of a proxy without what may be secret in it.
pub(super) fn shown(proxy: &str) -> String {
    let text = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    match Url::parse(&text) {
        Ok(url) => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default())
        }
        Err(_) => "that is no URL".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        let of = |url: &str, variables: &[(&str, &str)]| {
            let variable =
                |name: &str| variables.iter().find(|(given, _)| *given == name).map(|(_, value)| (*value).to_owned());
            of_environment(&url.parse().expect("a URL"), &variable)
        };
        let proxy = ("http_proxy", "http://me:SENTINEL@proxy:3128/");
        assert_eq!(of("http://h/x", &[proxy]).as_deref(), Some("http://proxy:3128 of the environment (http_proxy)"));
        assert_eq!(of("https://h/x", &[proxy]), None);
        assert_eq!(
            of("https://h/x", &[("ALL_PROXY", "proxy:1")]).as_deref(),
            Some("http://proxy:1 of the environment (ALL_PROXY)")
        );
        for hosts in ["*", "h.org", "a, .org", "ORG"] {
            assert_eq!(of("http://h.org/x", &[proxy, ("no_proxy", hosts)]), None, "{hosts}");
        }
        for hosts in ["", "g.org", "h", "rg"] {
            assert!(of("http://h.org/x", &[proxy, ("NO_PROXY", hosts)]).is_some(), "{hosts}");
        }
    }
}
