// Verification of a plan's digests, and updates after a selection.

package planner

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Verify recomputes the digests of a plan and compares them.
func (p *Plan) Verify() error {
	contexts := p.contexts()
	for _, c := range p.Cases {
		if got := text(sha256.Sum256(c.content(contexts[c.Run]))); got != c.ID {
			return fmt.Errorf("%w: case %s does not match its id", ErrDigest, c.Key)
		}
	}
	got, err := p.digest()
	if err != nil {
		return err
	}
	if got != p.Digest {
		if p.Digest == "" {
			return fmt.Errorf("%w: it has no digest", ErrDigest)
		}
		return fmt.Errorf("%w: it has %s, but its content gives %s", ErrDigest, p.Digest, got)
	}
	return nil
}

// contexts returns the context of the cases of each run.
func (p *Plan) contexts() map[string][]byte {
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
		out[r.Name] = p.context(r, slices.Sorted(slices.Values(load[r.Name])))
	}
	return out
}

// content returns the canonical text of the case.
func (c *Case) content(context []byte) []byte {
	return c.canonical(encode(judged(c.Assertions)), context)
}

// action identifies the work of the case, independent of its assertions.
func (c *Case) action() string { return text(sha256.Sum256(c.canonical([]byte("[]"), nil))) }

func (c *Case) canonical(judged, context []byte) []byte {
	var secrets []byte
	if len(c.Secrets) > 0 {
		secrets = encode(c.Secrets)
	}
	return content(nil, string(encode(c.Workload)), encode(c.Options), encode(c.environment()), encode(c.Place),
		secrets, judged, context)
}

// environment returns the variables of the case; nil: unset.
func (c *Case) environment() map[string]any {
	all := make(map[string]any, len(c.Env)+len(c.Unset))
	for name, value := range c.Env {
		all[name] = value
	}
	for _, name := range c.EnvLater {
		all[name] = deferredText{c.Env[name]}
	}
	for _, name := range c.Unset {
		all[name] = nil
	}
	return all
}

// needed returns the needs of the case, sorted.
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
		lines[c.Key] = line(c.Key, id, c.When, c.Status, c.Timeout, hashNeeds(c.needed()))
	}
	during, err := p.during()
	if err != nil {
		return "", err
	}
	var groups []groupContent
	for _, g := range p.Groups {
		var own [][32]byte
		for _, key := range g.Cases {
			own = append(own, lines[key])
			delete(lines, key)
		}
		groups = append(groups, groupContent{Ranks: g.Ranks, Looks: g.Looks, Cases: hashLines(own)})
	}
	return digestOf(p, p.Assertions, groups, during, slices.Collect(maps.Values(lines))), nil
}

// refresh recomputes everything that depends on cases and groups.
func (p *Plan) refresh() {
	contexts := p.contexts()
	for _, c := range p.Cases {
		c.ID = text(sha256.Sum256(c.content(contexts[c.Run])))
	}
	digest, err := p.digest()
	if err != nil {
		panic(err) // ids are new, and the needs of groups are valid
	}
	p.Digest = digest
	p.Cost = p.cost()
}

// regroup removes cases that do not run from the groups, then empty groups, and recomputes the
// edges between groups.
func (p *Plan) regroup() {
	place := map[string]int{}
	p.Groups = slices.DeleteFunc(p.Groups, func(g *LaunchGroup) bool {
		g.Cases = slices.DeleteFunc(g.Cases, func(key string) bool { return p.keyed()[key].Status != Planned })
		return len(g.Cases) == 0
	})
	groupOf := p.groupsByCase()
	for i, g := range p.Groups {
		place[g.ID] = i
		g.Needs = []string{}
		for _, key := range g.Cases {
			for _, n := range p.keyed()[key].Needs {
				if up := groupOf[n]; up != nil && !slices.Contains(g.Needs, up.ID) {
					g.Needs = append(g.Needs, up.ID)
				}
			}
		}
	}
	for _, g := range p.Groups {
		slices.SortFunc(g.Needs, func(a, b string) int { return cmp.Compare(place[a], place[b]) })
		g.During = slices.DeleteFunc(g.During, func(id string) bool { _, left := place[id]; return !left })
	}
}

// groupsByCase returns the groups by the keys of their cases.
func (p *Plan) groupsByCase() map[string]*LaunchGroup {
	all := map[string]*LaunchGroup{}
	for _, g := range p.Groups {
		for _, key := range g.Cases {
			all[key] = g
		}
	}
	return all
}
