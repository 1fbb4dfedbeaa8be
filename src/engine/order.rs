//! Sorts lists and maps: each instance of the library's sort takes 6 KB of the hook.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A stable sort.
pub fn sorted<T>(items: Vec<T>, compare: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let places = places(items.len(), &|one, other| compare(&items[one], &items[other]));
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    places.into_iter().filter_map(|place| items[place].take()).collect()
}

/// The places of so many items, from 0, in a stable order.
pub fn places(items: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..items).collect();
    places.sort_by(|one, other| compare(*one, *other));
    places
}

/// The last pair of a key wins. `collect` would sort the pairs first.
pub fn map_of<K: Ord, V>(pairs: impl Iterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(pairs);
    map
}

/// The first names, and the number of the others.
pub fn few(names: &mut dyn Iterator<Item = String>, most: usize) -> String {
    let shown: Vec<String> = names.take(most).collect();
    let more = match names.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    shown.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn list_sorts_like_the_library(numbers in prop::collection::vec(0..40_u8, 0..200)) {
            let pairs: Vec<(u8, usize)> = numbers.into_iter().zip(0..).collect();
            let mut expected = pairs.clone();
            expected.sort_by_key(|pair| pair.0);
            prop_assert_eq!(sorted(pairs.clone(), |one, other| one.0.cmp(&other.0)), expected);
            prop_assert_eq!(map_of(pairs.iter().copied()), pairs.into_iter().collect());
        }
    }
}
