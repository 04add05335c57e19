//! Merging of two sorted lists of nodes.

use std::cmp::Ordering;

/// Items at one path: of the first list, of the second list, or of both.
#[derive(Debug, PartialEq)]
pub(crate) enum Pair<T> {
    First(T),
    Second(T),
    Both(T, T),
}

/// Merges two lists that are sorted by path.
pub(crate) fn merge<T>(
    first: impl IntoIterator<Item = T>,
    second: impl IntoIterator<Item = T>,
    path: impl Fn(&T) -> &str,
) -> impl Iterator<Item = Pair<T>> {
    let (mut a, mut b) = (first.into_iter().peekable(), second.into_iter().peekable());
    std::iter::from_fn(move || {
        let order = match (a.peek(), b.peek()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => path(a).cmp(path(b)),
        };
        match order {
            Ordering::Less => a.next().map(Pair::First),
            Ordering::Greater => b.next().map(Pair::Second),
            Ordering::Equal => a.next().zip(b.next()).map(|(a, b)| Pair::Both(a, b)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_comes_once() {
        let pairs: Vec<Pair<&str>> = merge(["a", "b", "d"], ["b", "c"], |path| path).collect();
        assert_eq!(pairs, [Pair::First("a"), Pair::Both("b", "b"), Pair::Second("c"), Pair::First("d")]);
    }
}
