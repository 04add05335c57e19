//! `zarr create`: a new array.

use crate::args::Create;
use crate::codecs;
use crate::context::{Context, node_path};
use crate::failure::{Exit, Failure, Result};
use zarr::meta::json::{Map, Value};
use zarr::{Array, Migration, NewArray};

pub(crate) fn run(context: &Context, args: &Create) -> Result<()> {
    let path = node_path(&args.path)?;
    let mut new =
        NewArray::new(&args.shape.0, args.dtype.as_str()).overwrite(args.overwrite).options(context.options());
    if let Some(chunks) = &args.chunks {
        new = new.chunks(&chunks.0);
    }
    if let Some(shards) = &args.shards {
        new = new.shards(&shards.0);
    }
    if let Some(codecs) = &args.codecs {
        new = new.codecs_text(&codecs::expand(codecs)?)?;
    }
    if let Some(fill) = &args.fill {
        new = new.fill(fill_value(fill, &args.dtype));
    }
    if let Some(attributes) = &args.attributes {
        new = new.attributes(object(attributes)?);
    }
    if let Some(dims) = &args.dims {
        if dims.len() != args.shape.0.len() {
            let message = format!("{} names for {} dimensions", dims.len(), args.shape.0.len());
            return Err(Failure::usage(message));
        }
        new = new.dimension_names(dims);
    }
    if let Some(dialect) = args.dialect {
        new = new.dialect(dialect);
    }
    if let Some(separator) = args.separator {
        new = new.separator(separator);
    }
    let path = path.to_string();
    // A store is made only for an array that can be created.
    let checked = match context.open_store(&args.url) {
        Err(error) if error.is_not_found() => new.check(&path, &context.registry),
        _ => Ok(()),
    };
    let store = checked.and_then(|()| context.create_store(&args.url)).and_then(|store| {
        Migration::check_settled(&store)?;
        Ok(store)
    });
    store.and_then(|store| Array::create(&store, &path, new, &context.registry)).map(drop).map_err(|error| {
        let mut failure = Failure::from(error);
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
