//! `zarr digest`.

use crate::folder::{Folder, int16};
use zarr::meta::json::Value;
use zarr_testserver::{Bucket, TestServer};

/// Two arrays in a group, of version 3.
fn store() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/a", "--shape", "600,700", "--dtype", "int16", "--chunks", "100,700", "--fill", "-9"]);
    folder.ok(&["create", "s", "g/b", "--shape", "2", "--dtype", "float32"]);
    folder.fill("s", "g/a", "<i2", "(600, 700)", &elements());
    folder.fill("s", "g/b", "<f4", "(2,)", &[0, 0, 0xc0, 0x7f, 0, 0, 0, 0x80]);
    folder
}

fn elements() -> Vec<u8> {
    int16((0..420_000).map(|at| (at * 40503_i64 % 65536 - 32768) as i16))
}

fn hash(folder: &Folder, args: &[&str]) -> String {
    let out = folder.ok(&[&["digest"], args].concat());
    out.lines().last().unwrap().split(' ').next().unwrap().to_owned()
}

/// The same data in eight dialects and layouts.
#[test]
fn copies_have_the_same_digest() {
    let folder = store();
    let expected = hash(&folder, &["s", "g/a"]);
    let group = hash(&folder, &["s"]);
    let convert = |name: &str, args: &[&str]| {
        folder.ok(&[&["convert", "s", name][..], args].concat());
        assert_eq!(hash(&folder, &[name, "g/a"]), expected, "{name}");
        assert_eq!(hash(&folder, &[name]), group, "{name}");
    };
    convert("v2", &["--dialect", "v2", "--chunks", "200,300", "--codecs", "blosc(lz4,5,shuffle)"]);
    convert("d2022", &["--dialect", "d2022", "--codecs", "gzip"]);
    convert("p2020", &["--dialect", "p2020"]);
    convert("p2019", &["--dialect", "p2019"]);
    convert("v3", &["--chunks", "64,64", "--codecs", "none"]);
    convert("shards", &["--chunks", "64,64", "--shards", "256,512", "--codecs", "zstd"]);
    let big = r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#;
    convert("big", &["--codecs", big]);
    // Version 1 has no groups.
    let v1 = ["--shape", "600,700", "--dtype", "int16", "--chunks", "100,700", "--fill", "-9", "--dialect", "v1"];
    folder.ok(&[&["create", "v1", "/"], &v1[..]].concat());
    folder.fill("v1", "/", "<i2", "(600, 700)", &elements());
    assert_eq!(hash(&folder, &["v1"]), expected);
    let transposed = ["--node", "/g/a", "--chunks", "600,7", "--codecs", "transpose(1,0),zstd"];
    folder.ok(&[&["convert", "s", "transposed"], &transposed[..]].concat());
    assert_eq!(hash(&folder, &["transposed", "g/a"]), expected);
    for threads in ["1", "2"] {
        assert_eq!(hash(&folder, &["s", "g/a", "--threads", threads, "--memory", "4MiB"]), expected);
    }
    // One bit of one value.
    let mut changed = elements();
    changed[700_001] ^= 4;
    folder.fill("big", "g/a", "<i2", "(600, 700)", &changed);
    assert_ne!(hash(&folder, &["big", "g/a"]), expected);
    assert_ne!(hash(&folder, &["big"]), group);
}

#[test]
fn lines_are_those_of_arrays_and_of_all() {
    let folder = store();
    let out = folder.ok(&["digest", "s"]);
    let paths: Vec<&str> = out.lines().map(|line| line.split_at(66).1).collect();
    assert_eq!(paths, ["/g/a", "/g/b", "/"]);
    let one = folder.ok(&["digest", "s", "g/a"]);
    assert_eq!(one, format!("{}\n", out.lines().next().unwrap()));
    let json = Value::from_json(&folder.ok(&["digest", "s", "g/a", "--json"])).unwrap();
    assert_eq!(json.get("digest").and_then(Value::as_str), Some(&one[..64]));
    assert!(json.get("nodes").unwrap().to_string().find("parts").is_none());
    // An array that is the root has a path, and one line, also where its digest is another one than that of all.
    folder.ok(&["create", "r", "/", "--shape", "2", "--dtype", "int8"]);
    for args in [&["digest", "r"][..], &["digest", "r", "--attributes"]] {
        let out = folder.ok(args);
        let paths: Vec<&str> = out.lines().map(|line| line.split_at(66).1).collect();
        assert_eq!(paths, ["/"], "{args:?}");
    }
}

#[test]
fn options_say_what_counts() {
    let folder = store();
    let (values, all) = (hash(&folder, &["s"]), hash(&folder, &["s", "--attributes"]));
    folder.ok(&["attrs", "s", "g/a", "--set", "units=K"]);
    assert_eq!(hash(&folder, &["s"]), values);
    assert_ne!(hash(&folder, &["s", "--attributes"]), all);
    let ieee = hash(&folder, &["s", "g/b", "--ieee"]);
    folder.fill("s", "g/b", "<f4", "(2,)", &[1, 0, 0xc0, 0xff, 0, 0, 0, 0]);
    assert_eq!(hash(&folder, &["s", "g/b", "--ieee"]), ieee);
    assert_ne!(hash(&folder, &["s"]), values);
}

#[test]
fn copies_are_compared_by_files() {
    let folder = store();
    folder.ok(&["digest", "s", "--parts", "parts.json", "--attributes"]);
    folder.ok(&["convert", "s", "t", "--chunks", "64,64"]);
    assert_eq!(folder.ok(&["digest", "t", "--compare", "parts.json"]), "equal\n");
    let ran = folder.run(&["digest", "t", "--compare", "parts.json", "--ieee"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);

    let mut changed = elements();
    changed[2 * (550 * 700 + 600)] ^= 1;
    folder.fill("t", "g/a", "<i2", "(600, 700)", &changed);
    folder.ok(&["attrs", "t", "g/b", "--set", "a=1"]);
    folder.ok(&["create", "t", "c", "--shape", "1", "--dtype", "int8"]);
    let ran = folder.run(&["digest", "t", "--compare", "parts.json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let expected = "/c  not in the file\n/g/a  elements [512:600, 512:700] differ\n/g/b  attributes differ\n";
    assert_eq!(String::from_utf8(ran.out).unwrap(), expected);
    assert!(ran.err.starts_with("error: ") && ran.err.ends_with("/: differs from parts.json\n"), "{}", ran.err);
    let ran = folder.run(&["digest", "t", "--compare", "parts.json", "--json"]);
    let json = Value::from_json(&String::from_utf8(ran.out).unwrap()).unwrap();
    assert_eq!(json.get("equal"), Some(&Value::from(false)));
    assert!(json.to_string().contains(r#""difference":"elements","regions":[[[512,600],[512,700]]]"#), "{json}");
}

#[test]
fn faults_of_files_and_nodes_are_named() {
    let folder = store();
    let check = |args: &[&str], code: i32, expected: &str| {
        let ran = folder.run(&[&["digest"], args].concat());
        assert_eq!(ran.code, Some(code), "{}", ran.err);
        assert!(ran.err.contains(expected), "{}", ran.err);
    };
    check(&["s", "--compare", "none.json"], 3, "none.json: No such file");
    std::fs::write(folder.path("x.json"), "{\"a\": 1}").unwrap();
    check(&["s", "--compare", "x.json"], 4, "x.json: found no member `zarr_digest`, expected a digest");
    check(&["s", "none"], 3, "/none");
    // A file that cannot be written is found before a chunk is read.
    let chunk = folder.files("s").into_iter().find(|file| file.contains("g/a/c/3")).unwrap();
    let whole = std::fs::read(folder.path("s").join(&chunk)).unwrap();
    std::fs::write(folder.path("s").join(&chunk), "torn").unwrap();
    check(&["s", "--parts", "none/parts.json"], 5, "none/parts.json");
    std::fs::write(folder.path("s").join(&chunk), whole).unwrap();
    let chunk = folder.files("s").into_iter().find(|file| file.contains("g/a/c/3")).unwrap();
    std::fs::write(folder.path("s").join(chunk), "torn").unwrap();
    check(&["s", "g/a"], 4, "chunk [3, 0]");
}

/// Runs a program of the system in a folder, and returns what it prints. Linux has the program; elsewhere it is `None` if there is none.
fn program(folder: &Folder, inside: &str, name: &str, args: &[&str]) -> Option<String> {
    let run = std::process::Command::new(name).args(args).current_dir(folder.path(inside)).output();
    match run {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !cfg!(target_os = "linux") => None,
        run => {
            let run = run.unwrap();
            assert!(run.status.success(), "{name} {args:?}: {}", String::from_utf8_lossy(&run.stderr));
            Some(String::from_utf8(run.stdout).unwrap())
        }
    }
}

#[test]
fn manifests_are_those_of_sha256sum_and_md5sum() {
    let folder = store();
    folder.ok(&["cp", "s", "s.zip"]);
    folder.ok(&["cp", "s", "sqlite:s.sqlite"]);
    for (form, name) in [("sha256sum", "sha256sum"), ("dandi", "md5sum")] {
        let file = format!("{form}.txt");
        let made = folder.ok(&["digest", "s", "--manifest", "--form", form, "-o", &file]);
        assert!(made.starts_with(&format!("{file}: 11 values, ")), "{made}");
        let above = format!("../{file}");
        let checked = program(&folder, "s", name, &["-c", &above]);
        assert!(checked.is_none_or(|lines| lines.lines().count() == 11));
        for copy in ["s", "s.zip", "sqlite:s.sqlite"] {
            assert_eq!(folder.ok(&["digest", copy, "--check", &file]), "equal: 11 values\n");
        }
        // Of a node below the root, the names begin there.
        let of_node = folder.ok(&["digest", "s", "g/a", "--manifest", "--form", form]);
        assert!(of_node.contains("  c/0/0\n") && of_node.contains("  zarr.json\n"), "{of_node}");
        let whole = std::fs::read(folder.path("s/g/a/c/1/0")).unwrap();
        std::fs::write(folder.path("s/g/a/c/1/0"), [&whole[..whole.len() - 1], &[whole[0] ^ 1]].concat()).unwrap();
        std::fs::rename(folder.path("s/g/a/c/2/0"), folder.path("s/g/a/c/9/0")).unwrap_err();
        std::fs::rename(folder.path("s/g/a/c/2/0"), folder.path("s/g/a/c/2/7")).unwrap();
        let ran = folder.run(&["digest", "s", "--check", &file]);
        let out = String::from_utf8(ran.out).unwrap();
        assert_eq!(out, "g/a/c/1/0: differs\ng/a/c/2/0: is missing\ng/a/c/2/7: is not in the manifest\n");
        assert!(ran.code == Some(1) && ran.err.contains("differs from"), "{}", ran.err);
        std::fs::write(folder.path("s/g/a/c/1/0"), whole).unwrap();
        std::fs::rename(folder.path("s/g/a/c/2/7"), folder.path("s/g/a/c/2/0")).unwrap();
    }
    let dandi = folder.ok(&["digest", "s", "--manifest", "--form", "dandi"]);
    let last = dandi.lines().last().unwrap();
    let size: u64 =
        folder.files("s").iter().map(|name| std::fs::metadata(folder.path("s").join(name)).unwrap().len()).sum();
    assert!(last.starts_with("# ") && last.ends_with(&format!("-11--{size}  ./")), "{last}");
    let refused = |args: &[&str], words: &str| {
        let ran = folder.run(&[&["digest", "s"], args].concat());
        assert!(ran.code != Some(0) && ran.err.contains(words), "{args:?}: {}", ran.err);
    };
    std::fs::write(folder.path("none.txt"), "nothing\n").unwrap();
    refused(&["--check", "none.txt"], "none.txt: line 1: found \"nothing\", expected a checksum");
    refused(&["--check", "not.txt"], "not.txt");
    refused(&["--manifest", "--form", "md5"], "expected sha256sum or dandi");
    refused(&["--manifest", "--parts", "x"], "cannot be used with");
    std::fs::write(folder.path("bytes.txt"), b"\xff\xfea\0").unwrap();
    let ran = folder.run(&["digest", "s", "--check", "bytes.txt"]);
    assert!(ran.code == Some(4) && ran.err.contains("bytes.txt: line 1: found"), "{}", ran.err);
    #[cfg(unix)]
    refused(&["--check", "/dev/zero"], "/dev/zero: line 1: found more than 131072 bytes");
    refused(&["nothing", "--manifest"], "nothing");
}

#[test]
fn a_manifest_is_not_written_among_the_values() {
    let folder = store();
    for args in [["s", "/", "s/m.txt"], ["s", "g", "./s/g/a/../m.txt"]] {
        let [store, path, file] = args;
        let ran = folder.run(&["digest", store, path, "--manifest", "-o", file]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains("found a file below the node, expected one elsewhere"), "{}", ran.err);
        assert!(!folder.path(file).exists());
    }
    // Beside the node, the file is no value of it.
    folder.ok(&["digest", "s", "g/a", "--manifest", "-o", "s/g/b.txt"]);
    assert_eq!(folder.ok(&["digest", "s", "g/a", "--check", "s/g/b.txt"]), "equal: 7 values\n");
}

/// The last manifest would be lost together with all data, or be in the next one.
#[test]
fn a_manifest_does_not_replace_the_store() {
    let folder = store();
    folder.ok(&["cp", "s", "s.zip"]);
    folder.ok(&["cp", "s", "sqlite:s.sqlite"]);
    let refused = |store: &str, file: &str, words: &str| {
        let before = std::fs::read(folder.path(file)).unwrap();
        let ran = folder.run(&["digest", store, "--manifest", "-o", file]);
        assert_eq!(ran.code, Some(2), "{store} {file}: {}", ran.err);
        assert!(ran.err.contains(words), "{store} {file}: {}", ran.err);
        assert!(std::fs::read(folder.path(file)).unwrap() == before, "{store} {file}");
    };
    for (store, file) in [("s.zip", "s.zip"), ("zip:s.zip", "s.zip"), ("sqlite:s.sqlite", "s.sqlite")] {
        refused(store, file, "found the file of the store, expected another one");
    }
    #[cfg(unix)]
    {
        std::fs::write(folder.path("s/m.txt"), "old").unwrap();
        for (target, link) in [("s/m.txt", "into"), ("s.zip", "zip")] {
            std::os::unix::fs::symlink(target, folder.path(link)).unwrap();
        }
        refused("s", "into", "found a file below the node");
        refused("s.zip", "zip", "found the file of the store");
        // The file lies elsewhere.
        folder.ok(&["digest", "s", "g", "--manifest", "-o", "into"]);
        assert!(std::fs::read_to_string(folder.path("s/m.txt")).unwrap().contains("  a/c/0/0\n"));
    }
}

#[test]
fn a_manifest_is_read_from_standard_input() {
    let folder = store();
    let manifest = folder.ok(&["digest", "s", "--manifest"]);
    let ran = folder.run_with(&["digest", "s", "--check", "-"], manifest.as_bytes());
    assert_eq!((ran.code, ran.out), (Some(0), b"equal: 11 values\n".to_vec()), "{}", ran.err);
    let ran = folder.run_with(&["digest", "s", "g", "--check", "-"], manifest.as_bytes());
    assert!(ran.code == Some(1) && ran.err.contains("differs from standard input"), "{}", ran.err);
    let ran = folder.run_with(&["digest", "s", "--check", "-"], b"nothing");
    assert!(ran.err.contains("standard input: line 1: found \"nothing\""), "{}", ran.err);
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_are_no_keys_are_told() {
    let folder = store();
    std::fs::write(folder.path("s/\\x"), "").unwrap();
    let ran = folder.run(&["digest", "s", "--manifest"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.err.contains("\\x: the name is no key") && ran.err.contains("left out"), "{}", ran.err);
}

#[test]
#[cfg(unix)]
fn a_directory_that_cannot_be_listed_does_not_end_a_check() {
    let folder = store();
    folder.ok(&["digest", "s", "--manifest", "-o", "m"]);
    std::fs::create_dir_all(folder.path("s/links")).unwrap();
    for number in 0..1100 {
        std::os::unix::fs::symlink("../g", folder.path(&format!("s/links/{number}"))).unwrap();
    }
    let ran = folder.run(&["digest", "s", "--check", "m"]);
    assert_eq!(String::from_utf8(ran.out).unwrap(), "equal: 11 values, other keys cannot be listed\n");
    assert!(ran.code == Some(0) && ran.err.contains("too many linked directories"), "{}", ran.err);
    std::fs::write(folder.path("s/g/a/c/1/0"), "").unwrap();
    let ran = folder.run(&["digest", "s", "--check", "m", "--json"]);
    let json = Value::from_json(&String::from_utf8(ran.out).unwrap()).unwrap();
    assert_eq!((ran.code, json.get("other_keys_listed")), (Some(1), Some(&Value::from(false))));
}

#[test]
fn checks_have_the_hints_and_the_strictness_of_other_verbs() {
    let folder = store();
    folder.ok(&["create", "s", "temperature", "--shape", "1", "--dtype", "int8"]);
    folder.ok(&["digest", "s", "temperature", "--manifest", "-o", "m"]);
    let ran = folder.run(&["digest", "s", "temperatur", "--check", "m"]);
    assert!(ran.code == Some(3) && ran.err.contains("temperature\" meant?"), "{}", ran.err);
    let document = folder.path("s/temperature/zarr.json");
    let text = std::fs::read_to_string(&document).unwrap();
    std::fs::write(&document, text.replacen('{', "{\"unknown\": 1,", 1)).unwrap();
    assert_eq!(folder.run(&["digest", "s", "temperature", "--check", "m"]).code, Some(1));
    let ran = folder.run(&["digest", "s", "temperature", "--check", "m", "--strict"]);
    assert!(ran.code == Some(4) && ran.err.contains("unknown"), "{}", ran.err);
}

#[test]
fn damaged_copies_are_compared_to_the_end() {
    let folder = store();
    folder.ok(&["digest", "s", "--manifest", "-o", "m"]);
    folder.ok(&["cp", "s", "s.zip"]);
    let check = |copy: &str, expected: &[&str]| {
        let ran = folder.run(&["digest", copy, "--check", "m"]);
        let out = String::from_utf8(ran.out).unwrap();
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        assert_eq!(out.lines().count(), expected.len(), "{out}");
        assert!(out.lines().zip(expected).all(|(line, expected)| line.starts_with(expected)), "{out}");
    };
    // A byte of a value in an archive, which has checksums of its own.
    let (value, mut zip) =
        (std::fs::read(folder.path("s/g/a/c/1/0")).unwrap(), std::fs::read(folder.path("s.zip")).unwrap());
    let at = zip.windows(value.len()).position(|window| window == value).unwrap();
    zip[at + value.len() / 2] ^= 1;
    std::fs::write(folder.path("s.zip"), zip).unwrap();
    check("s.zip", &["g/a/c/1/0: cannot be read: "]);
    let ran = folder.run(&["digest", "s.zip", "--check", "m", "--json"]);
    let json = Value::from_json(&String::from_utf8(ran.out).unwrap()).unwrap().to_string();
    assert!(json.contains(r#""kind":"unreadable","cause":""#), "{json}");
    // The document of the root.
    std::fs::write(folder.path("s/zarr.json"), "{").unwrap();
    check("s", &["zarr.json: differs"]);
    std::fs::remove_file(folder.path("s/zarr.json")).unwrap();
    std::fs::write(folder.path("s/g/a/c/1/0"), "").unwrap();
    check("s", &["g/a/c/1/0: differs", "zarr.json: is missing"]);
    let ran = folder.run(&["digest", "s", "h", "--check", "m"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
}

#[test]
fn a_check_says_if_other_keys_cannot_be_listed() {
    let folder = store();
    folder.ok(&["digest", "s", "--manifest", "-o", "m"]);
    let server = TestServer::builder().bucket("data", Bucket::plain()).start().unwrap();
    server.load("data", folder.path("")).unwrap();
    let url = format!("{}/data/s", server.url());
    let check = ["digest", &url, "--check", "m"];
    assert_eq!(folder.ok(&check), "equal: 11 values, other keys cannot be listed\n");
    let json = Value::from_json(&folder.ok(&[&check[..], &["--json"]].concat())).unwrap();
    assert_eq!(json.get("other_keys_listed"), Some(&Value::from(false)));
    let json = Value::from_json(&folder.ok(&["digest", "s", "--check", "m", "--json"])).unwrap();
    assert_eq!(json.get("other_keys_listed"), Some(&Value::from(true)));
}

/// Names that `sha256sum` writes in another way.
#[test]
#[cfg(target_os = "linux")]
fn names_with_special_characters_are_those_of_sha256sum() {
    let folder = store();
    // Before coreutils 9 no carriage return has an escape.
    let version = program(&folder, "s", "sha256sum", &["--version"]).unwrap();
    let major = version.lines().next().and_then(|line| line.rsplit(' ').next()?.split('.').next()?.parse().ok());
    let mut names = vec!["a b", "a\\b", "a\nb", "-", "*x", " y"];
    names.extend(major.filter(|major: &u32| *major >= 9).map(|_| "a\r"));
    for name in &names {
        std::fs::write(folder.path("s").join(name), name).unwrap();
    }
    folder.ok(&["digest", "s", "--manifest", "-o", "m"]);
    program(&folder, "s", "sha256sum", &["-c", "--strict", "../m"]).unwrap();
    let find = "find .// -type f -exec sha256sum {} + > ../theirs";
    program(&folder, "s", "sh", &["-c", find]).unwrap();
    assert_eq!(folder.ok(&["digest", "s", "--check", "theirs"]), format!("equal: {} values\n", 11 + names.len()));
}
