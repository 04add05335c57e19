//! Listings of directories, as file servers have them.

use crate::encoding::encode;
use crate::reply::{Refusal, Reply};
use crate::request::Request;
use crate::time::nginx;
use crate::values::{Object, Objects};
use crate::xml::Xml;
use http::StatusCode;
use std::fmt::Write;
use std::ops::Bound;
use std::time::SystemTime;

/// Entry of a directory.
enum Entry<'a> {
    Directory(&'a str),
    File(&'a str, &'a Object),
}

/// Returns whether any key starts with `directory`, which is empty or ends with `/`. The root is always a directory.
pub(super) fn is_directory(objects: &Objects, directory: &str) -> bool {
    directory.is_empty() || below(objects, directory).next().is_some()
}

fn below<'a>(objects: &'a Objects, directory: &'a str) -> impl Iterator<Item = (&'a String, &'a Object)> {
    objects
        .range::<str, _>((Bound::Included(directory), Bound::Unbounded))
        .take_while(move |(key, _)| key.starts_with(directory))
}

/// Returns the entries directly in `directory`: directories first, like nginx.
fn entries<'a>(objects: &'a Objects, directory: &'a str) -> Vec<Entry<'a>> {
    let (mut directories, mut files) = (Vec::new(), Vec::new());
    for (key, object) in below(objects, directory) {
        match key.get(directory.len()..).unwrap_or_default().split_once('/') {
            Some((name, _)) => {
                // Keys with a common prefix are neighbours.
                if directories.last() != Some(&name) {
                    directories.push(name);
                }
            }
            None => files.push(Entry::File(key.get(directory.len()..).unwrap_or_default(), object)),
        }
    }
    directories.into_iter().map(Entry::Directory).chain(files).collect()
}

/// Returns a listing as the JSON of nginx.
pub(super) fn json(objects: &Objects, directory: &str) -> Reply {
    let lines: Vec<_> = entries(objects, directory)
        .iter()
        .map(|entry| match entry {
            Entry::Directory(name) => format!(
                "{{ \"name\":{}, \"type\":\"directory\", \"mtime\":\"{}\" }}",
                quoted(name),
                httpdate::fmt_http_date(SystemTime::now())
            ),
            Entry::File(name, object) => format!(
                "{{ \"name\":{}, \"type\":\"file\", \"mtime\":\"{}\", \"size\":{} }}",
                quoted(name),
                httpdate::fmt_http_date(object.modified),
                object.value.len()
            ),
        })
        .collect();
    Reply::with_body(StatusCode::OK, "application/json", format!("[\n{}\n]", lines.join(",\n")))
}

/// Returns a JSON string with its quotes.
fn quoted(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control < ' ' => {
                // Writing to a string does not fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted + "\""
}

/// Returns a listing as the HTML page of nginx, which cuts the text of links after 50 characters.
pub(super) fn html(objects: &Objects, request: &Request) -> Reply {
    let title = escaped(&format!("Index of /{}/{}", request.bucket, request.key));
    let mut page = format!(
        "<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<h1>{title}</h1><hr><pre><a href=\"../\">../</a>\r\n"
    );
    for entry in entries(objects, &request.key) {
        let (name, slash, time, size) = match entry {
            Entry::Directory(name) => (name, "/", SystemTime::now(), "-".to_owned()),
            Entry::File(name, object) => (name, "", object.modified, object.value.len().to_string()),
        };
        let text = if name.chars().count() > 50 {
            name.chars().take(47).chain("..>".chars()).collect()
        } else {
            format!("{name}{slash}")
        };
        // Writing to a string does not fail.
        let _ = write!(
            page,
            "<a href=\"{}{slash}\">{}</a> {} {size:>20}\r\n",
            encode(name, ""),
            escaped(&text),
            nginx(time)
        );
    }
    page.push_str("</pre><hr></body>\r\n</html>\r\n");
    Reply::with_body(StatusCode::OK, "text/html", page)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Answers `PROPFIND`, with `Depth` 0, 1 or infinity.
pub(super) fn webdav(objects: &Objects, request: &Request) -> Result<Reply, Refusal> {
    let key = request.key.trim_end_matches('/');
    let directory = if key.is_empty() { String::new() } else { format!("{key}/") };
    let mut xml = Xml::new();
    let mut found = true;
    xml.inside("D:multistatus", " xmlns:D=\"DAV:\"", |xml| {
        if let Some(object) = objects.get(key).filter(|_| !request.key.ends_with('/')) {
            property(xml, request, key, Some(object));
            return;
        }
        found = is_directory(objects, &directory);
        property(xml, request, &directory, None);
        match request.header("depth").unwrap_or("infinity").trim() {
            "0" => (),
            "1" => {
                for entry in entries(objects, &directory) {
                    match entry {
                        Entry::Directory(name) => property(xml, request, &format!("{directory}{name}/"), None),
                        Entry::File(name, object) => {
                            property(xml, request, &format!("{directory}{name}"), Some(object));
                        }
                    }
                }
            }
            _ => below_all(xml, request, objects, &directory),
        }
    });
    if !found {
        return Err(Refusal::new(404, "NotFound", "Not Found"));
    }
    let reply = Reply::xml(xml);
    Ok(Reply { status: StatusCode::MULTI_STATUS, ..reply })
}

/// Writes the entries of all files below `directory`, and of the directories between.
fn below_all(xml: &mut Xml, request: &Request, objects: &Objects, directory: &str) {
    let mut last = directory.to_owned();
    for (key, object) in below(objects, directory) {
        for (index, _) in key.match_indices('/').filter(|(index, _)| *index >= directory.len()) {
            let parent = key.get(..=index).unwrap_or_default();
            if !last.starts_with(parent) {
                property(xml, request, parent, None);
            }
        }
        last.clone_from(key);
        property(xml, request, key, Some(object));
    }
}

fn property(xml: &mut Xml, request: &Request, key: &str, object: Option<&Object>) {
    xml.inside("D:response", "", |xml| {
        xml.text("D:href", &encode(&format!("/{}/{key}", request.bucket), "/"));
        xml.inside("D:propstat", "", |xml| {
            xml.inside("D:prop", "", |xml| {
                xml.text(
                    "D:getlastmodified",
                    &httpdate::fmt_http_date(object.map_or(SystemTime::now(), |object| object.modified)),
                );
                match object {
                    Some(object) => {
                        xml.inside("D:resourcetype", "", |_| ());
                        xml.text("D:getcontentlength", &object.value.len().to_string());
                        xml.text("D:getetag", &object.etag);
                    }
                    None => xml.inside("D:resourcetype", "", |xml| xml.inside("D:collection", "", |_| ())),
                }
            });
            xml.text("D:status", "HTTP/1.1 200 OK");
        });
    });
}
