package results

import "encoding/json"

// The members of what is decoded here, in the order in which they are written.
var (
	caseFields = []string{
		"key", "id", "run", "workload", "axes", "axis_order", "options", "env", "status", "reason",
		"invalid", "launches", "made", "metrics", "assertions", "seal",
	}
	launchFields = []string{
		"index", "started", "duration_s", "status", "failure", "nodes", "fabric", "transport", "ignored_env", "fabric_reason",
		"transports", "metrics", "samples", "samples_digest", "ranks", "initiators", "slowest_pair", "played", "verified", "simulated", "retried", "counters", "load", "resumed",
	}
	shareFields    = []string{"rank", "bytes", "seconds", "bandwidth"}
	estimateFields = []string{"unit", "n", "value", "median", "mean", "cv", "ci", "confidence", "better"}
	observedFields = []string{"value", "unit", "ci", "n", "confidence"}
)

// decodeCase reads a case as encoding/json would.
func decodeCase(text []byte, k *kept) (*Case, error) {
	s := &scan{text: text, kept: k}
	if c := s.readCase(); !s.bad && s.next() == 0 {
		return c, nil
	}
	c := new(Case)
	return c, json.Unmarshal(text, c)
}

func (s *scan) readCase() *Case {
	c := new(Case)
	s.fields(caseFields, func(i int) {
		switch caseFields[i] {
		case "key":
			c.Key = s.string()
		case "id":
			c.ID = s.string()
		case "run":
			c.Run = s.common()
		case "workload":
			c.Workload = s.common()
		case "axes":
			c.Axes = s.anys()
		case "axis_order":
			c.AxisOrder = shared(s, s.kept.lists)
		case "options":
			c.Options = s.anys()
		case "env":
			s.decode(&c.Env)
		case "status":
			c.Status = s.common()
		case "reason":
			c.Reason = s.common()
		case "invalid":
			c.Invalid = s.string()
		case "launches":
			c.Launches = listOf(s, s.readLaunch)
		case "made":
			c.Made = s.int()
		case "metrics":
			c.Metrics = dictOf(s, &s.kept.estimates, s.readEstimate)
		case "assertions":
			c.Assertions = listOf(s, s.readAssertion)
		case "seal":
			c.Seal = s.string()
		}
	})
	return c
}

func (s *scan) readLaunch() *Launch {
	l := new(Launch)
	s.fields(launchFields, func(i int) {
		switch launchFields[i] {
		case "index":
			l.Index = s.int()
		case "started":
			s.decode(&l.Started)
		case "duration_s":
			l.Duration = s.float()
		case "status":
			l.Status = s.common()
		case "failure":
			s.decode(&l.Failure)
		case "nodes":
			l.Nodes = shared(s, s.kept.lists)
		case "fabric":
			l.Fabric = s.common()
		case "transport":
			l.Transport = s.common()
		case "ignored_env":
			s.decode(&l.Ignored)
		case "fabric_reason":
			l.FabricReason = s.common()
		case "transports":
			l.Transports = shared(s, s.kept.ways)
		case "metrics":
			l.Metrics = dictOf(s, &s.kept.metrics, s.measured)
		case "samples":
			l.Samples = listOf(s, s.string)
		case "samples_digest":
			l.SamplesDigest = s.string()
		case "ranks":
			l.Ranks = listOf(s, s.readShare)
		case "initiators":
			l.Initiators = s.int()
		case "slowest_pair":
			s.decode(&l.SlowestPair)
		case "played":
			s.decode(&l.Played)
		case "verified":
			l.Verified = s.bool()
		case "simulated":
			l.Simulated = s.bool()
		case "retried":
			l.Retried = s.bool()
		case "counters":
			s.decode(&l.Counters)
		case "load":
			s.decode(&l.Load)
		case "resumed":
			l.Resumed = s.bool()
		}
	})
	return l
}

func (s *scan) readShare() (r RankShare) {
	s.fields(shareFields, func(i int) {
		switch shareFields[i] {
		case "rank":
			r.Rank = s.int()
		case "bytes":
			n := s.int()
			s.bad = s.bad || n < 0
			r.Bytes = uint64(n)
		case "seconds":
			r.Seconds = s.float()
		case "bandwidth":
			r.Bandwidth = s.float()
		}
	})
	return r
}

func (s *scan) readEstimate() MetricEstimate {
	var m MetricEstimate
	s.fields(estimateFields, func(i int) {
		switch estimateFields[i] {
		case "unit":
			m.Unit = s.common()
		case "n":
			m.N = s.int()
		case "value":
			m.Value = s.float()
		case "median":
			m.Median = s.float()
		case "mean":
			m.Mean = s.float()
		case "cv":
			m.CV = s.float()
		case "ci":
			m.CI = s.interval()
		case "confidence":
			m.Confidence = s.float()
		case "better":
			m.Better = s.common()
		}
	})
	return m
}

// readAssertion reads what the gate said of an assertion, and has what was asserted,
// which comes before it and is the same for many cases, read once.
func (s *scan) readAssertion() *AssertionVerdict {
	stated := s.stated[:0] // the assertion without its verdict
	var a AssertionVerdict
	s.object(func(name []byte) {
		switch string(name) {
		case "verdict":
			a.Verdict = Verdict(s.common())
		case "observed":
			s.bad = s.bad || a.Observed != nil
			a.Observed = s.readObserved()
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
		return &a
	}
	stated[0] = '{'
	s.stated = append(stated, '}')
	v, ok := once(s.kept.details, s.stated, decoded[AssertionVerdict])
	s.bad = s.bad || !ok || v.Verdict != "" || v.Observed != nil || v.Message != ""
	v.Verdict, v.Observed, v.Message = a.Verdict, a.Observed, a.Message
	return &v
}

func (s *scan) readObserved() *Observed {
	if s.null() {
		return nil
	}
	o := new(Observed)
	s.fields(observedFields, func(i int) {
		switch observedFields[i] {
		case "value":
			o.Value = s.float()
		case "unit":
			o.Unit = s.common()
		case "ci":
			o.CI = s.interval()
		case "n":
			o.N = s.int()
		case "confidence":
			o.Confidence = s.float()
		}
	})
	return o
}

func (s *scan) interval() *[2]float64 {
	if s.null() {
		return nil
	}
	var ci [2]float64
	s.must('[')
	ci[0] = s.float()
	s.must(',')
	ci[1] = s.float()
	s.must(']')
	return &ci
}

// anys reads a member of an object for any value.
func (s *scan) anys() map[string]any {
	return dictOf(s, &s.kept.settings, func() any {
		v, ok := once(s.kept.anys, s.value(), decoded[any])
		s.bad = s.bad || !ok
		return v
	})
}

// shared reads a value that is the same for many cases.
func shared[T any](s *scan, seen map[string]T) T {
	v, ok := once(seen, s.value(), decoded[T])
	s.bad = s.bad || !ok
	return v
}

func listOf[T any](s *scan, one func() T) []T {
	if s.null() {
		return nil
	}
	out := []T{}
	s.items('[', ']', func() {
		if s.next() == 'n' { // a null stays one, for whom this cannot say
			s.bad = true
		}
		out = append(out, one())
	})
	return out
}

// dictOf reads an object. It will have about as many members as the last one had.
func dictOf[T any](s *scan, size *int, one func() T) map[string]T {
	if s.null() {
		return nil
	}
	out := make(map[string]T, *size)
	s.items('{', '}', func() {
		name := s.common()
		s.must(':')
		if !s.bad {
			out[name] = one()
		}
	})
	*size = len(out)
	return out
}
