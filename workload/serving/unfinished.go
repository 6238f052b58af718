package serving

import (
	"fmt"
	"slices"

	"weir/quantity"
	"weir/serving"
	"weir/workload"
)

// unfinished says what was done of a load that was told to stop, for a person. Its medians are of
// requests that had ended, among which the long ones are too few.
func unfinished(spec workload.Spec, samples [][]byte) (string, error) {
	records, err := Records(samples)
	if err != nil {
		return "", err
	}
	all := len(records)
	good := slices.DeleteFunc(records, func(r serving.Record) bool { return r.Outcome != serving.OK })
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
	return text + " (not judged: those that take longer had not ended)", nil
}
