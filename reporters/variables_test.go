package reporters

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

func TestVariablesInReports(t *testing.T) {
	doc := read(t, "passed")
	if got := variables(doc); got != "" {
		t.Errorf("without any: %s", got)
	}
	for i, c := range doc.Cases {
		for _, l := range c.Launches {
			l.Variables = []results.Variable{
				{Name: "LD_LIBRARY_PATH", Value: "/opt", From: results.FromNode}, {
					Name: "UCX_TLS", Value: fmt.Sprint("t", i), From: results.FromShell,
				},
			}
			if i == 0 {
				l.Variables = append(l.Variables, results.Variable{Name: "FI_PROVIDER", From: results.FromScenario},
					results.Variable{Name: "UCX_NET_DEVICES", Value: "***", From: results.FromSecret, Ranks: []int{1}})
			}
		}
	}
	n := len(doc.Cases)
	if n < 2 {
		t.Fatalf("%d cases", n)
	}
	want := `FI_PROVIDER="" (scenario, 1 case), LD_LIBRARY_PATH=/opt (node), UCX_NET_DEVICES=*** (secret, 1 case), UCX_TLS=t0 or t1`
	if got := variables(doc); !strings.HasPrefix(got, want) {
		t.Errorf("it is %s, want %s", got, want)
	}
	for format, want := range map[string]string{
		"table": "library variables: FI_PROVIDER", "markdown": "\nlibrary variables: FI_PROVIDER",
		"html": "LD_LIBRARY_PATH=/opt (node)",
	} {
		if got := written(t, format, doc); !strings.Contains(got, want) {
			t.Errorf("%s does not say %q", format, want)
		}
	}
}

// However many there are, it stays a line.
func TestManyVariablesInReports(t *testing.T) {
	doc := read(t, "passed")
	l := doc.Cases[0].Launches[0]
	for i := range 40 {
		l.Variables = append(l.Variables, results.Variable{
			Name: fmt.Sprintf("UCX_%02d", i/4), Value: strings.Repeat(fmt.Sprint(i), 1000), From: results.FromNode,
		})
		l.Variables = append(l.Variables, results.Variable{
			Name: fmt.Sprintf("FI_%02d", i), Value: "x\n\x1b[2J", From: results.FromNode,
		})
	}
	got := variables(doc)
	if len(got) > textLimit+10 || strings.ContainsAny(got, "\n\x1b") ||
		!strings.Contains(got, "and 30 more; results.json has all") {
		t.Errorf("%d bytes: %.3000s", len(got), got)
	}
}

func TestAgainHasTheShellsVariables(t *testing.T) {
	doc := read(t, "failed")
	doc.Environment.Variables = map[string]string{"UCX_TLS": "tcp", "FI_PROVIDER": "a b'c", "NCCL_DEBUG": ""}
	command := againOnly(doc, "a")
	if want := `env FI_PROVIDER='a b'\''c' NCCL_DEBUG='' UCX_TLS=tcp weir run `; !strings.HasPrefix(command, want) {
		t.Errorf("%s, want %s…", command, want)
	}
}
