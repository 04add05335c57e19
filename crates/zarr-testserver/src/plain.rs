//! Files over HTTP: reads, and listings of directories.

mod listing;

use crate::bucket::Listing;
use crate::read::read;
use crate::reply::{Refusal, Reply};
use crate::request::Request;
use crate::shared::Shared;
use http::StatusCode;
use http::header::{ALLOW, LOCATION};

/// Answers a request to a plain bucket.
pub(crate) fn answer(shared: &Shared, request: &Request, ranges: bool, listing: Listing) -> Reply {
    try_answer(shared, request, ranges, listing).unwrap_or_else(Refusal::into_text)
}

fn try_answer(shared: &Shared, request: &Request, ranges: bool, listing: Listing) -> Result<Reply, Refusal> {
    let values = shared.values();
    let contents = values.buckets.get(&request.bucket);
    let missing = || Refusal::new(404, "NotFound", "Not Found");
    let contents = contents.ok_or_else(missing)?;
    let (key, method) = (request.key.as_str(), request.method.as_str());
    let lists = matches!(listing, Listing::Json | Listing::Html);
    match method {
        "GET" | "HEAD" => (),
        "PROPFIND" if listing == Listing::WebDav => return listing::webdav(&contents.objects, request),
        _ => {
            let allowed = if listing == Listing::WebDav { "GET, HEAD, PROPFIND" } else { "GET, HEAD" };
            let message = format!("{method} is not allowed");
            return Err(Refusal::new(405, "MethodNotAllowed", message).with(ALLOW, allowed));
        }
    }
    if let Some(object) = contents.objects.get(key) {
        return read(object, request, ranges);
    }
    if contents.options.missing_is_403 {
        return Err(Refusal::denied("Forbidden"));
    }
    let directory = if key.is_empty() || key.ends_with('/') { key.to_owned() } else { format!("{key}/") };
    let is_directory = listing::is_directory(&contents.objects, &directory);
    if !lists || !is_directory {
        return Err(missing());
    }
    if !request.has_key || directory != key {
        // File servers redirect in the same way, so that relative links work.
        let location = format!("{}/", request.raw_path);
        return Ok(Reply::new(StatusCode::MOVED_PERMANENTLY).with(LOCATION, &location));
    }
    Ok(match listing {
        Listing::Html => listing::html(&contents.objects, request),
        _ => listing::json(&contents.objects, key),
    })
}
