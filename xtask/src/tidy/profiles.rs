//! Whether the profiles of the workspace name the packages that they must, since Cargo applies each line of a profile by itself.

use std::collections::BTreeMap;
use std::path::Path;

/// Levels of optimisation of the packages in one profile, as they are written.
type Levels = BTreeMap<String, String>;

/// Returns the faults of the profiles in the manifest of the workspace.
pub(super) fn check(root: &Path) -> Result<Vec<String>, String> {
    let path = root.join("Cargo.toml");
    let manifest = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let folder = root.join("crates");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let crates = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    Ok(faults(&manifest, crates.filter(|name| name.starts_with("zarr-codec")).collect()))
}

/// Returns the faults of the levels of codecs, which are loops over data and must be optimised in each profile. The profile `dist` must
/// also name what `release` optimises less, since it inherits from `release`.
fn faults(manifest: &str, codecs: Vec<String>) -> Vec<String> {
    let [release, dist, dev] = ["release", "dist", "dev"].map(|profile| levels(manifest, profile));
    let mut faults = Vec::new();
    for codec in codecs {
        // These pass data on, and have no loop of their own.
        if ["zarr-codec-conditional", "zarr-codec-view"].contains(&codec.as_str()) {
            continue;
        }
        if release.get(&codec).is_none_or(|level| level != "3") {
            faults.push(format!("Cargo.toml: [profile.release.package] has no `{codec} = {{ opt-level = 3 }}`"));
        }
        if !dev.contains_key(&codec) {
            faults.push(format!("Cargo.toml: [profile.dev.package] has no `{codec} = {{ opt-level = 1 }}`"));
        }
    }
    for (package, level) in release {
        if level != "3" && dist.get(&package).is_none_or(|level| level != "3") {
            faults.push(format!("Cargo.toml: [profile.dist.package] has no `{package} = {{ opt-level = 3 }}`"));
        }
    }
    faults
}

fn levels(manifest: &str, profile: &str) -> Levels {
    let heading = format!("[profile.{profile}.package]");
    let lines = manifest.lines().skip_while(|line| *line != heading).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let level = |line: &str| {
        let (package, settings) = line.split_once(" = {")?;
        let level = settings.split_once("opt-level = ")?.1;
        let level = level.split([',', ' ', '}']).next()?.trim_matches('"');
        Some((package.trim_matches('"').to_owned(), level.to_owned()))
    };
    lines.filter_map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_without_a_line_are_named() {
        let manifest = "\
[profile.dev.package]
zarr-codec-a = { opt-level = 1 }

[profile.release.package]
zarr-codec-a = { opt-level = 3 }
zarr-codec-b = { opt-level = 1 }
reqwest = { opt-level = \"z\" }
zarr-cli = { opt-level = \"z\", strip = true }

[profile.dist.package]
reqwest = { opt-level = 3 }
zarr-cli = { opt-level = 3, strip = true }
";
        assert_eq!(levels(manifest, "release").get("zarr-cli").map(String::as_str), Some("z"));
        let faults = faults(manifest, vec!["zarr-codec-a".to_owned(), "zarr-codec-b".to_owned()]);
        let names = [
            "release.package] has no `zarr-codec-b",
            "dev.package] has no `zarr-codec-b",
            "dist.package] has no `zarr-codec-b",
        ];
        assert_eq!(faults.len(), names.len(), "{faults:?}");
        for (fault, name) in faults.iter().zip(names) {
            assert!(fault.contains(name), "{fault}");
        }
    }
}
