//! Threads, locks and conditions of the engine, as loom's.
use crate::memory;
use loom::sync::{Condvar, Mutex, MutexGuard};
use loom::thread::{Builder, JoinHandle, Thread};
use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::{transmute, ManuallyDrop};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::rc::Rc;

/// STACK is the size of a thread's stack in words: C needs more than loom's default.
const STACK: usize = 0x8000;

/// SPARES is how many places of memory threads may read first, of those that nobody writes before.
pub const SPARES: usize = 300;

#[derive(Default)]
struct Threads {
    locks: HashMap<usize, Rc<Mutex<()>>>,
    /// by lock, while it is held; loom must not see it dropped after an execution has failed
    held: HashMap<usize, ManuallyDrop<MutexGuard<'static, ()>>>,
    conditions: HashMap<usize, Rc<Condvar>>,
    running: HashMap<usize, JoinHandle<()>>,
    /// where the stack of each thread begins, by its number
    stacks: Vec<(usize, usize)>,
    /// the checker's thread, which waits until nothing moves any more
    main: Option<Thread>,
    /// threads that were started, have ended, and gave up; and the conditions and threads for which others wait
    started: usize,
    ended: usize,
    given_up: Vec<(usize, Thread)>,
    waiting: Vec<usize>,
    joining: Vec<usize>,
    over: bool,
    /// threads started others
    nested: bool,
}

impl Threads {
    /// all_rest returns whether no thread will do anything any more.
    fn all_rest(&self) -> bool {
        let joins = self.joining.iter().filter(|j| self.given_up.iter().any(|g| g.0 == **j)).count();
        self.started == self.ended + self.given_up.len() + self.waiting.len() + joins
    }
}

/// GivenUp unwinds a thread.
struct GivenUp;

thread_local! {
    static THREADS: RefCell<Threads> = RefCell::default();
}

fn with<R>(f: impl FnOnce(&mut Threads) -> R) -> R {
    THREADS.with(|t| f(&mut t.borrow_mut()))
}

/// clear forgets everything, before an execution. Whether threads start others must be known from the beginning.
pub fn clear(nested: bool) {
    with(|t| *t = Threads { nested, ..Threads::default() });
}

/// spawn starts a thread. Numbers of threads begin at 1.
pub fn spawn(f: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let number = with(|t| {
        t.started += 1;
        t.started
    });
    let begun = move || {
        let here = 0u8;
        with(|t| t.stacks.push((number, &raw const here as usize)));
        if let Err(e) = catch_unwind(AssertUnwindSafe(f)) {
            if !e.is::<GivenUp>() {
                resume_unwind(e);
            }
        } else {
            with(|t| t.ended += 1);
            rests();
        }
    };
    Builder::new().stack_size(STACK).spawn(begun).unwrap()
}

/// rests tells the checker's thread that the current one has nothing to do any more, or for now.
fn rests() {
    if let Some(main) = with(|t| t.main.clone().filter(|_| t.nested)) {
        main.unpark();
    }
}

/// give_up ends the current thread, which polls in vain. Another execution has the same steps in another order: there
/// this thread polls for the first time when what it waits for is there. If it started threads, they use its stack: that
/// stays until all others rest.
pub fn give_up() -> ! {
    let me = me();
    with(|t| t.given_up.push((me, loom::thread::current())));
    rests();
    while with(|t| t.nested && !t.over) {
        loom::thread::park();
    }
    resume_unwind(Box::new(GivenUp));
}

/// finish waits until all threads have ended, gave up, or wait for somebody who gave up. It returns how many gave up.
pub fn finish(all: Vec<JoinHandle<()>>) -> usize {
    with(|t| t.main = Some(loom::thread::current()));
    while with(|t| t.nested && !t.all_rest()) {
        loom::thread::park();
    }
    let (given_up, rest) = with(|t| {
        t.over = true;
        let rest: Vec<_> = t.running.drain().map(|(_, handle)| handle).collect();
        (t.given_up.clone(), rest)
    });
    if with(|t| t.nested) {
        given_up.iter().for_each(|(_, thread)| thread.unpark());
        // whoever is about to wait holds the lock
        with(|t| t.locks.values().cloned().collect::<Vec<_>>()).iter().for_each(|l| drop(l.lock()));
        with(|t| t.conditions.values().cloned().collect::<Vec<_>>()).iter().for_each(|c| c.notify_all());
    }
    all.into_iter().chain(rest).for_each(|handle| handle.join().unwrap());
    with(|t| t.given_up.len())
}

/// me returns the number of the current thread, by its stack; 0: the checker's own.
pub fn me() -> usize {
    let here = 0u8;
    let at = &raw const here as usize;
    with(|t| t.stacks.iter().find(|(_, from)| at <= *from && from - at < STACK * 8).map_or(0, |(number, _)| *number))
}

#[no_mangle]
extern "C-unwind" fn litmus_pthread_mutex_lock(at: usize) -> i32 {
    let lock = with(|t| t.locks.entry(at).or_default().clone());
    // the lock lives until the next execution
    let guard: MutexGuard<'static, ()> = unsafe { transmute(lock.lock().unwrap()) };
    with(|t| t.held.insert(at, ManuallyDrop::new(guard)));
    memory::synchronised();
    0
}

fn release(at: usize) -> MutexGuard<'static, ()> {
    ManuallyDrop::into_inner(with(|t| t.held.remove(&at)).expect("a lock that is not held"))
}

#[no_mangle]
extern "C-unwind" fn litmus_pthread_mutex_unlock(at: usize) -> i32 {
    drop(release(at));
    memory::synchronised();
    0
}

#[no_mangle]
extern "C-unwind" fn litmus_pthread_cond_wait(at: usize, lock: usize) -> i32 {
    let condition = with(|t| t.conditions.entry(at).or_default().clone());
    with(|t| t.waiting.push(at));
    rests();
    let guard = condition.wait(release(lock)).unwrap();
    if with(|t| t.over) {
        drop(guard);
        resume_unwind(Box::new(GivenUp));
    }
    with(|t| t.held.insert(lock, ManuallyDrop::new(guard)));
    memory::synchronised();
    0
}

#[no_mangle]
extern "C-unwind" fn litmus_pthread_cond_broadcast(at: usize) -> i32 {
    let condition = with(|t| t.conditions.entry(at).or_default().clone());
    with(|t| t.waiting.retain(|c| *c != at));
    condition.notify_all();
    0
}

#[no_mangle]
extern "C-unwind" fn litmus_thread(id: *mut usize, body: extern "C-unwind" fn(usize) -> usize, arg: usize) -> i32 {
    let handle = spawn(move || {
        body(arg);
    });
    memory::synchronised();
    let number = with(|t| {
        t.running.insert(t.started, handle);
        t.started
    });
    unsafe { *id = number };
    0
}

#[no_mangle]
extern "C-unwind" fn litmus_pthread_join(id: usize, _result: usize) -> i32 {
    let handle = with(|t| t.running.remove(&id)).expect("a thread that does not run");
    with(|t| t.joining.push(id));
    rests();
    handle.join().unwrap();
    if with(|t| t.over) {
        resume_unwind(Box::new(GivenUp));
    }
    with(|t| t.joining.retain(|j| *j != id));
    memory::synchronised();
    0
}

#[no_mangle]
extern "C-unwind" fn litmus_sched_yield() -> i32 {
    loom::thread::yield_now();
    0
}

#[no_mangle]
extern "C-unwind" fn litmus_pthread_setaffinity_np(_id: usize, _size: usize, _set: usize) -> i32 {
    0
}

#[no_mangle]
extern "C-unwind" fn litmus_pthread_mutex_destroy(_at: usize) -> i32 {
    0
}

#[no_mangle]
extern "C-unwind" fn litmus_pthread_cond_destroy(_at: usize) -> i32 {
    0
}
