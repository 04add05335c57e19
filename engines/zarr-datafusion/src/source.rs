//! Data sets of tables, and how another process opens them again.

use crate::fault::fault;
use datafusion::error::Result;
use std::fmt;
use zarr::arrow::{Batches, TableOptions};
use zarr::dataset::Dataset;

/// Greatest number of labels of a dimension that are kept in memory. Filters of longer dimensions are applied to rows.
pub(crate) const MOST_LABELS: u64 = 1 << 24;

/// Address of a data set, with the options of its store.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) url: String,
    pub(crate) options: Vec<(String, String)>,
}

impl fmt::Debug for Address {
    /// Prints the names of options, whose values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.options.iter().map(|(name, _)| name).collect();
        f.debug_struct("Address").field("url", &self.shown()).field("options", &names).finish()
    }
}

impl Address {
    /// Returns the address without what may be a secret: the name and the password before a host, and what follows a `?`.
    pub(crate) fn shown(&self) -> String {
        let Some((scheme, rest)) = self.url.split_once("://") else { return self.url.clone() };
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let host = authority.rsplit('@').next().unwrap_or_default();
        format!("{scheme}://{host}{}", path.split('?').next().unwrap_or_default())
    }

    pub(crate) fn open(&self) -> Result<Dataset> {
        let open = zarr::open(self.url.as_str());
        let open = self.options.iter().fold(open, |open, (name, value)| open.store_option(name, value));
        open.dataset().map_err(fault)
    }
}

/// Data set with the options of its table.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) dataset: Dataset,
    /// `None` for a data set that the caller has opened.
    pub(crate) address: Option<Address>,
    pub(crate) options: TableOptions,
    /// Names and lengths of the dimensions, outermost first.
    pub(crate) dimensions: Vec<(String, u64)>,
}

impl Source {
    /// Returns the number of a dimension; `None` for the name of another column.
    pub(crate) fn dimension(&self, column: &str) -> Option<usize> {
        self.dimensions.iter().position(|(name, _)| name == column)
    }

    /// Iterates over the columns whose values follow from the index of one dimension, with the number of that dimension, if their labels
    /// are few enough to be kept.
    pub(crate) fn along(&self) -> impl Iterator<Item = (String, usize)> {
        let labels = self.dimensions.iter().map(|(name, _)| (name.clone(), name.as_str()));
        let coordinates = self.dataset.coordinates().filter_map(|variable| {
            let mut dimensions = variable.dimensions();
            let (Some(dimension), None) = (dimensions.next(), dimensions.next()) else { return None };
            (self.dimension(variable.name()).is_none()).then(|| (variable.name().to_owned(), dimension))
        });
        let short = |(column, dimension): (String, &str)| {
            let number = self.dimension(dimension)?;
            self.dimensions.get(number).filter(|(_, len)| *len <= MOST_LABELS).map(|_| (column, number))
        };
        labels.chain(coordinates).filter_map(short)
    }

    /// Whether the column of a dimension has its indices, since there are no labels.
    pub(crate) fn is_index(&self, dimension: &str) -> bool {
        let labels =
            |variable: &zarr::dataset::Variable| variable.name() == dimension && variable.dimensions().eq([dimension]);
        !self.dataset.coordinates().any(labels)
    }

    /// Makes the batches of some columns of the table of `dataset`, which is a part of this data set.
    pub(crate) fn batches(&self, dataset: &Dataset, columns: &[String], options: TableOptions) -> Result<Batches> {
        let dimensions = self.dimensions.iter().map(|(name, _)| name.as_str());
        Batches::new(dataset, &options.dimensions(dimensions).columns(columns)).map_err(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let options = vec![("secret_access_key".to_owned(), "SECRET".to_owned())];
        for (url, shown) in [
            ("https://me:SECRET@example.org/a.zarr?token=SECRET", "https://example.org/a.zarr"),
            ("https://example.org?SECRET", "https://example.org"),
            ("s3://bucket/a.zarr", "s3://bucket/a.zarr"),
            ("/data/a.zarr", "/data/a.zarr"),
        ] {
            let address = Address { url: url.to_owned(), options: options.clone() };
            let text = format!("{address:?}");
            assert_eq!(address.shown(), shown);
            assert!(!text.contains("SECRET") && text.contains("secret_access_key"), "{text}");
        }
    }
}
