// The functions of ${…} and of HCL expressions.

package dsl

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/weir-bench/weir/internal/quantity"
)

// functions are the functions of ${…} and of HCL expressions.
var functions = map[string]function.Function{
	"size": measure("size", quantity.SizeDim),
	"rate": measure("rate", quantity.RateDim),
	"time": measure("time", quantity.TimeDim),

	"bytes": measure("bytes", quantity.SizeDim),

	"abs":      stdlib.AbsoluteFunc,
	"ceil":     stdlib.CeilFunc,
	"floor":    stdlib.FloorFunc,
	"int":      stdlib.IntFunc,
	"log":      stdlib.LogFunc,
	"max":      stdlib.MaxFunc,
	"min":      stdlib.MinFunc,
	"parseint": stdlib.ParseIntFunc,
	"pow":      stdlib.PowFunc,

	"format":  stdlib.FormatFunc,
	"join":    stdlib.JoinFunc,
	"lower":   stdlib.LowerFunc,
	"replace": stdlib.ReplaceFunc,
	"split":   stdlib.SplitFunc,
	"substr":  stdlib.SubstrFunc,
	"trim":    stdlib.TrimFunc,
	"upper":   stdlib.UpperFunc,

	"coalesce": stdlib.CoalesceFunc,
	"concat":   stdlib.ConcatFunc,
	"contains": stdlib.ContainsFunc,
	"element":  stdlib.ElementFunc,
	"length":   stdlib.LengthFunc,
	"reverse":  stdlib.ReverseListFunc,

	secretFunction: secret,
}

// measure converts a quantity to base units: bytes, bytes per second or seconds. A plain number is
// in base units already.
func measure(name string, dim quantity.Dimension) function.Function {
	return function.New(&function.Spec{
		Description: fmt.Sprintf("the number of base units in a %s", dim),
		Params:      []function.Parameter{{Name: "text", Type: cty.String}},
		Type:        function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if dim == quantity.SizeDim { // exact to the byte
				n, err := quantity.ParseSize(args[0].AsString())
				if err != nil {
					return cty.UnknownVal(cty.Number), function.NewArgError(0, err)
				}
				return cty.NumberIntVal(int64(n)), nil
			}
			q, err := quantity.Parse(args[0].AsString())
			if err != nil {
				return cty.UnknownVal(cty.Number), function.NewArgError(0, err)
			}
			if q.Dim != dim && q.Unit != "" {
				return cty.UnknownVal(cty.Number),
					function.NewArgErrorf(0, "%q is a %s, and %s() takes a %s", args[0].AsString(), q.Dim, name, dim)
			}
			return cty.NumberFloatVal(quantity.Round(q.Value)), nil
		},
	})
}
