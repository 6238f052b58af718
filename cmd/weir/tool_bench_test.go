//go:build cgo

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/interop/output"
	"github.com/weir-bench/weir/results"
)

const (
	// toolPairs is how many pairs a median is of.
	toolPairs = 15
	// toolBound is how far the median of what a tool says in a run may be from what it says by hand.
	toolBound = 0.02
	// readyBound is how much longer a service may take to be ready than it takes by itself.
	readyBound = 100 * time.Millisecond
)

const toolScenario = `
scenario: tool
services:
  server: {command: [ucx_perftest, -p, "${port.s}"], ready: {listens: "${port.s}"}, fresh: launch}
runs:
  perftest:
    workload: command
    launches: 1
    options:
      roles:
        server: {command: [ucx_perftest, -p, "${port.a}"], ready: {listens: "${port.a}"}, ends: with client}
        client:
          after: [server]
          command: [ucx_perftest, "${role.server.address}", -p, "${port.a}", -t, ucp_put_bw, -s, 65536, -n, 200000, -f]
      parse: {of: client, format: ucx_perftest}
  ready:
    workload: command
    launches: 1
    services: [server]
    options: {roles: {client: {command: ["true"]}}}
`

// BenchmarkTool runs ucx_perftest by hand and through weir in turns (A B B A), and compares what
// it prints; and how long its server takes until it listens by hand with how long until weir
// calls a service ready. The result is added to the table of BenchmarkPeers.
func BenchmarkTool(b *testing.B) {
	if _, err := exec.LookPath("ucx_perftest"); err != nil {
		b.Skip(err)
	}
	program := built(b)
	file := filepath.Join(b.TempDir(), "tool.yaml")
	if err := os.WriteFile(file, []byte(toolScenario), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var ratios, ours, theirs []float64
		var extra []time.Duration
		for i := range toolPairs {
			var weir, hand float64
			through := func() {
				doc := toolSession(b, program, file, "perftest")
				weir, _ = doc.Cases[0].Launches[0].Metrics.Get("bandwidth")
			}
			byHand := func() { hand = perftestByHand(b) }
			ready := func() { extra = append(extra, readyThrough(b, program, file)-listensByHand(b)) }
			if i%2 == 0 {
				byHand()
				through()
			} else {
				through()
				byHand()
			}
			ready()
			ours, theirs, ratios = append(ours, weir), append(theirs, hand), append(ratios, weir/hand)
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		slices.Sort(extra)
		middle := toolPairs / 2
		ratio, cost := ours[middle]/theirs[middle], extra[middle]
		slices.Sort(ratios)
		b.ReportMetric(ratio, "ratio")
		b.ReportMetric(ms(cost), "ms/readiness")
		b.ReportMetric(0, "ns/op") // the time of the benchmark itself means nothing
		met := func(is bool) string { return map[bool]string{true: "yes", false: "**no**"}[is] }
		keepTable(b, fmt.Sprintf("\n## A tool through weir and by hand\n\nucx_perftest, ucp_put_bw of 64 KiB, %d pairs in turns.\n\n"+
			"| what | through weir | by hand | median | middle half | bar | met |\n|---|---:|---:|---:|---:|---|---|\n"+
			"| bandwidth, GB/s | %.2f | %.2f | %.3f | %.3f–%.3f | 0.98–1.02 | %s |\n"+
			"| readiness, ms more than it takes | | | %.1f | %.1f–%.1f | < %d | %s |\n",
			toolPairs, ours[middle], theirs[middle], ratio, ratios[toolPairs/4], ratios[toolPairs*3/4],
			met(ratio >= 1-toolBound && ratio <= 1+toolBound), ms(cost),
			ms(extra[toolPairs/4]), ms(extra[toolPairs*3/4]), readyBound.Milliseconds(), met(cost < readyBound)))
	}
}

// toolSession runs one of the scenario's runs and gives its document.
func toolSession(b *testing.B, program, file, run string) *results.Document {
	b.Helper()
	out := filepath.Join(b.TempDir(), "out")
	defer os.RemoveAll(out)
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	if text, err := exec.CommandContext(ctx, program, "run", file, "--only", run, "--out", out, "--quiet").
		CombinedOutput(); err != nil {
		b.Fatalf("weir run: %v\n%s", err, text)
	}
	doc, err := results.Read(filepath.Join(out, "results.json"))
	if err != nil {
		b.Fatal(err)
	}
	doc.Cases = slices.DeleteFunc(doc.Cases, func(c *results.Case) bool { return c.Run != run })
	return doc
}

func readyThrough(b *testing.B, program, file string) time.Duration {
	doc := toolSession(b, program, file, "ready")
	return time.Duration(doc.Services[0].Ready * float64(time.Second))
}

// serverByHand starts ucx_perftest's server and says after how long it listens.
func serverByHand(b *testing.B) (server *exec.Cmd, port string, took time.Duration) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	number := l.Addr().(*net.TCPAddr).Port
	l.Close()
	port = strconv.Itoa(number)
	server = exec.Command("ucx_perftest", "-p", port)
	begun := time.Now()
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Process.Kill() })
	// to connect would be taken for the client
	listening := regexp.MustCompile(fmt.Sprintf(`(?m)^\s*\d+: [0-9A-F]+:%04X [0-9A-F]+:0000 0A `, number))
	for time.Since(begun) < 20*time.Second {
		for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
			if text, err := os.ReadFile(name); err == nil && listening.Match(text) {
				return server, port, time.Since(begun)
			}
		}
		time.Sleep(time.Millisecond)
	}
	b.Fatal("ucx_perftest does not listen")
	return nil, "", 0
}

func listensByHand(b *testing.B) time.Duration {
	server, _, took := serverByHand(b)
	_ = server.Process.Kill()
	_ = server.Wait() // it was killed
	return took
}

func perftestByHand(b *testing.B) float64 {
	b.Helper()
	server, port, _ := serverByHand(b)
	out, err := exec.Command("ucx_perftest", "127.0.0.1", "-p", port, "-t", "ucp_put_bw", "-s", "65536", "-n", "200000",
		"-f").Output()
	if err != nil {
		b.Fatalf("ucx_perftest: %v\n%s", err, out)
	}
	_ = server.Wait() // it ends with its client
	format, _ := output.Lookup("ucx_perftest")
	rows, err := format.Read(out)
	if err != nil || len(rows) != 1 {
		b.Fatalf("%d rows, %v\n%s", len(rows), err, strings.TrimSpace(string(out)))
	}
	return rows[0].Values["bandwidth"]
}
