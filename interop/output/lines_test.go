package output

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// An output has the same rows behind the prefixes of launchers and log collectors, and with a mark of its byte order.
func TestPrefixesOfLines(t *testing.T) {
	for _, f := range Formats() {
		files, err := filepath.Glob("testdata/" + f.Name + "/*.*")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			document := filepath.Ext(file) == ".json"
			if !document && filepath.Ext(file) != ".txt" || f.Name == "llm-d" && !document {
				continue // others are no samples, or YAML
			}
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			prefixes := []string{
				"\ufeff", "2026-11-30T15:22:10.123456Z ", "Nov 30 15:22:10 ", "15:22:10 ", "15:22:10.123 ",
				"[1,rank=0]<stdout>: ", "[1764506096.123] ", "2026-11-30 15:22:10,123 - INFO - ",
				"2026-11-30T15:22:10.123456Z 01O ", "\x1b[36m",
			}
			if f.Columns && !document && strings.Count(string(content), "\n") >= leastOfHosts {
				prefixes = append(prefixes, "host1: ", "Nov  1 15:22:10 node-a.cluster: ", "client-1  | ",
					"\x1b[33mclient_1 | \x1b[0m", "Nov  1 15:22:10 node1 bench[12]: ")
			}
			want, err := f.Read(content)
			if err != nil {
				t.Fatal(err)
			}
			for _, prefix := range prefixes {
				text := prefix + string(content)
				if prefix != "\ufeff" {
					lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
					text = prefix + strings.Join(lines, "\n"+prefix) + "\n"
				}
				got, err := f.Read([]byte(text))
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s behind %q: %v, %v", file, prefix, got, err)
				}
			}
		}
	}
}

// Blanks around a table, of a terminal or a page of the web, are no part of it.
func TestBlanksAroundLines(t *testing.T) {
	got := untagged([]string{"  # Size\u00a0 B/W ", "", "  8      1\t"})
	if want := []string{"# Size  B/W", "", "8      1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	got = untagged([]string{"10%\r100%\r8      1", "9      2\r"})
	if want := []string{"10%", "100%", "8      1", "9      2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

// A word with a colon in a single line is a message, not a host.
func TestMessagesAreNoHosts(t *testing.T) {
	if got := untagged([]string{"Error: no device"}); got[0] != "Error: no device" {
		t.Errorf("%q", got)
	}
}

// Launchers say how a process ended, and much else.
func TestDeaths(t *testing.T) {
	for line, dead := range map[string]bool{
		"srun: error: node7: task 1: Killed":                                      true,
		"srun: error: node[7-8]: tasks 1-3: Exited with exit code 1":              true,
		"slurmstepd: error: *** STEP 9.0 ON n1 CANCELLED DUE TO TIME LIMIT ***":   true,
		"slurmstepd: error: Detected 1 oom_kill event in StepId=9.0":              true,
		"prterun noticed that process rank 1 with PID 7 on node n1 exited":        true,
		"mpirun detected that one or more processes exited with non-zero status":  true,
		"Segmentation fault (core dumped)":                                        true,
		"Abort(1) on node 0 (rank 0 in comm 0): Fatal error in PMPI_Send":         true,
		"slurmstepd: error: couldn't chdir to `/x': No such file or directory":    false,
		"srun: error: ioctl(TIOCGWINSZ): Inappropriate ioctl for device":          false,
		"mpirun was unable to set the affinity":                                   false,
		"[n1:01234] 1 more process has sent help message help-mpi-btl-openib.txt": false,
	} {
		if deaths().MatchString(line) != dead {
			t.Errorf("%s: %v", line, !dead)
		}
	}
}
