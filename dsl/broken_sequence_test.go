package dsl

import (
	"maps"
	"testing"
)

func init() { maps.Copy(brokenInputs, brokenSequences) }

// brokenSequences are pieces of scenarios with sequences, or with traffic from a model.
var brokenSequences = map[string]broken{
	"patterns/none": {"", "scenario: s\nruns: {«a»: {workload: traffic_sequence}}",
		"scenario \"s\" {\nrun «\"a\"» { workload = \"traffic_sequence\" }\n}", "Missing option",
		"none of the options patterns, metadata_file, generate"},
	"patterns/two": {"sequence", "options: {patterns: [{matrix_file: good.txt}], «metadata_file»: ct.yaml}",
		"options {\npatterns = [{ matrix_file = \"good.txt\" }]\n«metadata_file» = \"ct.yaml\"\n}", "Given twice",
		"and \"patterns\" are both set"},
	"patterns/not a list": {"sequence", "options: {patterns: «{matrix_file: good.txt}»}",
		"options { patterns = «{ matrix_file = \"good.txt\" }» }", "Not a list", "a mapping for each pattern"},
	"patterns/empty": {"sequence", "options: {patterns: «[]»}", "options { patterns = «[]» }",
		"Empty sequence", "nothing would run"},
	"patterns/item": {"sequence", "options: {patterns: [«good.txt»]}",
		"options { patterns = [«\"good.txt\"»] }", "Not a mapping", "pattern 0"},
	"patterns/no matrix": {"sequence", "options: {patterns: [«{op: read}»]}",
		"options { patterns = [«{ op = \"read\" }»] }", "No matrix", "Pattern 0 has no matrix"},
	"patterns/unknown key": {"sequence", "options: {patterns: [{matrix_file: good.txt, «shard»: 2}]}",
		"options { patterns = [{ matrix_file = \"good.txt\", «shard» = 2 }] }", "Unknown key",
		"Did you mean \"shards\"?"},
	"patterns/of the run": {"sequence", "options: {patterns: [{matrix_file: good.txt, «memory»: vram}]}",
		"options { patterns = [{ matrix_file = \"good.txt\", «memory» = \"vram\" }] }", "Unknown key",
		"no \"memory\" in a pattern"},
	"patterns/matrix twice": {"sequence", "options: {patterns: [{matrix: [[0, 1], [0, 0]], «matrix_file»: good.txt}]}",
		"options { patterns = [{ matrix = [[0, 1], [0, 0]], «matrix_file» = \"good.txt\" }] }", "Given twice",
		"has matrix already"},
	"patterns/sleep twice": {"sequence", "options: {patterns: [{matrix_file: good.txt, sleep_before_launch: 1s, «sleep_before_launch_sec»: 1}]}",
		"options { patterns = [{ matrix_file = \"good.txt\", sleep_before_launch = \"1s\", «sleep_before_launch_sec» = 1 }] }",
		"Given twice", "has sleep_before_launch already"},
	"patterns/own cell": {"sequence", "options: {own_cells: error, patterns: [{matrix: [[«1», 1], [0, 0]]}]}",
		"options {\nown_cells = \"error\"\npatterns = [{ matrix = [[«1», 1], [0, 0]] }]\n}", "Own cell", "Rank 0"},
	"patterns/sleep": {"sequence", "options: {patterns: [{matrix_file: good.txt, sleep_before_launch: «-1s»}]}",
		"options { patterns = [{ matrix_file = \"good.txt\", sleep_before_launch = «\"-1s\"» }] }", "Invalid value",
		"sleep_before_launch of pattern 0"},
	"patterns/seconds": {"sequence", "options: {patterns: [{matrix_file: good.txt, sleep_after_launch_sec: «1s»}]}",
		"options { patterns = [{ matrix_file = \"good.txt\", sleep_after_launch_sec = «\"1s\"» }] }", "Invalid value",
		"sleep_after_launch: 1s"},
	"patterns/year": {"sequence", "options: {patterns: [{matrix_file: good.txt, sleep_after_launch_sec: «1e9»}]}",
		"options { patterns = [{ matrix_file = \"good.txt\", sleep_after_launch_sec = «1e9» }] }", "Invalid value",
		"above the largest"},
	"patterns/ranks differ": {"sequence", "options: {patterns: [{matrix_file: good.txt}, «{matrix_file: three.txt}»]}",
		"options { patterns = [{ matrix_file = \"good.txt\" }, «{ matrix_file = \"three.txt\" }»] }",
		"Wrong number of ranks", "pattern 1 has 3 ranks, but that of the first has 2"},
	"patterns/ranks": {"sequence", "options: {ranks: «3», patterns: [{matrix_file: good.txt}]}",
		"options {\nranks = «3»\npatterns = [{ matrix_file = \"good.txt\" }]\n}", "Wrong number of ranks",
		"the matrix has 2 ranks"},
	"patterns/axis": {"sequence", "sweep: {«metadata_file»: [ct.yaml]}",
		"sweep { «metadata_file» = [\"ct.yaml\"] }", "Not an axis", "metadata_file\" cannot be swept"},
	"patterns/place": {"sequence", "options: {patterns: [{matrix_file: good.txt}], «pattern»: 0}",
		"options {\npatterns = [{ matrix_file = \"good.txt\" }]\n«pattern» = 0\n}", "Of a pattern", "not to the run"},
	"patterns/of the point": {"sequence", "options: {patterns: [{matrix_file: good.txt, shards: '${«axis.op»}'}]}\nsweep: {op: [write, read]}",
		"options { patterns = [{ matrix_file = \"good.txt\", shards = «axis.op» }] }\nsweep { op = [\"write\", \"read\"] }",
		"Depends on the point", "Write a run for each value"},
	"patterns/metadata": {"sequence", "options: {patterns: [{matrix_file: good.txt, metadata: {isl: «[1]»}}]}",
		"options { patterns = [{ matrix_file = \"good.txt\", metadata = { isl = «[1]» } }] }", "Invalid value",
		"isl of metadata is a list"},
	"patterns/include": {"sequence", "options: {patterns: [{matrix_file: good.txt}]}\nsweep: {op: [write, read], «include»: [{op: read}]}",
		"options { patterns = [{ matrix_file = \"good.txt\" }] }\nsweep {\nop = [\"write\", \"read\"]\n«include» = [{ op = \"read\" }]\n}",
		"Not of a sequence", "always runs completely"},
	"metadata_file/absent": {"sequence", "options: {metadata_file: «absent»}",
		"options { metadata_file = «\"absent\"» }", "Cannot read the file", "absent/metadata.yaml"},
	"metadata_file/of point": {"sequence", "options: {metadata_file: '${«axis.op»}.yaml'}\nsweep: {op: [write, read]}",
		"options { metadata_file = \"${«axis.op»}.yaml\" }\nsweep { op = [\"write\", \"read\"] }",
		"Depends on the point", "Write a run for each value"},
	"where/unknown field": {"sequence", "options: {metadata_file: ct.yaml}\nassert: [slowdown < 2 where «isl» > 5]",
		"options { metadata_file = \"ct.yaml\" }\nassert = [\"slowdown < 2 where «isl» > 5\"]", "Invalid assertion",
		"no option \"isl\""},
	"time_scale/negative": {"sequence", "options: {metadata_file: ct.yaml, time_scale: «-1»}",
		"options {\nmetadata_file = \"ct.yaml\"\ntime_scale = «-1»\n}", "Invalid value", "is not a factor"},
	"iterations/of a pattern": {"sequence", "options: {metadata_file: ct.yaml, iterations: '«${axis.pattern + 1}»'}",
		"options {\nmetadata_file = \"ct.yaml\"\niterations = «axis.pattern + 1»\n}", "Depends on the pattern",
		"differs between its patterns"},
	"model/unknown": {"sequence", "options: {generate: {model: «lama-405b», prefill_nodes: 1, decode_nodes: 1}}",
		"options { generate = { model = «\"lama-405b\"», prefill_nodes = 1, decode_nodes = 1 } }", "Invalid traffic",
		"Did you mean \"llama-405b\"?"},
	"model/none": {"sequence", "options: {generate: «{prefill_nodes: 1, decode_nodes: 1}»}",
		"options { generate = «{ prefill_nodes = 1, decode_nodes = 1 }» }", "Invalid traffic",
		"give one of model NAME and config FILE"},
	"model/two": {"sequence", "options: {generate: {model: llama-8b, config: «model.json», prefill_nodes: 1, decode_nodes: 1}}",
		"options { generate = { model = \"llama-8b\", config = «\"model.json\"», prefill_nodes = 1, decode_nodes = 1 } }",
		"Invalid traffic", "both say which model"},
	"model/key": {"sequence", "options: {generate: {model: llama-8b, prefill_nodes: 1, decode_nodes: 1, «prefil_tp»: 2}}",
		"options { generate = { model = \"llama-8b\", prefill_nodes = 1, decode_nodes = 1, «prefil_tp» = 2 } }",
		"Unknown key", "Did you mean \"prefill_tp\"?"},
	"model/comma": {"sequence", "options: {generate: {model: llama-8b, prefill_nodes: 1, decode_nodes: 1, isl: normal:5, «6»: }}",
		"", "Unknown key", "Quote a distribution"},
	"model/number": {"sequence", "options: {generate: {model: llama-8b, prefill_nodes: «one», decode_nodes: 1}}",
		"options { generate = { model = \"llama-8b\", prefill_nodes = «\"one\"», decode_nodes = 1 } }", "Invalid value",
		"prefill_nodes of generate: \"one\" is not a whole number"},
	"model/list": {"sequence", "options: {generate: {model: llama-8b, prefill_nodes: «[1]», decode_nodes: 1}}",
		"options { generate = { model = \"llama-8b\", prefill_nodes = «[1]», decode_nodes = 1 } }", "Invalid value",
		"is a list"},
	"model/text": {"sequence", "options: {generate: «llama-8b»}", "options { generate = «\"llama-8b\"» }",
		"Not a mapping", "must be a mapping"},
	"model/heads": {"sequence", "options: {generate: {model: llama-8b, prefill_nodes: 1, decode_nodes: 1, decode_tp: «3»}}",
		"options { generate = { model = \"llama-8b\", prefill_nodes = 1, decode_nodes = 1, decode_tp = «3» } }",
		"Invalid traffic", "8 KV heads cannot be divided"},
	"model/scale": {"sequence", "options: {generate: {model: llama-8b, prefill_nodes: 1, decode_nodes: 1, bytes_scale: «0»}}",
		"options { generate = { model = \"llama-8b\", prefill_nodes = 1, decode_nodes = 1, bytes_scale = «0» } }",
		"Invalid traffic", "above 0 and at most 1"},
	"model/ranks": {"sequence", "options: {generate: {model: llama-8b, prefill_nodes: «128», decode_nodes: 1}}",
		"options { generate = { model = \"llama-8b\", prefill_nodes = «128», decode_nodes = 1 } }", "Invalid traffic",
		"1032 ranks: there are at most 1024"},
	"model/patterns": {"sequence", "options: {generate: «{model: llama-8b, prefill_nodes: 1, decode_nodes: 1, requests: 10001}»}",
		"options { generate = «{ model = \"llama-8b\", prefill_nodes = 1, decode_nodes = 1, requests = 10001 }» }",
		"Too many patterns", "10001 patterns; the most is 10000"},
	"model/requests": {"sequence", "options: {generate: {model: llama-8b, prefill_nodes: 1, decode_nodes: 1, requests: «10_000_001»}}",
		"options { generate = { model = \"llama-8b\", prefill_nodes = 1, decode_nodes = 1, requests = «10000001» } }",
		"Invalid traffic", "from 1 to 10000000"},
	"model/cell": {"sequence", "options: {generate: «{model: llama-405b, prefill_nodes: 1, decode_nodes: 1, requests: 1000, isl: 16000000, batch_size: 1000, max_batch_memory: 0B}»}",
		"options { generate = «{ model = \"llama-405b\", prefill_nodes = 1, decode_nodes = 1, requests = 1000, isl = 16000000, batch_size = 1000, max_batch_memory = \"0B\" }» }",
		"Invalid traffic", "sleeps at most"},
	"model/large cell": {"sequence", "options: {generate: «{model: llama-405b, sleep: none, prefill_nodes: 1, decode_nodes: 1, requests: 1000, isl: 16000000, batch_size: 1000, max_batch_memory: 0B}»}",
		"options { generate = «{ model = \"llama-405b\", sleep = \"none\", prefill_nodes = 1, decode_nodes = 1, requests = 1000, isl = 16000000, batch_size = 1000, max_batch_memory = \"0B\" }» }",
		"Invalid matrix", "bytes_scale"},
	"model/trace": {"sequence", "options: {generate: {model: llama-8b, trace: trace.jsonl, isl: «5», prefill_nodes: 1, decode_nodes: 1}}",
		"options { generate = { model = \"llama-8b\", trace = \"trace.jsonl\", isl = «5», prefill_nodes = 1, decode_nodes = 1 } }",
		"Invalid traffic", "isl has no effect with trace"},
	"model/absent": {"sequence", "options: {generate: {config: «absent.json», prefill_nodes: 1, decode_nodes: 1}}",
		"options { generate = { config = «\"absent.json\"», prefill_nodes = 1, decode_nodes = 1 } }", "Invalid traffic",
		"absent.json"},
	"model/no config": {"sequence", "options: {generate: {config: «good.txt», prefill_nodes: 1, decode_nodes: 1}}",
		"options { generate = { config = «\"good.txt\"», prefill_nodes = 1, decode_nodes = 1 } }", "Invalid traffic",
		"good.txt:1:"},
	"model/of the point": {"sequence", "options: {generate: {model: llama-8b, prefill_nodes: '${«axis.shards»}', decode_nodes: 1}}\nsweep: {shards: [1, 2]}",
		"options { generate = { model = \"llama-8b\", prefill_nodes = «axis.shards», decode_nodes = 1 } }\nsweep { shards = [1, 2] }",
		"Depends on the point", "Write a run for each value"},
	"model/several for one": {"traffic", "options: {generate: «{model: llama-8b, requests: 3, prefill_nodes: 1, decode_nodes: 1}»}",
		"options { generate = «{ model = \"llama-8b\", requests = 3, prefill_nodes = 1, decode_nodes = 1 }» }",
		"Several matrices", "use workload traffic_sequence"},
	"model/ranks of one": {"traffic", "options: {ranks: «8», generate: {model: llama-8b, requests: 1, prefill_nodes: 1, decode_nodes: 1}}",
		"options {\nranks = «8»\ngenerate = { model = \"llama-8b\", requests = 1, prefill_nodes = 1, decode_nodes = 1 }\n}",
		"Wrong number of ranks", "the matrix has 16 ranks"},
	"model/beside a matrix": {"traffic", "options: {matrix_file: good.txt, «generate»: {model: llama-8b, requests: 1, prefill_nodes: 1, decode_nodes: 1}}",
		"options {\nmatrix_file = \"good.txt\"\n«generate» = { model = \"llama-8b\", requests = 1, prefill_nodes = 1, decode_nodes = 1 }\n}",
		"Given twice", "only one of"},
}

// soundSequences are pieces that load, to test errors after loading.
var soundSequences = map[string]sample{
	"rows": {"sequence", "options: {patterns: [{matrix: [[0, 1K], [0, 0]], sleep_before_launch: 1ms, metadata: {isl: 5}}, {matrix: '2: 1>0=7', shards: 2, op: read, metadata: {isl: 6, more: x}}]}\nassert: [slowdown < 2 where isl > 5]",
		"options {\npatterns = [{ matrix = [[0, \"1K\"], [0, 0]], sleep_before_launch = \"1ms\", metadata = { isl = 5 } }, { matrix = \"2: 1>0=7\", shards = 2, op = \"read\", metadata = { isl = 6, more = \"x\" } }]\n}\nassert = [\"slowdown < 2 where isl > 5\"]"},
	"files": {"sequence", "options: {patterns: [{matrix_file: good.txt, sleep_after_launch_sec: 0.5}], overlap: false}\nsweep: {time_scale: [0.5, 1%], sleep_before_launch: [0s, 1s]}",
		"options {\npatterns = [{ matrix_file = \"good.txt\", sleep_after_launch_sec = 0.5 }]\noverlap = false\n}\nsweep {\ntime_scale = [0.5, \"1%\"]\nsleep_before_launch = [\"0s\", \"1s\"]\n}"},
	"published": {"sequence", "options: {metadata_file: ct.yaml, shards: '${axis.n}'}\nsweep: {n: [1, 2]}",
		"options {\nmetadata_file = \"ct.yaml\"\nshards = axis.n\n}\nsweep { n = [1, 2] }"},
	"model": {"sequence", "options: {generate: {model: gpt-oss-20b, isl: 'normal:5,6', min_isl: 2, requests: 3, prefill_nodes: 1, decode_nodes: '${1 + 1}', decode_tp: 16, kv_dtype: fp8, bytes_scale: 0.1}}",
		"options {\ngenerate = { model = \"gpt-oss-20b\", isl = \"normal:5,6\", min_isl = 2, requests = 3, prefill_nodes = 1, decode_nodes = 1 + 1, decode_tp = 16, kv_dtype = \"fp8\", bytes_scale = 0.1 }\n}"},
	"traced": {"sequence", "options: {generate: {config: model.json, trace: trace.jsonl, requests: 1, gpus_per_node: 1, prefill_nodes: 2, decode_nodes: 1, no_windows: true}}",
		"options {\ngenerate = { config = \"model.json\", trace = \"trace.jsonl\", requests = 1, gpus_per_node = 1, prefill_nodes = 2, decode_nodes = 1, no_windows = true }\n}"},
	"one batch": {"traffic", "options: {generate: {model: deepseek-r1, requests: 2, batch_size: 2, prefill_nodes: 1, decode_nodes: 1, decode_tp: 8}}",
		"options {\ngenerate = { model = \"deepseek-r1\", requests = 2, batch_size = 2, prefill_nodes = 1, decode_nodes = 1, decode_tp = 8 }\n}"},
}

func TestSoundSequencesLoad(t *testing.T) {
	for name, s := range soundSequences {
		var seen []string
		for extension, piece := range map[string]string{".yaml": s.yaml, ".hcl": s.hcl} {
			src, _ := framed(s.place, extension, piece)
			loaded, _, diags := Load("main"+extension, []byte(src),
				Options{Env: testEnv, Read: memory(brokenNeighbours)})
			if diags.HasErrors() {
				t.Errorf("%s: %v in\n%s", name, diags, src)
				continue
			}
			first := make([]AxisValue, len(loaded.Runs[0].Axes))
			for i, a := range loaded.Runs[0].Axes {
				first[i] = a.Values[0]
			}
			resolved, diags := loaded.Runs[0].At(first)
			text, _ := resolved.Options["matrix"].(string)
			if diags.HasErrors() || text == "" || resolved.Options["ranks"] == nil {
				t.Errorf("%s: %v, %v", name, resolved, diags)
			}
			seen = append(seen, text)
		}
		if len(seen) == 2 && seen[0] != seen[1] {
			t.Errorf("%s differs between the syntaxes: %v", name, seen)
		}
	}
}
