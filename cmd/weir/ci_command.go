// Command lines of CI jobs.

package main

import (
	"strconv"
	"strings"

	"github.com/weir-bench/weir/reporters"
)

// made is the command line that makes this job.
func (f *ciFlags) made(provider string, files ciFiles) string {
	words := append([]string{"weir", "ci", provider, shellWord(files.scenario)}, f.settings(files)...)
	for _, r := range f.runners {
		words = append(words, "--runner", shellWord(r))
	}
	if f.image != "" {
		words = append(words, "--image", shellWord(f.image))
	}
	return strings.Join(words, " ")
}

// settings are the flags that weir ci passes on to weir run.
func (f *ciFlags) settings(files ciFiles) []string {
	words := []string{"--timeout", shellWord(f.timeout)}
	for _, v := range files.variables {
		words = append(words, "--var-file", shellWord(v))
	}
	for _, v := range f.variables.Vars {
		words = append(words, "--var", shellWord(v))
	}
	if as := f.open.Flags.As; as != "" {
		words = append(words, "--inconclusive", as)
	}
	if n := f.open.Flags.Streak; n > 0 {
		words = append(words, "--inconclusive-streak", strconv.Itoa(n))
	}
	if files.site != "" {
		words = append(words, "--site", shellWord(files.site))
	}
	return words
}

// command is weir's command line in the job, as shell text.
func (f *ciFlags) command(provider string, files ciFiles, baseline string) string {
	words := append([]string{"weir", "run", shellWord(files.scenario), "--out", ciDir}, f.settings(files)...)
	if baseline != "" {
		// record on the main branch, else skip
		words = append(words, "--baseline", baseline+"/results.json", "--baseline-missing", `"$MISSING"`)
	}
	wanted := []string{"csv", "html", "openmetrics"} // besides what weir run writes anyway
	if provider != "jenkins" {
		wanted = append(wanted, provider)
	}
	for _, format := range wanted {
		if _, ok := reporters.Lookup(format); ok {
			words = append(words, "--report", format)
		}
	}
	return strings.Join(words, " ")
}
