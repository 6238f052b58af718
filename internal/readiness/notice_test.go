package readiness

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkNotice measures the delay until each kind of condition is noticed, at the longest pause
// between looks. For etcd it measures the looks, not the response time.
func BenchmarkNotice(b *testing.B) {
	var is atomic.Bool
	path := filepath.Join(b.TempDir(), "ready")
	set := func() { is.Store(true) }
	write := func() {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			b.Error(err)
		}
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !is.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})}
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = server.Serve(web) }()
	b.Cleanup(func() { _ = server.Close() })
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	var listener net.Listener
	listen := func() {
		l, err := net.Listen("tcp", address)
		if err != nil {
			b.Error(err)
			return
		}
		listener = l
	}
	subject := Subject{
		PID: os.Getpid(), Status: func() string { return "" }, Logged: is.Load,
		HasKey: func(context.Context, string) (bool, error) { return is.Load(), nil },
		Run: func(ctx context.Context, argv []string) error {
			return exec.CommandContext(ctx, argv[0], argv[1:]...).Run()
		},
	}
	for _, k := range []struct {
		name  string
		check Check
		make  func()
	}{
		{"file", Check{File: path}, write},
		{"log", Check{Log: "x"}, set},
		{"etcd", Check{Etcd: "x"}, set},
		{"http", Check{HTTP: "http://" + web.Addr().String()}, set},
		{"command", Check{Command: []string{"test", "-e", path}}, write},
		{"listens", Check{Listens: address}, listen},
	} {
		b.Run(k.name, func(b *testing.B) {
			var total time.Duration
			for range b.N {
				is.Store(false)
				_ = os.Remove(path)
				ready := make(chan time.Time, 1)
				time.AfterFunc(300*time.Millisecond, func() { k.make(); ready <- time.Now() })
				if err := k.check.Wait(b.Context(), subject); err != nil {
					b.Fatal(err)
				}
				total += max(0, time.Since(<-ready))
				if listener != nil {
					_ = listener.Close()
					listener = nil
				}
			}
			b.ReportMetric(float64(total)/1e6/float64(b.N), "ms/notice")
		})
	}
}
