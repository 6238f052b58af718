// Files that services name.

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

// The keys of a service that name files, by section.
var (
	serviceFiles = map[string][]string{"kubernetes": {"apply", "patch"}, "helm": {"values"}}
	servicePaths = map[string][]string{"helm": {"chart"}}
)

// withFiles replaces the keys of a service's section that name files by the contents of the files.
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

// fileExpression maps the name of a file, or each of a list, to a value.
type fileExpression struct {
	hcl.Expression
	of func(name string) (string, error)
}

// Value maps a text to a text and each item of a list, and returns any other value unchanged.
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
			detail, hint := cannotReadText(path, err)
			diags = append(diags, diagnostic(f.Range(), "Cannot read the file", detail,
				hint+" A text of several lines is used as the contents."))
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

// contents returns the contents of a file. A text of several lines is returned as it is.
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
	if strings.ContainsRune(string(src), 0) {
		return "", fmt.Errorf("%s is not text", name)
	}
	text := strings.TrimRight(string(src), "\n") + "\n"
	l.all.texts[l.relative(name)] = text
	return text, nil
}

// chart returns the path of a chart that is a file or a directory, relative to the working
// directory. Any other name is a chart of a repository.
func (l *loader) chart(name string) (string, error) {
	path := l.relative(name)
	if _, err := os.Stat(path); err == nil || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
		return path, err
	}
	return name, nil
}
