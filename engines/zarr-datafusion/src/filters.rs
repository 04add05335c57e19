//! Parts of filters that labels of one dimension decide.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use std::collections::HashMap;

/// Greatest number of expressions in a filter of several dimensions that is searched for conditions of one.
const MOST_EXPRESSIONS: usize = 1_000;

/// Columns whose values follow from the index of one dimension, by their names, with the number of that dimension: labels of dimensions,
/// and coordinates along one.
pub(crate) type Along = HashMap<String, usize>;

/// Returns the number of the dimension that decides a filter alone, the same way each time it is asked.
pub(crate) fn dimension_of(filter: &Expr, along: &Along) -> Option<usize> {
    let columns = filter.column_refs();
    let mut numbers = columns.iter().map(|column| along.get(&column.name).copied());
    let first = numbers.next().flatten()?;
    (numbers.all(|number| number == Some(first)) && !filter.is_volatile() && is_plain(filter)).then_some(first)
}

/// Whether an expression has the same value in each row, which can be computed.
pub(crate) fn is_constant(filter: &Expr) -> bool {
    filter.column_refs().is_empty() && !filter.is_volatile() && is_plain(filter)
}

/// Returns a condition that labels of dimension `number` decide alone, and that is true wherever the filter is; the filter itself, if
/// this dimension decides it.
pub(crate) fn necessary(filter: &Expr, number: usize, along: &Along) -> Option<Expr> {
    match dimension_of(filter, along) {
        Some(found) => (found == number).then(|| filter.clone()),
        None if count(filter) > MOST_EXPRESSIONS => None,
        None => condition(filter, number, along),
    }
}

fn condition(filter: &Expr, number: usize, along: &Along) -> Option<Expr> {
    if dimension_of(filter, along) == Some(number) {
        return Some(filter.clone());
    }
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = filter else { return None };
    let (left, right) = (condition(left, number, along), condition(right, number, along));
    match (op, left, right) {
        (Operator::And, Some(left), Some(right)) => Some(left.and(right)),
        (Operator::And, one, other) => one.or(other),
        (Operator::Or, Some(left), Some(right)) => Some(left.or(right)),
        _ => None,
    }
}

/// Whether an expression can be evaluated by the values of its columns.
fn is_plain(filter: &Expr) -> bool {
    let is_other = |expression: &Expr| {
        Ok(matches!(
            expression,
            Expr::ScalarSubquery(_)
                | Expr::Exists(_)
                | Expr::InSubquery(_)
                | Expr::SetComparison(_)
                | Expr::OuterReferenceColumn(..)
                | Expr::ScalarVariable(..)
                | Expr::Placeholder(_)
        ))
    };
    filter.exists(is_other).is_ok_and(|found| !found)
}

fn count(filter: &Expr) -> usize {
    let mut count = 0;
    let counted: Result<TreeNodeRecursion> = filter.apply(|_| {
        count += 1;
        Ok(if count > MOST_EXPRESSIONS { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    counted.map_or(usize::MAX, |_| count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::logical_expr::placeholder;
    use datafusion::prelude::{col, lit, random};

    #[test]
    fn conditions_of_one_dimension() {
        let along: Along =
            [("time", 0), ("month", 0), ("lat", 1)].map(|(name, number)| (name.to_owned(), number)).into();
        let (early, north, warm) = (col("time").lt(lit(3)), col("lat").gt(lit(60)), col("v").gt(lit(280)));
        let winter = col("month").eq(lit(1));
        assert_eq!(dimension_of(&early.clone().or(winter.clone()), &along), Some(0));
        assert_eq!(dimension_of(&early.clone().and(north.clone()), &along), None);
        assert_eq!(dimension_of(&warm, &along), None);
        assert_eq!(dimension_of(&lit(true), &along), None);
        assert_eq!(dimension_of(&col("lat").gt(random()), &along), None);
        // Values that are known later.
        assert_eq!(dimension_of(&col("lat").gt(placeholder("$1")), &along), None);
        let both = early.clone().and(north.clone()).or(winter.clone().and(warm.clone()));
        assert_eq!(necessary(&both, 0, &along), Some(early.clone().or(winter.clone())));
        assert_eq!(necessary(&both, 1, &along), None);
        assert_eq!(necessary(&early.clone().or(warm.clone()), 0, &along), None);
        assert_eq!(necessary(&early.clone().and(warm.clone()), 0, &along), Some(early.clone()));
        // What is not true may be true where a part of it is not.
        assert_eq!(necessary(&!early.clone().and(warm.clone()), 0, &along), None);
        let long = (0..MOST_EXPRESSIONS as i32)
            .fold(both, |all, number| all.or(col("time").eq(lit(number)).and(north.clone())));
        assert_eq!(necessary(&long, 0, &along), None);
    }
}
