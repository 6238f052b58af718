package readiness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// soon is a deadline that a check which never holds reaches quickly.
const soon = 30 * time.Millisecond

func TestListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	accepted := make(chan struct{})
	go func() {
		if _, err := l.Accept(); err == nil {
			close(accepted)
		}
	}()
	six, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "with space.sock")
	unix, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	any6 := fmt.Sprint(six.Addr().(*net.TCPAddr).Port)
	for address, ready := range map[string]bool{
		port: true, "127.0.0.1:" + port: true, "127.0.0.2:" + port: false, "[::1]:" + port: false,
		any6: true, "127.0.0.1:" + any6: true, path: true, path + "x": false,
	} {
		err := Check{Listens: address, Within: soon}.Wait(t.Context(), Subject{PID: os.Getpid()})
		if (err == nil) != ready {
			t.Errorf("%s: %v", address, err)
		}
		if err != nil && !strings.HasSuffix(err.Error(), "not within 30ms: nothing listens there") {
			t.Error(err)
		}
	}
	select {
	case <-accepted:
		t.Error("the check connected to the server")
	default:
	}
	for _, closed := range []net.Listener{l, six, unix} {
		closed.Close()
	}
	if err := (Check{Listens: port, Within: soon}).Wait(t.Context(), Subject{}); err == nil {
		t.Error("nothing listens any more")
	}
}

// TestAForeignProcessHasThePort checks that the error names the other process, although the subject
// runs.
func TestAForeignProcessHasThePort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address := l.Addr().String()
	listened := Listening(address)
	time.Sleep(30 * time.Millisecond) // the kernel counts starts in ticks of 10 ms
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	defer other.Process.Kill()
	s := Subject{PID: other.Process.Pid, Listened: listened}
	err = Check{Listens: address, Within: time.Minute}.Wait(t.Context(), s)
	if want := fmt.Sprintf("process %d (", os.Getpid()); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	if err := s.has([]string{"1"}); err != nil { // of an unknown process
		t.Error(err)
	}
	s.Listened = []string{"1"}
	if err := s.has([]string{"1"}); err == nil {
		t.Error("an earlier listener is not reported as another process")
	}
}

func TestWhatCannotBeAnAddress(t *testing.T) {
	for _, address := range []string{"0", "70000", "localhost:80", "x", "1.2.3.4", "1.2.3.4:0"} {
		err := Check{Listens: address}.Wait(t.Context(), Subject{})
		if err == nil || !strings.Contains(err.Error(), address) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := (Check{Log: "("}).Wait(t.Context(), Subject{}); err == nil || !strings.Contains(err.Error(), "log") {
		t.Error(err)
	}
}

func TestHTTP(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch asked.Add(1) {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			fmt.Fprint(w, `{"data": []}`)
		default:
			fmt.Fprint(w, `{"data": ["mock"]}`)
		}
	}))
	defer server.Close()
	if err := (Check{HTTP: server.URL, Contains: `"mock"`, Within: 5 * time.Second}).Wait(t.Context(),
		Subject{}); err != nil {
		t.Error(err)
	}
	if n := asked.Load(); n != 3 {
		t.Errorf("asked %d times", n)
	}
	err := Check{HTTP: server.URL, Contains: "other", Within: soon}.Wait(t.Context(), Subject{})
	if err == nil || !strings.HasSuffix(err.Error(), `its answer does not contain "other"`) {
		t.Error(err)
	}
}

func TestWhatComesLater(t *testing.T) {
	var at atomic.Int32
	logged := func() bool { return at.Add(1) > 1 }
	if err := (Check{Log: `^listening on \d`}).Wait(t.Context(), Subject{Logged: logged}); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "ready")
	time.AfterFunc(10*time.Millisecond, func() { os.WriteFile(file, nil, 0o600) })
	if err := (Check{File: file}).Wait(t.Context(), Subject{}); err != nil {
		t.Error(err)
	}
	has := func(_ context.Context, key string) (bool, error) { return key == "a/b" && at.Add(1) > 5, nil }
	if err := (Check{Etcd: "a/b"}).Wait(t.Context(), Subject{HasKey: has}); err != nil {
		t.Error(err)
	}
	run := func(ctx context.Context, argv []string) error {
		return exec.CommandContext(ctx, argv[0], argv[1:]...).Run()
	}
	if err := (Check{Command: []string{"test", "-e", file}}).Wait(t.Context(), Subject{Run: run}); err != nil {
		t.Error(err)
	}
	err := Check{Command: []string{"test", "-e", file + "x"}, Within: time.Second}.Wait(t.Context(), Subject{Run: run})
	if err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Error(err)
	}
}

// Waiting stops when the process ends, after a last check of its output.
func TestAProcessThatEnds(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	s := Subject{
		Ended: ended, Status: func() string { return "exit status 3" },
		Logged: func() bool { return false },
	}
	began := time.Now()
	err := Check{Log: "ready", Within: time.Minute}.Wait(t.Context(), s)
	if err == nil || err.Error() != `log "ready": the process ended before it was ready: exit status 3` {
		t.Error(err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it waited %v", took)
	}
	done := s
	done.Logged = func() bool { return true }
	if err := (Check{Log: "done"}).Wait(t.Context(), done); err != nil {
		t.Error(err)
	}
	stopped, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the session is interrupted"))
	if err := (Check{Log: "ready"}).Wait(stopped, Subject{Logged: s.Logged}); err == nil ||
		!strings.Contains(err.Error(), "the session is interrupted") {
		t.Error(err)
	}
}
