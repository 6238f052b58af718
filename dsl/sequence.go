// Sequences of traffic: their items become axes of the run.

package dsl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload"
)

// maxPatterns is the most that workloads accept as the index of an item, and one.
const maxPatterns = 10_000

// sequence is the traffic of a run with Workload.Sequence.
type sequence struct {
	items  []sequenceItem
	entry  entry    // the entry of the run or the defaults
	axis   int      // index of the axis of positions in Run.Axes
	option *Setting // the option that holds the whole sequence, if its items have no options; otherwise nil
}

// sequenceItem is one pattern.
type sequenceItem struct {
	values   map[string]any // of options that the item sets
	metadata []matrix.Field
	at       hcl.Range
}

// sequence reads the items of a run's sequence and makes axes of them: their position, which names
// the cases, and their common metadata.
func (s *sweeper) sequence(given []entry) {
	kind := s.run.Workload
	for _, a := range s.run.Axes {
		if o, ok := kind.Option(a.Name); ok && (o.Item == option.OnlyItem || slices.Contains(kind.OneOf, a.Name)) {
			s.error(
				a.Range,
				"Not an axis",
				fmt.Sprintf("%s cannot be swept: each %s of the sequence is a case already, with its own %[2]s.",
					capital(quote(a.Name)), kind.Sequence),
				"Remove it from the sweep, and write a run for each sequence.",
			)
			return
		}
	}
	i := slices.IndexFunc(given, func(e entry) bool { return slices.Contains(kind.OneOf, e.name) })
	if i < 0 {
		return // reported with the other options
	}
	q := &sequence{entry: given[i]}
	_, whole := kind.Behaviour.(workload.Itemizer)
	switch o, _ := kind.Option(given[i].name); {
	case whole:
		q.items, q.option = s.wholeSequence(given[i], o)
	case o.Type == option.File:
		q.items = s.sequenceFile(given[i].expr, given)
	case o.Type == option.Model:
		q.items = s.sequenceOfModel(given[i])
	default:
		q.items = s.sequenceItems(given[i])
	}
	switch n := len(q.items); {
	case n == 0:
		return
	case n > maxPatterns:
		s.error(q.entry.expr.Range(), "Too many patterns", fmt.Sprintf("The sequence has %d patterns; the most is %d.",
			n, maxPatterns), "Divide it between runs.")
		return
	}
	s.checkEqualRanks(q.items)
	s.run.sequence = q
	s.itemAxes(q)
}

// wholeSequence reads an option that holds all items of a sequence, which have no options of their
// own.
func (s *sweeper) wholeSequence(e entry, o option.Option) ([]sequenceItem, *Setting) {
	if !s.refusePoint(e.expr, severalRuns) {
		return nil, nil
	}
	settings := s.settingsOf(s.run)
	whole, isFile := settings.matrixSetting(e, o)
	if !isFile {
		whole = settings.setting(&Setting{Name: o.Name, Option: o, run: s.run, expr: e.expr})
	}
	if whole == nil {
		return nil, nil
	}
	whole.given = e.expr.Range()
	text, ok := whole.value.(string)
	if !ok {
		return nil, nil // reported
	}
	facts := s.run.Workload.Behaviour.(workload.Itemizer).Items(text)
	items := make([]sequenceItem, len(facts))
	for i := range items {
		items[i].at, items[i].metadata = e.expr.Range(), facts[i]
	}
	return items, whole
}

// itemAxes adds the axes of the items to the sweep, innermost and zipped.
func (s *sweeper) itemAxes(q *sequence) {
	kind := s.run.Workload
	places := make([]AxisValue, len(q.items))
	for i, item := range q.items {
		places[i] = AxisValue{Value: int64(i), Text: strconv.Itoa(i), Range: item.at}
	}
	q.axis = len(s.run.Axes)
	nodes := []*SweepNode{s.itemAxis(kind.Sequence, places)}
	for _, name := range s.commonMetadata(q.items) {
		values := make([]AxisValue, len(q.items))
		for i, item := range q.items {
			text, _ := lookup(item.metadata, name)
			values[i] = AxisValue{Value: text, Text: text, Range: item.at}
		}
		nodes = append(nodes, s.itemAxis(name, values))
	}
	node := combined(ZipNode, nodes, q.entry.at)
	if s.run.Sweep.Root != nil {
		node = combined(ProductNode, []*SweepNode{s.run.Sweep.Root, node}, q.entry.at)
	}
	s.run.Sweep.Root = node
}

// itemAxis returns an axis with a value for each item.
func (s *sweeper) itemAxis(name string, values []AxisValue) *SweepNode {
	a := &Axis{Name: name, Range: values[0].Range, Item: true}
	s.index[name] = len(s.run.Axes)
	s.run.Axes = append(s.run.Axes, a)
	n := &SweepNode{Op: AxisNode, Axis: s.index[name], Range: a.Range}
	for _, v := range values {
		n.Values = append(n.Values, s.add(a, v))
	}
	return n
}

var factName = lazyregexp.New(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// commonMetadata returns the metadata names of all items that conditions can use: those without another
// meaning, sorted, since files have them in any order.
func (s *sweeper) commonMetadata(items []sequenceItem) []string {
	names := map[string]bool{}
	_, whole := s.run.Workload.Behaviour.(workload.Itemizer)
	for _, f := range items[0].metadata {
		_, isOption := s.run.Workload.Option(f.Key)
		_, isMetric := s.run.metric(f.Key)
		isMetric = isMetric && !whole // metadata of such a sequence comes from the workload itself
		names[f.Key] = factName().MatchString(f.Key) && !isOption && !isMetric && s.run.axis(f.Key) == nil &&
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

// checkEqualRanks checks that all patterns have the same number of ranks.
func (s *sweeper) checkEqualRanks(items []sequenceItem) {
	first := int64(0)
	for i, item := range items {
		text, _ := item.values["matrix"].(string)
		n, ok := option.Ranks(text)
		switch {
		case !ok:
		case first == 0:
			first = n
		case n != first:
			s.error(item.at, "Wrong number of ranks",
				fmt.Sprintf("The matrix of pattern %d has %d ranks, but that of the first has %d.", i, n, first),
				"All patterns of a sequence have the same ranks. Write zeros for a rank that takes no part in one.")
			return
		}
	}
}

// digest identifies a sequence by the values of its items. base has the run's values for options
// that an item does not set, unless they depend on the point.
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
				p.Values[name] = option.Text(v)
			}
		}
		if err := enc.Encode(p); err != nil {
			panic(err) // texts always encode
		}
	}
	return fmt.Sprintf("%d sha256:%s", len(q.items), hex.EncodeToString(h.Sum(nil)))
}

// sequenceSettings sets the options of a run that come from the items of its sequence, or from the
// sequence as a whole.
func (sr *settingReader) sequenceSettings() {
	q := sr.run.sequence
	if q == nil {
		return
	}
	if q.option != nil {
		sr.byName[q.option.Name] = q.option
		return
	}
	bases := map[string]*Setting{}
	for _, o := range sr.run.Workload.ItemOptions() {
		base := sr.byName[o.Name]
		if base == nil {
			base = &Setting{Name: o.Name, Option: o, run: sr.run, value: o.Default}
		}
		bases[o.Name] = base
		s := &Setting{
			Name:      o.Name,
			Option:    o,
			run:       sr.run,
			given:     base.given,
			contents:  map[string]any{},
			otherwise: base,
		}
		for i, item := range q.items {
			if v, ok := item.values[o.Name]; ok {
				s.contents[strconv.Itoa(i)] = v
			} else if o.Type == option.String && len(item.metadata) > 0 {
				s.contents[strconv.Itoa(i)] = metadataText(item.metadata)
			}
		}
		if len(s.contents) == 0 {
			continue // the run or the default sets it
		}
		if a := sr.run.axis(o.Name); a != nil && len(s.contents) == len(q.items) {
			sr.error(a.Range, "Axis without effect",
				fmt.Sprintf("Every pattern of the sequence has its own %s, which overrides the axis.", o.Name),
				"Remove it from the patterns that the axis is to set, or sweep time_scale to stretch all sleeps.")
		}
		s.Axes = append(slices.Clone(base.Axes), q.axis)
		slices.Sort(s.Axes)
		s.item = slices.Index(s.Axes, q.axis)
		sr.byName[o.Name] = s
	}
	whole, _ := sr.run.Workload.Option("patterns")
	sr.byName[whole.Name] = &Setting{Name: whole.Name, Option: whole, run: sr.run, value: q.digest(bases)}
	for _, s := range sr.byName {
		sr.refusePatternAxes(s)
	}
}

// metadataText formats all fields on one line.
func metadataText(fields []matrix.Field) string {
	var words []string
	for _, f := range fields {
		words = append(words, f.Key+"="+f.Value)
	}
	return strings.Join(words, " ")
}

// refusePatternAxes refuses an option that would differ between the patterns of one launch.
func (sr *settingReader) refusePatternAxes(s *Setting) {
	if !s.Option.Process && s.Option.Item != option.NoItem {
		return
	}
	for _, i := range s.Axes {
		if sr.run.Axes[i].Item {
			at, own := s.Given()
			if !own {
				at = sr.run.Range
			}
			sr.error(at, "Depends on the pattern",
				fmt.Sprintf("%s applies to the whole sequence, but axis.%s differs between its patterns.",
					capital(s.Name), sr.run.Axes[i].Name), "Use only axes of the sweep here.")
			return
		}
	}
}
