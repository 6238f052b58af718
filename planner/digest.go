package planner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"weir/assertion"
)

// ErrDigest says that a plan's content is not what its digest was made of.
var ErrDigest = errors.New("the plan was changed after it was made")

// Verify computes the digests of a plan again and compares.
func (p *Plan) Verify() error {
	for _, c := range p.Cases {
		if c.digest() != c.ID {
			return fmt.Errorf("%w: case %s is not what its id says", ErrDigest, c.Key)
		}
	}
	if got := p.digest(); got != p.Digest {
		return fmt.Errorf("%w: it says %s and its content gives %s", ErrDigest, p.Digest, got)
	}
	return nil
}

// digest identifies what the case does and what is asserted of it. It knows
// neither names nor places in files, so that the same measurement is recognised
// in another scenario.
func (c *Case) digest() string {
	return sum(struct {
		Workload, Options, Env, Place, Assertions any
	}{c.Workload, c.Options, c.Env, c.Place, c.judged()})
}

// judged are the assertions of a case as far as verdicts depend on them.
func (c *Case) judged() []string {
	keys := []string{}
	for _, a := range c.Assertions {
		keys = append(keys, judgement(a))
	}
	slices.Sort(keys)
	return keys
}

// judgement is an assertion without its name, which is the author's text where
// the author gives none: spelling is not content.
func judgement(a assertion.Assertion) string {
	a.Name = ""
	return a.Key()
}

// digest identifies what will be run and judged. Everything is sorted: the
// order of keys in a file is not content.
func (p *Plan) digest() string {
	type plannedCase struct {
		Key, ID, When, Status string
		Timeout               float64
		Axes                  any
		Needs                 []string
	}
	type plannedGroup struct {
		Cases []string
		Ranks int
		Looks []int
	}
	content := struct {
		Schema     string
		Cluster    Cluster
		Checks     []Check
		Cases      []plannedCase
		Assertions []string
		Groups     []plannedGroup
	}{Schema: p.Schema, Cluster: p.Cluster, Checks: p.Checks}
	for _, c := range p.Cases {
		content.Cases = append(content.Cases, plannedCase{c.Key, c.ID, c.When, c.Status, c.Timeout, c.Axes, sorted(c.Needs)})
	}
	for _, a := range p.Assertions {
		content.Assertions = append(content.Assertions, judgement(a))
	}
	for _, g := range p.Groups {
		content.Groups = append(content.Groups, plannedGroup{sorted(g.Cases), g.Ranks, g.Looks})
	}
	slices.SortFunc(content.Cases, func(a, b plannedCase) int { return strings.Compare(a.Key, b.Key) })
	slices.Sort(content.Assertions)
	slices.SortFunc(content.Groups, func(a, b plannedGroup) int { return slices.Compare(a.Cases, b.Cases) })
	return sum(content)
}

func sorted(keys []string) []string {
	return slices.Sorted(slices.Values(keys))
}

// sum is the SHA-256 of a value's canonical JSON: encoding/json sorts the keys
// of maps and writes each number in one way.
func sum(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plans hold only finite numbers, strings and booleans
	}
	h := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(h[:])
}
