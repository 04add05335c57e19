//! `zarr help TOPIC`: prints the pages about subjects of several verbs.

use std::ffi::OsString;
use std::fmt::Write;
use zarr::codec::{CodecEntry, Kind};

/// Page of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Stores,
    Selection,
    Codecs,
    Formats,
    Options,
}

/// Name of each page.
pub(crate) const TOPICS: [(&str, Topic); 5] = [
    ("stores", Topic::Stores),
    ("selection", Topic::Selection),
    ("codecs", Topic::Codecs),
    ("formats", Topic::Formats),
    ("options", Topic::Options),
];

const CODECS: &str = "\
Codecs, by the names that --codecs takes: \"zstd\", \"transpose(1,0),blosc(lz4,5)\",
or JSON as in documents. Arguments stand in their order; what is left out has
the value of the codec's own default. Each format gets the name and the
configuration that others read there.
";

const EXAMPLES: &str = "
`zarr bench-codecs URL PATH` measures which fit an array.

Examples:
  zarr create new.zarr a --shape 1000,1000 --dtype f4 --codecs \"zstd(5)\"
  zarr convert old.zarr new.zarr --dialect v3 --codecs \"shuffle,zstd\"
  zarr bench-codecs climate.zarr sst --time 5
";

/// Returns the page for which a command line such as `zarr help stores` asks; `None` if it asks for none.
pub(crate) fn asked(args: &[OsString]) -> Option<Topic> {
    let [_, help, name] = args else { return None };
    let name = name.to_str().filter(|_| help == "help")?;
    TOPICS.iter().find(|(topic, _)| *topic == name).map(|(_, topic)| *topic)
}

impl Topic {
    /// Returns the text of the page. Lines have at most 80 characters, except lines about options, which are wrapped when they are printed.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Stores => include_str!("topics/stores.txt").to_owned(),
            Self::Selection => include_str!("topics/selection.txt").to_owned(),
            Self::Codecs => codecs(),
            Self::Formats => include_str!("topics/formats.txt").to_owned(),
            Self::Options => super::help::options(),
        }
    }
}

fn codecs() -> String {
    let mut text = CODECS.to_owned();
    let registry = zarr::registry::default();
    let kinds = [
        ("Elements to elements, first", Kind::ArrayToArray),
        ("Elements to bytes, one", Kind::ArrayToBytes),
        ("Bytes to bytes, last", Kind::BytesToBytes),
    ];
    for (title, kind) in kinds {
        let mut named: Vec<String> = registry.codecs.iter().filter(|entry| entry.kind() == kind).map(called).collect();
        named.sort_unstable();
        let _ = write!(text, "\n{title}:\n");
        let mut line = String::new();
        for name in named {
            if !line.is_empty() && line.len() + name.len() + 4 > 80 {
                let _ = writeln!(text, "  {line}");
                line.clear();
            }
            line.push_str(if line.is_empty() { "" } else { ", " });
            line.push_str(&name);
        }
        let _ = writeln!(text, "  {line}");
    }
    text + EXAMPLES
}

/// Returns a codec with the names of its arguments: `zstd(level,checksum)`.
fn called(entry: &CodecEntry) -> String {
    let arguments: Vec<&str> = match entry.list_argument {
        Some(list) => vec![list],
        None => entry.arguments.iter().map(|(name, _)| *name).collect(),
    };
    match arguments.is_empty() {
        true => entry.short_name().to_owned(),
        false => format!("{}({})", entry.short_name(), arguments.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fitted::fitted;
    use zarr::meta::Dialect;
    use zarr::store::StoreOptions;

    #[test]
    fn pages_fit_a_terminal() {
        for (name, topic) in TOPICS {
            let text = fitted(&topic.text());
            let long = text.lines().find(|line| line.chars().count() > 80);
            assert_eq!(long, None, "{name}");
            assert!(text.contains("Examples:\n  zarr "), "{name}");
        }
    }

    /// Checks that the page about stores has all options that the error about an unknown option lists.
    #[test]
    fn all_options_of_stores_are_on_their_page() {
        let text = Topic::Stores.text();
        let words: Vec<&str> = text
            .split(|c: char| !(c.is_ascii_alphanumeric() || "_.".contains(c)))
            .map(|word| word.trim_matches('.'))
            .collect();
        for address in ["s3://b/x.zarr", "gs://b/x.zarr", "az://b/x.zarr", "https://h/x.zarr", "x.zarr", "icechunk:x"] {
            let options = StoreOptions::new().set("zzz", "1");
            let error =
                zarr::store::create_with(address, &options).or_else(|_| zarr::store::open_with(address, &options));
            let error = error.err().map(|error| error.to_string()).unwrap_or_default();
            let (_, known) = error.split_once("expected ").unwrap();
            let known = known.strip_prefix("one of ").unwrap_or(known).replace(" or ", ", ");
            for name in known.split(", ") {
                assert!(words.contains(&name), "{address}: {name} is not in topics/stores.txt");
            }
        }
    }

    #[test]
    fn all_formats_are_on_their_page() {
        let text = Topic::Formats.text();
        for dialect in Dialect::ALL {
            assert!(text.lines().any(|line| line.split_whitespace().next() == Some(dialect.name())), "{dialect:?}");
        }
    }

    #[test]
    fn all_codecs_are_on_their_page() {
        let text = Topic::Codecs.text();
        for entry in zarr::registry::default().codecs.iter() {
            assert!(text.contains(&called(entry)), "{}", entry.name);
        }
    }

    #[test]
    fn pages_are_asked_for_by_help_alone() {
        let args = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(asked(&args("zarr help stores")), Some(Topic::Stores));
        assert_eq!(asked(&args("zarr help tree")), None);
        assert_eq!(asked(&args("zarr tree stores")), None);
    }
}
