//go:build weirtest

package native

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/quantity"
)

// The peers: a client and a server on the processors of weir's ranks (benchCPUs). Every value is what the
// tool prints for its client.

// peerRun is one run of a peer.
type peerRun struct {
	out string
	// busy is the server's CPU time divided by that of the client, which spins: a server that must progress
	// the transfers but slept delays it.
	busy     float64
	resident int64 // peak resident memory of the client, bytes
}

// runPeer binds both sides if bound is set, for peers that use one processor per side.
func runPeer(b *testing.B, env []string, bound bool, server, client []string, port int) peerRun {
	b.Helper()
	ctx, stop := context.WithTimeout(context.Background(), benchTimeout)
	defer stop()
	runtime.LockOSThread() // Pdeathsig is sent when the starting thread ends
	defer runtime.UnlockOSThread()
	cpus := benchCPUs(b)
	command := func(cpu int, args []string) *exec.Cmd {
		if bound {
			args = append([]string{"taskset", "-c", strconv.Itoa(cpu)}, args...)
		}
		c := exec.CommandContext(ctx, args[0], args[1:]...)
		c.Env = append(userEnvironment(), env...)
		// a leftover process would share a core with all later rows
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		return c
	}
	s := command(cpus[1], server)
	if err := s.Start(); err != nil {
		b.Fatal(err)
	}
	defer s.Process.Kill()
	awaitListener(b, port)
	c := command(cpus[0], client)
	out, err := c.CombinedOutput()
	if err != nil {
		b.Fatalf("%s: %v\n%s", client[0], err, out)
	}
	_ = s.Wait() // the client's exit status suffices
	used := func(p *os.ProcessState) float64 { return (p.UserTime() + p.SystemTime()).Seconds() }
	most := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10 // getrusage(2): in KiB
	return peerRun{string(out), used(s.ProcessState) / used(c.ProcessState), most}
}

// userEnvironment returns this process's environment without the variables set for its own ranks: a peer
// without memory events would register its buffers for each request.
func userEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool { return slices.Contains(fabric.RankEnv(), e) })
}

// freePort returns a port without a listener.
func freePort(b *testing.B) int {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// awaitListener returns when a process listens on the port. Connecting to find out would be taken for the
// client.
func awaitListener(b *testing.B, port int) {
	b.Helper()
	listening := regexp.MustCompile(fmt.Sprintf(`(?m)^\s*\d+: [0-9A-F]+:%04X [0-9A-F]+:0000 0A `, port))
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
			if text, err := os.ReadFile(file); err == nil && listening.Match(text) {
				return
			}
		}
	}
	b.Fatalf("no listener on port %d after 10 s", port)
}

func number(b *testing.B, text string) float64 {
	b.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && (v <= 0 || math.IsNaN(v)) { // infinite: too few iterations to time
		err = fmt.Errorf("%s is no speed and no time", text)
	}
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// ucxTest is one of ucx_perftest's tests, and weir's equivalent.
type ucxTest struct {
	name, perftest string
	api, op, mode  string
	window         int64
	program        string
}

var finalRow = regexp.MustCompile(`(?m)^(?:Final:)?\s+\d+\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)`)

// perftest returns GB/s of a bandwidth test, µs of a latency test.
func perftest(b *testing.B, env []string, test ucxTest, size quantity.Size, iterations int64) (float64, peerRun) {
	b.Helper()
	port := freePort(b)
	p := strconv.Itoa(port)
	run := runPeer(b, withWrittenMemory(b, env), true, []string{test.program, "-p", p}, []string{
		test.program, "-p", p, "127.0.0.1", "-t", test.perftest, "-s", strconv.FormatInt(int64(size), 10),
		"-n", strconv.FormatInt(iterations, 10), "-w", strconv.FormatInt(iterations/10+1, 10), "-O",
		strconv.FormatInt(test.window, 10), "-f",
	}, port)
	rows := finalRow.FindAllStringSubmatch(run.out, -1)
	if len(rows) == 0 {
		b.Fatalf("no result in\n%s", run.out)
	}
	checkResident(b, run, size)
	row := rows[len(rows)-1]
	if test.mode != "stream" {
		return number(b, row[3]), run // overall latency
	}
	v := number(b, row[5]) * (1 << 20) / 1e9 // overall MB/s, which are MiB
	if test.api == "rma" && test.op == "write" {
		// it times one transfer more than it counts, which carries the end mark; messages need none
		v *= float64(iterations+1) / float64(iterations)
	}
	return v, run
}

// lanes matches UCX's log of an endpoint; with protocols v2 that is cfg#0.
var lanes = regexp.MustCompile(`(?:ep_cfg\[\d+\]:|cfg#\d+) *(.*)`)

// ucxLanes returns the transports that UCX logs as selected for what, in an untimed run.
func ucxLanes(b *testing.B, run func(env []string)) string {
	b.Helper()
	dir := b.TempDir()
	run([]string{"UCX_LOG_LEVEL=info", "UCX_LOG_FILE=" + filepath.Join(dir, "%p")})
	var found []string
	logs, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range logs {
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		for _, m := range lanes.FindAllStringSubmatch(string(text), -1) {
			found = append(found, strings.TrimSpace(m[1]))
		}
	}
	if len(found) == 0 {
		b.Errorf("UCX logged no lanes in %s", logs)
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), " | ")
}

// fiRow matches bytes, sent, acknowledged, total, time, MB/s and µs per transfer.
var fiRow = regexp.MustCompile(`(?m)^\S+\s+\S+\s+=\S+\s+\S+\s+[0-9.]+s\s+[0-9.]+\s+([0-9.]+)`)

// fiPingpong returns µs per message, half of a round trip.
func fiPingpong(b *testing.B, provider string, size quantity.Size, iterations int64) float64 {
	b.Helper()
	port := freePort(b)
	p := strconv.Itoa(port)
	args := []string{
		"-p", provider, "-e", "rdm", "-I", strconv.FormatInt(iterations, 10), "-S", strconv.FormatInt(int64(size), 10),
	}
	server := append([]string{"fi_pingpong", "-B", p}, args...)
	client := append(append([]string{"fi_pingpong", "-P", p}, args...), "127.0.0.1")
	run := runPeer(b, []string{"IPATH_NO_BACKTRACE=1", "HFI_NO_BACKTRACE=1"}, true, server, client, port)
	row := fiRow.FindStringSubmatch(run.out)
	if row == nil {
		b.Fatalf("no result in\n%s", run.out)
	}
	return number(b, row[1])
}

// iperf3Seconds is the shortest duration that iperf3 accepts.
const iperf3Seconds = 1

// iperf3 returns the GB/s received by its server.
func iperf3(b *testing.B, streams int64, block quantity.Size) float64 {
	b.Helper()
	port := freePort(b)
	p := strconv.Itoa(port)
	run := runPeer(b, nil, streams == 1, []string{"iperf3", "-s", "-1", "-p", p}, []string{
		"iperf3", "-c", "127.0.0.1", "-p", p, "-t", strconv.Itoa(iperf3Seconds), "-P", strconv.FormatInt(streams, 10),
		"-l", strconv.FormatInt(int64(block), 10), "-J",
	}, port)
	var report struct {
		End struct {
			Received struct {
				Rate float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	if err := json.Unmarshal([]byte(run.out), &report); err != nil {
		b.Fatalf("%v in\n%s", err, run.out)
	}
	return report.End.Received.Rate / 8e9
}
