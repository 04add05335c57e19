//! Writing of XML documents, and reading of those in requests.

use std::fmt::Write;

/// XML namespace of documents of S3.
pub(crate) const NAMESPACE: &str = "http://s3.amazonaws.com/doc/2006-03-01/";

/// Document that is being written.
#[derive(Debug)]
pub(crate) struct Xml(String);

impl Xml {
    pub(crate) fn new() -> Self {
        Self("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned())
    }

    /// Writes an element around the output of `content`. `attributes` are in the form ` xmlns="a"`.
    pub(crate) fn inside(&mut self, name: &str, attributes: &str, content: impl FnOnce(&mut Self)) {
        // Writing to a string does not fail.
        let _ = write!(self.0, "<{name}{attributes}>");
        content(self);
        let _ = write!(self.0, "</{name}>");
    }

    /// Returns a document of S3, whose outermost element is `name`.
    pub(crate) fn document(name: &str, content: impl FnOnce(&mut Self)) -> Self {
        let mut xml = Self::new();
        xml.inside(name, &format!(" xmlns=\"{NAMESPACE}\""), content);
        xml
    }

    /// Writes an element that contains text.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.inside(name, "", |xml| xml.escape(text));
    }

    fn escape(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&apos;"),
                // Readers may drop or change these, or refuse them.
                control if control.is_control() => {
                    let _ = write!(self.0, "&#x{:X};", u32::from(control));
                }
                other => self.0.push(other),
            }
        }
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

/// Returns the content between each `<name>` and the next `</name>`. Elements of the same name do not nest in the supported documents.
/// `None` if an end is missing.
pub(crate) fn contents<'a>(document: &'a str, name: &str) -> Option<Vec<&'a str>> {
    let (start, end) = (format!("<{name}"), format!("</{name}>"));
    let mut found = Vec::new();
    let mut rest = document;
    while let Some(index) = rest.find(&start) {
        rest = rest.get(index + start.len()..)?;
        // Otherwise the element has a longer name.
        if !rest.starts_with(['>', ' ', '\t', '\r', '\n', '/']) {
            continue;
        }
        let close = rest.find('>')?;
        let is_empty = rest.get(..close)?.ends_with('/');
        rest = rest.get(close + 1..)?;
        if is_empty {
            found.push("");
            continue;
        }
        let close = rest.find(&end)?;
        found.push(rest.get(..close)?);
        rest = rest.get(close + end.len()..)?;
    }
    Some(found)
}

/// Returns the text of the first element `name`, without escapes; `None` if there is no such element, or an escape is unknown.
pub(crate) fn text(document: &str, name: &str) -> Option<String> {
    unescape(contents(document, name)?.first()?)
}

fn unescape(escaped: &str) -> Option<String> {
    let mut text = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(index) = rest.find('&') {
        text.push_str(rest.get(..index)?);
        let (name, after) = rest.get(index + 1..)?.split_once(';')?;
        text.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            number => {
                let number = number.strip_prefix('#')?;
                let code = match number.strip_prefix(['x', 'X']) {
                    Some(digits) => u32::from_str_radix(digits, 16),
                    None => number.parse(),
                };
                char::from_u32(code.ok()?)?
            }
        });
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        let key = "a<b>&\"'\u{1}\n é";
        let xml = Xml::document("Result", |xml| xml.text("Key", key)).into_text();
        assert!(xml.contains("a&lt;b&gt;&amp;&quot;&apos;&#x1;&#xA; é"), "{xml}");
        assert_eq!(text(&xml, "Key").as_deref(), Some(key));
    }

    #[test]
    fn elements() {
        let xml =
            "<D xmlns=\"x\"><Object><Key>a</Key></Object> <Object ><Key>b&#38;</Key></Object><Objects/><Key/></D>";
        let objects = contents(xml, "Object").unwrap();
        assert_eq!(objects, ["<Key>a</Key>", "<Key>b&#38;</Key>"]);
        assert_eq!(text(objects[1], "Key").as_deref(), Some("b&"));
        assert_eq!(contents(xml, "Key").unwrap(), ["a", "b&#38;", ""]);
        assert_eq!(text(xml, "Quiet"), None);
        assert_eq!(contents("<Key>a", "Key"), None);
        assert_eq!(text("<Key>&unknown;</Key>", "Key"), None);
    }
}
