package output

import (
	"math/big"
	"strconv"
)

// aiperfLoads returns the loads of a session in the file that weir writes in aiperf's format, or
// the document of aiperf itself. It skips loads that no launch measured.
func aiperfLoads(root *jsonValue) (loads []*jsonValue, err error) {
	session := root.find("weir_loads")
	if session == nil {
		root := aiperfRecords(root)
		aiperfPhase(root)
		return []*jsonValue{root}, aiperfErrors(root)
	}
	list, err := session.list()
	if err != nil {
		return nil, err
	}
	for _, load := range list {
		if of := load.find("weir_case"); of == nil || of.kind != text {
			return nil, at(load.line, "a load of weir_loads has no weir_case")
		}
		if load.find("request_throughput") != nil {
			loads = append(loads, load)
		}
	}
	if loads == nil {
		return nil, nothing("no load of weir_loads has a result")
	}
	return loads, nil
}

// aiperfRecords returns the document with the metrics that the first versions have in member records.
func aiperfRecords(root *jsonValue) *jsonValue {
	records := root.find("records")
	if records == nil || records.kind != object {
		return root
	}
	for name, n := range records.members {
		if _, ok := root.members[name]; !ok {
			root.members[name] = n
		}
	}
	return root
}

// aiperfPhase adds the phase that was measured and its warm-up, of those that the configuration lists.
func aiperfPhase(root *jsonValue) {
	phases := root.find("input_config.phases")
	if phases == nil || phases.kind != list {
		return
	}
	for _, p := range phases.items {
		switch kind := p.find("kind"); {
		case kind == nil:
		case kind.text == "profiling":
			root.members["weir_phase"] = p
		case kind.text == "warmup":
			root.members["weir_warmup"] = p
		}
	}
}

// aiperfErrors adds the error rate and the number of errors that the document does not say but allows to compute.
func aiperfErrors(root *jsonValue) error {
	good := root.find("request_count.avg")
	if root.kind != object || root.find("request_error_rate") != nil || good == nil || !isDecimal(good.text) {
		return nil
	}
	failed := new(big.Rat)
	switch count, summary := root.find("error_request_count.avg"), root.find("error_summary"); {
	case count != nil && isDecimal(count.text):
		failed.SetString(count.text)
	case summary != nil && summary.kind == list:
		for _, one := range summary.items {
			n := one.find("count")
			if n == nil || !isCount(n.text) {
				return at(one.line, "an item of error_summary has no count")
			}
			count, _ := new(big.Rat).SetString(n.text)
			failed.Add(failed, count)
		}
		root.members["error_request_count"] = &jsonValue{line: good.line, kind: object, members: map[string]*jsonValue{
			"avg": {line: good.line, kind: number, text: failed.FloatString(0)},
		}}
	default:
		return nil
	}
	all, _ := new(big.Rat).SetString(good.text)
	if all.Add(all, failed).Sign() <= 0 {
		return nil
	}
	rate, _ := failed.Quo(failed, all).Float64()
	root.members["request_error_rate"] = &jsonValue{line: good.line, kind: object, members: map[string]*jsonValue{
		"unit": {line: good.line, kind: text, text: "ratio"},
		"avg":  {line: good.line, kind: number, text: strconv.FormatFloat(rate, 'g', -1, 64)},
	}}
	return nil
}
