use super::kept::Kept;
use super::{Content, Known, Place};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

fn place(owner: u64, at: u64) -> Place {
    Place { owner, cell: [at].into_iter().collect() }
}

fn known() -> Arc<Known> {
    Arc::new(Known { content: Content::Absent, version: None })
}

proptest! {
    /// What is found is what was kept last; with room for everything, all of it is.
    #[test]
    fn is_a_map_that_forgets(
        steps in proptest::collection::vec((0..10_u8, 0..3_u64, 0..40_u64, 0..3_u64, 0..3000_usize), 1..200),
        max_bytes in prop_oneof![Just(0_usize), 1000..20_000_usize, Just(usize::MAX / 2)],
    ) {
        let kept = Kept::new(max_bytes);
        let mut all: HashMap<Place, (u64, Arc<Known>)> = HashMap::new();
        for (verb, owner, at, stamp, cost) in steps {
            let place = place(owner, at);
            match verb {
                0 => { kept.clear(); all.clear(); prop_assert_eq!(kept.bytes(), 0); }
                1..5 => {
                    let known = known();
                    kept.keep(place.clone(), stamp, &known, cost);
                    all.insert(place, (stamp, known));
                }
                _ => {
                    let due = all.get(&place).filter(|(due, _)| *due == stamp).map(|(_, known)| known);
                    match (kept.find(&place, stamp), due) {
                        (Some(found), due) => prop_assert!(due.is_some_and(|due| Arc::ptr_eq(due, &found))),
                        (None, due) => prop_assert!(due.is_none() || max_bytes <= 20_000),
                    }
                }
            }
            prop_assert!(kept.bytes() <= max_bytes);
        }
    }
}

#[test]
fn what_is_used_stays() {
    let kept = Kept::new(200_000);
    let favourites: Vec<Place> = (0..20).map(|at| place(0, at)).collect();
    for place in &favourites {
        kept.keep(place.clone(), 0, &known(), 500);
    }
    for at in 0..2000 {
        kept.keep(place(1, at), 0, &known(), 500);
        for place in &favourites {
            assert!(kept.find(place, 0).is_some(), "after {at} others");
        }
    }
    assert!(kept.bytes() > 150_000);
}

#[test]
fn what_does_not_fit_replaces_what_did() {
    let kept = Kept::new(2000);
    for at in 0..2 {
        kept.keep(place(0, at), 0, &known(), 100);
    }
    kept.keep(place(0, 0), 0, &known(), 5000);
    assert!(kept.find(&place(0, 0), 0).is_none());
    assert!(kept.find(&place(0, 1), 0).is_some());
    kept.clear();
    assert_eq!(kept.bytes(), 0);
}
