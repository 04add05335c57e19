//! Routing of requests to their answers.

use crate::access_policy::TOKEN_PATH;
use crate::address::Query;
use crate::answer_memory::Connection;
use crate::api;
use crate::page;
use crate::raw::raw;
use crate::reply::{ReplyBody, bare, json, set, text};
use crate::request_error::RequestError;
use crate::server_state::ServerState;
use hyper::body::{Body, Incoming};
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY,
    REFERRER_POLICY, RETRY_AFTER, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use std::sync::Arc;

/// Supported HTTP methods.
const METHODS: &str = "GET, HEAD, OPTIONS";
/// Content security policy of values: no browser runs anything that comes from a store.
const POLICY_OF_VALUES: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";

/// Answers a request.
pub(crate) async fn answer(
    shared: Arc<ServerState>,
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Response<ReplyBody> {
    let (request, body) = request.into_parts();
    let has_body = !body.is_end_stream();
    let is_head = request.method == Method::HEAD;
    let mut response = if has_body {
        text(&RequestError::new(StatusCode::PAYLOAD_TOO_LARGE, "argument", "found a body, expected none"))
    } else {
        routed(&shared, &connection, &request).await
    };
    let access = &shared.access;
    if let Some(origin) = &access.origin {
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        set(&mut response, VARY, "Origin");
        set(&mut response, ACCESS_CONTROL_EXPOSE_HEADERS, "Accept-Ranges, Content-Length, Content-Range, ETag");
    }
    match response.status() {
        StatusCode::SERVICE_UNAVAILABLE => set(&mut response, RETRY_AFTER, "1"),
        StatusCode::UNAUTHORIZED => set(&mut response, WWW_AUTHENTICATE, "Bearer"),
        _ => {}
    }
    // The request body is not read, so the start of a next request on this connection could not be found.
    if has_body {
        set(&mut response, CONNECTION, "close");
    }
    set(&mut response, X_CONTENT_TYPE_OPTIONS, "nosniff");
    // The page address may contain the token, so browsers must not send it to other sites.
    set(&mut response, REFERRER_POLICY, "no-referrer");
    if !response.headers().contains_key(CONTENT_SECURITY_POLICY) {
        set(&mut response, CONTENT_SECURITY_POLICY, POLICY_OF_VALUES);
    }
    if is_head { without_body(response) } else { response }
}

/// Removes the body of a response and sets its length in the headers. Does not set it for responses that never have a body, since the
/// header would state the length of the value.
fn without_body(mut response: Response<ReplyBody>) -> Response<ReplyBody> {
    let has_none = matches!(response.status(), StatusCode::NOT_MODIFIED | StatusCode::NO_CONTENT);
    if !has_none && !response.headers().contains_key(CONTENT_LENGTH) {
        let length = response.body().size_hint().exact().unwrap_or(0).to_string();
        set(&mut response, CONTENT_LENGTH, &length);
    }
    *response.body_mut() = ReplyBody::empty();
    response
}

async fn routed(shared: &Arc<ServerState>, connection: &Arc<Connection>, request: &Parts) -> Response<ReplyBody> {
    let (access, headers, method) = (&shared.access, &request.headers, &request.method);
    if !access.is_host(headers) {
        let message = "the request names a host that is not this machine: open the server as localhost or 127.0.0.1";
        return text(&RequestError::new(StatusCode::MISDIRECTED_REQUEST, "host", message));
    }
    if method == Method::OPTIONS {
        let mut response = bare(StatusCode::NO_CONTENT);
        set(&mut response, ALLOW, METHODS);
        if access.origin.is_some() {
            set(&mut response, ACCESS_CONTROL_ALLOW_METHODS, METHODS);
            set(&mut response, ACCESS_CONTROL_ALLOW_HEADERS, "Authorization, If-Match, If-None-Match, If-Range, Range");
            set(&mut response, ACCESS_CONTROL_MAX_AGE, "600");
        }
        return response;
    }
    if method != Method::GET && method != Method::HEAD {
        let mut response = text(&RequestError::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "argument",
            format!("found {method}, expected one of {METHODS}: the store is read-only here"),
        ));
        set(&mut response, ALLOW, METHODS);
        return response;
    }
    let query = match Query::parse(request.uri.query().unwrap_or_default()) {
        Ok(query) => query,
        Err(fault) => return text(&fault),
    };
    let (in_path, path) = split_token(request.uri.path());
    // Files of the page are served without a token, since they tell nothing about the store.
    if let Some(asset) = page::asset(path) {
        return asset;
    }
    if !access.is_allowed(headers, in_path.or_else(|| query.text("token"))) {
        let message =
            "expected the token that the server printed: ?token=TOKEN, or the header Authorization: Bearer TOKEN";
        return refuse(path, &RequestError::new(StatusCode::UNAUTHORIZED, "token", message));
    }
    if let Some(key) = path.strip_prefix("/raw/") {
        return raw(shared, connection, key, headers, method == Method::HEAD).await;
    }
    match path.strip_prefix("/api/") {
        Some(question) => {
            let answered = api::answer(shared, connection, question, query).await;
            answered.unwrap_or_else(|fault| refuse(path, &fault))
        }
        None => text(&RequestError::not_found("expected /, /raw/KEY or /api/QUESTION")),
    }
}

/// Builds the error response: JSON for `/api/`, text for other paths.
fn refuse(path: &str, fault: &RequestError) -> Response<ReplyBody> {
    match path.starts_with("/api/") {
        true => json(fault.status, fault.to_json()),
        false => text(fault),
    }
}

/// Splits a path into the token, if it contains one, and the rest of the path.
fn split_token(path: &str) -> (Option<&str>, &str) {
    let split = path.strip_prefix(TOKEN_PATH).and_then(|rest| Some((rest, rest.find('/')?)));
    match split.map(|(rest, at)| rest.split_at(at)) {
        Some((token, rest)) => (Some(token), rest),
        None => (None, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_in_paths() {
        assert_eq!(split_token("/token/ab/raw/a"), (Some("ab"), "/raw/a"));
        assert_eq!(split_token("/token/ab/"), (Some("ab"), "/"));
        assert_eq!(split_token("/token/ab"), (None, "/token/ab"));
        assert_eq!(split_token("/raw/token/ab/c"), (None, "/raw/token/ab/c"));
    }
}
