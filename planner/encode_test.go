package planner_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/scenarios"
)

// A plan that is written case by case equals the plan written at once: the indented JSON of the
// struct, with a valid checksum.
func TestAPlanIsWrittenAsAStream(t *testing.T) {
	sources := map[string][]byte{
		"empty.yaml": []byte("scenario: s\nruns: {a: {workload: transfer, options: {block_size: 1}, sweep: {batch: [1], exclude: [{when: batch == 1}]}}}\n"),
	}
	for _, e := range scenarios.Entries() {
		sources[e.File] = e.Content
	}
	for file, src := range sources {
		s, _, diags := dsl.Load(file, src, dsl.Options{})
		if diags.HasErrors() {
			t.Fatal(file, diags)
		}
		table, diags := planner.Tabulate(s)
		if diags.HasErrors() {
			continue // a sweep without cases
		}
		var streamed bytes.Buffer
		if err := table.Write(&streamed); err != nil {
			t.Fatal(file, err)
		}
		p := table.Plan()
		whole, err := p.Encode()
		if err != nil || !bytes.Equal(whole, streamed.Bytes()) {
			t.Errorf("%s: %d bytes whole and %d as a stream, %v", file, len(whole), streamed.Len(), err)
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		var compact bytes.Buffer
		err = errors.Join(enc.Encode(p), json.Compact(&compact, whole))
		if err != nil || compact.String() != strings.TrimSuffix(want.String(), "\n") {
			t.Errorf("%s is not the JSON of the plan: %v", file, err)
		}
		if lines := strings.Count(string(whole), "\n    {\"key\":"); lines != len(p.Cases) {
			t.Errorf("%s: %d lines begin a case, of %d", file, lines, len(p.Cases))
		}
	}
}
