package dsl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/matrix"
	"weir/workload"
)

// maxPatterns bounds a sequence, as maxValues bounds any axis.
const maxPatterns = maxValues

// sequence is what a run of a workload with a Sequence plays.
type sequence struct {
	items []sequenceItem
	said  entry    // where the run, or the defaults, say it
	axis  int      // of the run: that of the places
	whole *Setting // the option that is the sequence, where its items have no options; nil: they do
}

// sequenceItem is one pattern.
type sequenceItem struct {
	values   map[string]any // of options, where the item has them
	metadata []matrix.Field
	at       hcl.Range
}

// sequence reads the items of a run's sequence and makes axes of them: their place,
// which cases are named by, and what their metadata says of all of them.
func (s *sweeper) sequence(given []entry) {
	kind := s.run.Workload
	for _, a := range s.run.Axes {
		if o, ok := kind.Option(a.Name); ok && (o.Item == workload.OnlyItem || slices.Contains(kind.OneOf, a.Name)) {
			s.error(a.Range, "Not an axis", fmt.Sprintf("%s is not swept: each %s of the sequence is a case already, with its own %[2]s.",
				capital(quote(a.Name)), kind.Sequence),
				"Take it out of the sweep; for other sequences write other runs.")
			return
		}
	}
	i := slices.IndexFunc(given, func(e entry) bool { return slices.Contains(kind.OneOf, e.name) })
	if i < 0 {
		return // which is reported with the other options
	}
	q := &sequence{said: given[i]}
	switch o, _ := kind.Option(given[i].name); {
	case kind.Items != nil:
		q.items, q.whole = s.wholeSequence(given[i], o)
	case o.Type == workload.File:
		q.items = s.sequenceFile(given[i].expr, given)
	case o.Type == workload.Model:
		q.items = s.sequenceOfModel(given[i])
	default:
		q.items = s.sequenceItems(given[i])
	}
	if len(q.items) == 0 {
		return
	}
	s.sameRanks(q.items)
	s.run.sequence = q
	s.itemAxes(q)
}

// wholeSequence reads an option that has all items of a sequence, which have no options of their own.
func (s *sweeper) wholeSequence(e entry, o workload.Option) ([]sequenceItem, *Setting) {
	if !s.fixed(e.expr, severalRuns) {
		return nil, nil
	}
	whole, isFile := s.matrixSetting(e, o, s.run)
	if !isFile {
		whole = s.setting(&Setting{Name: o.Name, Option: o, run: s.run, expr: e.expr}, map[string]bool{})
	}
	if whole == nil {
		return nil, nil
	}
	whole.given = e.expr.Range()
	text, ok := whole.value.(string)
	if !ok {
		return nil, nil // which has been reported
	}
	facts := s.run.Workload.Items(text)
	items := make([]sequenceItem, min(len(facts), maxPatterns))
	for i := range items {
		items[i].at, items[i].metadata = e.expr.Range(), facts[i]
	}
	return items, whole
}

// itemAxes adds the axes of the items to the sweep, innermost, and row by row.
func (s *sweeper) itemAxes(q *sequence) {
	kind := s.run.Workload
	places := make([]AxisValue, len(q.items))
	for i, item := range q.items {
		places[i] = AxisValue{Value: int64(i), Text: strconv.Itoa(i), Range: item.at}
	}
	q.axis = len(s.run.Axes)
	nodes := []*SweepNode{s.itemAxis(kind.Sequence, places)}
	for _, name := range s.facts(q.items) {
		values := make([]AxisValue, len(q.items))
		for i, item := range q.items {
			text, _ := lookup(item.metadata, name)
			values[i] = AxisValue{Value: text, Text: text, Range: item.at}
		}
		if n := s.itemAxis(name, values); n != nil {
			nodes = append(nodes, n)
		}
	}
	node := combined(ZipNode, nodes, q.said.at)
	if s.run.Sweep.Root != nil {
		node = combined(ProductNode, []*SweepNode{s.run.Sweep.Root, node}, q.said.at)
	}
	s.run.Sweep.Root = node
}

// itemAxis is an axis with a value for each item, nil if there are too many axes.
func (s *sweeper) itemAxis(name string, values []AxisValue) *SweepNode {
	if len(s.run.Axes) == maxAxes {
		return nil
	}
	if s.all.values += len(values); s.all.values > maxAllValues {
		s.tooMany(values[0].Range, fmt.Sprintf("The axes of the scenario, with the patterns of sequences, have more than %d values in all.",
			maxAllValues))
	}
	a := &Axis{Name: name, Range: values[0].Range, Item: true}
	s.index[name] = len(s.run.Axes)
	s.run.Axes = append(s.run.Axes, a)
	n := &SweepNode{Op: AxisNode, Axis: s.index[name], Range: a.Range}
	for _, v := range values {
		n.Values = append(n.Values, s.add(a, v))
	}
	return n
}

var factName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// facts are the names in the metadata of all items that conditions can use: none that
// means something else already. They are sorted, because files have them in any order.
func (s *sweeper) facts(items []sequenceItem) []string {
	names := map[string]bool{}
	for _, f := range items[0].metadata {
		_, isOption := s.run.Workload.Option(f.Key)
		_, isMetric := s.run.metric(f.Key)
		isMetric = isMetric && s.run.Workload.Items == nil // whose facts are of the workload itself
		names[f.Key] = factName.MatchString(f.Key) && !isOption && !isMetric && s.run.axis(f.Key) == nil &&
			!slices.Contains([]string{"env", "host", "axis", "run"}, f.Key)
	}
	for _, item := range items {
		for name := range names {
			if v, ok := lookup(item.metadata, name); !ok || v == "" || strings.ContainsAny(v, "\n\t") {
				names[name] = false
			}
		}
	}
	maps.DeleteFunc(names, func(_ string, usable bool) bool { return !usable })
	return slices.Sorted(maps.Keys(names))
}

func lookup(fields []matrix.Field, key string) (string, bool) {
	p := matrix.Pattern{Metadata: fields}
	return p.Lookup(key)
}

// sameRanks holds the patterns to one number of ranks.
func (s *sweeper) sameRanks(items []sequenceItem) {
	first := int64(0)
	for i, item := range items {
		text, _ := item.values["matrix"].(string)
		n, ok := workload.Ranks(text)
		switch {
		case !ok:
		case first == 0:
			first = n
		case n != first:
			s.error(item.at, "Wrong number of ranks",
				fmt.Sprintf("The matrix of pattern %d is of %d ranks, and that of the first is of %d.", i, n, first),
				"The patterns of a sequence are between the same ranks; a rank that takes no part in one has zeros there.")
			return
		}
	}
}

// digest tells sequences from each other by what their items are in the end: what an
// item does not say the run says for it, in base, unless that depends on the point.
func (q *sequence) digest(base map[string]*Setting) string {
	type plain struct {
		Values   map[string]string
		Metadata []matrix.Field
	}
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, item := range q.items {
		p := plain{map[string]string{}, item.metadata}
		for name, b := range base {
			v, own := item.values[name]
			if !own && len(b.Axes) == 0 {
				v = b.value
			}
			if v != nil {
				p.Values[name] = workload.Text(v)
			}
		}
		if err := enc.Encode(p); err != nil {
			panic(err) // texts always encode
		}
	}
	return fmt.Sprintf("%d sha256:%s", len(q.items), hex.EncodeToString(h.Sum(nil)))
}

// sequenced sets the options of a run that the items of its sequence have, and what
// the sequence is as a whole.
func (l *loader) sequenced(r *Run, byName map[string]*Setting) {
	q := r.sequence
	if q == nil {
		return
	}
	if q.whole != nil {
		byName[q.whole.Name] = q.whole
		return
	}
	bases := map[string]*Setting{}
	for _, o := range r.Workload.ItemOptions() {
		base := byName[o.Name]
		if base == nil {
			base = &Setting{Name: o.Name, Option: o, run: r, value: o.Default}
		}
		bases[o.Name] = base
		s := &Setting{Name: o.Name, Option: o, run: r, given: base.given, contents: map[string]any{}, otherwise: base}
		for i, item := range q.items {
			if v, ok := item.values[o.Name]; ok {
				s.contents[strconv.Itoa(i)] = v
			} else if o.Type == workload.String && len(item.metadata) > 0 {
				s.contents[strconv.Itoa(i)] = metadataText(item.metadata)
			}
		}
		if len(s.contents) == 0 {
			continue // the run says it, or the registry
		}
		if a := r.axis(o.Name); a != nil && len(s.contents) == len(q.items) {
			l.error(a.Range, "Axis without effect",
				fmt.Sprintf("Every pattern of the sequence has its own %s, which wins.", o.Name),
				"Remove it from the patterns that the axis is to set, or sweep time_scale to stretch all sleeps.")
		}
		s.Axes = append(slices.Clone(base.Axes), q.axis)
		slices.Sort(s.Axes)
		s.item = slices.Index(s.Axes, q.axis)
		byName[o.Name] = s
	}
	whole, _ := r.Workload.Option("patterns")
	byName[whole.Name] = &Setting{Name: whole.Name, Option: whole, run: r, value: q.digest(bases)}
	for _, s := range byName {
		l.ofWhole(r, s)
	}
}

// metadataText is all of it in one line.
func metadataText(fields []matrix.Field) string {
	var words []string
	for _, f := range fields {
		words = append(words, f.Key+"="+f.Value)
	}
	return strings.Join(words, " ")
}

// ofWhole refuses an option that would differ between the patterns of one launch.
func (l *loader) ofWhole(r *Run, s *Setting) {
	if !s.Option.Process && s.Option.Item != workload.NoItem {
		return
	}
	for _, i := range s.Axes {
		if r.Axes[i].Item {
			at, own := s.Given()
			if !own {
				at = r.Range
			}
			l.error(at, "Depends on the pattern",
				fmt.Sprintf("%s is one for the whole sequence, and axis.%s differs between its patterns.",
					capital(s.Name), r.Axes[i].Name), "Use only axes of the sweep here.")
			return
		}
	}
}
