package output

import "strings"

// nvbandwidthTests returns the tests that ran. Their numbers are also a member named for their unit, which only the
// description says.
func nvbandwidthTests(root *jsonValue) (ran []*jsonValue, err error) {
	tests := root.find("nvbandwidth.testcases")
	if tests == nil {
		return nil, nothing("the document has no nvbandwidth.testcases")
	}
	all, err := tests.list()
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if status := t.find("status"); t.kind != object || status != nil && status.text == "Waived" {
			continue
		}
		if d := t.find("bandwidth_description"); d != nil {
			switch text := strings.TrimSpace(d.text); {
			case strings.HasSuffix(text, "(GB/s)"):
				t.members["weir_bandwidth"] = t
			case strings.HasSuffix(text, "(ns)"):
				t.members["weir_latency"] = t
			}
		}
		ran = append(ran, t)
	}
	if ran == nil {
		return nil, at(tests.line, "no test ran: all %d were waived, since this machine lacks what they need", len(all))
	}
	return ran, nil
}
