//! Reads of the parts of a table, as a plan of DataFusion.

use crate::axis_indices::AxisIndices;
use crate::fault::{fault, join};
use crate::parts;
use crate::source::Source;
use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{Int64Type, SchemaRef};
use datafusion::common::Statistics;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::common::collect;
use datafusion::physical_plan::execution_plan::{
    Boundedness, ChildrenPropertiesMode, EmissionType, ReplaceChildrenOptions, SchedulingType,
};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use std::fmt;
use std::sync::Arc;
use zarr::arrow::{BatchReader, TableOptions};
use zarr::dataset::Dataset;

/// Number of batches of a partition that may be read before they are asked for.
const AHEAD: usize = 2;

/// Read of some columns of a part of a table.
#[derive(Debug)]
pub struct ZarrScan {
    pub(crate) source: Source,
    pub(crate) schema: SchemaRef,
    /// Indices of each dimension that rows are made of.
    pub(crate) picked: Vec<AxisIndices>,
    /// Columns by which rows are sorted, with whether they descend.
    pub(crate) ordering: Vec<(usize, bool)>,
    /// Plan whose partitions have the ranges of the numbers of the picked indices of each dimension that are read.
    parts: Arc<dyn ExecutionPlan>,
    /// Number of rows of a partition behind which its read ends.
    pub(crate) limit: Option<usize>,
    statistics: Arc<Statistics>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl ZarrScan {
    /// Plans the read of the columns of `schema` in at most `partitions` parts. `ordering` has the columns by which rows are sorted.
    pub(crate) fn new(
        source: Source,
        schema: SchemaRef,
        picked: Vec<AxisIndices>,
        ordering: Vec<(usize, bool)>,
        partitions: usize,
        limit: Option<usize>,
    ) -> Result<Self> {
        let columns = names(&schema);
        let part = selected(&source, &picked)?;
        let parts = source.batches(&part, &columns, source.options.clone())?.parts(partitions);
        Ok(Self::of_parts(source, schema, picked, ordering, parts::plan(&parts)?, limit))
    }

    /// Makes the read of the parts that the partitions of a plan have.
    pub(crate) fn of_parts(
        source: Source,
        schema: SchemaRef,
        picked: Vec<AxisIndices>,
        ordering: Vec<(usize, bool)>,
        parts: Arc<dyn ExecutionPlan>,
        limit: Option<usize>,
    ) -> Self {
        let sorted = ordering.iter().filter_map(|&(number, descending)| {
            let name = schema.fields().get(number)?.name();
            // There are no nulls, so they are where SQL has them by default.
            let options = SortOptions { descending, nulls_first: descending };
            let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(name, number));
            Some(PhysicalSortExpr::new(column, options))
        });
        let equal = EquivalenceProperties::new_with_orderings(Arc::clone(&schema), [sorted]);
        let partitioning = Partitioning::UnknownPartitioning(count(&parts));
        let properties = PlanProperties::new(equal, partitioning, EmissionType::Incremental, Boundedness::Bounded);
        Self {
            statistics: Arc::new(Statistics::new_unknown(&schema)),
            properties: Arc::new(properties.with_scheduling_type(SchedulingType::Cooperative)),
            metrics: ExecutionPlanMetricsSet::new(),
            source,
            schema,
            picked,
            ordering,
            parts,
            limit,
        }
    }

    pub(crate) fn with_statistics(mut self, statistics: Statistics) -> Self {
        self.statistics = Arc::new(statistics);
        self
    }
}

/// Returns the number of partitions of a plan.
fn count(plan: &Arc<dyn ExecutionPlan>) -> usize {
    plan.properties().output_partitioning().partition_count()
}

fn names(schema: &SchemaRef) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// Selects picked indices of each dimension of a data set.
fn selected(source: &Source, picked: &[AxisIndices]) -> Result<Dataset> {
    let mut dataset = source.dataset.clone();
    for ((name, len), picked) in source.dimensions.iter().zip(picked) {
        if *picked != AxisIndices::Range(0..*len) {
            dataset = dataset.isel(name, picked.selection()).map_err(fault)?;
        }
    }
    Ok(dataset)
}

/// Columns with the indices of dimensions without labels, which are counted from 0 in a selection: their numbers in the batch, and the
/// indices that were picked.
fn indices(source: &Source, schema: &SchemaRef, picked: &[AxisIndices]) -> Vec<(usize, AxisIndices)> {
    let own = |(number, field): (usize, &Arc<datafusion::arrow::datatypes::Field>)| {
        let dimension = source.dimension(field.name()).filter(|_| source.is_index(field.name()))?;
        let moved =
            picked.get(dimension).filter(|picked| !matches!(picked, AxisIndices::Range(range) if range.start == 0))?;
        Some((number, moved.clone()))
    };
    schema.fields().iter().enumerate().filter_map(own).collect()
}

/// Replaces the numbers of picked indices by these.
fn moved(batch: RecordBatch, indices: &[(usize, AxisIndices)]) -> Result<RecordBatch> {
    if indices.is_empty() {
        return Ok(batch);
    }
    let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
    for (number, picked) in indices {
        let Some(column) = columns.get_mut(*number) else { continue };
        let index =
            |at: &i64| picked.get(at.unsigned_abs()).and_then(|index| i64::try_from(index).ok()).unwrap_or(i64::MAX);
        let values = column.as_primitive::<Int64Type>().values();
        *column = Arc::new(Int64Array::from_iter_values(values.iter().map(index)));
    }
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

impl DisplayAs for ZarrScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = self.source.dataset.group();
        write!(f, "ZarrScan: {}, columns=[{}]", group.path(), names(&self.schema).join(", "))?;
        let cut = self.source.dimensions.iter().zip(&self.picked).filter(|((_, len), picked)| picked.len() != *len);
        let cut: Vec<_> = cut.map(|((name, len), picked)| format!("{name}={} of {len}", picked.len())).collect();
        if !cut.is_empty() {
            write!(f, ", selected=[{}]", cut.join(", "))?;
        }
        write!(f, ", partitions={}", count(&self.parts))?;
        self.limit.map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
    }
}

impl ExecutionPlan for ZarrScan {
    fn name(&self) -> &'static str {
        "ZarrScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.parts]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let [parts] = <[_; 1]>::try_from(children).map_err(|children| {
            DataFusionError::Internal(format!("found {} inputs of ZarrScan, expected 1", children.len()))
        })?;
        // Statistics are those of all partitions.
        let is_whole = count(&parts) == count(&self.parts);
        let (schema, picked, ordering) = (Arc::clone(&self.schema), self.picked.clone(), self.ordering.clone());
        let scan = Self::of_parts(self.source.clone(), schema, picked, ordering, parts, self.limit);
        Ok(Arc::new(if is_whole { scan.with_statistics(self.statistics.as_ref().clone()) } else { scan }))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = context.session_config().batch_size().min(self.source.options.batch_rows);
        let rows = rows.min(self.limit.unwrap_or(usize::MAX)).max(1);
        let memory = self.source.options.memory / count(&self.parts).max(1) as u64;
        let options = self.source.options.clone().batch_rows(rows).memory(memory);
        let (source, schema, picked) = (self.source.clone(), Arc::clone(&self.schema), self.picked.clone());
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let left = self.limit.unwrap_or(usize::MAX);
        let parts = self.parts.execute(partition, context)?;
        let mut stream = RecordBatchReceiverStream::builder(Arc::clone(&self.schema), AHEAD);
        let sender = stream.tx();
        stream.spawn(async move {
            let part = parts::of_rows(&collect(parts).await?, &picked)?;
            // Reads wait for the store, so they are not for the threads of the queries. No thread waits for who takes the batches: those of
            // a runtime are few, and an engine may want a batch of each partition.
            let open = move || PartReader::new(&source, schema, &part, options, metrics, left);
            let mut reader = tokio::task::spawn_blocking(open).await.map_err(join)??;
            loop {
                let (batch, same) = tokio::task::spawn_blocking(move || (reader.next(), reader)).await.map_err(join)?;
                reader = same;
                let Some(batch) = batch? else { return Ok(()) };
                if sender.send(Ok(batch)).await.is_err() {
                    return Ok(());
                }
            }
        });
        Ok(stream.build())
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        // Which rows a partition has is known where it is read.
        Ok(match args.partition() {
            None => Arc::clone(&self.statistics),
            Some(_) => Arc::new(Statistics::new_unknown(&self.schema)),
        })
    }
}

/// Read of the rows of one partition.
struct PartReader {
    reader: BatchReader,
    schema: SchemaRef,
    /// Number, in the batches of the reader, of each column of the schema, which may have another order.
    numbers: Vec<usize>,
    indices: Vec<(usize, AxisIndices)>,
    metrics: BaselineMetrics,
    /// Number of rows that are still to be read.
    left: usize,
}

impl PartReader {
    /// Begins the read of the picked indices of each dimension.
    fn new(
        source: &Source,
        schema: SchemaRef,
        picked: &[AxisIndices],
        options: TableOptions,
        metrics: BaselineMetrics,
        left: usize,
    ) -> Result<Self> {
        let dataset = selected(source, picked)?;
        let indices = indices(source, &schema, picked);
        let reader = BatchReader::new(source.batches(&dataset, &names(&schema), options)?)?;
        let found = datafusion::arrow::array::RecordBatchReader::schema(&reader);
        let numbers = schema.fields().iter().map(|field| found.index_of(field.name()));
        let numbers = numbers.collect::<std::result::Result<_, _>>()?;
        Ok(Self { reader, schema, numbers, indices, metrics, left })
    }

    /// Reads the next batch; `None` behind the last one.
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let elapsed = self.metrics.elapsed_compute().clone();
        let _timer = elapsed.timer();
        let batch = if self.left == 0 { None } else { self.reader.next().transpose()? };
        let Some(batch) = batch else {
            self.metrics.done();
            return Ok(None);
        };
        let batch = batch.project(&self.numbers)?.with_schema(Arc::clone(&self.schema))?;
        let batch = moved(batch, &self.indices)?;
        let batch = batch.slice(0, batch.num_rows().min(self.left));
        self.left -= batch.num_rows();
        self.metrics.record_output(batch.num_rows());
        Ok(Some(batch))
    }
}
