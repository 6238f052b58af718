package rank

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
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
