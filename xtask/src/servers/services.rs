//! Servers: their start, and the access of this library and others to the stores on them.

use super::process::Process;
use super::programs::{self, Program};
use crate::interop::python::{Python, SCRIPTS};
use crate::interop::stores::Stores;
use std::fs;
use std::path::{Path, PathBuf};
use zarr::store::StoreOptions;
use zarr_json::{Map, Value};

/// Name of the bucket or container.
const BUCKET: &str = "zarr-test";

/// Greatest number of chunks of an array, since moto answers only about 300 requests in a second.
pub(super) const MOST_CHUNKS: u64 = 24;

/// Account of azurite. The next constant is its key, from the documentation of azurite.
const ACCOUNT: &str = "devstoreaccount1";
const ACCOUNT_KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// Access key of S3. The next constant is its secret; moto accepts any.
const ACCESS_KEY: &str = "testing";
const SECRET_KEY: &str = "testing-secret";

/// Service that a server offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    S3,
    Azure,
    /// Files over HTTP, for reading.
    Http,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Azure => "azure",
            Self::Http => "http",
        }
    }
}

/// Running server, which ends when it is dropped.
pub(super) struct Service {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// URL of the service.
    pub(super) endpoint: String,
    /// Folder of the served files, for [`Kind::Http`].
    pub(super) root: PathBuf,
    pub(super) port: u16,
    _process: Process,
}

impl Service {
    fn new(name: &'static str, kind: Kind, folder: &Path, process: Process) -> Self {
        let account = if kind == Kind::Azure { format!("/{ACCOUNT}") } else { String::new() };
        let endpoint = format!("http://127.0.0.1:{}{account}", process.port);
        Self { name, kind, endpoint, root: root(folder), port: process.port, _process: process }
    }

    /// Returns the address of a prefix for this library.
    pub(super) fn address(&self, prefix: &str) -> String {
        match self.kind {
            Kind::S3 => format!("s3://{BUCKET}/{prefix}"),
            Kind::Azure => format!("az://{BUCKET}/{prefix}"),
            Kind::Http => format!("{}/{prefix}", self.endpoint),
        }
    }

    /// Returns the options with which this library accesses the server.
    pub(super) fn options(&self) -> StoreOptions {
        let options = StoreOptions::new();
        match self.kind {
            Kind::S3 => options
                .set("endpoint", &self.endpoint)
                .set("access_key_id", ACCESS_KEY)
                .set("secret_access_key", SECRET_KEY),
            Kind::Azure => {
                options.set("endpoint", &self.endpoint).set("account_name", ACCOUNT).set("account_key", ACCOUNT_KEY)
            }
            // http.server lets five connections wait and drops others, which are opened again after a second, or time out.
            Kind::Http if self.name == "http.server" => options.set("concurrency", "4"),
            Kind::Http => options,
        }
    }

    /// Returns the stores below a prefix.
    pub(super) fn stores(&self, prefix: &str) -> Stores {
        Stores::below(self.address(prefix), self.options()).with_most_chunks(MOST_CHUNKS)
    }

    /// Returns the environment variables with which programs access the server: the endpoint and credentials.
    pub(super) fn variables(&self) -> Vec<(&'static str, String)> {
        match self.kind {
            Kind::S3 => vec![
                ("AWS_ENDPOINT_URL", self.endpoint.clone()),
                ("AWS_ACCESS_KEY_ID", ACCESS_KEY.to_owned()),
                ("AWS_SECRET_ACCESS_KEY", SECRET_KEY.to_owned()),
                ("AWS_REGION", "us-east-1".to_owned()),
                ("AWS_DEFAULT_REGION", "us-east-1".to_owned()),
                // Clients must not search for credentials elsewhere.
                ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
            ],
            Kind::Azure => vec![
                ("AZURE_STORAGE_ENDPOINT", self.endpoint.clone()),
                ("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT.to_owned()),
                ("AZURE_STORAGE_ACCOUNT_KEY", ACCOUNT_KEY.to_owned()),
            ],
            Kind::Http => Vec::new(),
        }
    }

    /// Returns the environment variables for scripts of `xtask/interop`, which access the stores below a prefix by `client`.
    pub(super) fn script_variables(&self, client: &str, prefix: &str) -> Vec<(&'static str, String)> {
        let mut facts = Map::new();
        facts.insert("client", client);
        facts.insert("kind", self.kind.name());
        facts.insert("endpoint", self.endpoint.as_str());
        if self.kind != Kind::Http {
            facts.insert("bucket", BUCKET);
        }
        facts.insert("prefix", prefix);
        facts.insert("chunks", MOST_CHUNKS);
        let mut variables = self.variables();
        variables.push(("INTEROP_STORES", Value::Object(facts).to_string()));
        variables
    }

    /// Creates the bucket.
    fn make_bucket(self, python: &Python) -> Result<Self, String> {
        let arguments = [self.kind.name(), self.endpoint.as_str(), BUCKET];
        python.script("buckets.py", &arguments, &self.variables())?;
        Ok(self)
    }
}

/// Returns the folder of the files that a server serves.
fn root(folder: &Path) -> PathBuf {
    folder.join("files")
}

/// Running server, or the reason why it is left out.
pub(super) enum Started {
    Running(Service),
    LeftOut(&'static str, String),
}

/// Starts moto, S3 in Python, with a lock that moto lacks.
pub(super) fn moto(python: &Python, folder: &Path) -> Result<Started, String> {
    let (program, script) = (text(&python.program("python"))?, format!("{SCRIPTS}/moto_locked.py"));
    let process = Process::start(&folder.join("log"), |port| Ok(words(&[&program, &script], port)))?;
    Service::new("moto", Kind::S3, folder, process).make_bucket(python).map(Started::Running)
}

/// Starts azurite, Azure Blob Storage in JavaScript.
pub(super) fn azurite(python: &Python, installed: &Path, folder: &Path) -> Result<Started, String> {
    let script = match programs::azurite(installed)? {
        Program::Found(script) => text(&script)?,
        Program::LeftOut(reason) => return Ok(Started::LeftOut("azurite", reason)),
    };
    let options = ["--inMemoryPersistence", "--skipApiVersionCheck", "--silent", "--disableTelemetry"];
    let begin = [&["node", &script, "--blobHost", "127.0.0.1"], &options[..], &["--blobPort"]];
    let process = Process::start(&folder.join("log"), |port| Ok(words(&begin.concat(), port)))?;
    Service::new("azurite", Kind::Azure, folder, process).make_bucket(python).map(Started::Running)
}

/// Starts nginx, which supports ranges.
pub(super) fn nginx(folder: &Path) -> Result<Started, String> {
    let program = match programs::nginx()? {
        Program::Found(program) => text(&program)?,
        Program::LeftOut(reason) => return Ok(Started::LeftOut("nginx", reason)),
    };
    let (files, configuration) = (make_root(folder)?, folder.join("nginx.conf"));
    let process = Process::start(&folder.join("log"), |port| {
        let text = nginx_configuration(folder, &files, port);
        fs::write(&configuration, text).map_err(|error| format!("{}: {error}", configuration.display()))?;
        Ok([&program, "-e", "stderr", "-c", &configuration.display().to_string()].map(str::to_owned).to_vec())
    })?;
    Ok(Started::Running(Service::new("nginx", Kind::Http, folder, process)))
}

fn nginx_configuration(folder: &Path, files: &Path, port: u16) -> String {
    let (folder, files) = (folder.display(), files.display());
    // If root starts nginx, its worker is otherwise another user, who may not read the files.
    let user = if programs::is_root() { "user root;" } else { "" };
    format!(
        "{user}
daemon off;
pid \"{folder}/nginx.pid\";
worker_processes 1;
events {{ worker_connections 512; }}
http {{
    access_log off;
    error_log stderr;
    client_body_temp_path \"{folder}/body\";
    proxy_temp_path \"{folder}/proxy\";
    fastcgi_temp_path \"{folder}/fastcgi\";
    uwsgi_temp_path \"{folder}/uwsgi\";
    scgi_temp_path \"{folder}/scgi\";
    server {{
        listen 127.0.0.1:{port};
        root \"{files}\";
    }}
}}
"
    )
}

/// Starts the server of Python's standard library, which ignores ranges and sends whole files.
pub(super) fn http_server(python: &Python, folder: &Path) -> Result<Started, String> {
    let (program, files) = (text(&python.program("python"))?, text(&make_root(folder)?)?);
    let begin = [&program, "-m", "http.server", "--bind", "127.0.0.1", "-d", &files];
    let process = Process::start(&folder.join("log"), |port| Ok(words(&begin, port)))?;
    Ok(Started::Running(Service::new("http.server", Kind::Http, folder, process)))
}

fn make_root(folder: &Path) -> Result<PathBuf, String> {
    let root = root(folder);
    fs::create_dir_all(&root).map_err(|error| format!("{}: {error}", root.display()))?;
    Ok(root)
}

/// Returns the words of a command line that ends with the port.
fn words(begin: &[&str], port: u16) -> Vec<String> {
    begin.iter().map(|word| (*word).to_owned()).chain([port.to_string()]).collect()
}

fn text(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| format!("{}: not UTF-8", path.display()))
}
