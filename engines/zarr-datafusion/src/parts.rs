//! Parts of a table as rows of a plan, one partition for each part.
//!
//! A read has the parts as its input instead of a list of its own, so that engines which give partitions of a plan to several processes
//! divide a read as they divide each other plan: Ballista keeps some partitions of tables in memory, and all of any leaf that it does not
//! know.

use crate::axis_indices::AxisIndices;
use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, UInt64Type};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_plan::ExecutionPlan;
use std::ops::Range;
use std::sync::Arc;

/// Makes the plan of parts, each of which has a range of each dimension.
pub(crate) fn plan(parts: &[Vec<Range<u64>>]) -> Result<Arc<dyn ExecutionPlan>> {
    let field = |name: &str| Field::new(name, DataType::UInt64, false);
    let schema = Arc::new(Schema::new(vec![field("start"), field("end")]));
    let rows = |part: &Vec<Range<u64>>| {
        let column = |end: fn(&Range<u64>) -> u64| Arc::new(UInt64Array::from_iter_values(part.iter().map(end)));
        let columns: Vec<ArrayRef> = vec![column(|range| range.start), column(|range| range.end)];
        Ok(vec![RecordBatch::try_new(Arc::clone(&schema), columns)?])
    };
    let partitions = parts.iter().map(rows).collect::<Result<Vec<_>>>()?;
    Ok(MemorySourceConfig::try_new_exec(&partitions, Arc::clone(&schema), None)?)
}

/// Returns the picked indices of each dimension that a part has, by the rows of its partition.
///
/// # Errors
/// [`DataFusionError::Internal`] for rows that are no part of these indices.
pub(crate) fn of_rows(batches: &[RecordBatch], picked: &[AxisIndices]) -> Result<Vec<AxisIndices>> {
    let mut ranges = Vec::new();
    for batch in batches {
        let column =
            |number: usize| batch.columns().get(number).and_then(|column| column.as_primitive_opt::<UInt64Type>());
        let (Some(starts), Some(ends)) = (column(0), column(1)) else {
            return Err(malformed("columns of another type"));
        };
        ranges.extend(starts.values().iter().zip(ends.values()).map(|(&start, &end)| start..end));
    }
    let is_within =
        |(range, picked): (&Range<u64>, &AxisIndices)| range.start <= range.end && range.end <= picked.len();
    if ranges.len() != picked.len() || !ranges.iter().zip(picked).all(is_within) {
        return Err(malformed(&format!("{} ranges", ranges.len())));
    }
    Ok(picked.iter().zip(&ranges).map(|(picked, range)| picked.part(range)).collect())
}

fn malformed(found: &str) -> DataFusionError {
    DataFusionError::Internal(format!(
        "found {found} in a plan, expected a range within each dimension of a Zarr table"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_other_parts_are_refused() {
        let batch = |starts: Vec<u64>, ends: Vec<u64>| {
            let columns: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from(starts)), Arc::new(UInt64Array::from(ends))];
            RecordBatch::try_from_iter([("start", columns[0].clone()), ("end", columns[1].clone())]).unwrap()
        };
        let picked = [AxisIndices::Range(2..6), AxisIndices::new(vec![1, 5, 7])];
        let found = of_rows(&[batch(vec![1], vec![3]), batch(vec![2], vec![3])], &picked).unwrap();
        assert_eq!(found, [AxisIndices::Range(3..5), AxisIndices::Range(7..8)]);
        for (starts, ends) in [(vec![0], vec![1]), (vec![0, 0], vec![4, 4]), (vec![3, 0], vec![2, 1]), (vec![], vec![])]
        {
            let error = of_rows(&[batch(starts, ends)], &picked).unwrap_err();
            assert!(error.to_string().contains("expected a range within each dimension"), "{error}");
        }
        assert_eq!(of_rows(&[], &[]).unwrap(), []);
    }
}
