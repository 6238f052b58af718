//! Sites: the atomic operations in the engine's code, by the address of the call that gcc made of them. One can be
//! weakened, to see that a model then fails.
use loom::sync::atomic::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Mutex;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Load,
    Store,
    Add,
    Fence,
}

/// Half is what an ordering consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Half {
    Acquire,
    Release,
}

/// SEEN are the sites that ran, with their orderings.
static SEEN: Mutex<BTreeMap<usize, (Kind, i32)>> = Mutex::new(BTreeMap::new());
static WEAK: Mutex<Option<(usize, Half)>> = Mutex::new(None);
static FAILING: AtomicUsize = AtomicUsize::new(0);

/// failing notes the site that runs, for the message if it fails.
pub fn failing(site: usize) {
    FAILING.store(site, Relaxed);
}

pub fn failed() -> usize {
    FAILING.load(Relaxed)
}

/// weaken leaves out a half of the ordering of a site from now on; None: of none.
pub fn weaken(what: Option<(usize, Half)>) {
    *WEAK.lock().unwrap() = what;
}

/// take returns the sites that ran since the last call.
pub fn take() -> BTreeMap<usize, (Kind, i32)> {
    std::mem::take(&mut SEEN.lock().unwrap())
}

/// halves returns what an operation's ordering consists of, as C numbers it.
pub fn halves(kind: Kind, order: i32) -> Vec<Half> {
    let acquires = matches!(order, 1 | 2 | 4 | 5) && kind != Kind::Store;
    let releases = matches!(order, 3 | 4 | 5) && kind != Kind::Load;
    let all = [(acquires, Half::Acquire), (releases, Half::Release)];
    all.into_iter().filter(|h| h.0).map(|h| h.1).collect()
}

/// order returns the ordering for loom, weakened at the weak site.
pub fn order(site: usize, kind: Kind, order: i32) -> Ordering {
    SEEN.lock().unwrap().insert(site, (kind, order));
    let mut parts = halves(kind, order);
    let before = parts.len();
    if let Some((weak, half)) = *WEAK.lock().unwrap() {
        parts.retain(|p| weak != site || *p != half);
    }
    match parts[..] {
        _ if order == 5 && parts.len() == before => Ordering::SeqCst,
        [] => Ordering::Relaxed,
        [Half::Acquire] => Ordering::Acquire,
        [Half::Release] => Ordering::Release,
        _ => Ordering::AcqRel,
    }
}

extern "C" {
    static __executable_start: u8;
}

/// names returns function and place in the source for each site.
pub fn names(sites: impl Iterator<Item = usize>) -> HashMap<usize, (String, String)> {
    let sites: Vec<usize> = sites.collect();
    let start = &raw const __executable_start as usize;
    let exe = std::env::current_exe().unwrap();
    let mut command = Command::new("addr2line");
    command.arg("-s").arg("-f").arg("-e").arg(exe);
    command.args(sites.iter().map(|s| format!("{:#x}", s - start - 1)));
    let out = command.output().expect("addr2line, of binutils, names the places");
    let text = String::from_utf8(out.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let named = |pair: &[&str]| (pair[0].to_string(), pair[1].split(' ').next().unwrap().to_string());
    sites.into_iter().zip(lines.chunks(2).map(named)).collect()
}
