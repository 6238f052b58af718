package reporters

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/golden"
)

// calibration has a proposal of two metrics, one without noise, refusals for noise and
// for launches that failed, and a run with a key without axes.
func calibration() *results.Calibration {
	day := func(n int) time.Time { return time.Date(2026, 11, n, 3, 15, 0, 0, time.UTC) }
	at := func(size string) map[string]any { return map[string]any{"block_size": size, "batch": float64(4)} }
	order := []string{"batch", "block_size"}
	noise := func(launch, session, node float64) []results.Component {
		return []results.Component{{Of: "launches", CV: launch}, {Of: "sessions", CV: session}, {Of: "nodes", CV: node}}
	}
	small, large := "write[batch=4,block_size=64KiB]", "write[batch=4,block_size=1MiB]"
	return &results.Calibration{
		Scenario: "nightly ${x} \x1b[1m", Confidence: 0.96, Cap: 0.2, ExitCode: 6,
		Environment: "sha256:" + strings.Repeat("0123", 16),
		Sessions: []results.Calibrated{
			{File: "mon/results.json", Digest: "sha256:01", Session: "s1", Started: day(21), Weir: "v0.1.0"},
			{File: "tue/results.json", Digest: "sha256:02", Session: "s2", Started: day(22), Weir: "v0.1.0"},
		},
		Targets: []*results.Target{
			{
				Case: small, Run: "write", Axes: at("64KiB"), AxisOrder: order, Metric: "bandwidth", Unit: "GB/s",
				Value: 9.87654321, Sessions: 2, Launches: 24, Look: 12, Noise: noise(0.0123, 0.004, 0), Tolerance: 0.06,
			},
			{
				Case: small, Run: "write", Axes: at("64KiB"), AxisOrder: order, Metric: "latency.p99", Unit: "s",
				Value: 1.23456e-5, Sessions: 2, Launches: 24, Look: 12, Noise: noise(0.02, 0, 0.01), Tolerance: 0.085,
			},
			{
				Case: large, Run: "write", Axes: at("1MiB"), AxisOrder: order, Metric: "bandwidth", Unit: "GB/s",
				Value: 10, Sessions: 2, Launches: 24, Look: 12, Noise: noise(0, 0, 0), Tolerance: 0.005,
			},
			{
				Case: large, Run: "write", Axes: at("1MiB"), AxisOrder: order, Metric: "latency.p99", Unit: "s",
				Value: 0.1, Sessions: 2, Launches: 24, Look: 12, Noise: noise(0.2, 0.1, 0), Tolerance: 0.9,
				Refused: "fix the noise first: launches vary by 20%",
			},
			{
				Case: "one", Run: "one", Metric: "ceiling", Value: 0.91, Sessions: 2, Launches: 6, Look: 3,
				Noise: noise(0.01, 0.01, 0)[:2], Tolerance: 0.05,
			},
			{
				Case: "bad", Run: "bad", Metric: "bandwidth", Unit: "GB/s",
				Refused: "session s2 cannot be used: launch 1 failed", Unusable: true,
			},
		},
	}
}

func TestGoldenCalibration(t *testing.T) {
	var b bytes.Buffer
	if err := CalibrationText(&b, calibration()); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, filepath.Join("testdata", "calibration", "calibration.txt"), b.Bytes())
	b.Reset()
	if err := References(&b, calibration()); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, filepath.Join("testdata", "calibration", "references.yaml"), b.Bytes())
}
