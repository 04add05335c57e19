//! Files of the page, which are part of the program.

use crate::reply::{ReplyBody, set, whole};
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY};
use hyper::{Response, StatusCode};

/// Content security policy of the page: it runs only its own script and connects only to its own server; no inline scripts or styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Files by path, with media type and contents.
const ASSETS: [(&str, &str, &str); 11] = [
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/page.js", "text/javascript; charset=utf-8", include_str!("page/page.js")),
    ("/server.js", "text/javascript; charset=utf-8", include_str!("page/server.js")),
    ("/picture.js", "text/javascript; charset=utf-8", include_str!("page/picture.js")),
    ("/tree.js", "text/javascript; charset=utf-8", include_str!("page/tree.js")),
    ("/image.js", "text/javascript; charset=utf-8", include_str!("page/image.js")),
    ("/layers.js", "text/javascript; charset=utf-8", include_str!("page/layers.js")),
    ("/plate.js", "text/javascript; charset=utf-8", include_str!("page/plate.js")),
    ("/details.js", "text/javascript; charset=utf-8", include_str!("page/details.js")),
    ("/page.css", "text/css; charset=utf-8", include_str!("page/page.css")),
    ("/icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
];

/// Returns the response for a file of the page; `None` for other paths.
pub(crate) fn asset(path: &str) -> Option<Response<ReplyBody>> {
    let (_, media, text) = ASSETS.iter().find(|(known, ..)| *known == path)?;
    let mut response = whole(StatusCode::OK, media, *text);
    set(&mut response, CONTENT_SECURITY_POLICY, POLICY);
    set(&mut response, CACHE_CONTROL, "no-cache");
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_small_and_names_no_other_server() {
        let size: usize = ASSETS.iter().map(|(.., text)| text.len()).sum();
        assert!(size < 100 << 10, "{size} bytes");
        for (path, _, text) in ASSETS {
            let others = text.match_indices("://").filter(|(at, _)| !text[..*at].ends_with("xmlns=\"http"));
            assert_eq!(others.count(), 0, "{path}");
            // Texts of stores may never become markup.
            for markup in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "<script>"] {
                assert!(!text.contains(markup), "{path}: {markup}");
            }
        }
    }
}
