//! Lists of the keys of a virtual store and the sizes of its values, from its documents and tables of chunks.

use std::ops::Bound;

use zarr_store::{Error, GetOptions, Key, Listing, Prefix, Result, SizeVisitor, StoreExt};

use crate::contents::{ArrayChunks, Contents};
use crate::found::Table;
use crate::key_form::Level;
use crate::source::Source;
use crate::{Chunk, FoundChunk, VirtualFault};

impl Contents {
    pub(crate) fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        let documents = Listing::directly_under(prefix, |from| {
            self.documents.range::<str, _>((from, Bound::Unbounded)).next().map(|(key, _)| key)
        });
        let (mut keys, mut prefixes) = (documents.keys, documents.prefixes);
        for (at, array) in self.arrays_above(prefix) {
            array.list_dir(at, &prefix.as_str()[at.len()..], &mut keys, &mut prefixes)?;
        }
        let mut from = prefix.as_str().to_owned();
        loop {
            let next = self.arrays_below(&from, prefix).next();
            let Some((at, array)) = next else { break };
            // Name of the folder under `prefix` that contains the array.
            let below = &at[prefix.as_str().len()..];
            let name = below.find('/').map_or(below, |end| &below[..=end]);
            from = at.clone();
            if array.table.next(0)?.is_some() {
                let folder = Prefix::new(&format!("{prefix}{name}"))?;
                // Further arrays in this folder add nothing: the search goes on behind all prefixes that begin with the folder.
                folder.as_str().trim_end_matches('/').clone_into(&mut from);
                from.push('0');
                prefixes.push(folder);
            }
        }
        Ok(Listing::new(keys, prefixes))
    }

    pub(crate) fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        let mut keys = Vec::new();
        self.each(prefix, |key, _| {
            keys.push(key);
            Ok(())
        })?;
        keys.sort_unstable();
        Ok(keys)
    }

    pub(crate) fn visit_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) -> Result<()> {
        self.each(prefix, |key, found| {
            let size = match found {
                Found::Document(size) => size,
                Found::Chunk(array, index) => self.size(&key, array, index)?,
            };
            visit(key, size);
            Ok(())
        })
    }

    /// Calls `give` with each key under `prefix`, in no order.
    fn each<'a>(&'a self, prefix: &Prefix, mut give: impl FnMut(Key, Found<'a>) -> Result<()>) -> Result<()> {
        let documents = self.documents.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
        for (key, document) in documents.take_while(|(key, _)| prefix.contains(key)) {
            give(key.clone(), Found::Document(document.bytes.len() as u64))?;
        }
        let below = self.arrays_below(prefix.as_str(), prefix);
        for (at, array) in self.arrays_above(prefix).chain(below) {
            let folder = prefix.as_str().strip_prefix(at.as_str()).unwrap_or_default();
            let Some(subtree) = array.form.subtree(folder, &array.counts) else { continue };
            for index in array.table.present(subtree.chunks) {
                let index = index?;
                let key = array.key(at, index)?;
                // A document at the key of a chunk was given above, and is read in place of the chunk.
                if !self.documents.contains_key(&key) {
                    give(key, Found::Chunk(array, index))?;
                }
            }
        }
        Ok(())
    }

    /// Returns the arrays whose prefix is `prefix` or a parent of it.
    fn arrays_above(&self, prefix: &Prefix) -> impl Iterator<Item = (&String, &ArrayChunks)> {
        let text = prefix.as_str();
        let ends = std::iter::once(0).chain(text.match_indices('/').map(|(at, _)| at + 1));
        ends.filter_map(|end| self.arrays.get_key_value(&text[..end]))
    }

    /// Returns the arrays whose prefix is inside `prefix` and behind `from` in the order of strings.
    fn arrays_below<'a, 'p>(
        &'a self,
        from: &str,
        prefix: &'p Prefix,
    ) -> impl Iterator<Item = (&'a String, &'a ArrayChunks)> + use<'a, 'p> {
        let arrays = self.arrays.range::<str, _>((Bound::Excluded(from), Bound::Unbounded));
        arrays.take_while(|(at, _)| at.starts_with(prefix.as_str()))
    }

    fn size(&self, key: &Key, array: &ArrayChunks, index: u64) -> Result<u64> {
        let table = match &array.table {
            Table::Held(table) => table,
            Table::Found(found) => {
                return match found.find(key, index)? {
                    FoundChunk::Missing => Ok(0),
                    FoundChunk::Inline(bytes) => Ok(bytes.len() as u64),
                    FoundChunk::File { range: Some(range), .. } => Ok(range.end.saturating_sub(range.start)),
                    FoundChunk::File { store, file, range: None } => {
                        self.file_size(key, &Source::new(store, file, None))
                    }
                };
            }
        };
        match table.get(index) {
            Chunk::Missing => Ok(0),
            Chunk::Inline(bytes) => Ok(bytes.len() as u64),
            Chunk::Range { length, .. } => Ok(length),
            Chunk::Made(number) => table.maker().map_or(Ok(0), |maker| maker.size(number)),
            Chunk::Whole { source } => {
                self.sources.get(source.0 as usize).map_or(Ok(0), |source| self.file_size(key, source))
            }
        }
    }

    /// Returns the size of a file that is one chunk as a whole. `key` is the key of the chunk.
    fn file_size(&self, key: &Key, source: &Source) -> Result<u64> {
        let options = source.state.as_ref().map_or_else(GetOptions::default, |state| state.options.clone());
        let Some(fetched) = StoreExt::get(&source.store, &source.key, &[], &options)? else {
            let fault = VirtualFault::NoFile { key: key.clone(), file: source.to_string() };
            return Err(fault.of(self.name.clone()));
        };
        fetched.size.ok_or_else(|| Error::contract(source, &source.key, "no size", "the size of the value"))
    }
}

/// Value that a list has found.
enum Found<'a> {
    /// Document, and its size in bytes.
    Document(u64),
    Chunk(&'a ArrayChunks, u64),
}

impl ArrayChunks {
    pub(crate) fn key(&self, at: &str, index: u64) -> Result<Key> {
        let mut key = at.to_owned();
        self.form.write(index, &self.counts, &mut key);
        Key::new(&key)
    }

    /// Adds the keys and prefixes directly under `folder` of the array whose prefix is `at`.
    fn list_dir(&self, at: &str, folder: &str, keys: &mut Vec<Key>, prefixes: &mut Vec<Prefix>) -> Result<()> {
        let Some(subtree) = self.form.subtree(folder, &self.counts) else { return Ok(()) };
        let mut from = subtree.chunks.start;
        let next = |from| Ok(self.table.next(from)?.filter(|found| *found < subtree.chunks.end));
        match subtree.level {
            Level::Chunks => {
                for index in self.table.present(subtree.chunks.clone()) {
                    keys.push(self.key(at, index?)?);
                }
            }
            Level::Head => {
                if next(from)?.is_some() {
                    prefixes.push(Prefix::new(&format!("{at}c/"))?);
                }
            }
            Level::Folders(span) => {
                while let Some(found) = next(from)? {
                    let number = (found - subtree.chunks.start).checked_div(span).unwrap_or(0);
                    prefixes.push(Prefix::new(&format!("{at}{folder}{number}/"))?);
                    from = subtree.chunks.start + (number + 1) * span;
                }
            }
        }
        Ok(())
    }
}
