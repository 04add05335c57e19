//! Examples at the end of the help of each verb; tests run them.

/// Each verb with three command lines. They work in a folder with `climate.zarr`, the data in `examples/data`, and the results of the
/// command lines before.
pub(crate) const EXAMPLES: &[(&str, [&str; 3])] = &[
    (
        "tree",
        [
            "zarr tree climate.zarr",
            "zarr tree climate.zarr --json",
            "zarr tree s3://bucket/x.zarr --store-option anonymous=true",
        ],
    ),
    ("ls", ["zarr ls climate.zarr", "zarr ls -l climate.zarr", "zarr ls zip:https://host/x.zip::/group"]),
    ("info", ["zarr info climate.zarr sst", "zarr info climate.zarr/sst --chunks", "zarr info climate.zarr --json"]),
    ("ds", ["zarr ds climate.zarr", "zarr ds climate.zarr --header", "zarr ds https://host/x.zarr"]),
    (
        "read",
        [
            "zarr read climate.zarr sst --sel time=2007-01 --sel lat=2~",
            "zarr read climate.zarr sst --select \"0, ::6, 100:104\" -o sst.npy",
            "zarr read climate.zarr sst --isel time=0 --as csv",
        ],
    ),
    (
        "stats",
        [
            "zarr stats climate.zarr sst",
            "zarr stats climate.zarr sst --along time",
            "zarr stats climate.zarr anomaly --isel time=0 --raw",
        ],
    ),
    (
        "view",
        [
            "zarr view climate.zarr sst --isel time=0",
            "zarr view climate.zarr sst --sel time=2007-01 --cmap magma -o sst.png",
            "zarr view climate.zarr sst --animate time --fps 4 -o sst.png",
        ],
    ),
    ("du", ["zarr du climate.zarr", "zarr du climate.zarr --by codec", "zarr du climate.zarr --depth 0"]),
    (
        "digest",
        [
            "zarr digest climate.zarr",
            "zarr digest climate.zarr sst --parts parts.json",
            "zarr digest climate.zarr sst --compare parts.json",
        ],
    ),
    (
        "diff",
        [
            "zarr diff climate.zarr copy.zarr",
            "zarr diff climate.zarr::/sst copy.zarr::/sst --rtol 1e-6",
            "zarr diff climate.zarr copy.zarr --skip attributes",
        ],
    ),
    ("check", ["zarr check climate.zarr", "zarr check climate.zarr --level keys", "zarr check climate.zarr --repair"]),
    (
        "log",
        [
            "zarr log icechunk:zip:ice.zip",
            "zarr log icechunk:zip:ice.zip@tag.v1 --json",
            "zarr log icechunk:s3://bucket/ice@dev -n 10",
        ],
    ),
    (
        "create",
        [
            "zarr create new.zarr a --shape 1000,1000 --dtype f4 --chunks 100,100",
            "zarr create new.zarr g --group",
            "zarr create new.zarr g/b --shape 24,180 --dtype i2 --dims time,x --codecs zstd",
        ],
    ),
    (
        "write",
        [
            "zarr write climate.zarr sst --value 300 --isel time=0",
            "zarr write climate.zarr sst --from month.npy --select 1",
            "zarr write climate.zarr sst --sel time=2007-01 --value 301 --decode",
        ],
    ),
    (
        "append",
        [
            "zarr append climate.zarr --from copy.zarr --along time",
            "zarr append table.zarr a --from rows.npy",
            "zarr append table.zarr a --from rows.json --along 0",
        ],
    ),
    (
        "resize",
        [
            "zarr resize table.zarr a --shape 24,2",
            "zarr resize table.zarr a --dim 0=30",
            "zarr resize table.zarr a --dim 0=12 --shrink",
        ],
    ),
    (
        "attrs",
        [
            "zarr attrs climate.zarr sst",
            "zarr attrs climate.zarr sst --set long_name=\"sea surface\" --unset cell_methods",
            "zarr attrs climate.zarr sst --dims time,lat,lon",
        ],
    ),
    (
        "rename-dims",
        [
            "zarr rename-dims copy.zarr sst --dim time=month",
            "zarr rename-dims copy.zarr sst --dim lat=y --dim lon=x",
            "zarr rename-dims table.zarr --dim row=time",
        ],
    ),
    (
        "convert",
        [
            "zarr convert climate.zarr v3.zarr --dialect v3",
            "zarr convert climate.zarr part.zarr --sel time=2007 --isel lat=0:9",
            "zarr convert climate.zarr s3://bucket/x.zarr --shards time=12 --resume",
        ],
    ),
    (
        "pyramid",
        [
            "zarr pyramid climate.zarr sst --to levels.zarr",
            "zarr pyramid climate.zarr sst --to max.zarr --factor lat=2,lon=2 --levels 2 --method max --skip-missing",
            "zarr pyramid climate.zarr sst --to max.zarr --factor lat=2,lon=2 --levels 2 --method max --region time=0",
        ],
    ),
    (
        "virtualize",
        [
            "zarr virtualize climate.zarr -o refs.json",
            "zarr virtualize v3.zarr -o sst.json --variables sst --dialect v3",
            "zarr virtualize 2001.nc 2002.nc -o s3://bucket/refs.json --concat time",
        ],
    ),
    (
        "migrate",
        ["zarr migrate copy.zarr --dry-run", "zarr migrate copy.zarr --dialect v3", "zarr migrate copy.zarr --finish"],
    ),
    (
        "remove-metadata",
        [
            "zarr remove-metadata v2 both.zarr --dry-run",
            "zarr remove-metadata v2 both.zarr",
            "zarr remove-metadata v3 s3://bucket/x.zarr --dry-run",
        ],
    ),
    (
        "consolidate",
        [
            "zarr consolidate climate.zarr",
            "zarr consolidate climate.zarr --check",
            "zarr consolidate climate.zarr --drop",
        ],
    ),
    (
        "bench-codecs",
        [
            "zarr bench-codecs climate.zarr sst --time 5",
            "zarr bench-codecs climate.zarr sst --time 5 --codecs \"zstd(1)\"",
            "zarr bench-codecs climate.zarr sst --time 5 --bandwidth 100MiB",
        ],
    ),
    (
        "advise",
        [
            "zarr advise climate.zarr sst --reads time=1 --reads lat=1,lon=1 --time 5",
            "zarr advise climate.zarr --reads time=1 --at 50ms,100MB/s --time 5",
            "zarr advise --shape 8760,721,1440 --dtype f4 --reads 1=1,2=1 --at s3",
        ],
    ),
    (
        "cp",
        [
            "zarr cp climate.zarr backup.zarr",
            "zarr cp climate.zarr::/sst backup.zarr::/again",
            "zarr cp climate.zarr climate.zip",
        ],
    ),
    (
        "mv",
        [
            "zarr mv copy.zarr::/sst copy.zarr::/temperature",
            "zarr mv copy.zarr old.zarr",
            "zarr mv old.zarr s3://bucket/old.zarr",
        ],
    ),
    (
        "rm",
        ["zarr rm copy.zarr anomaly", "zarr rm copy.zarr / --recursive", "zarr rm s3://bucket/x.zarr/old --recursive"],
    ),
    (
        "serve",
        [
            "zarr serve climate.zarr",
            "zarr serve climate.zarr --port 8080 --cors https://example.org",
            "zarr serve s3://bucket/x.zarr --cache 1GiB",
        ],
    ),
    ("completions", ["zarr completions bash", "zarr completions zsh", "zarr completions fish"]),
    ("man", ["zarr man", "zarr man tree", "zarr man --all pages"]),
];

/// Returns the examples of a verb, as the end of its help.
pub(super) fn of(verb: &str) -> Option<String> {
    let (_, lines) = EXAMPLES.iter().find(|(name, _)| *name == verb)?;
    Some(format!("Examples:\n  {}", lines.join("\n  ")))
}
