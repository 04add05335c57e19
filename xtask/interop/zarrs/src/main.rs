//! Program that uses the crate zarrs for `cargo xtask conformance --matrix`: it reads arrays, prints their elements, and writes them again.
//!
//! ```text
//! zarr-interop-zarrs FOLDER NAME...    # a line of JSON for each array that lies in FOLDER by a name
//! ```
//!
//! A line has `folder`, the name; `elements`, the bytes of each element in hexadecimal as they lie in memory, and null for one that is
//! missing, or `error`, why there are none; and `back`, why they could not be written. They are written under the same metadata into
//! the folder `back` beside the array's document.

use serde_json::{Value, json};
use std::error::Error;
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Arc;
use zarrs::array::codec::OptionalCodec;
use zarrs::array::data_type::OptionalDataType;
use zarrs::array::{Array, ArrayBytes};
use zarrs::filesystem::FilesystemStore;
use zarrs::plugin::ExtensionAliasesV3;

type Failure = Box<dyn Error + Send + Sync>;

fn open(folder: &Path) -> Result<Array<FilesystemStore>, Failure> {
    Ok(Array::open(Arc::new(FilesystemStore::new(folder)?), "/")?)
}

/// Reads all elements. Also decodes whole chunks at the edge, since decoding parts of chunks has other faults: it does not extend signs of
/// `packbits`, and refuses `reshape` of elements of variable length.
fn read(folder: &Path) -> Result<ArrayBytes<'static>, Failure> {
    let mut array = open(folder)?;
    let within = array.subset_all();
    let grid = array.chunk_grid_shape().to_vec();
    let chunk = array.chunk_shape(&vec![0; grid.len()])?;
    array.set_shape(grid.iter().zip(&chunk).map(|(chunks, len)| chunks * len.get()).collect())?;
    let whole: ArrayBytes<'static> = array.retrieve_array_subset(&array.subset_all())?;
    Ok(whole.extract_array_subset(&within, array.shape(), array.data_type())?.into_owned())
}

fn write(folder: &Path, elements: ArrayBytes<'static>) -> Result<(), Failure> {
    let back = folder.join("back");
    fs::create_dir(&back)?;
    fs::copy(folder.join("zarr.json"), back.join("zarr.json"))?;
    let array = open(&back)?;
    Ok(array.store_array_subset(&array.subset_all(), elements)?)
}

/// Returns the bytes of each element in hexadecimal; null for a missing element.
fn in_hexadecimal(elements: &ArrayBytes, count: usize) -> Vec<Value> {
    let text = |bytes: &[u8]| Value::from(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    match elements {
        ArrayBytes::Fixed(bytes) => bytes.chunks(bytes.len() / count).map(text).collect(),
        ArrayBytes::Variable(elements) => {
            elements.offsets().windows(2).map(|ends| text(&elements.bytes()[ends[0]..ends[1]])).collect()
        }
        ArrayBytes::Optional(elements) => {
            let values = in_hexadecimal(elements.data(), count).into_iter().zip(elements.mask().iter());
            values.map(|(value, present)| if *present == 0 { Value::Null } else { value }).collect()
        }
    }
}

fn check(folder: &Path) -> Value {
    // zarrs may panic for features that it does not support.
    let caught = |result: std::thread::Result<Result<Value, Failure>>| match result {
        Ok(Ok(value)) => (value, Value::Null),
        Ok(Err(error)) => (Value::Null, Value::from(error.to_string())),
        Err(_) => (Value::Null, Value::from("panics")),
    };
    let (elements, error) = caught(catch_unwind(|| {
        let count = open(folder)?.shape().iter().product::<u64>();
        Ok(Value::from(in_hexadecimal(&read(folder)?, usize::try_from(count)?)))
    }));
    let (_, back) = caught(catch_unwind(|| write(folder, read(folder)?).map(|()| Value::Null)));
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    json!({"folder": name, "elements": elements, "error": error, "back": back})
}

fn main() -> Result<(), Failure> {
    // zarrs has this data type only as an experiment, under another name.
    OptionalDataType::aliases_v3_mut().aliases_str.push("optional".into());
    OptionalCodec::aliases_v3_mut().aliases_str.push("optional".into());
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().ok_or("usage: zarr-interop-zarrs FOLDER NAME...")?;
    for name in arguments {
        println!("{}", check(&Path::new(&folder).join(name)));
    }
    Ok(())
}
