package kube

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// answers is a kubectl that gives the files of testdata/facts: answers of a cluster of two P5 nodes, one of another
// kind and one that is cordoned, as `kubectl get --output json` prints them.
func answers(t *testing.T) *Client {
	t.Helper()
	dir, err := filepath.Abs("testdata/facts")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubectl")
	script := fmt.Sprintf(`#!/bin/sh
in=
[ "$1" = --namespace ] && { in=$2; shift 2; }
[ "$1 $2 $3" = "get --output json" ] || { echo "error: unknown command $*" >&2; exit 1; }
shift 3
[ "$1" = nodes ] && in=
file="%s/$in$(echo "$*" | tr -d ' ').json"
[ -f "$file" ] || { echo "Error from server (NotFound): $1 \"$2\" not found" >&2; exit 1; }
cat "$file"
`, dir)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Client{Program: path}
}

func TestLacks(t *testing.T) {
	p5 := map[string]string{"node.kubernetes.io/instance-type": "p5.48xlarge"}
	devices := map[string]string{
		"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32", "hugepages-2Mi": "2Gi", "cpu": "8",
	}
	for name, c := range map[string]struct {
		w    Wanted
		want string
	}{
		"all there": {Wanted{Labels: p5, Allocatable: devices, Nodes: 2}, ""},
		"too few": {Wanted{Labels: p5, Allocatable: devices, Nodes: 3},
			"nodes that fit (needed: 3, there: 2 of 4); " +
				"node ip-10-0-1-7 has node.kubernetes.io/instance-type=m5.large, not p5.48xlarge, " +
				"has 1930m of cpu (needed: 8), has 0 of hugepages-2Mi (needed: 2Gi), has no nvidia.com/gpu, " +
				"has no vpc.amazonaws.com/efa; node ip-10-0-1-8 is cordoned"},
		"ready": {Wanted{DaemonSet: "aws-efa-k8s-device-plugin", Namespace: "kube-system"}, ""},
		"not ready": {Wanted{DaemonSet: "nvidia-device-plugin", Namespace: "kube-system"},
			"daemonset nvidia-device-plugin in namespace kube-system has 1 of 2 pods ready"},
		"exists":      {Wanted{DaemonSet: "nvidia-device-plugin", Namespace: "kube-system", Exists: true}, ""},
		"on no node":  {Wanted{DaemonSet: "idle"}, "daemonset idle runs on no node"},
		"not there":   {Wanted{DaemonSet: "other", Namespace: "x"}, "there is no daemonset other in namespace x"},
		"deployment":  {Wanted{Deployment: "operator"}, "deployment operator has 0 of 1 replicas ready"},
		"established": {Wanted{CRD: "dynamographdeployments.nvidia.com"}, ""},
		"no crd":      {Wanted{CRD: "x.nvidia.com", Namespace: "n"}, "there is no crd x.nvidia.com"},
	} {
		got, err := answers(t).Lacks(t.Context(), c.w)
		text := strings.Join(got, "; ")
		if text != c.want || err != nil {
			t.Errorf("%s: %q and %v, want %q", name, text, err, c.want)
		}
	}
	if _, err := answers(t).Lacks(t.Context(), Wanted{Allocatable: map[string]string{"cpu": "many"}, Nodes: 1}); err ==
		nil || !strings.Contains(err.Error(), `"many" is no quantity`) {
		t.Errorf("an amount that is none: %v", err)
	}
	if _, err := (&Client{Program: "/nowhere/kubectl", Missing: "install it"}).Lacks(t.Context(),
		Wanted{DaemonSet: "x"}); err == nil {
		t.Error("without kubectl a cluster lacks nothing")
	}
}

func TestQuantity(t *testing.T) {
	for text, want := range map[string]float64{
		"8": 8, "0": 0, "500m": 0.5, "191450m": 191.45, "32Gi": 32 << 30, "2079990420Ki": 2079990420 << 10, "1e3": 1000,
		"4G": 4e9, "1.5": 1.5, "": -1, "x": -1, "-1": -1, "0x8": -1, "NaN": -1, "1_0": -1, "Gi": -1,
	} {
		got, err := Quantity(text)
		if want < 0 && err == nil || want >= 0 && (err != nil || math.Abs(got-want) > 1e-9*want) {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
}
