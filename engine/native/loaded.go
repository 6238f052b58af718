package native

/*
#include <stdlib.h>
#include "weir.h"
*/
import "C"

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/results"
)

// loadedFiles returns the files with matching base names that this process has mapped, each once, in the order of
// addresses.
func loadedFiles(match func(base string) bool) (paths []string) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(maps)) {
		if i := strings.IndexByte(line, '/'); i >= 0 {
			path := strings.TrimSpace(line[i:])
			if match(filepath.Base(path)) && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// loaded returns the file of a library that this process has loaded, by the prefix of its name.
func loaded(prefix string) string {
	if prefix == "" {
		return ""
	}
	for _, path := range loadedFiles(func(base string) bool { return strings.HasPrefix(base, prefix) }) {
		return path
	}
	return ""
}

// loadedLibraries returns the libraries of the fabric that this process has loaded, the fabric's own first.
// They are read once: a process cannot unload them.
func (m *member) loadedLibraries() []results.Library {
	if m.libraries != nil {
		return m.libraries
	}
	m.libraries = []results.Library{}
	f, _ := fabric.Find(m.fabric)
	for i, stem := range f.Libraries {
		for _, path := range loadedFiles(func(base string) bool { return hasStem(base, stem) }) {
			if slices.ContainsFunc(m.libraries, func(l results.Library) bool { return l.File == path }) {
				continue
			}
			l := results.Library{
				Name: libraryName(path), File: path, Build: buildOf(path), Ranks: []int{m.self.Rank},
			}
			if i == 0 {
				l.Version = libraryVersion(m.fabric)
			}
			m.libraries = append(m.libraries, l)
		}
	}
	return m.libraries
}

// hasStem reports whether a file name is that of a library: libucp.so.0 or libucp-1a2b3c.so.0 of libucp. A stem
// with an underscore at its end is a prefix.
func hasStem(base, stem string) bool {
	rest, ok := strings.CutPrefix(base, stem)
	return ok && (strings.HasSuffix(stem, "_") || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "-")) &&
		strings.Contains(rest, ".so")
}

// libraryName is the name of a library's file without versions.
func libraryName(path string) string {
	base := filepath.Base(path)
	if i := strings.IndexAny(base, ".-"); i > 0 {
		return base[:i]
	}
	return base
}

func libraryVersion(name string) string {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	if v := C.weir_library_version(c); v != nil {
		return C.GoString(v)
	}
	return ""
}

// buildOf identifies the contents of a library: its GNU build id, or the SHA-256 of a file without one; "" if
// it cannot be read, as that of a file that was replaced after it was loaded.
func buildOf(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	if id := buildID(file); id != "" {
		return id
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return ""
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// buildID returns the GNU build id of an ELF file in hexadecimal; "": it has none.
func buildID(file io.ReaderAt) string {
	f, err := elf.NewFile(file)
	if err != nil {
		return ""
	}
	section := f.Section(".note.gnu.build-id")
	if section == nil {
		return ""
	}
	note, err := section.Data()
	var head struct{ Name, Length, Type uint32 }
	if err != nil || binary.Read(bytes.NewReader(note), f.ByteOrder, &head) != nil {
		return ""
	}
	from := 12 + (uint64(head.Name)+3)/4*4
	if end := from + uint64(head.Length); head.Length > 0 && end <= uint64(len(note)) {
		return hex.EncodeToString(note[from:end])
	}
	return ""
}
