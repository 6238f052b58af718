package native

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

// Ranks as separate processes, as the agent has them, started from this test's binary: for tests that kill
// them, and for weir's side of a comparison.

const benchRankEnv = "WEIR_BENCH_RANK"

// controlFD is the descriptor of such a process's control page.
const controlFD = 3

type benchSpec struct {
	Launch engine.Launch
	Self   engine.Identity
}

// rankFound is the result of such a process's case, with an initiator's samples as they are stored.
type rankFound struct {
	Part    *workload.Part
	Samples []byte
}

// found returns the rank's result, once its case is over.
func (p *rankProcess) found(tb testing.TB) *move.Part {
	tb.Helper()
	var f rankFound
	err := json.NewDecoder(p.out).Decode(&f)
	var part *move.Part
	if err == nil {
		f.Part.Samples = f.Samples
		part, err = move.Decode(f.Part)
	}
	if err != nil {
		tb.Fatalf("a rank has found nothing: %v: %v: %s", err, p.end(), &p.words)
	}
	return part
}

type rankProcess struct {
	cmd     *exec.Cmd
	control *engine.Control
	in      io.Writer
	out     *bufio.Reader
	words   bytes.Buffer // on stderr; read after its end
}

// startRank starts a rank of a launch, which is killed when the context ends.
func startRank(tb testing.TB, ctx context.Context, l engine.Launch, self engine.Identity, env ...string) *rankProcess {
	tb.Helper()
	return startRankBy(tb, ctx, nil, l, self, env...)
}

// startRankBy starts it by another program.
func startRankBy(tb testing.TB, ctx context.Context, starter []string, l engine.Launch, self engine.Identity,
	env ...string) *rankProcess {
	tb.Helper()
	argv := append(slices.Clone(starter), os.Args[0])
	spec, err := json.Marshal(benchSpec{l, self})
	if err != nil {
		tb.Fatal(err)
	}
	fd, err := unix.MemfdCreate("control", unix.MFD_CLOEXEC)
	if err != nil {
		tb.Fatal(err)
	}
	shared := os.NewFile(uintptr(fd), "control")
	defer shared.Close()
	if err := shared.Truncate(engine.ControlSize); err != nil {
		tb.Fatal(err)
	}
	page, err := mapControl(fd)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = unix.Munmap(page) }) // no thread of this process reads it
	p := &rankProcess{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), control: engine.ControlAt(page)}
	p.cmd.Env = append(append(os.Environ(), env...), benchRankEnv+"="+string(spec))
	p.cmd.Stderr = &p.words
	p.cmd.ExtraFiles = []*os.File{shared} // the first of them is controlFD
	in, err1 := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, p.cmd.Start()); err != nil {
		tb.Fatal(err)
	}
	p.in, p.out = in, bufio.NewReader(out)
	return p
}

func mapControl(fd int) ([]byte, error) {
	return unix.Mmap(fd, 0, engine.ControlSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// address returns that of the rank in hexadecimal digits, once it is open.
func (p *rankProcess) address(tb testing.TB) string {
	tb.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		tb.Fatalf("a rank has no address: %v: %s", p.end(), &p.words)
	}
	return strings.TrimSpace(line)
}

// end kills the process and returns its exit error.
func (p *rankProcess) end() error {
	_ = p.cmd.Process.Kill() // it may have ended
	defer forgetSharedOf(p.cmd.Process.Pid)
	return p.cmd.Wait()
}

// meet passes the addresses of all ranks of a launch to each.
func meet(tb testing.TB, ranks []*rankProcess) {
	tb.Helper()
	var all []string
	for _, p := range ranks {
		all = append(all, p.address(tb))
	}
	for _, p := range ranks {
		fmt.Fprintln(p.in, strings.Join(all, " "))
	}
}

// awaitTimedPart waits until the ranks with these pages move their timed part. It returns false and the error if
// one ended before.
func awaitTimedPart(ended <-chan error, controls ...*engine.Control) (error, bool) {
	for _, c := range controls {
		for c.Phase.Load() != engine.PhaseRun {
			select {
			case err := <-ended:
				return err, false
			case <-time.After(time.Millisecond):
			}
		}
	}
	time.Sleep(20 * time.Millisecond) // past the common start
	return nil, true
}

// failUnlessTimedOut fails if a launch ended before the kill, unless this machine had too little time for it.
func failUnlessTimedOut(t *testing.T, timeout time.Duration, words string) {
	t.Helper()
	t.Logf("before the kill, within %v: %s", timeout, words)
	for _, over := range []string{"timed out after", "did not reach the barrier within", "no completion from rank"} {
		if strings.Contains(words, over) {
			return
		}
	}
	t.FailNow()
}

// benchRank is the other side of startRank: one rank in a process of its own.
func benchRank() int {
	if err := benchRankRuns(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func benchRankRuns() error {
	var spec benchSpec
	if err := json.Unmarshal([]byte(os.Getenv(benchRankEnv)), &spec); err != nil {
		return err
	}
	page, err := mapControl(controlFD)
	if err != nil {
		return fmt.Errorf("mapping the control page: %w", err)
	}
	r, err := open(spec.Launch, spec.Self, engine.ControlAt(page))
	if err != nil {
		return err
	}
	address, err := r.Address()
	if err != nil {
		return err
	}
	fmt.Println(hex.EncodeToString(address))
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		return err
	}
	var all [][]byte
	for _, h := range strings.Fields(line) {
		a, err := hex.DecodeString(h)
		if err != nil {
			return err
		}
		all = append(all, a)
	}
	if err := r.Connect(all); err != nil {
		return err
	}
	c := spec.Launch.Cases[0]
	part, err := r.Run(c)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(rankFound{part, part.Samples}); err != nil {
		return err
	}
	return r.Close()
}
