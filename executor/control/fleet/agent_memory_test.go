package fleet

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/test/phase"
)

// These variables make the program of this test an agent, in a process of its own.
const (
	agentEtcd  = "WEIR_TEST_AGENT_ETCD"
	agentState = "WEIR_TEST_AGENT_STATE"
	agentFiles = "WEIR_TEST_AGENT_FILES" // directory of its certificates
)

// TestAgentProcess is no test: it is the agent of another one.
func TestAgentProcess(t *testing.T) {
	endpoint := os.Getenv(agentEtcd)
	if endpoint == "" {
		return
	}
	ctx, end := context.WithCancel(t.Context())
	go func() { // until its starter is gone
		_, _ = os.Stdin.Read(make([]byte, 1))
		end()
	}()
	err := RunAgent(ctx, AgentOptions{
		Options: agent.Options{Node: "n1"}, State: os.Getenv(agentState),
		Credentials: link.FilesIn(os.Getenv(agentFiles), "n1").Load,
		Etcd:        registry.Config{Endpoints: []string{endpoint}},
		Say:         func(text string) { fmt.Printf("says %s\n", text) },
	})
	if err != nil {
		t.Fatal(err)
	}
}

// peak is the most memory that a process has had, in bytes.
func peak(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	n, err := strconv.Atoi(strings.TrimSpace(strings.Split(after, "kB")[0]))
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}

// hostileBytes are how much is written where an agent looks for invitations: in the tests of
// minutes as much as an etcd holds.
func hostileBytes() int {
	if phase.Whole() {
		return 1900 << 20 // its quota is 2 GiB
	}
	return 96 << 20
}

// However much stands in etcd where an agent looks for invitations, it takes little memory, says
// little of it, and still comes where it is invited.
func TestHostileValuesTakeLittleMemory(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	a := authority(t)
	dir, err := os.MkdirTemp("", "me") // t.TempDir's path is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	server, err := registry.StartServer(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	endpoint := server.Endpoint()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	put := func(session string, value []byte) {
		t.Helper()
		if _, err := client.Put(t.Context(), registry.DefaultPrefix+"invites/n1/"+session, string(value)); err != nil {
			t.Fatal(err)
		}
	}
	written := 0
	write := func(until int) {
		for i := 0; written < until; i++ {
			size := 1400 << 10 // longer than an invitation is
			if i%2 == 1 {
				size = registry.MostInvitation - 1<<10
			}
			put(fmt.Sprintf("hostile-%d", written), bytes.Repeat([]byte{byte(i)}, size))
			written += size
		}
	}
	write(hostileBytes() / 2)
	files := t.TempDir()
	if err := errors.Join(a.Save(files), issued(t, a, link.Agent, "n1").Save(files, "n1")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestAgentProcess$", "-test.v")
	cmd.Env = append(os.Environ(), agentEtcd+"="+endpoint, agentState+"="+t.TempDir(), agentFiles+"="+files)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close(); _ = cmd.Wait() }()
	registered, said := make(chan struct{}), make(chan int)
	go func() {
		lines := 0
		for in := bufio.NewScanner(stdout); in.Scan(); lines++ {
			if strings.Contains(in.Text(), "is registered") {
				close(registered)
			}
		}
		said <- lines
	}()
	begun := time.Now()
	<-registered
	write(hostileBytes()) // while it watches
	calls, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer calls.Close()
	put("genuine", Invitation{Coordinator: []string{calls.Addr().String()}}.Encode())
	conn, err := calls.Accept() // what came before was read before
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if most := peak(t, cmd.Process.Pid); most >= 200<<20 {
		t.Errorf("with %d MiB in etcd the agent took %d MiB", written>>20, most>>20)
	} else {
		t.Logf("with %d MiB in etcd the agent took %d MiB", written>>20, most>>20)
	}
	if err := stdin.Close(); err != nil {
		t.Error(err)
	}
	most := 20 + 4*limitMost*(1+int(time.Since(begun)/limitSpan))
	if n := <-said; n > most {
		t.Errorf("it said %d lines", n)
	}
}
