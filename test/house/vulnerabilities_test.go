package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/phase"
)

// vulnerability is an entry of a database in the form that the Go project publishes. Without database_specific
// govulncheck panics in a goroutine, and its exit status is then 2 or 0 by chance.
const vulnerability = `{"schema_version": "1.3.1", "id": "GO-2026-9999", "modified": "2026-01-01T00:00:00Z",
"published": "2026-01-01T00:00:00Z", "summary": "made for this test", "affected": [{"package": {"name": "MODULE",
"ecosystem": "Go"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}], "ecosystem_specific": {"imports":
[{"path": "MODULE/unix", "symbols": ["Poll"]}]}}],
"database_specific": {"url": "https://example.com/GO-2026-9999"}}`

// make vuln takes a database that it is given, and fails for a vulnerability in what is called, and for nothing else.
func TestVulnerabilitiesAreFound(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	for module, want := range map[string]string{"golang.org/x/sys": "GO-2026-9999", "golang.org/x/none": ""} {
		db := t.TempDir()
		for name, text := range map[string]string{
			"index/db.json":        `{"modified": "2026-01-01T00:00:00Z"}`,
			"ID/GO-2026-9999.json": strings.ReplaceAll(vulnerability, "MODULE", module),
			"index/modules.json": `[{"path": "` + module +
				`", "vulns": [{"id": "GO-2026-9999", "modified": "2026-01-01T00:00:00Z"}]}]`,
		} {
			path := filepath.Join(db, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, err := exec.Command("make", "vuln", "VULNDB=file://"+db, "VULNIN=./internal/bounded").CombinedOutput()
		found, text := err != nil, string(out)
		if found != (want != "") || !strings.Contains(text, want) || strings.Contains(text, "panic") {
			t.Errorf("%s: %v, want %q: %s", module, err, want, text)
		}
	}
}
