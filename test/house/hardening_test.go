package house

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/phase"
)

// The program that make build makes is position-independent, its relocations are read-only once it runs, and its C
// checks the stack and the sizes of buffers.
func TestTheProgramIsHardened(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile(`\$\(GO\) build (.*) -ldflags .* -o bin/weir`).FindSubmatch(makefile)
	if flags == nil {
		t.Fatal("the Makefile does not build bin/weir as it did")
	}
	release, err := os.ReadFile("scripts/dist")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(release), "GOOS=linux GOARCH=$1 CGO_CFLAGS=\"-O2 -g0\" compile -buildmode=pie") {
		t.Error("scripts/dist makes no position-independent program")
	}
	path := filepath.Join(t.TempDir(), "weir")
	args := append(append([]string{"build"}, strings.Fields(string(flags[1]))...), "-o", path, "./cmd/weir")
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if file.Type != elf.ET_DYN {
		t.Errorf("it is %v, and not position-independent", file.Type)
	}
	has := func(tag elf.DynTag, bit uint64) bool {
		values, err := file.DynValue(tag)
		return err == nil && slices.ContainsFunc(values, func(v uint64) bool { return v&bit != 0 })
	}
	if !has(elf.DT_FLAGS, uint64(elf.DF_BIND_NOW)) && !has(elf.DT_FLAGS_1, uint64(elf.DF_1_NOW)) {
		t.Error("its symbols are not bound when it starts")
	}
	if !has(elf.DT_FLAGS_1, uint64(elf.DF_1_PIE)) {
		t.Error("it does not say that it is a position-independent program")
	}
	segment := func(kind elf.ProgType) *elf.Prog {
		i := slices.IndexFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == kind })
		if i < 0 {
			return &elf.Prog{ProgHeader: elf.ProgHeader{Flags: elf.PF_X}}
		}
		return file.Progs[i]
	}
	if segment(elf.PT_GNU_RELRO).Flags != elf.PF_R {
		t.Error("its relocations can be written")
	}
	if segment(elf.PT_GNU_STACK).Flags&elf.PF_X != 0 {
		t.Error("its stack can be executed")
	}
	symbols, err := file.ImportedSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for what, pattern := range map[string]string{"checks its stack": `^__stack_chk_fail$`, "is fortified": `_chk$`} {
		if !slices.ContainsFunc(symbols, func(s elf.ImportedSymbol) bool {
			return regexp.MustCompile(pattern).MatchString(s.Name)
		}) {
			t.Errorf("no C of it %s", what)
		}
	}
}
