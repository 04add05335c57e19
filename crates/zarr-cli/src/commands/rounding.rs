//! Rounding of the variables of a conversion: `--keep-information` and `--max-error`.

use super::bar::Bar;
use super::bench_codecs::share;
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use crate::table::seven_digits;
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zarr::codec::CodecList;
use zarr::convert::{Conversion, ConvertOptions};
use zarr::hierarchy::node_exists;
use zarr::meta::json::{Map, NamedConfig, Value};
use zarr::meta::{NodePath, StoredNode};
use zarr::stats::{BitInformation, ErrorBound, Unmeasurable, chunk_codecs};
use zarr::{Array, NewArray, Store};

/// Number of bytes of elements on which the information of bits is measured.
const SAMPLE: u64 = 16 << 20;
/// Name of the variable that describes the rounding, as in the examples of CF 8.4.
const CONTAINER: &str = "quantization_info";
/// Attributes whose values name variables that are no data variables.
const NAMING: [&str; 9] = [
    "coordinates",
    "bounds",
    "climatology",
    "formula_terms",
    "cell_measures",
    "grid_mapping",
    "node_coordinates",
    "geometry",
    "ancillary_variables",
];

/// How the variables of a conversion are rounded.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Rounding {
    /// Round floating-point variables, but no coordinates, so that they keep this share of the information of their bits, such as 0.99; as
    /// `bench-codecs` measures it. Variables for which that measure misleads stay as they are, and are named.
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with_all = ["max_error", "part", "finish", "abandon"], help_heading = super::convert::RESULT)]
    keep_information: Option<f64>,
    /// Round floating-point variables, but no coordinates, to the fewest bits with which no element is changed by more than this: a number,
    /// or a share such as 1%. All elements are looked at before anything is written.
    #[arg(long, value_name = "ERROR", value_parser = bound, conflicts_with_all = ["part", "finish", "abandon"], help_heading = super::convert::RESULT)]
    max_error: Option<ErrorBound>,
}

/// Parses the argument of --max-error.
fn bound(text: &str) -> Result<ErrorBound, String> {
    text.parse().map_err(|error: zarr::Error| error.message().to_owned())
}

impl Rounding {
    /// Adds the codecs and attributes of rounded variables to the options of a conversion. `codecs` are those of --codecs.
    pub(super) fn taken(
        self,
        context: &Context,
        source: &NodeLocation,
        codecs: Option<&str>,
        options: ConvertOptions,
    ) -> Result<ConvertOptions> {
        if self.keep_information.is_none() && self.max_error.is_none() {
            return Ok(options);
        }
        if codecs.is_some_and(|codecs| codecs.trim_start().starts_with(['[', '{'])) {
            return Err(Failure::usage("--codecs is JSON, expected names of codecs, as zstd(3), behind the rounding"));
        }
        let walk = context.walk(source)?;
        let named = named(&walk.nodes);
        let is_left = |path: &NodePath| {
            options.exclude.iter().any(|out| path.is_within(out))
                || options.arrays.as_ref().is_some_and(|arrays| !arrays.contains(path))
        };
        let (mut array_codecs, mut attributes) = (BTreeMap::new(), BTreeMap::new());
        let bar = Bar::waiting("looking at the bits of variables", context.global.quiet);
        for node in walk.nodes.iter().filter(|node| node.node.as_array().is_some() && !is_left(&node.path)) {
            if named.contains(&node.path) {
                continue;
            }
            let array = Array::from_found(&source.store, node.clone(), &context.registry, context.options())?;
            match self.bits(&array)? {
                Ok(bits) => {
                    array_codecs.insert(node.path.clone(), rounded(&array, bits, codecs)?);
                    attributes.insert(node.path.clone(), facts(bits));
                }
                Err(Some(why)) => context.warnings(&[format!("{}: not rounded: {why}", node.path)]),
                Err(None) => {}
            }
        }
        bar.finish();
        Ok(options.array_codecs(array_codecs).attributes(attributes))
    }

    /// Returns the number of mantissa bits to keep of an array, or why it is not rounded; `None` as the reason if elements are no
    /// floating-point numbers.
    fn bits(self, array: &Array) -> Result<Result<u32, Option<String>>> {
        let told = |why: Unmeasurable| (why != Unmeasurable::NotFloat).then(|| why.to_string());
        if let Some(bound) = self.max_error {
            return Ok(bound.keepbits(array)?.map_err(told));
        }
        let information = match BitInformation::of(array, SAMPLE)? {
            Ok(information) => information,
            Err(why) => return Ok(Err(told(why))),
        };
        let bits = information.keep(self.keep_information.unwrap_or(1.0));
        Ok(match information.lost_mark(bits) {
            None => Ok(bits),
            Some((mark, _)) => {
                Err(Some(format!("{bits} bits would change {}, which marks missing data", seven_digits(mark))))
            }
        })
    }

    /// Writes the variables that describe the rounding, into the groups of rounded variables.
    pub(super) fn describe(self, context: &Context, conversion: &Conversion, target: &Arc<dyn Store>) -> Result<()> {
        let rounded = &conversion.options().array_codecs;
        let nodes = conversion.nodes().iter().filter(|node| rounded.contains_key(&node.source.path));
        let groups: BTreeMap<NodePath, _> =
            nodes.filter_map(|node| Some((node.path.parent()?, node.dialect))).collect();
        for (group, dialect) in groups {
            let path = group.join(CONTAINER).map_err(zarr::Error::from)?.to_string();
            if node_exists(&**target, &path, None)? {
                continue;
            }
            let implementation = concat!("zarr ", env!("CARGO_PKG_VERSION"), " in Rust");
            let new = NewArray::new(&[], "int8").dialect(dialect);
            let new = new.attribute("algorithm", "bitround").attribute("implementation", implementation);
            Array::create(target, &path, new, &context.registry)?;
        }
        Ok(())
    }
}

/// Attributes of CF 8.4 for a variable that is rounded to a number of bits.
fn facts(bits: u32) -> Map {
    let members = [("quantization", Value::from(CONTAINER)), ("quantization_nsb", Value::from(bits))];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Codecs of an array with the rounding in front: those of the array, or `given`.
fn rounded(array: &Array, bits: u32, given: Option<&str>) -> Result<CodecList> {
    let text = match given.map(str::trim) {
        Some("none" | "") => format!("bitround({bits})"),
        Some(given) => format!("bitround({bits}),{given}"),
        None => {
            let mut rounding = NamedConfig::new("numcodecs.bitround");
            rounding.configuration.insert("keepbits", bits);
            let all = std::iter::once(rounding).chain(chunk_codecs(array));
            Value::from(all.map(|codec| codec.to_value()).collect::<Vec<_>>()).to_string()
        }
    };
    Ok(CodecList::parse(&text).map_err(zarr::Error::from)?)
}

/// Paths of arrays that are no data variables: those with the name of a dimension of an array in their group, and those that attributes name.
fn named(nodes: &[StoredNode]) -> BTreeSet<NodePath> {
    let mut named = BTreeSet::new();
    for node in nodes {
        let (Some(array), Some(group)) = (node.node.as_array(), node.path.parent()) else { continue };
        let dimensions = array.dimension_names.iter().flatten().flatten().map(String::as_str);
        let texts = NAMING.iter().filter_map(|name| array.attributes.get(name)?.as_str());
        let words = texts.flat_map(str::split_whitespace).filter(|word| !word.ends_with(':'));
        named.extend(dimensions.chain(words).filter_map(|name| group.join(name.trim_start_matches('/')).ok()));
    }
    named
}
