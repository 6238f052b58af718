package reporters

// about says of each format who it is for and what it holds.
var about = map[string]string{
	"aiperf":       "the loads on endpoints with the names of aiperf's profile_export_aiperf.json, for what reads that",
	"csv":          "one row per case and metric, in full precision, for spreadsheets and data frames",
	"csv-launches": "one row per launch, with how it was measured and a column for each metric, for spreadsheets and data frames",
	"github":       "GitHub workflow commands: annotations on the lines of the scenario that do not hold, 10 of each level, the worst first",
	"html":         "one file for a browser, with charts; needs no network",
	"json":         "the result document",
	"junit":        "JUnit XML for GitLab, Jenkins and the GitHub actions that read it: one test case per assertion on a case",
	"markdown":     "for pull requests and job summaries; below the size that GitHub takes",
	"nixl-ep":      "dispatches, combines and the control plane as NIXL EP's performance tests print them; says what weir defines in another way",
	"nixlbench":    "the transfers in the columns of nixlbench, for eyes used to these; says what weir defines in another way",
	"openmetrics":  "OpenMetrics text, for Prometheus, its textfile collector and GitLab: medians, intervals and verdicts, in base units",
	"table":        "for a terminal: what weir run prints",
}

// About describes a format in one line.
func About(format string) string { return about[format] }
