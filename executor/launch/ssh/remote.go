package ssh

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"weir/executor/launch"
)

// What a host answers, each at the end of a line: what a login shell may have
// written before it is not ours.
const (
	started  = "weir-start"
	missing  = "weir-missing" // and the machine's name follows, as uname -m has it
	copied   = "weir-copied"
	unusable = "weir-unusable"
)

// maxChatter is how much a login shell may write before it comes to the point, in bytes.
const maxChatter = 64 << 10

// mark is a variable of an agent's environment, and so of all that it starts, by which
// it is found again: a session's id between slashes, so that none is part of another.
func mark(session string) string { return "WEIR_LAUNCH=/" + session + "/" }

// program is weir's file on the hosts.
type program struct {
	path string // for the shell of a host; may hold variables
	sum  string // SHA-256; "": it is there already, nobody copies
	file string // here
	size int64
}

func (l *Launcher) copyOf(r launch.Request) (program, error) {
	if l.Remote != "" {
		return program{path: l.Remote}, nil
	}
	f, err := os.Open(r.Binary)
	if err != nil {
		return program{}, fmt.Errorf("reading weir's own file: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err != nil {
		return program{}, fmt.Errorf("reading weir's own file: %w", err)
	}
	sum := hex.EncodeToString(h.Sum(nil))
	return program{path: cache + "/" + sum + "/weir", sum: sum, file: r.Binary, size: size}, nil
}

// cache is where copies of weir are kept on a host, each below its own SHA-256.
const cache = "${XDG_CACHE_HOME:-$HOME/.cache}/weir"

// command is what ssh gives to the login shell of a host, which may be any: csh and fish
// know exec and single quotes too, if there is none of these within them and no
// backslash, exclamation mark or line break.
func command(script string) string {
	words := strings.Join(strings.Fields(script), " ")
	if strings.ContainsAny(words, `'\!`) {
		panic("ssh: a script that not every shell would take: " + words)
	}
	return "exec /bin/sh -c '" + words + "'"
}

// start becomes the agent. The environment comes by standard input, as arguments can be
// seen by everybody on the host; read takes single bytes, so what follows is left.
func (p program) start(r launch.Request) string {
	return command(fmt.Sprintf(`w="%s";
		if [ -x "$w" ]; then touch -c "$w" 2>/dev/null; echo %s; else echo "%s $(uname -m)"; exit 0; fi;
		while IFS= read -r v && [ -n "$v" ]; do export "$v"; done;
		export %s; exec "$w" %s`,
		p.path, started, missing, mark(r.Session), strings.Join(r.AgentArguments("-"), " ")))
}

// receive takes a copy of weir: whole, able to start, and under its name only then.
// Several hosts with one home directory may do so at once, each with a name of its own.
// Copies that were not used for a month go.
func (p program) receive(token string) string {
	return command(fmt.Sprintf(`umask 077; c="%s"; d="$c/%s"; t="$d/weir.%s";
		mkdir -p "$d" || exit 1;
		cat >"$t" && [ $(wc -c <"$t") -eq %d ] && { s=$(sha256sum <"$t") || s=%[2]s; case "$s" in %[2]s*) true;; *) false;; esac; } && chmod 700 "$t" ||
		{ rm -f "$t"; exit 1; };
		if "$t" version </dev/null >"$t.out" 2>&1; then mv -f "$t" "$d/weir" && echo %[5]s; else echo %[6]s; cat "$t.out" >&2; fi;
		rm -f "$t" "$t.out";
		find "$c" -mindepth 2 -maxdepth 2 -name "weir*" -mtime +30 -exec rm -f {} + 2>/dev/null`,
		cache, p.sum, token, p.size, copied, unusable))
}

// reap ends everything that has the session's mark, first in a friendly way.
func reap(session string) string {
	return command(fmt.Sprintf(`
		all() { for p in /proc/[0-9]*; do if grep -qF %s "$p/environ" 2>/dev/null; then echo "${p#/proc/}"; fi; done; };
		n=0; for s in TERM 0 0 0 0 KILL 0 0; do
		p=$(all); if [ -z "$p" ]; then break; fi; n=1;
		kill -$s $p 2>/dev/null; sleep 1; done;
		if [ -n "$(all)" ]; then echo "processes are left:" $(all) >&2; exit 1; fi; echo weir-reaped $n`, mark(session)))
}
