//! Plans for other processes: tables and reads of them as bytes, by the address of the data set.
//!
//! A message is JSON. It has the address and the options of the store and of the table, and a read also its columns and the picked indices
//! of each dimension; the parts are its input. The process that decodes it opens the data set again, and refuses it if its dimensions have
//! changed.

use crate::axis_indices::AxisIndices;
use crate::scan::ZarrScan;
use crate::source::{Address, Source};
use crate::table::ZarrTable;
use datafusion::arrow::datatypes::{FieldRef, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, Extension, HigherOrderUDF, LogicalPlan, ScalarUDF, WindowUDF};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::proto_decode::PhysicalExprDecodeCtx;
use datafusion::physical_expr_common::physical_expr::proto_encode::PhysicalExprEncodeCtx;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::{DefaultLogicalExtensionCodec, LogicalExtensionCodec};
use datafusion_proto::physical_plan::{
    DefaultPhysicalExtensionCodec, PhysicalExtensionCodec, PhysicalProtoConverterExtension,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;
use zarr::arrow::TableOptions;

/// First bytes of a message, by which it is told from those of other codecs; the last one is the version.
const MARK: &[u8] = b"zarr-datafusion\x01";

/// Greatest number of bytes of a message, which engines limit: Ballista to 16 MiB for a plan.
const MOST_BYTES: usize = 8 << 20;

/// Codec of tables and reads of data sets, for engines that send plans to other processes, such as Ballista.
///
/// All other nodes are those of the codecs that it was made with.
#[derive(Debug)]
pub struct ZarrCodec {
    logical: Arc<dyn LogicalExtensionCodec>,
    physical: Arc<dyn PhysicalExtensionCodec>,
}

impl ZarrCodec {
    /// Makes a codec that leaves other nodes to those of an engine.
    pub fn new(logical: Arc<dyn LogicalExtensionCodec>, physical: Arc<dyn PhysicalExtensionCodec>) -> Self {
        Self { logical, physical }
    }
}

impl Default for ZarrCodec {
    /// Makes a codec of DataFusion, which has no other nodes.
    fn default() -> Self {
        Self::new(Arc::new(DefaultLogicalExtensionCodec {}), Arc::new(DefaultPhysicalExtensionCodec {}))
    }
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct TableMessage {
    address: String,
    store_options: Vec<(String, String)>,
    variables: Option<Vec<String>>,
    dimensions: Option<Vec<String>>,
    batch_rows: usize,
    ordered: bool,
    memory: u64,
    nan_is_null: bool,
    /// Names and lengths of the dimensions as they were.
    shape: Vec<(String, u64)>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ScanMessage {
    table: TableMessage,
    /// Names of the columns with their types as they were.
    columns: Vec<(String, String)>,
    /// Runs of the picked indices of each dimension.
    picked: Vec<Vec<Range<u64>>>,
    /// Numbers of the columns by which rows are sorted, with whether they descend.
    ordering: Vec<(usize, bool)>,
    limit: Option<usize>,
}

impl TableMessage {
    fn of(source: &Source) -> Result<Self> {
        let Some(address) = &source.address else {
            let path = source.dataset.group().path();
            let message =
                format!("found the data set {path} without an address, expected a table of `ZarrTable::open`");
            return Err(DataFusionError::Plan(message));
        };
        let options = &source.options;
        Ok(Self {
            address: address.url.clone(),
            store_options: address.options.clone(),
            variables: options.variables.clone(),
            dimensions: options.dimensions.clone(),
            batch_rows: options.batch_rows,
            ordered: options.ordered,
            memory: options.memory,
            nan_is_null: options.nan_is_null,
            shape: source.dimensions.clone(),
        })
    }

    fn open(self) -> Result<ZarrTable> {
        let mut options = TableOptions::default()
            .batch_rows(self.batch_rows)
            .ordered(self.ordered)
            .memory(self.memory)
            .nan_is_null(self.nan_is_null);
        (options.variables, options.dimensions) = (self.variables, self.dimensions);
        let table = ZarrTable::open_with(self.address.as_str(), self.store_options, &options)?;
        let found = &table.source().dimensions;
        if *found != self.shape {
            let shown = table.source().address.as_ref().map(Address::shown).unwrap_or_default();
            let message = format!("{shown}: found the dimensions {found:?}, expected {:?} as of the plan", self.shape);
            return Err(DataFusionError::Execution(message));
        }
        Ok(table)
    }
}

impl ScanMessage {
    fn of(scan: &ZarrScan) -> Result<Self> {
        Ok(Self {
            table: TableMessage::of(&scan.source)?,
            columns: scan.schema.fields().iter().map(|field| (field.name().clone(), type_of(field))).collect(),
            picked: scan.picked.iter().map(AxisIndices::runs).collect(),
            ordering: scan.ordering.clone(),
            limit: scan.limit,
        })
    }

    fn open(self, inputs: &[Arc<dyn ExecutionPlan>]) -> Result<ZarrScan> {
        let [parts] = inputs else { return Err(malformed(&format!("{} inputs", inputs.len()))) };
        let picked = self.picked.iter().map(|runs| picked(runs)).collect::<Result<Vec<_>>>()?;
        let end = |picked: &AxisIndices| picked.runs().last().map_or(0, |run| run.end);
        let lens = self.table.shape.iter().map(|(_, len)| *len);
        if picked.len() != lens.len() || picked.iter().zip(lens).any(|(picked, len)| end(picked) > len) {
            return Err(malformed("a selection outside of the table"));
        }
        if let Some((number, _)) = self.ordering.iter().find(|(number, _)| *number >= self.columns.len()) {
            return Err(malformed(&format!("an order by column {number} of {}", self.columns.len())));
        }
        let table = self.table.open()?;
        let schema = table.schema();
        let mut numbers = Vec::new();
        for (name, expected) in &self.columns {
            let number = schema.index_of(name)?;
            let found = schema.fields().get(number).map(type_of).unwrap_or_default();
            if found != *expected {
                let message = format!("column {name}: found {found}, expected {expected} as of the plan");
                return Err(DataFusionError::Execution(message));
            }
            numbers.push(number);
        }
        let schema = Arc::new(schema.project(&numbers)?);
        let (source, parts) = (table.source().clone(), Arc::clone(parts));
        Ok(ZarrScan::of_parts(source, schema, picked, self.ordering, parts, self.limit))
    }
}

/// Returns the type of a column as text.
fn type_of(field: &FieldRef) -> String {
    format!("{}{}", field.data_type(), if field.is_nullable() { " or null" } else { "" })
}

/// Joins runs of indices that ascend.
fn picked(runs: &[Range<u64>]) -> Result<AxisIndices> {
    if let [run] = runs {
        return Ok(AxisIndices::Range(run.start..run.end.max(run.start)));
    }
    let ascend = runs.iter().all(|run| run.start < run.end) && runs.is_sorted_by(|one, other| one.end <= other.start);
    let count = runs.iter().map(|run| run.end.saturating_sub(run.start)).fold(0, u64::saturating_add);
    match ascend && count <= crate::source::MOST_LABELS {
        true => Ok(AxisIndices::new(runs.iter().cloned().flatten().collect())),
        false => Err(malformed("indices that do not ascend, or too many")),
    }
}

fn malformed(what: &str) -> DataFusionError {
    DataFusionError::Internal(format!("found {what} in a plan, expected a read of a Zarr table"))
}

fn encode(message: &impl Serialize, buf: &mut Vec<u8>) -> Result<()> {
    let start = buf.len();
    buf.extend_from_slice(MARK);
    serde_json::to_writer(&mut *buf, message).map_err(|error| DataFusionError::External(Box::new(error)))?;
    let len = buf.len() - start;
    if len > MOST_BYTES {
        let message = format!("found a selection of {len} bytes, expected at most {MOST_BYTES} for another process");
        return Err(DataFusionError::Plan(format!("{message}: conditions leave too many runs of indices")));
    }
    Ok(())
}

/// Returns the JSON of a message; `None` for bytes of another codec.
fn message(buf: &[u8]) -> Option<&[u8]> {
    buf.strip_prefix(MARK)
}

fn decode<'b, T: Deserialize<'b>>(json: &'b [u8]) -> Result<T> {
    serde_json::from_slice(json).map_err(|error| malformed(&format!("{error}")))
}

impl LogicalExtensionCodec for ZarrCodec {
    fn try_decode(&self, buf: &[u8], inputs: &[LogicalPlan], ctx: &TaskContext) -> Result<Extension> {
        self.logical.try_decode(buf, inputs, ctx)
    }

    fn try_encode(&self, node: &Extension, buf: &mut Vec<u8>) -> Result<()> {
        self.logical.try_encode(node, buf)
    }

    fn try_decode_table_provider(
        &self,
        buf: &[u8],
        table_ref: &TableReference,
        schema: SchemaRef,
        ctx: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        match message(buf) {
            Some(json) => {
                let table = decode::<TableMessage>(json)?.open()?;
                let found = table.schema();
                let types = |schema: &SchemaRef| {
                    let column = |field: &FieldRef| format!("{}: {}", field.name(), type_of(field));
                    schema.fields().iter().map(column).collect::<Vec<_>>().join(", ")
                };
                if types(&found) != types(&schema) {
                    let (found, expected) = (types(&found), types(&schema));
                    let message = format!("{table_ref}: found the columns {found}, expected {expected} as of the plan");
                    return Err(DataFusionError::Plan(message));
                }
                Ok(Arc::new(table))
            }
            None => self.logical.try_decode_table_provider(buf, table_ref, schema, ctx),
        }
    }

    fn try_encode_table_provider(
        &self,
        table_ref: &TableReference,
        node: Arc<dyn TableProvider>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        match node.downcast_ref::<ZarrTable>() {
            Some(table) => encode(&TableMessage::of(table.source())?, buf),
            None => self.logical.try_encode_table_provider(table_ref, node, buf),
        }
    }

    fn try_decode_file_format(&self, buf: &[u8], ctx: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        self.logical.try_decode_file_format(buf, ctx)
    }

    fn try_encode_file_format(&self, buf: &mut Vec<u8>, node: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.logical.try_encode_file_format(buf, node)
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        self.logical.try_decode_udf(name, buf)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.logical.try_encode_udf(node, buf)
    }

    fn try_decode_higher_order_function(&self, name: &str, buf: &[u8]) -> Result<Arc<HigherOrderUDF>> {
        self.logical.try_decode_higher_order_function(name, buf)
    }

    fn try_encode_higher_order_function(&self, node: &HigherOrderUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.logical.try_encode_higher_order_function(node, buf)
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        self.logical.try_decode_udaf(name, buf)
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.logical.try_encode_udaf(node, buf)
    }

    fn try_decode_udwf(&self, name: &str, buf: &[u8]) -> Result<Arc<WindowUDF>> {
        self.logical.try_decode_udwf(name, buf)
    }

    fn try_encode_udwf(&self, node: &WindowUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.logical.try_encode_udwf(node, buf)
    }
}

impl PhysicalExtensionCodec for ZarrCodec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match message(buf) {
            Some(json) => Ok(Arc::new(decode::<ScanMessage>(json)?.open(inputs)?)),
            None => self.physical.try_decode(buf, inputs, ctx, converter),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        match node.downcast_ref::<ZarrScan>() {
            Some(scan) => encode(&ScanMessage::of(scan)?, buf),
            None => self.physical.try_encode(node, buf, converter),
        }
    }

    fn try_decode_expr(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn PhysicalExpr>],
        ctx: &PhysicalExprDecodeCtx<'_>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        self.physical.try_decode_expr(buf, inputs, ctx)
    }

    fn try_encode_expr(
        &self,
        node: &Arc<dyn PhysicalExpr>,
        buf: &mut Vec<u8>,
        ctx: &PhysicalExprEncodeCtx<'_>,
    ) -> Result<()> {
        self.physical.try_encode_expr(node, buf, ctx)
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        self.physical.try_decode_udf(name, buf)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.physical.try_encode_udf(node, buf)
    }

    fn try_decode_higher_order_function(&self, name: &str, buf: &[u8]) -> Result<Arc<HigherOrderUDF>> {
        self.physical.try_decode_higher_order_function(name, buf)
    }

    fn try_encode_higher_order_function(&self, node: &HigherOrderUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.physical.try_encode_higher_order_function(node, buf)
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        self.physical.try_decode_udaf(name, buf)
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.physical.try_encode_udaf(node, buf)
    }

    fn try_decode_udwf(&self, name: &str, buf: &[u8]) -> Result<Arc<WindowUDF>> {
        self.physical.try_decode_udwf(name, buf)
    }

    fn try_encode_udwf(&self, node: &WindowUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.physical.try_encode_udwf(node, buf)
    }
}
