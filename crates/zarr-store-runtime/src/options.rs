//! Options of a store as strings.

use std::time::Duration;

use zarr_store::{Error, Result};

/// Options of a store as strings, which are taken one by one. Options that are left at the end are unknown.
///
/// ```
/// use zarr_store_runtime::StoreOptions;
///
/// let given = [("timeout".to_owned(), "2.5".to_owned()), ("colour".to_owned(), "red".to_owned())];
/// let mut options = StoreOptions::new("s3://bucket", &given);
/// assert_eq!(options.duration("timeout")?, Some(std::time::Duration::from_millis(2500)));
/// let error = options.finish(&["timeout"]).expect_err("one is left");
/// assert!(error.to_string().contains("found \"colour\""));
/// # Ok::<(), zarr_store::Error>(())
/// ```
#[derive(Debug)]
pub struct StoreOptions<'o> {
    store: &'o str,
    left: Vec<(&'o str, &'o str)>,
}

impl<'o> StoreOptions<'o> {
    /// Creates options from names and values. `store` is the address of the store for messages, without secrets.
    #[must_use]
    pub fn new(store: &'o str, given: &'o [(String, String)]) -> Self {
        Self { store, left: given.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect() }
    }

    /// Takes the value of `name`, the last one if it is repeated; `None` if it is not given.
    pub fn text(&mut self, name: &str) -> Option<&'o str> {
        let mut found = None;
        self.left.retain(|(left, value)| {
            let same = *left == name;
            if same {
                found = Some(*value);
            }
            !same
        });
        found
    }

    /// Takes the value of `name`, which must be `true` or `false`; `None` if it is not given.
    ///
    /// # Errors
    /// For any other value.
    pub fn flag(&mut self, name: &str) -> Result<Option<bool>> {
        self.parsed(name, "true or false", |text| match text {
            "true" | "1" | "yes" => Some(true),
            "false" | "0" | "no" => Some(false),
            _ => None,
        })
    }

    /// Takes the value of `name`, which must be a number from `least` to `most`; `None` if it is not given.
    ///
    /// # Errors
    /// For any other value.
    pub fn number(&mut self, name: &str, least: u64, most: u64) -> Result<Option<u64>> {
        self.parsed(name, &format!("a number from {least} to {most}"), |text| {
            text.parse().ok().filter(|number| (least..=most).contains(number))
        })
    }

    /// Takes the value of `name`, which must be a time in seconds (`30`, `2.5`, `30s`) or milliseconds (`500ms`); `None` if it is not
    /// given.
    ///
    /// # Errors
    /// For any other value.
    pub fn duration(&mut self, name: &str) -> Result<Option<Duration>> {
        self.parsed(name, "seconds such as 30 or 2.5, or milliseconds such as 500ms", |text| {
            let (number, unit) = match text.strip_suffix("ms") {
                Some(number) => (number, 1000.0),
                None => (text.strip_suffix('s').unwrap_or(text), 1.0),
            };
            let seconds = number.trim().parse::<f64>().ok()? / unit;
            // A day: no request takes longer.
            (0.001..=86_400.0).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
        })
    }

    /// Takes all options whose names begin with `prefix`, and returns them with the rest of their names.
    pub fn beginning(&mut self, prefix: &str) -> Vec<(&'o str, &'o str)> {
        let (found, left) = self.left.iter().partition(|(name, _)| name.starts_with(prefix));
        self.left = left;
        let found: Vec<(&str, &str)> = found;
        found.into_iter().map(|(name, value)| (&name[prefix.len()..], value)).collect()
    }

    /// Returns the options that were not taken.
    #[must_use]
    pub fn left(&self) -> &[(&'o str, &'o str)] {
        &self.left
    }

    /// Checks that all options were taken.
    ///
    /// # Errors
    /// If an option is left. The message names the first one, and the `known` options.
    pub fn finish(&self, known: &[&str]) -> Result<()> {
        match self.left.first() {
            None => Ok(()),
            Some((name, _)) => Err(self.unknown(name, known)),
        }
    }

    /// Returns the error for an unknown option.
    #[must_use]
    pub fn unknown(&self, name: &str, known: &[&str]) -> Error {
        let mut known = known.to_vec();
        known.sort_unstable();
        self.refuse(format!("options: found {name:?}, expected one of {}", known.join(", ")))
    }

    /// Returns an error about the options. `text` must contain no secret.
    #[must_use]
    pub fn refuse(&self, text: String) -> Error {
        Error::Argument { store: self.store.to_string(), message: text }
    }

    fn parsed<T>(&mut self, name: &str, expected: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let value =
            parse(text).ok_or_else(|| self.refuse(format!("option {name}: found {text:?}, expected {expected}")))?;
        Ok(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_store::ErrorKind;

    #[test]
    fn values() {
        let given =
            [("a", "1"), ("a", "no"), ("n", "7"), ("t", "500ms"), ("header.X", "x"), ("bad", "maybe"), ("t2", "-1")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut options = StoreOptions::new("http://host", &given);
        assert_eq!(options.flag("a").expect("a flag"), Some(false));
        assert_eq!(options.flag("a").expect("taken"), None);
        assert_eq!(options.number("n", 1, 7).expect("a number"), Some(7));
        assert_eq!(options.duration("t").expect("a time"), Some(Duration::from_millis(500)));
        assert_eq!(options.beginning("header."), [("X", "x")]);
        let error = options.flag("bad").expect_err("no flag");
        let text = "http://host: option bad: found \"maybe\", expected true or false";
        assert_eq!((error.to_string().as_str(), error.kind()), (text, ErrorKind::Argument));
        assert!(options.duration("t2").is_err());
        options.finish(&[]).expect("none is left");
        let given = [("n".to_owned(), "8".to_owned())];
        assert!(StoreOptions::new("s", &given).number("n", 1, 7).is_err());
    }
}
