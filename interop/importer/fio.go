package importer

import (
	"slices"
	"strconv"
	"strings"
)

// fioCommand runs fio, which prints its document where weir reads it.
func fioCommand(c *call) {
	all := literals(c.path)
	for i := 0; i < len(c.positional); i++ {
		name, value, joined := strings.Cut(c.positional[i], "=")
		switch name {
		case "-":
			c.fail("fio -: jobs of the standard input are not imported; write them to a file")
			return
		case "--client":
			c.fail("fio --client: its hosts are those of fio --server; a role for each node runs the jobs there")
			return
		case "--output-format", "--output":
			if !joined && i+1 < len(c.positional) {
				i++
				value = c.positional[i]
			}
			if name == "--output" {
				c.note("--output %s: left out, since weir reads the standard output of fio", value)
			}
		case "--minimal", "--append-terse":
			c.note("%s: left out, since weir reads JSON", name)
		default:
			all = append(all, literal(c.positional[i]))
		}
	}
	c.run.command = true
	parse := mapping{{"of", literal("fio")}, {"format", literal("fio")}}
	jobs := c.fioJobs()
	switch several := len(jobs.names) > 1; {
	case jobs.most <= 1 && !several, jobs.grouped && !jobs.split, jobs.grouped && !several:
	case jobs.most > 1 && !several && jobs.file == "":
		c.note("--group_reporting: added, since a case has one result: that of all %d jobs", jobs.most)
		all = append(all, literal("--group_reporting"))
	case jobs.most <= 1 && !jobs.grouped && jobs.named():
		parse = append(parse, pair{"rows", literal("job")})
		c.run.sweep = mapping{{"job", literals(jobs.names...)}}
	default:
		c.fail("fio has several results, and a case has one: add group_reporting without stonewall, or write a line for " +
			"each job")
	}
	c.run.options["roles"] = mapping{{"fio", mapping{{"command", append(all, literal("--output-format=json"))}}}}
	c.run.options["parse"] = parse
	c.note("weir runs fio itself: it does not measure storage")
}

// fioJobs are the jobs of a command line.
type fioJobs struct {
	names   []string
	most    int64 // clones of a job
	grouped bool
	split   bool   // into several groups
	file    string // that has some of them
}

// fioJobs reads the jobs of the command line, and of the files that it names.
func (c *call) fioJobs() (jobs fioJobs) {
	sections := false
	for i, word := range c.positional {
		name, value, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch {
		case strings.HasPrefix(word, "-"):
			if !joined && i+1 < len(c.positional) && !strings.HasPrefix(c.positional[i+1], "-") {
				value = c.positional[i+1]
			}
			jobs.option(name, value)
			sections = sections || name == "section"
		case i == 0, !strings.HasPrefix(c.positional[i-1], "-"), strings.Contains(c.positional[i-1], "="),
			strings.HasSuffix(word, ".fio"):
			jobs.file = word
		}
	}
	if jobs.file == "" || sections {
		return jobs
	}
	src, err := c.readFile(jobs.file)
	if err != nil {
		return jobs
	}
	for line := range strings.Lines(string(src)) {
		line = strings.TrimSpace(line)
		if section, ok := strings.CutPrefix(line, "["); ok && section != "global]" {
			jobs.option("name", strings.TrimSuffix(section, "]"))
		} else if name, value, _ := strings.Cut(line, "="); !ok {
			jobs.option(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return jobs
}

// named reports whether all jobs have names of their own.
func (j *fioJobs) named() bool {
	return len(slices.Compact(slices.Sorted(slices.Values(j.names)))) == len(j.names)
}

// option reads an option of a job.
func (j *fioJobs) option(name, value string) {
	switch name {
	case "name":
		j.names = append(j.names, value)
	case "numjobs":
		n, _ := strconv.ParseInt(value, 10, 64)
		j.most = max(j.most, n)
	case "group_reporting":
		j.grouped = value != "0"
	case "stonewall", "wait_for_previous", "new_group":
		j.split = j.split || value != "0"
	}
}
