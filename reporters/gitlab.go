package reporters

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"

	"github.com/weir-bench/weir/results"
)

// codeIssue is an entry of GitLab's code quality report, as
// https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format defines it.
type codeIssue struct {
	Description string       `json:"description"`
	CheckName   string       `json:"check_name"`
	Fingerprint string       `json:"fingerprint"`
	Severity    string       `json:"severity"`
	Location    codeLocation `json:"location"`
}

type codeLocation struct {
	Path  string `json:"path"`
	Lines struct {
		Begin int `json:"begin"`
	} `json:"lines"`
}

// gitlabSeverities are GitLab's severities by the level of an annotation.
var gitlabSeverities = map[string]string{"error": "critical", "warning": "minor", "notice": "info"}

// GitLab writes a code quality report: an issue for each finding, at the line of its assertion. A merge request shows
// the issues that its target branch lacks, so an issue is known by its case and assertion and not by its values.
func GitLab(w io.Writer, doc *results.Document) error {
	issues := []codeIssue{} // an empty report is a list
	add := func(severity, name string, a annotation, known ...string) {
		i := codeIssue{Description: a.message, CheckName: name, Severity: severity}
		i.Location.Path, i.Location.Lines.Begin = a.file, max(a.line, 1)
		sum := sha256.New()
		for _, part := range append([]string{a.file, name}, known...) {
			io.WriteString(sum, part+"\x00")
		}
		i.Fingerprint = hex.EncodeToString(sum.Sum(nil))
		issues = append(issues, i)
	}
	for _, text := range banners(doc) {
		add("info", "weir", annotation{file: plain(doc.Scenario.File), message: text}, text)
	}
	for _, l := range annotationLevels {
		for _, s := range l.standings {
			for _, f := range findings(doc, s) {
				a := annotated(doc, f)
				known := []string{f.where, f.name}
				if f.assertion != nil {
					known = append(known, f.assertion.Text)
				}
				a.message = a.title + ": " + a.message
				add(gitlabSeverities[l.level], "weir."+s, a, known...)
			}
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(issues)
}
