package launcher

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

func TestMachineOfAProgram(t *testing.T) {
	header := []byte{}
	for _, word := range []uint32{0xfeedfacf, 0x0100000c, 0, 2, 0, 0, 0, 0} { // mach_header_64 of an Arm program
		header = binary.LittleEndian.AppendUint32(header, word)
	}
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{"of macOS": {header, "macOS"}, "a script": {[]byte("#!/bin/sh\n"), ""}} {
		path := filepath.Join(t.TempDir(), "weir")
		if err := os.WriteFile(path, c.content, 0o755); err != nil {
			t.Fatal(err)
		}
		if got := MachineOf(path); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
