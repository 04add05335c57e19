//! Stores in buckets, on the web, and zip files in them.

use crate::folder::{Folder, int16, npy};
use zarr_testserver::{Bucket, Fault, FaultKind, Operation, TestServer};

fn options(server: &TestServer) -> [String; 4] {
    let endpoint = format!("endpoint={}", server.url());
    ["--store-option", "anonymous=true", "--store-option", &endpoint].map(str::to_owned)
}

fn all<'a>(args: &[&'a str], options: &'a [String]) -> Vec<&'a str> {
    args.iter().copied().chain(options.iter().map(String::as_str)).collect()
}

#[test]
fn hierarchies_go_to_a_bucket_and_back() {
    let (folder, server) =
        (Folder::new(), TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap());
    let options = options(&server);
    let new = ["--shape", "40,6", "--dtype", "int32", "--chunks", "2,6", "--codecs", "zstd"];
    folder.ok(&[&["create", "x.zarr", "g/a"], &new[..], &["--fill", "7"]].concat());
    zarr::open(folder.path("x.zarr/g/a")).array().unwrap().fill(3..5, 9).unwrap();
    let values = folder.ok(&["read", "x.zarr", "g/a"]);
    folder.ok(&all(&["convert", "x.zarr", "s3://data/y.zarr"], &options));
    assert_eq!(folder.ok(&all(&["read", "s3://data/y.zarr/g/a"], &options)), values);
    server.reset_counts();
    assert!(folder.ok(&all(&["tree", "s3://data/y.zarr"], &options)).contains("(40, 6)"));
    assert_eq!(server.counts().heads, 0);
    server.reset_counts();
    folder.ok(&all(&["read", "s3://data/y.zarr/g/a", "--select", "3, 0"], &options));
    assert_eq!(server.counts().requests(), 3, "the document, the chunk, and the document at the end");
    folder.ok(&all(&["convert", "s3://data/y.zarr", "z.zarr"], &options));
    assert_eq!(folder.ok(&["read", "z.zarr", "g/a"]), values);
    folder.ok(&all(
        &["convert", "s3://data/y.zarr", "s3://data/v2.zarr", "--dialect", "v2", "--chunks", "40,2"],
        &options,
    ));
    assert_eq!(folder.ok(&all(&["read", "s3://data/v2.zarr/g/a"], &options)), values);
    folder.ok(&all(&["rm", "s3://data/y.zarr/g", "--recursive"], &options));
    assert!(server.get("data", "y.zarr/g/a/zarr.json").is_none() && server.get("data", "y.zarr/zarr.json").is_some());

    let ran = folder.run(&all(&["tree", "s3://none/x.zarr"], &options));
    assert!(ran.code != Some(0) && ran.err.contains("there is no bucket \"none\""), "{}", ran.err);
    let ran = folder.run(&all(&["tree", "s3://data/x.zarr"], &options));
    assert!(ran.code == Some(3) && ran.err.contains("s3://data/x.zarr: /: no array and no group here"), "{}", ran.err);
    let ran = folder.run(&["tree", "s3://data/x.zarr", "--store-option", "endpiont=x"]);
    assert!(ran.code == Some(2) && ran.err.contains("found \"endpiont\", expected one of"), "{}", ran.err);
}

#[test]
fn a_prefix_may_have_empty_segments() {
    let (folder, server) =
        (Folder::new(), TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap());
    let options = options(&server);
    let run = |args: &[&str]| folder.ok(&all(args, &options));
    let new = ["--shape", "4", "--dtype", "int16", "--chunks", "2"];
    run(&[&["create", "s3://data/d/x.zarr/a"], &new[..]].concat());
    run(&[&["create", "s3://data/d//x.zarr/g/a"], &new[..]].concat());
    std::fs::write(folder.path("v.json"), "[1, 2, 3, 4]").unwrap();
    run(&["write", "s3://data/d//x.zarr/g/a", "--from", folder.path("v.json").to_str().unwrap()]);
    let values = run(&["read", "s3://data/d//x.zarr/g/a"]);
    assert_eq!(run(&["read", "s3://data/d//x.zarr::/g/a"]), values);
    assert!(run(&["tree", "s3://data/d//x.zarr"]).contains("(4,)"));
    // The same objects over the web.
    server.bucket("data", Bucket::plain());
    assert_eq!(folder.ok(&["read", &format!("{}/data/d//x.zarr/g/a", server.url())]), values);
    server.bucket("data", Bucket::s3().public());
    run(&["cp", "s3://data/d//x.zarr/g/a", "s3://data/e//::/b"]);
    assert_eq!(run(&["read", "s3://data/e//::/b"]), values);
    assert!(server.get("data", "e//b/zarr.json").is_some());
    run(&["mv", "s3://data/d//x.zarr::/g/a", "s3://data/d//x.zarr::/b"]);
    assert_eq!(run(&["read", "s3://data/d//x.zarr/b"]), values);
    run(&["rm", "s3://data/d//x.zarr/b"]);
    let left: Vec<String> = server.keys("data").into_iter().filter(|key| key.starts_with("d/")).collect();
    assert_eq!(left, ["d//x.zarr/g/zarr.json", "d//x.zarr/zarr.json", "d/x.zarr/a/zarr.json", "d/x.zarr/zarr.json"]);
    let ran = folder.run(&all(&["tree", "s3://data//x.zarr"], &options));
    assert!(ran.code == Some(2) && ran.err.contains("names begin with a slash cannot be reached"), "{}", ran.err);
}

#[test]
fn consolidated_hierarchies_in_a_bucket_are_shown_by_few_requests() {
    for (dialect, most) in [("v3", 1), ("v2", 5)] {
        let (folder, server) =
            (Folder::new(), TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap());
        let options = options(&server);
        let new = ["--shape", "4", "--dtype", "int8", "--dialect", dialect];
        for name in 0..20 {
            folder.ok(&[&["create", "x.zarr", &format!("g/a{name}")], &new[..]].concat());
        }
        folder.ok(&["consolidate", "x.zarr"]);
        server.load("data", folder.path("")).unwrap();
        for verb in ["tree", "ls", "info"] {
            let shown = folder.ok(&[verb, "x.zarr"]);
            server.reset_counts();
            let few = folder.ok(&all(&[verb, "s3://data/x.zarr", "--dialect", dialect], &options));
            assert!(server.counts().requests() <= most, "{dialect} {verb}: {:?}", server.log());
            assert_eq!(few.lines().skip(1).collect::<Vec<_>>(), shown.lines().skip(1).collect::<Vec<_>>(), "{verb}");
        }
        folder.ok(&all(&["create", "s3://data/x.zarr", "g/a/later", "--group"], &options));
        folder.ok(&all(&["consolidate", "s3://data/x.zarr"], &options));
        server
            .remove("data", &format!("x.zarr/g/a7/{}", if dialect == "v3" { "zarr.json" } else { ".zarray" }))
            .unwrap();
        // Nodes are looked at where that is asked for.
        let copied = folder.ok(&all(&["tree", "s3://data/x.zarr"], &options));
        let looked = folder.ok(&all(&["tree", "s3://data/x.zarr", "--no-consolidated"], &options));
        assert!(copied.contains("a7 ") && !looked.contains("a7 ") && looked.contains("later"), "{copied}{looked}");
    }
}

#[test]
fn nodes_of_every_dialect_in_a_bucket_are_shown() {
    let (folder, server) =
        (crate::mixed::mixed(), TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap());
    let options = options(&server);
    folder.ok(&["create", "hidden", "new", "--shape", "4", "--dtype", "int16", "--dialect", "v2"]);
    std::fs::copy(folder.path("hidden/new/.zarray"), folder.path("s/new/.zarray")).unwrap();
    server.load("data", folder.path("")).unwrap();
    let run = |verb: &str, more: &[&str]| {
        server.reset_counts();
        let ran = folder.run(&all(&[&[verb, "s3://data/s"], more].concat(), &options));
        assert_eq!(ran.code, Some(0), "{verb} {more:?}: {}", ran.err);
        (String::from_utf8(ran.out).unwrap(), ran.err, server.counts())
    };
    for verb in ["tree", "ls", "info"] {
        let local = folder.run(&[verb, "s"]);
        let (shown, warnings, counts) = run(verb, &[]);
        let rest = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(rest(&shown), rest(std::str::from_utf8(&local.out).unwrap()), "{verb}");
        let hidden = "warning: /new: new/.zarray: ignored, since there is a document of v3 as well\n";
        assert!(local.err.contains(hidden), "{}", local.err);
        // To ask each node of v3 for documents of v2 would take four times the requests.
        assert_eq!(warnings, "", "{verb}");
        // Nothing is asked for twice.
        let (_, warnings, most) = run(verb, &["--no-consolidated"]);
        assert_eq!(warnings, local.err, "{verb}");
        assert!(counts.requests() <= most.requests() && counts.lists == most.lists, "{verb}: {counts:?} {most:?}");
        let (one, warnings, _) = run(verb, &["--dialect", "v3"]);
        assert_eq!(rest(&one), rest(&folder.ok(&[verb, "s", "--dialect", "v3"])), "{verb}");
        assert_eq!(warnings, "", "{verb}");
    }
    let checked = folder.run(&all(&["check", "s3://data/s"], &options));
    assert!(
        String::from_utf8_lossy(&checked.out).contains("new/.zarray"),
        "{:?}",
        String::from_utf8_lossy(&checked.out)
    );
    // A copy has nodes of its dialect.
    folder.ok(&all(&["consolidate", "s3://data/s"], &options));
    assert!(!run("tree", &[]).0.contains("old/") && run("tree", &["--no-consolidated"]).0.contains("old/"));
}

/// Whatever the format, it lies in any store.
// clause: v1-1, v1-3, p2019-24, d2022-4, d2022-32, d2022-172, d2022-173
#[test]
fn arrays_of_every_dialect_lie_in_every_kind_of_store() {
    let builder = TestServer::builder().bucket("data", Bucket::s3().public()).bucket("web", Bucket::plain());
    let (folder, server) = (Folder::new(), builder.start().unwrap());
    let options = options(&server);
    for dialect in ["v0", "v1", "v2", "p2019", "p2020", "d2022", "v3"] {
        let path = if matches!(dialect, "v0" | "v1") { "/" } else { "g/a" };
        let s3 = format!("s3://data/{dialect}");
        let new = ["--shape", "4", "--dtype", "int16", "--chunks", "2", "--dialect", dialect];
        folder.ok(&all(&[&["create", s3.as_str(), path], &new[..]].concat(), &options));
        let write = all(&["write", &s3, path, "--from", "-"], &options);
        let ran = folder.run_with(&write, &npy("<i2", false, "(4,)", &int16(1..5)));
        assert_eq!(ran.code, Some(0), "{dialect}: {}", ran.err);
        for store in [dialect.to_owned(), format!("sqlite:{dialect}.sqlite"), format!("zip:{dialect}.zip")] {
            folder.ok(&all(&["cp", &s3, &store], &options));
            assert_eq!(folder.raw(&store, path), int16(1..5), "{store}");
        }
        for file in folder.files(dialect) {
            server.put("web", &format!("{dialect}/{file}"), std::fs::read(folder.path(dialect).join(&file)).unwrap());
        }
        assert_eq!(folder.raw(&format!("{}/web/{dialect}", server.url()), path), int16(1..5), "{dialect}");
    }
}

#[test]
fn a_bucket_that_refuses_to_list_is_shown_by_consolidated_metadata() {
    let (folder, server) =
        (Folder::new(), TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap());
    let options = options(&server);
    folder.ok(&["create", "x.zarr", "g/a", "--shape", "4", "--dtype", "int8"]);
    folder.ok(&["create", "plain.zarr", "g/a", "--shape", "4", "--dtype", "int8"]);
    folder.ok(&["consolidate", "x.zarr"]);
    server.load("data", folder.path("")).unwrap();
    server.fault(Fault::new(FaultKind::status(403)).on(Operation::List).always());
    for args in [
        &["tree", "s3://data/x.zarr", "--no-consolidated"][..],
        &["ls", "s3://data/x.zarr", "--no-consolidated"],
        &["info", "s3://data/x.zarr", "--no-consolidated"],
    ] {
        let ran = folder.run(&all(args, &options));
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("the store refuses to list: others may be there"), "{args:?}: {}", ran.err);
    }
    assert!(folder.ok(&all(&["tree", "s3://data/x.zarr"], &options)).contains("int8"));
    // Without a copy nothing is known.
    let ran = folder.run(&all(&["tree", "s3://data/plain.zarr"], &options));
    assert!(ran.code == Some(5) && ran.err.contains("403"), "{}", ran.err);
}

#[test]
fn the_web_is_read_by_given_paths_and_consolidated_metadata() {
    let server = TestServer::builder().bucket("data", Bucket::plain()).start().unwrap();
    let folder = Folder::new();
    let new = ["--shape", "4", "--dtype", "int8", "--chunks", "2"];
    folder.ok(&[&["create", "x.zarr", "g/a"], &new[..], &["--fill", "5"]].concat());
    folder.ok(&["consolidate", "x.zarr"]);
    server.load("data", folder.path("")).unwrap();
    let url = format!("{}/data/x.zarr", server.url());
    assert_eq!(folder.ok(&["read", &format!("{url}/g/a")]), folder.ok(&["read", "x.zarr/g/a"]));
    assert!(folder.ok(&["tree", &url]).contains("int8"));
    let ran = folder.run(&["attrs", &url, "--set", "a=1"]);
    assert!(ran.code != Some(0) && ran.err.contains("read-only"), "{}", ran.err);
}

#[test]
fn a_zip_file_in_a_bucket_is_read_by_ranges() {
    let server = TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap();
    let (folder, options) = (Folder::new(), options(&server));
    let new = ["--shape", "200000", "--dtype", "int32", "--chunks", "50000", "--codecs", "bytes"];
    folder.ok(&[&["create", "x.zarr", "g/a"], &new[..]].concat());
    zarr::open(folder.path("x.zarr/g/a")).array().unwrap().fill(.., 3).unwrap();
    let zip = zarr::store::ZipStore::create(folder.path("x.zip")).unwrap();
    let source = zarr::store::open(folder.path("x.zarr").to_str().unwrap()).unwrap();
    for key in zarr::store::StoreExt::list(&source).unwrap() {
        let value = zarr::store::StoreExt::get_all(&source, &key).unwrap().unwrap();
        zarr::store::StoreExt::set(&zip, &key, &value, &zarr::store::SetOptions::default()).unwrap();
    }
    zip.close().unwrap();
    server.put("data", "f/x.zip", std::fs::read(folder.path("x.zip")).unwrap());
    server.reset_counts();
    let read = folder.ok(&all(&["read", "zip:s3://data/f/x.zip::/g/a", "--select", "60000:60003"], &options));
    assert_eq!(read.split_whitespace().collect::<Vec<_>>(), ["3", "3", "3"]);
    let counts = server.counts();
    assert!(counts.bytes_sent < 400_000 && counts.heads == 0, "{counts:?}");
    assert_eq!(folder.ok(&all(&["read", "zip:s3://data/f/x.zip/g/a", "--select", "60000:60003"], &options)), read);
}

#[test]
fn explain_lists_the_requests_that_a_read_makes() {
    let server = TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap();
    let (folder, options) = (Folder::new(), options(&server));
    let new = ["--shape", "64,64", "--dtype", "int32", "--codecs", "zstd"];
    folder.ok(&[&["create", "x.zarr", "g/plain", "--chunks", "8,64", "--dims", "y,x"], &new[..]].concat());
    folder.ok(&[&["create", "x.zarr", "g/sharded", "--chunks", "8,8", "--shards", "32,64", "--dims", "y,x"], &new[..]]
        .concat());
    for path in ["x.zarr/g/plain", "x.zarr/g/sharded"] {
        zarr::open(folder.path(path)).array().unwrap().write(.., &(0..4096).collect::<Vec<i32>>()).unwrap();
    }
    folder.ok(&all(&["convert", "x.zarr", "s3://data/x.zarr"], &options));
    let gets = |args: &[&str]| {
        server.reset_counts();
        let text = folder.ok(&all(args, &options));
        (text, server.counts().requests())
    };
    // Of chunks nothing is fetched for a plan.
    let (_, opening) = gets(&["read", "s3://data/x.zarr/g/plain", "--explain"]);
    for (path, selection, rounds, fetched) in [
        ("plain", "3:30, 5", 1, 0),
        ("sharded", "10, 20", 2, 1),
        ("sharded", "0:64, 3", 2, 2),
        ("plain", "0:0, :", 0, 0),
    ] {
        let address = format!("s3://data/x.zarr/g/{path}");
        let (text, planning) = gets(&["read", &address, "--select", selection, "--explain", "--json"]);
        let plan = zarr::meta::json::parse(text.as_bytes(), Default::default()).unwrap().value;
        let number =
            |name: &str| plan.get(name).and_then(|value| value.as_u64()).unwrap_or_else(|| panic!("{name}: {text}"));
        let (_, reading) = gets(&["read", &address, "--select", selection]);
        // A read that fetches something looks at the document at its end.
        let look = u64::from(number("request_count") > 0);
        assert_eq!(
            (number("request_count") + look, number("rounds")),
            (reading - opening, rounds),
            "{path} {selection}: {text}"
        );
        assert_eq!(planning - opening, fetched, "{path} {selection}");
    }
    let (text, _) = gets(&["read", "s3://data/x.zarr/g/sharded", "--select", "10, 20", "--explain"]);
    assert!(text.contains("requests  2 in 2 rounds\n") && text.contains("  1  g/sharded/c/0/0  the last "), "{text}");
    assert!(text.contains("chunks    1, decoded 256 B\n"), "{text}");
    // Labels are looked up.
    folder.ok(&["create", "x.zarr", "g/y", "--shape", "64", "--dtype", "int32", "--chunks", "64", "--dims", "y"]);
    zarr::open(folder.path("x.zarr/g/y"))
        .array()
        .unwrap()
        .write(.., &(0..64).map(|y| 10 * y).collect::<Vec<i32>>())
        .unwrap();
    let text = folder.ok(&["read", "x.zarr/g/plain", "--explain", "--sel", "y=300..400"]);
    assert!(text.contains("requests  3 in 1 round\n") && text.contains("\n  1  g/plain/c/5/0  all bytes\n"), "{text}");
}

/// A table with labels is read in smaller pieces than elements are, and explained so.
#[test]
fn explain_has_the_pieces_of_the_read() {
    let folder = Folder::new();
    for (name, shape, chunks, dims) in [("v", "4000,1000", "40,1000", "y,x"), ("y", "4000", "4000", "y")] {
        folder.ok(&[
            "create",
            "x.zarr",
            &format!("g/{name}"),
            "--shape",
            shape,
            "--dtype",
            "float64",
            "--chunks",
            chunks,
            "--dims",
            dims,
        ]);
    }
    let explained = |args: &[&str]| folder.ok(&[&["read", "x.zarr/g/v", "--explain"], args].concat());
    let decoded = explained(&["--decode"]);
    assert!(
        decoded.contains("chunks    100, decoded") && decoded.contains("pieces    4, one after another\n"),
        "{decoded}"
    );
    let stored = explained(&[]);
    assert!(stored.contains("chunks    100, decoded") && !stored.contains("pieces"), "{stored}");
    assert!(!explained(&["--sel", "y=0..0"]).contains("pieces"));
}

#[test]
fn credentials_come_from_a_profile() {
    let server = TestServer::builder().credentials("AKILAB", "s3cr3t").bucket("data", Bucket::s3()).start().unwrap();
    server.put("data", "x.zarr/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    let folder = Folder::new();
    let profiles = format!(
        "[default]\naws_access_key_id = none\naws_secret_access_key = none\n[lab]\naws_access_key_id = AKILAB\n\
         aws_secret_access_key = s3cr3t\nendpoint_url = {}\nregion = us-east-1\n",
        server.url()
    );
    std::fs::write(folder.path("credentials"), profiles).unwrap();
    let run = |variables: &[(&str, &str)], options: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_zarr"));
        command.args(["info", "s3://data/x.zarr"]).args(options).env_clear();
        command
            .env("AWS_SHARED_CREDENTIALS_FILE", folder.path("credentials"))
            .env("AWS_CONFIG_FILE", folder.path("none"));
        let ran = command.envs(variables.iter().copied()).output().unwrap();
        (ran.status.code(), String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr))
    };
    for (variables, options) in [
        (&[("AWS_PROFILE", "lab")][..], &[][..]),
        // A profile that is an option goes before the environment; what the environment has, before a profile that it names.
        (
            &[("AWS_ACCESS_KEY_ID", "x"), ("AWS_SECRET_ACCESS_KEY", "y"), ("AWS_SESSION_TOKEN", "z")],
            &["--store-option", "profile=lab"],
        ),
        (
            &[
                ("AWS_ACCESS_KEY_ID", "AKILAB"),
                ("AWS_SECRET_ACCESS_KEY", "s3cr3t"),
                ("AWS_ENDPOINT_URL", &server.url()),
            ],
            &[],
        ),
    ] {
        let (code, text) = run(variables, options);
        assert!(code == Some(0) && text.contains("Group"), "{variables:?} {options:?}: {text}");
    }
    // Keys of the environment need no profile, and options come before the endpoint of one.
    let keys = [("AWS_ACCESS_KEY_ID", "AKILAB"), ("AWS_SECRET_ACCESS_KEY", "s3cr3t"), ("AWS_PROFILE", "nobody")];
    let url = server.url();
    let (code, text) = run(&keys, &["--store-option", &format!("endpoint={url}")]);
    assert!(code == Some(0), "{text}");
    let (code, text) = run(
        &[("AWS_PROFILE", "lab")],
        &["--store-option", "endpoint_url=http://127.0.0.1:1", "--store-option", "retries=0"],
    );
    assert!(code != Some(0), "{text}");
    let (code, text) = run(&[("AWS_PROFILE", "nobody")], &[]);
    assert!(code != Some(0) && text.contains("there is no profile \"nobody\" in "), "{text}");
    assert!(!text.contains("s3cr3t"), "{text}");
}

/// A bucket whose service does not know conditions of puts.
#[test]
fn strict_writers_refuse_changes_that_may_lose_those_of_others() {
    let (folder, server) =
        (Folder::new(), TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap());
    let given = [options(&server).to_vec(), vec!["--store-option".to_owned(), "conditional_put=disabled".to_owned()]];
    let options = given.concat();
    let new = ["--shape", "4", "--dtype", "int8", "--chunks", "2"];
    folder.ok(&all(&[&["create", "s3://data/x.zarr", "g/a"], &new[..]].concat(), &options));
    std::fs::write(folder.path("one.json"), "[7]").unwrap();
    std::fs::write(folder.path("two.json"), "[7, 8]").unwrap();
    let one = ["write", "s3://data/x.zarr/g/a", "--from", "one.json", "--select", "1:2"];
    let append = ["append", "s3://data/x.zarr/g/a", "--from", "one.json"];
    let attribute = ["attrs", "s3://data/x.zarr/g", "--set", "a=1"];
    let (consolidate, convert) =
        (["consolidate", "s3://data/x.zarr"], ["convert", "s3://data/x.zarr", "s3://data/y.zarr"]);
    let copy = ["cp", "s3://data/x.zarr::/g/a", "s3://data/x.zarr::/b"];
    let moved = ["mv", "s3://data/x.zarr::/g/a", "s3://data/x.zarr::/b"];
    for (verb, at) in [
        (&one[..], "x.zarr: /g/a: "),
        (&append, "x.zarr: /g/a: "),
        (&attribute, "x.zarr: /g: "),
        (&consolidate, "x.zarr: /: "),
        (&convert, "y.zarr: /: "),
        (&copy, "x.zarr: /b: "),
        (&moved, "x.zarr: /b: "),
    ] {
        let ran = folder.run(&all(&[verb, &["--strict-writers"]].concat(), &options));
        assert!(ran.code != Some(0) && ran.err.contains("refused by strict writers"), "{verb:?}: {}", ran.err);
        assert!(ran.err.contains(&format!("s3://data/{at}")), "{verb:?}: {}", ran.err);
    }
    let two = ["write", "s3://data/x.zarr/g/a", "--from", "two.json", "--select", "2:4", "--strict-writers"];
    folder.ok(&all(&two, &options));
    assert_eq!(folder.ok(&all(&["read", "s3://data/x.zarr/g/a", "--as", "csv"], &options)).lines().count(), 4);
    folder.ok(&all(&one, &options));
    folder.ok(&all(&attribute, &options));
}

/// Services with the protocol of S3 that have only a part of it.
#[test]
fn services_without_some_requests_are_written() {
    let (folder, server) =
        (Folder::new(), TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap());
    server.bucket("loose", Bucket::s3().public().ignoring_conditions());
    let options = options(&server);
    let several = |logged: &zarr_testserver::Logged| logged.method == "POST" && logged.query.contains("delete");
    server.fault(Fault::new(FaultKind::status(501)).when(several).always());
    let new = ["--shape", "40", "--dtype", "int8", "--chunks", "1", "--fill", "7"];
    folder.ok(&all(&[&["create", "s3://data/x.zarr", "g/a"], &new[..]].concat(), &options));
    folder.ok(&all(&["convert", "s3://data/x.zarr", "s3://data/y.zarr"], &options));
    folder.ok(&all(&["rm", "s3://data/x.zarr/g", "--recursive"], &options));
    let keys = server.keys("data");
    assert!(keys.iter().all(|key| !key.contains(".zconversion")), "{keys:?}");
    assert!(keys.contains(&"y.zarr/g/a/zarr.json".to_owned()) && !keys.contains(&"x.zarr/g/zarr.json".to_owned()));

    let ran = folder.run(&all(&[&["create", "s3://loose/x.zarr", "g/a"], &new[..]].concat(), &options));
    assert!(ran.code == Some(0) && ran.err.contains("ignores the conditions of puts"), "{}", ran.err);
}

/// zarr-python takes 12 requests to create `g/h/i/j/k` in a bucket. Here the first looks whether a migration is at work, and the last, after
/// the first set on a condition, whether the service keeps conditions.
#[test]
fn changes_of_nodes_in_a_bucket_take_few_requests() {
    let server = TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap();
    let folder = Folder::new();
    let options = options(&server);
    let count = |args: &[&str], looks: u64, sets: u64| {
        server.reset_counts();
        folder.ok(&all(args, &options));
        let log = server.log();
        let is_own = |path: &str| path.ends_with("/.zmigration") || path.ends_with(".zarr-tmp");
        let log: Vec<_> = log.iter().filter(|it| !is_own(&it.path)).collect();
        let puts = log.iter().filter(|it| it.operation == Operation::Put).count() as u64;
        let shown: Vec<_> = log.iter().map(|it| format!("{} {} {}", it.method, it.path, it.query)).collect();
        let found = (log.len() as u64 - puts, puts);
        assert!(found.0 <= looks && found.1 == sets, "{args:?}: {found:?}\n{}", shown.join("\n"));
    };
    let new = ["--shape", "4", "--dtype", "int32", "--chunks", "2"];
    let create = |address: &str, path: &str, dialect: &str, looks: u64, sets: u64| {
        count(&[&["create", address, path, "--dialect", dialect], &new[..]].concat(), looks, sets);
    };
    // The documents of the root in v3 and v2, and a listing that shows that nothing else is there.
    create("s3://data/n.zarr", "g/h/i/j/k", "v3", 5, 6);
    create("s3://data/p.zarr", "/", "v3", 5, 1);
    create("s3://data/n2.zarr", "g/h/i/j/k", "v2", 8, 6);
    count(&["create", "s3://data/r.zarr", "/", "--group"], 5, 1);
    // The documents of the root and of the first path that is missing, a listing of that, and of what the first drafts would have.
    create("s3://data/r.zarr", "a", "v3", 4, 1);
    create("s3://data/r.zarr", "g/h/i/j/k", "v3", 4, 5);
    create("s3://data/r.zarr", "g/h/i/j/l", "v3", 8, 1);
    create("s3://data/n2.zarr", "g/h/i/j/l", "v2", 34, 1);
    count(&["attrs", "s3://data/r.zarr", "a", "--set", "x=1"], 3, 1);
    count(&["resize", "s3://data/r.zarr", "a", "--shape", "5"], 4, 1);
    std::fs::write(folder.path("more.json"), "[1]").unwrap();
    count(&["append", "s3://data/r.zarr", "a", "--from", "more.json"], 7, 3);
    // Nodes that are in the way, and those of other dialects, are found.
    for (store, path, says) in [
        ("r.zarr", "a", "there is an array already"),
        ("r.zarr", "a/b", "/a is an array"),
        ("n2.zarr", "g", "there is a group already"),
        ("n2.zarr", "g/h/i/j/k/x", "/g/h/i/j/k is an array"),
    ] {
        let address = format!("s3://data/{store}");
        let ran = folder.run(&all(&[&["create", &address, path], &new[..]].concat(), &options));
        assert!(ran.code != Some(0) && ran.err.contains(says), "{store} {path}: {}", ran.err);
    }
    // Below a group of another dialect the node takes that.
    folder.ok(&all(&[&["create", "s3://data/m.zarr", "/", "--dialect", "v2"][..], &["--group"]].concat(), &options));
    server.put("data", "r.zarr/m/.zgroup", &br#"{"zarr_format": 2}"#[..]);
    folder.ok(&all(&[&["create", "s3://data/r.zarr", "m/x/y"], &new[..]].concat(), &options));
    assert!(server.get("data", "r.zarr/m/x/y/.zarray").is_some() && server.get("data", "r.zarr/m/x/.zgroup").is_some());
    folder.ok(&all(&[&["create", "s3://data/m.zarr", "x"], &new[..]].concat(), &options));
    assert!(server.get("data", "m.zarr/x/.zarray").is_some());
}
