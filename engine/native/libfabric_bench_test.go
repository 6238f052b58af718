package native

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"weir/quantity"
	"weir/workload"
)

// The engine against fi_pingpong: the same provider, sizes and iterations, both as
// two processes on cores 0 and 1, in turns. fi_pingpong sends and receives messages
// where weir writes into the peer's memory, so the ratio (its time over weir's, above
// 1 is better) compares what a user gets, not equal calls.
const libfabricPairs = 5

func BenchmarkLibfabricPingpong(b *testing.B) {
	if _, err := exec.LookPath("fi_pingpong"); err != nil {
		b.Skip("no fi_pingpong here (Debian: libfabric-bin)")
	}
	for _, p := range providers(b) {
		if p == "sockets" {
			continue // no yardstick: milliseconds at 64 KiB, whoever drives it
		}
		for _, size := range []quantity.Size{8, 4 << 10, 64 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%v", p, size), func(b *testing.B) {
				for b.Loop() {
					compareFiPingpong(b, p, size)
				}
			})
		}
	}
}

func compareFiPingpong(b *testing.B, p string, size quantity.Size) {
	iterations := min(2000, max(100, int64(64<<20)/int64(size)))
	o := options(size, pingpong, provider(p), func(o *workload.TransferOptions) { o.Iterations, o.Warmup, o.Verify = iterations, 10, "none" })
	var ratios, ours, theirs []float64
	for i := range libfabricPairs {
		var weir, peer float64
		run := []func(){
			func() { weir = weirSpeed(b, "libfabric", nil, o) },
			func() { peer = fiPingpong(b, p, size, iterations) },
		}
		run[i%2]()
		run[1-i%2]()
		ratios, ours, theirs = append(ratios, peer/weir), append(ours, weir), append(theirs, peer)
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(ours), "weir-us")
	b.ReportMetric(median(theirs), "peer-us")
	b.ReportMetric(0, "ns/op") // the time of the benchmark itself means nothing
}

// bytes, sent, acknowledged, total, time, MB/s, µs per transfer
var fiRow = regexp.MustCompile(`(?m)^\S+\s+\S+\s+=\S+\s+\S+\s+[0-9.]+s\s+[0-9.]+\s+([0-9.]+)`)

// fiPingpong is µs of a message, half of a round trip.
func fiPingpong(b *testing.B, p string, size quantity.Size, iterations int64) float64 {
	peerRuns++
	port := strconv.Itoa(20000 + (os.Getpid()+peerRuns)%20000)
	args := []string{"-p", p, "-e", "rdm", "-I", strconv.FormatInt(iterations, 10), "-S", strconv.FormatInt(int64(size), 10)}
	server := exec.Command("taskset", append([]string{"-c", "1", "fi_pingpong", "-B", port}, args...)...)
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer server.Wait()
	for try := 0; ; try++ { // the server has no way to say that it listens
		time.Sleep(50 * time.Millisecond)
		out, err := exec.Command("taskset", append([]string{"-c", "0", "fi_pingpong", "-P", port}, append(args, "127.0.0.1")...)...).CombinedOutput()
		if row := fiRow.FindSubmatch(out); err == nil && row != nil {
			v, err := strconv.ParseFloat(string(row[1]), 64)
			if err != nil {
				b.Fatal(err)
			}
			return v
		}
		if try == 40 {
			server.Process.Kill()
			b.Fatalf("fi_pingpong: %v\n%s", err, out)
		}
	}
}
