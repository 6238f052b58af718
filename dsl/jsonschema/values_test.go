package jsonschema_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/yamlsyntax"
	"github.com/weir-bench/weir/workload"
)

// candidates are texts: each type of an option accepts some.
var candidates = strings.Fields("0 1 2 3 8 16 1_024 -1 +1 0.5 .5 1e3 1e-3 1E3 4096 4KiB 1.5MiB 1MB 64B 4k 1GB 1Gb 1ns 3us 1µs 2ms 1.5s 5m 1h " +
	"10GB/s 400Gbps 100Gb/s 1MiB/s 2/s 0.5/s 10/s 3% 0.1% 100% true false yes no on off auto default local none all null ~ " +
	"uniform:1,512 zipf:1.2 0.0 00 0x10 1. 1_0KiB 0B 0s 0% 0/s")

// Whatever an option accepts is accepted as a value of its axis, of the run, and of a variant.
func TestValuesThatParseAreAccepted(t *testing.T) {
	s := compiled(t)
	accepted := 0
	for _, k := range workload.Kinds() {
		for _, o := range k.Options {
			if o.Type == option.Structure || o.Type == option.Data {
				continue // an axis has only scalars
			}
			texts := append([]string{}, candidates...)
			for _, c := range candidates {
				texts = append(texts, strings.Replace(c, "1", "1 ", 1))
			}
			if o.Default != nil {
				texts = append(texts, o.DefaultText())
			}
			for _, text := range append(texts, o.Values...) {
				if _, err := o.Parse(text); err != nil || text == "" || text == "null" || text == "~" {
					continue
				}
				for _, written := range []string{text, strconv.Quote(text)} {
					src := "scenario: x\nvariants: {a: {options: {" + o.Name + ": " + written + "}}, baseline: a}\n" +
						"runs: {r: {workload: " + k.Name + ", sweep: {zip: {" + o.Name + ": [" + written + "]}}}}\n"
					root, diags := yamlsyntax.ParseTree([]byte(src), "x")
					if diags.HasErrors() {
						continue
					}
					accepted++
					if err := s.Validate(value(root)); err != nil {
						t.Errorf("%s: %v\n%s", k.Name, err, src)
					}
				}
			}
		}
	}
	t.Logf("%d values", accepted)
}
