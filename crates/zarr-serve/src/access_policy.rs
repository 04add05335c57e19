//! Access rules: tokens, host names, and pages of other origins.

use crate::options::{Cors, ServeOptions, Token};
use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HOST, HeaderValue};
use std::fmt::Write;
use std::io;
use std::net::IpAddr;

/// Path prefix for a token in the path: software that appends keys to an address can send the token as `/token/TOKEN/raw/`.
pub(crate) const TOKEN_PATH: &str = "/token/";

/// Rules for who may read.
#[derive(Debug)]
pub(crate) struct AccessPolicy {
    token: Option<String>,
    /// Whether requests must name a host that means this machine. Otherwise a page of another site could read answers by letting its host
    /// name resolve to this machine (DNS rebinding).
    is_local: bool,
    /// Value of the header `Access-Control-Allow-Origin`; `None` if it is not sent.
    pub(crate) origin: Option<HeaderValue>,
}

impl AccessPolicy {
    /// Creates the access rules.
    ///
    /// # Errors
    /// If a token or origin cannot be part of an address or header, or if the system provides no random numbers.
    pub(crate) fn new(options: &ServeOptions) -> io::Result<Self> {
        let is_local = options.address.ip().is_loopback();
        let token = match &options.token {
            Token::BeyondLoopback if is_local => None,
            Token::BeyondLoopback | Token::Random => Some(random_token()?),
            Token::Given(token) => Some(checked_token(token)?),
            Token::None => None,
        };
        let origin = match &options.cors {
            Cors::None => None,
            Cors::Any => Some(HeaderValue::from_static("*")),
            Cors::Origin(origin) => Some(checked_origin(origin)?),
        };
        Ok(Self { token, is_local, origin })
    }

    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Returns whether the `Host` header is acceptable.
    pub(crate) fn is_host(&self, headers: &HeaderMap) -> bool {
        let mut named = headers.get_all(HOST).iter();
        let is_local = match (named.next(), named.next()) {
            (Some(name), None) => name.to_str().is_ok_and(is_this_machine),
            _ => false,
        };
        // If a token is required, pages of other sites cannot make requests, since they do not know it.
        is_local || !self.is_local || self.token.is_some()
    }

    /// Returns whether the request shows the token, in the address or in a header, or no token is required.
    pub(crate) fn is_allowed(&self, headers: &HeaderMap, in_address: Option<&str>) -> bool {
        let Some(token) = &self.token else { return true };
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| {
            let (scheme, shown) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| shown.trim())
        });
        [bearer, in_address].into_iter().flatten().any(|shown| is_same(shown, token))
    }
}

/// Compares two strings in a time that does not depend on where they differ.
fn is_same(shown: &str, token: &str) -> bool {
    let pairs = shown.bytes().zip(token.bytes());
    shown.len() == token.len() && pairs.fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
}

/// Returns whether a host, with or without port, always means this machine.
fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => host.split(':').next(),
    };
    let name = name.unwrap_or_default();
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns 128 random bits as hexadecimal digits.
fn random_token() -> io::Result<String> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(|error| io::Error::other(format!("no random numbers: {error}")))?;
    Ok(bits.iter().fold(String::new(), |mut token, byte| {
        // Writing to a string does not fail.
        let _ = write!(token, "{byte:02x}");
        token
    }))
}

fn checked_token(token: &str) -> io::Result<String> {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match !token.is_empty() && token.len() <= 256 && token.bytes().all(is_good) {
        true => Ok(token.to_owned()),
        false => Err(invalid("a token has 1 to 256 letters, digits, - and _")),
    }
}

fn checked_origin(origin: &str) -> io::Result<HeaderValue> {
    let error = || invalid(&format!("found the origin {origin:?}, expected for example https://example.org"));
    let (scheme, host) = origin.split_once("://").ok_or_else(error)?;
    let is_good = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'?' | b'#' | b',' | b'*' | b'@');
    let is_origin = matches!(scheme, "http" | "https") && !host.is_empty() && host.bytes().all(is_good);
    if !is_origin {
        return Err(error());
    }
    HeaderValue::from_str(origin).map_err(|_| error())
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_this_machine() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8000", "127.1.2.3", "[::1]:8000", "[::1]"] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in ["", "example.org", "127.0.0.1.example.org", "localhost.example.org:8000", "10.0.0.1", "[::2]", "1"]
        {
            assert!(!is_this_machine(host), "{host}");
        }
    }

    #[test]
    fn tokens() {
        let access = |token| AccessPolicy::new(&ServeOptions::default().token(token));
        let given = access(Token::Given("a-1".to_owned())).expect("a token");
        let mut headers = HeaderMap::new();
        assert!(!given.is_allowed(&headers, None));
        assert!(given.is_allowed(&headers, Some("a-1")));
        assert!(!given.is_allowed(&headers, Some("a-2")) && !given.is_allowed(&headers, Some("a-1x")));
        headers.insert(AUTHORIZATION, HeaderValue::from_static("bearer a-1"));
        assert!(given.is_allowed(&headers, None));
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Basic a-1"));
        assert!(!given.is_allowed(&headers, None));
        assert!(access(Token::Given("a b".to_owned())).is_err() && access(Token::Given(String::new())).is_err());
        assert!(access(Token::BeyondLoopback).expect("none needed").token().is_none());
        let random = [access(Token::Random), access(Token::Random)].map(|it| it.expect("random").token.expect("one"));
        assert!(random.iter().all(|token| token.len() == 32) && random[0] != random[1], "{random:?}");
        let beyond = ServeOptions::default().address(([0, 0, 0, 0], 0).into());
        assert!(AccessPolicy::new(&beyond).expect("random").token().is_some());
    }

    #[test]
    fn origins() {
        for origin in ["https://example.org", "http://localhost:3000"] {
            assert!(checked_origin(origin).is_ok(), "{origin}");
        }
        for origin in ["example.org", "*", "https://", "https://a/b", "https://a,b", "ftp://a", "https://a\r\nx: y"] {
            assert!(checked_origin(origin).is_err(), "{origin}");
        }
    }
}
