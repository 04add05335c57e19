//! New variables that are made from existing variables.

use crate::attribute::FILL_VALUE;
use crate::new_variable::{Copied, NewVariable, OF_TIMES};
use crate::{Result, Variable};
use zarr_cf::encoding::number;
use zarr_cf::fill::to_plain;
use zarr_cf::textual::is_textual;
use zarr_dtype::{Class, DataType, Scalar};
use zarr_json::Value;

impl NewVariable {
    /// Reads the selected part of a variable, with its attributes and its encoding, as a variable to be written, with the default
    /// codecs.
    ///
    /// # Errors
    /// The errors of [`Variable::read`].
    pub fn of(variable: &Variable) -> Result<Self> {
        let dimensions: Vec<&str> = variable.dimensions().collect();
        let mut new = Self::new(variable.name(), &dimensions, variable.read()?)?;
        new.attributes = variable.attributes().clone();
        // Times whose stored type is numpy.datetime64 keep all attributes when they are read.
        for name in [FILL_VALUE, "missing_value"].iter().chain(new.attributes_of_times()) {
            new.attributes.remove(name);
        }
        new.encoding = variable.encoding();
        let stored = variable.stored();
        let data_type = stored.data_type();
        // Bools are stored as bools; the types of time spans are written anew.
        let is_bool = new.encoding.remove("dtype").is_some_and(|dtype| dtype.as_str() == Some("bool"));
        if number(data_type).is_some_and(|scalar| scalar != Scalar::Bool) && !is_bool {
            new.stored_as = Some(data_type.to_string());
        }
        if stored.shape() == variable.shape() && !stored.shape().is_empty() {
            new.chunks = Some(stored.part_shape().to_vec());
        }
        // When values are written, only one value may mark missing data.
        let own = first(data_type, new.encoding.remove(FILL_VALUE));
        let missing = first(data_type, new.encoding.remove("missing_value"));
        let own = own.filter(|own| missing.is_none() || own.as_str() != Some("NaN"));
        let missing = missing.filter(|_| own.is_none());
        let has_missing = new.values().is_some_and(|values| values.missing.iter().flatten().any(|missing| *missing));
        for (name, value) in [(FILL_VALUE, own), ("missing_value", missing)] {
            if let Some(value) = value.filter(|_| has_missing || !is_textual(data_type)) {
                new.encoding.insert(name, value);
            }
        }
        Ok(new)
    }

    /// Returns a variable without values that is stored like the selected part of `variable`: with its dimensions and shape, data type,
    /// encoding, attributes and chunks, and with default codecs. Values are written later, region by region: decoded values by
    /// [`Variable::write`], or [stored elements](Variable::read_stored) into the [stored](Variable::stored) array. Missing data is missing
    /// in both. Strings that are stored as characters become byte strings.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use zarr_dataset::{Dataset, NewDataset, NewVariable};
    /// # use zarr_array::{Registry, Store};
    /// # let mut registry = Registry::default();
    /// # zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    /// # let registry = Arc::new(registry);
    /// # let memory = || -> Arc<dyn Store> { Arc::new(zarr_store::MemoryStore::new()) };
    /// let t2m = NewVariable::new("t2m", &["x"], [280.5, f64::NAN])?.stored_as("int16").codecs("bytes")?;
    /// let t2m = t2m.encoding("scale_factor", 0.5).encoding("_FillValue", -1);
    /// let source = Dataset::create(&memory(), "/", NewDataset::new().variable(t2m), &registry)?;
    ///
    /// let t2m = source.variable("t2m")?;
    /// let new = NewDataset::new().variable(NewVariable::like(t2m)?.codecs("bytes")?);
    /// let copy = Dataset::create(&memory(), "/", new, &registry)?;
    /// copy.variable("t2m")?.stored().write(.., &t2m.read_stored()?)?;
    /// assert!(copy.variable("t2m")?.read()?.is_missing(1));
    /// # Ok::<(), zarr_dataset::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) with the attribute if the attributes are no valid encoding.
    pub fn like(variable: &Variable) -> Result<Self> {
        let encoding = variable.checked_encoding()?;
        let stored = variable.stored();
        let dimensions: Vec<&str> = variable.dimensions().collect();
        let data_type = match variable.characters() {
            Some(len) => DataType::FixedBytes { len: u32::try_from(len.max(1)).unwrap_or(u32::MAX) },
            None => stored.data_type().clone(),
        };
        let (shape, text) = (variable.shape(), data_type.to_config().to_value().to_string());
        let mut new = Self::empty(variable.name(), &dimensions, &shape, text);
        new.attributes = variable.attributes().clone();
        if matches!(data_type, DataType::DateTime64(_) | DataType::TimeDelta64(_)) {
            // Times of numpy keep all attributes where they are read.
            for name in OF_TIMES.iter().chain(&[FILL_VALUE, "missing_value"]) {
                new.attributes.remove(name);
            }
        } else if stored.metadata().fill_value.is_some() && variable.characters().is_none() {
            new.fill = Some(stored.fill_value().to_json(&data_type));
        }
        if dimensions.len() == stored.shape().len() {
            let chunks = stored.part_shape();
            new.chunks = Some(chunks.iter().zip(&shape).map(|(&chunk, &len)| chunk.min(len).max(1)).collect());
        }
        new.encoding = variable.encoding();
        // When values are written, `_FillValue` is a single value, and further marks are in `missing_value`.
        if let Some(Value::Array(marks)) = new.encoding.get(FILL_VALUE).cloned()
            && marks.len() > 1
            && !is_complex(&data_type)
        {
            let missing = new.encoding.remove("missing_value").into_iter().flat_map(|missing| match missing {
                Value::Array(list) => list,
                missing => vec![missing],
            });
            new.encoding.insert("missing_value", marks.into_iter().skip(1).chain(missing).collect::<Vec<_>>());
        }
        let fill = match variable.characters() {
            Some(_) => encoding.fills.first().and_then(|mark| mark.to_element(&data_type)),
            None => encoding.fill.clone(),
        };
        // Null if there is no mark: otherwise floats would get NaN.
        let own = fill.as_ref().map_or(Value::Null, |fill| to_plain(&data_type, fill));
        new.encoding.insert(FILL_VALUE, own.clone());
        let missing = new.encoding.get("missing_value").cloned();
        new.copied = Copied { fill: fill.map(|fill| (own, fill)), missing };
        Ok(new)
    }
}

/// Returns the first value of a list, or the value itself. For complex numbers, which are lists themselves, returns the value.
fn first(data_type: &DataType, marks: Option<Value>) -> Option<Value> {
    match marks {
        Some(Value::Array(list)) if !is_complex(data_type) => list.first().cloned(),
        mark => mark,
    }
}

fn is_complex(data_type: &DataType) -> bool {
    data_type.class() == Some(Class::Complex)
}
