//! Negative controls: a model must fail without an ordering, or the ordering is listed here as one that is not needed.
use crate::sites::{self, Half, Kind};
use crate::{explore, Bound, CModel};
use std::collections::{BTreeMap, BTreeSet};

/// NOT_NEEDED are orderings without which no model fails, by function, operation and half; and why.
const NOT_NEEDED: &[(&str, Kind, Half, &str)] = &[
    ("shm_prepost", Kind::Store, Half::Release, "a barrier follows"),
    ("shm_flush", Kind::Fence, Half::Acquire, "it is not for what peers wrote"),
    ("shm_flush", Kind::Fence, Half::Release, "the signal or barrier that follows releases"),
    ("rank_barrier_group", Kind::Load, Half::Acquire, "the wait before it has acquired this word"),
    ("follow_team", Kind::Add, Half::Acquire, "the wait for the meeting acquires"),
    ("submit", Kind::Add, Half::Release, "workers take the lock before they read"),
    ("await_work", Kind::Load, Half::Acquire, "the worker takes the lock next"),
];

type Ran = [(&'static CModel, Bound, BTreeMap<usize, (Kind, i32)>)];

/// check weakens each ordering that the models ran with, and returns whether all is as expected.
pub fn check(ran: &Ran) -> bool {
    let all: BTreeMap<usize, (Kind, i32)> = ran.iter().flat_map(|(_, _, s)| s.clone()).collect();
    let names = sites::names(all.keys().copied());
    let mut spare = BTreeSet::new();
    let (mut good, mut found) = (true, 0);
    for (site, (kind, order)) in all {
        let (function, line) = &names[&site];
        for half in sites::halves(kind, order) {
            let with = ran.iter().filter(|(_, _, s)| s.contains_key(&site));
            sites::weaken(Some((site, half)));
            let failure = with.map(|(m, bound, _)| (m, explore(m, *bound))).find(|(_, e)| e.failure.is_some());
            sites::weaken(None);
            let what = format!("{function} ({line}), {kind:?} without {half:?}");
            let listed = NOT_NEEDED.iter().find(|n| (n.0, n.1, n.2) == (function.as_str(), kind, half));
            match (failure, listed) {
                (Some((m, e)), None) => {
                    found += 1;
                    println!("{what}: {} fails after {} executions: {}", m.name(), e.executions, e.failure.unwrap());
                }
                (None, Some(n)) => {
                    spare.insert((n.0, n.1, n.2));
                    println!("{what}: not needed: {}", n.3);
                }
                (Some((m, _)), Some(_)) => {
                    good = false;
                    eprintln!("{what}: {} fails, but weakening.rs says that it is not needed", m.name());
                }
                (None, None) => {
                    good = false;
                    eprintln!("{what}: no model fails, and weakening.rs does not say why");
                }
            }
        }
    }
    for n in NOT_NEEDED.iter().filter(|n| !spare.contains(&(n.0, n.1, n.2))) {
        good = false;
        eprintln!("{}, {:?}: weakening.rs lists it, and no model has it", n.0, n.1);
    }
    println!("{found} weakened orderings were found, {} are not needed", spare.len());
    good
}
