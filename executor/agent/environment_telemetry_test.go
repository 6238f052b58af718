package agent

import (
	"slices"
	"testing"

	"github.com/weir-bench/weir/executor/host/environ"
)

func TestRanksOfAHostHavePortsOfTheirOwnForNIXL(t *testing.T) {
	for name, c := range map[string]struct {
		scenario map[string]string
		rank     int
		want     string // "": the variable is not there
	}{
		"no exporter":     {map[string]string{}, 1, ""},
		"another":         {map[string]string{telemetryExporter: "doca"}, 1, ""},
		"first":           {map[string]string{telemetryExporter: "prometheus"}, 0, ""},
		"second":          {map[string]string{telemetryExporter: "prometheus"}, 1, "9091"},
		"several at once": {map[string]string{telemetryExporter: "PROMETHEUS_MP"}, 2, "9092"},
		"own port":        {map[string]string{telemetryExporter: "prometheus", telemetryPort: "9400"}, 3, "9403"},
		"no port is left": {map[string]string{telemetryExporter: "prometheus", telemetryPort: "65535"}, 1, "65535"},
		"no number":       {map[string]string{telemetryExporter: "prometheus", telemetryPort: "x"}, 1, "x"},
	} {
		before := environ.Layers{Scenario: c.scenario}.Compose()
		got := withTelemetryPort(before, c.rank)
		i := slices.IndexFunc(got.Env, func(e string) bool { return e == telemetryPort+"="+c.want })
		if has := i >= 0; has != (c.want != "") {
			t.Errorf("%s: %v", name, got.Env)
		}
		for _, v := range got.Record {
			if v.Name == telemetryPort && v.Value != c.want {
				t.Errorf("%s: recorded as %s", name, v.Value)
			}
		}
	}
}
