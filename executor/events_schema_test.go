package executor

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/results"
)

var eventSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(event.Schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("events.json", v); err != nil {
		return nil, err
	}
	return c.Compile("events.json")
})

// holdToSchema reports the first event of each type that the schema does not allow.
func holdToSchema(t testing.TB, events []event.Event) {
	t.Helper()
	s, err := eventSchema()
	if err != nil {
		t.Fatal(err)
	}
	bad := map[event.Type]bool{}
	for _, e := range events {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); err != nil && !bad[e.Type] {
			bad[e.Type] = true
			t.Errorf("%s: %v", b, err)
		}
	}
}

// The schema has exactly the types and fields of events, each described or with its values.
func TestEventsSchemaIsWhole(t *testing.T) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(event.Schema, &s); err != nil {
		t.Fatal(err)
	}
	var fields []string
	for f := range reflect.TypeFor[event.Event]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "-" {
			fields = append(fields, name)
		}
	}
	slices.Sort(fields)
	if has := slices.Sorted(maps.Keys(s.Properties)); !slices.Equal(has, fields) {
		t.Errorf("the schema has the fields %q, events have %q", has, fields)
	}
	var kind struct {
		OneOf []struct {
			Const       string `json:"const"`
			Description string `json:"description"`
		} `json:"oneOf"`
	}
	if err := json.Unmarshal(s.Properties["type"], &kind); err != nil {
		t.Fatal(err)
	}
	var described, named []string
	for _, k := range kind.OneOf {
		described = append(described, k.Const)
		if k.Description == "" {
			t.Errorf("%s is not described", k.Const)
		}
	}
	source, err := os.ReadFile("event/event.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`Type = "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		named = append(named, m[1])
	}
	if len(named) == 0 || !slices.Equal(described, named) {
		t.Errorf("the schema describes %q, there are %q", described, named)
	}
}

// A metric that is not finite is written as in a document, and does not end the stream.
func TestEventWithMetricsThatAreNotFinite(t *testing.T) {
	launch := 0
	e := event.Event{
		Type: event.CaseMeasured, Group: "g", Launch: &launch, Case: "c", Status: results.OK,
		Metrics: results.ValuesOf(map[string]float64{"bandwidth": math.Inf(1), "skew": math.NaN()}),
	}
	holdToSchema(t, []event.Event{e})
	b, err := json.Marshal(e)
	if err != nil || !strings.Contains(string(b), `"bandwidth":"Infinity"`) {
		t.Errorf("%s, %v", b, err)
	}
}

// A missing required field is an error.
func TestEventsSchemaRefuses(t *testing.T) {
	s, err := eventSchema()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`{"type": "node_ready", "node": "n"}`, `{"time": "2026-11-21T10:15:00Z", "type": "node_ready"}`,
		`{"time": "2026-11-21T10:15:00Z", "type": "lunch", "node": "n"}`,
		`{"time": "2026-11-21T10:15:00Z", "type": "case_started", "group": "g", "launch": 0}`,
		`{"time": "2026-11-21T10:15:00Z", "type": "node_ready", "node": "n", "more": 1}`,
	} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(v) == nil {
			t.Errorf("%s is allowed", text)
		}
	}
}
