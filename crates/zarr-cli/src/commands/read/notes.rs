//! Warnings about labels that select nothing, or something far from what was asked for.

use crate::context::Context;
use crate::report;
use zarr::dataset::{Dataset, Labels, Variable};
use zarr::grid::AxisSelection;

/// Warns of the argument `text` by which `dataset` became `selected` along the dimension `name`, if it finds nothing or something far away.
pub(super) fn warn(context: &Context, dataset: &Dataset, selected: &Dataset, (name, text): (&str, &str)) {
    if context.global.quiet {
        return;
    }
    if let Some((warning, hint)) = of_labels(dataset, selected, (name, text)) {
        report::warning(&warning);
        hint.iter().for_each(|hint| report::hint(hint));
    }
}

/// The warning about the argument `text`, by which `dataset` became `selected`: it selects nothing along the dimension `name`, or the
/// nearest label is far away. With a hint, if one helps.
fn of_labels(dataset: &Dataset, selected: &Dataset, (name, text): (&str, &str)) -> Option<(String, Option<String>)> {
    let labels = text.split_once('=').map(|(_, labels)| labels.trim())?;
    match labels.strip_suffix('~') {
        Some(asked) => Some((far(dataset, selected, (name, text), asked.trim())?, None)),
        None => {
            let size = |dataset: &Dataset| size_of(dataset, name);
            (size(selected) == Some(0) && size(dataset) != Some(0)).then(|| {
                let ends = Ends::of(dataset, name);
                let goes = ends.map(|ends| format!(": {ends}")).unwrap_or_default();
                let turned = labels.split_once("..").map(|(first, last)| format!("{}..{}", last.trim(), first.trim()));
                let finds = |labels: &String| {
                    let found = labels.parse::<Labels>().ok().and_then(|labels| dataset.sel(name, labels).ok());
                    found.and_then(|found| size(&found)).is_some_and(|size| size > 0)
                };
                let hint = turned.filter(finds).map(|turned| format!("--sel {name}={turned} follows the coordinate"));
                (format!("--sel {text} selects nothing{goes}"), hint)
            })
        }
    }
}

fn size_of(dataset: &Dataset, name: &str) -> Option<u64> {
    dataset.dimensions().iter().find(|dimension| dimension.name == name).map(|dimension| dimension.size)
}

/// The warning that the label nearest to `asked` is another one, farther away than the coordinate is spaced.
fn far(dataset: &Dataset, selected: &Dataset, (name, text): (&str, &str), asked: &str) -> Option<String> {
    let taken = first_text(selected.variable(name).ok()?)?;
    let away = match (asked.parse::<f64>(), taken.parse::<f64>()) {
        (Ok(asked), Ok(taken)) => {
            let distance = (asked - taken).abs();
            let ends = Ends::of(dataset, name).filter(|_| distance > 0.0)?;
            (distance > ends.spacing?).then(|| format!(", {distance} away: {ends}"))?
        }
        _ => {
            // Outside of the coordinate no label lies on one side.
            let label: Labels = asked.parse().ok()?;
            let is_outside = [Labels::pad(label.clone()), Labels::backfill(label)]
                .into_iter()
                .any(|labels| dataset.sel(name, labels).is_err());
            is_outside.then(|| Ends::of(dataset, name).map(|ends| format!(": {ends}")))??
        }
    };
    Some(format!("--sel {text}: the nearest label is {taken}{away}"))
}

/// The first and the last label of a coordinate.
struct Ends {
    name: String,
    first: String,
    last: String,
    /// The greater one of the distances between the two labels at either end, if labels are numbers.
    spacing: Option<f64>,
}

impl Ends {
    fn of(dataset: &Dataset, name: &str) -> Option<Self> {
        let size = i64::try_from(size_of(dataset, name)?).ok()?;
        let at = |index: i64| {
            let there = dataset.isel(name, AxisSelection::Index(index.clamp(0, size - 1))).ok()?;
            first_text(there.variable(name).ok()?)
        };
        let (first, last) = (at(0)?, at(size - 1)?);
        let between = |a: &str, b: &str| Some((a.parse::<f64>().ok()? - b.parse::<f64>().ok()?).abs());
        let begins = at(1).and_then(|next| between(&first, &next));
        let ends = at(size - 2).and_then(|before| between(&last, &before));
        let spacing = begins.zip(ends).map(|(begins, ends)| begins.max(ends));
        Some(Self { name: name.to_owned(), first, last, spacing })
    }
}

impl std::fmt::Display for Ends {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} goes from {} to {}", self.name, self.first, self.last)
    }
}

/// The first value of a coordinate as text.
fn first_text(variable: &Variable) -> Option<String> {
    let values = variable.read().ok().filter(|values| !values.is_empty())?;
    Some(crate::format::without_fraction(&values.text(0)).to_owned())
}
