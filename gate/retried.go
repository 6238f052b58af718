package gate

import "github.com/weir-bench/weir/results"

// retriedIn says which launches of some cases were retried, and how many launches succeeded.
func retriedIn(cases []*results.Case) results.Reason {
	made, again, affected := 0, 0, map[*results.Case]bool{}
	cause := ""
	for _, c := range cases {
		made += len(c.Launches)
		for _, l := range c.Launches {
			if !l.Retried {
				continue
			}
			again, affected[c] = again+1, true
			if cause == "" && l.Failure != nil {
				cause = l.Failure.String()
			}
		}
	}
	if again == 0 {
		return results.Reason{}
	}
	first := results.Text("why", cause)
	if again > 1 && cause != "" {
		first.Name = "first"
	}
	return results.Because(results.LaunchesRetried, launchedOf(len(affected), again), first,
		results.Count("succeeded", made-again, ""), results.Count("made", made, ""))
}

func retried(sources []*source) results.Reason {
	var cases []*results.Case
	for _, s := range sources {
		if s.c != nil {
			cases = append(cases, s.c)
		}
	}
	return retriedIn(cases)
}

func (eval *evaluator) casesOf(keys []string) []*results.Case {
	var out []*results.Case
	for _, k := range keys {
		if c := eval.cases[k]; c != nil {
			out = append(out, c)
		}
	}
	return out
}
