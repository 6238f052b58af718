package importer

import (
	"fmt"
	"slices"
	"strings"
)

const (
	port    = expression("${port.a}")
	etcdURL = expression("${etcd.url}")
)

// words returns the command line without the flags that roles supply.
func (c *call) words(without ...string) list {
	all := literals(c.path)
	for _, s := range c.given[c.own:] {
		if !slices.ContainsFunc(without, func(name string) bool { return slices.Contains(s.flag.Names, name) }) {
			all = append(all, literals(s.words...)...)
		}
	}
	return all
}

// twoSides adds the roles of a server and a client with the same flags.
func (c *call) twoSides(format, rows string) {
	words := append(c.words("p"), literal("-p"), port)
	server := slices.Clone(words)
	client := slices.Insert(words, 1, value(expression("${role.server.address}")))
	parse := mapping{{"of", literal("client")}, {"format", literal(format)}}
	if rows != "" {
		parse = append(parse, pair{"rows", literal(rows)})
	}
	c.run.command = true
	c.bothRoles(server, client)
	c.run.options["parse"] = parse
}

func ucxPerftestCommand(c *call) {
	if c.has("b") {
		c.fail("-b: a case is one test; give the lines of the batch file as command lines")
	}
	if c.has("l") {
		c.fail("-l: there are no two sides")
	}
	if c.has("v") {
		c.note("-v: ignored, since weir reads the table")
		c.given = slices.DeleteFunc(c.given, func(s setting) bool { return s.flag.Names[0] == "v" })
	}
	c.twoSides("ucx_perftest", "")
}

func perftestCommand(c *call) {
	rows := ""
	if c.has("all") {
		rows = "block_size"
		c.run.command = true
		c.run.points(rows, perftestSizes(), size)
	}
	c.twoSides("perftest", rows)
}

func nixlbenchCommand(c *call) {
	c.run.command = true
	parse := mapping{{"of", literal("any")}, {"format", literal("nixlbench")}}
	axis, batch := nixlbenchRows(c)
	if axis != "" {
		parse = append(parse, pair{"rows", literal(axis)})
	}
	c.run.options["parse"] = parse
	processes := nixlbenchProcesses(c)
	switch {
	case processes == 1:
		c.run.options["roles"] = mapping{{"initiator", mapping{{"command", c.nixlbenchWords(batch)}}}}
	case c.text("runtime_type") == "ASIO":
		if processes != 2 {
			c.fail("--runtime_type ASIO: it supports two processes, not %d", processes)
		}
		batch = append(batch, literal("--asio_address"), expression("${role.initiator.address}"),
			literal("--asio_port"), port)
		c.ranks(batch, mapping{{"listens", port}}, processes)
	default:
		batch = append(batch, literal("--etcd_endpoints"), etcdURL, literal("--benchmark_group"),
			expression("${launch.id}"))
		c.run.options["etcd"] = truth(true)
		c.ranks(batch, nil, processes)
	}
}

// nixlbenchWords returns the command line of a process; it ends with the flags that all processes
// share.
func (c *call) nixlbenchWords(common list) list {
	return append(c.words("etcd_endpoints", "benchmark_group", "asio_address", "asio_port", "start_batch_size",
		"max_batch_size"), common...)
}

// ranks adds the roles of all processes. A rank is the place in the order of arrival, so each
// process starts when the previous one has arrived. A process with its own line has its own words
// and variables.
func (c *call) ranks(common list, ready mapping, processes int64) {
	var roles mapping
	lines := append([]*call{c}, c.further...)
	if len(lines) > 1 {
		c.note("%d lines are the processes of one run", len(lines))
	}
	shared := slices.Clone(c.run.env)
	for _, other := range c.further {
		shared = slices.DeleteFunc(shared, func(v Variable) bool { return !slices.Contains(other.run.env, v) })
	}
	initiators := processes / 2
	if c.text("scheme") == "manytoone" {
		initiators = processes - 1
	} else if c.text("scheme") == "onetomany" {
		initiators = 1
	}
	for i := range processes {
		name, node := "initiator", int64(0)
		if i >= initiators {
			name, node = "target", c.run.nodes-1
		}
		if processes > 2 {
			name = fmt.Sprintf("%s%d", name, i)
		}
		line := lines[min(int(i), len(lines)-1)]
		role := mapping{{"node", count(node)}, {"command", line.nixlbenchWords(common)}}
		var own mapping
		for _, v := range line.ownEnv(shared) {
			own = append(own, pair{v.Name, literal(v.Value)})
		}
		if own != nil {
			role = append(role, pair{"env", own})
		}
		if i > 0 {
			role = append(role, pair{"after", literals(roles[i-1].key)})
		}
		if i < processes-1 {
			arrived := ready
			if arrived == nil {
				arrived = mapping{{"etcd", expression(fmt.Sprintf("xferbench/${launch.id}//rank/%d", i))}}
			}
			role = append(role, pair{"ready", arrived})
		}
		roles = append(roles, pair{name, role})
	}
	c.run.options["roles"], c.run.env = roles, shared
}

// nixlbenchProcesses returns the number of processes.
func nixlbenchProcesses(c *call) int64 {
	if slices.Contains(storageBackends, c.text("backend")) {
		return 1 // also with etcd
	}
	if strings.EqualFold(c.text("mode"), "MG") {
		return 2
	}
	return c.number("num_initiator_dev", 1, 32) + c.number("num_target_dev", 1, 32)
}

// nixlbenchRows sweeps the axis in which the rows of a table differ, and returns its name and the
// flags of batch sizes. With several block sizes and batch sizes, each batch size has its own
// table.
func nixlbenchRows(c *call) (rows string, batch list) {
	blocks := c.doubled("start_block_size", "max_block_size", mostBytes)
	batches := c.doubled("start_batch_size", "max_batch_size", 1<<20)
	from, to := value(count(batches[0])), value(count(batches[len(batches)-1]))
	switch {
	case len(blocks) > 1 && len(batches) > 1:
		c.run.points("batch", batches, count)
		from, to = expression("${axis.batch}"), expression("${axis.batch}")
		fallthrough
	case len(blocks) > 1:
		c.run.points("block_size", blocks, size)
		rows = "block_size"
	case len(batches) > 1:
		c.run.points("batch", batches, count)
		rows = "batch"
	}
	if c.has("start_batch_size") || c.has("max_batch_size") {
		batch = list{literal("--start_batch_size"), from, literal("--max_batch_size"), to}
	}
	return rows, batch
}
