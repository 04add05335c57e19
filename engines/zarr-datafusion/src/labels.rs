//! Labels of a dimension, and coordinates along it, which filters and statistics of a query are looked up in.

use crate::axis_indices::AxisIndices;
use crate::fault::fault;
use crate::source::Source;
use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, UInt64Array};
use datafusion::arrow::compute::{self, SortOptions};
use datafusion::arrow::datatypes::{FieldRef, Fields, Schema};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::scalar::ScalarValue;
use std::cmp::Ordering;
use std::sync::Arc;
use zarr::arrow::{BatchReader, Batches};

/// Values of a column along its one dimension: labels, indices or another coordinate.
#[derive(Clone, Debug)]
pub(crate) struct Labels {
    /// Batch of this one column.
    batch: RecordBatch,
}

impl Labels {
    /// Reads the values of a column along dimension `number`.
    pub(crate) fn read(source: &Source, column: &FieldRef, number: usize) -> Result<Self> {
        let dimension = source.dimensions.get(number).map(|(name, _)| name.as_str());
        // A dimension brings its labels; a coordinate along it is a variable here.
        let variables = Some(column.name()).filter(|column| dimension != Some(column.as_str()));
        let options = source.options.clone().variables(variables).dimensions(dimension).columns([column.name()]);
        let reader = BatchReader::new(Batches::new(&source.dataset, &options).map_err(fault)?)?;
        let schema = datafusion::arrow::array::RecordBatchReader::schema(&reader);
        let all = reader.collect::<std::result::Result<Vec<_>, _>>()?;
        let all = compute::concat_batches(&schema, &all)?;
        // Strings that a table repeats have another type than those along one dimension.
        let values = all.columns().iter().map(|values| compute::cast(values, column.data_type()));
        let schema = Arc::new(Schema::new(vec![Arc::clone(column)]));
        Ok(Self { batch: RecordBatch::try_new(schema, values.collect::<std::result::Result<_, _>>()?)? })
    }

    fn array(&self) -> &ArrayRef {
        self.batch.column(0)
    }

    /// Returns the labels of picked indices.
    pub(crate) fn of(&self, picked: &AxisIndices) -> Result<ArrayRef> {
        Ok(match picked {
            AxisIndices::Range(range) => {
                let place = |index: u64| usize::try_from(index).unwrap_or(usize::MAX);
                self.array().slice(place(range.start), place(range.end - range.start))
            }
            AxisIndices::List(list) => compute::take(self.array(), &UInt64Array::from(list.to_vec()), None)?,
        })
    }
}

/// Joins columns of one dimension to one batch.
pub(crate) fn together(all: &[Labels]) -> Result<RecordBatch> {
    let fields = all.iter().flat_map(|labels| labels.batch.schema_ref().fields().iter().cloned()).collect::<Fields>();
    let columns = all.iter().map(|labels| Arc::clone(labels.array())).collect();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

/// Returns the indices at which a predicate of the columns of a dimension is true.
pub(crate) fn matching(batch: &RecordBatch, predicate: &dyn PhysicalExpr) -> Result<AxisIndices> {
    let found = predicate.evaluate(batch)?.into_array(batch.num_rows())?;
    let found = datafusion::common::cast::as_boolean_array(&found)?;
    // Null is not true.
    let is_true = |at: &usize| found.is_valid(*at) && found.value(*at);
    Ok(AxisIndices::new((0..found.len()).filter(is_true).map(|at| at as u64).collect()))
}

/// Returns the least and the greatest of labels; `None` without labels, and for types without an order.
pub(crate) fn ends(labels: &ArrayRef) -> Option<(ScalarValue, ScalarValue)> {
    let end = |descending| {
        let options = SortOptions { descending, nulls_first: false };
        let sorted = compute::sort_to_indices(labels, Some(options), Some(1)).ok()?;
        let first = sorted.values().first()?;
        ScalarValue::try_from_array(labels, usize::try_from(*first).ok()?).ok().filter(|value| !value.is_null())
    };
    Some((end(false)?, end(true)?))
}

/// Order of labels along their dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sorted {
    /// Each label is greater, or if `descending` less, than the one before.
    Strictly {
        descending: bool,
    },
    /// As above, but labels may be equal.
    Weakly {
        descending: bool,
    },
    Not,
}

impl Sorted {
    /// Looks up the order of labels. Nulls have none.
    pub(crate) fn of(labels: &ArrayRef) -> Result<Self> {
        if labels.null_count() != 0 {
            return Ok(Self::Not);
        }
        let converter = compute_rows(labels);
        let Ok(rows) = converter else { return Ok(Self::Not) };
        let mut all = (true, true, true, true);
        for at in 1..rows.num_rows() {
            let order = rows.row(at - 1).cmp(&rows.row(at));
            all.0 &= order == Ordering::Less;
            all.1 &= order == Ordering::Greater;
            all.2 &= order != Ordering::Greater;
            all.3 &= order != Ordering::Less;
        }
        Ok(match all {
            (true, ..) => Self::Strictly { descending: false },
            (_, true, ..) => Self::Strictly { descending: true },
            (_, _, true, _) => Self::Weakly { descending: false },
            (.., true) => Self::Weakly { descending: true },
            _ => Self::Not,
        })
    }
}

/// Converts labels to rows, which compare as the labels do.
fn compute_rows(labels: &ArrayRef) -> Result<datafusion::arrow::row::Rows> {
    let field = datafusion::arrow::row::SortField::new(labels.data_type().clone());
    let converter = datafusion::arrow::row::RowConverter::new(vec![field])?;
    Ok(converter.convert_columns(std::slice::from_ref(labels))?)
}
