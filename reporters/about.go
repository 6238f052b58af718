package reporters

// about describes each format, its readers and its content.
var about = map[string]string{
	"aiperf":       "endpoint loads in the format of aiperf's profile_export_aiperf.json",
	"comment":      "Markdown of at most 65000 characters for a comment on a pull request: the verdict, what changed against the baseline, failures, and the rest folded; with a link to WEIR_PAGE_URL",
	"csv":          "one row per case and metric, in full precision, for spreadsheets and data frames",
	"csv-launches": "one row per launch, with its conditions and a column for each metric, for spreadsheets and data frames",
	"ct-perftest":  "traffic matrices in the tables of ct-perftest and sequential-ct-perftest; to a file .json the JSON of the latter",
	"github":       "GitHub workflow commands: annotations on failing lines of the scenario, at most 10 per level, worst first",
	"gitlab":       "GitLab's code quality report: an issue at the line of each assertion that does not hold",
	"html":         "one file for a browser, with charts; needs no network",
	"json":         "the result document",
	"junit":        "JUnit XML for GitLab, Jenkins and GitHub actions: one test case per assertion on a case",
	"llm-d":        "endpoint loads as standard reports of llm-d-benchmark, one behind the other",
	"markdown":     "for pull requests and job summaries, within GitHub's size limit",
	"nixl-ep":      "dispatches, combines and the control plane in the format of NIXL EP's performance tests, with notes on differing definitions",
	"nixlbench":    "transfers in the columns of nixlbench, with notes on differing definitions",
	"openmetrics":  "OpenMetrics text, for Prometheus, its textfile collector and GitLab: medians, intervals and verdicts, in base units",
	"table":        "the terminal report that weir run prints",
}

// About describes a format in one line.
func About(format string) string { return about[format] }
