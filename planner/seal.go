package planner

import (
	"cmp"
	"crypto/sha256"
	"runtime"
	"slices"
	"sync"
)

// success is the outcome that lets a case run unless the scenario says otherwise.
const success = "success"

// seal computes what follows from everything else: ids, digest and cost.
func seal(t *Table) {
	load := map[string][]string{}
	for _, s := range t.sheets {
		if s.run.While == nil {
			continue
		}
		c := s.canon(t, []byte("[]"), nil)
		for i := range s.live {
			if s.skipped.at(i) == "" { // what a selection leaves out is still the load of what it measures
				load[s.run.While.Run] = append(load[s.run.While.Run], text(sha256.Sum256(c.content(nil, i))))
			}
		}
	}
	for k, s := range t.sheets {
		s.seal(t, t.head.around(t.head.Runs[k], slices.Sorted(slices.Values(load[s.run.Name]))))
	}
	t.head.Digest = t.digest()
	t.head.Scenario.Digest = t.head.Digest
	t.head.Cost = t.cost()
}

// canon writes the canonical texts of a sheet's cases.
type canon struct {
	*sheet
	options, env    []column
	workload        string
	place           facet[[]byte]
	secrets, around []byte
	judged          []byte // nil: each case's own
	o, e            []pair
}

func (s *sheet) canon(t *Table, judged, around []byte) *canon {
	c := &canon{sheet: s, workload: string(encode(s.run.Workload.Name)), judged: judged, around: around}
	c.place = work(s.by(s.axesOf(s.run.Workload.RanksOptions())),
		func(i int) []byte { return encode(t.place(s.run, s.ranks(i))) })
	if len(s.run.Secrets) > 0 {
		c.secrets = encode(s.run.Secrets)
	}
	for _, col := range s.settings {
		if col.Env {
			c.env = append(c.env, col)
		} else {
			c.options = append(c.options, col)
		}
	}
	byName := func(a, b column) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(c.options, byName)
	slices.SortFunc(c.env, byName)
	return c
}

func (c *canon) content(b []byte, i int) []byte {
	c.o, c.e = c.o[:0], c.e[:0]
	for k := range c.options {
		c.o = append(c.o, c.options[k].json[c.options[k].values.class(i)])
	}
	for k := range c.env {
		c.e = append(c.e, c.env[k].json[c.env[k].values.class(i)])
	}
	judged := c.judged
	if judged == nil {
		judged = c.assertions.at(i).judged
	}
	return content(b, c.workload, c.o, c.e, c.place.at(i), c.secrets, judged, c.around)
}

// seal gives the live cases their ids and lines, on all processors.
func (s *sheet) seal(t *Table, around []byte) {
	s.around = around
	s.ids, s.lines = make([][32]byte, s.live), make([][32]byte, s.live)
	needs := s.neededHashes()
	timeout := s.run.Timeout.Seconds()
	workers := runtime.GOMAXPROCS(0)
	if s.live < 1000 {
		workers = 1
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			c := s.canon(t, nil, around)
			var buf, key []byte
			for i := s.live * w / workers; i < s.live*(w+1)/workers; i++ {
				buf = c.content(buf[:0], i)
				s.ids[i] = sha256.Sum256(buf)
				status := Planned
				if s.reason(i) != "" {
					status = Skipped
				}
				key = s.appendKey(key[:0], s.columns, i)
				buf = line(buf[:0], key, s.ids[i], s.when, status, timeout, needs.at(i))
				s.lines[i] = sha256.Sum256(buf)
			}
		})
	}
	wg.Wait()
}

func (t *Table) digest() string {
	var groups []wholeGroup
	var during [][]int
	for _, g := range t.groups {
		own := make([][32]byte, len(g.cases))
		for k, i := range g.cases {
			own[k] = g.sheet.lines[i]
		}
		groups = append(groups, wholeGroup{Ranks: g.ranks, Looks: g.sheet.run.Launches, Cases: hashLines(own)})
		during = append(during, g.during)
	}
	var rest [][32]byte
	for _, s := range t.sheets {
		for i := range s.live {
			if s.skips() && s.reason(i) != "" {
				rest = append(rest, s.lines[i])
			}
		}
		for i := range s.excluded.reasons {
			c := s.excludedCase(t, i)
			id, err := unseal(c.ID)
			if err != nil {
				panic(err)
			}
			rest = append(rest, sha256.Sum256(line(nil, []byte(c.Key), id, c.When, c.Status, c.Timeout,
				hashNeeds(nil))))
		}
	}
	return digestOf(t.head, t.acrossCases(), groups, during, rest)
}
