//! What a conversion would do, without doing it.

use crate::context::Context;
use crate::failure::{Exit, Failure, Result};
use crate::{escape, number, output, report};
use zarr::meta::json::{Map, Value};
use zarr::{Conversion, Error, How, Planned, StoredSize};

/// Tells of each node what would become of it and what it costs, and of others why they cannot be converted, which is then an
/// error.
pub(crate) fn print(context: &Context, conversion: &Conversion, refused: Vec<Error>) -> Result<()> {
    context.some_warnings(conversion.left_out());
    let stored: Vec<StoredSize> =
        conversion.nodes().iter().map(|node| conversion.stored(node)).collect::<zarr::Result<_>>()?;
    let refused: Vec<Failure> = refused.into_iter().map(Failure::from).collect();
    if context.global.json {
        output::json(&json(conversion, &stored, &refused))?;
    } else {
        output::print(&text(conversion, &stored, &refused))?;
    }
    let count = refused.len();
    let mut refused = refused.into_iter();
    let Some(mut last) = refused.next_back() else { return Ok(()) };
    refused.for_each(|failure| report::print(&failure, context.global.json));
    last.exit = Exit::Usage;
    if count > 1 {
        last.hint = Some(format!("these {count} nodes keep all from being converted"));
    }
    Err(last)
}

fn how(how: How) -> &'static str {
    match how {
        How::Group => "group",
        How::Keep => "chunks stay",
        How::Copy => "chunks copied",
        How::Recode => "decoded and encoded",
    }
}

fn text(conversion: &Conversion, stored: &[StoredSize], refused: &[Failure]) -> String {
    let mut text = String::new();
    let paths = conversion.nodes().iter().map(|node| escape::line(&node.source.path.to_string()).into_owned());
    let paths: Vec<String> = paths.collect();
    let width = paths.iter().map(|path| path.chars().count()).max().unwrap_or(0);
    for ((node, stored), path) in conversion.nodes().iter().zip(stored).zip(&paths) {
        let mut line = format!("{path:<width$}  {}", how(node.how));
        if node.path != node.source.path {
            line.push_str(&format!(" to {}", escape::line(&node.path.to_string())));
        }
        if matches!(node.how, How::Copy | How::Recode) {
            let (chunks, bytes) = (number::grouped(stored.chunks), number::size(stored.bytes));
            line.push_str(&format!(", {chunks} of {bytes}, {} of elements", number::size(node.size)));
        }
        text.push_str(line.trim_end());
        text.push('\n');
        for note in node.notes.iter().map(ToString::to_string).chain(node.warning.clone()) {
            text.push_str(&format!("{:width$}    {}\n", "", escape::line(&note)));
        }
    }
    let total = total(stored);
    let count = |wanted: fn(How) -> bool| conversion.nodes().iter().filter(|node| wanted(node.how)).count() as u64;
    let dialect = conversion.nodes().first().map_or("", |node| node.dialect.name());
    text.push_str(&format!(
        "{} groups and {} arrays to {dialect}; {} chunks of {} to be read; {} cannot be converted; nothing was written\n",
        number::grouped(count(|how| how == How::Group)),
        number::grouped(count(|how| how != How::Group)),
        number::grouped(total.chunks),
        number::size(total.bytes),
        number::grouped(refused.len() as u64),
    ));
    text
}

fn total(stored: &[StoredSize]) -> StoredSize {
    stored.iter().fold(StoredSize::default(), |sum, one| StoredSize {
        chunks: sum.chunks + one.chunks,
        bytes: sum.bytes.saturating_add(one.bytes),
    })
}

fn json(conversion: &Conversion, stored: &[StoredSize], refused: &[Failure]) -> Value {
    let node = |(node, stored): (&Planned, &StoredSize)| {
        let mut object = super::convert::facts(node);
        object.insert("stored_chunks", stored.chunks);
        object.insert("stored_bytes", stored.bytes);
        Value::Object(object)
    };
    let refusal = |failure: &Failure| Value::Object(failure.to_json());
    let total = total(stored);
    let mut map = Map::new();
    map.insert("nodes", conversion.nodes().iter().zip(stored).map(node).collect::<Vec<_>>());
    map.insert("refused", refused.iter().map(refusal).collect::<Vec<_>>());
    map.insert("bytes", conversion.size());
    map.insert("stored_chunks", total.chunks);
    map.insert("stored_bytes", total.bytes);
    Value::Object(map)
}
