//! Search for a known name that is similar to an unknown one.

/// Returns the name that is nearest to `word`; `None` if no name is near enough to be meant.
///
/// ```
/// assert_eq!(zarr_json::nearest_name("gzpi", ["zstd", "gzip"]), Some("gzip"));
/// assert_eq!(zarr_json::nearest_name("text", ["zstd", "gzip"]), None);
/// ```
pub fn nearest_name<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let word = word.to_lowercase();
    let may_differ = (word.chars().count() / 3).max(1);
    let distances = names.into_iter().map(|name| {
        // Letters are changed about more often than they are left out.
        let longer = name.len().abs_diff(word.len());
        ((strsim::damerau_levenshtein(&word, &name.to_lowercase()), longer), name)
    });
    let near = distances.filter(|((distance, _), _)| *distance <= may_differ).min_by_key(|(distance, _)| *distance);
    near.map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_few_letters_apart() {
        let names = ["float16", "float32", "int8", "string"];
        assert_eq!(nearest_name("flaot32", names), Some("float32"));
        assert_eq!(nearest_name("Float16", names), Some("float16"));
        assert_eq!(nearest_name("in8", names), Some("int8"));
        assert_eq!(nearest_name("int23", ["int2", "int32"]), Some("int32"));
        assert_eq!(nearest_name("text", names), None);
        assert_eq!(nearest_name("", names), None);
    }
}
