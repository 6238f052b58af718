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
	c.run.command = true
	c.run.timeout = loadTimeout
	words := slices.Clone(c.whole)
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
	c.run.options["parse"] = mapping{
		{"of", literal("load")}, {"format", literal(of.format)}, {"file", expression(scratch + "/" + of.file)},
	}
}
