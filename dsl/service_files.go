package dsl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// The keys of a service whose values name files, by the section that they are in.
var (
	serviceFiles = map[string][]string{"kubernetes": {"apply", "patch"}, "helm": {"values"}}
	servicePaths = map[string][]string{"helm": {"chart"}}
)

// withFiles are the keys of a section of a service, which give what is in the files that they
// name.
func (l *loader) withFiles(section string, keys []entry) []entry {
	keys = slices.Clone(keys)
	for i, e := range keys {
		switch {
		case slices.Contains(serviceFiles[section], e.name) && !isMapping(e.expr):
			keys[i].expr = &fileExpression{Expression: e.expr, of: l.contents}
		case slices.Contains(servicePaths[section], e.name):
			keys[i].expr = &fileExpression{Expression: e.expr, of: l.chart}
		}
	}
	return keys
}

// fileExpression makes what it stands for of the name of a file, or of each of a list.
type fileExpression struct {
	hcl.Expression
	of func(name string) (string, error)
}

// Value is the text for a text, a list for a list, and any other value as it is.
func (f *fileExpression) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := f.Expression.Value(ctx)
	if diags.HasErrors() || !v.IsWhollyKnown() || v.IsNull() {
		return v, diags
	}
	replace := func(v cty.Value) cty.Value {
		text, ok := plainText(v)
		if !ok {
			return v
		}
		out, err := f.of(text)
		if err != nil {
			path := text
			if pe, ok := errors.AsType[*fs.PathError](err); ok {
				path = pe.Path
			}
			detail, hint := unreadText(path, err)
			diags = append(diags, diagnostic(f.Range(), "Cannot read the file", detail,
				hint+" A text of several lines is taken as it is."))
			return cty.DynamicVal
		}
		return cty.StringVal(out)
	}
	if !v.Type().IsTupleType() && !v.Type().IsListType() {
		return replace(v), diags
	}
	var all []cty.Value
	for it := v.ElementIterator(); it.Next(); {
		_, item := it.Element()
		all = append(all, replace(item))
	}
	return cty.TupleVal(all), diags
}

// contents is what is in a file. A text of several lines is that itself.
func (l *loader) contents(name string) (string, error) {
	if strings.Contains(strings.TrimRight(name, "\n"), "\n") {
		return name, nil
	}
	name = strings.TrimSpace(name)
	if text, known := l.all.texts[l.relative(name)]; known {
		return text, nil
	}
	src, err := l.all.options.Read(l.relative(name))
	if err != nil {
		return "", err
	}
	if l.all.cells += len(src); l.all.cells > maxMatrices || strings.ContainsRune(string(src), 0) {
		return "", fmt.Errorf("%s is too large, or no text", name)
	}
	text := strings.TrimRight(string(src), "\n") + "\n"
	l.all.texts[l.relative(name)] = text
	return text, nil
}

// chart is a chart that is a file or a directory, seen from the working directory; any other is
// in a repository.
func (l *loader) chart(name string) (string, error) {
	path := l.relative(name)
	if _, err := os.Stat(path); err == nil || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
		return path, err
	}
	return name, nil
}
