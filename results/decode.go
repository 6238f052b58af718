package results

import (
	"encoding/json"
	"slices"
)

// member is one of an object that is decoded here: its name and how it is read into
// what the object is.
type member[T any] struct {
	name string
	read func(s *scan, into *T)
}

// The members of what is decoded here, in the order in which they are written.
var (
	caseMembers = []member[Case]{
		{"key", func(s *scan, c *Case) { c.Key = s.string() }},
		{"id", func(s *scan, c *Case) { c.ID = s.string() }},
		{"run", func(s *scan, c *Case) { c.Run = s.common() }},
		{"workload", func(s *scan, c *Case) { c.Workload = s.common() }},
		{"axes", func(s *scan, c *Case) { c.Axes = s.anys(&s.kept.axes) }},
		{"axis_order", func(s *scan, c *Case) { c.AxisOrder = shared(s, s.kept.lists) }},
		{"options", func(s *scan, c *Case) { c.Options = s.anys(&s.kept.options) }},
		{"env", func(s *scan, c *Case) { s.decode(&c.Env) }},
		{"status", func(s *scan, c *Case) { c.Status = s.common() }},
		{"reason", func(s *scan, c *Case) { c.Reason = s.common() }},
		{"invalid", func(s *scan, c *Case) { c.Invalid = s.string() }},
		{"launches", func(s *scan, c *Case) { c.Launches = listOf(s, launch) }},
		{"made", func(s *scan, c *Case) { c.Made = s.int() }},
		{"metrics", func(s *scan, c *Case) { c.Metrics = namedOf(s, estimate) }},
		{"assertions", func(s *scan, c *Case) { c.Assertions = listOf(s, assertionVerdict) }},
		{"seal", func(s *scan, c *Case) { c.Seal = s.string() }},
	}
	launchMembers = []member[Launch]{
		{"index", func(s *scan, l *Launch) { l.Index = s.int() }},
		{"started", func(s *scan, l *Launch) { s.time(&l.Started) }},
		{"duration_s", func(s *scan, l *Launch) { l.Duration = s.float() }},
		{"status", func(s *scan, l *Launch) { l.Status = s.common() }},
		{"failure", func(s *scan, l *Launch) { s.decode(&l.Failure) }},
		{"nodes", func(s *scan, l *Launch) { l.Nodes = shared(s, s.kept.lists) }},
		{"seats", func(s *scan, l *Launch) { l.Seats = shared(s, s.kept.seats) }},
		{"moved", func(s *scan, l *Launch) { s.decode(&l.Moved) }},
		{"fabric", func(s *scan, l *Launch) { l.Fabric = s.common() }},
		{"transport", func(s *scan, l *Launch) { l.Transport = s.common() }},
		{"variables", func(s *scan, l *Launch) { l.Variables = shared(s, s.kept.variables) }},
		{"ignored_env", func(s *scan, l *Launch) { s.decode(&l.Ignored) }},
		{"fabric_reason", func(s *scan, l *Launch) { l.FabricReason = s.common() }},
		{"transports", func(s *scan, l *Launch) { l.Transports = shared(s, s.kept.ways) }},
		{"memory_nodes", func(s *scan, l *Launch) { s.decode(&l.MemoryNodes) }},
		{"working_set", func(s *scan, l *Launch) { s.decode(&l.WorkingSet) }},
		{"metrics", func(s *scan, l *Launch) {
			l.Metrics = MetricValues{namedOf(s, func(s *scan, v *float64) { *v = s.measured() })}
		}},
		{"samples", func(s *scan, l *Launch) { l.Samples = listOf(s, func(s *scan, v *string) { *v = s.string() }) }},
		{"samples_digest", func(s *scan, l *Launch) { l.SamplesDigest = s.string() }},
		{"ranks", func(s *scan, l *Launch) { l.Ranks = listOf(s, share) }},
		{"initiators", func(s *scan, l *Launch) { l.Initiators = s.int() }},
		{"slowest_pair", func(s *scan, l *Launch) { s.decode(&l.SlowestPair) }},
		{"played", func(s *scan, l *Launch) { s.decode(&l.Played) }},
		{"verified", func(s *scan, l *Launch) { l.Verified = s.bool() }},
		{"simulated", func(s *scan, l *Launch) { l.Simulated = s.bool() }},
		{"retried", func(s *scan, l *Launch) { l.Retried = s.bool() }},
		{"counters", func(s *scan, l *Launch) { s.decode(&l.Counters) }},
		{"load", func(s *scan, l *Launch) { s.decode(&l.Load) }},
		{"resumed", func(s *scan, l *Launch) { l.Resumed = s.bool() }},
	}
	shareMembers = []member[RankShare]{
		{"rank", func(s *scan, r *RankShare) { r.Rank = s.int() }},
		{"bytes", func(s *scan, r *RankShare) {
			n := s.int()
			s.bad = s.bad || n < 0
			r.Bytes = uint64(n)
		}},
		{"seconds", func(s *scan, r *RankShare) { r.Seconds = s.float() }},
		{"bandwidth", func(s *scan, r *RankShare) { r.Bandwidth = s.float() }},
	}
	estimateMembers = []member[MetricEstimate]{
		{"unit", func(s *scan, m *MetricEstimate) { m.Unit = s.common() }},
		{"n", func(s *scan, m *MetricEstimate) { m.N = s.int() }},
		{"value", func(s *scan, m *MetricEstimate) { m.Value = s.float() }},
		{"median", func(s *scan, m *MetricEstimate) { m.Median = s.float() }},
		{"mean", func(s *scan, m *MetricEstimate) { m.Mean = s.float() }},
		{"cv", func(s *scan, m *MetricEstimate) { m.CV = s.float() }},
		{"ci", func(s *scan, m *MetricEstimate) { m.CI = s.interval() }},
		{"confidence", func(s *scan, m *MetricEstimate) { m.Confidence = s.float() }},
		{"better", func(s *scan, m *MetricEstimate) { m.Better = s.common() }},
	}
	observedMembers = []member[Observed]{
		{"value", func(s *scan, o *Observed) { o.Value = s.float() }},
		{"unit", func(s *scan, o *Observed) { o.Unit = s.common() }},
		{"ci", func(s *scan, o *Observed) { o.CI = s.interval() }},
		{"n", func(s *scan, o *Observed) { o.N = s.int() }},
		{"confidence", func(s *scan, o *Observed) { o.Confidence = s.float() }},
	}
)

// decodeCase reads a case as encoding/json would.
func decodeCase(text []byte, k *kept) (*Case, error) {
	c := new(Case)
	if scanCase(text, k, c) {
		return c, nil
	}
	c = new(Case)
	return c, json.Unmarshal(text, c)
}

func scanCase(text []byte, k *kept, c *Case) (ok bool) {
	s := &scan{text: text, kept: k}
	members(s, caseMembers, c)
	return !s.bad && s.next() == 0
}

func launch(s *scan, l **Launch) {
	*l = new(Launch)
	members(s, launchMembers, *l)
}

func share(s *scan, r *RankShare) { members(s, shareMembers, r) }

func estimate(s *scan, m *MetricEstimate) { members(s, estimateMembers, m) }

// assertionVerdict reads what the gate said of an assertion, and has what was asserted,
// which comes before it and is the same for many cases, read once.
func assertionVerdict(s *scan, into **AssertionVerdict) {
	stated := s.stated[:0] // the assertion without its verdict
	a := new(AssertionVerdict)
	*into = a
	s.object(func(name []byte) {
		switch string(name) {
		case "verdict":
			a.Verdict = Verdict(s.common())
		case "observed":
			s.bad = s.bad || a.Observed != nil
			if !s.null() {
				a.Observed = new(Observed)
				members(s, observedMembers, a.Observed)
			}
		case "message":
			a.Message = s.string()
		default:
			if a.Verdict != "" || a.Observed != nil || a.Message != "" {
				s.bad = true // it may say twice what was read
				return
			}
			stated = append(append(append(append(stated, ",\""...), name...), "\":"...), s.value()...)
		}
	})
	if s.bad || len(stated) == 0 {
		return
	}
	stated[0] = '{'
	s.stated = append(stated, '}')
	v, ok := once(s.kept.details, s.stated, decoded[AssertionVerdict])
	s.bad = s.bad || !ok || v.Verdict != "" || v.Observed != nil || v.Message != ""
	a.Assertion, a.Looks = v.Assertion, v.Looks
}

// intervals is how many are allocated at a time: there is one in every estimate.
const intervals = 64

func (s *scan) interval() *[2]float64 {
	if s.null() {
		return nil
	}
	if len(s.kept.intervals) == 0 {
		s.kept.intervals = make([][2]float64, intervals)
	}
	ci := &s.kept.intervals[0]
	s.kept.intervals = s.kept.intervals[1:]
	s.must('[')
	ci[0] = s.float()
	s.must(',')
	ci[1] = s.float()
	s.must(']')
	return ci
}

// anys reads an object of any values. It will have as many members as the last one.
func (s *scan) anys(size *int) map[string]any {
	if s.null() {
		return nil
	}
	out := make(map[string]any, *size)
	s.items('{', '}', func() {
		name := s.name()
		s.must(':')
		v, ok := once(s.kept.anys, s.value(), decoded[any])
		s.bad = s.bad || !ok
		out[name] = v
	})
	*size = len(out)
	return out
}

// shared reads a value that is the same for many cases.
func shared[T any](s *scan, seen map[string]T) T {
	v, ok := once(seen, s.value(), decoded[T])
	s.bad = s.bad || !ok
	return v
}

func listOf[T any](s *scan, one func(*scan, *T)) []T {
	if s.null() {
		return nil
	}
	out := []T{}
	s.items('[', ']', func() {
		if s.next() == 'n' { // a null stays one, for whom this cannot say
			s.bad = true
		}
		var v T
		out = append(out, v)
		one(s, &out[len(out)-1])
	})
	return out
}

// mostLists is how many lists of names are known at a time. Every workload has one.
const mostLists = 64

// namedOf reads an object into Named. Most have the names of the one before.
func namedOf[V any](s *scan, one func(*scan, *V)) (n Named[V]) {
	if s.null() {
		return n
	}
	likely, own := s.kept.names, false
	n.values = make([]V, 0, len(likely))
	s.items('{', '}', func() {
		i := len(n.values)
		if own || i == len(likely) || !s.literal(likely[i]) {
			if !own {
				n.names, own = slices.Clone(likely[:i]), true
			}
			n.names = append(n.names, s.name())
		}
		s.must(':')
		var v V
		n.values = append(n.values, v)
		one(s, &n.values[i])
	})
	if !own {
		n.names = likely[:len(n.values)]
	}
	switch {
	case s.bad || len(n.names) == 0:
		return Named[V]{}
	case !own && len(n.names) == len(likely):
		return n
	case !ascending(n.names):
		m := map[string]V{}
		for i, name := range n.names {
			m[name] = n.values[i]
		}
		return NamedOf(m)
	}
	n.names = s.kept.list(n.names)
	return n
}

// list is the one that many have, if there is one of these names. It is the likely one
// from now on.
func (k *kept) list(names []string) []string {
	i := slices.IndexFunc(k.known, func(l []string) bool { return slices.Equal(l, names) })
	if i < 0 {
		if len(k.known) == mostLists {
			k.known = nil
		}
		i = len(k.known)
		k.known = append(k.known, slices.Clone(names))
	}
	k.names = k.known[i]
	return k.names
}

// ascending says whether names are in order, none of them twice.
func ascending(names []string) bool {
	for i := 1; i < len(names); i++ {
		if names[i-1] >= names[i] {
			return false
		}
	}
	return true
}
