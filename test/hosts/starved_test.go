package hosts

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/workload"
	_ "github.com/weir-bench/weir/workload/kinds"
)

// starved is a host that lacks something. Its setup is a shell script in a mount
// namespace, in which /mnt is a directory of the test.
type starved struct {
	name  string
	setup string
	uid   int    // 0: root
	under string // a command before weir's
	args  string // of weir; "": a session of one launch
	code  int
	says  string // on stderr, a regular expression
	table string // on stdout, a regular expression
}

const (
	session  = "run /mnt/shm.yaml --launches 1 --out /mnt/out/s"
	lent     = "run /mnt/lent.yaml --launches 1 --out /mnt/out/s"
	fabrics  = "run /mnt/all.yaml --launches 1 --out /mnt/out/s"
	kinds    = "run /mnt/kinds.yaml --disturbed keep --out /mnt/out/s"
	smallTmp = "mount -t tmpfs -o size=1m tmpfs /tmp; "
	noRoom   = "for d in /tmp /dev/shm /var/tmp /mnt/out; do mount -t tmpfs -o size=1m tmpfs $d; done"
)

// Whatever a host lacks, weir works, or says on stderr what is lacking and what to do.
var starving = []starved{
	{name: "nothing is lacking", args: fabrics},
	{name: "tmp of 1 MiB", setup: smallTmp},
	{name: "tmp is full", setup: smallTmp + "dd if=/dev/zero of=/tmp/x bs=1k count=1000 status=none"},
	{name: "tmp is read-only", setup: "mount -t tmpfs -o ro tmpfs /tmp"},
	{name: "TMPDIR is not there", setup: "export TMPDIR=/nope"},
	{name: "TMPDIR is long", setup: "export TMPDIR=/mnt/" + strings.Repeat("long/", 18) + "; mkdir -p $TMPDIR"},
	{
		name:  "only the session directory has room",
		setup: noRoom + "; mount -o remount,size=50m /mnt/out",
	},
	{
		name:  "tmp is full in mid-session",
		setup: "mount -t tmpfs -o size=6m tmpfs /tmp; (until test -e /mnt/out/s/samples; do sleep 0.01; done; dd if=/dev/zero of=/tmp/x bs=1k status=none 2>/dev/null) & true",
		args:  "run /mnt/shm.yaml --launches 30 --out /mnt/out/s",
	},
	{
		name: "tmp may have few files, for etcd", setup: "mount -t tmpfs -o size=50m,nr_inodes=8 tmpfs /tmp",
		args: lent, code: 6,
		says: `^weir: starting etcd: .*/tmp/weir-.*: no space left on device: free some space there, or set TMPDIR to another directory\n$`,
	},
	{
		name: "no room anywhere", setup: noRoom,
	},
	{
		name: "no room anywhere for etcd", setup: noRoom, args: lent, code: 6,
		says: `^weir: no temporary directory has the 4MiB that are needed: /tmp has .* free, /dev/shm has .* free, /var/tmp has .* free, /mnt/out/s has .* free; name one by TMPDIR\n$`,
	},

	{name: "address space for a session", setup: "ulimit -v 4000000", args: fabrics},
	{name: "address space for few ranks", setup: "ulimit -v 2100000"},
	{
		name: "address space for large blocks", setup: "ulimit -v 2100000",
		args: "run /mnt/large.yaml --launches 1 --out /mnt/out/s", code: 6,
		says: `mapping \d+ bytes of host memory: Cannot allocate memory; this process may have 2100000 KiB of address space: raise the limit with ulimit -v`,
	},
	{
		name: "address space for the runtime alone", setup: "ulimit -v 1000000", code: 6,
		says: `^weir: this process may have 1000000 KiB of address space and needs 2097152: raise the limit with ulimit -v\n$`,
	},
	{
		name: "address space for nothing", setup: "ulimit -v 300000", code: 6,
		says: `^weir: this process may have 300000 KiB of address space and needs \d+: raise the limit with ulimit -v\n$`,
	},

	{name: "256 files", setup: "ulimit -n 256", args: fabrics},
	{name: "60 files", setup: "ulimit -n 60"},
	{
		name: "160 files for 40 ranks", setup: "ulimit -n 160",
		args: "run /mnt/forty.yaml --launches 1 --out /mnt/out/s", code: 6,
		says: `^weir: this process may have 160 files open and needs 208: raise the limit with ulimit -n\n$`,
	},
	{
		name: "128 files for etcd", setup: "ulimit -n 128", args: lent, code: 6,
		says: `^weir: this process may have 128 files open and needs 154: raise the limit with ulimit -n\n$`,
	},
	{
		name: "20 files", setup: "ulimit -n 20", code: 6,
		says: `^weir: this process may have 20 files open and needs 56: raise the limit with ulimit -n\n$`,
	},
	{name: "20 files to plan", setup: "ulimit -n 20", args: "plan /mnt/shm.yaml"},
	{
		name: "20 files for a simulation", setup: "ulimit -n 20",
		args: "run /mnt/sim.yaml --launches 1 --out /mnt/out/s",
	},
	{
		name: "8 files", setup: "ulimit -n 8", args: "validate /mnt/shm.yaml", code: 6,
		says: `^weir: this process may have 8 files open and needs 16: raise the limit with ulimit -n\n$`,
	},

	{
		name: "10 threads", uid: 60001, under: "prlimit --nproc=10", args: "validate /mnt/shm.yaml", code: 6,
		says: `^weir: this user may have 10 processes and threads, which does not leave the \d+ that weir needs: raise the limit with ulimit -u\n$`,
	},
	{
		name: "30 threads", uid: 60002, under: "prlimit --nproc=30", code: 6,
		says: `^weir: this user may have 30 processes and threads, .*: raise the limit with ulimit -u\n$`,
	},
	{name: "30 threads to plan", uid: 60003, under: "prlimit --nproc=30", args: "plan /mnt/shm.yaml"},
	{name: "90 threads", uid: 60004, under: "prlimit --nproc=90"},
	{
		name: "90 threads for 40 ranks", uid: 60005, under: "prlimit --nproc=90",
		args: "run /mnt/forty.yaml --launches 1 --out /mnt/out/s", code: 6,
		says: `^weir: this user may have 90 processes and threads, which does not leave the 376 more that are needed: raise the limit with ulimit -u\n$`,
	},

	{name: "dev/shm of 1 MiB", setup: "mount -t tmpfs -o size=1m tmpfs /dev/shm", args: fabrics},
	{name: "dev/shm is read-only", setup: "mount -t tmpfs -o ro tmpfs /dev/shm", args: fabrics},
	{
		name:  "no dev/shm",
		setup: "mkdir /mnt/dev; for d in null zero urandom full; do touch /mnt/dev/$d; mount --bind /dev/$d /mnt/dev/$d; done; mount --rbind /mnt/dev /dev",
		args:  fabrics,
	},
	{name: "no proc", setup: "umount -l /proc"},
	{
		name: "no proc, and weir is not where it says", setup: "umount -l /proc",
		under: "bash -c 'exec -a nowhere \"$0\" \"$@\"'", code: 6,
		says: `^weir: weir cannot find its own program file \(.*\): mount /proc, or call weir by its path\n$`,
	},

	{
		name: "a disk that is full at once", setup: "mount -t tmpfs -o size=8k tmpfs /mnt/out", code: 6,
		says: `^weir: writing into /mnt/out/s: no space left on device: free some space there, then continue with weir run --resume /mnt/out/s; its journal has the measurements so far\n$`,
	},
	{
		name: "a disk without room for the report", setup: "mount -t tmpfs -o size=32k tmpfs /mnt/out",
		args: "run /mnt/shm.yaml --launches 3 --out /mnt/out/s", code: 6,
		says:  `(?m)^weir: writing into /mnt/out/s: no space left on device: free some space there, then continue with weir run --resume /mnt/out/s; .*\n$`,
		table: `shm +64KiB (?s:.*)exit code 6`,
	},
	{
		name:  "a disk that is full before",
		setup: "mount -t tmpfs -o size=4k tmpfs /mnt/out; echo x >/mnt/out/x", code: 6,
		says: `^weir: writing into /mnt/out/s: no space left on device: free some space there\n$`,
	},

	{name: "each workload", args: kinds},
	{name: "each workload, tmp is read-only", setup: "mount -t tmpfs -o ro tmpfs /tmp", args: kinds},
	{name: "each workload, dev/shm of 1 MiB", setup: "mount -t tmpfs -o size=1m tmpfs /dev/shm", args: kinds},
	{name: "each workload, 256 files", setup: "ulimit -n 256", args: kinds},
	{name: "each workload, 140 threads", uid: 60006, under: "prlimit --nproc=140", args: kinds},
	{
		name: "each workload, 20 files", setup: "ulimit -n 20", args: kinds, code: 6,
		says: `^weir: this process may have 20 files open and needs \d+: raise the limit with ulimit -n\n$`,
	},
	{
		name: "each workload, 40 threads", uid: 60007, under: "prlimit --nproc=40", args: kinds, code: 6,
		says: `^weir: this user may have 40 processes and threads, .*: raise the limit with ulimit -u\n$`,
	},
	{
		name: "each workload, address space for the runtime alone", setup: "ulimit -v 1000000", args: kinds, code: 6,
		says: `^weir: this process may have 1000000 KiB of address space and needs \d+: raise the limit with ulimit -v\n$`,
	},
	{
		name: "each workload, a disk that is full at once", setup: "mount -t tmpfs -o size=8k tmpfs /mnt/out",
		args: kinds, code: 6,
		says: `(?m)^weir: writing into /mnt/out/s: no space left on device: free some space there`,
	},

	{name: "no stdin", setup: "exec <&-"},
	{name: "no stdout", setup: "exec >&-"},
	{name: "no stderr", setup: "exec 2>&-"},
	{name: "nothing to talk to", setup: "exec <&- >&- 2>&-"},
	{
		name: "stdout is full", setup: "exec >/dev/full", code: 6,
		says: `weir: printing the table: .*no space left on device`,
	},
}

// borrower is a scenario with a program that borrows an etcd.
const borrower = `scenario: starved
runs:
  move:
    workload: command
    options:
      etcd: true
      roles: {a: {command: [sh, -c, "echo moved 1"]}}
`

// everyKind is a scenario with each kind of workload.
const everyKind = `scenario: kinds
services:
  server:
    command: [python3, /mnt/endpoint.py, "${port.http}", "0.01", "0.001"]
    ready: {http: "/v1/models", contains: toy, within: 30s}
    url: "http://127.0.0.1:${port.http}"
defaults:
  launches: 1
  options:
    transfer: {fabric: shm, block_size: 64KiB, iterations: 50, warmup: 5}
    traffic: {fabric: shm, matrix: [[0, 64KiB], [64KiB, 0]], iterations: 20, warmup: 2}
    ep: {fabric: shm, ranks: 2, tokens: 16, hidden: 256, top_k: 2, experts_per_rank: 4, iterations: 5, warmup: 1}
    ep_control: {fabric: shm, ranks: 2, tokens: 16, hidden: 256, experts_per_rank: 4, rounds: 2, warmup: 1}
    ep_elastic: {fabric: tcp, tokens: 8, hidden: 256, top_k: 2, iterations: 4, phases: [{ranks: 0..1}, {ranks: 0..2}]}
    serving: {service: server, model: toy, input: {tokens: 20}, output: {tokens: 5}, requests: 8}
runs:
  copy: {workload: transfer}
  matrix: {workload: traffic}
  sequence:
    workload: traffic_sequence
    options:
      fabric: shm
      isolated_iterations: 5
      patterns: [{matrix: [[0, 64KiB], [64KiB, 0]], sleep_before_launch: 1ms}]
  experts: {workload: ep}
  control: {workload: ep_control}
  elastic: {workload: ep_elastic}
  program: {workload: command, options: {roles: {a: {command: [echo, moved]}}}}
  load: {workload: serving}
`

// scenarioOf is one of a case on each of some fabrics.
func scenarioOf(fabrics, options string) string {
	return fmt.Sprintf(`scenario: starved
runs:
  move:
    workload: transfer
    options: {op: write, iterations: 50, warmup: 5, %s}
    when: fabric in host.fabrics or fabric == "sim"
    sweep: {fabric: [%s]}
`, options, fabrics)
}

// larder is a directory with the program and scenarios that everybody may read, and a
// directory in it that everybody may write to.
func larder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"shm.yaml":   scenarioOf("shm", "ranks: 2, block_size: 64KiB"),
		"all.yaml":   scenarioOf("shm, tcp, ucx, libfabric", "ranks: 2, block_size: 64KiB"),
		"sim.yaml":   scenarioOf("sim", "ranks: 2, block_size: 64KiB") + "    assert: [bandwidth > 1 B/s]\n",
		"forty.yaml": scenarioOf("shm", "ranks: 40, block_size: 64KiB"),
		"large.yaml": scenarioOf("shm", "ranks: 2, block_size: 1GiB"),
		"lent.yaml":  borrower,
		"kinds.yaml": everyKind,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o777); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{dir: 0o755, filepath.Join(dir, "out"): 0o777} {
		if err := os.Chmod(path, mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{weir(t): "weir", "../../examples/programs/endpoint.py": "endpoint.py"} {
		if out, err := exec.Command("cp", from, filepath.Join(dir, to)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return dir
}

// try runs weir on the host.
func (s *starved) try(t *testing.T) (code int, stdout, stderr string) {
	t.Helper()
	args := s.args
	if args == "" {
		args = session
	}
	command := strings.TrimSpace(s.under + " /mnt/weir " + args)
	if s.uid != 0 {
		command = fmt.Sprintf("setpriv --reuid %d --regid %d --clear-groups %s", s.uid, s.uid, command)
	}
	script := "set -e; mount --bind " + larder(t) + " /mnt\n" +
		"cd /mnt/out; export HOME=/mnt/out; unset XDG_RUNTIME_DIR TMPDIR\n" + s.setup + "\nexec " + command
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "-m", "--propagation", "private", "bash", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the exit code says it
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestStarvedHosts(t *testing.T) {
	if out, err := exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt").CombinedOutput(); err != nil {
		t.Skipf("mount namespaces are not permitted here, or not to this user: %v %s", err, out)
	}
	for _, name := range workload.Names() {
		if !strings.Contains(everyKind, "workload: "+name) {
			t.Errorf("no starved host runs workload %s", name)
		}
	}
	weir(t)
	for _, s := range starving {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := s.try(t)
			if (code == 6 || code == 3) && s.code == 0 && disturbed(stdout) {
				code = 0
			}
			if code != s.code {
				t.Errorf("exit code %d, want %d", code, s.code)
			}
			for _, trace := range []string{"goroutine ", "panic", "fatal error", "SIGABRT"} {
				if strings.Contains(stdout+stderr, trace) {
					t.Errorf("it says %q", trace)
				}
			}
			if s.code == 6 && strings.Count(stderr, "weir: ")+strings.Count(stderr, " failed: ") != 1 {
				t.Error("stderr has not one cause")
			}
			if !regexp.MustCompile(s.says).MatchString(withoutPaths(stderr)) {
				t.Errorf("stderr does not say %q", s.says)
			}
			if !regexp.MustCompile(s.table).MatchString(stdout) {
				t.Errorf("stdout does not say %q", s.table)
			}
			if t.Failed() {
				t.Logf("stdout:\n%s\nstderr:\n%s", stdout, stderr)
			}
		})
	}
}

// disturbed says whether all that a session found wrong is a probe that a busy machine slowed.
func disturbed(stdout string) bool {
	probe := strings.Contains(stdout, "measured more than the path can carry") ||
		strings.Contains(stdout, "the probes of the path were disturbed")
	return probe && !strings.Contains(stdout, "ended with an error")
}

// withoutPaths is what is said besides where results are.
func withoutPaths(said string) string {
	return regexp.MustCompile(`(?m)^results in .*\n`).ReplaceAllString(said, "")
}

// A session continues after a full disk when there is room again.
func TestAFullDiskLosesNothing(t *testing.T) {
	s := starved{setup: `mount -t tmpfs -o size=48k tmpfs /mnt/out
/mnt/weir run /mnt/shm.yaml --launches 3 --out /mnt/out/s || test $? = 6
test ! -e /mnt/out/s/results.json
mount -o remount,size=1m /mnt/out`, args: "run --resume /mnt/out/s"}
	code, stdout, stderr := s.try(t)
	if code != 0 || strings.Count(stderr, ": bandwidth ") != 2 { // of the case when it ended, and when it was resumed
		t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
}

// An agent that lacks something is a launch that fails, and says what.
func TestStarvedAgent(t *testing.T) {
	w := newWorld(t)
	agent := w.agent("n1")
	if out, err := exec.Command("prlimit", "--pid", fmt.Sprint(agent.cmd.Process.Pid),
		"--nofile=40:40").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p, _ := w.run(scenarioOf("shm", "ranks: 2, block_size: 64KiB"), "--hosts", "n1", "--launches", "1")
	p.ends(6)
	if said := p.said(); !strings.Contains(said,
		"this process may have 40 files open and needs 56: raise the limit with ulimit -n") {
		t.Error(said)
	}
}
