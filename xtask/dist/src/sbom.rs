//! List of the software in a product as CycloneDX 1.5, for programs.

use crate::bundled;
use crate::command::VERSION;
use crate::graph::{Crate, Product};
use zarr_json::{Map, Value, json};

/// Returns the document. It is the same for the same lock file, so that it has no time and no random number.
pub(crate) fn document(product: Product, crates: &[Crate]) -> Result<String, String> {
    let is_root = |package: &&Crate| package.name == product.package();
    let root = crates.iter().find(is_root).ok_or_else(|| format!("no package {}", product.package()))?;
    let mut about = component(root)?;
    about.insert("type", json!(if product == Product::Command { "application" } else { "library" }));
    let others = crates.iter().filter(|package| !is_root(package));
    let components: Result<Vec<Value>, String> = others.map(|package| component(package).map(Value::Object)).collect();
    let dependencies = crates.iter().map(|package| {
        let uses = package.uses.iter().map(|(name, version)| Value::from(purl(name, version))).collect();
        json!({"ref": (purl(&package.name, &package.version)), "dependsOn": (Value::Array(uses))})
    });
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "tools": {"components": [{"type": "application", "name": "zarr-dist", "version": (VERSION)}]},
            "component": (Value::Object(about)),
        },
        "components": (Value::Array(components?)),
        "dependencies": (Value::Array(dependencies.collect())),
    });
    Ok(format!("{document}\n"))
}

fn component(package: &Crate) -> Result<Map, String> {
    let purl = purl(&package.name, &package.version);
    let mut component = Map::new();
    component.insert("type", json!("library"));
    component.insert("bom-ref", Value::from(purl.clone()));
    component.insert("name", Value::from(package.name.clone()));
    component.insert("version", Value::from(package.version.clone()));
    if let Some(checksum) = &package.checksum {
        component.insert("hashes", json!([{"alg": "SHA-256", "content": (checksum.clone())}]));
    }
    component.insert("licenses", json!([{"expression": (package.licence.replace('/', " OR "))}]));
    component.insert("purl", Value::from(purl));
    if !package.repository.is_empty() {
        component.insert("externalReferences", json!([{"type": "vcs", "url": (package.repository.clone())}]));
    }
    let mut within = Vec::new();
    for other in bundled::within(package) {
        let mut inner = Map::new();
        inner.insert("type", json!(if other.licence == "OFL-1.1" { "data" } else { "library" }));
        inner.insert("name", json!(other.name));
        if let Some(version) = other.version(package)? {
            inner.insert("version", Value::from(version));
        }
        inner.insert("licenses", json!([{"expression": (other.licence)}]));
        within.push(Value::Object(inner));
    }
    if !within.is_empty() {
        component.insert("components", Value::Array(within));
    }
    Ok(component)
}

/// Returns the package URL of a crate, with `+` escaped.
fn purl(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::host;
    use crate::graph;
    use std::collections::BTreeSet;

    #[test]
    fn all_that_is_used_is_a_component() {
        let crates = graph::crates(Product::Command, &[host().expect("a host")]).expect("crates");
        let text = document(Product::Command, &crates).expect("a document");
        let value = Value::from_json(&text).expect("JSON");
        let root = value.pointer("/metadata/component/bom-ref").and_then(Value::as_str).expect("a root");
        let list = |name: &str| value.get(name).and_then(Value::as_array).expect("a list").to_vec();
        let word = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).expect("a word").to_owned();
        let mut components: BTreeSet<String> = list("components").iter().map(|part| word(part, "bom-ref")).collect();
        assert_eq!(components.len(), list("components").len());
        assert!(components.insert(root.to_owned()));
        let mut used = BTreeSet::from([root.to_owned()]);
        for edge in list("dependencies") {
            assert!(components.contains(&word(&edge, "ref")), "{edge}");
            let uses = edge.get("dependsOn").and_then(Value::as_array).expect("a list");
            used.extend(uses.iter().map(|of| of.as_str().expect("a word").to_owned()));
        }
        assert_eq!(used, components);
        assert!(text.contains(r#""name":"SQLite","version":"3."#) && text.contains(r#""alg":"SHA-256""#), "{text}");
    }
}
