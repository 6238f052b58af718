package reporters

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
)

// A command on several lines fits the terminal, and a shell reads it as the one that it is.
func TestLongCommandsStayCommands(t *testing.T) {
	key := "'a-run-of-a-long-name[batch=1,block_size=1MiB,op=write,sim_latency=25us,sim_noise=1%]'"
	command := "echo run 'a file.yaml' --disturbed keep --only " + key + " --only 'b[x=1]' --launches 5"
	for _, width := range []int{40, 60, 80, 200} {
		look := terminal{Look: Look{Width: width}}
		look.again(command, true)
		for line := range strings.Lines(look.out.String()) {
			if n := text.StringWidth(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns in %d: %s", n, width, line)
			}
		}
		script := strings.TrimPrefix(look.out.String(), "    again: ")
		got, err := exec.Command("sh", "-c", script).Output()
		want, _ := exec.Command("sh", "-c", command).Output()
		if err != nil || string(got) != string(want) {
			t.Errorf("at %d columns a shell reads %s, %v, of\n%s", width, got, err, script)
		}
	}
	whole := terminal{}
	whole.again(command, true)
	if whole.out.String() != "    again: "+command+"\n" {
		t.Errorf("without a terminal it is %s", whole.out.String())
	}
}
