//! Addresses in a form without secrets, which is compared and shown in messages.

/// Returns the URL in a form that is the same for each spelling of it: a path of this machine without `file://` and without escapes, and
/// the scheme in lower case.
pub(crate) fn plain(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let scheme = scheme.to_ascii_lowercase();
    if scheme == "file" || scheme == "local" {
        let path = rest.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(rest);
        return decoded(path).unwrap_or_else(|| path.to_owned());
    }
    format!("{scheme}://{rest}")
}

/// Returns an address of the caller in the form of [`plain`], without a slash at its end and without secrets: a user on the web, a user
/// with a password, and the query and fragment of a web address.
pub(crate) fn place(address: &str) -> String {
    let address = plain(address);
    let Some((scheme, rest)) = address.split_once("://") else { return address.trim_end_matches('/').to_owned() };
    let is_web = is_web(&address);
    let rest = if is_web { shown(rest) } else { rest };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    // The user of an Azure URL is a container, which is no secret. The user of a web address may be a token.
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) if is_web || user.contains(':') => host,
        _ => authority,
    };
    format!("{scheme}://{authority}{path}").trim_end_matches('/').to_owned()
}

/// Returns the part of an address that messages show: without query and fragment, which may be secrets. A path of this machine is shown
/// whole.
pub(crate) fn shown(place: &str) -> &str {
    if place.starts_with('/') || is_drive(place) {
        return place;
    }
    place.split(['?', '#']).next().unwrap_or_default()
}

pub(crate) fn is_drive(url: &str) -> bool {
    url.starts_with('\\') || matches!(url.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

pub(crate) fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// Decodes escapes as `%41`; `None` if an escape is invalid or the result is not UTF-8.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        if *byte == b'%' {
            let digits =
                text.get(at + 1..at + 3).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
            decoded.push(u8::from_str_radix(digits?, 16).ok()?);
            at += 3;
        } else {
            decoded.push(*byte);
            at += 1;
        }
    }
    String::from_utf8(decoded).ok()
}
