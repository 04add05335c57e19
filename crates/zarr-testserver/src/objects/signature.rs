//! Signatures of requests, version 4.

use crate::encoding::{encode, hex};
use crate::reply::Refusal;
use crate::request::Request;
use crate::shared::Credentials;
use sha2::{Digest, Sha256};

/// Checks the header `Authorization` of a request against the credentials of the server.
pub(super) fn check(request: &Request, header: &str, credentials: &Credentials) -> Result<(), Refusal> {
    let malformed = || Refusal::new(400, "AuthorizationHeaderMalformed", "The authorization header is malformed");
    let fields = header.strip_prefix("AWS4-HMAC-SHA256 ").ok_or_else(malformed)?;
    let field = |name: &str| {
        let mut found = fields.split(',').filter_map(|field| field.trim().strip_prefix(name)?.strip_prefix('='));
        found.next().ok_or_else(malformed)
    };
    // The key, then the scope: date, region, service, `aws4_request`.
    let (access_key, scope) = field("Credential")?.split_once('/').ok_or_else(malformed)?;
    if access_key != credentials.access_key {
        let message = "The AWS Access Key Id you provided does not exist in our records.";
        return Err(Refusal::new(403, "InvalidAccessKeyId", message));
    }
    let names: Vec<_> = field("SignedHeaders")?.split(';').collect();
    let expected = sign(request, &names, scope, &credentials.secret).ok_or_else(malformed)?;
    if field("Signature")? != expected {
        let message = "The request signature we calculated does not match the signature you provided.";
        return Err(Refusal::new(403, "SignatureDoesNotMatch", message));
    }
    Ok(())
}

/// Returns the signature of a request; `None` if the request lacks a date or a header that is signed.
fn sign(request: &Request, names: &[&str], scope: &str, secret: &str) -> Option<String> {
    let mut query: Vec<_> =
        request.query.iter().map(|(name, value)| format!("{}={}", encode(name, ""), encode(value, ""))).collect();
    query.sort();
    let mut headers = String::new();
    for name in names {
        let values: Vec<_> = request
            .headers
            .get_all(*name)
            .iter()
            .map(|value| Some(value.to_str().ok()?.split_ascii_whitespace().collect::<Vec<_>>().join(" ")))
            .collect::<Option<_>>()?;
        if values.is_empty() {
            return None;
        }
        headers.push_str(&format!("{name}:{}\n", values.join(",")));
    }
    let payload = request.header("x-amz-content-sha256").unwrap_or("UNSIGNED-PAYLOAD");
    let canonical = format!(
        "{}\n{}\n{}\n{headers}\n{}\n{payload}",
        request.method,
        request.raw_path,
        query.join("&"),
        names.join(";")
    );
    let time = request.header("x-amz-date")?;
    let digest = hex(&Sha256::digest(canonical));
    let mut key = format!("AWS4{secret}").into_bytes();
    for part in scope.split('/') {
        key = hmac(&key, part.as_bytes()).to_vec();
    }
    Some(hex(&hmac(&key, format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}").as_bytes())))
}

/// Returns the HMAC of RFC 2104 with SHA-256.
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0; 64];
    if key.len() > block.len() {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let padded = |byte: u8| block.map(|found| found ^ byte);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks test cases 2 and 6 of RFC 4231.
    #[test]
    fn hmac_of_the_rfc() {
        let found = hex(&hmac(b"Jefe", b"what do ya want for nothing?"));
        assert_eq!(found, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        let found = hex(&hmac(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First"));
        assert_eq!(found, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    }
}
