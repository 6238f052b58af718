package ledger

import (
	"fmt"
	"strings"
)

// DirNames gives each key a folder name: readable, harmless in every shell and
// file system, and no two alike, not even where case does not count.
func DirNames(keys []string) map[string]string {
	names := make(map[string]string, len(keys))
	taken := map[string]bool{}
	for _, key := range keys {
		base := DirName(key)
		name := base
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s~%d", base, n)
		}
		taken[strings.ToLower(name)] = true
		names[key] = name
	}
	return names
}

const maxDirName = 120

// DirName turns bandwidth[block_size=64MiB,op=read] into
// bandwidth.block_size=64MiB,op=read.
func DirName(key string) string {
	key = strings.TrimSuffix(key, "]")
	var b strings.Builder
	for _, r := range key {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_=,+-.", r):
			b.WriteRune(r)
		case r == '[':
			b.WriteByte('.')
		default:
			b.WriteByte('_')
		}
	}
	name := strings.TrimLeft(b.String(), ".-") // neither hidden nor an option
	if len(name) > maxDirName {
		name = name[:maxDirName]
	}
	if name == "" {
		return "_"
	}
	return name
}
