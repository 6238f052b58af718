package native

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/engine"
	"weir/quantity"
	"weir/workload"
)

// The engine against ucx_perftest: the same library, UCX_TLS, window, iterations
// and kind of buffer (allocated by UCX), both as two processes on cores 0 and 1,
// one after the other in turns. A ratio is weir's speed over the peer's (for
// latencies the peer's over weir's), so above 1 is better; the median counts.

// pairs is how often each comparison is made; the first to run alternates.
const pairs = 11

type peerTest struct {
	name, perftest string
	mode           string
	window         int64
}

var peerTests = []peerTest{
	{"put_bw", "ucp_put_bw", "stream", 32},
	{"put_lat", "ucp_put_lat", "pingpong", 1},
}

func BenchmarkUCXPerftest(b *testing.B) {
	if _, err := exec.LookPath("ucx_perftest"); err != nil {
		b.Skip("no ucx_perftest here (Debian: ucx-utils)")
	}
	for _, tls := range []string{"posix", "sysv"} {
		for _, test := range peerTests {
			for _, size := range []quantity.Size{8, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20} {
				b.Run(fmt.Sprintf("%s/%s/%v", tls, test.name, size), func(b *testing.B) {
					for b.Loop() {
						comparePeer(b, tls, test, size)
					}
				})
			}
		}
	}
}

func comparePeer(b *testing.B, tls string, test peerTest, size quantity.Size, change ...func(*workload.TransferOptions)) {
	iterations := int64(20000)
	if size > 1<<20 {
		iterations = 63
	} else if size >= 64<<10 {
		iterations = 4000
	}
	o := options(size, append(change, func(o *workload.TransferOptions) {
		o.Mode, o.InFlight, o.Iterations, o.Warmup = test.mode, test.window, iterations, iterations/10+1
	})...)
	var ratios, ours, theirs []float64
	for i := range pairs {
		var weir, peer float64
		run := []func(){
			func() { weir = weirSpeed(b, "ucx", []string{"UCX_TLS=" + tls}, o) },
			func() { peer = perftestSpeed(b, tls, test, size, iterations) },
		}
		run[i%2]()
		run[1-i%2]()
		if test.mode == "stream" {
			ratios = append(ratios, weir/peer)
		} else {
			ratios = append(ratios, peer/weir)
		}
		ours, theirs = append(ours, weir), append(theirs, peer)
	}
	unit := "GB/s"
	if test.mode != "stream" {
		unit = "us"
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(ours), "weir-"+unit)
	b.ReportMetric(median(theirs), "peer-"+unit)
	b.ReportMetric(0, "ns/op") // the time of the benchmark itself means nothing
}

// BenchmarkShmMemcpy: the stream over shm against the best single-thread copy,
// probed in the same launch.
func BenchmarkShmMemcpy(b *testing.B) {
	for _, size := range []quantity.Size{4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20} {
		b.Run(size.String(), func(b *testing.B) {
			for b.Loop() {
				var ratios, rates []float64
				for range pairs {
					m := weirRun(b, "shm", nil, options(size, func(o *workload.TransferOptions) {
						o.Iterations = max(63, min(20000, int64(4<<30)/int64(size)))
					}))
					ratios, rates = append(ratios, m["ceiling"]), append(rates, m["bandwidth"])
				}
				b.ReportMetric(median(ratios), "ratio")
				b.ReportMetric(median(rates), "weir-GB/s")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// BenchmarkRecord: what is added to a stamped request, the clock read included.
func BenchmarkRecord(b *testing.B) {
	least := math.Inf(1)
	for b.Loop() {
		least = min(least, recordCost(1_000_000))
	}
	b.ReportMetric(least, "ns/record")
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

func weirSpeed(b *testing.B, fabric string, env []string, o workload.TransferOptions) float64 {
	m := weirRun(b, fabric, env, o)
	if o.Mode == "stream" {
		return m["bandwidth"]
	}
	return m["latency.avg"] * 1e6
}

const benchRankEnv = "WEIR_BENCH_RANK"

type benchSpec struct {
	Launch engine.Launch
	Self   engine.Identity
}

// weirRun runs one case in two rank processes and gives its metrics.
func weirRun(b *testing.B, fabric string, env []string, o workload.TransferOptions) map[string]float64 {
	l := engine.Launch{Fabric: fabric, Ranks: 2, Nodes: []string{"a", "a"}, Seed: 1, Cases: []engine.Case{{Key: "a", Options: o, Timeout: int64(time.Minute)}}}
	type child struct {
		cmd *exec.Cmd
		in  io.WriteCloser
		out *bufio.Reader
	}
	children := make([]child, 2)
	var addresses []string
	for i := range children {
		spec, _ := json.Marshal(benchSpec{l, engine.Identity{Rank: i, CPUs: []int{i}}})
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(append(os.Environ(), env...), benchRankEnv+"="+string(spec))
		cmd.Stderr = os.Stderr
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err1 != nil || err2 != nil {
			b.Fatal(err1, err2)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		children[i] = child{cmd, in, bufio.NewReader(out)}
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
	var metrics map[string]float64
	if err := json.NewDecoder(children[0].out).Decode(&metrics); err != nil {
		b.Fatal(err)
	}
	for _, c := range children {
		if err := c.cmd.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	return metrics
}

// benchRank is the other side of weirRun: one rank in a process of its own.
func benchRank() int {
	err := func() error {
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
			if err := json.NewEncoder(os.Stdout).Encode(m); err != nil {
				return err
			}
		}
		return r.Close()
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

var peerRuns int

var finalRow = regexp.MustCompile(`(?m)^(?:Final:)?\s+\d+\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)`)

// perftestSpeed is GB/s of a bandwidth test, µs of a latency test.
func perftestSpeed(b *testing.B, tls string, test peerTest, size quantity.Size, iterations int64) float64 {
	peerRuns++
	port := strconv.Itoa(20000 + (os.Getpid()+peerRuns)%20000) // a port that was just closed may still be taken
	env := append(os.Environ(), "UCX_TLS="+tls)
	server := exec.Command("taskset", "-c", "1", "ucx_perftest", "-p", port)
	server.Env = env
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer server.Wait()
	args := []string{"-c", "0", "ucx_perftest", "-p", port, "127.0.0.1", "-t", test.perftest, "-s", strconv.FormatInt(int64(size), 10),
		"-n", strconv.FormatInt(iterations, 10), "-w", strconv.FormatInt(iterations/10+1, 10), "-O", strconv.FormatInt(test.window, 10), "-f"}
	var out []byte
	for try := 0; ; try++ { // the server has no way to say that it listens
		time.Sleep(50 * time.Millisecond)
		client := exec.Command("taskset", args...)
		client.Env = env
		var err error
		if out, err = client.CombinedOutput(); err == nil {
			break
		}
		if try == 20 {
			server.Process.Kill()
			b.Fatalf("ucx_perftest: %v\n%s", err, out)
		}
	}
	rows := finalRow.FindAllStringSubmatch(string(out), -1)
	if len(rows) == 0 {
		b.Fatalf("no result in\n%s", out)
	}
	row := rows[len(rows)-1]
	column, scale := row[3], 1. // overall latency
	if test.mode == "stream" {
		column, scale = row[5], float64(1<<20)/1e9 // overall MB/s, which are MiB
	}
	v, err := strconv.ParseFloat(column, 64)
	if err != nil {
		b.Fatal(err)
	}
	return v * scale
}
