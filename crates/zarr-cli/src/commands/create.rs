//! `zarr create`: creates an array or a group.

use super::consolidated::{keeping, keeping_dropped};
use super::describe;
use crate::args::dialect;
use crate::codecs;
use crate::context::{Context, join};
use crate::failure::{Exit, Failure, Result};
use crate::file_names::check_target;
use crate::near::{near, question};
use crate::{interrupted, number, output};
use clap::Args;
use std::cell::RefCell;
use std::sync::Arc;
use zarr::convert::Migration;
use zarr::grid::total_size;
use zarr::hierarchy::DroppedConsolidated;
use zarr::meta::conventions::{Convention, Conventions};
use zarr::meta::json::{Map, Value};
use zarr::meta::{NodePath, StoredNode};
use zarr::store::{MemoryStore, StoreAddress};
use zarr::{Array, Dialect, Group, NewArray, NewGroup, Store};

/// Heading in the help of the options about the array.
const ARRAY: &str = "The array";
const STORED: &str = "How it is stored";

/// Create an array, or with --group a group.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The store, which is created if it does not exist; the node may stand behind it: URL::/PATH, or x.zarr/PATH.
    #[arg(value_name = "URL")]
    url: String,
    /// The path of the new node; missing groups above it are created.
    #[arg(value_name = "PATH")]
    path: Option<String>,
    /// Create a group, which has no options that describe elements.
    #[arg(long, conflicts_with_all = ["shape", "dtype", "chunks", "shards", "codecs", "fill", "dims", "convention", "separator"])]
    group: bool,
    /// Elements along each dimension: 365,180,360. An empty string means no dimensions.
    #[arg(long, value_name = "SHAPE", value_parser = number::shape, required_unless_present = "group", help_heading = ARRAY)]
    shape: Option<number::Lengths>,
    /// The data type: float32, f4 or '>f4' as in numpy, or the JSON of a data type of Zarr v3, or of an extension of a draft of it.
    #[arg(long, value_name = "TYPE", required_unless_present = "group", help_heading = ARRAY)]
    dtype: Option<String>,
    /// The shape of chunks (with --shards: of inner chunks); by default about 1 MiB.
    #[arg(long, value_name = "SHAPE", value_parser = number::shape, help_heading = STORED)]
    chunks: Option<number::Lengths>,
    /// The shape of shards, a multiple of that of chunks.
    #[arg(long, value_name = "SHAPE", value_parser = number::shape, help_heading = STORED)]
    shards: Option<number::Lengths>,
    /// The codecs of chunks: gzip, zstd(3), `transpose(1,0),blosc(lz4,5,shuffle)`, zfp(mode=reversible), `none`, or the JSON of
    /// a document of any dialect.
    #[arg(long, value_name = "CODECS", help_heading = STORED)]
    codecs: Option<String>,
    /// The fill value, as in a Zarr v3 document: 0, NaN, 0x7fc00001, "text", or a date: 2000-01-01. Where the dialect allows it,
    /// null leaves it undefined. By default zero; null in v2 and older dialects that have it if the array follows xarray's convention,
    /// by which elements that are the fill value are missing there.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, help_heading = ARRAY)]
    fill: Option<String>,
    /// Names of the dimensions, separated by commas; an empty string for an array without dimensions.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = ARRAY)]
    dims: Option<Vec<String>>,
    /// The convention that the array follows: xarray or none; by default xarray's if its dimensions have names, or it has none.
    #[arg(long, value_name = "NAME", value_parser = convention, help_heading = ARRAY, hide_short_help = true)]
    convention: Option<Conventions>,
    /// The attributes, a JSON object.
    #[arg(long, value_name = "JSON", help_heading = ARRAY)]
    attributes: Option<String>,
    /// The dialect to write: v3, v2, or an older one: d2022, p2020, p2019 (drafts of version 3), v1, v0 (one array at the root);
    /// by default that of the existing hierarchy, else v3. A different one in an existing hierarchy is refused.
    #[arg(long, value_name = "DIALECT", aliases = ["format", "zarr-format"], value_parser = dialect, help_heading = STORED)]
    dialect: Option<Dialect>,
    /// The separator of the numbers in chunk keys: / or a period.
    #[arg(long, value_name = "CHAR", value_parser = separator, help_heading = STORED, hide_short_help = true)]
    separator: Option<char>,
    /// Replace the node at PATH, with everything below it: below the root of a directory or a database in one step.
    #[arg(long)]
    overwrite: bool,
}

pub(crate) fn run(context: &Context, args: &Create) -> Result<()> {
    let (address, above) = context.node_address(&args.url)?;
    check_target(&args.url, &address)?;
    let path = match (&above, &args.path) {
        (None, None) => {
            let failure = Failure::usage("expected the path of the new node");
            return Err(failure.with_hint("the root of a store is /"));
        }
        (above, path) => join(above.as_deref(), path.as_deref().unwrap_or("/"))?,
    };
    if context.global.fallback_type.is_some() {
        let failure =
            Failure::usage("--fallback-type is for reading: the fallback in a new document follows from its data type");
        return Err(failure.with_hint("leave it out"));
    }
    let text = path.to_string();
    let attributes = args.attributes.as_deref().map(object).transpose()?;
    let dropped = DroppedConsolidated::default();
    match (&args.shape, &args.dtype) {
        (Some(shape), Some(data_type)) => {
            let new = array(context, args, &shape.0, data_type, attributes)?.noting_dropped(&dropped);
            let warning = RefCell::new(None);
            create(context, args, (&address, &path), &dropped, |store| {
                let array = Array::create(store, &text, new.clone(), &context.registry)?;
                warning.replace(large_chunks(&array));
                Ok(array.found().clone())
            })?;
            context.warnings(warning.into_inner().as_slice());
            Ok(())
        }
        _ => {
            let new = NewGroup::new().attributes(attributes.unwrap_or_default());
            let new = new.dialect(args.dialect).overwrite(args.overwrite).noting_dropped(&dropped);
            create(context, args, (&address, &path), &dropped, |store| {
                Group::create(store, &text, new.clone(), &context.registry).map(|group| group.found().clone())
            })
        }
    }
}

/// Warns of chunks (inner chunks, if there are shards) that are too large to be encoded.
fn large_chunks(array: &Array) -> Option<String> {
    let shape = array.part_shape();
    let size = total_size(&shape, array.data_type().item_size() as u64);
    let limit = array.options().limits.max_chunk;
    (size > u128::from(limit)).then(|| {
        let what = if array.is_sharded() { "inner chunks" } else { "chunks" };
        format!(
            "{what} {:?} have {size} bytes, of which at most {limit} can be encoded: choose smaller --chunks",
            &shape[..]
        )
    })
}

/// Opens or creates the store, and creates the node by calling `create` with the store. A store that does not exist is only created after
/// `create` has succeeded on a store in memory.
fn create(
    context: &Context,
    args: &Create,
    (address, path): (&StoreAddress, &NodePath),
    dropped: &DroppedConsolidated,
    create: impl Fn(&Arc<dyn Store>) -> zarr::Result<StoredNode>,
) -> Result<()> {
    // A store is created only for a node that can be created.
    let checked = match context.open_store(address) {
        Err(error) if error.is_not_found() => create(&(Arc::new(MemoryStore::new()) as Arc<dyn Store>)).map(drop),
        _ => Ok(()),
    };
    let checked = checked.map_err(|error| Failure::from(error).in_store(&address.to_string()));
    let created = checked.and_then(|()| {
        let store = context.create_store(address)?;
        Migration::check_settled(&store)?;
        if args.overwrite {
            interrupted::leaves(
                "the node is the old one, the new one, or partly erased; the same command creates the new one",
            );
        }
        match args.overwrite {
            true => keeping(context, &[(&store, path.parent())], || Ok(create(&store)?)),
            false => keeping_dropped(context, (&store, path.parent()), dropped, || Ok(create(&store)?)),
        }
    });
    let created = created.map_err(|mut failure| {
        // Nothing was read yet, so that the arguments are wrong.
        if failure.exit == Exit::Data {
            failure.exit = Exit::Usage;
        }
        if failure.kind == "exists" {
            failure.hint.get_or_insert_with(|| "--overwrite replaces it".to_owned());
        }
        if failure.pointer.as_deref() == Some("/data_type") {
            failure.hint = near_type(context, args).or(failure.hint.take());
        }
        failure
    })?;
    // Nothing is printed as text; JSON has the properties that are set by default.
    if context.global.json { output::json(describe::facts(&created)) } else { Ok(()) }
}

/// Suggests a data type of a similar name if the name in the arguments is unknown.
fn near_type(context: &Context, args: &Create) -> Option<String> {
    let (named, types) = (args.dtype.as_deref()?, &context.registry.data_types);
    let is_known = types.names().any(|name| name == named);
    near(named, types.names()).filter(|_| !is_known).map(question)
}

/// Returns the definition of the new array.
fn array(
    context: &Context,
    args: &Create,
    shape: &[u64],
    data_type: &str,
    attributes: Option<Map>,
) -> Result<NewArray> {
    let mut new = NewArray::new(shape, data_type).overwrite(args.overwrite).options(context.options());
    if let Some(chunks) = &args.chunks {
        new = new.chunks(&chunks.0);
    }
    if let Some(shards) = &args.shards {
        new = new.shards(&shards.0);
    }
    if let Some(codecs) = &args.codecs {
        new = new.codecs(codecs::parse(codecs, &context.registry)?)?;
    }
    if let Some(fill) = &args.fill {
        new = new.fill(fill_value(fill, data_type));
    }
    if let Some(attributes) = attributes {
        new = new.attributes(attributes);
    }
    if let Some(dims) = &args.dims {
        new = new.dimension_names(&dimension_names(dims, shape.len())?);
    }
    if let Some(conventions) = args.convention {
        new = new.conventions(conventions);
    }
    if let Some(dialect) = args.dialect {
        new = new.dialect(dialect);
    }
    if let Some(separator) = args.separator {
        new = new.separator(separator);
    }
    Ok(new)
}

/// Returns the names of the dimensions, one for each. Equal names are refused: xarray and others merge such dimensions.
fn dimension_names(names: &[String], rank: usize) -> Result<Vec<&str>> {
    // Without dimensions, the empty string is not a name.
    let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| rank > 0 || !name.is_empty()).collect();
    if names.len() != rank {
        return Err(Failure::usage(format!("found {} names, expected one for each of {rank} dimensions", names.len())));
    }
    match names.iter().enumerate().find(|&(index, name)| names.iter().take(index).any(|other| other == name)) {
        Some((_, name)) => Err(Failure::usage(format!("two dimensions have the name {name:?}"))),
        None => Ok(names),
    }
}

/// Parses a fill value: JSON, or else a string such as `NaN`. For string types, anything without quotes is the string itself.
fn fill_value(text: &str, data_type: &str) -> Value {
    let textual =
        ["string", "fixed_length_utf32", "<U", ">U", "|U", "U"].iter().any(|name| data_type.starts_with(name))
            || data_type.contains("fixed_length_utf32");
    match Value::from_json(text) {
        Ok(value) if !textual || matches!(value, Value::String(_)) => value,
        _ => Value::from(text),
    }
}

fn object(text: &str) -> Result<Map> {
    match Value::from_json(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(other) => Err(Failure::usage(format!("attributes: found {}, expected an object", other.kind()))),
        Err(error) => Err(Failure::usage(format!("attributes: {error}"))),
    }
}

/// Parses the convention by which an array is created: `xarray` or `none`.
fn convention(text: &str) -> Result<Conventions, String> {
    match text {
        "none" => Ok(Conventions::Ignore),
        "xarray" => Ok(Conventions::Assume(Convention::Xarray)),
        _ => Err("expected xarray or none".to_owned()),
    }
}

fn separator(text: &str) -> Result<char, String> {
    match text {
        "/" => Ok('/'),
        "." => Ok('.'),
        _ => Err("expected / or a period".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_values_are_json_or_strings() {
        assert_eq!(fill_value("1.50", "float32").to_string(), "1.50");
        assert_eq!(fill_value("NaN", "float32"), Value::from("NaN"));
        assert_eq!(fill_value("[1, \"NaN\"]", "complex64").to_string(), "[1,\"NaN\"]");
        assert_eq!(fill_value("5", "string"), Value::from("5"));
        assert_eq!(fill_value("\"5\"", "<U3"), Value::from("5"));
    }
}
