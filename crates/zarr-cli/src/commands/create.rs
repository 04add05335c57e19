//! `zarr create`: a new array or group.

use crate::args::Create;
use crate::codecs;
use crate::context::{Context, node_path};
use crate::failure::{Exit, Failure, Result};
use std::sync::Arc;
use zarr::meta::json::{Map, Value};
use zarr::store::MemoryStore;
use zarr::{Array, Group, Migration, NewArray, NewGroup, Store};

pub(crate) fn run(context: &Context, args: &Create) -> Result<()> {
    let path = node_path(&args.path)?.to_string();
    let attributes = args.attributes.as_deref().map(object).transpose()?;
    match (&args.shape, &args.dtype) {
        (Some(shape), Some(data_type)) => {
            let new = array(context, args, &shape.0, data_type, attributes)?;
            create(context, args, |store| Array::create(store, &path, new.clone(), &context.registry).map(drop))
        }
        _ => {
            let new = NewGroup {
                attributes: attributes.unwrap_or_default(),
                dialect: args.dialect,
                overwrite: args.overwrite,
            };
            create(context, args, |store| Group::create(store, &path, new.clone(), &context.registry).map(drop))
        }
    }
}

/// Creates the node by `create`, which gets the store.
fn create(context: &Context, args: &Create, create: impl Fn(&Arc<dyn Store>) -> zarr::Result<()>) -> Result<()> {
    // A store is made only for a node that can be created.
    let checked = match context.open_store(&args.url) {
        Err(error) if error.is_not_found() => create(&(Arc::new(MemoryStore::new()) as Arc<dyn Store>)),
        _ => Ok(()),
    };
    let checked = checked.map_err(|error| Failure::from(error).in_store(&args.url));
    let created = checked.and_then(|()| {
        let store = context.create_store(&args.url)?;
        Migration::check_settled(&store)?;
        Ok(create(&store)?)
    });
    created.map_err(|mut failure| {
        // Nothing was read that could be at fault: what was asked for is.
        if failure.exit == Exit::Data {
            failure.exit = Exit::Usage;
        }
        if failure.kind == "exists" {
            failure.hint.get_or_insert_with(|| "--overwrite replaces it, with all that lies below it".to_owned());
        }
        failure
    })
}

/// What the new array is to be like.
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
        new = new.codecs_text(&codecs::expand(codecs, &context.registry)?)?;
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
    if let Some(dialect) = args.dialect {
        new = new.dialect(dialect);
    }
    if let Some(separator) = args.separator {
        new = new.separator(separator);
    }
    Ok(new)
}

/// The names of as many dimensions, each another one: xarray and others take arrays of the same name for one.
fn dimension_names(names: &[String], rank: usize) -> Result<Vec<&str>> {
    // The empty text is no name where there are no dimensions.
    let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| rank > 0 || !name.is_empty()).collect();
    if names.len() != rank {
        return Err(Failure::usage(format!("{} names for {rank} dimensions", names.len())));
    }
    match names.iter().enumerate().find(|&(place, name)| names.iter().take(place).any(|other| other == name)) {
        Some((_, name)) => Err(Failure::usage(format!("two dimensions of the name {name:?}"))),
        None => Ok(names),
    }
}

/// A fill value: JSON, or else a text such as `NaN`. For types of text what is not in quotes is taken as it is.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_values_are_json_or_text() {
        assert_eq!(fill_value("1.50", "float32").to_string(), "1.50");
        assert_eq!(fill_value("NaN", "float32"), Value::from("NaN"));
        assert_eq!(fill_value("[1, \"NaN\"]", "complex64").to_string(), "[1,\"NaN\"]");
        assert_eq!(fill_value("5", "string"), Value::from("5"));
        assert_eq!(fill_value("\"5\"", "<U3"), Value::from("5"));
    }
}
