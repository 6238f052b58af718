package stored

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// SessionID is unique, sorts by time, and has the name of the scenario.
func SessionID(now time.Time, scenario string) string {
	unique := make([]byte, 2)
	rand.Read(unique)
	return now.UTC().Format("20060102-150405") + "-" + Slug(scenario) + "-" + hex.EncodeToString(unique)
}

// Slug replaces the characters of a name that are unsafe in paths and keys by dashes.
func Slug(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, name)
}

// Dir is the folder of a result document; path is the document or the folder.
func Dir(path string) string {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return path
	}
	return filepath.Dir(path)
}
