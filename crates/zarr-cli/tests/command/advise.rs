//! `zarr advise`, and advice on layouts by `info --explain` and `check --level advice`.

use crate::folder::{Folder, int16};
use zarr::meta::json::Value;

const CLIMATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");

fn number(value: &Value, pointer: &[&str]) -> f64 {
    let found = pointer.iter().fold(value, |value, name| match name.parse::<usize>() {
        Ok(index) => &value.as_array().unwrap()[index],
        Err(_) => value.get(name).unwrap(),
    });
    found.as_f64().unwrap()
}

/// A group with an array of many small chunks in time, whose series are read.
fn steps() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--group"]);
    folder.ok(&[
        "create",
        "s",
        "a",
        "--shape",
        "600,20,30",
        "--dtype",
        "int16",
        "--chunks",
        "1,20,30",
        "--codecs",
        "zstd",
        "--dims",
        "time,y,x",
    ]);
    folder.fill("s", "a", "<i2", "(600, 20, 30)", &int16((0..360_000).map(|at| (at / 30 % 100) as i16)));
    folder
}

#[test]
fn the_command_that_is_advised_makes_the_layout_that_was_counted() {
    let folder = steps();
    let advise = ["advise", "s", "a", "--reads", "y=1,x=1", "--at", "50ms,100MB/s", "--time", "0"];
    let found = Value::from_json(&folder.ok(&[&advise[..], &["--json"]].concat())).unwrap();
    let requests = |at: &[&str]| number(&found, &[at, &["accesses", "0", "requests"]].concat());
    assert_eq!((requests(&["present"]), number(&found, &["present", "objects"])), (600.0, 600.0));
    assert!(requests(&["layouts", "0"]) <= 10.0, "{found}");
    let command =
        found.get("layouts").unwrap().as_array().unwrap()[0].get("command").unwrap().as_str().unwrap().to_owned();
    assert!(command.starts_with("zarr convert s s-advised.zarr --node /a --chunks "), "{command}");
    let words: Vec<String> = command.split(' ').skip(1).map(|word| word.trim_matches('\'').to_owned()).collect();
    folder.ok(&words.iter().map(String::as_str).collect::<Vec<_>>());
    folder.ok(&["diff", "s::/a", "s-advised.zarr::/a"]);
    let again = folder.ok(&[
        "advise",
        "s-advised.zarr",
        "a",
        "--reads",
        "y=1,x=1",
        "--at",
        "50ms,100MB/s",
        "--time",
        "0",
        "--json",
    ]);
    let again = Value::from_json(&again).unwrap();
    assert_eq!(number(&again, &["present", "accesses", "0", "requests"]), requests(&["layouts", "0"]));
    // Nothing is to be made of a layout that is as good.
    let enough =
        folder.ok(&["advise", "s-advised.zarr", "a", "--reads", "y=1,x=1", "--at", "50ms,100MB/s", "--time", "0"]);
    assert!(enough.contains("\nThe layout that is there is as good as A"), "{enough}");
    assert!(!enough.contains("zarr convert s-advised.zarr"), "{enough}");
    let text = folder.ok(&advise);
    let first: Vec<&str> = text.lines().take(4).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(first[2..], ["now", "A"], "{text}");
    assert!(text.contains("\nWith A, y=1,x=1 is ") && text.contains("Prices: S3 Standard"), "{text}");
}

#[test]
fn a_group_with_one_array_has_all_layouts_of_it() {
    let folder = steps();
    let text =
        folder.ok(&["advise", "s", "--reads", "y=1,x=1", "--reads", "time=1", "--at", "50ms,100MB/s", "--time", "0"]);
    assert!(text.starts_with("/a\ntime=600,y=20,x=30: "), "{text}");
    assert!(text.contains("\nA: ") && text.contains(" --node /a --chunks "), "{text}");
    assert!(text.ends_with("All else:\n  zarr convert s s-advised.zarr --exclude /a\n"), "{text}");
    // Requests to files of this machine have no price.
    let prices = ["A MONTH", "Prices: "];
    assert!(prices.iter().all(|word| text.contains(word)), "{text}");
    let local = folder.ok(&["advise", "s", "a", "--reads", "all", "--at", "local", "--time", "0"]);
    assert!(prices.iter().all(|word| !local.contains(word)), "{local}");
}

/// Runs the commands that were advised, and returns them.
fn run_commands(folder: &Folder, text: &str) -> Vec<String> {
    let commands: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("  zarr ")).map(str::to_owned).collect();
    for command in &commands {
        let words: Vec<&str> = command.split(' ').map(|word| word.trim_matches('\'')).collect();
        folder.ok(&words);
    }
    commands
}

#[test]
fn a_data_set_gets_one_layout_by_names() {
    let folder = steps();
    folder.ok(&["create", "s", "b", "--shape", "600,20", "--dtype", "float32", "--chunks", "1,20", "--dims", "time,y"]);
    folder.ok(&["create", "s", "y", "--shape", "20", "--dtype", "float32", "--dims", "y"]);
    // A coordinate that has the dimension of the reads, and variables that few codecs take.
    folder.ok(&["create", "s", "time", "--shape", "600", "--dtype", "float64", "--dims", "time"]);
    folder
        .ok(&["create", "s", "flag", "--shape", "600,20", "--dtype", "bool", "--chunks", "600,20", "--dims", "time,y"]);
    folder.fill("s", "flag", "|b1", "(600, 20)", &[1, 0, 1, 1].repeat(3000));
    folder.ok(&["create", "s", "name", "--shape", "600", "--dtype", "string", "--dims", "time"]);
    // The largest array, whose elements are as they are, so that others are advised for so slow a storage.
    let raw = ["create", "s", "c", "--shape", "600,20,40", "--dtype", "int32", "--chunks", "1,20,40"];
    folder.ok(&[&raw[..], &["--codecs", "none", "--dims", "time,y,x"]].concat());
    let elements: Vec<u8> = (0..480_000_i32).flat_map(|at| (at / 800).to_le_bytes()).collect();
    folder.fill("s", "c", "<i4", "(600, 20, 40)", &elements);
    let advise = ["advise", "s", "--reads", "time=1", "--reads", "time=600", "--time", "0", "--at", "1ms,10kB/s"];
    let text = folder.ok(&[&advise[..], &["--codecs", "pcodec"]].concat());
    for start in ["/c now", "/c advised", "/a now", "/a advised", "/b now", "/b advised", "/flag advised"] {
        assert!(text.lines().any(|line| line.starts_with(start)), "{start}: {text}");
    }
    assert!(text.contains("stay as they are: /name, /time, /y\n"), "{text}");
    let commands = run_commands(&folder, &text);
    assert_eq!(commands[0], "convert s s-advised.zarr --exclude /c --exclude /a --exclude /b --exclude /flag");
    assert!(commands[1].contains("--node /c --chunks ") && commands[1].ends_with("--codecs pcodec"), "{text}");
    assert!(commands[2].contains("--node /a --chunks ") && commands[2].ends_with("--codecs pcodec"), "{text}");
    // It keeps its own.
    assert!(commands[4].contains("--node /flag ") && !commands[4].contains("--codecs"), "{text}");
    folder.ok(&["diff", "s", "s-advised.zarr"]);
    for path in ["time", "y", "name"] {
        folder.ok(&["diff", "--layout", &format!("s::/{path}"), &format!("s-advised.zarr::/{path}")]);
    }
    let json = Value::from_json(&folder.ok(&[&advise[..], &["--json"]].concat())).unwrap();
    assert_eq!(json.get("commands").unwrap().as_array().unwrap().len(), 5);
    let ran = folder.run(&["advise", "s", "--reads", "level=1"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("no array has all dimensions"), "{}", ran.err);
    // A variable that cannot be opened ends nothing.
    let text = std::fs::read_to_string(folder.path("s").join("b/zarr.json")).unwrap();
    std::fs::write(folder.path("s").join("b/zarr.json"), text.replace("\"zstd\"", "\"none_such\"")).unwrap();
    let ran = folder.run(&advise);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.err.contains("/b: left as it is: ")
            && ran.out.starts_with(b"1ms,10kB/s: ")
            && String::from_utf8_lossy(&ran.out).contains("as they are: /b, /name"),
        "{}",
        ran.err
    );
}

#[test]
fn commands_name_the_store_and_the_dialect() {
    let folder = steps();
    for url in [&["s", "a"][..], &["s::/a"], &["s", "/a"]] {
        let advise = ["--reads", "time=1", "--time", "0", "--at", "s3", "--codecs", "zstd(1)", "--dialect", "v2"];
        let text = folder.ok(&[&["advise"], url, &advise].concat());
        let command = text.lines().find_map(|line| line.strip_prefix("  zarr ")).unwrap();
        assert!(command.starts_with("convert s s-advised.zarr --dialect v2 --node /a --chunks "), "{text}");
        let words: Vec<&str> = command.split(' ').map(|word| word.trim_matches('\'')).collect();
        folder.ok(&[&words[..], &["--overwrite"]].concat());
        assert!(folder.ok(&["info", "s-advised.zarr", "a"]).contains("v2"));
    }
}

#[test]
fn arrays_that_are_not_there_are_described() {
    let folder = steps();
    let described = ["advise", "--shape", "8760,721,1440", "--dtype", "f4", "--dims", "time,lat,lon", "--at", "s3"];
    let text = folder.ok(&[&described[..], &["--reads", "time=1", "--reads", "lat=1,lon=1"]].concat());
    assert!(
        text.starts_with(
            "time=8760,lat=721,lon=1440: 33.9 GiB; s3: 50.000 ms a request, 200 MB/s, 512 requests at once\n"
        ),
        "{text}"
    );
    assert!(text.contains("\nA: ") && text.contains("No elements to measure codecs on"), "{text}");
    let sampled = [
        "advise",
        "--shape",
        "100,20,30",
        "--dtype",
        "i2",
        "--reads",
        "0=1",
        "--sample",
        "s::/a",
        "--at",
        "50ms,1MB/s",
        "--time",
        "0",
    ];
    let found = Value::from_json(&folder.ok(&[&sampled[..], &["--json"]].concat())).unwrap();
    assert!(number(&found, &["sample_bytes"]) > 0.0 && number(&found, &["layouts", "0", "ratio"]) > 2.0, "{found}");
    assert!(found.get("present").unwrap().is_null(), "{found}");
}

#[test]
fn the_store_is_measured_and_prices_are_given() {
    let folder = steps();
    let prices =
        r#"{"of": "ours", "date": "2026", "currency": "EUR", "storage_gb_month": 1e9, "get_1000": 1, "put_1000": 2}"#;
    std::fs::write(folder.path("prices.json"), prices).unwrap();
    let advise = ["advise", "s", "a", "--reads", "all", "--time", "0"];
    let text = folder.ok(&[&advise[..], &["--probe", "--prices", "prices.json"]].concat());
    assert!(
        text.contains("; measured: ") && text.contains("Prices: ours, of 2026.") && text.contains(" EUR"),
        "{text}"
    );
    for (more, what) in [
        (&["--at", "s4"][..], "expected local, s3, or as 50ms,100MB/s"),
        (&["--prices", "s/a/zarr.json"], "expected only of, date"),
        (&["--reads", "time"], "expected a dimension and a number"),
        (&["--reads", "z=1"], "found no dimension \"z\", expected one of time, y, x"),
        (&["--codecs", "zstt"], "unknown codec"),
        (&["--shape", "4"], "cannot be used with"),
    ] {
        let ran = folder.run(&[&advise[..], more].concat());
        assert_eq!(ran.code, Some(2), "{more:?}: {}", ran.err);
        assert!(ran.err.contains(what), "{more:?}: {}", ran.err);
    }
    assert_eq!(folder.run(&["advise", "s", "a", "--reads", "all", "--prices", "none.json"]).code, Some(3));
}

#[test]
fn netcdf_files_are_advised_on_as_they_are() {
    let folder = Folder::new();
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/netcdf");
    let file = std::fs::read_dir(files)
        .unwrap()
        .map(|file| file.unwrap().path())
        .find(|path| path.extension().is_some_and(|end| end == "nc"));
    let file = file.unwrap();
    let text = folder.ok(&["advise", file.to_str().unwrap(), "--reads", "all", "--time", "0"]);
    assert!(text.contains(" now ") && text.contains(" advised "), "{text}");
}

#[test]
fn layouts_are_explained() {
    let folder = steps();
    let text = folder.ok(&["info", "s", "a", "--explain"]);
    assert!(text.contains("Advice             : nothing unusual or costly about the layout"), "{text}");
    folder.ok(&["create", "s", "many", "--shape", "1000000", "--dtype", "int16", "--chunks", "4"]);
    let text = folder.ok(&["info", "s", "many", "--explain"]);
    assert!(
        text.contains("Advice             : 250_000 chunks of 8 B") && text.contains("`zarr convert --shards auto`"),
        "{text}"
    );
    let text = folder.ok(&["info", "s", "--explain"]);
    assert!(text.contains("Advice             : /many: 250_000 chunks of 8 B"), "{text}");
    let json = folder.ok(&["info", "s", "--explain", "--json"]);
    let advice = Value::from_json(&json).unwrap().get("advice").unwrap().as_array().unwrap().to_vec();
    assert_eq!(advice[0].get("path").and_then(Value::as_str), Some("/many"));
    let text = folder.ok(&["check", "s", "--level", "advice"]);
    assert!(text.contains("note     /many  250_000 chunks of 8 B [layout-advice]"), "{text}");
    // A note is no finding that makes the exit code.
    folder.ok(&["check", CLIMATE, "--level", "advice"]);
}
