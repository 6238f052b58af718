package planner

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Verify computes the digests of a plan again and compares.
func (p *Plan) Verify() error {
	around := p.surroundings()
	for _, c := range p.Cases {
		if got := text(sha256.Sum256(c.content(around[c.Run]))); got != c.ID {
			return fmt.Errorf("%w: case %s is not what its id says", ErrDigest, c.Key)
		}
	}
	got, err := p.digest()
	if err != nil {
		return err
	}
	if got != p.Digest {
		if p.Digest == "" {
			return fmt.Errorf("%w: its digest is gone", ErrDigest)
		}
		return fmt.Errorf("%w: it says %s and its content gives %s", ErrDigest, p.Digest, got)
	}
	return nil
}

// surroundings are those of each run.
func (p *Plan) surroundings() map[string][]byte {
	load := map[string][]string{}
	for _, r := range p.Runs {
		if r.While == "" {
			continue
		}
		for _, c := range p.Cases {
			if c.Run == r.Name && c.Status != Excluded && !strings.HasPrefix(c.Reason, byWhen) {
				load[r.While] = append(load[r.While], c.action())
			}
		}
	}
	out := map[string][]byte{}
	for _, r := range p.Runs {
		out[r.Name] = p.around(r, slices.Sorted(slices.Values(load[r.Name])))
	}
	return out
}

// content is the canonical text of the case.
func (c *Case) content(around []byte) []byte {
	return c.canonical(encode(judged(c.Assertions)), around)
}

// action identifies what the case does, whatever is asserted of it.
func (c *Case) action() string { return text(sha256.Sum256(c.canonical([]byte("[]"), nil))) }

func (c *Case) canonical(judged, around []byte) []byte {
	var secrets []byte
	if len(c.Secrets) > 0 {
		secrets = encode(c.Secrets)
	}
	return content(nil, string(encode(c.Workload)), pairs(c.Options), pairs(c.environment()), encode(c.Place),
		secrets, judged,
		around)
}

// environment are the variables of the case; nil: left unset.
func (c *Case) environment() map[string]any {
	all := make(map[string]any, len(c.Env)+len(c.Unset))
	for name, value := range c.Env {
		all[name] = value
	}
	for _, name := range c.EnvLater {
		all[name] = laterText{c.Env[name]}
	}
	for _, name := range c.Unset {
		all[name] = nil
	}
	return all
}

// pairs are the entries of a map, by name.
func pairs[V any](m map[string]V) []pair {
	var out []pair
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, append(append(encode(name), ':'), encode(m[name])...))
	}
	return out
}

// needed lists what the case needs.
func (c *Case) needed() []needed {
	var all []needed
	for _, key := range c.Needs {
		on := c.NeedsOn[key]
		if on == "" {
			on = success
		}
		all = append(all, needed{key, on})
	}
	return sortNeeds(all)
}

func (p *Plan) digest() (string, error) {
	lines := map[string][32]byte{}
	for _, c := range p.Cases {
		id, err := unseal(c.ID)
		if err != nil {
			return "", err
		}
		lines[c.Key] = sha256.Sum256(line(nil, []byte(c.Key), id, c.When, c.Status, c.Timeout, hashNeeds(c.needed())))
	}
	index := map[string]int{}
	for i, g := range p.Groups {
		index[g.ID] = i
	}
	var groups []wholeGroup
	var during [][]int
	for _, g := range p.Groups {
		var own [][32]byte
		for _, key := range g.Cases {
			own = append(own, lines[key])
			delete(lines, key)
		}
		groups = append(groups, wholeGroup{Ranks: g.Ranks, Looks: g.Looks, Cases: hashLines(own)})
		var front []int
		for _, id := range g.During {
			i, ok := index[id]
			if !ok {
				return "", fmt.Errorf("%w: launch group %s runs during %s, which is not in it", ErrDigest, g.ID, id)
			}
			front = append(front, i)
		}
		during = append(during, front)
	}
	return digestOf(p, p.Assertions, groups, during, slices.Collect(maps.Values(lines))), nil
}

// refresh computes again what a change of cases or groups makes stale.
func (p *Plan) refresh() {
	around := p.surroundings()
	for _, c := range p.Cases {
		c.ID = text(sha256.Sum256(c.content(around[c.Run])))
	}
	digest, err := p.digest()
	if err != nil {
		panic(err) // ids were just made, and groups name each other
	}
	p.Digest = digest
	p.Cost = p.cost()
}

// regroup drops cases that do not run from the groups, and empty groups, and
// draws the edges between the groups that are left.
func (p *Plan) regroup() {
	byKey := make(map[string]*Case, len(p.Cases))
	for _, c := range p.Cases {
		byKey[c.Key] = c
	}
	groupOf := map[string]string{}
	place := map[string]int{}
	left := map[string]bool{}
	p.Groups = slices.DeleteFunc(p.Groups, func(g *LaunchGroup) bool {
		g.Cases = slices.DeleteFunc(g.Cases, func(key string) bool { return byKey[key].Status != Planned })
		for _, key := range g.Cases {
			groupOf[key] = g.ID
		}
		left[g.ID] = len(g.Cases) > 0
		return len(g.Cases) == 0
	})
	for i, g := range p.Groups {
		place[g.ID] = i
		g.Needs = []string{}
		for _, key := range g.Cases {
			for _, n := range byKey[key].Needs {
				if id, ok := groupOf[n]; ok && !slices.Contains(g.Needs, id) {
					g.Needs = append(g.Needs, id)
				}
			}
		}
		slices.SortFunc(g.Needs, func(a, b string) int { return cmp.Compare(place[a], place[b]) })
		g.During = slices.DeleteFunc(g.During, func(id string) bool { return !left[id] })
	}
}
