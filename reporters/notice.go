package reporters

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/results"
)

const (
	mostNoticed = 5   // findings
	noticeLine  = 300 // bytes
)

// slackText escapes what Slack would read as a link or a mention (Slack, Formatting text for app surfaces).
var slackText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Notice is a message about a session in some lines: its verdict and its worst findings, with a link to a page.
func Notice(doc *results.Document, link string) string {
	lines := []string{sentence(": ", outcome(doc), doc.Scenario.Name), headline(doc)}
	var all []finding
	for _, standing := range []string{"error", "fail", "xpass", "inconclusive"} {
		all = append(all, findings(doc, standing)...)
	}
	for _, f := range all[:min(len(all), mostNoticed)] {
		lines = append(lines, "• "+sentence(": ", f.standing, f.where, f.name, f.message))
	}
	if n := len(all) - mostNoticed; n > 0 {
		lines = append(lines, fmt.Sprintf("• and %d more", n))
	}
	for i, line := range lines {
		lines[i] = slackText.Replace(brief(line, noticeLine))
	}
	if at := linkTo(link); at != "" {
		lines = append(lines, at)
	}
	return strings.Join(lines, "\n")
}
