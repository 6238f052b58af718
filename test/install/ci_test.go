package install

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/weir-bench/weir/test/phase"
)

// forge serves a release and the comments of pull request 7, as GitHub and GitLab do.
type forge struct {
	mu       sync.Mutex
	release  string // a directory
	comments []string
	requests []string
}

func (f *forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if file, ok := strings.CutPrefix(r.URL.Path, "/releases/"); ok {
		http.ServeFile(w, r, filepath.Join(f.release, filepath.Base(file)))
		return
	}
	if r.Header.Get("Authorization") != "Bearer secret" && r.Header.Get("PRIVATE-TOKEN") != "secret" {
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	}
	f.requests = append(f.requests, r.Method+" "+r.URL.Path)
	type comment struct {
		ID   int    `json:"id"`
		Body string `json:"body"`
	}
	if r.Method == http.MethodGet {
		page := []comment{}
		if r.URL.Query().Get("page") == "1" {
			page = append(page, slices.Repeat([]comment{{ID: 1, Body: "of somebody else"}}, 100)...)
		} else {
			for i, body := range f.comments {
				page = append(page, comment{ID: 1000 + i, Body: body})
			}
		}
		_ = json.NewEncoder(w).Encode(page) // a client that is gone fails by itself
		return
	}
	var c comment
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.Method == http.MethodPost {
		f.comments = append(f.comments, c.Body)
	} else {
		f.comments[0] = c.Body
	}
}

// gitlabScript is the script of the component for GitLab, with its inputs.
func gitlabScript(t *testing.T, inputs map[string]string) string {
	t.Helper()
	_, job, ok := strings.Cut(string(read(t, "ci/gitlab/weir.yml")), "\n---\n")
	if !ok {
		t.Fatal("the component has no header")
	}
	for name, value := range inputs {
		job = strings.ReplaceAll(job, "$[[ inputs."+name+" ]]", value)
	}
	if strings.Contains(job, "$[[") {
		t.Fatalf("inputs without a value:\n%s", job)
	}
	var jobs map[string]struct {
		Script []string `yaml:"script"`
	}
	if err := yaml.Unmarshal([]byte(job), &jobs); err != nil {
		t.Fatal(err)
	}
	return strings.Join(jobs["weir"].Script, "\n")
}

// githubScript is the step of the action for GitHub that runs weir.
func githubScript(t *testing.T) string {
	t.Helper()
	var action struct {
		Runs struct {
			Steps []struct{ ID, Run string }
		}
	}
	if err := yaml.Unmarshal(read(t, "ci/github/action.yml"), &action); err != nil {
		t.Fatal(err)
	}
	for _, s := range action.Runs.Steps {
		if s.ID == "run" {
			return s.Run
		}
	}
	t.Fatal("the action runs nothing")
	return ""
}

// released makes a release of this tree and returns its directory, and the sum of its tarball.
func released(t *testing.T) (dir, sum string) {
	t.Helper()
	dir = t.TempDir()
	name := "weir_0.1.0_linux_" + runtime.GOARCH
	program := filepath.Join(dir, name, "weir")
	if out, err := exec.Command("go", "build", "-o", program, module+"/cmd/weir").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.CopyFS(filepath.Join(dir, name, "ci"), os.DirFS(filepath.Join(root, "ci"))); err != nil {
		t.Fatal(err)
	}
	tarball := filepath.Join(dir, name+".tar.gz")
	if out, err := exec.Command("tar", "-C", dir, "-czf", tarball, name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(tarball)
	if err != nil {
		t.Fatal(err)
	}
	return dir, fmt.Sprintf("%x", sha256.Sum256(content))
}

func TestJobsFetchAReleaseAndKeepOneComment(t *testing.T) {
	phase.Rest(t)
	for _, tool := range []string{"curl", "jq", "tar", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	release, sum := released(t)
	for _, provider := range []string{"github", "gitlab"} {
		t.Run(provider, func(t *testing.T) {
			f := &forge{release: release}
			server := httptest.NewServer(f)
			defer server.Close()
			dir := t.TempDir()
			write := func(name, text string) string {
				t.Helper()
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				return path
			}
			scenario := "scenario: gate\nruns:\n  path:\n    workload: transfer\n" +
				"    options: {fabric: sim, block_size: 1MiB, sim_bandwidth: 25 GB/s, sim_noise: 1%}\n" +
				"    assert: [bandwidth >= 20 GB/s]\n"
			write("s.yaml", scenario)
			at, err := filepath.Abs(filepath.Join(root, "ci/github"))
			if err != nil {
				t.Fatal(err)
			}
			variables := map[string]string{
				"WEIR_RELEASES": server.URL + "/releases", "WEIR_VERSION": "0.1.0", "WEIR_SHA256": sum,
				"WEIR_TOKEN": "secret", "WEIR_PAGE_URL": "https://ci.example/page", "WEIR_KEEP": "yes",
			}
			var script string
			if provider == "github" {
				script = githubScript(t)
				maps.Copy(variables, map[string]string{
					"SCENARIO": "s.yaml", "ARGUMENTS": "--quiet", "GITHUB_ACTION_PATH": at,
					"GITHUB_API_URL": server.URL, "GITHUB_REPOSITORY": "o/r",
					"GITHUB_EVENT_PATH":   write("event.json", `{"pull_request":{"number":7}}`),
					"GITHUB_STEP_SUMMARY": write("summary.md", ""), "GITHUB_OUTPUT": write("output", ""),
				})
			} else {
				script = gitlabScript(t, map[string]string{"job": "weir", "stage": "test", "version": "0.1.0",
					"sha256": sum, "scenario": "s.yaml", "arguments": "--quiet"})
				maps.Copy(variables, map[string]string{"CI_API_V4_URL": server.URL, "CI_PROJECT_ID": "3",
					"CI_MERGE_REQUEST_IID": "7", "CI_DEFAULT_BRANCH": "main"})
			}
			job := func() (code int, out string) {
				t.Helper()
				cmd := exec.Command("bash", "-eo", "pipefail", "-c", script)
				cmd.Dir = dir
				cmd.Env = os.Environ()
				for name, value := range variables {
					cmd.Env = append(cmd.Env, name+"="+value)
				}
				text, _ := cmd.CombinedOutput() // the exit code says it
				return cmd.ProcessState.ExitCode(), string(text)
			}
			for range 2 {
				if code, out := job(); code != 0 {
					t.Fatalf("exit code %d:\n%s", code, out)
				}
			}
			if len(f.comments) != 1 || !strings.Contains(strings.Join(f.requests, "\n"), "/1000") {
				t.Fatalf("%d comments after %q", len(f.comments), f.requests)
			}
			for _, part := range []string{"<!-- weir: gate -->\n", "passed", "Against the baseline", "| bandwidth |",
				"(https://ci.example/page)"} {
				if !strings.Contains(f.comments[0], part) {
					t.Errorf("the comment lacks %q:\n%s", part, f.comments[0])
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "weir-out/ci/junit.xml")); err != nil {
				t.Error(err)
			}
			// a report that is far larger than a comment may be
			write("s.yaml", strings.NewReplacer(">= 20 GB/s]", ">= 40 GB/s]\n    launches: 1\n"+
				"    sweep: {block_size: 4KiB..2000KiB +4KiB}", " block_size: 1MiB,", "").Replace(scenario))
			code, out := job()
			said := f.comments[0]
			if code != 1 || !strings.Contains(said, "#### Failed") || len(said) > 65_536 ||
				!strings.HasSuffix(said, "</details>\n\n[The page with all charts](https://ci.example/page)\n") ||
				strings.Count(said, "<details>") != strings.Count(said, "</details>") {
				t.Errorf("exit code %d for a miss:\n%s%s", code, out, said)
			}
			variables["WEIR_SHA256"] = strings.Repeat("0", 64)
			if code, out := job(); code != 6 {
				t.Errorf("exit code %d for a release with another sum:\n%s", code, out)
			}
		})
	}
}
