package launch

import (
	"debug/elf"
	"strings"
)

// MachineOf is what uname -m calls the machines that a file is for, "" if that is not
// known.
func MachineOf(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
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

// WhyUnusable says why a copy of weir does not start in a place, by what it or the shell there
// said.
func WhyUnusable(said string) string {
	has := func(text string) bool { return strings.Contains(said, text) }
	switch {
	case has("GLIBC_"):
		return "its C library is older than the one that this weir was built with"
	case has("Exec format error"), has("cannot execute binary file"):
		return "it is a machine of another kind than this weir was built for"
	case has("not found"), has("No such file"):
		return "it has not the C library that this weir was built with (is it a musl system?)"
	case has("Permission denied"):
		return "programs may not be run where weir was put (is it mounted noexec?)"
	case has("error while loading shared libraries"):
		return "it lacks a library"
	}
	return "weir does not start there"
}
