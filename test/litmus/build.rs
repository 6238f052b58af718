//! Compiles the engine's files and the ranks of the models with gcc's instrumentation for ThreadSanitizer: each load,
//! store and atomic operation becomes a call. The program is not linked with libtsan; hooks.c receives the calls.
use std::{env, path::PathBuf, process::Command};

/// ENGINE are the files of the engine that are compiled as they are. pool.c includes ep_pool.c.
const ENGINE: &[&str] = &["fab_shm", "rank", "rank_barrier", "rank_team", "ep_operate"];
const MODELS: &[&str] = &["ranks", "barriers", "messages", "exchange", "pool"];

/// REPLACED are functions of libc that would hide accesses, or block the one thread that the model checker runs on.
const REPLACED: &[&str] = &[
    "memcpy",
    "memset",
    "clock_gettime",
    "sched_yield",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_cond_wait",
    "pthread_cond_broadcast",
    "pthread_create",
    "pthread_join",
    "pthread_setaffinity_np",
    "pthread_mutex_destroy",
    "pthread_cond_destroy",
];

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(status.success(), "{command:?}: {status}");
}

fn main() {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    let engine = here.join("../../engine/native").canonicalize().unwrap();
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let cc = env::var("CC").unwrap_or("gcc".into());
    let mut objects = Vec::new();
    let mut compile = |source: PathBuf, instrumented: bool| {
        let object = out.join(source.file_stem().unwrap()).with_extension("o");
        let mut command = Command::new(&cc);
        // panics of the model checker unwind through C
        command.args("-std=gnu11 -O1 -g -fPIC -fno-inline -fexceptions -Wall -Wextra".split(' '));
        command.args("-Wno-unused-parameter -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror".split(' '));
        if instrumented {
            command.args(["-fsanitize=thread", "-Wno-tsan"]); // fences are received, too
            command.args(REPLACED.iter().map(|name| format!("-D{name}=litmus_{name}")));
        }
        run(command.arg("-I").arg(&engine).arg("-c").arg("-o").arg(&object).arg(&source));
        objects.push(object);
    };
    for name in ENGINE {
        compile(engine.join(name).with_extension("c"), true);
    }
    for name in MODELS {
        compile(here.join(name).with_extension("c"), true);
    }
    compile(here.join("hooks.c"), false);
    let library = out.join("libengine.a");
    let _ = std::fs::remove_file(&library);
    run(Command::new("ar").arg("crs").arg(&library).args(&objects));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=engine");
    println!("cargo:rerun-if-env-changed=CC");
    for path in [engine, here] {
        println!("cargo:rerun-if-changed={}", path.display());
    }
}
