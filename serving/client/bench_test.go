package client

import (
	"bufio"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir/serving"
	"weir/serving/testserver"
)

const (
	benchStreams = 64
	benchTokens  = 32
)

// numbered are requests whose bodies say which they are.
func numbered(n int) [][]*serving.Request {
	return conversations(n, func(i int, q *serving.Request) {
		q.Body = fmt.Appendf(nil, `{"model":"m","n":%d,"prompt":%q}`, i, strings.Repeat("word ", 100))
	})
}

// BenchmarkTruth tells by how much times that the client measures differ from those that the server
// kept: 64 streams, server and client in one process.
func BenchmarkTruth(b *testing.B) {
	s := testserver.New(
		b,
		func(a *testserver.Answer) { a.Steady(benchTokens, 20*time.Millisecond, 5*time.Millisecond) },
	)
	c := newClient(b, Config{URL: s.URL, Stream: true})
	var first, gap []float64
	for b.Loop() {
		before := len(s.Requests())
		records := gather(b.Context(), c, Load{Next: Each(numbered(5 * benchStreams)), Slots: benchStreams})
		answers := map[int]*testserver.Answer{}
		for _, a := range s.Requests()[before:] {
			n, _ := a.Body["n"].(float64)
			answers[int(n)] = a
		}
		for _, r := range records {
			a := answers[r.Index]
			if r.Outcome != serving.OK || len(a.Sent) != benchTokens {
				b.Fatalf("%+v", r)
			}
			first = append(first, float64(r.First-r.Start)-float64(a.Sent[0].Sub(a.At)))
			truth := float64(a.Sent[benchTokens-1].Sub(a.Sent[0])) / (benchTokens - 1)
			gap = append(gap, float64(r.Last-r.First)/(benchTokens-1)-truth)
		}
	}
	for name, list := range map[string][]float64{"ttft": first, "itl": gap} {
		slices.Sort(list)
		b.ReportMetric(list[len(list)/2]/1e3, name+"-error-p50-µs")
		b.ReportMetric(list[len(list)*99/100]/1e3, name+"-error-p99-µs")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkTokens compares the client to one of nothing but sockets, in turns: 64 streams of a server
// that answers at once.
func BenchmarkTokens(b *testing.B) {
	s := testserver.New(b, func(a *testserver.Answer) { a.Steady(benchTokens, 0, 0) })
	c := newClient(b, Config{URL: s.URL, Stream: true})
	const n = 20 * benchStreams
	var ratios []float64
	for b.Loop() {
		begin := time.Now()
		for _, r := range gather(b.Context(), c, Load{Next: Each(numbered(n)), Slots: benchStreams}) {
			if r.Outcome != serving.OK {
				b.Fatalf("%+v", r)
			}
		}
		ours := time.Since(begin)
		begin = time.Now()
		bareSockets(b, strings.TrimPrefix(s.URL, "http://"), n)
		ratios = append(ratios, float64(time.Since(begin))/float64(ours))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "of-bare-sockets")
	b.ReportMetric(float64(n*benchTokens*b.N)/b.Elapsed().Seconds(), "tokens/s")
}

// bareSockets sends requests over a connection for each stream, and reads for the end of each answer.
func bareSockets(b *testing.B, at string, n int) {
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	for range benchStreams {
		all.Go(func() {
			conn, err := net.Dial("tcp", at)
			if err != nil {
				b.Error(err)
				return
			}
			defer conn.Close()
			in := bufio.NewReaderSize(conn, 64<<10)
			for left.Add(-1) >= 0 {
				body := fmt.Sprintf(`{"model":"m","prompt":%q}`, strings.Repeat("word ", 100))
				fmt.Fprintf(
					conn,
					"POST /v1/completions HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s",
					at,
					len(body),
					body,
				)
				for { // the last chunk of an answer is empty
					line, err := in.ReadString('\n')
					if err != nil {
						b.Error(err)
						return
					}
					if line == "0\r\n" {
						_, _ = in.ReadString('\n')
						break
					}
				}
			}
		})
	}
	all.Wait()
}

// BenchmarkOpenStreams tells what a process needs for each of many streams that are open at a time,
// with those of the server in it.
func BenchmarkOpenStreams(b *testing.B) {
	const streams = 4000
	for b.Loop() {
		var open sync.WaitGroup
		open.Add(streams)
		s := testserver.New(b, func(a *testserver.Answer) {
			a.Stream()
			a.Token("x")
			open.Done()
			open.Wait()
			a.Finish(1, 1)
		})
		c := newClient(b, Config{URL: s.URL, Stream: true})
		var most atomic.Uint64
		go func() {
			open.Wait()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most.Store(m.Sys)
		}()
		for _, r := range gather(b.Context(), c, Load{Next: Each(conversations(streams, nil)), Slots: streams}) {
			if r.Outcome != serving.OK {
				b.Fatalf("%+v", r)
			}
		}
		b.ReportMetric(float64(most.Load())/streams/1e3, "kB/stream-of-both-sides")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkLateness tells how late requests of an open load are sent: 500 per second.
func BenchmarkLateness(b *testing.B) {
	s := testserver.New(b, func(a *testserver.Answer) { a.Steady(1, 0, 0) })
	c := newClient(b, Config{URL: s.URL, Stream: true})
	var late []float64
	for b.Loop() {
		list := numbered(1000)
		for i, turns := range list {
			turns[0].Due = int64(i) * 2e6
		}
		c.Begin()
		for _, r := range gather(b.Context(), c, Load{Next: Each(list)}) {
			late = append(late, float64(r.Start-r.Due))
		}
	}
	slices.Sort(late)
	b.ReportMetric(late[len(late)/2]/1e3, "late-p50-µs")
	b.ReportMetric(late[len(late)*99/100]/1e3, "late-p99-µs")
	b.ReportMetric(0, "ns/op")
}
