package reporters

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// facts collects non-empty pairs.
type facts []html.Pair

func (f *facts) add(name, value string) {
	if value != "" {
		*f = append(*f, html.Pair{Name: name, Value: plain(clip(value, " …"))})
	}
}

// sessionFacts are what ran, when and how long.
func sessionFacts(doc *results.Document) []html.Pair {
	var f facts
	s := doc.Session
	f.add("exit code", fmt.Sprint(s.ExitCode))
	f.add("scenario", doc.Scenario.File)
	f.add("site", siteText(doc))
	if !s.Started.IsZero() {
		f.add("started", s.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
		if took := s.Finished.Sub(s.Started); took > 0 {
			f.add("took", took.Round(10*time.Millisecond).String())
		}
	}
	var nodes []string
	for _, n := range doc.Environment.Nodes {
		nodes = append(nodes, n.Name)
	}
	f.add("nodes", strings.Join(nodes, ", "))
	f.add(variablesTitle, variables(doc))
	f.add("session", s.ID)
	f.add("goes on with session", s.Resumed)
	return f
}

// sessionBrief is shown while the facts of the session are folded.
func sessionBrief(doc *results.Document) string {
	s := doc.Session
	started, took := "", ""
	if !s.Started.IsZero() {
		started = s.Started.UTC().Format("2006-01-02 15:04 UTC")
		if d := s.Finished.Sub(s.Started); d > 0 {
			took = "took " + d.Round(10*time.Millisecond).String()
		}
	}
	return sentence(", ", plain(clip(doc.Scenario.File, " …")), started, took,
		count(len(doc.Environment.Nodes), "node"), tagged("session ", plain(clip(s.ID, " …"))))
}

// siteText names the site with its file; "" without one.
func siteText(doc *results.Document) string {
	if doc.Site == nil {
		return ""
	}
	return sentence(" ", doc.Site.Name, parenthesis(doc.Site.File))
}

// timeline draws the launches of each run, and the commands around them; nil without times.
func timeline(doc *results.Document) *html.Figure {
	var rows []string
	var spans []html.Span
	index := map[string]int{}
	start := firstLaunch(doc)
	stretch := func(lane string, from time.Time, took float64, sign, says string) {
		if !(took >= 0 && took < 1e9) { // damaged value
			return
		}
		i, ok := index[lane]
		if !ok {
			i = len(rows)
			index[lane] = i
			rows = append(rows, plain(lane))
		}
		at := from.Sub(start).Seconds()
		spans = append(spans, html.Span{Row: i, From: at, To: at + took, Sign: sign, Says: plain(says)})
	}
	for _, c := range doc.Cases {
		for _, l := range c.Launches {
			if l.Started.IsZero() {
				continue
			}
			sign, what := "", results.OK
			if l.Discarded != "" {
				what = "void: " + l.Discarded
			}
			if l.Status != results.OK {
				sign, what = symbols["fail"], l.Status
				if l.Failure != nil {
					what = sentenceOf(l.Failure.String())
				}
				if l.Retried {
					what += " (made again)"
				}
			}
			stretch("run "+c.Run, l.Started, l.Duration, sign,
				fmt.Sprintf("%s %s, %s: %s", c.Key, results.LaunchName(l.Index), quantity.FormatTime(l.Duration), what))
		}
	}
	for _, s := range doc.Services {
		sign, what := "", s.Status
		if s.Failure != nil {
			sign, what = symbols["fail"], sentenceOf(s.Failure.Cause)
		}
		stretch("service "+s.Name, s.Started, s.Lasted, sign,
			fmt.Sprintf("%s for %s, %s: %s", s.Name, s.Fresh, quantity.FormatTime(s.Lasted), what))
	}
	for _, c := range doc.Commands {
		if c.Started.IsZero() {
			continue
		}
		sign, what := "", c.Status
		if c.Status != results.OK {
			sign, what = symbols["fail"], sentence(": ", c.Status, c.Reason)
		}
		stretch("commands", c.Started, c.Duration, sign,
			fmt.Sprintf("%s, %s: %s", commandName(c), quantity.FormatTime(c.Duration), what))
	}
	if len(rows) == 0 {
		return nil
	}
	note := "Launches over the seconds since the first; " + symbols["fail"] + " marks those that failed."
	if more := len(rows) - mostBars; more > 0 {
		rows = rows[:mostBars]
		spans = slices.DeleteFunc(spans, func(s html.Span) bool { return s.Row >= mostBars })
		note += fmt.Sprintf(" %d further rows are not drawn.", more)
	}
	spans = html.Merged(spans, func(n int) string { return fmt.Sprintf("%d launches", n) })
	return &html.Figure{Note: note, Charts: []html.Chart{{Kind: html.Spans,
		Name: "launches over the time of the session", X: html.Axis{Unit: "s"}, Rows: rows, Spans: spans}}}
}

// firstLaunch is when the first launch or command began.
func firstLaunch(doc *results.Document) time.Time {
	var first time.Time
	earlier := func(t time.Time) {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	for _, c := range doc.Cases {
		for _, l := range c.Launches {
			earlier(l.Started)
		}
	}
	for _, c := range doc.Commands {
		earlier(c.Started)
	}
	for _, s := range doc.Services {
		earlier(s.Started)
	}
	return first
}

// mostNodes is how many nodes are described in full.
const mostNodes = 64

// environment describes hardware and software of the session, and differences of the baseline's.
func environment(doc *results.Document) []html.Note {
	var f facts
	f.add("command", strings.Join(doc.Session.Argv, " "))
	f.add("weir", sentence(" ", versionText(doc.Weir.Version, doc.Weir.Commit), doc.Weir.Go))
	if doc.Scenario.Digest == doc.Plan.Digest {
		f.add("digest of scenario and plan", shortDigest(doc.Scenario.Digest))
	} else {
		f.add("scenario digest", shortDigest(doc.Scenario.Digest))
		f.add("plan digest", shortDigest(doc.Plan.Digest))
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Scenario.Variables)) {
		f.add("variable "+name, doc.Scenario.Variables[name])
	}
	f.add("environment fingerprint", shortDigest(doc.Environment.Fingerprint))
	if b := doc.Baseline; b != nil {
		f.add("baseline", sentence(" ", b.File, parenthesis(sentence(" ", "session", b.Session))))
		f.add("baseline's environment", against(b.Fingerprint, doc.Environment.Fingerprint))
	}
	seen := map[assertion.Reference]bool{}
	for _, a := range doc.AllAssertions() {
		if r := a.Reference; r != nil && !seen[*r] {
			seen[*r] = true
			f.add("environment of references "+plain(r.Table), against(r.Environment, doc.Environment.Fingerprint))
		}
	}
	out := []html.Note{{Facts: f}}
	if lines := baselineDiffers(doc); len(lines) > 0 {
		out = append(out, html.Note{Title: "What differs from the baseline's environment", Lines: lines})
	}
	for i, n := range doc.Environment.Nodes {
		if i == mostNodes {
			out = append(out, html.Note{Title: fmt.Sprintf("%d further nodes", len(doc.Environment.Nodes)-i)})
			break
		}
		out = append(out, html.Note{Title: plain("Node " + n.Name), Facts: nodeFacts(n)})
	}
	return out
}

// mostDifferences is how many differences from the baseline's environment are listed.
const mostDifferences = 100

// baselineDiffers lists differences from the baseline's environment to this session's.
func baselineDiffers(doc *results.Document) []string {
	if doc.Baseline == nil {
		return nil
	}
	all := differenceTexts(doc.Baseline.Differences)
	if more := len(all) - mostDifferences; more > 0 {
		all = append(all[:mostDifferences], fmt.Sprintf("and %d more; results.json has all", more))
	}
	return all
}

func against(base, own string) string {
	switch {
	case base == "":
		return "not recorded"
	case base == own:
		return "the same"
	}
	return "different: fingerprint " + shortDigest(base)
}

func nodeFacts(n results.Node) []html.Pair {
	var f facts
	f.add("image", n.Image)
	f.add("system", sentence(", ", n.OS, n.Kernel))
	f.add("CPU", sentence(", ", nodeCPU(n), count(n.CPU.Sockets, "socket"), count(n.CPU.NUMA, "NUMA node"),
		sentence(" ", n.CPU.Driver, n.CPU.Gov), tagged("turbo ", n.CPU.Turbo), cachesText(n.CPU.Cache)))
	var watched []string
	for _, class := range slices.Sorted(maps.Keys(n.Counters)) {
		watched = append(watched, fmt.Sprintf("%d of class %s", n.Counters[class], class))
	}
	f.add("counters watched", strings.Join(watched, ", "))
	if n.Memory.Total > 0 {
		f.add("memory", sentence(", ", bytesText(n.Memory.Total), tagged("transparent huge pages ", n.Memory.THP),
			tagged("lock limit ", n.Memory.LockText())))
	}
	for _, h := range n.Memory.Hugepages {
		if h.Total > 0 {
			f.add("huge pages of "+quantity.Size(h.Size).String(), fmt.Sprintf("%d, %d free", h.Total, h.Free))
		}
	}
	for _, g := range n.GPUs {
		f.add("GPU", g.Words())
	}
	f.add("GPUs", n.GPUReason)
	f.add("stamps", n.StampClock)
	for _, r := range n.RDMA {
		state := "no active port"
		if r.Active() {
			state = "active"
		}
		f.add("RDMA "+r.Name, sentence(", ", state, r.Driver, tagged("firmware ", r.Firmware)))
	}
	for _, i := range n.NICs {
		f.add("interface "+i.Name, sentence(", ", i.State, tagged("MTU ", fmt.Sprint(i.MTU)), i.Speed, i.Driver))
	}
	for _, name := range slices.Sorted(maps.Keys(n.Fabrics)) {
		fabric := n.Fabrics[name]
		what := sentence(", ", sentence(" ", "available", fabric.Version),
			tagged("to other hosts ", results.PathsText(fabric.Paths)))
		if !fabric.Available {
			what = sentence(": ", "absent", fabric.Reason)
		}
		f.add("fabric "+name, what)
	}
	if o := n.ClockOffset; o.Bound > 0 {
		f.add("clock", fmt.Sprintf("%s from the coordinator's, within %s", quantity.FormatTime(o.Value),
			quantity.FormatTime(o.Bound)))
	}
	return f
}

func count(n int, thing string) string {
	if n == 0 {
		return ""
	}
	return plural(n, thing)
}

func tagged(tag, value string) string {
	if value == "" {
		return ""
	}
	return tag + value
}
