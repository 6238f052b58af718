package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/results"
)

// lost are launches that the journal has and the document has not.
func lost(finished map[string]time.Time, d *results.Document) (keys []string) {
	there := map[string]time.Time{}
	for _, c := range d.Cases {
		for _, l := range c.Launches {
			if l.Status == results.OK {
				there[fmt.Sprintf("%s/%d", c.Key, l.Index)] = l.Started
			}
		}
	}
	for key, at := range finished {
		if got, ok := there[key]; !ok || !got.Equal(at) {
			keys = append(keys, key)
		}
	}
	return keys
}

// failures are those of all launches.
func failures(d *results.Document) (all []*results.Failure) {
	if d == nil {
		return nil
	}
	for _, c := range d.Cases {
		for _, l := range c.Launches {
			if l.Failure != nil {
				all = append(all, l.Failure)
			}
		}
	}
	return all
}

// causes are what launches failed of, each once, and why cases cannot be used.
func causes(d *results.Document) (all []string) {
	for _, c := range d.Cases {
		if c.Invalid != "" {
			all = append(all, "invalid: "+c.Invalid)
		}
	}
	for _, f := range failures(d) {
		line, _, _ := strings.Cut(f.Cause, "\n")
		if text := fmt.Sprintf("%s: node %s rank %d: %s", f.Kind, f.Node, f.Rank, line); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// unnamed lists failures in a document that name neither the failed process nor a cause.
func unnamed(d *results.Document) (all []string) {
	named := d.Session.Reason != ""
	for _, c := range d.Cases {
		for _, l := range c.Launches {
			if f := l.Failure; l.Status != results.OK &&
				(f == nil || f.Cause == "" || f.Kind == "" || f.Node == "" && f.Rank < 0) {
				all = append(all, fmt.Sprintf("%s launch %d: %+v", c.Key, l.Index, f))
			}
		}
		bad := c.Status == results.Error || c.NotReached()
		if bad && (c.Reason == "" || c.Reason == results.NotRun) {
			all = append(all, fmt.Sprintf("%s is %s: %q", c.Key, c.Status, c.Reason))
		}
		named = named || bad && c.Reason != "" || c.Invalid != ""
	}
	if s := d.Session; (s.ExitCode != 0 || s.Status != results.Passed) && !named {
		all = append(all, fmt.Sprintf("the session is %s with exit code %d, and neither it nor a case says why",
			s.Status, s.ExitCode))
	}
	return all
}

// misled says how the causes in a document lead away from what was done, "" if one of them
// leads to it. Where nothing failed there is nothing to say.
func (i injection) misled(d *results.Document) string {
	all := failures(d)
	leads := func(f *results.Failure) bool {
		switch i.target {
		case "rank": // services have a process like that of a rank
			return f.Rank >= 0 || strings.HasPrefix(f.Cause, "service ")
		case "link":
			if i.how == dropping || i.how == delayed { // both ends of the link are as good a place
				return f.Rank >= 0 || f.Node != ""
			}
			return f.Node == i.node.name || strings.Contains(f.Cause, "node "+i.node.name)
		case "agent", "host":
			return f.Node == i.node.name || strings.Contains(f.Cause, "node "+i.node.name)
		case "etcd":
			return strings.Contains(f.Cause, "etcd")
		}
		// one that stands still is what agents miss: they go, and it says that it was not there
		return strings.Contains(f.Cause, "the coordinator")
	}
	if len(all) == 0 || slices.ContainsFunc(all, leads) {
		return ""
	}
	return strings.Join(causes(d), "; ")
}
