package importer_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// What guidellm leaves to the server or to itself has to be written.
func TestGuidellmRefuses(t *testing.T) {
	const full = "--target http://h --model m "
	for args, want := range map[string]string{
		"--model m":                        "--target is missing",
		full:                               "--profile sweep: the highest load that keeps a promise is `search`",
		full + "--profile poisson":         "--rate is missing",
		full + "--rate-type constant":      "--rate is missing",
		full + "--profile synchronous":     "--data is missing",
		full + "--profile concurrent":      "--profile concurrent: without --rate the load has no limit",
		full + "--max-errors 3":            "--max-errors: assert `error_rate`",
		full + "--request-type audio":      `"audio" is neither chat nor completions`,
		full + "--max-requests many":       `--max-requests: "many" is not a whole number`,
		full + "--scenario chat":           "--scenario: write what the file of the scenario has",
		full + "--data a/b --rate-type no": "--data a/b: prompts of other data sets are a file",
		full + "--profile synchronous --data prompt_tokens=8,turns=2":   "--data turns: weir has lengths",
		full + "--profile synchronous --data prompt_tokens=8":           "--max-seconds or --max-requests is missing",
		full + "--profile synchronous --data {\"prompt_tokens\":\"x\"}": "prompts of other data sets are a file",
	} {
		_, err := importer.Script("x.sh", "guidellm benchmark "+args+"\n", importer.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", args, err, want)
		}
	}
}
