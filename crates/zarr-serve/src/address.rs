//! Paths and queries of requests, without their escapes.

use crate::request_error::RequestError;

/// Greatest number of bytes of the parameters of a query.
const MAX_QUERY: usize = 4096;

/// The text that percent-encoding stands for. With `plus`, `+` is a space, as forms encode it.
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

/// The parameters of a query.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// The path that a question is about.
    pub(crate) fn path(&self) -> &str {
        self.text("path").unwrap_or("/")
    }

    /// The parameters of `name=value&name=value`.
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

    /// The text of a parameter; the first, if there are several of the name.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether a parameter is there and not 0.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.text(name).is_some_and(|value| value != "0")
    }

    /// A number, or a default where there is none.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str, default: T) -> Result<T, RequestError> {
        Ok(self.optional(name)?.unwrap_or(default))
    }

    /// A number, if it is there.
    pub(crate) fn optional<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, RequestError> {
        let parse = |text: &str| {
            text.parse().map_err(|_| RequestError::argument(format!("{name}: found {text:?}, expected a number")))
        };
        self.text(name).filter(|text| !text.is_empty()).map(parse).transpose()
    }

    /// Refuses parameters that are none of these. A token may always be there.
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

    /// Numbers divided by commas.
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
        assert!(query.check(&["path", "at", "y0", "full", "max"]).is_ok());
        let refused = query.check(&["path", "at"]).expect_err("unknown ones");
        assert_eq!(refused.message, "found parameter \"y0\", expected one of path, at");
        assert!(query.flag("full") && !query.flag("none"));
        assert!(query.number::<u64>("max", 7).is_err());
        assert!(Query::parse(&"a".repeat(5000)).is_err());
    }
}
