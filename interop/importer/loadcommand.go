package importer

import (
	"slices"
	"strings"
)

// ownFile says how a load generator is told where to write its result.
type ownFile struct {
	format, file string
	drops        []string // flags that say it otherwise
	flags        []string // with {dir}
}

// loadFiles are those of the load generators.
var loadFiles = map[string]ownFile{
	"aiperf":     ofArtifacts("profile_export_aiperf.json"),
	"genai-perf": ofArtifacts("profile_export_genai_perf.json"),
	"guidellm": {
		"guidellm", "benchmarks.json", names("output-dir|outputs|output-path|output-formats"),
		[]string{"--output-path", "{dir}/benchmarks.json"},
	},
	"vllm-bench": {
		"vllm-bench", "result.json", names("save-result|append-result|result-dir|result-filename"),
		[]string{"--save-result", "--result-dir", "{dir}", "--result-filename", "result.json"},
	},
	ofSglang: {"vllm-bench", "result.jsonl", names("output-file"), []string{"--output-file", "{dir}/result.jsonl"}},
}

func ofArtifacts(file string) ownFile {
	return ownFile{
		"aiperf", file, names("artifact-dir|output-artifact-dir|profile-export-file|profile-export-prefix"),
		[]string{"--artifact-dir", "{dir}"},
	}
}

// scratch is a directory that is removed with the launch.
const scratch = "${launch.scratch}"

// loadCommand runs a load generator itself, which writes its result where weir reads it.
func loadCommand(c *call) {
	of := loadFiles[c.tool.name]
	if c.tool.name == "guidellm" && c.specified() {
		of.drops, of.flags = names("output|outputs"), []string{"--output", "kind=json,path={dir}/benchmarks.json"}
	}
	c.run.command = true
	c.run.timeout = loadTimeout
	words := slices.Clone(c.whole)
	if c.outer == nil {
		c.ofWrappers = nil
	}
	for _, s := range c.given {
		written, _, _ := strings.Cut(strings.TrimLeft(s.words[0], "-"), "=")
		if !slices.Contains(of.drops, strings.ReplaceAll(written, "_", "-")) {
			continue
		}
		c.note("--%s: left out, since weir says where the result is written", written)
		for at := range words {
			if end := at + len(s.words); end <= len(words) && slices.Equal(words[at:end], s.words) {
				words = slices.Delete(words, at, end)
				break
			}
		}
	}
	var line list
	for _, w := range words {
		line = append(line, c.texted("the command", w))
	}
	for _, f := range of.flags {
		line = append(line, expression(strings.ReplaceAll(f, "{dir}", scratch)))
	}
	c.run.options["roles"] = mapping{{"load", mapping{{"command", line}}}}
	parse := mapping{
		{"of", literal("load")}, {"format", literal(of.format)}, {"file", expression(scratch + "/" + of.file)},
	}
	if axis, values := c.resultsOfLoad(); len(values) > 1 {
		parse = append(parse, pair{"rows", literal(axis)})
		c.run.sweep = mapping{{axis, literals(values...)}}
	}
	c.run.options["parse"] = parse
}

// resultsOfLoad returns the values of the axis in which the results of a command line differ. One that has several
// results of unknown loads, or in several files, cannot be read.
func (c *call) resultsOfLoad() (axis string, values []string) {
	if c.tool.name == "aiperf" {
		for _, name := range names("concurrency|request-rate|request-count|benchmark-duration|synthetic-input-tokens-mean|" +
			"synthetic-input-tokens-stddev|output-tokens-mean|output-tokens-stddev|num-sessions") {
			if strings.Contains(c.text(name), ",") {
				c.fail("%s %s: aiperf writes a file for each, and a case has one: write a line for each, or a loop over "+
					"them", c.shown(c.tool.flag(name)), c.text(name))
			}
		}
	}
	if c.tool.name != "guidellm" {
		return "", nil
	}
	profile := c.first("profile")
	rates := guidellmRates(c)
	if spec := specOf(profile); spec["kind"] != "" {
		profile = spec["kind"]
		rates = strings.FieldsFunc(spec["rate"]+spec["streams"], func(r rune) bool { return r == ',' })
	}
	for _, s := range c.given {
		if field, list, _ := strings.Cut(s.value, " "); s.flag.Names[0] == "override" {
			if _, field, _ = strings.Cut(field, "."); field == "rate" || field == "streams" {
				rates = strings.Split(list, ",")
			}
		}
	}
	switch profile {
	case "sweep", "goodput", "knee":
		c.fail("--profile %s: its results have loads that guidellm chooses, and a case has one: give a profile with rates; "+
			searchHint, profile)
	case "constant", "async", "poisson":
		return byRate, rates
	}
	return "concurrency", rates
}

// specified reports whether a command line has the specifications of guidellm from 0.7 on.
func (c *call) specified() bool {
	return slices.ContainsFunc(c.given, func(s setting) bool {
		return s.flag.Names[0] == "constraint" || specOf(s.value)["kind"] != ""
	})
}
