//! Levels: pages of one form, as an array.

use std::sync::Arc;

use crate::fault::{Failure, Refusal};
use crate::form::Form;
use crate::ifd::Reader;
use crate::page::{Data, Page, stored_sizes};

/// Pages of one form, in the order of their axes.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) form: Form,
    /// All planes lie as they are, so that they may be cut anywhere.
    pub(crate) is_flat: bool,
    /// Where the chunks of each page are; `None` for a page that is not in the file.
    pub(crate) planes: Vec<Option<Arc<Data>>>,
}

impl Level {
    /// The level of pages that are alike, of which `first` is one.
    pub(crate) fn of(
        reader: &Reader<'_>,
        first: &Form,
        pages: &[Option<&Page>],
    ) -> Result<Result<Self, Refusal>, Failure> {
        let mut form = None::<(&Form, usize)>;
        for page in pages.iter().copied().flatten() {
            if !matches!(*page.data, Data::Chunks { .. }) {
                continue;
            }
            let (number, (of_chunks, other)) = (page.ifd.page, *form.get_or_insert((&page.form, page.ifd.page)));
            if *of_chunks != page.form {
                let text = format!("pages {other} and {number} have strips of different sizes, which have gaps");
                return Ok(Err(Refusal::new(text)));
            }
        }
        let is_flat = form.is_none() && first.is_of_rows();
        let form = form.map_or(first, |(form, _)| form).clone();
        let mut planes = Vec::with_capacity(pages.len());
        for page in pages {
            planes.push(match page.map(|page| &page.data) {
                None => None,
                Some(data) => match **data {
                    Data::Missing => None,
                    Data::Flat(at) if !is_flat => Some(Arc::new(chunks(reader, &form, at)?)),
                    Data::Flat(_) | Data::Chunks { .. } => Some(Arc::clone(data)),
                },
            });
        }
        Ok(Ok(Self { form, is_flat, planes }))
    }
}

/// The chunks of a page whose planes lie one behind the other.
fn chunks(reader: &Reader<'_>, form: &Form, mut at: u64) -> Result<Data, Failure> {
    let [down, across] = form.grid();
    reader.take_numbers(down.saturating_mul(across).saturating_mul(form.planes()).saturating_mul(2))?;
    let counts: Vec<u64> = stored_sizes(form).collect();
    let mut offsets = Vec::with_capacity(counts.len());
    for count in &counts {
        offsets.push(at);
        at = at.saturating_add(*count);
    }
    Ok(Data::Chunks { offsets, counts, tables: None })
}
