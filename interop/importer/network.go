package importer

import (
	"slices"
	"strconv"
	"strings"
)

// Tests of networks: weir runs them as they are, and reads their outputs.
var (
	osu          = &tool{name: "osu", command: osuCommand}
	fiPingpong   = &tool{name: "fi_pingpong", command: fabtestsCommand, nodes: nodesOfServer, also: fabtestsTool}
	fabtestsTool = &tool{name: "fabtests", command: fabtestsCommand, nodes: nodesOfServer}
	iperf3       = &tool{
		name: "iperf3", command: iperf3Command, nodes: func(c *call) { c.setTwoHosts(c.text("c")) },
		serves: func(c *call) bool { return !c.has("c") },
	}
)

// osuCommand runs the whole command line, with its launcher, as that of nccl-tests.
func osuCommand(c *call) {
	c.run.command = true
	c.run.options["roles"] = mapping{{"test", mapping{{"command", c.wholeWords()}}}}
	parse := mapping{{"of", literal("test")}, {"format", literal("osu")}}
	if sizes := osuSizes(c); len(sizes) > 1 {
		parse = append(parse, pair{"rows", literal("block_size")})
		c.run.points("block_size", sizes, size)
	}
	c.run.options["parse"] = parse
	c.note("weir runs %s itself: it does not measure MPI", c.program())
}

// osuSizes returns the sizes of -m MIN:MAX, or those that a test has by default.
func osuSizes(c *call) (all []int64) {
	name := strings.TrimPrefix(c.program(), "osu_")
	from, to := int64(1), int64(1<<20)
	switch {
	case strings.HasSuffix(name, "barrier"):
		return nil
	case strings.Contains(name, "reduce"):
		from = 4 // a number
	case strings.HasSuffix(name, "bw"), strings.Contains(name, "lat"), name == "mbw_mr":
		to = 1 << 22
	}
	if own := getoptValue(c.positional, "m", "message-size"); own != "" {
		least, most, both := strings.Cut(own, ":")
		if !both {
			least, most = "", own
		}
		if n := binarySize(least); n > 0 {
			from = n
		}
		if n := binarySize(most); n > 0 {
			to = n
		}
	}
	for n := from; n <= to && len(all) < 64; n *= 2 {
		all = append(all, n)
	}
	return all
}

// fabtestsSizes are the sizes of the rows that a test of libfabric prints by default.
var fabtestsSizes = []int64{64, 256, 1 << 10, 1 << 12, 1 << 16, 1 << 20}

// fabtestsCommand runs both sides of a test of libfabric. Its server has the port as -B, and its client as -P.
func fabtestsCommand(c *call) {
	words := c.words("B", "P")
	server := slices.Concat(words, list{literal("-B"), port})
	client := slices.Concat(words, list{literal("-P"), port, expression("${role.server.address}")})
	c.run.command = true
	parse := mapping{{"of", literal("client")}, {"format", literal("fabtests")}}
	switch text := c.text("S"); {
	case text == "":
		parse = append(parse, pair{"rows", literal("block_size")})
		var sizes list
		for _, n := range fabtestsSizes {
			sizes = append(sizes, size(n))
		}
		c.run.sweep = mapping{{"block_size", sizes}}
	default:
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < 1 {
			c.fail("-S %s: a case has one size; write a number", text)
		}
	}
	c.run.options["parse"] = parse
	c.bothRoles(server, client)
}

// iperf3Command runs both sides of iperf3. The client prints JSON.
func iperf3Command(c *call) {
	words := c.words("c", "p", "J", "json-stream", "logfile", "s", "D")
	client := slices.Concat(words, list{
		literal("-c"), expression("${role.server.address}"), literal("-p"), port, literal("-J"),
	})
	c.run.command = true
	c.run.options["parse"] = mapping{{"of", literal("client")}, {"format", literal("iperf3")}}
	c.bothRoles(list{literal(c.path), literal("-s"), literal("-1"), literal("-p"), port}, client)
}

// bothRoles adds a server and a client.
func (c *call) bothRoles(server, client list) {
	role := mapping{{"command", server}, {"ready", mapping{{"listens", port}}}, {"ends", literal("with client")}}
	if c.run.nodes > 1 {
		role = slices.Insert(role, 0, pair{"node", literal("1")})
	}
	c.run.options["roles"] = mapping{
		{"server", role},
		{"client", mapping{{"after", literals("server")}, {"command", client}}},
	}
}
