package importer_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// Commands that other commands run are followed, with their arguments and variables, or refused: none is lost.
func TestCommandsOfOthers(t *testing.T) {
	const u = "ucx_perftest h -t tag_bw -s "
	const unknown = "x.sh:1: it names ucx_perftest, but weir does not know what "
	for _, c := range []struct{ script, want string }{
		{"command " + u + "8; \\ucx_perftest h -t tag_bw -s 4", "8 4"},
		{"$(which ucx_perftest) h -t tag_bw -s 8; $(command -v ucx_perftest) h -t tag_bw -s 4", "8 4"},
		{"su - user -c '" + u + "8'; runuser -l u --command '" + u + "4'", "8 4"},
		{"script -q -c '" + u + "8' /dev/null; script -qc '" + u + "4'", "8 4"},
		{"sbatch --wrap='" + u + "8'; sbatch -N 2 --wrap '" + u + "4' --time=1", "8 4"},
		{"flock /tmp/l " + u + "8; flock -n /tmp/l -c '" + u + "4'", "8 4"},
		{"bash -c '" + u + "$1$0' 8 9; S=4; bash -lc '" + u + "$2' x y $S", "98 4"},
		{"bash -c '" + u + "$1' x $X", `"$X"`},
		{"bash -c '" + u + "$S'", `"$S"`},
		{"export S=8; srun bash -c '" + u + "$S'; S=4; sh -c '" + u + "${S}1'", "8 41"},
		{"export S=8; ssh h2 '" + u + "$S'", `"$S"`},
		{"seq 4 | xargs -n 2 bash -c '" + u + "$0$1'", "12 34"},
		{"bash -s 8 <<'E'\n" + u + "$1\nE", "8"},
		{"S=8; ssh h2 <<E\n" + u + "$S\n" + u + "$X\nE", `"$X"`},
		{"cat > run.sh <<'E'\n" + u + "$1\nE\nchmod +x run.sh; ./run.sh 8; bash -x ./run.sh 4", "8 4"},
		{"S=2; cat <<E > a\n" + u + "$S\\$1\nE\nS=1; cat >> a <<E\n" + u + "${S}6\nE\nsbatch -N 1 a 4", "24 16"},
		{"cat > env <<E\nS=8\nE\n. ./env; " + u + "$S", "8"},
		{"cat > a <<E\n" + u + "8\nE\ncat > a <<E\n" + u + "4\nE\nbash a", "4"},
		{"tmux new -d '" + u + "8'", unknown + "tmux"},
		{"screen -dmS n " + u + "8", unknown + "screen"},
		{"trap '" + u + "8' EXIT", unknown + "trap"},
		{"watch ucx_perftest", unknown + "watch"},
		{"mine " + u + "8", unknown + "mine"},
		{"cat l | xargs " + u, unknown + "xargs"},
		{"ls | while read a; do echo $a; done | xargs -n1 " + u, unknown + "xargs"},
		{"echo 'a b\"c' | xargs -n1 " + u, unknown + "xargs"},
		{"echo \"" + u + "$X\" | bash", "x.sh:1: weir does not know the commands that bash reads"},
		{"bash -c 'if " + u + "8'", "x.sh:1: it is no text of a shell: "},
	} {
		got, isError := sizesOf(t, c.script), strings.ContainsAny(c.want, `":`)
		if got != c.want && !(isError && strings.Contains(got, c.want)) {
			t.Errorf("%s: %s, want %s", c.script, got, c.want)
		}
	}
	script := "cat > run.sh <<'E'\n" + u + "8\nE\n\nbash run.sh"
	made := scenarioOf(t, script, importer.Options{}, []string{"block_size: 8B"})
	f := made.Fates
	if f[0].Became != "file run.sh, read where a later line uses it" || f[1].Line != 5 || len(made.Notes) > 1 {
		t.Errorf("%+v, %+v, %v", f[0], f[1], made.Notes)
	}
	skipped, err := importer.Script("x.sh", "watch "+u+"8\n"+u+"4\n", importer.Options{SkipUnmapped: true})
	if want := strings.TrimPrefix(unknown, "x.sh:1: ") + "watch does with it"; err != nil ||
		skipped.Fates[0].Became != "nothing: "+want {
		t.Errorf("%v: %+v", err, skipped.Fates[0])
	}
	_, err = importer.Script("x.sh", "\n$VLLM bench serve --model m --nosuch\npython3 -m vllm.entrypoints.cli.main bench "+
		"serve --model m --nosuch\n", importer.Options{})
	if err == nil || !strings.Contains(err.Error(), "x.sh:2: vllm-bench has no flag --nosuch") ||
		!strings.Contains(err.Error(), "x.sh:3: vllm-bench has no flag --nosuch") {
		t.Error(err)
	}
}
