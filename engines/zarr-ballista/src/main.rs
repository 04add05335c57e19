//! The program `zarr-ballista`: a scheduler, an executor, or queries.

mod arguments;

use arguments::{Arguments, HELP, Listen};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use zarr::arrow::TableOptions;
use zarr_datafusion::ZarrTable;

/// Bytes of the stack of a thread that plans queries, whose expressions may be nested deeply.
const STACK: usize = 32 << 20;

/// Options that ask for help.
const HELPS: [&str; 2] = ["--help", "-h"];

/// Seconds between two questions of an executor that does as many tasks as it can.
const BETWEEN: u64 = 5;

/// Error of a process, with its text.
type Failure = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    env_logger::init();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("zarr-ballista: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let text =
        |word: std::ffi::OsString| word.into_string().map_err(|word| format!("found {word:?}, expected Unicode"));
    let mut words = std::env::args_os().skip(1).map(text).collect::<Result<Vec<_>, _>>()?.into_iter();
    let verb = words.next();
    let words: Vec<String> = words.collect();
    if words.iter().any(|word| HELPS.contains(&word.as_str())) {
        return print(HELP);
    }
    let arguments = Arguments::new(words.into_iter())?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().thread_stack_size(STACK).build()?;
    match verb.as_deref() {
        Some("scheduler") => runtime.block_on(scheduler(arguments)),
        Some("executor") => runtime.block_on(executor(arguments)),
        Some("sql") => runtime.block_on(sql(arguments)),
        Some(verb) if verb == "help" || HELPS.contains(&verb) => print(HELP),
        Some(other) => Err(format!("found {other}, expected scheduler, executor or sql\n{HELP}").into()),
        None => Err(HELP.into()),
    }
}

/// Prints text and a line end, unless the reader has had enough.
fn print(text: &str) -> Result<(), Failure> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Runs a scheduler until it is ended.
async fn scheduler(mut arguments: Arguments) -> Result<(), Failure> {
    let listen = Listen::new(&arguments.value("--listen").unwrap_or_else(|| "127.0.0.1:50050".to_owned()))?;
    let timeout = arguments.number("--timeout")?.unwrap_or(20);
    arguments.end()?;
    if timeout <= BETWEEN {
        return Err(format!("--timeout: found {timeout}, expected more than {BETWEEN} seconds").into());
    }
    let mut config = zarr_ballista::scheduler_config();
    (config.bind_host, config.bind_port) = (listen.host.clone(), listen.port);
    config.executor_timeout_seconds = timeout;
    config.no_executors_grace_period_seconds = timeout;
    config.expire_dead_executor_interval_seconds = 1;
    let cluster = BallistaCluster::new_from_config(&config).await?;
    let address = tokio::net::lookup_host((listen.host.as_str(), listen.port)).await?.next();
    let address = address.ok_or_else(|| format!("{}: found no address of this host", listen.host))?;
    Ok(start_server(cluster, address, Arc::new(config)).await?)
}

/// Runs an executor until it is ended.
async fn executor(mut arguments: Arguments) -> Result<(), Failure> {
    let listen = Listen::new(&arguments.value("--listen").unwrap_or_else(|| "127.0.0.1:50051".to_owned()))?;
    let scheduler = Listen::new(&arguments.needed("--scheduler")?)?;
    let mut config = zarr_ballista::executor_config();
    (config.bind_host, config.port) = (listen.host, listen.port);
    (config.scheduler_host, config.scheduler_port) = (scheduler.host, scheduler.port);
    let name = arguments.value("--name");
    if name.is_none() && config.bind_host.parse().is_ok_and(|address: std::net::IpAddr| address.is_unspecified()) {
        return Err(format!(
            "--listen: found {}, expected --name beside it, by which others reach it",
            config.bind_host
        )
        .into());
    }
    config.external_host = name.or_else(|| Some(config.bind_host.clone()));
    config.vcores = arguments.number("--cores")?.unwrap_or(0).try_into()?;
    // An executor may begin before its scheduler.
    config.scheduler_connect_timeout_seconds = 30;
    let folder = arguments.value("--work-dir");
    arguments.end()?;
    let kept = if folder.is_none() { Some(tempfile::tempdir()?) } else { None };
    let folder = folder.or_else(|| kept.as_ref().map(|folder| folder.path().display().to_string()));
    config.work_dir = folder;
    Ok(ballista_executor::executor_process::start_executor_process(Arc::new(config)).await?)
}

/// Runs queries one after another, and prints their rows.
async fn sql(mut arguments: Arguments) -> Result<(), Failure> {
    let partitions = arguments.number("--partitions")?.unwrap_or(16).max(1).try_into()?;
    let session = match arguments.value("--scheduler") {
        Some(scheduler) => zarr_ballista::connect(&scheduler, partitions).await?,
        None => SessionContext::new_with_config(SessionConfig::new().with_target_partitions(partitions)),
    };
    while let Some(table) = arguments.value("--table") {
        let (name, address) = table.split_once('=').ok_or_else(|| format!("found {table}, expected NAME=ADDRESS"))?;
        let mut options = TableOptions::default();
        let name = match name.split_once(':') {
            Some((name, variables)) => {
                options = options.variables(variables.split(','));
                name
            }
            None => name,
        };
        // Other processes have other working folders.
        let address = match Path::new(address).exists() {
            true => std::path::absolute(address)?.display().to_string(),
            false => address.to_owned(),
        };
        ZarrTable::open(address, &options)?.register(&session, name)?;
    }
    let queries = arguments.rest()?;
    if queries.is_empty() {
        return Err(format!("found no query\n{HELP}").into());
    }
    for query in queries {
        let batches = session.sql(&query).await?.collect().await?;
        print(&pretty_format_batches(&batches)?.to_string())?;
    }
    Ok(())
}
