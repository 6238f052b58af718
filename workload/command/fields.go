package command

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"weir/placeholder"
	"weir/quantity"
	"weir/workload"
)

// fields reads the keys of a mapping. The first error is kept.
type fields struct {
	path []string
	of   *workload.Structured
	err  error
}

// mapping reads a mapping that has keys of its own.
func mapping(s *workload.Structured, path []string, known ...string) *fields {
	f := &fields{path: path, of: s}
	if s.Pairs == nil {
		f.fail(nil, "it is %s, not a mapping of %s", s.What(), strings.Join(known, ", "))
		return f
	}
	for _, p := range s.Pairs {
		if !slices.Contains(known, p.Key) {
			f.err = workload.UnknownKey(append(slices.Clone(path), p.Key), known)
			break
		}
	}
	return f
}

func (f *fields) fail(part []string, format string, args ...any) {
	if f.err == nil {
		f.err = workload.Wrong(append(slices.Clone(f.path), part...), format, args...)
	}
}

func (f *fields) get(key string) *workload.Structured {
	i := slices.IndexFunc(f.of.Pairs, func(p workload.Pair) bool { return p.Key == key })
	if i < 0 {
		return nil
	}
	return f.of.Pairs[i].Value
}

// late is a text that may have names of a launch.
func (f *fields) late(key string) string { return f.textOf(f.get(key), key) }

func (f *fields) textOf(s *workload.Structured, path ...string) string {
	switch {
	case s == nil:
		return ""
	case !s.IsText():
		f.fail(path, "it is %s, not a text", s.What())
	case strings.ContainsRune(s.Text, 0):
		f.fail(path, "it contains a NUL character")
	default:
		if err := checkNames(s.Text); err != nil {
			f.fail(path, "%w", err)
		}
	}
	return s.Text
}

// text is one without names of a launch.
func (f *fields) text(key string) string { return f.plain(f.late(key), key) }

func (f *fields) plain(text string, path ...string) string {
	out, ok := placeholder.Unquote(text)
	if !ok {
		f.fail(path, "it is read before there is a launch, so it cannot name a part of one")
	}
	return out
}

// texts is a list of texts.
func (f *fields) texts(key string) []string {
	s := f.get(key)
	if s == nil {
		return nil
	}
	if s.Items == nil {
		f.fail([]string{key}, "it is %s, not a list of texts", s.What())
		return nil
	}
	var all []string
	for i, item := range s.Items {
		all = append(all, f.textOf(item, key, quantity.Text(int64(i))))
	}
	return all
}

// command is a program with its arguments.
func (f *fields) command(key string) []string {
	argv := f.texts(key)
	if f.get(key) != nil && (len(argv) == 0 || argv[0] == "") {
		f.fail([]string{key}, "it names no program")
	}
	return argv
}

// words are texts without names of a launch; one may stand alone.
func (f *fields) words(key string) []string {
	if s := f.get(key); s != nil && s.IsText() {
		return []string{f.text(key)}
	}
	all := f.texts(key)
	for i := range all {
		all[i] = f.plain(all[i], key, quantity.Text(int64(i)))
	}
	return all
}

// pairs are texts by name, in their order.
func (f *fields) pairs(key string, late bool) []Variable {
	s := f.get(key)
	if s == nil {
		return nil
	}
	if s.Pairs == nil {
		f.fail([]string{key}, "it is %s, not a mapping from names to texts", s.What())
	}
	var all []Variable
	for _, p := range s.Pairs {
		v := Variable{Name: p.Key, Value: f.textOf(p.Value, key, p.Key)}
		if !late {
			v.Value = f.plain(v.Value, key, p.Key)
		}
		all = append(all, v)
	}
	return all
}

func (f *fields) duration(key string, otherwise time.Duration) time.Duration {
	text := f.text(key)
	if text == "" {
		return otherwise
	}
	d, err := quantity.ParseTime(text)
	if err != nil || d <= 0 {
		f.fail([]string{key}, "%q is no time above zero, as 30s", text)
	}
	return d
}

func (f *fields) flag(key string) bool {
	text := f.text(key)
	if text != "" && text != "true" && text != "false" {
		f.fail([]string{key}, "%q is neither true nor false", text)
	}
	return text == "true"
}

func (f *fields) expression(key string) string {
	text := f.text(key)
	if _, err := regexp.Compile(text); err != nil {
		f.fail([]string{key}, "%w", err)
	}
	return text
}

// writer builds the JSON of a mapping, without what is empty.
type writer struct{ pairs []workload.Pair }

func (w *writer) put(key string, s *workload.Structured) {
	w.pairs = append(w.pairs, workload.Pair{Key: key, Value: s})
}

func (w *writer) text(key, text string) {
	if text != "" {
		w.put(key, &workload.Structured{Text: text})
	}
}

func (w *writer) texts(key string, texts []string) {
	if len(texts) == 0 {
		return
	}
	list := &workload.Structured{Items: []*workload.Structured{}}
	for _, t := range texts {
		list.Items = append(list.Items, &workload.Structured{Text: t})
	}
	w.put(key, list)
}

func (w *writer) variables(key string, all []Variable) {
	var inner writer
	for _, v := range all {
		inner.put(v.Name, &workload.Structured{Text: v.Value})
	}
	if len(all) > 0 {
		w.put(key, inner.mapping())
	}
}

func (w *writer) mapping() *workload.Structured {
	return &workload.Structured{Pairs: append([]workload.Pair{}, w.pairs...)}
}
