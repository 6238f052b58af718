// Package wording formats reasons as sentences.
package wording

import "github.com/weir-bench/weir/results"

// words are the templates by kind. A sentence that ends in a blank introduces the next one.
var words = map[results.ReasonKind]string{
	results.NeedsToPass: "inside at {shown} confidence, but passing needs {needed}: it shares its error budget",
	results.NeedsToFail: "outside at {shown} confidence, but failing needs {needed}: it shares its error budget",

	results.UnpairedCases:      "[{sessions}, |]unpaired",
	results.PairedCases:        "[{sessions}, |]paired: the cases were interleaved",
	results.PairedGroups:       "[{sessions}, |]paired in {groups#} groups of interleaved cases",
	results.RunsNotInterleaved: "[{sessions}, |]unpaired: runs {runs} and {last} were not interleaved",

	results.UnpairedLaunches:       "unpaired: {why}",
	results.LaunchesNotInterleaved: "unpaired: the launches were not interleaved, so a drift of the machine would look like a change",
	results.PairedLaunches:         "paired: the launches were interleaved[, {first} always first, so a steady drift counts as a change]",
	results.NoDirection:            "the metric has no better direction",
	results.OneLaunchSide:          "one launch shows no noise: give both sides two or more",
	results.BeyondTogether: "beyond " + margins + ", but so are the {cases} that moved together: a real change or the session;" +
		" one pair of sessions cannot tell",
	results.WorseThanOthers: "not worse than the base, but worse than the {cases} that moved together, by more than " +
		margins + ": a real change or the session; one pair of sessions cannot tell",
	results.BeyondSessions: "beyond " + margins + ", but how sessions differ is unknown[, and sessions that vary by {assumed=} explain it]: " +
		TellsSessions,
	results.BeyondByChance:  "beyond " + margins + ", but among this many comparisons some are by chance",
	results.BeyondByDrift:   "beyond " + margins + ", but a drift of the machine would look the same",
	results.WorseThanMargin: "worse by more than " + margins + "[, also if sessions vary by {assumed=}]",
	results.CrossesMargin:   "the interval crosses " + margins,
	results.WithinMargin:    "not worse by more than " + margins,

	results.PartDecides:  "{quantifier} of {parts}: {count#} {verdict}; {case}: ",
	results.InHalo:       "beyond the bound by no more than its halo of {halo}",
	results.TooFast:      "faster than expected: check that all data moved and no cache served it",
	results.TrendNoRatio: "{subject} is {value!}; {why}",
	results.StandOut:     "two modes: {count#} of {launches} stand out",

	results.StatedHeld:     "{had} {held} [all {launches}|the one launch]",
	results.StatedBut:      "asserted {stated}, but ",
	results.WrongTransport: "{transport} carried data",
	results.WrongFact:      "it is {fact} on {ranks}",
	results.TransportUnknown: "[the fabric does not report what carried the data of {ranks}" +
		"|{opaque} carried the data and does not report what it uses below" +
		"|the fabric does not report which of {which} carried the data|the document does not say what carried the data]",
	results.FactUnknown: "[the library does not report {fact} for {ranks}" +
		"|the library of fabric {fabric} does not report {fact} of its provider; it reports {says}" +
		"|the library of fabric {fabric} reports nothing about a provider, so not {fact}]",

	results.NextLook:         "undecided after {launches}, the next look takes {next#}",
	results.LastLook:         "undecided after {launches}, the last look",
	results.MoreCannotDecide: "undecided after {launches}, and more cannot decide: ",
	results.WouldDecide: "at this noise about [{least#} to {most#} launches would decide with a probability of 50% to 80%" +
		"|{most#} launches would decide]",
	results.TooNoisy:        "at this noise not even {most#} launches would decide with a probability of 80%: ",
	results.NearBound:       "the value is too near the bound",
	results.LaunchesScatter: "the launches scatter too much",
	results.LaunchesDiffer:  "launches differ by more than noise, so no number of launches is known to decide",
	results.SessionsAlone:   "the difference between sessions alone makes the interval ±{width!}: {change}",
	results.BaselineAlone:   "the {launches} of the baseline alone {launches?makes|make} the interval ±{width!}: {change}",
	results.SessionsBaseline: "the difference between sessions and the {launches} of the baseline alone make the interval" +
		" ±{width!}: {change}",
	results.SessionsAlike:   "the interval assumes that sessions do not differ",
	results.BaselineOptions: "the baseline was measured with other options: {options}",
	results.SessionsVary:    "sessions vary by {sd} ({from})",
	results.SessionsKept:    "a failure allows for sessions that vary by {sd} ({from})",

	results.OneLaunch:  "one launch shows no noise",
	results.UnseenMode: "{launches} {launches?was|were} not slow, but up to {share} of all launches may be",
	results.ModeNoiseUnknown: "its noise is unknown, and a slow mode that no launch met may cost {cost}:" +
		" this near to the bound it takes {launches} to pass",
	results.ModeNoiseKnown: "the known noise is that of one mode, and a slow mode that no launch met may cost {cost}:" +
		" this near to the bound it takes {launches} to pass",
	results.NoiseKnown:        "noise {sd} {from}",
	results.NoiseModerated:    "noise {sd} {from}, its variance moderated by the other cases of its run",
	results.NoiseContradicted: "its launches vary by {spread}, which contradicts the noise {sd} {from}: the latter is ignored",
	results.AboveLeast:        "0 is the least possible value, and {launches} had more, up to {most}",
	results.OutliersWorsen:    "the other launches miss it, and the outlier only adds to that",
	results.AllMiss:           "all {launches} are beyond the bound",
	results.OutliersDecide:    "the verdict changes without outliers",
	results.Autocorrelated:    "consecutive launches are correlated (autocorrelation {correlation@}): the interval may be too narrow",

	results.FewSamples:   "{why}",
	results.FewButMissed: "too few values do not explain it: it is beyond the bound in any case",
	results.Undecidable:  "{launch} of {case}: {why}",
	results.LateStarts: "its ranks did not start together: in the median iteration the last started {apart} after the first, of" +
		" {took} in total; they share cores",

	results.NoUsableLaunch: "no usable launch: ",
	results.HostBusy:       discarded + ", host too busy" + last,
	results.LimitLow:       discarded + ", CPU limit too low" + last,
	results.Discarded:      discarded + last,
	results.DiscardedPass: "passes with {discarded#} discarded {discarded?launch|launches} included: the disturbance can only have" +
		" worsened them",
	results.DiscardedFail: "fails with {discarded#} discarded {discarded?launch|launches} included: the miss is larger than the" +
		" disturbance can have caused",
	results.LaunchesFailed:   "{failed#} of {launches} failed: {failure,}",
	results.OperationsFailed: "failed operations: {cause,}",
	results.CountersMoved:    "meanwhile {counter,}",
	results.LaunchesRetried:  "{launches} retried[, the first: {first}|: {why}]; {succeeded#} of {made#} succeeded",
	results.RankSlowest: "slowest: rank {rank#}[ on {node}] in {times#} of {launches}, {median}" + others +
		"[: {beside}]",
	results.NodeSlowest: "slowest node: {node} in {times#} of {launches}, its ranks' median is {median}" + others,
	results.PairSlowest: "slowest pair: rank {from#}[ on {from_node}] to rank {to#}[ on {to_node}] in {times#} of" +
		" {launches}",

	results.InvalidAssertion:   "{why}",
	results.NotEvaluated:       "{why}",
	results.MetricMissing:      "metric {metric} is missing",
	results.MetricNotFinite:    "metric {metric} is {value}",
	results.NotAboveZero:       "{subject} is {value!}, but it is judged as a ratio and must be above zero[; {declare}]",
	results.NotInDocument:      "[case {key}|the case] is not in the document",
	results.NoBaseline:         "there is no baseline to compare with",
	results.BaselineAbsent:     "no baseline: {why}",
	results.BaselineLacks:      "no baseline: the baseline (session {session}) lacks the case",
	results.BaselineNoLaunch:   "the baseline (session {session}) has no launch of this case",
	results.BaselineDisturbed:  "the baseline (session {session}) has only disturbed launches of this case ({launches})",
	results.BaselineSingle:     "it has a single launch, and this session has too few launches to estimate its noise",
	results.BaselineImported:   "the baseline was imported: its environment is unknown",
	results.EnvironmentUnknown: "cross-environment: nothing shows that the environment is the same as " + origin,
	results.EnvironmentUnlike:  "cross-environment: the environment differs from " + origin,
	results.CaseError:          "the case ended with an error[: {why}]",
	results.CaseNotRun:         "{status}[: {why}]",
	results.NoLaunch:           "nothing was measured: the case had no launch",
	results.NoneRan:            "none of its cases ran",
	results.FewRan:             "fewer than two of its cases ran",
	results.CasesNotRun:        "{cases} did not run and {cases?does|do} not count",
	results.CasesNotStored:     "the baseline lacks {cases}, which {cases?does|do} not count",
	results.LaunchFailed:       "{launch} failed[: {failure}]",
	results.Unverified:         "the data it moved was not verified",
	results.WorkloadInvalid:    "{why}",
	results.SharedGPU: "ranks {other#} and {rank#} share GPU {gpu} of node {node}, so this is no path between GPUs (set" +
		" place.gpus_per_rank: 1)",
	results.LaunchTwice:     "{launch} is in the document twice",
	results.LaunchesRemoved: "{made#} launches were made, but {stored#} are in the document",
	results.NodeTrouble:     "{counter,}; repair or exclude the node and run again",
	results.ClocksOfHosts: "the clocks of its hosts are synchronised to {bound} only, but {what} takes {span}: move more data, or" +
		" compare hosts with a faster path between them",
	results.ClocksOfGPUs: "the clocks of its GPUs are synchronised to {bound} only, but {what} takes {span}: move more data in it",
	results.AboveLinks:   "measured more than the links of site {site} carry: {value!} is {percent} of {links} = {nominal!}",

	results.WarnsOnly:           "inconclusive: ",
	results.StandsIn:            "inconclusive, which counts as {verdict}: ",
	results.Streak:              "inconclusive in {sessions#} sessions in a row, which counts as fail: ",
	results.ExpectedToFail:      "expected to fail until {until} ({why}): ",
	results.ExpectationExpired:  "the expectation to fail until {until} ({why}) has expired",
	results.ExpectationUnneeded: "the expectation to fail until {until} ({why}) has expired and is no longer needed: it holds",
	results.BeyondCeiling:       "missed by more than the {accepted} that are expected ({why})",
	results.HoldsUnexpectedly:   "expected to fail until {until} ({why}), but it holds, so remove its xfail: ",
	results.WorksUnexpectedly:   "expected to fail until {until} ({why}), but it works",
	results.DoesNotHold:         "{name} does not hold: ",
	results.MayFailExpired:      "may_fail expired on {until} ({why})",
	results.MayFailUnneeded:     "may_fail until {until} ({why}) is no longer needed: it works",
	results.MayFailNoMatch:      "may_fail ({why}) does not excuse it: it does not match {match}",
	results.MayFailNotStarted: "may_fail ({why}) does not excuse it: the run's programs did not start, and no match names" +
		" the error",
}

const (
	discarded = "{discarded#} of {launches} discarded"
	last      = " (last: {why})"
	margins   = "the margin of {margin=}[ of the base, {allowed!}]"
	others    = "[ (median of the others: {others})][; about {would} if it were as fast]"
	origin    = "[the baseline's (session {session})|that of the references (table {table})]"
)
