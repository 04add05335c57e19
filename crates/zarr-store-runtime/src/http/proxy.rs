//! Description of the proxies of the environment for messages. The client uses them on its own.

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;

/// Returns the proxy for requests to an address, without name and password, and the variable that names it; `None` if there is no proxy.
pub(super) fn of_environment(
    matcher: &Matcher,
    url: &Url,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    // The client decides by the same matcher.
    let proxy = shown(&matcher.intercept(&url.as_str().parse().ok()?)?.uri().to_string());
    let names: [&str; 4] = if url.scheme() == "https" {
        ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
    } else {
        ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]
    };
    let name = names.into_iter().find(|name| variable(name).is_some_and(|value| shown(&value) == proxy));
    let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
    Some(format!("{proxy} of the environment{name}"))
}

/// Returns the address of a proxy without parts that may be secret.
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
        let proxy = "http://me:SENTINEL@proxy:3128/";
        let of = |url: &str, no: &str, name: &str| {
            let variable = |asked: &str| (asked == name).then(|| proxy.to_owned());
            of_environment(&Matcher::builder().http(proxy).no(no).build(), &url.parse().expect("a URL"), &variable)
        };
        let shown = "http://proxy:3128 of the environment";
        assert_eq!(of("http://h/x", "", "http_proxy"), Some(format!("{shown} (http_proxy)")));
        assert_eq!(of("http://h/x", "", "none"), Some(shown.to_owned()));
        assert_eq!(of("https://h/x", "", "http_proxy"), None);
        for hosts in ["*", "h.org", "a, .org"] {
            assert_eq!(of("http://h.org/x", hosts, "http_proxy"), None, "{hosts}");
        }
        for hosts in ["", "g.org", "rg"] {
            assert!(of("http://h.org/x", hosts, "http_proxy").is_some(), "{hosts}");
        }
        // Networks, as the client reads them.
        assert_eq!(of("http://10.1.2.3/x", "10.0.0.0/8", "http_proxy"), None);
        assert!(of("http://11.1.2.3/x", "10.0.0.0/8", "http_proxy").is_some());
    }
}
