//! Recipes of package managers, filled in from `xtask/packaging`.

use crate::command::{VERSION, root, say};
use crate::pack::{read_sums, write};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// File names of the recipes in a release.
const RECIPES: [&str; 2] = ["zarr-rs.rb", "recipe.yaml"];

/// Action for a recipe whose archives are missing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    LeftOut,
    IsAFault,
}

/// Writes the recipes with the version and the checksums of the archives in a folder.
pub(crate) fn fill(folder: &Path, missing: Missing) -> Result<(), String> {
    let sums = read_sums(folder)?;
    for name in RECIPES {
        let path = root().join("xtask/packaging").join(name);
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        match filled(&text, VERSION, &sums) {
            Ok(text) => write(folder, name, text.as_bytes())?,
            Err(fault) if missing == Missing::LeftOut => say(&format!("{name}: left out: {fault}"))?,
            Err(fault) => return Err(format!("{}: {fault}", path.display())),
        }
    }
    Ok(())
}

/// Returns a recipe with `@VERSION@` replaced by the version, and `@SHA256 file@` by the checksum of the file.
fn filled(recipe: &str, version: &str, sums: &BTreeMap<String, String>) -> Result<String, String> {
    let mut text = recipe.replace("@VERSION@", version);
    while let Some((before, after)) = text.split_once("@SHA256 ") {
        let (file, rest) = after.split_once('@').ok_or("@SHA256: no end of the name")?;
        let sum = sums.get(file).ok_or_else(|| format!("no archive {file}"))?;
        text = format!("{before}{sum}{rest}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_filled() {
        let sums = BTreeMap::from([("a-1.2.0.tar.gz".to_owned(), "00ff".to_owned())]);
        let recipe = "version \"@VERSION@\"\nsha256 \"@SHA256 a-@VERSION@.tar.gz@\"\n";
        assert_eq!(filled(recipe, "1.2.0", &sums).as_deref(), Ok("version \"1.2.0\"\nsha256 \"00ff\"\n"));
        assert_eq!(filled(recipe, "1.3.0", &sums), Err("no archive a-1.3.0.tar.gz".to_owned()));
    }

    #[test]
    fn those_of_the_repository_name_archives_of_a_release() {
        for recipe in RECIPES {
            let path = root().join("xtask/packaging").join(recipe);
            let text = fs::read_to_string(&path).expect("a recipe").replace("@VERSION@", VERSION);
            let names: Vec<&str> = text.split("@SHA256 ").skip(1).filter_map(|text| text.split('@').next()).collect();
            assert!(!names.is_empty() && text.contains(VERSION), "{recipe}");
            let workflow = fs::read_to_string(root().join(".github/workflows/release.yml")).expect("a workflow");
            for name in names {
                let triple =
                    name.strip_prefix(&format!("zarr-{VERSION}-")).and_then(|name| name.strip_suffix(".tar.gz"));
                let triple = triple.expect("the name of an archive");
                assert!(triple == "source" || workflow.contains(&format!("target: {triple}\n")), "{recipe}: {triple}");
            }
        }
    }
}
