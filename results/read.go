package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/weir-bench/weir/internal/bounded"
)

// document is the file of a session directory that has its results.
const document = "results.json"

// Journal is the file of the journal in a session directory.
const Journal = "journal.ndjson"

// remedy says how to read a session that has no document at a path: continue it, or name one of those in the folder
// that was given in place of one; "" if there is neither.
func remedy(path, folder string) string {
	session := filepath.Dir(path)
	if _, err := os.Stat(filepath.Join(session, Journal)); err == nil && filepath.Base(path) == document {
		return fmt.Sprintf("; the session in %s has a journal and did not end: unless it still runs, continue it with: weir run --resume %s",
			session, session)
	}
	if folder == "" {
		return ""
	}
	all, _ := os.ReadDir(folder) // in the order of their names
	for _, e := range slices.Backward(all) {
		session := filepath.Join(folder, e.Name())
		if _, err := os.Stat(filepath.Join(session, document)); err == nil {
			return fmt.Sprintf("; name a session of %s, as %s", folder, session)
		}
	}
	return ""
}

// Read reads a document from a file, or from the results.json of a session directory. Values that cases
// have in common, such as node lists, are shared: do not modify them in place.
func Read(path string) (*Document, error) { return read(path, false) }

// ReadVerified reads a document and verifies its seals and its plan. A mismatch is ErrChanged and names
// the case.
func ReadVerified(path string) (*Document, error) { return read(path, true) }

func read(path string, verify bool) (*Document, error) {
	folder := ""
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		folder, path = path, filepath.Join(path, document)
	}
	f, err := bounded.Open(path, bounded.Result)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading results: %w", err)
		}
		return nil, fmt.Errorf("reading results: %w%s", err, remedy(path, folder))
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
