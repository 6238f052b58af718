package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/reporters"
)

// awkward is a scenario with a path that needs quotes everywhere.
const awkward = "it's a $HOME #1.yaml"

// ciOf is the job that weir ci prints, as YAML reads it.
func ciOf(t *testing.T, args ...string) map[string]any {
	t.Helper()
	text := ciText(t, args...)
	var v map[string]any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("not YAML: %v\n%s", err, text)
	}
	return v
}

// ciText is the job that weir ci prints.
func ciText(t *testing.T, args ...string) string {
	t.Helper()
	var out, stderr bytes.Buffer
	if code := execute(append([]string{"ci"}, args...), &out, &stderr); code != 0 {
		t.Fatalf("weir ci %v exited with %d: %s", args, code, stderr.String())
	}
	return out.String()
}

// inScenarios moves the test to a folder with the awkward scenario.
func inScenarios(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	text := "scenario: awkward.1\nvariables: {least: {type: bandwidth}}\nruns:\n  a:\n    workload: transfer\n    options: {fabric: sim, block_size: 1MiB}\n    assert: [\"bandwidth >= ${var.least}\"]\n"
	if err := os.WriteFile(filepath.Join(dir, awkward), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
}

// The jobs follow the schemas that the providers publish, whatever is asked for.
func TestCIFollowsTheProvidersSchemas(t *testing.T) {
	schemas := map[string]*jsonschema.Schema{}
	for provider, file := range map[string]string{"github": "github-workflow.json", "gitlab": "gitlab-ci.json"} {
		s, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata/ci/schema", file))
		if err != nil {
			t.Fatal(err)
		}
		schemas[provider] = s
	}
	inScenarios(t)
	for provider, s := range schemas {
		for _, flags := range [][]string{
			nil, {"--runner", "self-hosted", "--runner", "h100: #1"}, {"--image", "debian:13", "--timeout", "2h"},
		} {
			v := ciOf(t, append([]string{provider, awkward, "--var", "least=2 GB/s"}, flags...)...)
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(instance); err != nil {
				t.Errorf("%s %v: %v", provider, flags, err)
			}
			if broken := map[string]any{"jobs": 3, "stages": 3}; s.Validate(broken) == nil {
				t.Errorf("%s: the schema takes anything", provider)
			}
		}
	}
}

// at walks down a tree of maps and lists.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok || m[p] == nil {
				t.Fatalf("there is no %v in %v", p, v)
			}
			v = m[p]
		case int:
			l, ok := v.([]any)
			if !ok || len(l) <= p {
				t.Fatalf("there is no item %d in %v", p, v)
			}
			v = l[p]
		}
	}
	return v
}

// The jobs keep the reports whatever comes of the session, and only the code for
// inconclusive may be yellow.
func TestCIKeepsReports(t *testing.T) {
	inScenarios(t)
	args := []string{awkward, "--var", "least=1 B/s", "--timeout", "30m"}
	github := ciOf(t, append([]string{"github"}, args...)...)
	steps := at(t, github, "jobs", "weir", "steps")
	if at(t, steps, 2, "if") != "always()" || at(t, steps, 2, "with", "path") != ciDir ||
		at(t, github, "jobs", "weir", "timeout-minutes") != 40 {
		t.Errorf("%v", github)
	}
	gitlab := ciOf(t, append([]string{"gitlab"}, args...)...)
	job := at(t, gitlab, "weir-awkward.1")
	if at(t, job, "artifacts", "when") != "always" ||
		fmt.Sprint(at(t, job, "allow_failure", "exit_codes")) != fmt.Sprint([]any{gate.ExitInconclusive}) ||
		at(t, job, "artifacts", "reports", "junit") != ciDir+"/junit.xml" ||
		at(t, job, "artifacts", "reports", "metrics") != ciDir+"/metrics.prom" {
		t.Errorf("%v", job)
	}
}

// fakeWeir stands in for weir: it keeps its words, writes a report, and exits as told.
const fakeWeir = `#!/bin/sh
if [ "$1" = version ]; then exit 0; fi
for w in "$@"; do printf '%s\n' "$w" >> words; done
mkdir -p weir-out/ci
if [ "$FAKE_EXIT" != 8 ]; then echo "# report${FAKE_REPORT:-}" > weir-out/ci/report.md; fi
exit "$FAKE_EXIT"
`

// The shell of the jobs, run as the providers run it, ends by the exit code of weir,
// but that GitHub's lets inconclusive pass with a warning; and what weir is told is
// what was asked for, word by word.
func TestCIShellEndsByTheExitCode(t *testing.T) {
	inScenarios(t)
	args := []string{awkward, "--var", "least=2 GB/s"}
	for provider, script := range map[string]string{
		"github": at(t, ciOf(t, append([]string{"github"}, args...)...), "jobs", "weir", "steps", 1, "run").(string),
		"gitlab": at(t, ciOf(t, append([]string{"gitlab"}, args...)...), "weir-awkward.1", "script", 0).(string),
	} {
		for _, c := range gate.ExitCodes {
			t.Run(fmt.Sprintf("%s %d", provider, c.Code), func(t *testing.T) {
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "weir"), []byte(fakeWeir), 0o755); err != nil {
					t.Fatal(err)
				}
				code, out := shell(t, dir, script, "PATH="+dir+":"+os.Getenv("PATH"),
					fmt.Sprintf("FAKE_EXIT=%d", c.Code))
				want := c.Code
				if provider == "github" && want == gate.ExitInconclusive {
					want = 0
				}
				if code != want {
					t.Errorf("exit code %d, want %d\n%s", code, want, out)
				}
				if warned := strings.Contains(out,
					"::warning "); warned != (provider == "github" && c.Code == gate.ExitInconclusive) {
					t.Errorf("output: %s", out)
				}
				if provider == "github" && c.Code != 8 {
					if b, err := os.ReadFile(filepath.Join(dir, "summary")); err != nil || string(b) != "# report\n" {
						t.Errorf("summary %q, %v", b, err)
					}
				}
				words, err := os.ReadFile(filepath.Join(dir, "words"))
				if err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(string(words), "run\n"+awkward+"\n--out\n"+ciDir+"\n") ||
					!strings.Contains(string(words), "\n--var\nleast=2 GB/s\n") {
					t.Errorf("weir is told %q", words)
				}
			})
		}
	}
}

// A job is green with a warning if a gate is open. The warning tells that nothing was measured.
func TestCIWarnsOfNothingMeasured(t *testing.T) {
	inScenarios(t)
	steps := at(t, ciOf(t, "github", awkward, "--var", "least=2 GB/s"), "jobs", "weir", "steps")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "weir"), []byte(fakeWeir), 0o755); err != nil {
		t.Fatal(err)
	}
	for report, want := range map[string]string{
		"":                             "nothing has failed, and some gate is undecided\n",
		": " + reporters.NothingUsable: "nothing was measured, no case has a usable launch\n",
	} {
		code, out := shell(t, dir, at(t, steps, 1, "run").(string), "PATH="+dir+":"+os.Getenv("PATH"),
			fmt.Sprintf("FAKE_EXIT=%d", gate.ExitInconclusive), "FAKE_REPORT="+report)
		if want = "::warning title=weir::inconclusive: " + want; code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit code %d, without %q in\n%s", code, want, out)
		}
	}
	if env := at(t, steps, 1, "env", "WEIR_DISTURBED"); env != "${{ vars.WEIR_DISTURBED }}" {
		t.Errorf("the job has WEIR_DISTURBED %v", env)
	}
}

// A runner without weir fetches it, is not content with another file, and says what
// to do when it does not know from where: never with a code that means a verdict.
func TestCIShellFetchesWeir(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/weir" {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, fakeWeir)
	}))
	defer server.Close()
	inScenarios(t)
	script := at(t, ciOf(t, "gitlab", awkward, "--var", "least=1 B/s"), "weir-awkward.1", "script", 0).(string)
	for _, c := range []struct {
		name string
		env  []string
		want int
		says string
	}{
		{"nowhere", nil, gate.ExitExecution, "WEIR_URL"},
		{"fetched", []string{"WEIR_URL=" + server.URL + "/weir"}, 0, ""},
		{"gone", []string{"WEIR_URL=" + server.URL + "/other"}, gate.ExitExecution, "404"},
		{"another file", []string{"WEIR_URL=" + server.URL + "/weir", "WEIR_SHA256=" + strings.Repeat("0", 64)},
			gate.ExitExecution, "FAILED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out := shell(t, t.TempDir(), script,
				append(c.env, "PATH=/usr/bin:/bin", "FAKE_EXIT=0", "no_proxy=127.0.0.1")...)
			if code != c.want || !strings.Contains(out, c.says) {
				t.Errorf("exit code %d, want %d with %q:\n%s", code, c.want, c.says, out)
			}
		})
	}
}

// jobScript returns the shell of a provider's job for a scenario.
func jobScript(t *testing.T, provider, scenario string) string {
	t.Helper()
	switch provider {
	case "github":
		steps := at(t, ciOf(t, provider, scenario), "jobs", "weir", "steps").([]any)
		i := slices.IndexFunc(steps, func(s any) bool { return s.(map[string]any)["id"] == "weir" })
		return at(t, steps, i, "run").(string)
	case "gitlab":
		return at(t, ciOf(t, provider, scenario), "weir-gate", "script", 0).(string)
	}
	_, text, _ := strings.Cut(ciText(t, provider, scenario), "script: '''")
	text, _, _ = strings.Cut(text, "''')")
	return strings.NewReplacer(`\\`, `\`, `\'`, `'`).Replace(text)
}

// The first good result of the main branch stays the baseline, so that losses add up, until a job is told to renew it.
func TestJobsKeepTheFirstBaseline(t *testing.T) {
	t.Chdir(t.TempDir())
	scenario := "scenario: gate\nruns:\n  a:\n    workload: transfer\n    options: {fabric: sim, block_size: 1MiB}\n" +
		"    assert: [bandwidth >= 0.5 * baseline.bandwidth]\n"
	if err := os.WriteFile("gate.yaml", []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, "weir"); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for provider, main := range map[string][]string{
		"github": {"MISSING=record"}, "gitlab": {"CI_COMMIT_BRANCH=main", "CI_DEFAULT_BRANCH=main"},
		"jenkins": {"BRANCH_NAME=main", "BRANCH_IS_PRIMARY=true"},
	} {
		t.Run(provider, func(t *testing.T) {
			dir := t.TempDir()
			script := jobScript(t, provider, "gate.yaml")
			if err := os.WriteFile(filepath.Join(dir, "gate.yaml"), []byte(scenario), 0o600); err != nil {
				t.Fatal(err)
			}
			kept := func(env ...string) string {
				t.Helper()
				env = append(env, "PATH="+here+":"+os.Getenv("PATH"), "GITHUB_OUTPUT="+filepath.Join(dir, "output"))
				if code, out := shell(t, dir, script, env...); code != 0 {
					t.Fatalf("exit code %d:\n%s", code, out)
				}
				content, _ := os.ReadFile(filepath.Join(dir, ciBaseline, "results.json")) // "" if there is none
				return string(content)
			}
			request := map[string][]string{
				"github": {"MISSING=skip"}, "gitlab": {"CI_DEFAULT_BRANCH=main"}, "jenkins": {"BRANCH_NAME=slow"},
			}[provider]
			if kept(request...) != "" {
				t.Error("a pull request made the baseline")
			}
			first := kept(main...)
			if first == "" || kept(main...) != first || kept(request...) != first {
				t.Error("the first good result does not stay the baseline")
			}
			sessions := func() int {
				list, err := filepath.Glob(filepath.Join(dir, ciBaseline, "sessions", "*.json"))
				if err != nil {
					t.Error(err)
				}
				return len(list)
			}
			if n := sessions(); n != 2 { // of the main branch
				t.Errorf("%d sessions are kept beside the baseline, want 2", n)
			}
			if provider == "github" { // renewed by not fetching it
				output, err := os.ReadFile(filepath.Join(dir, "output"))
				if err != nil || string(output) != "recorded=yes\nrecorded=yes\n" {
					t.Errorf("the cache is told %q, %v", output, err)
				}
				return
			}
			if again := kept(append(main, "WEIR_RENEW=yes")...); again == "" || again == first {
				t.Error("the baseline is not renewed")
			}
			if n := sessions(); n != 1 {
				t.Errorf("%d sessions are kept beside the renewed baseline, want 1", n)
			}
		})
	}
}

// shell runs a script as both providers do: bash that ends at the first error.
func shell(t *testing.T, dir, script string, env ...string) (int, string) {
	t.Helper()
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(env, "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"), "TMPDIR="+t.TempDir())
	out, _ := cmd.CombinedOutput() // the exit code says it
	return cmd.ProcessState.ExitCode(), string(out)
}

// The command that a job names makes the same job.
func TestCINamesItsCommand(t *testing.T) {
	inScenarios(t)
	var out, again bytes.Buffer
	if code := execute([]string{"ci", "github", awkward, "--var", "least=2 GB/s", "--runner", "my own", "--image",
		"debian:13"}, &out, io.Discard); code != 0 {
		t.Fatal(code)
	}
	made, _, _ := strings.Cut(strings.TrimPrefix(out.String(), "# Made by: "), "\n")
	words, err := exec.Command("bash", "-c",
		`for w in `+strings.TrimPrefix(made, "weir ")+`; do printf '%s\n' "$w"; done`).Output()
	if err != nil {
		t.Fatal(err)
	}
	if code := execute(strings.Split(strings.TrimSuffix(string(words), "\n"), "\n"), &again, io.Discard); code != 0 ||
		again.String() != out.String() {
		t.Errorf("%s exits with %d and makes\n%s\nwant\n%s", made, code, again.String(), out.String())
	}
}

// A site that is named when the job is made is named in the job, too.
func TestCINamesTheSite(t *testing.T) {
	inScenarios(t)
	if err := os.WriteFile("my site.yaml", []byte("site: here\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, provider := range []string{"github", "gitlab"} {
		var out, stderr bytes.Buffer
		if code := execute([]string{"ci", provider, awkward, "--var", "least=1 B/s", "--site", "my site.yaml"}, &out,
			&stderr); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr.String())
		}
		if n := strings.Count(out.String(), "--site 'my site.yaml'"); n != 2 { // how it was made, and weir run
			t.Errorf("%s: the site is named %d times in\n%s", provider, n, out.String())
		}
	}
	t.Setenv("WEIR_SITE", "my site.yaml")
	var out bytes.Buffer
	if code := execute([]string{"ci", "github", awkward, "--var", "least=1 B/s"}, &out, io.Discard); code != 0 ||
		strings.Contains(out.String(), "--site") {
		t.Errorf("exit code %d, a site of the environment is in\n%s", code, out.String())
	}
}

func TestCIRefuses(t *testing.T) {
	inScenarios(t)
	for _, args := range [][]string{
		{"github", "/" + awkward, "--var", "least=1 B/s"}, {"gitlab", "missing.yaml"}, {"github", awkward},
		{"github", awkward, "--var", "least=1 B/s", "--image", "${{ secrets.x }}"},
		{"gitlab", awkward, "--var", "least=1 B/s", "--runner", "a\nb"},
		{"gitlab", awkward, "--var", "least=1 B/s", "--timeout", "0s"}, {"jenkins", awkward},
	} {
		var out, stderr bytes.Buffer
		if code := execute(append([]string{"ci"}, args...), &out, &stderr); code != gate.ExitUsage || out.Len() > 0 ||
			stderr.Len() == 0 {
			t.Errorf("weir ci %q exited with %d: %s%s", args, code, out.String(), stderr.String())
		}
	}
}
