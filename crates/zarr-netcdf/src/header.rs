//! Header of a netCDF-3 file.
//!
//! The format is described by "The NetCDF Classic Format Specification", and its extension CDF-5 by PnetCDF.

use std::sync::Arc;

use crate::NetcdfFault;
use crate::cursor::{Cursor, Lack, header};
use crate::values::{Attribute, NcType};

const DIMENSION: u32 = 0x0a;
const VARIABLE: u32 = 0x0b;
const ATTRIBUTE: u32 = 0x0c;
/// Estimate of the memory in bytes of a document without its names and attributes.
const DOCUMENT: u64 = 2048;
/// Estimate of the memory in bytes that each axis adds to the document of an array.
const AXIS: u64 = 256;
/// Maximum number of dimensions of a variable, as in netCDF-C (`NC_MAX_VAR_DIMS`).
const MAX_RANK: u64 = 1024;

/// Header of a file: its number of records, global attributes and variables.
#[derive(Debug)]
pub(crate) struct Header {
    /// Number of records; `None` if it follows from the size of the file.
    pub(crate) records: Option<u64>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) variables: Vec<Variable>,
}

#[derive(Debug)]
pub(crate) struct Dimension {
    name: Arc<str>,
    /// Number of elements; 0 for the record dimension.
    length: u64,
}

#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) dimensions: Vec<Arc<str>>,
    /// Lengths of the dimensions of the variable, without the record dimension.
    pub(crate) lengths: Vec<u64>,
    /// Whether the first dimension of the variable is the record dimension.
    pub(crate) is_record: bool,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) nc_type: NcType,
    /// Offset in the file of the first byte of the variable.
    pub(crate) begin: u64,
    /// Size in bytes of the variable, or of one record of it if `is_record`.
    pub(crate) size: u64,
}

impl Variable {
    /// Estimates the memory in bytes of the document of the variable.
    pub(crate) fn cost(&self) -> u64 {
        let names = self.dimensions.iter().map(|name| name.len() as u64 + AXIS);
        let attributes = self.attributes.iter().map(Attribute::cost);
        names.chain(attributes).fold(DOCUMENT + self.name.len() as u64, u64::saturating_add)
    }
}

/// Whether `bytes` begin as a netCDF-3 file does.
pub(crate) fn is_magic(bytes: &[u8]) -> bool {
    matches!(bytes, [b'C', b'D', b'F', 1 | 2 | 5, ..])
}

impl Header {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Lack> {
        let mut cursor = Cursor::new(bytes);
        let magic = cursor.take(4)?;
        if !is_magic(magic) {
            let found = String::from_utf8_lossy(magic).escape_default().to_string();
            return Err(NetcdfFault::Magic { found: format!("\"{found}\"") }.into());
        }
        cursor.is_wide = magic.ends_with(&[5]);
        cursor.has_wide_offsets = !magic.ends_with(&[1]);
        let records = cursor.records()?;
        let mut dimensions: Vec<Dimension> = Vec::new();
        for _ in 0..cursor.list(DIMENSION, "dimensions")? {
            dimensions.push(Dimension { name: cursor.name()?.into(), length: cursor.count()? });
        }
        let attributes = read_attributes(&mut cursor)?;
        let mut variables = Vec::new();
        for _ in 0..cursor.list(VARIABLE, "variables")? {
            variables.push(read_variable(&mut cursor, &dimensions)?);
        }
        Ok(Self { records, attributes, variables })
    }
}

fn read_attributes(cursor: &mut Cursor<'_>) -> Result<Vec<Attribute>, Lack> {
    let mut attributes = Vec::new();
    for _ in 0..cursor.list(ATTRIBUTE, "attributes")? {
        let name = cursor.name()?;
        let nc_type = read_type(cursor)?;
        let at = cursor.at();
        let count = cursor.count()?;
        let too_many = || header(at, count, "a number of values whose bytes can be counted");
        let size = count.checked_mul(nc_type.size()).ok_or_else(too_many)?;
        attributes.push(Attribute { name, nc_type, bytes: cursor.take_padded(size)?.to_vec() });
    }
    Ok(attributes)
}

fn read_type(cursor: &mut Cursor<'_>) -> Result<NcType, Lack> {
    let at = cursor.at();
    let number = cursor.u32()?;
    let most = if cursor.is_wide { 11 } else { 6 };
    NcType::of(number, cursor.is_wide).ok_or_else(|| header(at, number, &format!("a type, from 1 to {most}")))
}

fn read_variable(cursor: &mut Cursor<'_>, dimensions: &[Dimension]) -> Result<Variable, Lack> {
    let name = cursor.name()?;
    let (mut names, mut lengths, mut is_record) = (Vec::new(), Vec::new(), false);
    let (at, rank) = (cursor.at(), cursor.count()?);
    if rank > MAX_RANK {
        return Err(header(at, format!("{rank} dimensions of {name:?}"), &format!("at most {MAX_RANK}")));
    }
    for axis in 0..rank {
        let at = cursor.at();
        let id = cursor.count()?;
        let dimension = usize::try_from(id).ok().and_then(|id| dimensions.get(id));
        let Some(dimension) = dimension else {
            return Err(header(
                at,
                id,
                &format!("a dimension of variable {name:?}, of which there are {}", dimensions.len()),
            ));
        };
        match (dimension.length, axis) {
            (0, 0) => is_record = true,
            (0, _) => {
                let expected = "the record dimension as the first one of a variable";
                return Err(header(at, format!("it as number {} of {name:?}", axis + 1), expected));
            }
            (length, _) => lengths.push(length),
        }
        names.push(Arc::clone(&dimension.name));
    }
    let attributes = read_attributes(cursor)?;
    let nc_type = read_type(cursor)?;
    // The size follows from the dimensions. The stored size is skipped, since that of a large variable has no room in the header.
    cursor.records()?;
    let begin = cursor.offset()?;
    let size = lengths.iter().try_fold(nc_type.size(), |size, length| size.checked_mul(*length));
    let size = size.ok_or_else(|| NetcdfFault::TooLarge { name: name.clone() })?;
    Ok(Variable { name, dimensions: names, lengths, is_record, attributes, nc_type, begin, size })
}
