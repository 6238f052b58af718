package launcher

import (
	"crypto/sha256"
	"debug/elf"
	"debug/macho"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
)

// Program is weir's own file, which is copied to nodes.
type Program struct {
	File string
	Size int64
	Sum  string // SHA-256
}

// ReadProgram reads a program's size and sum.
func ReadProgram(path string) (Program, error) {
	f, err := os.Open(path)
	if err != nil {
		return Program{}, fmt.Errorf("reading weir's own file: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err != nil {
		return Program{}, fmt.Errorf("reading weir's own file: %w", err)
	}
	return Program{path, size, hex.EncodeToString(h.Sum(nil))}, nil
}

// MachineOf is the machine type of a program as in uname -m, or macOS; "" if unknown.
func MachineOf(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		mac, err := macho.Open(path)
		if err != nil {
			return ""
		}
		mac.Close()
		return "macOS"
	}
	defer f.Close()
	switch f.Machine {
	case elf.EM_X86_64:
		return "x86_64"
	case elf.EM_AARCH64:
		return "aarch64"
	case elf.EM_PPC64:
		return "ppc64le"
	case elf.EM_RISCV:
		return "riscv64"
	}
	return ""
}

// WhyUnusable explains why a copy of weir does not start, from its output or the shell's.
func WhyUnusable(said string) string {
	has := func(text string) bool { return strings.Contains(said, text) }
	switch {
	case has("GLIBC_"):
		return "its C library is older than the one that this weir was built with"
	case has("Exec format error"), has("cannot execute binary file"):
		return "this weir was built for another machine type"
	case has("not found"), has("No such file"):
		return "it lacks the C library that this weir was built with (is it a musl system?)"
	case has("Permission denied"):
		return "programs cannot be run in the directory of the copy (is it mounted noexec?)"
	case has("error while loading shared libraries"):
		return "it lacks a library"
	}
	return "weir does not start there"
}
