package toolimport

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// twoHosts has the two sides of a run on different hosts, unless they meet at an address that only one host has, or a
// launcher says that there is one node.
func (c *call) twoHosts(meet string) {
	switch {
	case c.launch.nodes == 1:
		c.run.nodes = 1
		c.note("%s starts both sides on one node", c.launch.by)
	case loopback(meet):
		c.run.nodes = 1
		c.note("both sides meet at %s, which is one host", meet)
	default:
		c.run.nodes, c.run.distinct = 2, true
		c.note("its two sides are on two hosts, as cluster says; to have both on one, remove that and the nodes of roles")
	}
}

// nodesOfServer are those of a client and of the server whose address it names.
func nodesOfServer(c *call) error {
	meet := ""
	if len(c.positional) > 0 {
		meet = c.positional[0]
	}
	c.twoHosts(meet)
	return nil
}

// nixlbenchProcess is a process of a run of nixlbench. Which one it is they decide by the order of their arrival.
func nixlbenchProcess(c *call) (number, of int64, err error) {
	of, err = nixlbenchProcesses(c)
	if c.launch.by != "" {
		return -1, 1, err // which starts all of them
	}
	return -1, of, err
}

// nixlbenchNodes are those of its initiators and its targets.
func nixlbenchNodes(c *call) error {
	processes, err := nixlbenchProcesses(c)
	if err != nil || processes == 1 {
		return err
	}
	switch c.text("runtime_type") {
	case "ETCD":
		c.twoHosts("")
	case "ASIO":
		c.twoHosts(c.text("asio_address"))
	default:
		return fmt.Errorf("--runtime_type: %q is none of ETCD, ASIO", c.text("runtime_type"))
	}
	return nil
}

// loopback says whether an address is one that each host has for itself.
func loopback(address string) bool {
	ip := net.ParseIP(strings.Trim(address, "[]"))
	return strings.EqualFold(address, "localhost") || ip != nil && ip.IsLoopback()
}

// cluster is what the runs of a scenario need together, and writes into the runs what differs from that.
func cluster(runs []*run) mapping {
	most, distinct := int64(1), false
	for _, r := range runs {
		most, distinct = max(most, r.nodes), distinct || r.distinct
	}
	for _, r := range runs {
		switch {
		case most == 1:
		case max(1, r.nodes) < most:
			r.place = mapping{{"nodes", count(max(1, r.nodes))}}
		case r.each > 0:
			r.place = mapping{{"ranks_per_node", count(r.each)}}
		}
	}
	if most == 1 {
		return nil
	}
	m := mapping{{"nodes", count(most)}}
	if distinct {
		m = append(m, pair{"distinct_hosts", truth(true)})
	}
	return m
}

// join adds a line to a call before it of which it is a further process. It is no call of its own then.
func join(c *call, before []*call) (bool, error) {
	if c.tool.processes == nil {
		return false, nil
	}
	number, of, err := c.tool.processes(c)
	if err != nil || of < 2 {
		return false, err
	}
	c.process = number
	var first *call
	for _, other := range before {
		if other.tool != c.tool || !other.lacks(number, of) {
			continue
		}
		if len(c.differs(other)) == 0 {
			first = other
			break
		}
		if number >= 0 {
			first = other // the next best: the last of as many
		}
	}
	if first == nil {
		return false, nil
	}
	if number == 0 {
		first.given, c.given = c.given, first.given
		first.run.env, c.run.env = c.run.env, first.run.env
		first.process, c.process = c.process, first.process
	}
	first.further = append(first.further, c)
	return true, nil
}

// lacks says whether a run of so many processes has room for that of a number; -1: for any.
func (c *call) lacks(number, of int64) bool {
	_, own, err := c.tool.processes(c)
	if err != nil || own != of || int64(len(c.further))+1 >= of {
		return false
	}
	return number < 0 || c.process != number &&
		!slices.ContainsFunc(c.further, func(other *call) bool { return other.process == number })
}

// differs are the flags, of those that say what is measured, that two lines of a tool do not have in common.
func (c *call) differs(other *call) (all []*flag) {
	for i := range c.tool.flags {
		f := &c.tool.flags[i]
		a, _ := c.get(f)
		b, _ := other.get(f)
		if a != b && f.fate != ignored && !slices.Contains(c.tool.ofProcess, f.names[0]) {
			all = append(all, f)
		}
	}
	return all
}

// joined tells that lines became one run, and in what they differ that the run has from its first process.
func (c *call) joined() {
	if len(c.further) == 0 {
		return
	}
	c.note("%d lines are the processes of one run", len(c.further)+1)
	for _, other := range c.further {
		for _, f := range other.differs(c) {
			a, _ := c.get(f)
			b, _ := other.get(f)
			c.warn("%s: a line of the run has %q, and another %q; the run has the former", f.shown(), a, b)
		}
		for _, v := range other.ownEnv(c.run.env) {
			c.warn("variable %s: only one line of the run has %q; the run does not have it", v.Name, v.Value)
		}
		for _, f := range c.tool.ofProcess {
			if a, b := c.text(f), other.text(f); a != b {
				c.warn("--%s: a line of the run has %q, and another %q; the run has the former", f, a, b)
			}
		}
	}
}

// ownEnv are the variables of a line that others do not have.
func (c *call) ownEnv(others []Variable) (own []Variable) {
	for _, v := range c.run.env {
		if !slices.Contains(others, v) {
			own = append(own, v)
		}
	}
	return own
}

// node is the number of a line's node and how many nodes its run has, as NIXL EP's tests are told.
func (c *call) node() (number, of int64, err error) {
	if of, err = c.number("world-size", 1, mostProcesses); err != nil {
		return 0, 0, fmt.Errorf("%w: it is the number of nodes", err)
	}
	if !c.has("world-size") && c.launch.nodes > 0 {
		of = c.launch.nodes
	}
	rank := c.text("rank")
	if number, err = strconv.ParseInt(rank, 10, 64); err != nil {
		return 0, of, nil // what a shell would put there, which is ignored
	}
	if number >= of {
		return 0, 0, fmt.Errorf("--rank: %d is the number of a node from 0 to %d, as --world-size is %d", number, of-1,
			of)
	}
	return number, of, nil
}
