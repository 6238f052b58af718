package install

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/phase"
)

const (
	module  = "github.com/weir-bench/weir"
	version = "v0.1.0"
	root    = "../.."
)

// proxy makes a module proxy of the repository, in a directory. See "GOPROXY protocol" in https://go.dev/ref/mod.
func proxy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, module, "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"list":            []byte(version + "\n"),
		version + ".info": []byte(`{"Version":"` + version + `","Time":"2026-01-01T00:00:00Z"}`),
		version + ".mod":  read(t, "go.mod"),
		version + ".zip":  archive(t),
	} {
		if err := os.WriteFile(filepath.Join(at, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// archive is the module's zip file: the files that git tracks, without those of other modules.
func archive(t *testing.T) []byte {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	w := zip.NewWriter(&zipped)
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(root, path))
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(path, "tools/") ||
			strings.HasPrefix(path, "test/kube/") {
			continue
		}
		f, err := w.Create(module + "@" + version + "/" + path)
		if err == nil {
			_, err = io.Copy(f, bytes.NewReader(read(t, path)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return zipped.Bytes()
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// goCommand runs go in a directory with the proxy as its only source of weir; other modules come from the cache of
// this machine.
func goCommand(t *testing.T, proxy, dir string, args ...string) []byte {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	others := "file://" + filepath.Join(strings.TrimSpace(string(cache)), "cache/download")
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=file://"+proxy+","+others, "GOSUMDB=off",
		"GOFLAGS=-modcacherw -mod=mod -trimpath -buildmode=pie", "GOMODCACHE="+filepath.Join(proxy, "modcache"),
		"GOBIN="+filepath.Join(proxy, "bin"), "GOTOOLCHAIN=local")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func TestGoInstallMakesAProgramThatMeasures(t *testing.T) {
	phase.Rest(t)
	proxy := proxy(t)
	goCommand(t, proxy, t.TempDir(), "install", module+"/cmd/weir@latest")
	program := filepath.Join(proxy, "bin/weir")
	out, err := exec.Command(program, "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "weir "+version+"\n") {
		t.Errorf("weir version: %v\n%s", err, out)
	}
	scenario := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(scenario, []byte(`scenario: installed
runs:
  copy:
    workload: transfer
    options: {fabric: shm, block_size: 64KiB, iterations: 100, warmup: 10}
    assert: [bandwidth > 0]
`), 0o644); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(program, "run", scenario, "--disturbed", "keep", "--out", t.TempDir())
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("weir run: %v\n%s", err, out)
	}
}

// The example of the packages that other programs may import.
const importer = `package main

import (
	"fmt"
	"os"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

func main() {
	scenario, _, diagnostics := dsl.Load("s.yaml", []byte(os.Args[1]), dsl.Options{})
	if diagnostics.HasErrors() {
		panic(diagnostics)
	}
	plan, diagnostics := planner.Build(scenario)
	if diagnostics.HasErrors() {
		panic(diagnostics)
	}
	fmt.Println(len(plan.Cases), results.Schema)
}
`

func TestProgramsImportThePublicPackages(t *testing.T) {
	phase.Rest(t)
	proxy, dir := proxy(t), t.TempDir()
	for name, content := range map[string]string{
		"go.mod":  "module example.com/importer\n\ngo 1.26.0\n\nrequire " + module + " " + version + "\n",
		"main.go": importer,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	goCommand(t, proxy, dir, "build", "-o", "importer", ".")
	out, err := exec.Command(filepath.Join(dir, "importer"),
		"scenario: s\nruns: {a: {workload: transfer, sweep: {block_size: [4KiB, 1MiB]}, assert: [bandwidth > 0]}}").
		CombinedOutput()
	if want := "2 weir.results/v1\n"; err != nil || string(out) != want {
		t.Errorf("%v: it wrote %q, want %q", err, out, want)
	}
}
