package results

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/weir-bench/weir/internal/bounded"
)

// Read reads a document from a file, or from the results.json of a session directory. Values that cases
// have in common, such as node lists, are shared: do not modify them in place.
func Read(path string) (*Document, error) { return read(path, false) }

// ReadVerified reads a document and verifies its seals and its plan. A mismatch is ErrChanged and names
// the case.
func ReadVerified(path string) (*Document, error) { return read(path, true) }

func read(path string, verify bool) (*Document, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, "results.json")
	}
	f, err := bounded.Open(path, bounded.Result)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	defer f.Close()
	d, changed, err := decode(f, verify)
	if err != nil {
		return nil, fmt.Errorf("reading results %s: %w", path, err)
	}
	if d.Schema != Schema {
		if d.Schema == "" {
			return nil, fmt.Errorf("%s is no result document: it has no schema, which is %q in one", path, Schema)
		}
		return nil, fmt.Errorf("%s is a %q document; this weir reads %q", path, d.Schema, Schema)
	}
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("reading results %s: %w", path, err)
	}
	if changed != nil {
		return nil, fmt.Errorf("%s: %w", path, changed)
	}
	return d, nil
}
