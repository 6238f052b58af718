package assertion

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestKeyIsOfTheMeaning(t *testing.T) {
	lower := 1.
	a := Assertion{
		Name: "n", Text: "bandwidth >= 1", File: "a.yaml", Line: 3, Severity: Gate,
		Subject: metric("bandwidth", "GB/s"), Unit: "GB/s", Bounds: Bounds{Lower: &lower},
	}
	b := a
	b.File, b.Line, b.Text = "b.hcl", 9, "bandwidth >= 1 GB/s"
	if a.Key() != b.Key() {
		t.Error("the place or the spelling changed the key")
	}
	a.Name, b.Name = a.Text, b.Text // as without a name of the author's
	if a.Key() != b.Key() {
		t.Error("the spelling changed the key by way of the name")
	}
	b.Severity = Warn
	if a.Key() == b.Key() {
		t.Error("the severity did not change the key")
	}
}

// Whatever a verdict depends on changes the key; a new field that does not would
// let two plans that judge differently pass for one.
func TestKeyHasEveryField(t *testing.T) {
	unjudged := map[string]bool{"Name": true, "Text": true, "Lowered": true, "File": true, "Line": true, "Target": true,
		"Written": true, "Compared": true} // Compared is of the spelling, and decides where no value is above zero
	lower := 1.
	values := map[string]any{
		"Severity": Warn, "Subject": metric("latency", "s"), "Unit": "s", "Bounds": Bounds{Lower: &lower},
		"Trend":      &Trend{Axis: "a"},
		"Quantifier": "all", "Parts": []Part{{Case: "c"}}, "Cases": []string{"c"}, "Halo": 0.1,
		"Multiple": "holm",
		"Decide":   &Decide{Confidence: 0.9}, "XFail": &XFail{Reason: "r"},
		"Transport": &Transport{Of: All, Names: []string{"tcp"}}, "Reference": &Reference{Table: "t"},
		"Provider": &Provider{Fact: "hmem_p2p"},
		"Noise":    []Noise{{Metric: "bandwidth", Launch: 0.01}},
	}
	fields := reflect.TypeFor[Assertion]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		if unjudged[name] {
			continue
		}
		v, ok := values[name]
		if !ok {
			t.Errorf("field %s is not tested", name)
			continue
		}
		var a Assertion
		before := a.Key()
		reflect.ValueOf(&a).Elem().Field(i).Set(reflect.ValueOf(v))
		if a.Key() == before {
			t.Errorf("field %s is not in the key", name)
		}
	}
	own, other, baseline := Assertion{Subject: metric("a", "")}, Assertion{Subject: at("a", "k")},
		Assertion{Subject: &Expr{Op: Metric, Metric: "a", Case: "k", Baseline: true}}
	if own.Key() == other.Key() || other.Key() == baseline.Key() {
		t.Error("the case of a metric is not in the key")
	}
}

func TestJSONKeepsEverything(t *testing.T) {
	lower := 0.5
	a := Assertion{
		Name: "n", Text: "t", Severity: Gate, Quantifier: "any", Cases: []string{"k"}, Halo: 0.05,
		Multiple: "holm",
		Parts: []Part{
			{
				Subject: op(Div, at("a", "k"), &Expr{Op: Geomean, Args: []*Expr{{Op: Metric, Metric: "b", Case: "k",
					Baseline: true}, number(2)}}), Bounds: Bounds{Lower: &lower}, Case: "k",
			},
		},
		Decide: &Decide{Confidence: 0.9, OnInconclusive: "warn"}, XFail: &XFail{Reason: "r", Until: "2030-01-02"},
	}
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back Assertion
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(a, back) {
		t.Errorf("%v: %s came back as %+v", err, b, back)
	}
}
