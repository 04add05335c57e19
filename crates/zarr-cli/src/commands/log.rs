//! `zarr log`: the commits of an Icechunk repository.

use crate::context::Context;
use crate::escape;
use crate::failure::Result;
use crate::object::{object, or_null};
use crate::table::{Side, lines};
use clap::Args;
use zarr::dtype::{TimeUnit, Unit};
use zarr::meta::json::Map;
use zarr::store::IcechunkCommit;

/// List the commits of an Icechunk repository that led to a branch, a tag or a snapshot, the newest first.
///
/// Each line has the id of the snapshot that the commit made, the time in UTC, and the message. `icechunk:ADDRESS@ID` opens the snapshot with an
/// id.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// The repository: icechunk:ADDRESS, followed by @BRANCH, @tag.NAME or @ID. Default: the branch main.
    #[arg(value_name = "URL")]
    url: String,
    /// List only the newest COUNT commits.
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<usize>,
}

pub(crate) fn run(context: &Context, args: &Log) -> Result<()> {
    let address = context.store_address(&args.url)?;
    let commits = context.history(&address, args.limit.unwrap_or(usize::MAX))?;
    context.page(|| commits.iter().map(json).collect::<Vec<_>>(), || text(&commits))
}

/// Returns the time of `commit` in ISO 8601, in whole seconds and UTC.
fn time(commit: &IcechunkCommit) -> String {
    let seconds = i64::try_from(commit.time / 1_000_000).unwrap_or(i64::MAX);
    format!("{}Z", TimeUnit::new(Unit::Second).date_text(seconds))
}

fn json(commit: &IcechunkCommit) -> Map {
    object! {
        "id": commit.id.as_str(),
        "parent": or_null(commit.parent.as_deref()),
        "time": time(commit),
        "message": commit.message.as_str(),
    }
}

fn text(commits: &[IcechunkCommit]) -> String {
    let row =
        |commit: &IcechunkCommit| vec![commit.id.clone(), time(commit), escape::line(&commit.message).to_string()];
    lines(&[Side::Left, Side::Left, Side::Left], &commits.iter().map(row).collect::<Vec<_>>())
}
