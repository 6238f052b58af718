package link

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"testing"
)

// What the link carries, and what it costs to have an agent: everything of both sides.
func BenchmarkSend(b *testing.B) {
	for _, size := range []int{100, pieceSize, MaxBody} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := serve(b, func(o *ServerOptions) { o.Take = func(string, Message) error { return nil } }, limit)
			l := dial(b, s.options(b, "n1"))
			m := Message{Head: []byte("k"), Body: content(size, 1)}
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

// How long it takes from dialling until the first message is taken.
func BenchmarkFirstMessage(b *testing.B) {
	took := make(chan struct{}, 1)
	s := serve(b, func(o *ServerOptions) { o.Take = func(string, Message) error { took <- struct{}{}; return nil } },
		limit)
	o := s.options(b, "n1")
	for n := 0; b.Loop(); n++ {
		o.Instance = fmt.Sprint("i", n)
		l := dial(b, o)
		if err := l.Send(Message{Head: []byte("k"), Body: []byte("hello")}); err != nil {
			b.Fatal(err)
		}
		<-took
		b.StopTimer()
		if err := goodbye(l); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// How long it takes from the cut of a connection until the next message is taken.
func BenchmarkReconnect(b *testing.B) {
	took := make(chan struct{}, 1)
	s := serve(b, func(o *ServerOptions) { o.Take = func(string, Message) error { took <- struct{}{}; return nil } },
		limit)
	o := s.options(b, "n1")
	conns := make(chan net.Conn, 1)
	o.Connect = func(ctx context.Context) (net.Conn, error) {
		conn, err := s.connect(ctx)
		if err == nil {
			conns <- conn
		}
		return conn, err
	}
	l := dial(b, o)
	for b.Loop() {
		(<-conns).Close()
		if err := l.Send(Message{Head: []byte("k"), Body: []byte("hello")}); err != nil {
			b.Fatal(err)
		}
		<-took
	}
	<-conns
}
