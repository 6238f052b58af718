//go:build weirtest

package native

import (
	"os"
	"path/filepath"
	"testing"
)

// The TSC is used as long as the kernel offers it as a clock source; if the kernel does not say, the
// processor's flag decides.
func TestTSCThatTheKernelDoesNotTrust(t *testing.T) {
	dir := t.TempDir()
	for list, want := range map[string]bool{
		"kvm-clock tsc acpi_pm \n": true, "tsc\n": true, "kvm-clock acpi_pm \n": false, "tsc-early hpet\n": false,
		"": true,
	} {
		path := filepath.Join(dir, "list")
		if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := tscTrusted(path); got != want {
			t.Errorf("%q: %v", list, got)
		}
	}
	if !tscTrusted(filepath.Join(dir, "none")) {
		t.Error("without a list")
	}
}
