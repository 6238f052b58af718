package link

import (
	"fmt"
	"runtime"
	"testing"
)

// What the link carries, and what it costs to have an agent: everything of both sides.
func BenchmarkSend(b *testing.B) {
	for _, size := range []int{100, pieceSize, MaxBody} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := serve(b, func(o *ServerOptions) { o.Take = func(string, Message) error { return nil } }, limit)
			l := dial(b, s.options(b, "n1"))
			m := Message{Kind: "k", Body: content(size, 1)}
			b.SetBytes(int64(size))
			for b.Loop() {
				if err := l.Send(m); err != nil {
					b.Fatal(err)
				}
			}
			if err := goodbye(l); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkAgents(b *testing.B) {
	s := serve(b, nil, limit)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := 0
	for b.Loop() {
		n++
		dial(b, s.options(b, fmt.Sprint("n", n)))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/float64(n), "B/agent")
}
