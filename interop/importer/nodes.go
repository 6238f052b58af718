package importer

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// setTwoHosts places the two sides of a run on different hosts, unless they meet at an address that
// only one host has, or a launcher uses one node.
func (c *call) setTwoHosts(meet string) {
	switch {
	case c.launch.nodes == 1 && !c.launch.alone():
		c.run.nodes = 1
		c.note("%s starts both sides on one node", c.launch.by)
	case loopback(meet):
		c.run.nodes = 1
		c.note("both sides meet at %s, so they are on one host", meet)
	default:
		c.run.nodes, c.run.distinct = 2, true
		c.note("its two sides are on two hosts; for one host remove cluster (or place) and node of its roles")
	}
}

// nodesOfServer sets the nodes of a client and of the server that it connects to.
func nodesOfServer(c *call) {
	meet := ""
	if len(c.positional) > 0 {
		meet = c.positional[0]
	}
	c.setTwoHosts(meet)
}

// nodesOfLauncher sets the nodes that a launcher before the tool starts.
func nodesOfLauncher(c *call) { c.run.nodes = c.launch.nodes }

// nixlbenchProcess returns which process of nixlbench a line starts. The processes choose their
// numbers by the order of arrival.
func nixlbenchProcess(c *call) (number, of int64) {
	of = nixlbenchProcesses(c)
	if c.launch.by != "" {
		of = 1 // one line starts all
	}
	return -1, of
}

// nixlbenchNodes sets the nodes of initiators and targets.
func nixlbenchNodes(c *call) {
	switch kind := c.text("runtime_type"); {
	case nixlbenchProcesses(c) == 1:
	case kind == "ETCD" && c.has("etcd_endpoints"):
		c.setTwoHosts(hostOf(c.text("etcd_endpoints")))
	case kind == "ETCD":
		c.setTwoHosts("")
	case kind == "ASIO":
		c.setTwoHosts(c.text("asio_address"))
	default:
		c.fail("--runtime_type: %q is none of ETCD, ASIO", kind)
	}
}

// hostOf returns the host of the first URL of a list.
func hostOf(urls string) string {
	first, _, _ := strings.Cut(urls, ",")
	u, err := url.Parse(first)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// loopback reports whether an address is local to each host.
func loopback(address string) bool {
	ip := net.ParseIP(strings.Trim(address, "[]"))
	return strings.EqualFold(address, "localhost") || ip != nil && ip.IsLoopback()
}

// cluster returns the requirements that all runs share. If runs differ, each has its own.
func cluster(runs []*run) mapping {
	need := func(r *run) mapping {
		m := mapping{{"nodes", count(max(1, r.nodes))}}
		if r.distinct {
			m = append(m, pair{"distinct_hosts", truth(true)})
		}
		return m
	}
	shared := need(runs[0])
	for _, r := range runs {
		if !slices.Equal(need(r), shared) {
			shared = nil
			break
		}
	}
	for _, r := range runs {
		if shared == nil && r.nodes > 0 {
			r.place = need(r)
		}
		if r.each > 0 && r.nodes > 1 {
			r.place = append(r.place, pair{"ranks_per_node", count(r.each)})
		}
	}
	if runs[0].nodes < 2 {
		return nil
	}
	return shared
}

// join adds a line to an earlier call as a further process of it; the line is then not a call.
func join(c *call, before []*call) bool {
	if c.tool.processes == nil {
		return false
	}
	number, of := c.tool.processes(c)
	if of < 2 {
		return false
	}
	c.process = number
	var first *call
	for _, other := range before {
		if other.tool != c.tool || !other.lacksProcess(number, of) || other.endsBefore(c) {
			continue
		}
		if len(c.differingFlags(other)) == 0 {
			first = other
			break
		}
		if number >= 0 {
			first = other // the next best: the last with this number
		}
	}
	if first == nil {
		return false
	}
	if number == 0 {
		first.given, c.given = c.given, first.given
		first.run.env, c.run.env = c.run.env, first.run.env
		first.process, c.process = c.process, first.process
	}
	first.further = append(first.further, c)
	return true
}

// endsBefore reports whether a later pass of a loop runs the same command again, for which the shell waits.
func (c *call) endsBefore(later *call) bool {
	return c.fate != nil && c.fate == later.fate && c.order < later.order &&
		!slices.ContainsFunc(c.stages, func(at stage) bool { return at.job > 0 })
}

// lacksProcess reports whether a run with that many processes lacks process number; -1: any.
func (c *call) lacksProcess(number, of int64) bool {
	_, own := c.tool.processes(c)
	if own != of || int64(len(c.further))+1 >= of {
		return false
	}
	return number < 0 || c.process != number &&
		!slices.ContainsFunc(c.further, func(other *call) bool { return other.process == number })
}

// differingFlags returns the flags, relevant to the measurement, in which two lines differ.
func (c *call) differingFlags(other *call) (all []*flag) {
	for i := range c.tool.Flags {
		f := &c.tool.Flags[i]
		a, _ := c.get(f)
		b, _ := other.get(f)
		if a != b && f.fate != ignored && !slices.Contains(c.tool.ofProcess, f.Names[0]) {
			all = append(all, f)
		}
	}
	return all
}

// noteJoined notes that lines became one run, and in what they differ: the run has the values of its
// first process.
func (c *call) noteJoined() {
	if len(c.further) == 0 {
		return
	}
	c.note("%d lines are the processes of one run", len(c.further)+1)
	for _, other := range c.further {
		for _, f := range other.differingFlags(c) {
			a, _ := c.get(f)
			b, _ := other.get(f)
			c.warn("%s: one line of the run has %q and another %q; the run uses the first", f.shown(), a, b)
		}
		for _, v := range other.ownEnv(c.run.env) {
			c.warn("variable %s: only one line of the run has %q; the run does not have it", v.Name, v.Value)
		}
		for _, f := range c.tool.ofProcess {
			if a, b := c.text(f), other.text(f); a != b {
				c.warn("--%s: one line of the run has %q and another %q; the run uses the first", f, a, b)
			}
		}
	}
}

// ownEnv returns the variables of a line that others do not have.
func (c *call) ownEnv(others []Variable) (own []Variable) {
	for _, v := range c.run.env {
		if !slices.Contains(others, v) {
			own = append(own, v)
		}
	}
	return own
}

// node returns the number of a line's node and the number of nodes of its run, as in NIXL EP's
// tests.
func (c *call) node() (number, of int64) {
	if of = c.number("world-size", 1, mostProcesses); c.wrong != nil {
		c.wrong = fmt.Errorf("%w: it must be the number of nodes", c.wrong)
		return 0, of
	}
	if !c.has("world-size") && c.launch.nodes > 0 {
		of = c.launch.nodes
	}
	rank := c.text("rank")
	number, err := strconv.ParseInt(rank, 10, 64)
	if err != nil {
		return 0, of // a shell variable, ignored
	}
	if number >= of {
		c.fail("--rank: %d must be a node number from 0 to %d, since --world-size is %d", number, of-1, of)
	}
	return number, of
}
