//! Decoding of the paths and queries of requests.

use crate::request_error::RequestError;

/// Greatest length of a query in bytes.
const MAX_QUERY: usize = 4096;

/// Decodes percent-encoded text. If `plus`, `+` is a space, as in encoded forms.
pub(crate) fn decoded(text: &str, plus: bool) -> Result<String, RequestError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                match (digit(rest.next()), digit(rest.next())) {
                    (Some(high), Some(low)) => (high << 4 | low) as u8,
                    _ => return Err(RequestError::argument(format!("{text:?}: found % without two digits"))),
                }
            }
            b'+' if plus => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| RequestError::argument(format!("{text:?} is not UTF-8")))
}

/// Parameters of a query.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Returns the parameter `path`, the path of the node that the request is about; `/` if it is missing.
    pub(crate) fn path(&self) -> &str {
        self.text("path").unwrap_or("/")
    }

    /// Parses a query of the form `name=value&name=value`.
    pub(crate) fn parse(text: &str) -> Result<Self, RequestError> {
        if text.len() > MAX_QUERY {
            return Err(RequestError::argument(format!(
                "found a query of {} bytes, expected at most {MAX_QUERY}",
                text.len()
            )));
        }
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(name, true)?, decoded(value, true)?))
        });
        pairs.collect::<Result<_, _>>().map(Self)
    }

    /// Returns the values of a parameter that may be repeated, but for empty ones.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().filter(|(known, value)| known == name && !value.is_empty());
        values.map(|(_, value)| value.clone()).collect()
    }

    /// Returns the first value of a parameter; `None` if it is missing.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns whether a parameter is present and not `0`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.text(name).is_some_and(|value| value != "0")
    }

    /// Returns a parameter as a number, or `default` if it is missing.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str, default: T) -> Result<T, RequestError> {
        Ok(self.optional(name)?.unwrap_or(default))
    }

    /// Returns a parameter as a number; `None` if it is missing.
    pub(crate) fn optional<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, RequestError> {
        let parse = |text: &str| {
            text.parse().map_err(|_| RequestError::argument(format!("{name}: found {text:?}, expected a number")))
        };
        self.text(name).filter(|text| !text.is_empty()).map(parse).transpose()
    }

    /// Fails if the query has parameters that are not in `known`. The parameter `token` is always allowed.
    pub(crate) fn check(&self, known: &[&str]) -> Result<(), RequestError> {
        match self.0.iter().find(|(name, _)| name != "token" && !known.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, _)) if known.is_empty() => {
                Err(RequestError::argument(format!("found parameter {name:?}, expected none")))
            }
            Some((name, _)) => {
                let known = known.join(", ");
                Err(RequestError::argument(format!("found parameter {name:?}, expected one of {known}")))
            }
        }
    }

    /// Returns a parameter as a list of numbers separated by commas; empty if it is missing.
    pub(crate) fn list<T: std::str::FromStr>(&self, name: &str) -> Result<Vec<T>, RequestError> {
        let parse = |text: &str| {
            text.parse().map_err(|_| RequestError::argument(format!("{name}: found {text:?}, expected numbers: 0,5")))
        };
        self.text(name)
            .into_iter()
            .filter(|text| !text.is_empty())
            .flat_map(|text| text.split(','))
            .map(parse)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(decoded("a%2fb+c%C3%A9", false).expect("text"), "a/b+cé");
        assert_eq!(decoded("a+b%2B", true).expect("text"), "a b+");
        for text in ["%", "%4", "%zz", "%+1", "%ff"] {
            assert!(decoded(text, false).is_err(), "{text}");
        }
    }

    #[test]
    fn parameters() {
        let query = Query::parse("path=%2Fa&at=0,5&y0=&full=1&max=x").expect("a query");
        assert_eq!((query.text("path"), query.text("none")), (Some("/a"), None));
        assert_eq!(query.list::<u64>("at").expect("numbers"), [0, 5]);
        assert_eq!(query.number::<u64>("y0", 7).expect("a default"), 7);
        let repeated = Query::parse("a=1,2&b=3&a=&a=4").expect("a query");
        assert_eq!((repeated.texts("a"), repeated.texts("c")), (vec!["1,2".to_owned(), "4".to_owned()], Vec::new()));
        assert!(query.check(&["path", "at", "y0", "full", "max"]).is_ok());
        let refused = query.check(&["path", "at"]).expect_err("unknown ones");
        assert_eq!(refused.message, "found parameter \"y0\", expected one of path, at");
        assert!(query.flag("full") && !query.flag("none"));
        assert!(query.number::<u64>("max", 7).is_err());
        assert!(Query::parse(&"a".repeat(5000)).is_err());
    }
}
