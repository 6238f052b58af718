package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/test/phase"
)

// readers are command lines with a file that each of them reads. FILE is that file, which has the
// extension that follows; ok.yaml is a scenario, good.json a result.
var readers = []string{
	"plan FILE.yaml", "plan FILE.hcl", "validate FILE.yaml", "run FILE.yaml", "fmt FILE.yaml",
	"fmt --syntax yaml - < FILE",
	"convert --to hcl FILE.yaml", "ci github FILE.yaml", "cluster manifests FILE.yaml --kube-image i:1",
	"plan ok.yaml --var-file FILE.vars", "plan ok.yaml --site FILE.yaml", "run real.yaml --out session --hosts @FILE",
	"plan ok.yaml --launcher-config FILE.yaml", "plan ok.yaml --noise-from FILE.json", "plan ok.yaml --diff FILE.json",
	"run FILE.json", "run ok.yaml --out session --baseline FILE.json",
	"run ok.yaml --out session --previous FILE.json",
	"gate FILE.json", "gate good.json --scenario FILE.yaml", "gate good.json --scenario FILE.json",
	"report FILE.json --report csv=-", "compare FILE.json good.json", "compare good.json FILE.json",
	"calibrate FILE.json",
	"history add FILE.json", "import FILE.sh", "matgen --config FILE.json --prefill-nodes 1 --decode-nodes 1 --dry-run",
	"matgen --model llama-405b --trace FILE.jsonl --prefill-nodes 1 --decode-nodes 1 --dry-run",
	"agent --bootstrap FILE.json", "cluster status --etcd https://127.0.0.1:1 --etcd-cacert FILE.pem",
	"cluster status --etcd https://127.0.0.1:1 --etcd-cert FILE.pem --etcd-key FILE.pem",
	"cluster status --etcd https://127.0.0.1:1 --etcd-user u --etcd-password-file FILE.txt",
	"agent --etcd https://127.0.0.1:1 --tls-ca FILE.pem --tls-cert FILE.pem --tls-key FILE.pem",
	"cluster manifests ok.yaml --kube-image i:1 --launcher-config kube.yaml --with-secret FILE.json",
	"plan including.yaml FILE.yaml", "plan matrix.yaml FILE.txt", "plan trace.yaml FILE.jsonl",
	"plan prompts.yaml FILE.txt",
	"plan authorities.yaml FILE.pem", "plan routes.yaml FILE.txt", "run baseline.yaml FILE.json",
}

// named are scenarios that name the file themselves.
var named = map[string]string{
	"including.yaml": "include: {file: FILE.yaml}\n",
	"matrix.yaml":    "runs: {a: {workload: traffic, options: {matrix_file: FILE.txt}}}\n",
	"trace.yaml":     "runs: {a: {workload: serving, options: {endpoint: 'http://a', model: m, trace: FILE.jsonl}}}\n",
	"prompts.yaml":   "runs: {a: {workload: serving, options: {endpoint: 'http://a', model: m, prompts: FILE.txt}}}\n",
	"authorities.yaml": "runs: {a: {workload: serving, " +
		"options: {endpoint: 'https://a', model: m, tls_ca: FILE.pem}}}\n",
	"routes.yaml": "runs: {a: {workload: ep, options: {routes: FILE.txt}}}\n",
	"baseline.yaml": "baseline: FILE.json\nruns: {a: {workload: transfer, options: {fabric: sim, block_size: 4KiB}, " +
		"assert: [bandwidth > 0.5 * baseline.bandwidth]}}\n",
}

// strange are files that no reader may wait for, or read to their end, and what the error must say.
var strange = map[string]struct {
	create func(t *testing.T, path string) error
	says   string
}{
	"devzero": {func(_ *testing.T, path string) error { return os.Symlink("/dev/zero", path) }, ""},
	"endless": {endlessPipe, ""},
	"silent": {func(_ *testing.T, path string) error {
		return unix.Mkfifo(path, 0o600)
	}, "pipe sent nothing for 10 s"},
	"sparse": {func(_ *testing.T, path string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 10<<30))
	}, "is too large: at most"},
	"folder": {func(_ *testing.T, path string) error { return os.Mkdir(path, 0o700) }, ""},
}

func endlessPipe(t *testing.T, path string) error {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	t.Cleanup(func() { f.Close() })
	go func() {
		for line := bytes.Repeat([]byte("# endless\n"), 1000); err == nil; {
			_, err = f.Write(line)
		}
	}()
	return nil
}

// Every command that reads a file refuses one that has no end, no writer or no text: with exit code 4,
// the name of the file, little memory and little time.
func TestStrangeFilesAreRefused(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	lines := readers
	for _, c := range command(t, "import").Commands() {
		lines = append(lines, "import "+c.Name()+" FILE.json")
	}
	everyFlagIsTried(t, lines)
	good, err := filepath.Abs("../../reporters/testdata/several.json")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	var longest time.Duration
	busy := make(chan struct{}, 2)
	tried := 0
	for kind, s := range strange {
		for _, line := range lines {
			dir := t.TempDir()
			words := strings.Fields(line)
			file := words[0]
			for i, w := range words {
				if strings.HasPrefix(strings.TrimPrefix(w, "@"), "FILE") {
					file = strings.TrimPrefix(strings.Replace(w, "FILE", kind, 1), "@")
					words[i] = strings.Replace(w, "FILE", kind, 1)
				}
			}
			files := map[string]string{
				"ok.yaml":   "scenario: s\nruns: {a: {workload: transfer, options: {fabric: sim, block_size: 4KiB}}}\n",
				"real.yaml": "scenario: s\nruns: {a: {workload: transfer, options: {fabric: tcp, block_size: 4KiB}}}\n",
				"kube.yaml": "kubernetes: {command: weir}\n",
			}
			if text, ok := named[words[1]]; ok {
				files[words[1]] = "scenario: s\n" + strings.ReplaceAll(text, "FILE", kind)
				words = words[:2]
			}
			if kind == "folder" && slices.Contains([]string{"validate", "run", "fmt"}, words[0]) && len(words) == 2 {
				continue // a folder of scenarios
			}
			if kind == "folder" && strings.HasSuffix(line, "< FILE") {
				continue // the shell refuses it
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(os.Symlink(good, filepath.Join(dir, "good.json")),
				s.create(t, filepath.Join(dir, file))); err != nil {
				t.Fatal(err)
			}
			tried++
			running.Go(func() {
				if kind != "silent" {
					busy <- struct{}{}
					defer func() { <-busy }()
				}
				took, err := refuses(dir, file, words, s.says)
				if err != nil {
					t.Errorf("%s, %s: %v", kind, line, err)
				}
				mu.Lock()
				defer mu.Unlock()
				longest = max(longest, took)
			})
		}
	}
	running.Wait()
	t.Logf("%d strange files; the longest took %v to a named cause", tried, longest.Round(time.Second/10))
}

const (
	mostTime   = bounded.Silence + 50*time.Second // of a machine that starts all commands at once
	mostMemory = 600_000                          // KiB of writable memory, with the stacks of threads
)

// keyRefused is what the reader of keys says, which takes no pipe and 1 MiB.
var keyRefused = regexp.MustCompile(`is not a regular file|is longer than 1048576 bytes`)

// refuses runs weir in a directory and checks how it refuses a file.
func refuses(dir, file string, words []string, says string) (time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), mostTime)
	defer cancel()
	call := fmt.Sprintf("ulimit -d %d; exec -a weir %s %s", mostMemory, self,
		strings.ReplaceAll(strings.Join(words, " "), "< ", "<>"))
	cmd := exec.CommandContext(ctx, "bash", "-c", call)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	begin := time.Now()
	err = cmd.Run()
	took := time.Since(begin)
	if cmd.ProcessState == nil || ctx.Err() != nil {
		return took, fmt.Errorf("not within %v: %v", mostTime, err)
	}
	said := out.String()[:min(out.Len(), 1000)]
	if code := cmd.ProcessState.ExitCode(); code != gate.ExitUsage {
		return took, fmt.Errorf("exit code %d: %s", code, said)
	}
	if !strings.Contains(said, file) && !strings.Contains(said, "/dev/stdin") ||
		!strings.Contains(said, says) && !keyRefused.MatchString(said) {
		return took, fmt.Errorf("the error does not name %s and %q: %s", file, says, said)
	}
	return took, nil
}

// writtenFlags are flags whose file is written.
const writtenFlags = " output out save events report cluster secrets state history "

// everyFlagIsTried checks that every flag which names a file to read is in a line.
func everyFlagIsTried(t *testing.T, lines []string) {
	all := strings.Join(lines, "\n") + " "
	n := 0
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			kind, _ := pflag.UnquoteUsage(f)
			if !strings.Contains(kind, "FILE") || strings.Contains(writtenFlags, " "+f.Name+" ") {
				return
			}
			if n++; !strings.Contains(all, "--"+f.Name+" FILE") {
				t.Errorf("%s --%s is tried with no strange file", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	if n < 15 {
		t.Errorf("only %d flags name a file", n)
	}
}

func command(t *testing.T, name string) *cobra.Command {
	c, _, err := newRoot().Find([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
