package output

import "math/big"

// llmdRows adds the number of requests that succeeded, which reports do not have.
func llmdRows(root *jsonValue) ([]*jsonValue, error) {
	for _, path := range []string{"results.request_performance.aggregate.requests", "metrics.requests"} {
		requests := root.find(path)
		if requests == nil || requests.kind != object {
			continue
		}
		total, failed := requests.find("total"), requests.find("failures")
		if total == nil || failed == nil || !isCount(total.text) || !isCount(failed.text) {
			continue
		}
		all, _ := new(big.Int).SetString(total.text, 10)
		wrong, _ := new(big.Int).SetString(failed.text, 10)
		if all.Sub(all, wrong).Sign() < 0 {
			return nil, at(failed.line, "%s failures of %s requests", failed.text, total.text)
		}
		root.members["weir_good"] = &jsonValue{line: total.line, kind: number, text: all.String()}
	}
	return []*jsonValue{root}, nil
}
