//! Advice as text: a table of layouts, a sentence for each, and the command that makes it.

use crate::escape;
use crate::number::{grouped, size};
use crate::table::{Side, lines};
use zarr::Dialect;
use zarr::meta::text::codecs_in_short;
use zarr::stats::advise::{AccessCost, Advice, AdviseOptions, LayoutCost, Prices, Subject};
use zarr::store::StoreKind;

/// Names of the layouts.
const NAMES: [&str; 3] = ["A", "B", "C"];
/// Ratio of seconds within which a layout is as good as another.
const EQUAL: f64 = 1.1;

/// Source and target of the command that makes a layout.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) source: String,
    pub(super) target: String,
    /// Path of the array; `None` for the root.
    pub(super) node: Option<String>,
    /// Dialect to write; `None` for the one that `zarr convert` writes by itself.
    pub(super) dialect: Option<Dialect>,
}

/// Advice that is printed.
#[derive(Debug)]
pub(super) struct Table<'a> {
    pub(super) subject: &'a Subject,
    pub(super) advice: &'a Advice,
    pub(super) options: &'a AdviseOptions,
    /// `None` for the description of an array.
    pub(super) ends: Option<&'a Ends>,
}

impl Table<'_> {
    pub(super) fn text(&self) -> String {
        let Self { subject, advice, options, .. } = self;
        // As the lengths of reads are given.
        let lengths = subject.shape().iter().zip(subject.names()).enumerate().map(|(axis, (len, name))| {
            let name = name.as_ref().map_or_else(|| axis.to_string(), |name| escape::line(name).into_owned());
            format!("{name}={len}")
        });
        let mut text = format!(
            "{}: {}; {}\n",
            lengths.collect::<Vec<_>>().join(","),
            size(subject.bytes()),
            escape::line(&options.storage.to_string())
        );
        let mut rows = vec![heading(advice, options)];
        rows.extend(advice.present.as_ref().map(|cost| row("now", cost, options)));
        rows.extend(advice.layouts.iter().zip(NAMES).map(|(cost, name)| row(name, cost, options)));
        text.push_str(&lines(&sides(&rows), &rows));
        // Another dialect is of use in any case.
        let is_enough = self.is_enough() && self.ends.is_none_or(|ends| ends.dialect.is_none());
        for (number, (cost, name)) in advice.layouts.iter().zip(NAMES).enumerate() {
            text.push_str(&format!("{name}: {}\n", self.sentence(number, cost)));
            if let Some(command) = self.command(cost).filter(|_| number > 0 || !is_enough) {
                text.push_str(&format!("  {command}\n"));
            }
        }
        if let Some(verdict) = self.verdict() {
            text.push_str(&verdict);
        }
        text.push_str(&notes(advice, options));
        text
    }

    /// Returns the trade of a layout in one sentence.
    fn sentence(&self, number: usize, cost: &LayoutCost) -> String {
        let advice = self.advice;
        let of = |access: usize, cost: &LayoutCost| cost.accesses.get(access).map_or(0.0, |cost| cost.seconds);
        let name = |access: usize| access_name(advice, access);
        let Some(access) = advice.best_for.get(number).copied().flatten() else {
            let worst = (0..advice.accesses.len())
                .map(|access| (of(access, cost) / advice.least.get(access).copied().unwrap_or(1.0).max(1e-12), access));
            let worst = worst.max_by(|a, b| a.0.total_cmp(&b.0));
            return match worst.filter(|(ratio, _)| *ratio > EQUAL) {
                Some((ratio, access)) => {
                    let least = seconds(advice.least.get(access).copied().unwrap_or_default());
                    format!(
                        "the balance: {} takes {ratio:.1} times its least, {least}, and no other more",
                        name(access)
                    )
                }
                None => format!("the best for all, of {} layouts that were counted", grouped(advice.counted as u64)),
            };
        };
        let Some(balanced) = advice.layouts.first() else { return String::new() };
        let gain =
            format!("{} {} instead of {}", name(access), seconds(of(access, cost)), seconds(of(access, balanced)));
        let others = (0..advice.accesses.len()).filter(|&other| other != access);
        let worse: Vec<String> = others
            .filter(|&other| of(other, cost) > of(other, balanced) * EQUAL)
            .map(|other| {
                format!("{} {} instead of {}", name(other), seconds(of(other, cost)), seconds(of(other, balanced)))
            })
            .collect();
        match worse.is_empty() {
            true => gain,
            false => format!("{gain}, for {}", worse.join(", ")),
        }
    }

    /// Returns how the present layout compares with the first one.
    fn verdict(&self) -> Option<String> {
        let (present, best) = (self.advice.present.as_ref()?, self.advice.layouts.first()?);
        if self.is_enough() {
            return Some("The layout that is there is as good as A in all accesses.\n".to_owned());
        }
        let pairs = present.accesses.iter().zip(&best.accesses);
        let gains = pairs.map(|(now, best)| now.seconds / best.seconds.max(1e-12)).enumerate();
        let (access, gain) = gains.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let name = access_name(self.advice, access);
        let grown = (best.stored > present.stored * EQUAL).then(|| {
            let bytes = |cost: &LayoutCost| size(cost.stored.max(0.0) as u64);
            format!(" It stores {} instead of {}.", bytes(best), bytes(present))
        });
        let grown = grown.unwrap_or_default();
        (gain > EQUAL).then(|| format!("With A, {name} is {} times as fast as now.{grown}\n", factor(gain)))
    }

    /// Whether the present layout is as good as the first one in all accesses.
    fn is_enough(&self) -> bool {
        let Some((present, best)) = self.advice.present.as_ref().zip(self.advice.layouts.first()) else { return false };
        let mut pairs = present.accesses.iter().zip(&best.accesses);
        pairs.all(|(now, best)| now.seconds <= best.seconds * EQUAL)
    }

    /// Returns the command that makes a layout; `None` for the description of an array.
    pub(super) fn command(&self, cost: &LayoutCost) -> Option<String> {
        let ends = self.ends?;
        let node = ends.node.as_ref().map_or_else(String::new, |node| format!(" --node {}", quoted(node)));
        Some(format!(
            "zarr convert {} {}{}{node} {}",
            quoted(&ends.source),
            quoted(&ends.target),
            dialect_option(ends.dialect),
            layout_options(cost, self.advice.present.as_ref())
        ))
    }
}

/// Returns the option `--dialect` for a dialect that is given, with a space in front.
pub(super) fn dialect_option(dialect: Option<Dialect>) -> String {
    dialect.map_or_else(String::new, |dialect| format!(" --dialect {}", dialect.name()))
}

/// Returns the options of `zarr convert` for a layout of an array with the layout `present`.
pub(super) fn layout_options(cost: &LayoutCost, present: Option<&LayoutCost>) -> String {
    let shape = |shape: &[u64]| shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let shards = cost.layout.shards.as_ref().map_or_else(|| "none".to_owned(), |shards| shape(shards));
    format!("--chunks {} --shards {shards}{}", shape(&cost.layout.chunks), codecs_option(cost, present))
}

/// Returns the option `--codecs` for a layout, with a space in front; nothing if the array has these codecs.
fn codecs_option(cost: &LayoutCost, present: Option<&LayoutCost>) -> String {
    let codecs = &cost.layout.codecs;
    let is_own = present.is_some_and(|present| present.layout.codecs.configs == codecs.configs);
    if is_own { String::new() } else { format!(" --codecs {}", quoted(&codecs.codecs)) }
}

/// Quotes a word for a shell, if it needs quotes.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:,=@+%".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", escape::line(word).replace('\'', r"'\''")),
    }
}

/// Name of an access for people.
fn access_name(advice: &Advice, access: usize) -> String {
    let name = advice.accesses.get(access).map(ToString::to_string).unwrap_or_default();
    let name = escape::line(&name).into_owned();
    if advice.is_write(access) { format!("write {name}") } else { name }
}

/// Whether prices are of use: the list prices of S3 are of none for files of this machine.
fn has_prices(options: &AdviseOptions) -> bool {
    options.storage.access.kind == StoreKind::Remote || options.prices != Prices::s3()
}

/// First row of the table.
pub(super) fn heading(advice: &Advice, options: &AdviseOptions) -> Vec<String> {
    let names = ["", "CHUNKS", "SHARDS", "CODECS", "STORED", "OBJECTS"].into_iter();
    let names = names.chain(has_prices(options).then_some("A MONTH")).map(str::to_owned);
    names.chain((0..advice.accesses.len()).map(|access| access_name(advice, access))).collect()
}

/// Alignment of the columns of a table: names to the left, numbers to the right.
pub(super) fn sides(rows: &[Vec<String>]) -> Vec<Side> {
    let count = rows.first().map_or(0, Vec::len);
    (0..count).map(|column| if column < 4 { Side::Left } else { Side::Right }).collect()
}

/// Row of the table for a layout.
pub(super) fn row(name: &str, cost: &LayoutCost, options: &AdviseOptions) -> Vec<String> {
    let shape = |shape: &[u64]| shape.iter().map(ToString::to_string).collect::<Vec<_>>().join("x");
    let codecs = codecs_in_short(&cost.layout.codecs.configs);
    let codecs = if codecs.is_empty() { "none".to_owned() } else { codecs };
    let cells = [
        name.to_owned(),
        shape(&cost.layout.chunks),
        cost.layout.shards.as_ref().map_or_else(|| "-".to_owned(), |shards| shape(shards)),
        escape::line(&codecs).into_owned(),
        size(cost.stored.max(0.0) as u64),
        grouped(u64::try_from(cost.objects).unwrap_or(u64::MAX)),
    ];
    let month = has_prices(options).then(|| money(cost.month, &options.prices.currency));
    cells.into_iter().chain(month).chain(cost.accesses.iter().map(of_access)).collect()
}

/// Cell of an access: seconds, requests and bytes.
fn of_access(cost: &AccessCost) -> String {
    let requests = grouped(cost.requests.round().max(0.0) as u64);
    format!("{} ({requests} req, {})", seconds(cost.seconds), size(cost.bytes.max(0.0) as u64))
}

/// Formats seconds with two significant digits.
pub(super) fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds >= 1.0 => (seconds, "s"),
        seconds if seconds >= 1e-3 => (seconds * 1e3, "ms"),
        seconds => (seconds * 1e6, "us"),
    };
    let digits = if value >= 10.0 { 0 } else { 1 };
    format!("{value:.digits$} {unit}")
}

/// Formats a factor with two digits.
fn factor(factor: f64) -> String {
    if factor >= 10.0 { grouped(factor.round() as u64) } else { format!("{factor:.1}") }
}

/// Formats a price.
fn money(price: f64, currency: &str) -> String {
    let digits = if price >= 100.0 { 0 } else { 2 };
    let shown = if price > 0.0 && price < 0.01 { "< 0.01".to_owned() } else { format!("{price:.digits$}") };
    format!("{shown} {}", escape::line(currency))
}

/// Lines on what was measured, and where the prices are from.
pub(super) fn notes(advice: &Advice, options: &AdviseOptions) -> String {
    let measured = match advice.sample {
        0 => "No elements to measure codecs on: sizes are those of elements as they are, and decoding takes no time.\n"
            .to_owned(),
        bytes => format!("Codecs measured on {} of elements.\n", size(bytes)),
    };
    let prices = &options.prices;
    let prices = has_prices(options)
        .then(|| format!("Prices: {}, of {}.\n", escape::line(&prices.of), escape::line(&prices.date)));
    measured + prices.as_deref().unwrap_or_default()
}
