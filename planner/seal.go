// Step seal: ids and digest of a table.

package planner

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"sync"
)

// success is the default outcome that lets a case run.
const success = "success"

// seal computes ids, digest and cost from everything else.
func seal(t *Table) {
	loads := *t.head
	for _, run := range t.runs {
		for r := range run.inOrder() {
			if run.run.While == nil {
				break
			}
			loads.Cases = append(loads.Cases, r.write(t))
		}
	}
	contexts := loads.contexts()
	for _, run := range t.runs {
		run.context = contexts[run.run.Name]
		run.seal(t)
	}
	t.head.Digest = t.digest()
	t.head.Scenario.Digest = t.head.Digest
	t.head.Cost = t.cost()
}

// caseEncoder encodes the canonical texts of a run's rows.
type caseEncoder struct {
	options, env     []*column // by name
	workload         string
	place            func(*row) []byte
	secrets, context []byte
}

func (t *runTable) caseEncoder(table *Table) *caseEncoder {
	c := &caseEncoder{workload: string(encode(t.run.Workload.Name)), context: t.context}
	c.place = byAxes(t, t.axesOf(t.run.Workload.RanksOptions()...),
		func(r *row) []byte { return encode(table.place(t.run, r.ranks())) })
	if len(t.run.Secrets) > 0 {
		c.secrets = encode(t.run.Secrets)
	}
	for _, col := range slices.SortedFunc(slices.Values(t.columns), func(a, b *column) int {
		return cmp.Compare(a.Name, b.Name)
	}) {
		if col.Env {
			c.env = append(c.env, col)
		} else {
			c.options = append(c.options, col)
		}
	}
	return c
}

// buffers are reused for the texts of rows, to avoid garbage.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// id returns the id of a row.
func (c *caseEncoder) id(r *row) [32]byte {
	b := buffers.Get().(*[]byte)
	defer buffers.Put(b)
	*b = appendObject((*b)[:0], c.options, r)
	env := len(*b)
	*b = appendObject(*b, c.env, r)
	end := len(*b)
	*b = content(*b, c.workload, (*b)[:env], (*b)[env:], c.place(r), c.secrets, r.judged.judged, c.context)
	return sha256.Sum256((*b)[end:])
}

// appendObject appends the settings of a row as a JSON object.
func appendObject(b []byte, columns []*column, r *row) []byte {
	separator := byte('{')
	for _, c := range columns {
		if fragment := c.at(r).json; fragment != nil {
			b = append(append(b, separator), fragment...)
			separator = ','
		}
	}
	if separator == '{' {
		b = append(b, '{')
	}
	return append(b, '}')
}

// seal sets the ids and lines of the rows.
func (t *runTable) seal(table *Table) {
	canon, needs, timeout := t.caseEncoder(table), t.neededHashes(), t.run.Timeout.Seconds()
	onAllProcessors(len(t.rows), func(i int) {
		r := t.rows[i]
		r.id = canon.id(r)
		status := Planned
		if r.reason != "" {
			status = Skipped
		}
		r.line = line(r.key(), r.id, t.when, status, timeout, needs(r))
	})
	for _, r := range t.excluded {
		c := r.write(table)
		r.line = line(c.Key, sha256.Sum256(c.content(t.context)), c.When, c.Status, c.Timeout, hashNeeds(nil))
	}
}

func (t *Table) digest() string {
	var groups []groupContent
	var during [][]int
	lines := func(rows []*row) (all [][32]byte) {
		for _, r := range rows {
			all = append(all, r.line)
		}
		return all
	}
	for _, g := range t.groups {
		groups = append(groups, groupContent{Ranks: g.ranks, Looks: g.run.Launches, Cases: hashLines(lines(g.cases))})
		during = append(during, g.during)
	}
	var rest [][32]byte
	for _, run := range t.runs {
		for _, r := range run.rows {
			if r.group == nil {
				rest = append(rest, r.line)
			}
		}
		rest = append(rest, lines(run.excluded)...)
	}
	return digestOf(t.head, t.acrossCases(), groups, during, rest)
}
