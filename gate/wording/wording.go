package wording

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/results"
)

// Message joins the sentences of reasons.
func Message(reasons []results.Reason) string {
	if len(reasons) == 1 {
		return Sentence(reasons[0])
	}
	var b strings.Builder
	for i, r := range reasons {
		sentence := Sentence(r)
		if i > 0 && !strings.HasSuffix(b.String(), " ") {
			b.WriteString("; ")
		}
		b.WriteString(sentence)
	}
	return b.String()
}

// Sentence is the text of a reason, "" if there is none; the kind itself if it is unknown.
func Sentence(r results.Reason) string {
	if r.None() {
		return ""
	}
	prefix, text := place(r.Place), string(r.Kind)
	if say := sentences[r.Kind]; say != nil {
		text = say(r)
	} else if template, ok := words[r.Kind]; ok {
		text, _ = expand(template, r)
		if strings.Contains(template, "{case}") {
			r.Place.Case = ""
		}
		if strings.Contains(template, "{launch}") {
			r.Place.Launch = 0
		}
		prefix = place(r.Place)
	}
	return prefix + text
}

// place is the prefix of a sentence about a case or launch.
func place(p results.Place) string {
	text := ""
	if p.Side != "" {
		text = p.Side + ": "
	}
	if p.Baseline {
		text += "baseline of "
	}
	if p.Case != "" {
		text += p.Case + ": "
	}
	if p.Launch > 0 {
		text += results.LaunchName(p.Launch-1) + ": "
	}
	return text
}

// sentences format reasons that need more than a template.
var sentences map[results.ReasonKind]func(results.Reason) string

func init() {
	sentences = map[results.ReasonKind]func(results.Reason) string{
		results.InsideBounds: estimated, results.BelowBound: estimated, results.AboveBound: estimated,
		results.CrossesBound: estimated, results.CannotTell: estimated,
		results.RatioOf: ratioOf, results.LaunchesGave: launchesGave,
		results.PathCarries: pathCarries, results.Unreachable: pathCarries,
		results.OtherQuantile: func(r results.Reason) string {
			return fmt.Sprintf("%s, which cannot be %s, is %s", r.Text("subject"),
				map[string]string{"below": "higher", "above": "lower"}[r.Text("side")], printed(r))
		},
		results.SessionsUnknown: func(r results.Reason) string {
			return fmt.Sprintf("how sessions differ is unknown, and with sessions that vary by %s it is %s: %s",
				Percent(*r.Number("assumed")), printed(r), KeepSessions+TellsSessions)
		},
		results.SessionsFew: func(r results.Reason) string {
			return fmt.Sprintf("as the sessions beside the baseline differ, it is %s", printed(r))
		},
		results.AboveCeiling: func(r results.Reason) string {
			return fmt.Sprintf("measured more than the path can carry: %s of the probed ceiling; noise explains at most"+
				" %.0f %%", observed(r), *r.Number("limit"))
		},
		results.ProbesDisturbed: func(r results.Reason) string {
			return fmt.Sprintf("%s is unknown: the probes of the path were disturbed, launches measured %.0f %% of them",
				r.Text("metric"), *r.Number("value"))
		},
		results.ChangesVary: func(r results.Reason) string {
			half, most := Percent(*r.Number("half")), Percent(*r.Number("most"))
			how := fmt.Sprintf("%s in half of the cases and by up to %s in nine of ten", half, most)
			if half == most {
				how = most + " in nine of ten cases"
			}
			return fmt.Sprintf("sessions vary by %s, by the changes of %s", how,
				Counted(int(*r.Number("cases")), "case"))
		},
		results.Changed: changed, results.ChangedBy: changed, results.FromShift: fromShift,
		results.TrendHolds: trend, results.TrendBroken: trend, results.TrendOpen: trend,
		results.Outliers: func(r results.Reason) string { return "outlier: " + marked(r) },
		results.OwnMode:  func(r results.Reason) string { return "too many for outliers: " + marked(r) },
		results.TwoModes: twoModes,
	}
}

// KeepSessions is the remedy of a scenario with a baseline, before the others.
const KeepSessions = "keep three sessions beside the baseline (--baseline-missing record), "

// TellsSessions is the remedy for an unknown variance between sessions.
const TellsSessions = "give earlier sessions of the scenario by --noise-from, or interleave old and new in one session" +
	" (variants, or two runs that an assertion compares)"

// marked lists the launches of a reason with their values, nodes and times.
func marked(r results.Reason) string {
	var names []string
	for _, v := range r.Values {
		switch last := len(names) - 1; v.Name {
		case "launches":
			names = append(names, v.Text)
		case "launch":
			number := v
			number.Text = ""
			names = append(names, v.Text+" ("+valueText(number)+")")
		case "seen":
			names[last] = strings.TrimSuffix(names[last], ")") + " " + v.Text + ")"
		}
	}
	return strings.Join(names, ", ")
}
