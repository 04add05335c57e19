//! Documents of version 3 as they were written before the specification was final, translated to its final form.
//!
//! | until | peculiarity |
//! |---|---|
//! | March 2023 | `{"type": ..}` instead of `{"name": ..}`, URIs instead of names, separator inside of `chunk_grid` |
//! | May 2023 | `"+Infinity"`, integer `shuffle` of blosc, `fallback` in data types |
//! | July 2023 | no array-to-bytes codec, `sharding_indexed` without `index_codecs`, null fill value |
//! | August 2023 | the codec `bytes` is named `endian` |
//! | October 2023 | the `order` of `transpose` is `"C"` or `"F"` |

use crate::Error;
use crate::dialect::codecs;
use crate::dialect::uri::{is_first_version, is_version};
use crate::error::{ErrorKind, Result};
use zarr_json::pointer::At;
use zarr_json::{Map, NamedConfig, Value};

/// Deviations of a document of version 3 from the final specification.
#[derive(Debug, Default)]
pub(crate) struct ProvisionalV3 {
    /// Deviations: JSON pointers and descriptions.
    pub(crate) deviations: Vec<(String, String)>,
    /// Features that only later documents have: JSON pointers and descriptions.
    pub(crate) later: Vec<(String, &'static str)>,
}

impl ProvisionalV3 {
    pub(crate) fn note(&mut self, pointer: impl Into<String>, what: impl Into<String>) {
        self.deviations.push((pointer.into(), what.into()));
    }

    pub(crate) fn is_provisional(&self) -> bool {
        !self.deviations.is_empty()
    }

    /// Reads an extension point: a bare name, or an object with a name and optionally a configuration and `must_understand`.
    ///
    /// `also` are further members that are permitted, and ignored.
    pub(crate) fn named(&mut self, at: &At<'_>, also: &[&str]) -> Result<NamedConfig> {
        if let Some(name) = at.value().as_str() {
            return Ok(NamedConfig::new(name));
        }
        let name = match (at.get("name"), at.get("type")) {
            (None, Some(kind)) => {
                self.note(at.pointer(), "`type` instead of `name`");
                let name = last_name(kind.text()?);
                name.ok_or_else(|| Error::about(&kind, ErrorKind::UnknownExtension, "version 1 of an extension"))?
                    .to_owned()
            }
            _ => at.member("name")?.text()?.to_owned(),
        };
        let configuration = match at.get("configuration") {
            Some(configuration) => configuration.object()?.clone(),
            None => Map::new(),
        };
        let must_understand = at.get("must_understand").map_or(Ok(true), |flag| flag.bool())?;
        let is_known = |member: &&str| {
            matches!(*member, "name" | "type" | "configuration" | "must_understand") || also.contains(member)
        };
        if let Some(value) = at.object()?.keys().find(|member| !is_known(member)).and_then(|member| at.get(member)) {
            let expected = "only name, configuration and must_understand in an extension";
            return Err(Error::about(&value, ErrorKind::UnknownMember, expected));
        }
        Ok(NamedConfig { name, configuration, must_understand })
    }

    /// Reads the chain of codecs at `at`, of an array with `rank` dimensions. `item_size` returns the size of an element in bytes; it is a
    /// function, since few documents need it.
    pub(crate) fn codecs(
        &mut self,
        at: &At<'_>,
        rank: usize,
        item_size: &dyn Fn() -> Option<u64>,
    ) -> Result<Vec<NamedConfig>> {
        let mut chain = Vec::new();
        for item in at.items()? {
            let mut codec = self.named(&item, &[])?;
            match codec.name.as_str() {
                "endian" => {
                    self.note(item.pointer(), "the codec `bytes` under its old name `endian`");
                    codec.name = "bytes".to_owned();
                }
                "bytes" => self.later.push((item.pointer(), "the codec `bytes`")),
                "transpose" => self.transpose(&item, &mut codec.configuration, rank),
                "blosc" => self.blosc(&item, &mut codec.configuration, &chain, item_size),
                "sharding_indexed" => self.sharding(&item, &mut codec.configuration, rank, item_size)?,
                _ => {}
            }
            chain.push(codec);
        }
        codecs::check_order(at, &chain)?;
        if let Some(position) = codecs::missing_array_to_bytes(&chain) {
            self.note(at.pointer(), "no codec turns the array into bytes; little-endian bytes are assumed");
            chain.insert(position, codecs::bytes(Some("little")));
        }
        Ok(chain)
    }

    fn transpose(&mut self, at: &At<'_>, configuration: &mut Map, rank: usize) {
        let order: Vec<usize> = match configuration.get("order").and_then(Value::as_str) {
            Some("C") => (0..rank).collect(),
            Some("F") => (0..rank).rev().collect(),
            _ => {
                self.later.push((at.pointer(), "the order of transpose as an array"));
                return;
            }
        };
        self.note(at.pointer(), "`order` of transpose as a letter");
        configuration.insert("order", order);
    }

    fn blosc(
        &mut self,
        at: &At<'_>,
        configuration: &mut Map,
        before: &[NamedConfig],
        item_size: &dyn Fn() -> Option<u64>,
    ) {
        let Some(number) = configuration.get("shuffle").and_then(Value::as_i64) else { return };
        // Only behind nothing but array codecs do the bytes consist of elements.
        let elements = before.iter().all(|codec| codecs::kind(&codec.name) != Some(codecs::Kind::BytesToBytes));
        let typesize = if elements { item_size().unwrap_or(1) } else { 1 };
        // Another number is no shuffle, which only encoding needs: the codec says so.
        let Some(word) = codecs::shuffle_word(number, typesize) else { return };
        self.note(at.pointer(), "`shuffle` of blosc as a number");
        configuration.insert("shuffle", word);
        if !configuration.contains_key("typesize") {
            configuration.insert("typesize", typesize);
        }
    }

    fn sharding(
        &mut self,
        at: &At<'_>,
        configuration: &mut Map,
        rank: usize,
        item_size: &dyn Fn() -> Option<u64>,
    ) -> Result<()> {
        let Some(configured) = at.get("configuration") else { return Ok(()) };
        let to_list = |chain: Vec<NamedConfig>| Value::Array(chain.iter().map(NamedConfig::to_value).collect());
        if let Some(inner) = configured.get("codecs") {
            let before = self.deviations.len();
            let chain = self.codecs(&inner, rank, item_size)?;
            // An array without deviations stays as it is spelled.
            if self.deviations.len() > before {
                configuration.insert("codecs", to_list(chain));
            }
        }
        match configured.get("index_codecs") {
            Some(index) => {
                self.later.push((index.pointer(), "`index_codecs`"));
                let before = self.deviations.len();
                // The index has one dimension more, and is of 64-bit integers.
                let chain = self.codecs(&index, rank.saturating_add(1), &|| Some(8))?;
                if self.deviations.len() > before {
                    configuration.insert("index_codecs", to_list(chain));
                }
            }
            None if configured.get("codecs").is_some() => {
                self.note(at.pointer(), "no `index_codecs`; the index may or may not have a checksum");
                let chain = vec![codecs::bytes(Some("little")), NamedConfig::new("crc32c")];
                configuration.insert("index_codecs", to_list(chain));
                configuration.insert("index_checksum_optional", true);
            }
            None => {}
        }
        Ok(())
    }

    /// Returns the fill value with `"+Infinity"` in the later spelling `"Infinity"`.
    pub(crate) fn fill_value(&mut self, pointer: &str, value: &Value) -> Value {
        match value {
            Value::String(text) if text == "+Infinity" => {
                self.note(pointer, "\"+Infinity\" instead of \"Infinity\"");
                Value::from("Infinity")
            }
            Value::Array(items) => {
                let item = |(index, item)| self.fill_value(&format!("{pointer}/{index}"), item);
                Value::Array(items.iter().enumerate().map(item).collect())
            }
            other => other.clone(),
        }
    }
}

/// Returns the name in a URI such as `https://purl.org/zarr/spec/codecs/gzip/1.0`. A string that is no URI is a name itself. `None` for a
/// major version other than 1.
fn last_name(text: &str) -> Option<&str> {
    if !text.contains("://") {
        return Some(text);
    }
    let mut parts = text.rsplit('/').filter(|part| !part.is_empty());
    let last = parts.next()?;
    match is_version(last) {
        false => Some(last),
        true => parts.next().filter(|_| is_first_version(last)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    fn normal(codecs: Value) -> (String, usize) {
        let mut provisional = ProvisionalV3::default();
        let chain = provisional.codecs(&At::root(&codecs), 3, &|| Some(4)).unwrap();
        (Value::Array(chain.iter().map(NamedConfig::to_value).collect()).to_string(), provisional.deviations.len())
    }

    #[test]
    fn final_chains_stay() {
        let chain = json!([
            {"name": "transpose", "configuration": {"order": [2, 0, 1]}},
            {"name": "sharding_indexed", "configuration": {
                "chunk_shape": [1, 1, 1],
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "gzip"],
                "index_codecs": ["bytes", "crc32c"]
            }},
            {"name": "crc32c"}
        ]);
        assert_eq!(normal(chain.clone()), (chain.to_string(), 0));
    }

    #[test]
    fn old_chains_become_new() {
        let bytes = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
        assert_eq!(normal(json!([])), (format!("[{bytes}]"), 1));
        let (chain, deviations) = normal(json!([{"type": "https://purl.org/zarr/spec/codecs/gzip/1.0"}]));
        assert_eq!((chain, deviations), (format!(r#"[{bytes},{{"name":"gzip"}}]"#), 2));
        let (chain, _) = normal(json!([
            {"name": "transpose", "configuration": {"order": "F"}},
            {"name": "endian", "configuration": {"endian": "little"}}
        ]));
        assert_eq!(chain, format!(r#"[{{"name":"transpose","configuration":{{"order":[2,1,0]}}}},{bytes}]"#));
        let (chain, _) = normal(json!([{"name": "blosc", "configuration": {"shuffle": 1}}]));
        let blosc = r#"{"name":"blosc","configuration":{"shuffle":"shuffle","typesize":4}}"#;
        assert_eq!(chain, format!("[{bytes},{blosc}]"));
        let (chain, _) =
            normal(json!([{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 1, 1], "codecs": []}}]));
        let index = format!(r#""index_codecs":[{bytes},{{"name":"crc32c"}}],"index_checksum_optional":true"#);
        assert!(chain.contains(&index), "{chain}");
        // An unknown codec may be the array-to-bytes codec.
        assert_eq!(normal(json!(["mine"])).1, 0);
    }

    #[test]
    fn names_in_uris() {
        assert_eq!(last_name("https://purl.org/zarr/spec/codecs/gzip/1.0"), Some("gzip"));
        assert_eq!(last_name("https://purl.org/zarr/spec/codec/blosc"), Some("blosc"));
        assert_eq!(last_name("gzip"), Some("gzip"));
        assert_eq!(last_name("https://purl.org/zarr/spec/codecs/gzip/2.0"), None);
    }
}
