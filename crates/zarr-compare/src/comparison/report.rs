//! Comparisons as JSON.

use super::{
    Comparison, Fact, NodeComparison, NotCompared, OtherDifference, OtherKeyDiffers, ValueDifferences, Values,
};
use zarr_json::{Map, Value};

impl Comparison {
    /// Returns all differences as JSON. Nodes without a difference are left out.
    pub fn to_json(&self) -> Value {
        let differ = |node: &&NodeComparison| !node.is_equal() || node.has_other_layout();
        let mut map = Map::new();
        map.insert("equal", self.is_equal());
        map.insert("same_layout", !self.has_other_layout());
        map.insert("only_in_first", self.only_in_first.clone());
        map.insert("only_in_second", self.only_in_second.clone());
        map.insert("other_files", self.other_keys.iter().map(other).collect::<Vec<_>>());
        map.insert("compared", self.nodes.len() as u64);
        map.insert("not_compared", self.not_compared() as u64);
        map.insert("nodes", self.nodes.iter().filter(differ).map(node).collect::<Vec<_>>());
        Value::Object(map)
    }
}

fn other(difference: &OtherDifference) -> Value {
    let mut map = Map::new();
    map.insert("key", difference.key.as_str());
    let how = match difference.how {
        OtherKeyDiffers::OnlyInFirst => "only in first",
        OtherKeyDiffers::OnlyInSecond => "only in second",
        OtherKeyDiffers::Bytes => "bytes differ",
    };
    map.insert("how", how);
    Value::Object(map)
}

fn node(node: &NodeComparison) -> Value {
    let mut map = Map::new();
    map.insert("path", node.path.as_str());
    map.insert("equal", node.is_equal());
    map.insert("facts", node.facts.iter().map(fact).collect::<Vec<_>>());
    map.insert("attributes", node.attributes.iter().map(fact).collect::<Vec<_>>());
    match &node.values {
        Values::Compared(found) => map.insert("values", values(found)),
        Values::NotCompared(why) => map.insert("values_not_compared", why.name()),
    };
    Value::Object(map)
}

fn fact(fact: &Fact) -> Value {
    let mut map = Map::new();
    map.insert("pointer", fact.pointer.as_str());
    // A member that is not there is no null.
    for (name, value) in [("first", &fact.first), ("second", &fact.second)] {
        if let Some(value) = value {
            map.insert(name, value.clone());
        }
    }
    map.insert("layout", fact.is_layout);
    Value::Object(map)
}

fn values(values: &ValueDifferences) -> Value {
    let mut map = Map::new();
    map.insert("compared", values.compared);
    map.insert("different", values.different);
    map.insert("max_abs", values.max_abs.map_or(Value::Null, Value::from));
    let range = |range: &std::ops::Range<u64>| Value::from(vec![range.start, range.end]);
    let bounds = values.bounds.as_ref().map(|bounds| bounds.iter().map(range).collect());
    map.insert("bounds", bounds.map_or(Value::Null, Value::Array));
    let element = |element: &super::DifferentElement| {
        let mut map = Map::new();
        map.insert("index", element.index.clone());
        if !element.coordinates.is_empty() {
            let labels = element.coordinates.iter().map(|(name, label)| (name.clone(), Value::from(label.as_str())));
            map.insert("coordinates", Value::Object(labels.collect()));
        }
        map.insert("first", element.first.clone());
        map.insert("second", element.second.clone());
        Value::Object(map)
    };
    map.insert("first", values.first.iter().map(element).collect::<Vec<_>>());
    Value::Object(map)
}

impl NotCompared {
    /// Returns whether there are elements that should have been compared, so that it is unknown whether they are equal.
    pub fn is_unknown(self) -> bool {
        match self {
            Self::NotAsked | Self::NoArrays | Self::StoredAlike => false,
            Self::Kinds | Self::Shapes | Self::DataTypes | Self::Unknown => true,
        }
    }

    /// Returns the name of the reason in kebab case.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotAsked => "not-asked",
            Self::NoArrays => "no-arrays",
            Self::Kinds => "kinds-differ",
            Self::Shapes => "shapes-differ",
            Self::DataTypes => "data-types-differ",
            Self::StoredAlike => "stored-alike",
            Self::Unknown => "not-known",
        }
    }
}
