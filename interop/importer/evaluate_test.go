package importer_test

import (
	"strings"
	"testing"
)

// Values of a script are those that bash has, or the line is told; each want is what bash gives.
func TestValuesAsOfBash(t *testing.T) {
	const u = "ucx_perftest h -t tag_bw -s "
	for _, c := range []struct{ script, want string }{
		{"i=4; for x in a b; do " + u + "$((10 * i++)); done; " + u + "$i", "40 50 6"},
		{"i=0; a=(2 4 8); " + u + "${a[i++]}; " + u + "${a[i++]}; " + u + "${a[$((i))]}", "2 4 8"},
		{u + "$((0x10)); " + u + "$((010)); O=011; " + u + "$((O))", "16 8 9"},
		{u + "$((2#101)); n=012; " + u + "$((10#$n))", "5 12"},
		{u + "$((~0 & 0xff)); " + u + "$((n = 4, n * 2)); " + u + "$n", "255 8 4"},
		{"n=3; while ((n--)); do " + u + "$((n + 1)); done", "3 2 1"},
		{"e=3+4; " + u + "$((e * 2))", `"$((e * 2))"`},
		{"f() { local e=3+4; echo $((e * 2)); }; " + u + "$(f)", `"$(f)"`},
		{"e=08; " + u + "$((e + 1))", `"$((e + 1))"`},
		{u + "$((1 << 65))", `"$((1 << 65))"`},
		{"p() { local n=$1 r=1; while ((n-- > 0)); do r=$((r * 2)); done; echo $r; }; " + u + "$(p 3)", "8"},
		{"p() { for ((i = $1; i <= $2; i++)); do echo $i; done; }; for s in $(p 2 4); do " + u + "$s; done", "2 3 4"},
		{"b() { if [ $1 -gt 2 ]; then echo 8; else echo 4; fi; }; " + u + "$(b 1); [ $(b 3) = 8 ] && " + u + "2",
			"4 2"},
		{"x=$(y=1; while :; do y=$y$y; done); " + u + "$x", `"$x"`},
		{"x=$(y=1" + strings.Repeat("; y=$y$y", 40) + "; echo 8); " + u + "$x", `"$x"`},
		{"x=$(y=1; for i in {1..99}; do y+=$y; done; echo 8); " + u + "$x", `"$x"`},
		{"x=$(for i in 1; do while [ 1 ]; do i=$i$i; done; done); " + u + "$x", `"$x"`},
		{"x=$(y=; for i in 4 8; do y+=$i; done; echo $y); " + u + "$x", "48"},
		{"f() { g $1$1; }; g() { f $1$1; }; " + u + "$(f 1)", `"$(f 1)"`},
		{"f() { f $1$1; }; " + u + "$(f 1)", `"$(f 1)"`},
		{"x() { local v=1; for i in {1..99}; do v=$v$v; done; echo 8; }; " + u + "$(x)", `"$(x)"`},
		{"a=([2]=4 [5]=8); a+=(16); unset 'a[2]'; for i in ${!a[@]}; do " + u + "${a[i]}$i; done", "85 166"},
		{"declare -A c; c[x]=8; c[x]+=1; " + u + "${c[x]}; [ -n \"${c[y]}\" ] && " + u + "2", "81"},
		{"a=(4 8); a[1]+=1; " + u + "${a[1]}; ((a[0] += 1)); " + u + "${a[0]}", `"${a[0]}"`},
		{"for x in t@8k u@4; do [[ $x =~ @([0-9]+)(k?) ]]; s=${BASH_REMATCH[1]}; [[ ${BASH_REMATCH[2]} ]] && s=$((s * 2)); " +
			u + "$s; done", "16 4"},
		{"v=abc4096; " + u + "${v:3}; " + u + "${v: -4:2}", "4Ki 40"},
		{"a=(1 2 3); " + u + "${a[@]: -1}; b=(${a[@]/2/22}); " + u + "${b[1]}", "3 22"},
		{"a=(1 2); b=(${a[@]/%/00}); " + u + "${b[1]}", `"${b[1]}"`},
		{"IFS=,; a=,4,; for s in $a; do " + u + "$s; done", `"$s"`},
		{"r() { local OPTIND=1 s=4 o; while getopts s:v o; do case $o in s) s=$OPTARG;; esac; done; shift $((OPTIND - 1)); " +
			u + "$s$1; }; r -s 8 1; r -v 2", "81 42"},
		{"printf -v 'a[1]' %d 8; " + u + "${a[1]}; printf -v x -- '-s %d' 4; ucx_perftest h -t tag_bw $x", "8 4"},
		{"x=$(printf %1000000000d 1); " + u + "$x", `"$x"`},
		{"x=$(printf -- %q 8); " + u + "$x", `"$x"`},
		{"x=$(printf %*d 9 8); " + u + "$x", `"$x"`},
		{"x=$(echo ~/8); " + u + "${x#\\~/}", "8"},
		{"[ x -eq 0 ] || " + u + "8", "8"},
		{"for s in {1024..4096..1024}; do " + u + "$s; done", "1Ki 2Ki 3Ki 4Ki"},
		{"for s in $(seq -f '%03g' 8 9) $(seq -f %.0f 1 2); do " + u + "1$s; done", "1008 1009 11 12"},
		{"f() { local -n a=$1; for s in ${a[@]}; do " + u + "$s; done; }; x=(4 8); f x", "4 8"},
	} {
		got := sizesOf(t, c.script)
		if told := strings.HasPrefix(c.want, `"`) && strings.Contains(got, c.want); got != c.want && !told {
			t.Errorf("%s: %s, want %s", c.script, got, c.want)
		}
	}
}
