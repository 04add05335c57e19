//! Series: pages that are one array, and the smaller pictures of them.

use std::collections::HashMap;

use crate::description::{About, Axis};
use crate::fault::{Failure, Refusal};
use crate::form::Form;
use crate::ifd::{MAX_PAGES, Reader};
use crate::level::Level;
use crate::page::{MAX_LEVELS, Page};
use crate::warnings::Warnings;
use crate::{imagej, ome_xml, shaped, tags};

/// Maximum number of series of a file.
const MAX_SERIES: usize = 65_536;
/// Number of groups of pages, the last ones, that a page of reduced resolution may belong to.
const NEAR_GROUPS: usize = 64;

/// An array and its levels.
#[derive(Debug)]
pub(crate) struct Series {
    /// Axes of the pages, the slowest first.
    pub(crate) axes: Vec<Axis>,
    /// The array, and smaller ones, each smaller than the last.
    pub(crate) levels: Vec<Level>,
    pub(crate) about: About,
    /// The page that has the tags of the series.
    pub(crate) page: Page,
    /// Whether the tags of GeoTIFF of that page are those of all pages.
    pub(crate) has_one_place: bool,
}

/// The pages of a file, by their numbers.
pub(crate) type Pages = [Result<Page, Refusal>];

/// Finds series.
pub(crate) struct Finder<'r> {
    pub(crate) reader: &'r Reader<'r>,
    pub(crate) pages: &'r Pages,
    pub(crate) warnings: Warnings,
    /// The name that the file has in its folder.
    name: &'r str,
    /// The pages that are in a series.
    used: Vec<bool>,
    /// Pages without directories that may still be kept.
    followers_left: u64,
}

impl<'r> Finder<'r> {
    pub(crate) fn new(reader: &'r Reader<'r>, pages: &'r Pages, name: &'r str, warnings: Warnings) -> Self {
        Self { reader, pages, warnings, name, used: vec![false; pages.len()], followers_left: MAX_PAGES as u64 }
    }

    /// The series of the pages, as the description of the first one says or else by their forms.
    pub(crate) fn find(&mut self) -> Result<Vec<Series>, Failure> {
        let description = self.page(0).and_then(|page| page.description.clone());
        let text = description.as_deref().unwrap_or_default();
        let mut found = Vec::new();
        if ome_xml::is_ome(text) {
            match ome_xml::parse(text, self.name) {
                Ok(images) => {
                    let series = self.of_ome(images)?;
                    if !series.is_empty() {
                        let left = self.used.iter().filter(|is_used| !**is_used).count();
                        if left > 0 {
                            self.warnings.push(format!("{left} pages that are in no image of OME-XML are left out"));
                        }
                        return Ok(series);
                    }
                }
                Err(reason) => self.warnings.push(format!("OME-XML is left out: {reason}")),
            }
        } else if imagej::is_imagej(text) {
            found.extend(self.of_imagej(text)?.map(|series| (0, series)));
        }
        self.by_forms(text, found)
    }

    /// The page of a number, if the file has it.
    fn page(&self, number: usize) -> Option<&'r Page> {
        self.pages.get(number)?.as_ref().ok()
    }

    fn of_ome(&mut self, images: Vec<ome_xml::Image>) -> Result<Vec<Series>, Failure> {
        let mut found = Vec::new();
        for (number, image) in images.into_iter().enumerate() {
            let label = image.about.name.clone().unwrap_or_else(|| number.to_string());
            if image.has_others {
                self.warnings.push(format!("image {label:?}: planes in other files are left out"));
            }
            let pages: Vec<Option<usize>> =
                image.pages.iter().map(|page| page.and_then(|page| usize::try_from(page).ok())).collect();
            let Some(first) = pages.iter().flatten().next().copied() else {
                self.warnings.push(format!("image {label:?} is left out: none of its planes are in this file"));
                continue;
            };
            if let Some(missing) = pages.iter().flatten().find(|page| **page >= self.pages.len()) {
                let count = self.pages.len();
                self.warnings.push(format!("image {label:?} is left out: found no page {missing} among {count}"));
                continue;
            }
            match self.series(image.axes, &pages, first, image.about)? {
                Ok(series) => found.push(series),
                Err(refusal) => self.warnings.push(format!("image {label:?} is left out: {refusal}")),
            }
        }
        Ok(found)
    }

    fn of_imagej(&mut self, text: &str) -> Result<Option<Series>, Failure> {
        let Some(first) = self.page(0).cloned() else { return Ok(None) };
        let mut resolution = [None; 2];
        for (found, tag) in resolution.iter_mut().zip([tags::X_RESOLUTION, tags::Y_RESOLUTION]) {
            let numbers = self.warnings.part(self.reader.floats(&first.ifd, tag, 1))?;
            *found = numbers
                .and_then(|numbers| numbers.first().copied())
                .filter(|pixels| pixels.is_finite() && *pixels > 0.0);
        }
        let imagej::Stack { axes, about } = imagej::parse(text, resolution, first.form.samples, self.pages.len());
        let count = axes.iter().try_fold(1_u64, |count, axis| count.checked_mul(axis.len)).unwrap_or(u64::MAX);
        // Large stacks have one directory, before all planes. More may follow for other pictures.
        let is_truncated = self.pages.len() == 1
            || (first.has_followers() && usize::try_from(count).map_or(true, |count| count > self.pages.len()));
        self.stack(&first, 0, axes, about, count, is_truncated)
    }

    /// A series of pages that follow each other, which may have no directories but the first.
    fn stack(
        &mut self,
        first: &Page,
        from: usize,
        axes: Vec<Axis>,
        about: About,
        count: u64,
        is_truncated: bool,
    ) -> Result<Option<Series>, Failure> {
        if is_truncated && count > 1 {
            let found = first.following(self.reader.source.size());
            if found < count {
                self.warnings
                    .push(format!("page {from}: the description has {count} pages, the file has room for {found}"));
                return Ok(None);
            }
            let Some(left) = self.followers_left.checked_sub(count) else {
                self.warnings.push(format!(
                    "page {from}: the description has {count} pages, the limit of such pages is {MAX_PAGES}"
                ));
                return Ok(None);
            };
            self.followers_left = left;
            let planes = (0..count).map(|number| first.follower(number).map(Some)).collect::<Result<_, _>>()?;
            let level = Level { form: first.form.clone(), is_flat: true, planes };
            self.mark(&[Some(from)]);
            let series = Series { axes, levels: vec![level], about, page: first.clone(), has_one_place: true };
            return Ok(Some(series.in_order()));
        }
        let has_all = usize::try_from(count).is_ok_and(|count| count <= self.pages.len() - from);
        if !has_all {
            let left = self.pages.len() - from;
            self.warnings
                .push(format!("page {from}: the description has {count} pages, the file has {left} from here on"));
            return Ok(None);
        }
        let pages: Vec<Option<usize>> = (from..).map(Some).take(count as usize).collect();
        Ok(match self.series(axes, &pages, from, about)? {
            Ok(series) => Some(series),
            Err(refusal) => {
                self.warnings.push(format!("page {from}: the description is left out: {refusal}"));
                None
            }
        })
    }

    /// Keeps in mind that pages are in a series.
    fn mark(&mut self, pages: &[Option<usize>]) {
        for page in pages.iter().flatten() {
            if let Some(is_used) = self.used.get_mut(*page) {
                *is_used = true;
            }
        }
    }

    /// The series of these pages, of which the first has the form of all.
    fn series(
        &mut self,
        axes: Vec<Axis>,
        pages: &[Option<usize>],
        first: usize,
        about: About,
    ) -> Result<Result<Series, Refusal>, Failure> {
        let page = match self.pages.get(first) {
            Some(Ok(page)) => page.clone(),
            Some(Err(refusal)) => return Ok(Err(refusal.clone())),
            None => return Ok(Err(Refusal::new(format!("there is no page {first}")))),
        };
        let mut of_array = Vec::with_capacity(pages.len());
        for number in pages {
            of_array.push(match number {
                None => None,
                Some(number) => match self.pages.get(*number) {
                    Some(Ok(found)) if found.is_like(&page) => Some(found),
                    Some(Ok(_)) => {
                        return Ok(Err(Refusal::new(format!("pages {first} and {number} have different forms"))));
                    }
                    Some(Err(refusal)) => return Ok(Err(Refusal::new(format!("page {number}: {refusal}")))),
                    None => return Ok(Err(Refusal::new(format!("there is no page {number}")))),
                },
            });
        }
        let mut levels = match Level::of(self.reader, &page.form, &of_array)? {
            Ok(level) => vec![level],
            Err(refusal) => return Ok(Err(refusal)),
        };
        self.mark(pages);
        self.add_levels_below(&mut levels, &of_array, &page)?;
        let has_one_place = self.check_places(&of_array);
        Ok(Ok(Series { axes, levels, about, page, has_one_place }.in_order().finest_first(&mut self.warnings)))
    }

    /// Whether all pages with a place on Earth have the same one. Warns if they do not.
    fn check_places(&mut self, pages: &[Option<&Page>]) -> bool {
        let mut placed = pages.iter().flatten().filter(|page| page.place.is_some());
        let Some(first) = placed.next() else { return true };
        let Some(other) = placed.find(|page| page.place != first.place) else { return true };
        let (first, other) = (first.ifd.page, other.ifd.page);
        self.warnings
            .push(format!("pages {first} and {other} of an array have different places on Earth, which are left out"));
        false
    }

    /// Adds the levels in the directories below the pages.
    fn add_levels_below(
        &mut self,
        levels: &mut Vec<Level>,
        pages: &[Option<&Page>],
        first: &Page,
    ) -> Result<(), Failure> {
        'levels: for number in 0..first.below.len().min(MAX_LEVELS) {
            let mut found = Vec::with_capacity(pages.len());
            for page in pages {
                let Some(page) = page else {
                    found.push(None);
                    continue;
                };
                let at = page.ifd.page;
                let Some(offset) = page.below.get(number) else {
                    self.warnings
                        .push(format!("page {at}: it has fewer levels than others of its series, which are left out"));
                    return Ok(());
                };
                let below = match Page::read_at(self.reader, *offset, at)? {
                    Ok(below) => below,
                    Err(refusal) => {
                        self.warnings.push(format!("page {at}: level {} is left out: {refusal}", number + 1));
                        continue 'levels;
                    }
                };
                let is_like = found.iter().flatten().next().is_none_or(|found: &Page| found.is_like(&below));
                if !is_like || !below.form.is_reduced_from(&first.form) {
                    self.warnings.push(format!(
                        "page {at}: what is below it is no level of it, or pages differ, and is left out"
                    ));
                    continue 'levels;
                }
                found.push(Some(below));
            }
            let found: Vec<Option<&Page>> = found.iter().map(Option::as_ref).collect();
            let Some(first) = found.iter().flatten().next() else { continue };
            match Level::of(self.reader, &first.form, &found)? {
                Ok(level) => levels.push(level),
                Err(refusal) => self.warnings.push(format!("level {} is left out: {refusal}", number + 1)),
            }
        }
        Ok(())
    }

    /// The series of pages of equal forms and places that are in no series yet; shapes in descriptions are kept to.
    fn by_forms(&mut self, text: &str, mut found: Vec<(usize, Series)>) -> Result<Vec<Series>, Failure> {
        let is_aperio = text.starts_with("Aperio");
        let pages = self.pages;
        let (mut groups, mut by_form) = (Vec::<Group>::new(), HashMap::<(Form, bool, Option<u64>), usize>::new());
        for (number, page) in pages.iter().enumerate() {
            if self.used[number] {
                continue;
            }
            let page = match page {
                Ok(page) => page,
                Err(refusal) => {
                    self.warnings.push(format!("page {number} is left out: {refusal}"));
                    continue;
                }
            };
            if found.len() + groups.len() > MAX_SERIES {
                self.warnings
                    .push(format!("the pages from {number} on are left out: there are more than {MAX_SERIES} series"));
                break;
            }
            if let Some(series) = self.shaped(page, number)? {
                found.push((number, series));
                continue;
            }
            let is_reduced = page.is_reduced() || (is_aperio && number > 0 && page.form.is_tiled);
            let form = page.form.of_array();
            match is_reduced.then(|| full_of(&groups, page)).flatten() {
                Some(Some(at)) => {
                    if !groups[at].add_reduced(number, form) {
                        self.warnings
                            .push(format!("page {number} is left out: there are more than {MAX_LEVELS} levels"));
                    }
                }
                Some(None) => self.warnings.push(format!(
                    "page {number} is left out: it may be a level of several arrays at different places on Earth"
                )),
                None => {
                    let next = groups.len();
                    let at = *by_form.entry((form.clone(), page.is_mask(), page.place)).or_insert(next);
                    // Writers may give a place to the first of several pages alone.
                    by_form.insert((form, page.is_mask(), None), at);
                    match groups.get_mut(at) {
                        Some(group) => group.pages.push(number),
                        None => groups.push(Group {
                            form: page.form.clone(),
                            is_mask: page.is_mask(),
                            place: page.place,
                            pages: vec![number],
                            levels: Vec::new(),
                        }),
                    }
                }
            }
        }
        for group in groups {
            found.extend(self.group(group)?);
        }
        found.sort_by_key(|(first, _)| *first);
        Ok(found.into_iter().map(|(_, series)| series).collect())
    }

    /// The series that the description of tifffile at its first page describes.
    fn shaped(&mut self, page: &Page, number: usize) -> Result<Option<Series>, Failure> {
        let Some(shaped) = page.description.as_deref().and_then(shaped::parse) else { return Ok(None) };
        let samples = u128::from(page.form.width) * u128::from(page.form.height) * u128::from(page.form.samples);
        let Some(axes) = shaped.axes(samples) else { return Ok(None) };
        let count = axes.iter().try_fold(1_u64, |count, axis| count.checked_mul(axis.len)).unwrap_or(u64::MAX);
        self.stack(page, number, axes, About::default(), count, shaped.is_truncated)
    }

    /// The series of a group of pages, with its first page.
    fn group(&mut self, group: Group) -> Result<Option<(usize, Series)>, Failure> {
        let Some(&first) = group.pages.first() else { return Ok(None) };
        let axes = match group.pages.len() {
            1 => Vec::new(),
            count => vec![Axis::new("page", count as u64)],
        };
        let pages: Vec<Option<usize>> = group.pages.iter().copied().map(Some).collect();
        let mut series = match self.series(axes, &pages, first, About::default())? {
            Ok(series) => series,
            Err(refusal) => {
                self.warnings.push(format!("page {first} is left out: {refusal}"));
                return Ok(None);
            }
        };
        for (form, numbers) in group.levels {
            let size = format!("{} x {} pixels", form.width, form.height);
            if numbers.len() != group.pages.len() {
                self.warnings.push(format!("page {first}: the level of {size}, which not all pages have, is left out"));
                continue;
            }
            let pages: Vec<Option<&Page>> = numbers.iter().map(|number| self.page(*number)).collect();
            let Some(of_first) = pages.first().copied().flatten() else { continue };
            match Level::of(self.reader, &of_first.form, &pages)? {
                Ok(level) => series.levels.push(level),
                Err(refusal) => self.warnings.push(format!("page {first}: the level of {size} is left out: {refusal}")),
            }
        }
        Ok(Some((first, series.finest_first(&mut self.warnings))))
    }
}

/// Pages of one form and place, and smaller ones.
struct Group {
    form: Form,
    is_mask: bool,
    place: Option<u64>,
    pages: Vec<usize>,
    levels: Vec<(Form, Vec<usize>)>,
}

/// Finds the group of full size that a smaller page is a level of: `None` if there is no such group, and `Some(None)` if several groups at
/// different places may have the level, and the page does not say which.
fn full_of(groups: &[Group], page: &Page) -> Option<Option<usize>> {
    let near = groups.len().saturating_sub(NEAR_GROUPS)..groups.len();
    let fits = |group: &Group| group.is_mask == page.is_mask() && page.form.is_reduced_from(&group.form);
    let last = near.clone().rev().find(|&at| fits(&groups[at]))?;
    let (full, form) = (groups[last].form.of_array(), page.form.of_array());
    let alike: Vec<usize> = near.filter(|&at| fits(&groups[at]) && groups[at].form.of_array() == full).collect();
    if alike.len() == 1 {
        return Some(Some(last));
    }
    let lacks_level = |at: &usize| {
        let group = &groups[*at];
        let count = group.levels.iter().find(|(found, _)| *found == form).map_or(0, |(_, pages)| pages.len());
        count < group.pages.len() && (page.place.is_none() || page.place == group.place)
    };
    let mut lacking = alike.into_iter().filter(lacks_level);
    match (lacking.next(), lacking.next()) {
        (Some(only), None) => Some(Some(only)),
        _ => Some(None),
    }
}

impl Group {
    /// Adds a page of reduced resolution. Says whether there was room for it.
    fn add_reduced(&mut self, number: usize, form: Form) -> bool {
        match self.levels.iter().position(|(found, _)| *found == form) {
            Some(at) => self.levels[at].1.push(number),
            None if self.levels.len() < MAX_LEVELS => self.levels.push((form, vec![number])),
            None => return false,
        }
        true
    }
}

/// The axes of pages that OME-Zarr has, in its order.
const ORDER: [&str; 3] = ["t", "c", "z"];

impl Series {
    /// The same with the levels from the finest on. Of levels of one size the first stays.
    fn finest_first(mut self, warnings: &mut Warnings) -> Self {
        let size = |level: &Level| (level.form.height, level.form.width);
        self.levels.sort_by_key(|level| std::cmp::Reverse(size(level)));
        let page = self.page.ifd.page;
        self.levels.dedup_by(|level, before| {
            let is_same = size(level) == size(before);
            if is_same {
                let (height, width) = size(level);
                warnings.push(format!("page {page}: a second level of {width} x {height} pixels is left out"));
            }
            is_same
        });
        self
    }

    /// The same without axes of length 1, and with times before channels before slices.
    fn in_order(mut self) -> Self {
        self.axes.retain(|axis| axis.len != 1);
        let rank = |axis: &Axis| ORDER.iter().position(|name| *name == axis.name);
        if !self.axes.iter().all(|axis| rank(axis).is_some()) {
            return self;
        }
        let mut order: Vec<usize> = (0..self.axes.len()).collect();
        order.sort_by_key(|at| self.axes.get(*at).and_then(rank));
        let lens: Vec<usize> = self.axes.iter().map(|axis| usize::try_from(axis.len).unwrap_or(usize::MAX)).collect();
        let mut strides = vec![1_usize; lens.len()];
        for at in (1..lens.len()).rev() {
            strides[at - 1] = strides[at].saturating_mul(lens[at]);
        }
        let mut numbers = vec![0_usize];
        for at in &order {
            numbers = numbers
                .iter()
                .flat_map(|base| (0..lens[*at]).map(move |i| (*base, i)))
                .map(|(base, i)| base + i * strides[*at])
                .collect();
        }
        for level in &mut self.levels {
            level.planes = numbers.iter().map(|number| level.planes.get(*number).cloned().flatten()).collect();
        }
        self.axes = order.iter().filter_map(|at| self.axes.get(*at).cloned()).collect();
        self
    }
}
