//! Responses to list requests, before they are parsed.
//!
//! Buckets may contain names that are no keys: `a/`, which consoles create as a folder, or `a//b`. The parser would take the first
//! for `a`, and fail at the second. Such entries are removed, as they are not values of a store. If the prefix of the store has empty
//! segments, it is replaced in the response.

use std::borrow::Cow;

use crate::names::Names;

/// Returns the page without entries whose names are no keys of the store, and with names that the parser accepts ([`Names::listed`]).
/// `None` if it is no page of a list.
pub(crate) fn keys_alone(page: &str, names: &Names) -> Option<String> {
    let s3 = page.contains("<ListBucketResult");
    if !s3 && !page.contains("<EnumerationResults") {
        return None;
    }
    // The page says that more follows but not where: a list that ended here would lack keys.
    if s3 && page.contains("<IsTruncated>true<") && !page.contains("<NextContinuationToken>") {
        return None;
    }
    let (entry, prefix, key) = if s3 { ("Contents", "CommonPrefixes", "Key") } else { ("Blob", "BlobPrefix", "Name") };
    let page = retain(page, entry, key, names, |name| !name.ends_with('/'))?;
    let name = if s3 { "Prefix" } else { "Name" };
    retain(&page, prefix, name, names, |name| name.ends_with('/'))
}

/// Returns the document without those elements `<element>` whose child `<name>` is not `wanted` or no key of the store. XML escapes `<` in
/// text, so tags are found as strings. `None` if an element has no end or no name.
fn retain(page: &str, element: &str, name: &str, names: &Names, wanted: impl Fn(&str) -> bool) -> Option<String> {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let (name_open, name_close) = (format!("<{name}>"), format!("</{name}>"));
    let mut kept = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(start) = rest.find(&open) {
        let end = start + rest[start..].find(&close)? + close.len();
        let content = &rest[start + open.len()..end - close.len()];
        let (before, text) = content.split_once(&name_open)?;
        let (text, after) = text.split_once(&name_close)?;
        let found = unescape(text)?;
        match names.listed(&found).filter(|_| wanted(&found)) {
            None => kept.push_str(&rest[..start]),
            Some(Cow::Borrowed(_)) => kept.push_str(&rest[..end]),
            Some(Cow::Owned(name)) => {
                kept.push_str(&rest[..start]);
                kept.extend([&open, before, &name_open, &escape(&name), &name_close, after, &close]);
            }
        }
        rest = &rest[end..];
    }
    kept.push_str(rest);
    Some(kept)
}

/// Splits the response of S3 to a request to erase several objects into a response as if all were erased, and its errors: for each the name
/// of the object and the XML element. `None` if it is no such response.
pub(crate) fn without_errors(page: &str) -> Option<(String, Vec<(String, &str)>)> {
    const CLOSE: &str = "</Error>";
    if !page.contains("<DeleteResult") {
        return None;
    }
    let (mut kept, mut errors, mut rest) = (String::with_capacity(page.len()), Vec::new(), page);
    while let Some(start) = rest.find("<Error>") {
        let end = start + rest[start..].find(CLOSE)? + CLOSE.len();
        let element = &rest[start..end];
        let name = element.split_once("<Key>")?.1.split_once("</Key>")?.0;
        errors.push((unescape(name)?, element));
        kept.push_str(&rest[..start]);
        kept.push_str(&format!("<Deleted><Key>{name}</Key></Deleted>"));
        rest = &rest[end..];
    }
    kept.push_str(rest);
    Some((kept, errors))
}

/// Escapes a string for XML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Replaces XML escapes in a string; `None` if one is invalid.
pub(crate) fn unescape(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain.push_str(before);
        let (name, after) = after.split_once(';')?;
        plain.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => {
                let number = name.strip_prefix('#')?;
                let code = match number.strip_prefix(['x', 'X']) {
                    Some(digits) => u32::from_str_radix(digits, 16),
                    None => number.parse(),
                };
                char::from_u32(code.ok()?)?
            }
        });
        rest = after;
    }
    plain.push_str(rest);
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys_alone(page: &str) -> Option<String> {
        super::keys_alone(page, &Names::below("").expect("names"))
    }

    fn page(keys: &[&str], prefixes: &[&str]) -> String {
        let keys = keys.iter().map(|key| format!("<Contents><ETag>&quot;x&quot;</ETag><Key>{key}</Key></Contents>"));
        let prefixes =
            prefixes.iter().map(|prefix| format!("<CommonPrefixes><Prefix>{prefix}</Prefix></CommonPrefixes>"));
        format!("<ListBucketResult><Name>b</Name>{}</ListBucketResult>", keys.chain(prefixes).collect::<String>())
    }

    #[test]
    fn names_that_are_no_keys() {
        let given =
            page(&["a", "a/", "a//b", "a&amp;b", "x/&#x1;", "&#47;a", "a&lt;/Key&gt;"], &["p/", "p//", "/", "q/../"]);
        assert_eq!(keys_alone(&given), Some(page(&["a", "a&amp;b", "a&lt;/Key&gt;"], &["p/"])));
        let azure = "<EnumerationResults><Blobs><BlobPrefix><Name>a//</Name></BlobPrefix><Blob><Name>b</Name></Blob>\
                     <Blob><Name>c/</Name></Blob></Blobs></EnumerationResults>";
        let kept = "<EnumerationResults><Blobs><Blob><Name>b</Name></Blob></Blobs></EnumerationResults>";
        assert_eq!(keys_alone(azure).as_deref(), Some(kept));
    }

    #[test]
    fn names_below_empty_segments() {
        let names = Names::below("d&//x").expect("names");
        let given =
            page(&["d&amp;//x/a", "d&amp;//x/&lt;&amp;/b", "d&amp;//x/a//b", "d&amp;/x/a", "a"], &["d&amp;//x/p/"]);
        let kept = page(&["_____/a", "_____/&lt;&amp;/b"], &["_____/p/"]);
        assert_eq!(super::keys_alone(&given, &names), Some(kept));
    }

    #[test]
    fn errors_of_erasures() {
        let page = "<DeleteResult><Deleted><Key>a</Key></Deleted><Error><Key>b&amp;c</Key><Code>SlowDown</Code></Error>\
                    <Error><Code>AccessDenied</Code><Key>d</Key></Error><Deleted><Key>e</Key></Deleted></DeleteResult>";
        let (kept, errors) = without_errors(page).expect("an answer");
        let all = ["a", "b&amp;c", "d", "e"].map(|name| format!("<Deleted><Key>{name}</Key></Deleted>")).concat();
        assert_eq!(kept, format!("<DeleteResult>{all}</DeleteResult>"));
        assert_eq!(errors.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["b&c", "d"]);
        assert!(errors[0].1.contains("SlowDown") && errors[1].1.contains("AccessDenied"));
        for text in ["", "<Error><Key>a</Key></Error>", "<DeleteResult><Error><Key>a", "<DeleteResult><Error></Error>"]
        {
            assert_eq!(without_errors(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_page_of_a_list() {
        for text in ["", "<html><body>Sign in</body></html>", "<ListBucketResult><Contents><Key>a", "{}"] {
            assert_eq!(keys_alone(text), None, "{text}");
        }
        let more = "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>";
        assert_eq!(keys_alone(more), None);
        let more = more.replace("</ListB", "<NextContinuationToken>t</NextContinuationToken></ListB");
        assert_eq!(keys_alone(&more).as_deref(), Some(more.as_str()));
    }

    proptest! {
        #[test]
        fn any_text(text in "(<ListBucketResult>)?(<Contents>|</Contents>|<Key>|</Key>|a|&|;|/|\u{e4}){0,12}") {
            if let Some(kept) = keys_alone(&text) {
                prop_assert!(kept.len() <= text.len());
            }
        }
    }
}
