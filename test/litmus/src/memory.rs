//! Memory of the engine, as the model checker sees it. Declared words are atomics of loom, so a load may return an older
//! value where C11 allows that. All other accesses are checked for data races by cells of loom, one per 8 bytes.
use crate::sites::{self, Kind};
use crate::threads;
use loom::cell::UnsafeCell;
use loom::sync::atomic::{fence, AtomicU64, Ordering};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

/// Mixing is a quick hash of addresses.
#[derive(Default)]
struct Mixing(u64);

impl Hasher for Mixing {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are integers");
    }
    fn write_usize(&mut self, n: usize) {
        self.0 = (self.0.rotate_left(5) ^ n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }
}

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mixing>>;

/// Access is the last one to a cell: by a thread, with the number of its atomic operations before.
type Access = (usize, usize, bool);

#[derive(Clone)]
struct Word {
    word: Rc<AtomicU64>,
    size: usize,
    /// of the last store, in the order of the execution
    latest: u64,
}

/// Place is what the model checker knows of 8 bytes.
#[derive(Default)]
struct Place {
    words: [Option<Word>; 2],
    cell: Option<Rc<UnsafeCell<()>>>,
    last: Option<Access>,
}

#[derive(Default)]
struct Memory {
    started: bool,
    places: Map<usize, Place>,
    /// cells made before the threads start, for places that are read first
    spares: Vec<Rc<UnsafeCell<()>>>,
    /// users of atomic words that are not declared: the thread (None: several), and whether one has written
    users: Map<usize, (Option<usize>, bool)>,
    /// by thread: its atomic operations so far, and what it has loaded at a site since it last got on
    operations: [usize; loom::MAX_THREADS],
    polled: [Map<(usize, usize), u64>; loom::MAX_THREADS],
    given_up: Vec<usize>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

fn with<R>(f: impl FnOnce(&mut Memory) -> R) -> R {
    MEMORY.with(|m| f(&mut m.borrow_mut()))
}

/// clear forgets everything, before an execution.
pub fn clear() {
    with(|m| *m = Memory::default());
}

/// start begins to check accesses: what was done before happened before.
pub fn start() {
    with(|m| {
        m.spares = (0..threads::SPARES).map(|_| Rc::new(UnsafeCell::new(()))).collect();
        m.started = true;
    });
}

// ---- accesses that are not atomic ----

/// cell returns the cell of a place; None: nothing to check.
fn cell(m: &mut Memory, number: usize, write: bool) -> Option<Rc<UnsafeCell<()>>> {
    let me = threads::me();
    let place = m.places.entry(number).or_default();
    let operations = m.operations[me];
    if place.last.is_some_and(|l| l.0 == me && l.1 == operations && l.2 >= write) {
        return None; // nothing has happened since this thread did the same
    }
    place.last = Some((me, operations, write));
    if place.cell.is_none() {
        // a new cell counts as written by this thread just now
        let new = if write { Rc::new(UnsafeCell::new(())) } else { m.spares.pop().expect("SPARES is too small") };
        place.cell = Some(new);
    }
    place.cell.clone()
}

fn overlaps(m: &Memory, number: usize, at: usize, n: usize) -> bool {
    let words = m.places.get(&number).map(|p| &p.words);
    let touches = |i: usize, size: usize| number * 8 + 4 * i < at + n && at < number * 8 + 4 * i + size;
    words.is_some_and(|w| w.iter().enumerate().any(|(i, word)| word.as_ref().is_some_and(|w| touches(i, w.size))))
}

#[no_mangle]
extern "C-unwind" fn litmus_plain(at: usize, n: usize, write: bool, site: usize) {
    if n == 0 || !with(|m| m.started) {
        return;
    }
    sites::failing(site);
    for number in at / 8..=(at + n - 1) / 8 {
        assert!(!with(|m| overlaps(m, number, at, n)), "an access to an atomic word that is not atomic");
        match with(|m| cell(m, number, write)) {
            Some(cell) if write => cell.with_mut(|_| ()),
            Some(cell) => cell.with(|_| ()),
            None => (),
        }
    }
}

// ---- atomic words ----

/// Words that are not declared are accessed as they are: only one thread runs at a time.
fn get(at: usize, n: usize) -> u64 {
    unsafe {
        match n {
            4 => (at as *const u32).read().into(),
            _ => (at as *const u64).read(),
        }
    }
}

fn put(at: usize, n: usize, v: u64) {
    unsafe {
        match n {
            4 => (at as *mut u32).write(v as u32),
            _ => (at as *mut u64).write(v),
        }
    }
}

fn cut(n: usize, v: u64) -> u64 {
    v & (u64::MAX >> (64 - 8 * n))
}

#[no_mangle]
extern "C-unwind" fn litmus_word(at: usize, n: usize) {
    let latest = get(at, n);
    let word = Word { word: Rc::new(AtomicU64::new(latest)), size: n, latest };
    with(|m| m.places.entry(at / 8).or_default().words[at % 8 / 4] = Some(word));
}

fn word_at(m: &mut Memory, at: usize) -> Option<&mut Word> {
    m.places.get_mut(&(at / 8)).and_then(|p| p.words[at % 8 / 4].as_mut())
}

/// declared returns the word, or checks that only one thread uses it, or that nobody writes it.
fn declared(at: usize, write: bool) -> Option<Rc<AtomicU64>> {
    with(|m| {
        if let Some(word) = word_at(m, at) {
            return Some(word.word.clone());
        }
        if m.started {
            let me = threads::me();
            let user = m.users.entry(at).or_insert((Some(me), false));
            user.0 = user.0.filter(|u| *u == me);
            user.1 |= write;
            assert!(user.0.is_some() || !user.1, "threads share an atomic word that is not declared");
        }
        None
    })
}

/// got_on forgets what the current thread polled.
fn got_on() {
    with(|m| m.polled[threads::me()].clear());
}

fn count() {
    with(|m| m.operations[threads::me()] += 1);
}

fn stored(at: usize, v: u64) {
    with(|m| word_at(m, at).unwrap().latest = v);
    synchronised();
}

/// synchronised tells that a lock or a condition ordered the current thread.
pub fn synchronised() {
    count();
    got_on();
}

/// stuck returns whether threads that were given up wait for words that will not change any more.
pub fn stuck() -> bool {
    with(|m| {
        let given_up = std::mem::take(&mut m.given_up);
        let waits = given_up.iter().flat_map(|i| m.polled[*i].clone());
        let waits: Vec<_> = waits.collect();
        let changed = |m: &mut Memory, (at, v): (usize, u64)| word_at(m, at).is_some_and(|w| w.latest != v);
        !waits.is_empty() && !waits.into_iter().any(|((at, _), v)| changed(m, (at, v)))
    })
}

#[no_mangle]
extern "C-unwind" fn litmus_load(at: usize, n: usize, order: i32, site: usize) -> u64 {
    sites::failing(site);
    let Some(word) = declared(at, false) else {
        return get(at, n);
    };
    let order = sites::order(site, Kind::Load, order);
    let me = threads::me();
    if with(|m| m.polled[me].contains_key(&(at, site))) {
        with(|m| m.given_up.push(me));
        threads::give_up();
    }
    let v = word.load(order);
    count();
    with(|m| m.polled[me].insert((at, site), v));
    cut(n, v)
}

#[no_mangle]
extern "C-unwind" fn litmus_store(at: usize, n: usize, v: u64, order: i32, site: usize) {
    sites::failing(site);
    match declared(at, true) {
        None => put(at, n, v),
        Some(word) => {
            word.store(cut(n, v), sites::order(site, Kind::Store, order));
            stored(at, cut(n, v));
        }
    }
}

#[no_mangle]
extern "C-unwind" fn litmus_add(at: usize, n: usize, v: u64, order: i32, site: usize) -> u64 {
    sites::failing(site);
    match declared(at, true) {
        None => {
            let before = get(at, n);
            put(at, n, before.wrapping_add(v));
            before
        }
        Some(word) => {
            let before = word.fetch_add(v, sites::order(site, Kind::Add, order));
            stored(at, cut(n, before.wrapping_add(v)));
            cut(n, before)
        }
    }
}

#[no_mangle]
extern "C-unwind" fn litmus_fence(order: i32, site: usize) {
    sites::failing(site);
    match sites::order(site, Kind::Fence, order) {
        Ordering::Relaxed => (),
        order => fence(order),
    }
    count();
}
