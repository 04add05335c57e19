//! Circles of imports between the files of a crate.
//!
//! Files that import each other can only be read together. A file and the files in the folder of its name are a module and its parts, which
//! may import each other; circles among all other files are faults.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Attribute, ItemMod, ItemUse, UseTree};

/// Folders of sources, each with files that may import each other, since they belong together.
const ALLOWED: [(&str, &[&str]); 9] = [
    ("crates/zarr-codec/src", &["blocks", "codec", "decode", "pipeline"]),
    ("crates/zarr-codec/src", &["pipeline/shared", "table"]),
    ("crates/zarr-codec/src", &["view/axis_windows", "view/windows"]),
    (
        "crates/zarr-dtype/src",
        &["data_type", "element", "element_bytes", "extension", "name", "parse", "print", "structure"],
    ),
    ("crates/zarr-json/src", &["map", "members", "value"]),
    ("crates/zarr-store/src", &["async_store", "call/answer", "store"]),
    ("crates/zarr-store/src", &["error", "key", "prefix", "version"]),
    ("crates/zarr-store/src", &["fetched", "snapshot"]),
    ("crates/zarr-tiff/src", &["form", "jpeg"]),
];

/// Path of a module within its crate; empty for the root.
type Module = Vec<String>;

/// Returns the circles of imports in the crates of the workspace.
pub(super) fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    let mut allowed = ALLOWED.to_vec();
    for folder in ["crates", "benches", "engines", "tests", "xtask"] {
        for sources in source_folders(&root.join(folder))? {
            let name = sources.strip_prefix(root).unwrap_or(&sources).display().to_string();
            for circle in circles(&read(&sources)?) {
                let files: Vec<String> = circle.iter().map(|module| module.join("/")).collect();
                match allowed.iter().position(|allowed| *allowed.0 == name && files == allowed.1) {
                    Some(index) => drop(allowed.swap_remove(index)),
                    None => faults.push(format!("{name}: these files need each other: {}", files.join(", "))),
                }
            }
        }
    }
    let gone = allowed.iter().map(|(name, files)| format!("{name}: no longer need each other: {}", files.join(", ")));
    faults.extend(gone);
    Ok(faults)
}

/// Returns the folders `src` in a folder, and in the folders below it.
fn source_folders(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        if path.is_dir() {
            match path.file_name().and_then(|name| name.to_str()) {
                Some("src") => found.push(path),
                Some("target" | "tests" | "benches") => {}
                _ => found.extend(source_folders(&path)?),
            }
        }
    }
    Ok(found)
}

/// Imports and exports of a source file.
#[derive(Debug, Default)]
struct Source {
    /// Paths from the root of the crate that the file names.
    uses: BTreeSet<Module>,
    /// Names that the file exports from elsewhere, with their paths from the root of the crate.
    exports: BTreeMap<String, Module>,
}

/// Reads the files of a crate, by their modules.
fn read(sources: &Path) -> Result<BTreeMap<Module, Source>, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![(sources.to_owned(), Module::new())];
    while let Some((folder, module)) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
            let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
            let is_root = module.is_empty() && matches!(stem.as_str(), "lib" | "main");
            let of_file =
                if is_root { Module::new() } else { [module.as_slice(), std::slice::from_ref(&stem)].concat() };
            if path.is_dir() {
                if stem != "bin" {
                    folders.push((path, of_file));
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") && stem != "tests" {
                let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                let file = syn::parse_file(&text).map_err(|error| format!("{}: {error}", path.display()))?;
                files.insert(of_file.clone(), Source::new(of_file, &file));
            }
        }
    }
    Ok(files)
}

impl Source {
    fn new(module: Module, file: &syn::File) -> Self {
        let mut reader = Reader { module, found: Self::default() };
        reader.visit_file(file);
        reader.found
    }
}

/// Reader that collects the paths in a file.
struct Reader {
    module: Module,
    found: Source,
}

impl Reader {
    /// Returns the path from the root of the crate; `None` for a path into another crate.
    fn to_root(&self, path: &[String]) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        let mut base = match first.as_str() {
            "crate" => return Some(rest.to_vec()),
            "self" => return Some([self.module.as_slice(), rest].concat()),
            "super" => self.module.clone(),
            _ => return None,
        };
        let ups = path.iter().take_while(|segment| *segment == "super").count();
        base.truncate(base.len().saturating_sub(ups));
        base.extend(path.iter().skip(ups).cloned());
        Some(base)
    }

    fn tree(&mut self, before: &[String], tree: &UseTree, is_export: bool) {
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => self.tree(&with(path.ident.to_string()), &path.tree, is_export),
            UseTree::Group(group) => group.items.iter().for_each(|item| self.tree(before, item, is_export)),
            UseTree::Name(name) => self.used(&with(name.ident.to_string()), &name.ident.to_string(), is_export),
            UseTree::Rename(name) => self.used(&with(name.ident.to_string()), &name.rename.to_string(), is_export),
            UseTree::Glob(_) => self.used(before, "*", is_export),
        }
    }

    fn used(&mut self, path: &[String], name: &str, is_export: bool) {
        // A path that begins with a name is of another crate, or of a module of this file.
        let from_root = self.to_root(path);
        if is_export {
            let below = || [self.module.as_slice(), path].concat();
            self.found.exports.insert(name.to_owned(), from_root.clone().unwrap_or_else(below));
        }
        self.found.uses.extend(from_root);
    }
}

impl<'f> Visit<'f> for Reader {
    fn visit_item_mod(&mut self, item: &'f ItemMod) {
        // Tests may look at everything.
        if !item.attrs.iter().any(is_of_tests) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'f ItemUse) {
        if !item.attrs.iter().any(is_of_tests) {
            self.tree(&[], &item.tree, !matches!(item.vis, syn::Visibility::Inherited));
        }
    }

    fn visit_path(&mut self, path: &'f syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.found.uses.extend(self.to_root(&segments));
        visit::visit_path(self, path);
    }
}

fn is_of_tests(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string().contains("test"))
}

/// Returns the module of the file with the item that a path names.
fn resolve(files: &BTreeMap<Module, Source>, path: &[String]) -> Module {
    let mut path = path.to_vec();
    // Rust has no circular exports, so that the number of steps is limited.
    for _ in 0..16 {
        let len = (0..=path.len()).rev().find(|len| files.contains_key(&path[..*len])).unwrap_or(0);
        let (module, rest) = path.split_at(len);
        let export = rest.first().and_then(|name| files.get(module)?.exports.get(name));
        match export {
            Some(export) if *export != path => path = [export.as_slice(), &rest[1..]].concat(),
            _ => return module.to_vec(),
        }
    }
    path
}

/// Returns groups of files that all need each other, directly or through others.
fn circles(files: &BTreeMap<Module, Source>) -> Vec<Vec<Module>> {
    let mut reached: BTreeMap<&Module, BTreeSet<Module>> = files
        .iter()
        .map(|(module, source)| {
            let needed = source.uses.iter().map(|path| resolve(files, path));
            (module, needed.filter(|other| !module.starts_with(other) && !other.starts_with(module)).collect())
        })
        .collect();
    loop {
        let longer: Vec<(&Module, BTreeSet<Module>)> = reached
            .iter()
            .map(|(module, needed)| {
                (*module, needed.iter().flat_map(|other| reached.get(other).into_iter().flatten()).cloned().collect())
            })
            .collect();
        let mut grew = false;
        for (module, more) in longer {
            if let Some(needed) = reached.get_mut(module) {
                let before = needed.len();
                needed.extend(more);
                grew |= needed.len() > before;
            }
        }
        if !grew {
            break;
        }
    }
    let need_each_other = |a: &Module, b: &Module| {
        reached.get(a).is_some_and(|needed| needed.contains(b))
            && reached.get(b).is_some_and(|needed| needed.contains(a))
    };
    let mut found: Vec<Vec<Module>> = Vec::new();
    for module in files.keys().filter(|module| need_each_other(module, module)) {
        match found.iter_mut().find(|circle| circle.iter().any(|other| need_each_other(module, other))) {
            Some(circle) => circle.push(module.clone()),
            None => found.push(vec![module.clone()]),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_of(files: &[(&str, &str)]) -> Vec<Vec<Module>> {
        let files = files.iter().map(|(name, text)| {
            let module: Module = name.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
            (module.clone(), Source::new(module, &syn::parse_file(text).expect("Rust")))
        });
        circles(&files.collect())
    }

    fn names(names: &[&str]) -> Vec<Module> {
        names.iter().map(|name| name.split('/').map(str::to_owned).collect()).collect()
    }

    #[test]
    fn files_that_need_each_other_are_found() {
        assert_eq!(
            crate_of(&[("a", "use crate::b::B;"), ("b", "fn f() { crate::c::g(); }"), ("c", "")]),
            Vec::<Vec<Module>>::new()
        );
        let circle =
            [("a", "use crate::b::{B, C};"), ("b", "fn f() { super::c::g(); }"), ("c", "use crate::{x::Y, a};")];
        assert_eq!(crate_of(&circle), [names(&["a", "b", "c"])]);
        let deeper = [("a/b", "use super::c::C;"), ("a/c", "use super::b;"), ("a", "mod b; mod c;")];
        assert_eq!(crate_of(&deeper), [names(&["a/b", "a/c"])]);
    }

    #[test]
    fn exports_lead_to_the_file_that_has_the_item() {
        let files =
            [("", "mod a; mod b; pub use a::A; pub(crate) use b::B;"), ("a", "use crate::B;"), ("b", "use super::A;")];
        assert_eq!(crate_of(&files), [names(&["a", "b"])]);
    }

    #[test]
    fn modules_and_their_parts_and_tests_may_need_each_other() {
        assert_eq!(crate_of(&[("a", "mod b; use b::B;"), ("a/b", "use super::A;")]), Vec::<Vec<Module>>::new());
        let tests = [("a", "use crate::b::B;"), ("b", "#[cfg(test)] mod tests { use crate::a::A; }")];
        assert_eq!(crate_of(&tests), Vec::<Vec<Module>>::new());
    }
}
