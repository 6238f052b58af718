package native

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"weir/engine"
	"weir/workload"
)

// rankProcess is a rank in a process of its own, as the agent has them.
type rankProcess struct {
	cmd     *exec.Cmd
	in      io.Writer
	words   bytes.Buffer // on stderr
	address string
}

func startRank(t *testing.T, l engine.Launch, rank int) *rankProcess {
	t.Helper()
	spec, err := json.Marshal(benchSpec{l, engine.Identity{Rank: rank}})
	if err != nil {
		t.Fatal(err)
	}
	p := &rankProcess{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), benchRankEnv+"="+string(spec))
	p.cmd.Stderr = &p.words
	in, err1 := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it may have ended
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("rank %d has no address: %v", rank, err)
	}
	p.in, p.address = in, strings.TrimSpace(line)
	return p
}

// A peer that is killed in mid-stream ends the case with an error that names it, or at
// the deadline where UCX notices nothing. UCX 1.13 itself aborts over cma, and sometimes
// over tcp, with words of its own: a rank's process is there to be lost.
func TestUCXKilledPeer(t *testing.T) {
	takesLong(t)
	const timeout = 2 * time.Second
	overUCX(t, func(t *testing.T, name string) {
		for how, change := range map[string]func(*workload.TransferOptions){"small": func(o *workload.TransferOptions) { o.BlockSize = 64 }, "large": func(*workload.TransferOptions) {}, "pingpong": pingpong} {
			t.Run(how, func(t *testing.T) {
				endless := func(o *workload.TransferOptions) { o.Iterations, o.Warmup, o.Verify = 1<<30, 0, "none" }
				l := engine.Launch{Fabric: "ucx", Ranks: 2, Nodes: []string{"a", "a"},
					Cases: []engine.Case{{Key: "a", Options: options(1<<20, api(name), change, endless), Timeout: int64(timeout)}}}
				ranks := []*rankProcess{startRank(t, l, 0), startRank(t, l, 1)}
				for _, p := range ranks {
					fmt.Fprintln(p.in, ranks[0].address, ranks[1].address)
				}
				time.Sleep(500 * time.Millisecond) // into the stream
				killed := time.Now()
				if err := ranks[1].cmd.Process.Kill(); err != nil {
					t.Fatalf("it had ended before: %v\n%s", err, &ranks[1].words)
				}
				_ = ranks[1].cmd.Wait() // it was killed
				ended := make(chan error, 1)
				go func() { ended <- ranks[0].cmd.Wait() }()
				select {
				case err := <-ended:
					took, words := time.Since(killed), ranks[0].words.String()
					known := strings.Contains(words, "peer 1") || strings.Contains(words, "the time of 2 s is up") || strings.Contains(words, "cma_ep.c") || strings.Contains(words, "tcp_ep.c")
					if err == nil || !known {
						t.Errorf("ended with %v and the words %q, want peer 1 named, or the deadline", err, words)
					}
					t.Logf("after %v: %v: %s", took.Round(time.Millisecond), err, words)
				case <-time.After(timeout + 8*time.Second):
					t.Fatal("hangs")
				}
			})
		}
	}, overQueue, overKernel, overSockets)
}

// What UCX itself says when it ends of messages that nobody took, or of requests that
// were not given back: nothing, even where every note is announced and fetched.
func TestUCXLeavesNothingBehind(t *testing.T) {
	overUCX(t, func(t *testing.T, name string) {
		log := t.TempDir() + "/log"
		t.Setenv("UCX_LOG_FILE", log)
		for _, o := range []workload.TransferOptions{options(8, api(name)), options(100000, api(name)), options(8, pingpong, api(name))} {
			l := engine.Launch{Fabric: "ucx", Ranks: 2, Nodes: []string{"a", "a"}, Cases: []engine.Case{{Key: "a", Options: o, Timeout: 20e9}}}
			ranks := []*rankProcess{startRank(t, l, 0), startRank(t, l, 1)}
			for _, p := range ranks {
				fmt.Fprintln(p.in, ranks[0].address, ranks[1].address)
			}
			for i, p := range ranks {
				if err := p.cmd.Wait(); err != nil {
					t.Errorf("rank %d: %v\n%s", i, err, &p.words)
				}
				text, err := os.ReadFile(log)
				if err != nil || len(text) > 0 {
					t.Errorf("rank %d: UCX logged %v\n%s", i, err, text)
				}
			}
		}
	}, overQueue, overSockets, announced)
}
