//! Times in seconds as times in milliseconds: Parquet has no type for times in seconds.

use crate::data::{Buffer, Data, Validity};
use crate::schema::{Field, Schema};
use crate::words::Words;
use crate::{Batch, Error, ErrorKind, Result};
use std::sync::Arc;

/// Format of times in seconds, and that of times in milliseconds.
const SECONDS: &str = "tss:";
const MILLISECONDS: &str = "tsm:";

/// Returns columns with times in milliseconds in place of those in seconds.
pub(super) fn schema(schema: &Schema) -> Schema {
    Schema { fields: schema.fields().iter().map(field).collect() }
}

/// Returns a batch with times in milliseconds in place of those in seconds. `first` is the number of its first row in the table.
///
/// # Errors
/// [`ErrorKind::NotExpressible`] for a time that milliseconds cannot hold, with the column, and with the row unless it lies in an element
/// of several values; [`ErrorKind::Limit`] if there is no memory.
pub(super) fn batch(batch: &Batch, first: u64) -> Result<Batch> {
    let columns = batch.schema().fields().iter().zip(batch.columns()).map(|(field, data)| {
        let named = |error: Error| Error::new(error.kind(), format!("column {}: {}", field.name(), error.message()));
        let is_flat = field.format() == SECONDS && field.dictionary().is_none();
        converted(field, data, is_flat.then_some(first)).map_err(named)
    });
    let columns = columns.collect::<Result<_>>()?;
    Ok(Batch { schema: Arc::new(schema(batch.schema())), rows: batch.rows(), columns })
}

/// Whether a column, or a part of it, has times in seconds.
pub(super) fn has_any(field: &Field) -> bool {
    field.format() == SECONDS || field.children().iter().chain(field.dictionary()).any(has_any)
}

fn field(field: &Field) -> Field {
    let format = if field.format() == SECONDS { MILLISECONDS } else { field.format() };
    Field {
        format: format.to_owned(),
        children: field.children().iter().map(self::field).collect(),
        dictionary: field.dictionary().map(|values| Box::new(self::field(values))),
        ..field.clone()
    }
}

/// Returns a column, or a part of it, with times in milliseconds. `first` is the row of the first element if there is one for each row.
fn converted(field: &Field, data: &Data, first: Option<u64>) -> Result<Data> {
    if field.format() == SECONDS && field.dictionary().is_none() {
        return milliseconds(data, first);
    }
    if !has_any(field) {
        return Ok(data.clone());
    }
    let children = field.children().iter().zip(data.child_data()).map(|(field, child)| converted(field, child, None));
    let children = children.collect::<Result<_>>()?;
    let dictionary = match field.dictionary().zip(data.dictionary()) {
        Some((field, values)) => Some(Arc::new(converted(field, values, None)?)),
        None => None,
    };
    Ok(Data { children, dictionary, ..data.clone() })
}

fn milliseconds(data: &Data, first: Option<u64>) -> Result<Data> {
    let seconds: &[i64] = data.values().ok_or_else(|| Error::internal("times that are no numbers"))?;
    let mut words = Words::items(seconds.len(), size_of::<i64>())?;
    let made: &mut [i64] = bytemuck::cast_slice_mut(words.bytes_mut());
    for (index, (made, &count)) in made.iter_mut().zip(seconds).enumerate() {
        // Nulls have any count.
        let valid = if data.nulls != 0 && data.is_null(index) { 0 } else { count };
        *made = valid.checked_mul(1_000).ok_or_else(|| {
            let row = first.map_or_else(String::new, |first| format!("row {}: ", first + index as u64));
            let found = format!("found the time {count} in seconds, expected one that 64 bits hold in milliseconds");
            Error::new(ErrorKind::NotExpressible, format!("{row}{found}"))
        })?;
    }
    let validity = match data.nulls {
        0 => None,
        _ => Validity::new((0..data.len()).map(|index| data.is_null(index)))?,
    };
    Ok(Data::new(data.len(), validity, [Buffer::of_words(words)]).items(size_of::<i64>()))
}
