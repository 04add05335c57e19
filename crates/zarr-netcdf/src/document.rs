//! Documents of Zarr v3 for the variables and attributes of a file.

use zarr_json::{Map, Value, json};

use crate::header::Variable;
use crate::layout::Layout;
use crate::values::{Attribute, NcType, fill_attribute, fill_value};

/// Returns the document of the array of a variable.
pub(crate) fn array(variable: &Variable, layout: &Layout) -> Value {
    let attributes = variable.attributes.iter().map(|attribute| {
        let fill = (attribute.name == zarr_cf::fill::FILL_VALUE).then(|| fill_attribute(variable.nc_type, attribute));
        (attribute.name.clone(), fill.flatten().unwrap_or_else(|| attribute.value()))
    });
    let bytes = match variable.nc_type {
        NcType::Byte | NcType::Char | NcType::UByte => json!({"name": "bytes"}),
        _ => json!({"name": "bytes", "configuration": {"endian": "big"}}),
    };
    json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": (layout.shape.clone()),
        "data_type": (variable.nc_type.name()),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": (layout.chunk_shape.clone())}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": (fill_value(variable.nc_type, &variable.attributes)),
        "codecs": [bytes],
        "attributes": (attributes.collect::<Map>()),
        "dimension_names": (variable.dimensions.iter().map(|name| Value::from(&**name)).collect::<Vec<_>>()),
    })
}

/// Returns the document of the root group, with the consolidated metadata of `arrays`.
pub(crate) fn root(attributes: &[Attribute], arrays: Map) -> Value {
    let attributes: Map = attributes.iter().map(|attribute| (attribute.name.clone(), attribute.value())).collect();
    json!({
        "zarr_format": 3,
        "node_type": "group",
        "attributes": attributes,
        "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": arrays},
    })
}
