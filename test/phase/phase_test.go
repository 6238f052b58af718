package phase

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// What a function here skips, make test runs with WEIR_LAB set.
func TestNothingIsSkippedInEveryPhase(t *testing.T) {
	if Short() || Race {
		t.Skip("one of the phases that skip")
	}
	t.Setenv(lab, "whole")
	for name, skips := range map[string]func(testing.TB){"Long": Long, "Minutes": Minutes, "NotUnderRace": NotUnderRace} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(func() {
				if t.Skipped() {
					t.Errorf("%s skips", name)
				}
			})
			skips(t)
		})
	}
}

// No test asks for -short or the detector by itself, and the Makefile chooses none by name.
func TestPhasesAreChosenInOnePlace(t *testing.T) {
	list, err := exec.Command("git", "-C", "../..", "ls-files", "*.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(list)) {
		if strings.HasPrefix(name, "test/phase/") {
			continue
		}
		text, err := os.ReadFile("../../" + name)
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "testing.Short()") {
			t.Errorf("%s asks for -short by itself; package test/phase says why a test is skipped", name)
		}
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if at := regexp.MustCompile(`test .*-skip`).FindString(string(makefile)); at != "" {
		t.Errorf("the Makefile skips tests by name: %s", at)
	}
	plain := regexp.MustCompile(`(?m)^plain:.*\n(\t.*\n)+`).FindString(string(makefile))
	if plain == "" || strings.Contains(plain, "-short") || strings.Contains(plain, "-race") {
		t.Errorf("make plain is to run every test:\n%s", plain)
	}
}
