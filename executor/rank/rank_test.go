package rank

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/wire"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "rank" {
		os.Exit(Main())
	}
	os.Exit(m.Run())
}

func TestRankStartedByHand(t *testing.T) {
	out, err := exec.Command(os.Args[0], "rank").CombinedOutput()
	exit, ok := err.(*exec.ExitError)
	if !ok || exit.ExitCode() != 4 || !strings.Contains(string(out), "not by hand") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestProbeWithoutAnEngineSaysSo(t *testing.T) {
	var b bytes.Buffer
	if code := ProbeMain(&b, nil); code != 0 {
		t.Errorf("exit status %d", code)
	}
	var p Probe
	if err := json.Unmarshal(b.Bytes(), &p); err != nil || !strings.Contains(p.Error, "without cgo") {
		t.Errorf("%s: %v", b.Bytes(), err)
	}
}

// silent is an agent that sends nothing more.
type silent struct{ wire.Conn }

func (silent) Receive() (wire.Frame, error) { return wire.Frame{}, io.EOF }

// An agent that ends while a rank waits for its message stops the rank, which is no failure of the rank and does
// not prevent a retry.
func TestAgentThatHangsUpTellsTheRankToStop(t *testing.T) {
	_, err := receive(silent{}, wire.KindGo)
	e, ok := errors.AsType[*engine.Error](err)
	if !ok || e.Code != -int(unix.ECANCELED) || !strings.Contains(e.Text, wire.KindGo.String()) {
		t.Errorf("%#v", err)
	}
}

// A peer that does not answer is named with its node, unless that is the rank's own: the node's link may be broken.
func TestThePeerThatDoesNotAnswerIsNamed(t *testing.T) {
	nodes := []string{"a", "b", "a"}
	for name, test := range map[string]struct {
		peer int
		want string
	}{
		"another node": {1, "tcp: connect (peer 1 on node b): timed out"},
		"own node":     {2, "tcp: connect (peer 2): timed out"},
		"no peer":      {-1, "tcp: connect: timed out"},
		"no such rank": {7, "tcp: connect (peer 7): timed out"},
	} {
		err := fmt.Errorf("%w", &engine.Error{Fabric: "tcp", Op: "connect", Peer: test.peer, Text: "timed out"})
		sent, _ := errors.AsType[*engine.Error](namePeer(err, 0, nodes))
		got, err := wire.DecodeFailure(wire.EncodeFailure(sent))
		if err != nil || got.Error() != test.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
