package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// kept is a session that kept things of its nodes, and that had to change one.
func kept(t *testing.T) *results.Document {
	doc := read(t, "passed")
	doc.Artifacts = []results.Artifact{
		{Name: "fi_info", Node: "n1", File: "artifacts/n1/fi_info", Bytes: 2048, Status: results.OK},
		{
			Name: "logs", Node: "n1", File: "artifacts/n1/logs/a b)#.log", Source: "/var/log/a b)#.log", Bytes: 7,
			Status: results.ArtifactTruncated, Reason: "the first 7 of 9 bytes were kept",
		},
		{
			Name: "core", Node: "n2", Source: "/core", Status: results.ArtifactMissing, Reason: "there is no such file",
			Required: true,
		},
		{Name: "out", Node: "n1", File: "artifacts/../../secret", Status: results.OK},
		{Name: "script", Node: "n1", File: "javascript:alert(1)", Status: results.OK},
	}
	doc.Cases[0].Launches[0].Moved = []results.Move{{From: "a", To: "c", Reason: "its agent is gone"}}
	return doc
}

func TestMarkdownLeadsToArtifacts(t *testing.T) {
	var b strings.Builder
	if err := Markdown(&b, kept(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- [fi_info of node n1](artifacts/n1/fi_info): 2KiB\n",
		"(artifacts/n1/logs/a%20b%29%23.log): /var/log/a b)\\#.log, 7B, truncated: the first 7 of 9 bytes were kept\n",
		"- core of node n2: /core, missing: there is no such file\n", "- out of node n1", "- script of node n1",
		"- ! error `artifact core of n2`: required, and missing: there is no such file",
		"## Nodes changed", "on node c instead of a: its agent is gone (1 case)",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

func TestPageLeadsToArtifactsAndNowhereElse(t *testing.T) {
	page := parsePage(t, kept(t))
	var leads []string
	for _, a := range page.all("a") {
		if href := a.attribute("href"); !strings.HasPrefix(href, "#") {
			leads = append(leads, href)
		}
	}
	if got := strings.Join(leads, " "); got != "artifacts/n1/fi_info artifacts/n1/logs/a%20b%29%23.log" {
		t.Errorf("the page leads to %s", got)
	}
	text := page.text()
	for _, want := range []string{
		"core of node n2: /core, missing: there is no such file", "on node c instead of a: its agent is gone",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// A check that skips is no error of the session, and one that is says what to do.
func TestRemediesAreTold(t *testing.T) {
	doc := read(t, "passed")
	doc.Checks = []results.Check{
		{
			Name: "plugin", Node: "n1", Status: "failed", Reason: "exit status 1", Severity: results.SkipCases,
			Remedy: "skip it",
		},
		{Name: "driver", Node: "n1", Status: "failed", Reason: "exit status 1", Remedy: "load nvidia"},
	}
	all := sessionErrors(doc)
	if len(all) != 1 || all[0].message != "failed: exit status 1 (remedy: load nvidia)" {
		t.Errorf("%+v", all)
	}
}
