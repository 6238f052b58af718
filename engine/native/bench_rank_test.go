package native

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/engine"
	"weir/workload"
)

// Two ranks as processes of their own, started from this test's binary: what weir's
// side of a comparison runs.

const benchRankEnv = "WEIR_BENCH_RANK"

// benchPatience ends a launch, or a peer, that hangs.
const benchPatience = time.Minute

type benchSpec struct {
	Launch engine.Launch
	Self   engine.Identity
}

// measured is what a launch of one case found.
type measured struct {
	Metrics   map[string]float64
	Transport string
	Every     int // one request in so many was stamped
}

// speed is GB/s of a stream, µs of a message of a ping-pong.
func (m measured) speed(o workload.TransferOptions) float64 {
	if o.Mode == "stream" {
		return m.Metrics["bandwidth"]
	}
	return m.Metrics["latency.avg"] * 1e6
}

type benchChild struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startChild(b *testing.B, ctx context.Context, env []string, spec benchSpec) benchChild {
	b.Helper()
	text, err := json.Marshal(spec)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(append(os.Environ(), env...), benchRankEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		b.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return benchChild{cmd, in, bufio.NewReader(out)}
}

// weirRun runs one case between two ranks on processors 0 and 1; with several threads
// they run wherever the kernel likes, as where processors are few.
func weirRun(b *testing.B, fabric string, env []string, o workload.TransferOptions) measured {
	b.Helper()
	ctx, stop := context.WithTimeout(context.Background(), benchPatience)
	defer stop() // kills whoever is left
	l := engine.Launch{Fabric: fabric, Ranks: 2, Nodes: []string{"a", "a"}, Seed: 1, Cases: []engine.Case{{Key: "a", Options: o, Timeout: int64(benchPatience)}}}
	children := make([]benchChild, 2)
	var addresses []string
	for i := range children {
		self := engine.Identity{Rank: i}
		if o.Threads == 1 {
			self.CPUs = []int{i}
		}
		children[i] = startChild(b, ctx, env, benchSpec{l, self})
	}
	for _, c := range children {
		line, err := c.out.ReadString('\n')
		if err != nil {
			b.Fatal("a rank died before it had an address")
		}
		addresses = append(addresses, strings.TrimSpace(line))
	}
	for _, c := range children {
		fmt.Fprintln(c.in, strings.Join(addresses, " "))
	}
	var m measured
	if err := json.NewDecoder(children[0].out).Decode(&m); err != nil {
		b.Fatal(err)
	}
	for _, c := range children {
		if err := c.cmd.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	return m
}

// benchRank is the other side of weirRun: one rank in a process of its own.
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
	page, err := unix.Mmap(-1, 0, engine.ControlSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	r, err := native{}.Open(spec.Launch, spec.Self, engine.ControlAt(page))
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
	res, err := r.Run(c)
	if err != nil {
		return err
	}
	if res.Initiator {
		m, err := engine.TransferMetrics(c, []*engine.CaseResult{res})
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(measured{m, res.Transport, res.Samples.Every}); err != nil {
			return err
		}
	}
	return r.Close()
}
