// Scalars: numbers, flags, times, percentages and words.

package dsl

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/suggest"
)

// plainText is the text of a known scalar.
func plainText(v cty.Value) (string, bool) {
	s, problem := scalarText(v)
	return s, problem == ""
}

// scalarText formats a scalar as text. Numbers have all their digits, and fractions none that
// binary adds.
func scalarText(v cty.Value) (text, problem string) {
	switch {
	case !v.IsKnown():
		return "", "is not known"
	case v.IsNull():
		return "", "has no value"
	case v.Type() == cty.String:
		return v.AsString(), ""
	case v.Type() == cty.Bool:
		return strconv.FormatBool(v.True()), ""
	case v.Type() == cty.Number:
		f := v.AsBigFloat()
		if f.IsInf() {
			return "", "is not a finite number"
		}
		if f.IsInt() {
			if f.MantExp(nil) > 1024 {
				return "", "is too large a number"
			}
			n, _ := f.Int(nil)
			return n.String(), ""
		}
		g, _ := f.Float64()
		return strconv.FormatFloat(quantity.Round(g), 'f', -1, 64), ""
	}
	if v.Type().IsObjectType() || v.Type().IsMapType() {
		return "", "is a mapping, not a single value"
	}
	return "", notSingle
}

// notSingle is the problem of a list in place of a scalar.
const notSingle = "is a list, not a single value"

// ctyOf converts an axis value for expressions: sizes and counts of options are numbers in base
// units, quantities of an axis of the author's own are texts.
func ctyOf(v any) cty.Value {
	switch v := v.(type) {
	case nil:
		return cty.NullVal(cty.String)
	case quantity.Size:
		return cty.NumberIntVal(int64(v))
	case int64:
		return cty.NumberIntVal(v)
	case float64:
		return cty.NumberFloatVal(v)
	case bool:
		return cty.BoolVal(v)
	case string:
		return cty.StringVal(v)
	case quantity.Written: // programs get the author's spelling
		return cty.StringVal(v.String())
	}
	if n, ok := option.Number(v); ok {
		return cty.NumberFloatVal(n)
	}
	panic(fmt.Sprintf("dsl: axis value of type %T", v))
}

// parseNumber reads a plain decimal number: no leading zeros, no hexadecimal, nothing infinite.
func parseNumber(text string) (float64, bool) {
	f, _, err := big.ParseFloat(text, 10, 64, big.ToNearestEven)
	if err != nil || f.IsInf() || text[0] == '+' {
		return 0, false
	}
	digits := text
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) > 1 && digits[0] == '0' && digits[1] != '.' {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// count reads a whole number within bounds.
func (d *decoder) count(expr hcl.Expression, what string, least, most int) int {
	text, ok := d.text(expr, what)
	if !ok {
		return least
	}
	return d.countText(item{text: text, at: expr.Range()}, what, least, most)
}

func (d *decoder) countText(i item, what string, least, most int) int {
	n, err := strconv.Atoi(i.text)
	switch {
	case err != nil:
		d.error(i.at, "Invalid value", fmt.Sprintf("%s is a whole number, not %q.", what, i.text), "")
	case n < least:
		d.error(i.at, "Invalid value", fmt.Sprintf("%s is at least %d, not %d.", what, least, n), "")
	case n > most:
		d.error(i.at, "Invalid value", fmt.Sprintf("%s is at most %d, not %d.", what, most, n), "")
	default:
		return n
	}
	return least
}

// flag reads true or false.
func (d *decoder) flag(expr hcl.Expression, what string) bool {
	text, ok := d.text(expr, what)
	if ok && text != "true" && text != "false" {
		d.error(expr.Range(), "Invalid value", fmt.Sprintf("%s is true or false, not %q.", what, text), "")
	}
	return text == "true"
}

// duration reads a time above zero.
func (d *decoder) duration(expr hcl.Expression, what string) time.Duration {
	return d.timeAbove(expr, what, 1, "above zero")
}

// wait reads a time that may be zero.
func (d *decoder) wait(expr hcl.Expression, what string) time.Duration {
	return d.timeAbove(expr, what, 0, "zero or above")
}

func (d *decoder) timeAbove(expr hcl.Expression, what string, least time.Duration, bound string) time.Duration {
	text, ok := d.text(expr, what)
	if !ok {
		return 0
	}
	t, err := quantity.ParseTime(text)
	switch {
	case err != nil:
		d.error(expr.Range(), "Invalid value", what+": "+err.Error()+".", `Times look like 5m, 30s or 1.5 h.`)
	case t < least:
		d.error(expr.Range(), "Invalid value", fmt.Sprintf("%s is %q, but must be %s.", what, text, bound), "")
	}
	return t
}

// percent reads a percentage with its sign, as a fraction from least (included) to below
// (excluded).
func (d *decoder) percent(expr hcl.Expression, what string, least, below float64) float64 {
	text, ok := d.text(expr, what)
	if !ok {
		return 0
	}
	q, err := quantity.Parse(text)
	switch {
	case err != nil || q.Unit != "%":
		hint, share := "Write it as 10%.", quantity.Round(100*q.Value)
		if err == nil && q.Unit == "" && q.Value >= least && q.Value < below {
			hint = fmt.Sprintf("Write it as %g%%.", share)
		}
		d.error(expr.Range(), "Invalid value", fmt.Sprintf("%s is a percentage, not %q.", what, text), hint)
	case q.Value < least || q.Value >= below:
		d.error(expr.Range(), "Invalid value", fmt.Sprintf("%s is %q, but must be at least %g%% and below %g%%.",
			what, text, 100*least, 100*below), "")
	default:
		return quantity.Round(q.Value)
	}
	return 0
}

// oneOf reads a word that must be one of the key's values in the grammar.
func (d *decoder) oneOf(expr hcl.Expression, keys []grammar.Key, name string) (string, bool) {
	k, _ := grammar.Find(keys, name)
	form, _ := k.Form(grammar.Scalar)
	text, ok := d.text(expr, name)
	if ok && !slices.Contains(form.Values, text) {
		d.error(expr.Range(), "Invalid value", fmt.Sprintf("%q is not a value of %s.", text, name),
			suggest.Sentence(text, form.Values, "values of "+name))
		return "", false
	}
	return text, ok
}

// valueHint suggests the nearest value of an option with fixed values; "" if none is near.
func valueHint(o option.Option, text string) string {
	if near := suggest.Nearest(text, o.Values); near != "" && near != text {
		return fmt.Sprintf("Did you mean %q?", near)
	}
	if o.Type == option.Structure {
		return fmt.Sprintf("Give the axis a name of its own, such as x, and write ${axis.x} in option %s.", o.Name)
	}
	return ""
}
