package results

import (
	"fmt"
	"os"
	"path/filepath"
)

// Read reads a document from a file, or from the results.json of a session
// directory. What many cases have in common, such as the nodes of launches, is one
// value in all of them: who changes it makes a new one.
func Read(path string) (*Document, error) { return read(path, false) }

// ReadWhole reads a document as Read does, and holds it against its seals and its plan.
// What was changed or is gone is ErrChanged and names the case.
func ReadWhole(path string) (*Document, error) { return read(path, true) }

func read(path string, whole bool) (*Document, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, "results.json")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	defer f.Close()
	d, changed, err := decode(f, whole)
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
