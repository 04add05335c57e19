//! Choice of few layouts among those that were counted.

use super::cost::{AccessCost, LayoutCost};

/// Maximum number of layouts that are recommended.
const MOST: usize = 3;
/// Factor by which an access must be faster than in the balanced layout for a layout of its own.
const BETTER: f64 = 1.25;
/// Factor of seconds within which two layouts are as good as each other.
const EQUAL: f64 = 1.02;

/// Returns the smallest number of seconds of each access among layouts.
pub(super) fn least(layouts: &[LayoutCost], accesses: usize) -> Vec<f64> {
    let seconds =
        |layout: &LayoutCost, access: usize| layout.accesses.get(access).map_or(f64::MAX, |cost| cost.seconds);
    let least = |access: usize| layouts.iter().map(|layout| seconds(layout, access)).fold(f64::MAX, f64::min);
    (0..accesses).map(least).collect()
}

/// Value of a layout, the lower the better: the mean of the logarithms of the seconds of its accesses as multiples of the least, the worst of
/// them as much, and a little for each object.
pub(super) fn score(layout: &LayoutCost, least: &[f64]) -> f64 {
    let ratio = |(cost, least): (&AccessCost, &f64)| (cost.seconds / least.max(1e-12)).ln();
    let ratios = layout.accesses.iter().zip(least).map(ratio);
    let (sum, worst) = ratios.fold((0.0, f64::MIN), |(sum, worst), ratio: f64| (sum + ratio, ratio.max(worst)));
    sum / least.len().max(1) as f64 + worst + 1e-4 * (layout.objects.max(1) as f64).ln()
}

/// Chooses at most three layouts on the Pareto front of the seconds of all accesses: the balanced one, and those that are much better for one
/// access. Returns their indices, each with the access for which it was chosen.
pub(super) fn choose(layouts: &[LayoutCost], least: &[f64]) -> Vec<(usize, Option<usize>)> {
    let front: Vec<usize> = (0..layouts.len()).filter(|&number| !is_dominated(layouts, number)).collect();
    let of = |number: usize, access: usize| {
        layouts.get(number).and_then(|layout| layout.accesses.get(access)).map_or(f64::MAX, |cost| cost.seconds)
    };
    let best = |number: usize, access: usize| of(number, access) / least.get(access).copied().unwrap_or(1.0).max(1e-12);
    let score = |number: &usize| layouts.get(*number).map_or(f64::MAX, |layout| score(layout, least));
    let Some(balanced) = front.iter().copied().min_by(|a, b| score(a).total_cmp(&score(b))) else { return Vec::new() };
    let mut others: Vec<(f64, usize, usize)> = Vec::new();
    for access in 0..least.len() {
        let Some(number) = front.iter().copied().min_by(|a, b| {
            // Among layouts that are equally good for the access, the best balanced one.
            let close = |number: usize| (best(number, access) / EQUAL).max(1.0);
            close(*a).total_cmp(&close(*b)).then_with(|| score(a).total_cmp(&score(b)))
        }) else {
            continue;
        };
        let gain = of(balanced, access) / of(number, access).max(1e-12);
        if number != balanced && gain >= BETTER && others.iter().all(|&(_, known, _)| known != number) {
            others.push((gain, number, access));
        }
    }
    others.sort_by(|a, b| b.0.total_cmp(&a.0));
    let others = others.into_iter().take(MOST - 1).map(|(_, number, access)| (number, Some(access)));
    std::iter::once((balanced, None)).chain(others).collect()
}

/// Whether another layout is at least as good in all accesses, and better in one or with fewer objects.
fn is_dominated(layouts: &[LayoutCost], number: usize) -> bool {
    let Some(layout) = layouts.get(number) else { return true };
    layouts.iter().enumerate().any(|(other, better)| {
        let pairs = || better.accesses.iter().zip(&layout.accesses);
        let is_as_good = pairs().all(|(a, b)| a.seconds <= b.seconds);
        let is_better = pairs().any(|(a, b)| a.seconds < b.seconds);
        other != number && is_as_good && (is_better || better.objects < layout.objects)
    })
}
