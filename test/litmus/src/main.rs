//! Litmus test of the words with which ranks over fabric shm, and threads of a rank, tell each other that memory is
//! ready: barriers, messages, counters, and what ends a dispatch and a combine. x86-64 orders loads and stores more than
//! C11 demands, so tests on such a machine pass with orderings that are too weak for Arm. `make litmus` runs this.
//!
//! It runs the engine's own files, not a copy of them. build.rs compiles them as for ThreadSanitizer, so that each
//! access calls hooks.c; memory.rs passes it to loom, a model checker for C11. Loom runs a model in all orders of
//! accesses that differ, and lets each load return each value that C11 allows. A model fails on a data race, on wrong
//! contents, and when threads wait for each other for ever. ranks.c makes ranks in one process; barriers.c, messages.c
//! and exchange.c are the models.
//!
//! Then each atomic operation that ran is weakened, one at a time: its acquire or its release is left out. A model must
//! fail, or weakening.rs must say why the ordering is not needed. A change that adds or removes an operation fails
//! too, until that list has it.
//!
//! Not modelled: a load that returns the value of a later store (load buffering); the devices and libraries of other
//! fabrics; kernels; the words that ranks share with Go. Three models with many orders are bounded (Bound).
mod memory;
mod sites;
mod threads;
mod weakening;

use std::ffi::{c_char, CStr};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Instant;
use std::{env, panic, process};

/// CModel is struct model of litmus.h.
#[repr(C)]
pub struct CModel {
    name: *const c_char,
    threads: i32,
    nested: i32,
    prepare: extern "C-unwind" fn(),
    run: extern "C-unwind" fn(i32),
}
unsafe impl Sync for CModel {}

extern "C" {
    static barriers_all: CModel;
    static barriers_reuse: CModel;
    static barriers_groups: CModel;
    static barriers_team: CModel;
    static messages_short: CModel;
    static messages_long: CModel;
    static messages_counter: CModel;
    static exchange_two: CModel;
    static exchange_three: CModel;
    static exchange_combine: CModel;
    static exchange_pool: CModel;
    static exchange_pinned: CModel;
}

/// Bound is how often a thread that could go on is interrupted in one execution; None: any number of times.
pub type Bound = Option<usize>;

fn models() -> [(&'static CModel, Bound); 12] {
    unsafe {
        [
            (&barriers_all, None),
            (&barriers_reuse, None),
            (&barriers_groups, None),
            (&barriers_team, None),
            (&messages_short, None),
            (&messages_long, None),
            (&messages_counter, None),
            (&exchange_two, None),
            (&exchange_three, Some(3)),
            (&exchange_combine, None),
            (&exchange_pool, Some(3)),
            (&exchange_pinned, Some(3)),
        ]
    }
}

impl CModel {
    pub fn name(&self) -> &str {
        unsafe { CStr::from_ptr(self.name) }.to_str().unwrap()
    }
}

#[no_mangle]
extern "C-unwind" fn litmus_fail(why: *const c_char) {
    panic!("{}", unsafe { CStr::from_ptr(why) }.to_str().unwrap());
}

/// Explored is how many executions of a model there were, and how many in which no thread gave up.
pub struct Explored {
    executions: usize,
    complete: usize,
    failure: Option<String>,
}

/// execute runs a model once; loom decides in which order.
fn execute(model: &'static CModel) -> bool {
    memory::clear();
    threads::clear(model.nested != 0);
    (model.prepare)();
    memory::start();
    let all = (0..model.threads).map(|i| threads::spawn(move || (model.run)(i))).collect();
    let given_up = threads::finish(all);
    assert!(!memory::stuck(), "threads wait for each other");
    given_up == 0
}

/// explore runs a model in all orders.
pub fn explore(model: &'static CModel, bound: Bound) -> Explored {
    let counts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let counted = counts.clone();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = bound;
    builder.max_branches = 3_000;
    // a thread of its own: what a failed execution leaves behind disappears with it
    let thread = std::thread::spawn(move || {
        builder.check(move || {
            counted[0].fetch_add(1, Relaxed);
            counted[1].fetch_add(execute(model).into(), Relaxed);
        })
    });
    let mut failure = thread.join().err().map(|e| match (e.downcast_ref::<String>(), e.downcast_ref::<&str>()) {
        (Some(s), _) => s.lines().next().unwrap_or_default().to_string(),
        (_, Some(s)) => s.to_string(),
        _ => "a panic".into(),
    });
    let [executions, complete] = [&counts[0], &counts[1]].map(|n| n.load(Relaxed));
    if failure.is_none() && complete == 0 {
        failure = Some("no execution came to its end".into());
    }
    Explored { executions, complete, failure }
}

fn main() {
    panic::set_hook(Box::new(|_| ())); // failures are reported here
    let only: Vec<String> = env::args().skip(1).collect();
    let mut all = models().to_vec();
    all.retain(|(m, _)| only.is_empty() || only.iter().any(|o| m.name() == o));
    let (from, mut total, mut ran) = (Instant::now(), 0, Vec::new());
    for (model, bound) in all {
        let (begun, e) = (Instant::now(), explore(model, bound));
        total += e.executions;
        let took = begun.elapsed().as_secs_f64();
        println!("{}: {} executions, {} to their end, {took:.1} s", model.name(), e.executions, e.complete);
        if let Some(why) = e.failure {
            let (function, line) = sites::names([sites::failed()].into_iter()).remove(&sites::failed()).unwrap();
            eprintln!("{}: {why}, in {function} ({line}) or after it", model.name());
            process::exit(1);
        }
        ran.push((model, bound, sites::take()));
    }
    println!("{total} executions in {:.0} s, no failure", from.elapsed().as_secs_f64());
    if only.is_empty() && !weakening::check(&ran) {
        process::exit(1);
    }
}
