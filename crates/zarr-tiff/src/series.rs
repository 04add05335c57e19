//! Series: pages that are one array, and the smaller pictures of them.

use std::sync::Arc;

use crate::description::{About, Axis};
use crate::fault::{Failure, Refusal};
use crate::form::Form;
use crate::ifd::Reader;
use crate::page::{Data, Page};
use crate::{imagej, ome_xml, shaped, tags};

/// Maximum number of levels of a series.
const MAX_LEVELS: usize = 64;

/// Pages of one form, in the order of their axes.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) form: Form,
    /// Where the chunks of each page are; `None` for a page that is not in the file.
    pub(crate) planes: Vec<Option<Arc<Data>>>,
}

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
}

/// The pages of a file, by their numbers.
pub(crate) type Pages = [Result<Page, Refusal>];

/// Finds series.
pub(crate) struct Finder<'r> {
    pub(crate) reader: &'r Reader<'r>,
    pub(crate) pages: &'r Pages,
    pub(crate) warnings: Vec<String>,
}

impl Finder<'_> {
    /// The series of the pages, as the description of the first one says or else by their forms.
    pub(crate) fn find(&mut self, description: Option<&str>) -> Result<Vec<Series>, Failure> {
        let text = description.unwrap_or_default();
        if ome_xml::is_ome(text) {
            match ome_xml::parse(text) {
                Ok(images) => {
                    let series = self.of_ome(images)?;
                    if !series.is_empty() {
                        return Ok(series);
                    }
                }
                Err(reason) => self.warnings.push(format!("OME-XML is left out: {reason}")),
            }
        } else if imagej::is_imagej(text)
            && let Some(series) = self.of_imagej(text)?
        {
            return Ok(vec![series]);
        }
        self.by_forms(text)
    }

    /// The page of a number, if the file has it.
    fn page(&self, number: usize) -> Option<&Page> {
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
        let resolution = |tag| {
            let found = self.reader.floats(&first.ifd, tag)?.and_then(|numbers| numbers.first().copied());
            Ok::<_, Failure>(found.filter(|pixels| pixels.is_finite() && *pixels > 0.0))
        };
        let resolution = [resolution(tags::X_RESOLUTION)?, resolution(tags::Y_RESOLUTION)?];
        let imagej::Stack { axes, about } = imagej::parse(text, resolution);
        let count = axes.iter().try_fold(1_u64, |count, axis| count.checked_mul(axis.len)).unwrap_or(u64::MAX);
        self.stack(&first, 0, axes, about, count, self.pages.len() == 1)
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
            if first.following(self.reader.source.size()) < count {
                let found = first.following(self.reader.source.size());
                self.warnings
                    .push(format!("page {from}: the description has {count} pages, the file has room for {found}"));
                return Ok(None);
            }
            let planes = (0..count).map(|number| first.follower(number).map(Some)).collect::<Result<_, _>>()?;
            let level = Level { form: first.form.clone(), planes };
            return Ok(Some(Series { axes, levels: vec![level], about, page: first.clone() }.in_order()));
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
        let mut planes = Vec::with_capacity(pages.len());
        for number in pages {
            planes.push(match number {
                None => None,
                Some(number) => match self.pages.get(*number) {
                    Some(Ok(found)) if found.form == page.form => Some(Arc::clone(&found.data)),
                    Some(Ok(_)) => {
                        return Ok(Err(Refusal::new(format!("pages {first} and {number} have different forms"))));
                    }
                    Some(Err(refusal)) => return Ok(Err(Refusal::new(format!("page {number}: {refusal}")))),
                    None => return Ok(Err(Refusal::new(format!("there is no page {number}")))),
                },
            });
        }
        let mut levels = vec![Level { form: page.form.clone(), planes }];
        self.add_levels_below(&mut levels, pages, &page)?;
        Ok(Ok(Series { axes, levels, about, page }.in_order()))
    }

    /// Adds the levels in the directories below the pages.
    fn add_levels_below(
        &mut self,
        levels: &mut Vec<Level>,
        pages: &[Option<usize>],
        first: &Page,
    ) -> Result<(), Failure> {
        'levels: for number in 0..first.below.len().min(MAX_LEVELS) {
            let mut form = None::<Form>;
            let mut planes = Vec::with_capacity(pages.len());
            for page in pages {
                let Some(page) = page.and_then(|page| self.page(page)) else {
                    planes.push(None);
                    continue;
                };
                let at = page.ifd.page;
                let Some(offset) = page.below.get(number) else {
                    self.warnings
                        .push(format!("page {at}: it has fewer levels than others of its series, which are left out"));
                    return Ok(());
                };
                let ifd = self.reader.ifd(*offset, at)?;
                let below = match Page::read(self.reader, &ifd)? {
                    Ok(below) => below,
                    Err(refusal) => {
                        self.warnings.push(format!("page {at}: level {} is left out: {refusal}", number + 1));
                        continue 'levels;
                    }
                };
                if form.as_ref().is_some_and(|form| *form != below.form) || !below.form.is_reduced_from(&first.form) {
                    self.warnings.push(format!(
                        "page {at}: what is below it is no level of it, or pages differ, and is left out"
                    ));
                    continue 'levels;
                }
                form.get_or_insert(below.form);
                planes.push(Some(below.data));
            }
            levels.extend(form.map(|form| Level { form, planes }));
        }
        Ok(())
    }

    /// The series of pages of equal forms; shapes in descriptions are kept to.
    fn by_forms(&mut self, text: &str) -> Result<Vec<Series>, Failure> {
        let is_aperio = text.starts_with("Aperio");
        let mut groups: Vec<Group> = Vec::new();
        let mut found = Vec::new();
        let mut number = 0;
        while number < self.pages.len() {
            let page = match &self.pages[number] {
                Ok(page) => page.clone(),
                Err(refusal) => {
                    self.warnings.push(format!("page {number} is left out: {refusal}"));
                    number += 1;
                    continue;
                }
            };
            let described = self.reader.text(&page.ifd, tags::IMAGE_DESCRIPTION)?;
            if let Some(shaped) = described.as_deref().and_then(shaped::parse) {
                let samples =
                    u128::from(page.form.width) * u128::from(page.form.height) * u128::from(page.form.samples);
                if let Some(axes) = shaped.axes(samples) {
                    let count =
                        axes.iter().try_fold(1_u64, |count, axis| count.checked_mul(axis.len)).unwrap_or(u64::MAX);
                    let stack = self.stack(&page, number, axes, About::default(), count, shaped.is_truncated)?;
                    if let Some(series) = stack {
                        found.push((number, series));
                        number += if shaped.is_truncated { 1 } else { usize::try_from(count).unwrap_or(1).max(1) };
                        continue;
                    }
                }
            }
            let is_reduced = page.is_reduced() || (is_aperio && number > 0 && page.form.is_tiled);
            let group = groups.iter_mut().rev().find(|group| is_reduced && page.form.is_reduced_from(&group.form));
            match group {
                Some(group) => group.add_reduced(number, page.form),
                None => {
                    match groups.iter_mut().find(|group| group.form == page.form && group.is_mask == page.is_mask()) {
                        Some(group) => group.pages.push(number),
                        None => groups.push(Group {
                            form: page.form.clone(),
                            is_mask: page.is_mask(),
                            pages: vec![number],
                            levels: Vec::new(),
                        }),
                    }
                }
            }
            number += 1;
        }
        for group in groups {
            let Some(&first) = group.pages.first() else { continue };
            let axes = match group.pages.len() {
                1 => Vec::new(),
                count => vec![Axis::new("page", count as u64)],
            };
            let pages: Vec<Option<usize>> = group.pages.iter().copied().map(Some).collect();
            match self.series(axes, &pages, first, About::default())? {
                Ok(mut series) => {
                    for (form, pages) in group.levels {
                        if pages.len() != group.pages.len() {
                            let [width, height] = [form.width, form.height];
                            let size = format!("{width} x {height} pixels");
                            self.warnings.push(format!(
                                "page {first}: the level of {size}, which not all pages have, is left out"
                            ));
                            continue;
                        }
                        let planes = pages.iter().map(|page| self.page(*page).map(|page| Arc::clone(&page.data)));
                        series.levels.push(Level { form, planes: planes.collect() });
                    }
                    series.levels.sort_by_key(|level| std::cmp::Reverse(level.form.width));
                    found.push((first, series));
                }
                Err(refusal) => self.warnings.push(format!("page {first} is left out: {refusal}")),
            }
        }
        found.sort_by_key(|(first, _)| *first);
        Ok(found.into_iter().map(|(_, series)| series).collect())
    }
}

/// Pages of one form, and of smaller ones.
struct Group {
    form: Form,
    is_mask: bool,
    pages: Vec<usize>,
    levels: Vec<(Form, Vec<usize>)>,
}

impl Group {
    fn add_reduced(&mut self, number: usize, form: Form) {
        match self.levels.iter_mut().find(|(found, _)| *found == form) {
            Some((_, pages)) => pages.push(number),
            None => self.levels.push((form, vec![number])),
        }
    }
}

/// The axes of pages that OME-Zarr has, in its order.
const ORDER: [&str; 3] = ["t", "c", "z"];

impl Series {
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
