package executor

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/host/environ"
	"github.com/weir-bench/weir/executor/rank"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

// TestMain makes the test binary its own rank and probe process, with the engine below: processes, pipes and etcd
// are real, only data is not moved.
func TestMain(m *testing.M) {
	engine.Register(engine.Native, testEngine{})
	engine.RegisterProber(testEngine{})
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "rank":
			os.Exit(rank.Main())
		case "probe":
			os.Exit(rank.ProbeMain(os.Stdout, os.Args[2:]))
		case crowdWord:
			os.Exit(beCrowd())
		}
	}
	for _, v := range os.Environ() { // a session records those of the shell that runs the tests
		if name, _, _ := strings.Cut(v, "="); environ.Tuning(name) {
			os.Unsetenv(name)
		}
	}
	// a process built with the race detector would otherwise take a second to exit
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	goleak.VerifyTestMain(m)
}

// testEngine synchronises its ranks over loopback sockets, in a star around rank 0, and injects in each phase the
// fault of faultEnv.
type testEngine struct{}

const (
	// faultEnv is "action phase rank", with a case's key as an optional fourth word.
	faultEnv = "WEIR_TEST_FAULT"
	// faultLaunchesEnv are the indices of the launches with the fault, as "0,2"; empty: all.
	faultLaunchesEnv = "WEIR_TEST_FAULT_LAUNCHES"
	// stepEnv is how long an iteration takes.
	stepEnv = "WEIR_TEST_STEP"
)

func (testEngine) Probe(fabrics []string) map[string]results.Fabric {
	all := map[string]results.Fabric{
		"shm":  {Available: true, Version: "test"},
		"tcp":  {Available: true, Version: "test"},
		"nixl": {Available: true, Version: "test"},
		"ucx":  {Reason: "libucp.so.0: not found"},
	}
	if len(fabrics) == 0 {
		return all
	}
	some := map[string]results.Fabric{}
	for _, f := range fabrics {
		if a, ok := all[f]; ok {
			some[f] = a
		}
	}
	return some
}

type testRank struct {
	launch   engine.Launch
	self     engine.Identity
	control  *engine.Control
	listener net.Listener
	peers    []net.Conn
	step     time.Duration
}

func (testEngine) Open(l engine.Launch, self engine.Identity, control *engine.Control) (engine.Rank, error) {
	r := &testRank{launch: l, self: self, control: control}
	r.step, _ = time.ParseDuration(os.Getenv(stepEnv))
	fmt.Printf("rank %d of %d opens on CPUs %d, UCX_POSIX_DIR=%s\n", self.Rank, l.Ranks, self.CPUs,
		os.Getenv("UCX_POSIX_DIR"))
	if err := r.fault("ready", ""); err != nil {
		return nil, err
	}
	if self.Rank == 0 {
		var err error
		if r.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *testRank) Address() ([]byte, error) {
	if r.listener == nil {
		return []byte("none"), nil
	}
	return []byte(r.listener.Addr().String()), nil
}

func (r *testRank) Connect(addresses [][]byte) error {
	if err := r.fault("connect", ""); err != nil {
		return err
	}
	if r.self.Rank > 0 {
		c, err := net.Dial("tcp", string(addresses[0]))
		if err != nil {
			return &engine.Error{Fabric: "test", Op: "connect", Phase: "connect", Peer: 0, Text: err.Error()}
		}
		r.peers = []net.Conn{c}
		return r.fault("connected", "")
	}
	for len(r.peers) < r.launch.Ranks-1 {
		if err := r.listener.(*net.TCPListener).SetDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			return err
		}
		c, err := r.listener.Accept()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if err := r.beat(); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			r.peers = append(r.peers, c)
		}
	}
	return nil
}

func (r *testRank) beat() error {
	r.control.Heartbeat.Add(1)
	if r.control.Abort.Load() != 0 {
		return &engine.Error{Fabric: "test", Op: "wait", Peer: -1, Code: -int(unix.ECANCELED), Text: "told to stop"}
	}
	return nil
}

func (r *testRank) Run(c engine.Case) (*workload.Part, error) {
	o, err := move.Read(c.Spec, c.Large)
	if err != nil {
		return nil, err
	}
	r.control.Total.Store(uint64(o.Iterations))
	r.control.Done.Store(0)
	r.control.Phase.Store(engine.PhaseRun)
	if err := r.barrier(); err != nil {
		return nil, err
	}
	start := now()
	for i := range o.Iterations {
		if i == o.Iterations/2 {
			if err := r.fault("run", c.Key); err != nil {
				return nil, err
			}
		}
		time.Sleep(r.step)
		if err := r.beat(); err != nil {
			return nil, err
		}
		r.control.Done.Add(1)
	}
	if err := r.barrier(); err != nil {
		return nil, err
	}
	end := now() + 1 // after everyone has begun: the timed parts always overlap
	res := &move.Part{
		Initiator: r.self.Rank < r.launch.Ranks/2, Verified: true, Transport: "test/loopback",
		Transports: []results.Transport{{Name: "loopback", Use: results.DataUse}},
	}
	if res.Initiator {
		bytes := uint64(o.BlockSize) * uint64(o.Iterations)
		r.control.Rate.Store(bytes * 1e9 / uint64(end-start))
		res.Samples = &results.Samples{
			Role: "initiator", Case: c.Key, Launch: r.launch.Index, Rank: r.self.Rank, Ops: uint64(o.Iterations),
			Bytes: bytes, Start: start, End: end, Every: 1,
			Counts: map[int]int64{100: o.Iterations}, First: []int64{100, 101},
		}
	}
	res.Rank = r.self.Rank
	return res.Encode(c.Key)
}

// barrier sends a byte from all ranks to rank 0 and back.
func (r *testRank) barrier() error {
	for _, p := range r.peers {
		if r.self.Rank > 0 {
			if _, err := p.Write([]byte{1}); err != nil {
				return r.peerGone(err)
			}
		}
		if err := r.await(p); err != nil {
			return err
		}
	}
	if r.self.Rank > 0 {
		return nil
	}
	for _, p := range r.peers {
		if _, err := p.Write([]byte{1}); err != nil {
			return r.peerGone(err)
		}
	}
	return nil
}

func (r *testRank) await(p net.Conn) error {
	for {
		if err := p.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			return err
		}
		_, err := p.Read(make([]byte, 1))
		if err == nil {
			return nil
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return r.peerGone(err)
		}
		if err := r.beat(); err != nil {
			return err
		}
	}
}

func (r *testRank) peerGone(err error) error {
	peer := 0
	if r.self.Rank == 0 {
		peer = 1
	}
	return &engine.Error{
		Fabric: "test", Op: "wait", Peer: peer, Code: -int(unix.ECONNRESET),
		Text: "connection to the peer is gone: " + err.Error(),
	}
}

func (r *testRank) Close() error {
	if err := r.fault("teardown", ""); err != nil {
		return err
	}
	for _, p := range r.peers {
		p.Close()
	}
	return nil
}

// fault injects the fault that the environment sets for this rank in this phase.
func (r *testRank) fault(phase, key string) error {
	f := strings.SplitN(os.Getenv(faultEnv), " ", 4)
	if len(f) < 3 || f[1] != phase || f[2] != fmt.Sprint(r.self.Rank) || len(f) == 4 && f[3] != key {
		return nil
	}
	if only, ok := os.LookupEnv(faultLaunchesEnv); ok &&
		!slices.Contains(strings.Split(only, ","), fmt.Sprint(r.launch.Index)) {
		return nil
	}
	fmt.Printf("rank %d: %s in %s\n", r.self.Rank, f[0], phase)
	switch f[0] {
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "stop":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(time.Hour)
	case "hang":
		time.Sleep(time.Hour)
	case "exit":
		os.Exit(3)
	case "panic":
		panic("a bug in the engine")
	case "error":
		return &engine.Error{Fabric: "test", Op: "put", Peer: -1, Code: -5, Text: "the card is on fire"}
	case "corrupt":
		return &engine.Error{
			Fabric: "test", Op: "verify", Phase: "verify", Peer: 0, Code: -int(unix.EBADMSG), Text: "wrong data",
		}
	case "verify":
		r.control.Phase.Store(engine.PhaseVerify)
		for {
			time.Sleep(10 * time.Millisecond)
			if err := r.beat(); err != nil {
				return err
			}
		}
	case "garbage":
		_, _ = syscall.Write(rank.SocketFD, []byte("[1234] a library that writes where it likes\n"))
		time.Sleep(time.Hour)
	case "slow":
		for {
			time.Sleep(10 * time.Millisecond)
			if err := r.beat(); err != nil {
				return err
			}
		}
	}
	return nil
}

func now() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}
