//! `zarr virtualize`: references to the chunks of files.

use super::convert::{joined, refuse_several};
use crate::args::dialect;
use crate::context::Context;
use crate::failure::Result;
use crate::object::{object, or_null};
use crate::{escape, number};
use clap::{Args, ValueEnum};
use zarr::Dialect;
use zarr::virtualize::{JoinOptions, SaveOptions, Saved};

/// Write references to the chunks of files, so that the files can be read as one Zarr data set. The files are not changed.
///
/// FILE is a netCDF, HDF5 or TIFF file, references, an Icechunk repository or a Zarr store. With --concat several files become one data set:
/// variables with the dimension DIM are joined along it in the order of the files, and all other variables must be the same in each file. REFS
/// is a JSON file (kerchunk, version 1), or a Parquet directory if its name ends in .parq or .parquet; xarray, zarr-python with fsspec, and this
/// command open both. REFS contains small chunks, coordinates, and chunks that no file contains in a form that Zarr can decode.
#[derive(Debug, Args)]
pub(crate) struct Virtualize {
    /// The files to read. With --concat they are joined in this order.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// The references to write, such as refs.json or refs.parquet; may be in a bucket.
    #[arg(short, long, value_name = "REFS")]
    output: String,
    /// The dimension along which several files are joined.
    #[arg(long, value_name = "DIM")]
    concat: Option<String>,
    /// Include only these variables of the data set, with their coordinates, bounds and grid mappings.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', num_args = 1)]
    variables: Vec<String>,
    /// Store chunks of up to this size in REFS instead of references to them.
    #[arg(long, value_name = "SIZE", value_parser = number::parse_size, default_value = "500")]
    inline: u64,
    /// The chunk grid if chunks would have several lengths along the dimension: `regular` refuses to join the files, `rectilinear` (v3)
    /// allows several lengths.
    #[arg(long, value_name = "GRID", default_value = "regular")]
    grid: Grid,
    /// The dialect of the metadata documents in REFS: v2 or v3; by default v2 if it can describe all nodes, else v3, which JSON alone takes.
    #[arg(long, value_name = "DIALECT", aliases = ["format", "zarr-format"], value_parser = dialect)]
    dialect: Option<Dialect>,
    /// Name files relative to the directory of REFS, below which all files must lie: then files and REFS can be moved together, but fsspec
    /// looks for the files in its working directory. By default files are named by their full addresses.
    #[arg(long)]
    relative: bool,
    /// Replace REFS if it exists.
    #[arg(long)]
    overwrite: bool,
}

/// Chunk grids that the joined arrays may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Grid {
    Regular,
    Rectilinear,
}

pub(crate) fn run(context: &Context, args: &Virtualize) -> Result<()> {
    refuse_several(&args.files, args.concat.as_deref())?;
    let target = context.store_address(&args.output)?;
    let options = JoinOptions::default()
        .concat(args.concat.clone())
        .variables(args.variables.clone())
        .rectilinear(args.grid == Grid::Rectilinear)
        .arrays(context.options());
    let addresses = args.files.iter().map(|file| context.store_address(file)).collect::<Result<Vec<_>>>()?;
    context.share_options(&addresses.iter().chain([&target]).collect::<Vec<_>>())?;
    let joined = joined(context, &addresses, &options)?;
    let options = SaveOptions::default()
        .inline(args.inline)
        .dialect(args.dialect)
        .relative(args.relative)
        .overwrite(args.overwrite);
    let saved = context.save_references(joined, &target, &options)?;
    context.summary(
        || {
            object! {
                "files": args.files.clone(),
                "target": args.output.as_str(),
                "references": saved.written.in_files,
                "inline": saved.written.inline,
                "inline_bytes": saved.written.inline_bytes,
                "bytes": saved.bytes,
                "elsewhere": saved.elsewhere.clone(),
                "dialect": saved.dialect.name(),
                "not_in_v2": or_null(saved.not_in_v2.clone()),
            }
        },
        || text(args, &saved),
    )
}

fn text(args: &Virtualize, saved: &Saved) -> String {
    let mut text = format!(
        "{}: {}, {} in it ({}), {} in all\n",
        escape::line(&args.output),
        number::counted(saved.written.in_files, "reference"),
        number::counted(saved.written.inline, "chunk"),
        number::size(saved.written.inline_bytes),
        number::size(saved.bytes),
    );
    if let Some(reason) = &saved.not_in_v2 {
        text.push_str(&format!("documents are of v3, since v2 cannot describe all nodes: {}\n", escape::line(reason)));
    }
    if let Some(folder) = saved.elsewhere.first() {
        let more = if saved.elsewhere.len() > 1 { ", and in others" } else { "" };
        let folder = escape::line(folder);
        text.push_str(&format!(
            "files lie in {folder}{more}: this command reads them with --store-option allow={folder}\n"
        ));
    }
    text
}
