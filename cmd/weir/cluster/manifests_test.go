package cluster

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/launcher"
)

// With its secret a manifest holds the very document that was given, and is of that
// document's session.
func TestManifestsWithSecret(t *testing.T) {
	a, err := link.NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	id, err := a.Issue(link.Agent, "*", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	document, err := launcher.Bootstrap{Session: "20261121-101500-p-3f9a", Node: "*", Identity: id,
		Coordinator: []string{"c.test:1"}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("WEIR_SITE", "none") // the user may have a site file
	config := filepath.Join(t.TempDir(), "kube.yaml")
	if err := os.WriteFile(config, []byte("kubernetes: {image: weir:1, command: weir}"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := New()
		cmd.SetArgs(append([]string{
			"manifests", "--nodes", "2", "--launcher-config", config, "--with-secret", "-",
		}, args...))
		cmd.SetIn(bytes.NewReader(document))
		cmd.SetOut(&out)
		err := cmd.Execute()
		return out.String(), err
	}
	out, err := run()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  bootstrap.json: " + base64.StdEncoding.EncodeToString(document) + "\n",
		"\n  name: weir-20261121-101500-p-3f9a\n", "\nimmutable: true\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	if _, err := run("--session", "other"); err == nil ||
		!strings.Contains(err.Error(), "the document is for session 20261121-101500-p-3f9a, not other") {
		t.Errorf("for another session: %v", err)
	}
}
