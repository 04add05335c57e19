//! Tables of data sets for DataFusion.

use crate::axis_indices::AxisIndices;
use crate::fault::{fault, join};
use crate::filters::{Along, dimension_of, is_constant, necessary};
use crate::labels::{Labels, Sorted, ends, matching, together};
use crate::scan::ZarrScan;
use crate::source::{Address, Source};
use async_trait::async_trait;
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, DFSchema, Statistics};
use datafusion::error::Result;
use datafusion::logical_expr::expr_rewriter::unnormalize_col;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use zarr::arrow::{Batches, Coordinates, TableOptions};
use zarr::dataset::Dataset;

/// Data set as a table of DataFusion: a row for each combination of indices of the dimensions, as [`zarr::arrow::Batches`] has them.
///
/// A query reads only the chunks and the variables that it needs:
/// - filters that one dimension decides are looked up in its labels and in the coordinates along it, and become a selection; of filters of
///   several dimensions, joined by `AND` and `OR`, the conditions of each dimension are;
/// - columns that the query does not have are not read, coordinates among them;
/// - `count(*)`, and the least and the greatest of coordinates along one dimension, are known without any chunk of a variable;
/// - the order of labels that are sorted is told to DataFusion, and a limit ends a read early.
///
/// The table is divided into parts along one dimension, which as many threads read as DataFusion has partitions; they end where chunks do, if
/// conditions leave a range of that dimension, and otherwise two of them may decode the same chunk. They share the
/// [memory](TableOptions#structfield.memory) of the options. Labels are read once and kept, beside that memory: make the table anew where
/// another program has changed them.
#[derive(Debug)]
pub struct ZarrTable {
    source: Source,
    schema: SchemaRef,
    along: Along,
    /// Labels that were read, by the names of their columns.
    labels: Arc<Mutex<HashMap<String, Labels>>>,
}

impl ZarrTable {
    /// Makes the table of a data set, or of the part of it that is selected. DataFusion decides on the
    /// columns and the encoding of coordinates, whatever the options say.
    ///
    /// # Errors
    /// The errors of [`Batches::new`].
    pub fn new(dataset: Dataset, options: &TableOptions) -> Result<Self> {
        Self::of(dataset, None, options)
    }

    /// Opens the data set at an address, such as a directory or `https://example.org/era5.zarr`. Other processes can open it again, so that
    /// a plan that has it can be sent to them. The thread waits for the store.
    ///
    /// # Errors
    /// The errors of opening, and those of [`Batches::new`].
    pub fn open(address: impl Into<String>, options: &TableOptions) -> Result<Self> {
        Self::open_with(address, [("", ""); 0], options)
    }

    /// Opens the data set at an address as [`open`](Self::open) does, with options of its store, such as `region` of a bucket. Plans that
    /// are sent to other processes have these options in them, secrets too.
    ///
    /// # Errors
    /// The errors of opening, and those of [`Batches::new`].
    pub fn open_with<N: Into<String>, V: Into<String>>(
        address: impl Into<String>,
        store_options: impl IntoIterator<Item = (N, V)>,
        options: &TableOptions,
    ) -> Result<Self> {
        let store_options = store_options.into_iter().map(|(name, value)| (name.into(), value.into()));
        let address = Address { url: address.into(), options: store_options.collect() };
        Self::of(address.open()?, Some(address), options)
    }

    /// Registers the table in a session, for queries that call it `name`.
    ///
    /// # Errors
    /// The errors of [`SessionContext::register_table`].
    pub fn register(self, session: &SessionContext, name: &str) -> Result<()> {
        session.register_table(name, Arc::new(self)).map(drop)
    }

    fn of(dataset: Dataset, address: Option<Address>, options: &TableOptions) -> Result<Self> {
        let mut options = options.clone().coordinates(Coordinates::Plain);
        options.columns = None;
        let batches = Batches::new(&dataset, &options).map_err(fault)?;
        let schema = Arc::new(Schema::try_from(batches.schema().as_ref())?);
        let source = Source { dataset, address, options, dimensions: batches.dimensions().to_vec() };
        let along = source.along().filter(|(column, _)| schema.column_with_name(column).is_some()).collect();
        Ok(Self { source, schema, along, labels: Arc::default() })
    }

    #[cfg(feature = "proto")]
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Returns the labels of a column that has one dimension, which are read once.
    async fn labels(&self, column: &str, number: usize) -> Result<Labels> {
        let lock = || self.labels.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(column).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let (source, field) = (self.source.clone(), Arc::new(self.schema.field_with_name(column)?.clone()));
        let read = tokio::task::spawn_blocking(move || Labels::read(&source, &field, number)).await.map_err(join)??;
        lock().insert(column.to_owned(), read.clone());
        Ok(read)
    }

    /// Returns the indices of dimension `number` at which a condition of its labels is true.
    async fn matching(&self, state: &dyn Session, condition: Expr, number: usize) -> Result<AxisIndices> {
        let mut columns: Vec<String> = condition.column_refs().iter().map(|column| column.name.clone()).collect();
        // The order does not matter, and a column may have been named in two ways.
        columns.sort();
        columns.dedup();
        let mut all = Vec::new();
        for column in &columns {
            all.push(self.labels(column, number).await?);
        }
        let batch = together(&all)?;
        let schema = DFSchema::try_from(batch.schema())?;
        let condition = state.create_physical_expr(unnormalize_col(condition), &schema)?;
        matching(&batch, condition.as_ref())
    }

    /// Whether a filter is true of a row, unless it has columns, which are looked up. DataFusion makes constants of filters that it pushed.
    fn may_be_true(&self, state: &dyn Session, filter: &Expr) -> Result<bool> {
        if !is_constant(filter) {
            return Ok(true);
        }
        let rows = RecordBatchOptions::new().with_row_count(Some(1));
        let row = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &rows)?;
        let condition = state.create_physical_expr(filter.clone(), &DFSchema::empty())?;
        Ok(matching(&row, condition.as_ref())?.len() != 0)
    }

    /// Returns the indices of each dimension outside of which no filter can be true.
    async fn picked(&self, state: &dyn Session, filters: &[Expr]) -> Result<Vec<AxisIndices>> {
        let mut picked: Vec<AxisIndices> =
            self.source.dimensions.iter().map(|(_, len)| AxisIndices::Range(0..*len)).collect();
        for filter in filters {
            if !self.may_be_true(state, filter)? {
                return Ok(picked.iter().map(|_| AxisIndices::Range(0..0)).collect());
            }
            for (number, place) in picked.iter_mut().enumerate() {
                if let Some(condition) = necessary(filter, number, &self.along) {
                    *place = place.and(&self.matching(state, condition, number).await?);
                }
            }
        }
        Ok(picked)
    }

    /// Returns what is known of a column without reading variables: of one whose values follow from one dimension. The second value is the
    /// order of its values along that dimension.
    async fn known(&self, column: &str, picked: &[AxisIndices], rows: usize) -> Result<(ColumnStatistics, Sorted)> {
        let unknown = (ColumnStatistics::new_unknown(), Sorted::Not);
        let Some(&number) = self.along.get(column) else { return Ok(unknown) };
        let Some(picked) = picked.get(number) else { return Ok(unknown) };
        let labels = self.labels(column, number).await?.of(picked)?;
        let mut statistics = ColumnStatistics::new_unknown();
        if labels.null_count() == 0 {
            statistics.null_count = Precision::Exact(0);
        }
        // Engines differ in which of NaN and others is greater.
        let has_ends = rows != 0 && (self.source.options.nan_is_null || !labels.data_type().is_floating());
        if let Some((least, greatest)) = ends(&labels).filter(|_| has_ends) {
            (statistics.min_value, statistics.max_value) = (Precision::Exact(least), Precision::Exact(greatest));
        }
        Ok((statistics, Sorted::of(&labels)?))
    }

    /// Returns the columns by which rows are sorted, with whether they descend: labels of the outer dimensions, as far as these are sorted.
    fn ordering(
        &self,
        picked: &[AxisIndices],
        columns: &[String],
        sorted: &HashMap<String, Sorted>,
    ) -> Vec<(usize, bool)> {
        let mut ordering = Vec::new();
        if !self.source.options.ordered {
            return ordering;
        }
        for ((name, _), picked) in self.source.dimensions.iter().zip(picked) {
            if picked.len() <= 1 {
                // The same label in all rows.
                continue;
            }
            let Some(number) = columns.iter().position(|column| column == name) else { break };
            match sorted.get(name) {
                Some(Sorted::Strictly { descending }) => ordering.push((number, *descending)),
                // Inner labels begin again within equal ones.
                Some(Sorted::Weakly { descending }) => {
                    ordering.push((number, *descending));
                    break;
                }
                Some(Sorted::Not) | None => break,
            }
        }
        ordering
    }
}

#[async_trait]
impl TableProvider for ZarrTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn statistics(&self) -> Option<Statistics> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        let rows = self.source.dimensions.iter().try_fold(1, |rows: u64, (_, len)| rows.checked_mul(*len));
        statistics.num_rows = rows.and_then(|rows| rows.try_into().ok()).map_or(Precision::Absent, Precision::Exact);
        Some(statistics)
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let dimensions = || 0..self.source.dimensions.len();
        let answer = |filter: &&Expr| match dimension_of(filter, &self.along) {
            Some(_) => TableProviderFilterPushDown::Exact,
            None if dimensions().any(|number| necessary(filter, number, &self.along).is_some()) => {
                TableProviderFilterPushDown::Inexact
            }
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(answer).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = match projection {
            Some(numbers) => Arc::new(self.schema.project(numbers)?),
            None => Arc::clone(&self.schema),
        };
        let columns: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let mut picked = self.picked(state, filters).await?;
        // A table without dimensions has one row, and no index that could be left out.
        let mut is_empty = false;
        for filter in filters.iter().filter(|_| picked.is_empty()) {
            is_empty |= !self.may_be_true(state, filter)?;
        }
        let limit = if is_empty { Some(0) } else { limit };
        if let Some(limit) = limit {
            narrow(&mut picked, limit);
        }
        let rows =
            picked.iter().try_fold(1, |rows: usize, picked| rows.checked_mul(usize::try_from(picked.len()).ok()?));
        let mut statistics = Statistics::new_unknown(&schema);
        statistics.num_rows = rows.map_or(Precision::Absent, Precision::Exact);
        let mut sorted = HashMap::new();
        for (column, place) in columns.iter().zip(&mut statistics.column_statistics) {
            let order;
            (*place, order) = self.known(column, &picked, rows.unwrap_or(usize::MAX)).await?;
            sorted.insert(column.clone(), order);
        }
        let ordering = self.ordering(&picked, &columns, &sorted);
        let partitions = state.config().target_partitions();
        let source = self.source.clone();
        // The types of times are looked up in the store.
        let scan =
            tokio::task::spawn_blocking(move || ZarrScan::new(source, schema, picked, ordering, partitions, limit));
        let scan = scan.await.map_err(join)??;
        // Partitions that end early have some of the rows.
        let statistics = if limit.is_some() { statistics.to_inexact() } else { statistics };
        Ok(Arc::new(scan.with_statistics(statistics)))
    }
}

/// Narrows the outermost dimension to as many indices as have `limit` rows.
fn narrow(picked: &mut [AxisIndices], limit: usize) {
    let Some((first, inner)) = picked.split_first_mut() else { return };
    let rows = inner.iter().fold(1, |rows: u64, picked| rows.saturating_mul(picked.len()));
    if rows != 0 {
        *first = first.part(&(0..(limit as u64).div_ceil(rows)));
    }
}
