//! Selections on the command line: by index, by dimension and index, by dimension and label.

use super::{narrow, notes, opened};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::near::{near, question};
use clap::Args;
use zarr::dataset::{Dataset, DimensionSelection, Labels};
use zarr::grid::AxisSelection;
use zarr::{Array, Selection};

/// Heading in the help of the options that choose elements.
pub(crate) const WHICH: &str = "Which elements";

/// Which elements of an array.
#[derive(Debug, Args)]
pub(crate) struct SelectionArgs {
    /// Which elements, as in numpy: "0:10, 5, ::2, ..."; lists of indices in brackets; or with names of dimensions, "time=0, lat=::2".
    #[arg(long, value_name = "SEL", allow_hyphen_values = true, conflicts_with_all = ["sel", "isel"], help_heading = WHICH)]
    select: Option<String>,
    #[command(flatten)]
    by_dimension: ByDimension,
}

/// Selections along dimensions, by their names.
#[derive(Clone, Debug, Args)]
pub(crate) struct ByDimension {
    /// Labels along a dimension: time=2020-01-01..2020-02-01, lat=50~. May be given for several dimensions.
    #[arg(long, value_name = "DIM=LABELS", help_heading = WHICH)]
    sel: Vec<String>,
    /// Indices along a dimension: time=0:10:2. May be given for several dimensions.
    #[arg(long, value_name = "DIM=INDICES", help_heading = WHICH)]
    isel: Vec<String>,
}

impl SelectionArgs {
    /// Whether the arguments choose elements.
    pub(crate) fn is_given(&self) -> bool {
        self.select.is_some() || !self.by_dimension.sel.is_empty() || !self.by_dimension.isel.is_empty()
    }

    /// Returns the selection by index that the arguments give.
    pub(crate) fn by_index(&self, array: &Array) -> Result<Selection> {
        self.by_index_of(array.dimension_names().unwrap_or_default())
    }

    /// Returns the selection by index that the arguments give, for dimensions with these names.
    pub(crate) fn by_index_of(&self, names: &[Option<String>]) -> Result<Selection> {
        match &self.select {
            Some(text) => parse(text, names),
            None => self.by_dimension.by_index(names),
        }
    }

    /// Returns the arguments of `--sel`, which select by label and need a data set.
    pub(crate) fn labels(&self) -> &[String] {
        &self.by_dimension.sel
    }

    /// Returns a hint if `more` are the rest of a selection without quotes, as in `--select 0, 0, 0:5`.
    pub(crate) fn unquoted(&self, more: &[String]) -> Option<String> {
        let first = self.select.as_ref()?;
        let is_index = |letter: char| letter.is_ascii_digit() || ":,-[].".contains(letter);
        let is_rest = more.iter().all(|word| word.chars().all(is_index));
        let all = std::iter::once(first.as_str()).chain(more.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        is_rest.then(|| format!("one argument has the whole selection, in quotes: --select \"{all}\""))
    }

    /// Selects along dimensions of the variables `names` of a data set, or of all if there are no names.
    pub(super) fn of_dataset(&self, context: &Context, dataset: Dataset, names: &[String]) -> Result<Dataset> {
        let Some(text) = &self.select else { return self.by_dimension.of_dataset(context, dataset, names) };
        let [name] = names else {
            let failure = Failure::usage("--select is of one array, and there are several variables");
            return Err(failure.with_hint("--isel selects indices of a dimension, --sel labels: --isel time=0:10"));
        };
        let array = dataset.variable(name)?.stored();
        let dimensions = array.dimension_names().unwrap_or_default().to_vec();
        let selection = parse(text, &dimensions)?;
        // Indices and dimensions beyond the array are reported as for any array.
        selection.resolve_on(array.chunk_grid())?;
        let axes = narrow::axes(&selection, dimensions.len());
        let chosen = dimensions.iter().zip(axes).filter(|(_, axis)| *axis != AxisSelection::All);
        let named = chosen.filter_map(|(name, axis)| Some((name.as_ref()?, axis)));
        named.into_iter().try_fold(dataset, |dataset, (name, axis)| Ok(dataset.isel(name, axis)?))
    }

    /// Returns whether the arguments select nothing, so that all elements are chosen.
    pub(crate) fn is_empty(&self) -> bool {
        self.select.is_none() && self.by_dimension.is_empty()
    }
}

impl ByDimension {
    pub(crate) fn is_empty(&self) -> bool {
        self.sel.is_empty() && self.isel.is_empty()
    }

    /// Converts the arguments to a selection of data sets.
    pub(crate) fn selection(&self) -> Result<DimensionSelection> {
        let mut selection = DimensionSelection::default();
        for text in &self.sel {
            let (name, labels) = split("--sel", text)?;
            selection = selection.sel(name, parse_labels(text, labels)?);
        }
        for text in &self.isel {
            let (name, indices) = split("--isel", text)?;
            selection = selection.isel(name, parse_indices(text, indices)?);
        }
        Ok(selection)
    }

    /// Selects along dimensions of the variables `names` of a data set, or of all if there are no names.
    fn of_dataset(&self, context: &Context, dataset: Dataset, names: &[String]) -> Result<Dataset> {
        let known = opened::dimensions_of(&dataset, names)?;
        let mut done: Vec<&str> = Vec::new();
        let mut selected = dataset;
        let indices = self.isel.iter().map(|text| ("--isel", text));
        for (option, text) in indices.chain(self.sel.iter().map(|text| ("--sel", text))) {
            let (name, chosen) = split(option, text)?;
            if done.contains(&name) {
                return Err(Failure::usage(format!("dimension {name} is selected more than once")));
            }
            if !known.iter().any(|dimension| dimension == name) {
                let owner = match names {
                    [] => "the data set has".to_owned(),
                    [one] => format!("{one} has"),
                    several => format!("{} have", several.join(", ")),
                };
                return Err(lacking(name, &owner, known.iter().map(String::as_str).collect()));
            }
            done.push(name);
            selected = match option {
                "--isel" => {
                    let found = selected.isel(name, parse_indices(text, chosen)?);
                    found.map_err(|error| in_argument(option, text, error.into()))?
                }
                _ => {
                    opened::broken_coordinate(&selected, text)?;
                    let found = with_labels(&selected, name, text, chosen)?;
                    notes::warn(context, &selected, &found, (name, text));
                    found
                }
            };
        }
        Ok(selected)
    }

    /// The failure of a selection, with a hint if an argument selects along several dimensions.
    pub(crate) fn hinted(&self, failure: Failure) -> Failure {
        let several = || self.sel.iter().find_map(|text| of_several("--sel", text));
        match failure.hint.is_none().then(several).flatten() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }

    /// The arguments in a line: `time=2020, lat=30..60`.
    pub(crate) fn text(&self) -> String {
        let all: Vec<&str> = self.sel.iter().chain(&self.isel).map(String::as_str).collect();
        all.join(", ")
    }

    fn by_index(&self, names: &[Option<String>]) -> Result<Selection> {
        let mut axes = Vec::new();
        for text in &self.isel {
            let (name, indices) = split("--isel", text)?;
            if !names.iter().flatten().any(|known| known == name) {
                return Err(no_dimension(name, names));
            }
            axes.push((name, parse_indices(text, indices)?));
        }
        Ok(Selection::by_name(axes, if self.isel.is_empty() { &[] } else { names })?)
    }
}

/// Parses a selection in the syntax of numpy, or with the names of dimensions.
pub(crate) fn parse(text: &str, names: &[Option<String>]) -> Result<Selection> {
    Selection::parse(text, names).map_err(|error| match error {
        zarr::grid::Error::DimensionName { name, found: 0 } => no_dimension(&name, names),
        other => other.into(),
    })
}

/// Returns the error about a dimension that the array lacks.
fn no_dimension(name: &str, names: &[Option<String>]) -> Failure {
    let names: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
    let expected = match names.as_slice() {
        [] => "the array has no names of dimensions".to_owned(),
        names => format!("expected one of {}", names.join(", ")),
    };
    let failure = Failure::usage(format!("found no dimension {name}: {expected}"));
    match near(name, names) {
        Some(near) => failure.with_hint(question(near)),
        None => failure.with_hint("--select selects by position: --select \"0, ::2\""),
    }
}

/// Splits the value of `option` into the dimension and the selection along it.
fn split<'t>(option: &str, text: &'t str) -> Result<(&'t str, &'t str)> {
    let parts = text.split_once('=').map(|(name, rest)| (name.trim(), rest.trim()));
    parts.filter(|(name, rest)| !name.is_empty() && !rest.is_empty()).ok_or_else(|| {
        let example = if option == "--sel" { "time=2020-01" } else { "time=0:10" };
        Failure::usage(format!("{option} {text}: expected a dimension and a selection, as {option} {example}"))
    })
}

fn in_argument(option: &str, text: &str, mut failure: Failure) -> Failure {
    failure.line = format!("{option} {text}: {}", failure.line);
    match of_several(option, text) {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// A hint about an argument that selects along several dimensions: `lat=2,lon=160`.
fn of_several(option: &str, text: &str) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for piece in text.split(',').map(str::trim) {
        match (piece.contains('='), parts.last_mut()) {
            (true, _) => parts.push(piece.to_owned()),
            (false, Some(last)) => last.push_str(&format!(",{piece}")),
            (false, None) => return None,
        }
    }
    let options: Vec<String> = parts.iter().map(|part| format!("{option} {part}")).collect();
    (options.len() > 1).then(|| format!("{option} is given once for each dimension: {}", options.join(" ")))
}

/// Selects the labels of a `--sel` argument; `variable` must have its dimension. Also returns the name of the dimension.
pub(super) fn by_label<'t>(dataset: &Dataset, variable: &str, text: &'t str) -> Result<(&'t str, Dataset)> {
    let (name, labels) = split("--sel", text)?;
    let variable = dataset.variable(variable)?;
    match variable.dimensions().any(|known| known == name) {
        true => Ok((name, with_labels(dataset, name, text, labels)?)),
        false => Err(lacking(name, &format!("{} has", variable.name()), variable.dimensions().collect())),
    }
}

/// Returns the error about a dimension that is none of `known`, which are those that `owner`, a name and a verb, has.
fn lacking(name: &str, owner: &str, known: Vec<&str>) -> Failure {
    let failure = Failure::usage(match known.is_empty() {
        true => format!("found no dimension {name}: {owner} none left"),
        false => format!("found no dimension {name}: {owner} {}", known.join(", ")),
    });
    match near(name, known) {
        Some(near) => failure.with_hint(question(near)),
        None => failure,
    }
}

/// Selects `labels`, a part of the `--sel` argument `text`, of the dimension `name`.
fn with_labels(dataset: &Dataset, name: &str, text: &str, labels: &str) -> Result<Dataset> {
    if !dataset.variables().any(|known| known.name() == name) {
        let failure = Failure::usage(format!("dimension {name} has no coordinate, and so no labels"));
        return Err(failure.with_hint("--isel selects indices of it"));
    }
    let labels = parse_labels(text, labels)?;
    dataset.sel(name, labels).map_err(|error| in_argument("--sel", text, error.into()))
}

/// Parses `indices`, a part of the `--isel` argument `text`.
fn parse_indices(text: &str, indices: &str) -> Result<AxisSelection> {
    indices.parse().map_err(|error: zarr::grid::Error| in_argument("--isel", text, error.into()))
}

/// Parses `labels`, a part of the `--sel` argument `text`.
fn parse_labels(text: &str, labels: &str) -> Result<Labels> {
    labels.parse().map_err(|error: zarr::Error| in_argument("--sel", text, error.into()))
}
