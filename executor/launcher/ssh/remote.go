package ssh

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/executor/launcher"
)

// Answers of a host, each at the end of a line, after any output of a login shell.
const (
	started  = "weir-start"
	missing  = "weir-missing" // followed by uname -m
	copied   = "weir-copied"
	unusable = "weir-unusable"
)

// maxChatter is the largest output of a login shell before the answer, in bytes.
const maxChatter = 64 << 10

// mark is a variable in the environment of an agent and its children, by which Reap finds them. The slashes
// separate IDs that are prefixes of others.
func mark(session string) string { return "WEIR_LAUNCH=/" + session + "/" }

// program is weir's file on the hosts.
type program struct {
	path             string // for the shell of a host; may contain variables
	launcher.Program        // empty: it is not copied
}

func (l *Launcher) copyOf(r launcher.Request) (program, error) {
	if l.Remote != "" {
		return program{path: l.Remote}, nil
	}
	p, err := launcher.ReadProgram(r.Binary)
	return program{cache + "/" + p.Sum + "/weir", p}, err
}

// cache is the directory of copies of weir on a host, each in a directory with its SHA-256.
const cache = "${XDG_CACHE_HOME:-$HOME/.cache}/weir"

// command is a command line for any login shell: csh and fish support exec and single quotes too, if the
// quoted text has no single quote, backslash, exclamation mark or line break.
func command(script string) string {
	words := strings.Join(strings.Fields(script), " ")
	if strings.ContainsAny(words, `'\!`) {
		panic("ssh: a script that is not portable: " + words)
	}
	return "exec /bin/sh -c '" + words + "'"
}

// start is the script that starts the agent. The environment comes from stdin, as all users of the host can read
// arguments; the shell's read consumes single bytes, so that the rest of stdin is left.
func (p program) start(r launcher.Request) string {
	return command(fmt.Sprintf(`w="%s";
		if [ -x "$w" ]; then touch -c "$w" 2>/dev/null; echo %s; else echo "%s $(uname -m)"; exit 0; fi;
		while IFS= read -r v && [ -n "$v" ]; do export "$v"; done;
		export %s; exec "$w" %s`,
		p.path, started, missing, mark(r.Session), strings.Join(r.AgentArguments("-"), " ")))
}

// receive is the script that stores a copy of weir, and renames it when it is complete and starts. The token
// makes names unique for hosts with a common home directory. Copies that were unused for a month are removed.
func (p program) receive(token string) string {
	return command(fmt.Sprintf(`umask 077; c="%s"; d="$c/%s"; t="$d/weir.%s";
		mkdir -p "$d" || exit 1;
		cat >"$t" && [ $(wc -c <"$t") -eq %d ] && { s=$(sha256sum <"$t") || s=%[2]s; case "$s" in %[2]s*) true;; *) false;; esac; } && chmod 700 "$t" ||
		{ rm -f "$t"; exit 1; };
		if "$t" version </dev/null >"$t.out" 2>&1; then mv -f "$t" "$d/weir" && echo %[5]s; else echo %[6]s; cat "$t.out" >&2; fi;
		rm -f "$t" "$t.out";
		find "$c" -mindepth 2 -maxdepth 2 -name "weir*" -mtime +30 -exec rm -f {} + 2>/dev/null`,
		cache, p.Sum, token, p.Size, copied, unusable))
}

// reap is the script that ends all processes with the session's mark: SIGTERM, later SIGKILL.
func reap(session string) string {
	return command(fmt.Sprintf(`
		all() { for p in /proc/[0-9]*; do if grep -qF %s "$p/environ" 2>/dev/null; then echo "${p#/proc/}"; fi; done; };
		n=0; for s in TERM 0 0 0 0 KILL 0 0; do
		p=$(all); if [ -z "$p" ]; then break; fi; n=1;
		kill -$s $p 2>/dev/null; sleep 1; done;
		if [ -n "$(all)" ]; then echo "processes are left:" $(all) >&2; exit 1; fi; echo weir-reaped $n`, mark(session)))
}
