//! Reading of a node from its documents.

use super::Probe;
use crate::dialect::rules::Rules;
use crate::dialect::table::all_rules;
use crate::error::{Error, ErrorKind, Result};
use crate::stored_node::StoredNode;
use crate::{Dialect, Documents, NodePath, Warning};

impl Probe {
    /// Returns the node that the documents describe, in the newest dialect among them; `None` if they describe none.
    pub(crate) fn read(&self, documents: &Documents) -> Result<Option<StoredNode>> {
        let all = self.rules();
        for (index, rules) in all.iter().enumerate() {
            let mut own_keys = rules.document_keys(&self.path);
            own_keys.extend(rules.more_keys(&self.path, documents));
            let own = documents.among(&own_keys);
            let Some(parsed) = rules.parse(&self.path, &own)? else { continue };
            let mut warnings = parsed.warnings;
            for rules in all.iter().skip(index + 1) {
                let Some(&hidden) = rules.dialects().first() else { continue };
                for other in rules.document_keys(&self.path) {
                    let name = other.rsplit('/').next().unwrap_or_default();
                    if documents.contains(&other) && !own_keys.contains(&other) && self.is_document(name) {
                        warnings.push(Warning::hidden(other, hidden, parsed.dialect));
                    }
                }
            }
            warnings.extend(self.forbidden_names(*rules));
            let found = StoredNode {
                dialect: parsed.dialect,
                path: self.path.clone(),
                node: parsed.node,
                implicit: parsed.implicit,
                documents: own.without_values(),
                warnings,
                attributes_error: parsed.attributes_error,
                separator_unmarked: parsed.separator_unmarked,
                may_omit_empty_chunks: parsed.may_omit_empty_chunks,
                dimension_names_from: parsed.dimension_names_from,
                fallback_keys: parsed.fallback_keys,
                fallback: parsed.fallback,
                unknown: parsed.unknown,
                codecs_if_c_order: parsed.codecs_if_c_order,
                beside: self.beside.clone(),
            };
            return Ok(Some(if self.f_order_is_c { found.v1_f_order_is_c() } else { found }));
        }
        Ok(None)
    }

    /// Returns warnings about names in the path that the dialect forbids. Such names can be read.
    fn forbidden_names<'r>(&'r self, rules: &'r dyn Rules) -> impl Iterator<Item = Warning> + 'r {
        self.path.names().filter_map(|name| {
            let forbidden = |found: &str, expected: &str| {
                Error::new(ErrorKind::Path, "", format!("node name {name:?} {found}"), expected)
            };
            let error = rules.check_name(name, &forbidden).err()?;
            // It is of no document: the path says where.
            Some(Warning::new("", "", format!("{}: {error}", self.path)))
        })
    }

    fn is_document(&self, name: &str) -> bool {
        all_rules().any(|rules| rules.is_node_document(name, &Documents::new()))
    }
}

impl StoredNode {
    /// Reads the node at `path` from `documents`, all documents that it has, in `dialect`; `None` if they describe no node.
    ///
    /// # Errors
    /// Fails in the same cases as [`Probe::step`](crate::Probe::step).
    pub fn read(dialect: Dialect, path: NodePath, documents: &Documents) -> Result<Option<Self>, Error> {
        Probe::new(path, Some(dialect)).read(documents)
    }
}
