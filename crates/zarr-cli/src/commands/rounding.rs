//! Rounding of the variables of a conversion: `--keep-information` and `--max-error`.

mod names;

use super::bar::Bar;
use super::bench_codecs::share;
use super::consolidated::keeping;
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use crate::report;
use crate::table::seven_digits;
use clap::Args;
pub(super) use names::no_data_variables;
use names::{Containers, is_container};
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr::codec::CodecList;
use zarr::convert::{Conversion, ConvertOptions, PlannedNode};
use zarr::hierarchy::{node_exists, open_node};
use zarr::meta::NodePath;
use zarr::meta::json::{Map, NamedConfig, Value};
use zarr::meta::text::rounded as digits;
use zarr::stats::{
    BitInformation, ErrorBound, LargestError, RoundingOptions, Unmeasurable, chunk_codecs, keeps_numbers,
};
use zarr::{Array, Dialect, NewArray, Store};

/// Number of bytes of elements on which the information of bits is measured.
const SAMPLE: u64 = 16 << 20;
/// Software that rounds, for the variable that describes it.
const IMPLEMENTATION: &str = concat!("zarr ", env!("CARGO_PKG_VERSION"), " in Rust");
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

/// Rounding of a variable.
#[derive(Debug)]
struct Rounded {
    /// Number of mantissa bits that are kept.
    bits: u32,
    /// Mark of missing data that needs this number of bits; `None` if it needs no more than the numbers.
    mark: Option<f64>,
    /// Largest error that this makes; `None` if it is not known but by its bound.
    error: Option<LargestError>,
}

impl Rounding {
    /// Adds the codecs and attributes of rounded variables to the options of a conversion. `codecs` are those of --codecs.
    pub(super) fn taken(
        self,
        context: &Context,
        source: &NodeLocation,
        (codecs, memory): (Option<&str>, u64),
        options: ConvertOptions,
    ) -> Result<ConvertOptions> {
        if self.keep_information.is_none() && self.max_error.is_none() {
            return Ok(options);
        }
        if codecs.is_some_and(|codecs| codecs.trim_start().starts_with(['[', '{'])) {
            return Err(Failure::usage("--codecs is JSON, expected names of codecs, as zstd(3), behind the rounding"));
        }
        // Variables beside the node may name it as their coordinate.
        let above = source.path.parent().unwrap_or_else(NodePath::root);
        let (store, address) = (Arc::clone(&source.store), source.address.clone());
        let walk = context.walk(&NodeLocation { store, address, path: above, dialect: source.dialect })?;
        let named = no_data_variables(&walk.nodes);
        let is_left = |path: &NodePath| {
            !path.is_within(&source.path)
                || options.exclude.iter().any(|out| path.is_within(out))
                || options.arrays.as_ref().is_some_and(|arrays| !arrays.contains(path))
        };
        let containers = Containers::new(&walk.nodes, IMPLEMENTATION);
        let (mut array_codecs, mut attributes) = (BTreeMap::new(), BTreeMap::new());
        let bar = Bar::waiting("looking at the bits of variables", context.global.quiet);
        for node in walk.nodes.iter().filter(|node| node.node.as_array().is_some() && !is_left(&node.path)) {
            if named.contains(&node.path) {
                continue;
            }
            let region = options.regions.get(&node.path).cloned();
            let looked = RoundingOptions::default().memory(memory).region(region);
            let array = Array::from_found(&source.store, node.clone(), &context.registry, context.options());
            let rounded = array.map_err(Failure::from).and_then(|array| match self.of(&array, &looked)? {
                Ok(rounded) => Ok(Ok((behind(&array, rounded.bits, codecs, context)?, rounded))),
                Err(why) => Ok(Err(why)),
            });
            match rounded {
                Ok(Ok((list, rounded))) => {
                    array_codecs.insert(node.path.clone(), list);
                    attributes.insert(node.path.clone(), facts(rounded.bits, containers.name(&node.path)));
                    tell(context, &node.path, &rounded);
                }
                Ok(Err(Some(why))) => context.warnings(&[format!("{}: not rounded: {why}", node.path)]),
                Ok(Err(None)) => {}
                // The conversion goes on without it, or says itself what it leaves out.
                Err(failure) if options.keep_going => {
                    context.warnings(&[format!("{}: not rounded: {}", node.path, failure.line)]);
                }
                Err(failure) => return Err(failure),
            }
        }
        bar.finish();
        Ok(options.array_codecs(array_codecs).attributes(attributes))
    }

    /// Finds how an array is rounded, or why it is not; `None` as the reason if elements are no floating-point numbers.
    fn of(self, array: &Array, options: &RoundingOptions) -> Result<Result<Rounded, Option<String>>> {
        let told = |why: Unmeasurable| (why != Unmeasurable::NotFloat).then(|| why.to_string());
        let mantissa = |bits: u32| {
            let mantissa = BitInformation::mantissa_of(array.data_type()).unwrap_or(bits);
            (bits >= mantissa).then(|| Some(format!("all {mantissa} bits of the mantissa are needed")))
        };
        if let Some(bound) = self.max_error {
            let bits = bound.keepbits(array, options)?.map_err(told);
            return Ok(bits.and_then(|bits| mantissa(bits).map_or(Ok(Rounded { bits, mark: None, error: None }), Err)));
        }
        let information = match BitInformation::of(array, SAMPLE)? {
            Ok(information) => information,
            Err(why) => return Ok(Err(told(why))),
        };
        let wanted = information.keep(self.keep_information.unwrap_or(1.0));
        let mark = information.lost_mark(wanted);
        let bits = mark.map_or(wanted, |(_, bits)| bits);
        if let Some(why) = mantissa(bits) {
            return Ok(Err(why));
        }
        let error = LargestError::of_rounding(array, bits, options)?.map_err(told);
        Ok(error.map(|error| Rounded { bits, mark: mark.map(|(mark, _)| mark), error: Some(error) }))
    }

    /// Checks that the target has no other nodes where variables that describe the rounding will be, before anything is written. Nodes in
    /// groups that the conversion replaces do not matter.
    pub(super) fn check_places(self, conversion: &Conversion, target: &Arc<dyn Store>) -> Result<()> {
        let is_replaced = |group: &NodePath| {
            conversion.options().overwrite && conversion.nodes().iter().any(|node| node.path == *group)
        };
        for ((group, name), dialect) in described(conversion) {
            if !is_replaced(&group) {
                has_container(&**target, &group, &name, dialect)?;
            }
        }
        Ok(())
    }

    /// Writes the variables that describe the rounding, into the groups of rounded variables.
    pub(super) fn describe(self, context: &Context, conversion: &Conversion, target: &Arc<dyn Store>) -> Result<()> {
        for ((group, name), dialect) in described(conversion) {
            if has_container(&**target, &group, &name, dialect)? {
                continue;
            }
            let path = group.join(&name).map_err(zarr::Error::from)?.to_string();
            let new = NewArray::new(&[], "int8").dialect(dialect);
            let new = new.attribute("algorithm", "bitround").attribute("implementation", IMPLEMENTATION);
            keeping(context, &[(target, Some(group))], || {
                Ok(Array::create(target, &path, new, &context.registry).map(drop)?)
            })?;
        }
        Ok(())
    }
}

/// Groups of rounded variables in the target, with the name of the variable that describes the rounding, and the dialect.
fn described(conversion: &Conversion) -> BTreeMap<(NodePath, String), Dialect> {
    let attributes = &conversion.options().attributes;
    let container = |path: &NodePath| Some(attributes.get(path)?.get("quantization")?.as_str()?.to_owned());
    let of_node = |node: &PlannedNode| Some(((node.path.parent()?, container(&node.source.path)?), node.dialect));
    conversion.nodes().iter().filter_map(of_node).collect()
}

/// Whether a group has the variable that describes rounding. An error if another node has its name.
fn has_container(target: &dyn Store, group: &NodePath, name: &str, dialect: Dialect) -> Result<bool> {
    let path = group.join(name).map_err(zarr::Error::from)?.to_string();
    if !node_exists(target, &path, Some(dialect))? {
        return Ok(false);
    }
    if is_container(&open_node(target, &path, Some(dialect))?, None) {
        return Ok(true);
    }
    let message = format!("{path}: found a node that does not describe rounding by bits");
    Err(Failure::usage(message).with_hint("the attribute `quantization` of variables names it"))
}

/// Tells how a variable is rounded.
fn tell(context: &Context, path: &NodePath, Rounded { bits, mark, error }: &Rounded) {
    if context.global.quiet {
        return;
    }
    let error = error.map_or_else(String::new, |error| {
        let (absolute, percent) = (digits(error.absolute, 2), digits(error.relative * 100.0, 2));
        format!(", which changes no element by more than {absolute} or {percent} %")
    });
    let mark =
        mark.map_or_else(String::new, |mark| format!(" that {}, a mark of missing data, needs", seven_digits(mark)));
    report::note(&format!("{path}: rounded to {bits} bits of the mantissa{mark}{error}"));
}

/// Attributes of CF 8.4 for a variable that is rounded to a number of bits. `container` is the name of the variable that describes the
/// rounding; `None` for an array without a group, which has no place for one.
fn facts(bits: u32, container: Option<String>) -> Map {
    let Some(container) = container else { return Map::new() };
    let members = [("quantization", Value::from(container)), ("quantization_nsb", Value::from(bits))];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Name of a codec without the name of the software that it is of.
fn short(name: &str) -> &str {
    name.trim_start_matches("numcodecs.").trim_start_matches("zarrs.")
}

/// Codecs of an array with the rounding in front: those of the array, or `given`. They must not change numbers.
fn behind(array: &Array, bits: u32, given: Option<&str>, context: &Context) -> Result<CodecList> {
    let others = match given.map(str::trim) {
        Some("none" | "") => Vec::new(),
        Some(given) => CodecList::parse(given)
            .and_then(|list| list.to_configs(&context.registry.codecs))
            .map_err(zarr::Error::from)?,
        // Elements that were rounded already stay as they are by a second rounding.
        None => chunk_codecs(array).into_iter().filter(|codec| short(&codec.name) != "bitround").collect(),
    };
    if let Some(codec) = others.iter().find(|codec| !keeps_numbers(codec)) {
        let message = format!("{}: the codec {} may change rounded numbers once more", array.path(), codec.name);
        return Err(Failure::usage(message).with_hint("--codecs names codecs that lose nothing, such as zstd(3)"));
    }
    let text = match given.map(str::trim) {
        Some("none" | "") => format!("bitround({bits})"),
        Some(given) => format!("bitround({bits}),{given}"),
        None => {
            let mut rounding = NamedConfig::new("numcodecs.bitround");
            rounding.configuration.insert("keepbits", bits);
            let all = std::iter::once(rounding).chain(others);
            Value::from(all.map(|codec| codec.to_value()).collect::<Vec<_>>()).to_string()
        }
    };
    Ok(CodecList::parse(&text).map_err(zarr::Error::from)?)
}
