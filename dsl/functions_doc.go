// Documentation of the functions of expressions.

package dsl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// FunctionDoc documents a function of ${…}.
type FunctionDoc struct {
	Name      string
	Signature string // as size(text)
	Doc       string
	Example   string // an expression that needs no variables
}

var functionDocs = map[string][2]string{ // doc, example
	"size": {"bytes of a size", `size("64MiB") / size("4KiB")`},
	"rate": {"bytes per second of a rate", `rate("400Gb/s") / rate("1 GB/s")`},
	"time": {"seconds of a time", `time("5ms")`},

	"bytes": {"bytes of a size, as an argument of a program", `bytes("4KiB")`},

	"abs":      {"a number without its sign", `abs(-3)`},
	"ceil":     {"the smallest whole number not below it", `ceil(1.2)`},
	"floor":    {"the largest whole number not above it", `floor(1.8)`},
	"int":      {"a number without its fraction", `int(-1.8)`},
	"log":      {"the logarithm of a number to a base", `log(1024, 2)`},
	"max":      {"the largest of some numbers", `max(1, 5, 3)`},
	"min":      {"the smallest of some numbers", `min(1, 5, 3)`},
	"parseint": {"a whole number from its text in a base", `parseint("ff", 16)`},
	"pow":      {"a number to a power", `pow(2, 10)`},

	"format":  {"a text with values at its verbs, as printf", `format("rank-%02d", 7)`},
	"join":    {"the items of lists as one text, with a separator", `join(",", ["a", "b"])`},
	"lower":   {"a text in small letters", `lower("UCX")`},
	"replace": {"a text with every occurrence of a part replaced", `replace("a-b-c", "-", "_")`},
	"split":   {"a text as a list, cut at a separator", `split(",", "a,b")`},
	"substr":  {"a part of a text: from where, and how many characters (-1: all)", `substr("libfabric", 3, -1)`},
	"trim":    {"a text without the given characters at its ends", `trim("--a--", "-")`},
	"upper":   {"a text in capital letters", `upper("ucx")`},

	"coalesce": {"the first value that is not null", `coalesce(null, "b")`},
	"concat":   {"lists one after the other", `concat([1], [2, 3])`},
	"contains": {"whether a list has a value", `contains(["shm", "tcp"], "tcp")`},
	"element":  {"the item of a list at an index from 0, wrapping around after the last", `element(["a", "b"], 3)`},
	"length":   {"how many items a list has", `length([4, 5, 6])`},
	"reverse":  {"a list backwards", `reverse([1, 2, 3])`},

	"secret": {"the value of an environment variable, or of \"file:PATH\", read where the process starts and never stored; it must be the entire value of a variable in env",
		""},
}

// Functions are the functions of ${…} and of HCL expressions, by name.
func Functions() []FunctionDoc {
	var out []FunctionDoc
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		f := functions[name]
		var params []string
		for _, p := range f.Params() {
			params = append(params, p.Name)
		}
		if v := f.VarParam(); v != nil {
			params = append(params, v.Name+"…")
		}
		text := functionDocs[name]
		out = append(out, FunctionDoc{
			Name: name, Signature: fmt.Sprintf("%s(%s)", name, strings.Join(params, ", ")), Doc: text[0],
			Example: text[1],
		})
	}
	return out
}

// EvaluateExample returns the value of an expression without variables as ${…} would print it.
func EvaluateExample(example string) (string, error) {
	expr, diags := hclsyntax.ParseExpression([]byte(example), "example", hcl.InitialPos)
	if !diags.HasErrors() {
		var v cty.Value
		if v, diags = expr.Value(&hcl.EvalContext{Functions: functions}); !diags.HasErrors() {
			return exampleText(v)
		}
	}
	return "", fmt.Errorf("evaluating %s: %w", example, diags)
}

func exampleText(v cty.Value) (string, error) {
	if !v.IsNull() && v.IsKnown() && v.CanIterateElements() {
		var items []string
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			text, err := exampleText(e)
			if err != nil {
				return "", err
			}
			items = append(items, text)
		}
		return "[" + strings.Join(items, ", ") + "]", nil
	}
	text, problem := scalarText(v)
	if problem != "" {
		return "", fmt.Errorf("the value %s", problem)
	}
	return text, nil
}
