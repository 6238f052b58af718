package serving

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving/load"
)

// Unfinished summarizes a load that was stopped. Its medians are of completed requests, among which long ones are
// underrepresented.
func (behaviour) Unfinished(spec workload.Spec, samples [][]byte) (string, error) {
	records, err := Records(samples)
	if err != nil {
		return "", err
	}
	all := len(records)
	good := slices.DeleteFunc(records, func(r load.Record) bool { return r.Outcome != load.OK })
	text := fmt.Sprintf("%d requests had ended when the load was stopped", all)
	if failed := all - len(good); failed > 0 {
		text += fmt.Sprintf(", %d of them without an answer", failed)
	}
	values := Summarize(spec.(*Spec), good)
	for _, name := range []string{"ttft.p50", "latency.p50"} {
		if v, ok := values[name]; ok {
			text += ", " + name + " " + quantity.Format(v, "s")
		}
	}
	return text + " (not judged: longer requests had not ended)", nil
}
