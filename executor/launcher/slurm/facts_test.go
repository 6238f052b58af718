package slurm

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sinfoText is the output of sinfo for 5 nodes, of which 2 can have a job with 8 GPUs.
const sinfoText = `gpu01|gpu|idle|p5,efa|gpu:h100:8(S:0-1),efa:32
gpu01|debug|idle|p5,efa|gpu:h100:8(S:0-1),efa:32
gpu02|gpu|mixed|p5,efa|gpu:h100:8(S:0-1),efa:32
gpu03|gpu|drained|p5,efa|gpu:h100:8(S:0-1),efa:32
gpu04|gpu|idle*|p5,efa|gpu:h100:8(S:0-1),efa:32
cpu01|cpu|allocated|(null)|(null)
`

func TestLacks(t *testing.T) {
	dir := t.TempDir()
	script := `#!/bin/sh
case "$*" in
*"--partition=none"*) exit 0 ;;
"--noheader --Node --format=%N|%R|%T|%b|%G") cat <<'E'
` + sinfoText + `E
;;
*) echo "sinfo: error: $*" >&2; exit 1 ;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "sinfo"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for name, c := range map[string]struct {
		w    Wanted
		want string
	}{
		"all there": {Wanted{Features: []string{"efa"}, GRES: map[string]string{"gpu": "8", "efa": "4"}, Nodes: 2}, ""},
		"of a type": {Wanted{GRES: map[string]string{"gpu:h100": "8"}, Nodes: 2}, ""},
		"too few": {Wanted{Features: []string{"efa"}, GRES: map[string]string{"gpu": "8"}, Nodes: 3},
			"nodes that fit (needed: 3, there: 2 of 5); " +
				"node cpu01 has no feature efa, has 0 of gres gpu (needed: 8); node gpu03 is drained; node gpu04 is idle*"},
		"more than there is": {Wanted{GRES: map[string]string{"efa": "64"}, Nodes: 1},
			"nodes that fit (needed: 1, there: 0 of 5); node cpu01 has 0 of gres efa (needed: 64); " +
				"node gpu01 has 32 of gres efa (needed: 64); node gpu02 has 32 of gres efa (needed: 64); " +
				"node gpu03 is drained; node gpu04 is idle*"},
		"partition": {Wanted{Partition: "none", Nodes: 1}, "partition none has no nodes; sinfo lists the partitions"},
	} {
		got, err := Lacks(t.Context(), c.w)
		if text := strings.Join(got, "; "); text != c.want || err != nil {
			t.Errorf("%s: %q and %v, want %q", name, text, err, c.want)
		}
	}
	if _, err := Lacks(t.Context(), Wanted{GRES: map[string]string{"gpu": "some"}, Nodes: 1}); err == nil {
		t.Error("an amount that is none is taken")
	}
}

func TestGenericResources(t *testing.T) {
	for text, want := range map[string]map[string]int{
		"(null)":                       {},
		"gpu:8":                        {"gpu": 8},
		"gpu":                          {"gpu": 1},
		"gpu:h100:8(S:0,1),gpu:a100:2": {"gpu": 10, "gpu:h100": 8, "gpu:a100": 2},
		"craynetwork:4,hbm:16G":        {"craynetwork": 4, "hbm": 16 << 30},
		"":                             {},
	} {
		if got := parseGRES(text); !maps.Equal(got, want) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	if _, err := parseFacts("gpu01|gpu|idle\n"); err == nil {
		t.Error("a line with too few fields is read")
	}
}
