package gate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/golden"
)

// The documents that the reporters are tested with are this gate's: judging them
// again gives the same bytes.
func TestStoredDocumentsAreJudgedTheSame(t *testing.T) {
	paths, err := filepath.Glob("../reporters/testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, path := range paths {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := results.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		Judge(doc)
		if golden.Update() {
			if err := doc.Write(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := doc.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (`make golden` writes it anew): %s", path, diff)
		}
	}
}
