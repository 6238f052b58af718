package importer

import (
	"path"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// wrappers are programs that start the one after them.
var wrappers = names("kubectl|oc|docker|docker-compose|podman|nerdctl|apptainer|singularity|enroot|mpirun|mpiexec|mpiexec.hydra|orterun|" +
	"srun|salloc|sbatch|flux|jsrun|aprun|numactl|taskset|env|timeout|sudo|time|nohup|exec|stdbuf|unbuffer|setsid|ssh|" +
	"sshpass|pdsh|clush|chrt|nice|ionice|prlimit|ip|nsenter|unshare|systemd-run|nsys|ncu|perf|strace|gdb|catchsegv|" +
	"su|runuser|script|flock|dash|zsh|ksh|" +
	"python|python3|torchrun|accelerate|uv|uvx|poetry|pipx|conda|mamba|micromamba|bash|sh")

var (
	assignment = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_]*)=(?s:(.*))$`)
	upperCase  = lazyregexp.New(`^[A-Z0-9_]+=`)
)

// operandsOf are wrappers with words of their own before the command that they start, such as an image or a host: the
// flags with a value, or those without one, and the subcommands that start a command.
type operandsOf struct {
	runs          []string // subcommands; nil: it has none
	valued        []string // flags with a value
	plain         []string // flags without a value; nil: all but the valued ones
	plainLetters  string   // of flags without a value that share a word
	entry         string   // the flag that names the program instead
	carriesNoVars bool     // the command has none of the script's variables
}

var (
	container = operandsOf{
		runs: names("run|exec"), plainLetters: "itdPqT", entry: "--entrypoint", carriesNoVars: true,
		plain: names("--rm|--privileged|--init|--read-only|--interactive|--tty|--detach|--publish-all|--quiet|--sig-proxy|" +
			"--oom-kill-disable|--no-healthcheck|--disable-content-trust|--no-deps|--replace|--no-TTY|--service-ports|--build"),
	}
	pod = operandsOf{
		runs: names("exec"), carriesNoVars: true, plain: names("--stdin|--tty|--quiet"), plainLetters: "itq",
	}
	withOperands = map[string]operandsOf{
		"docker": container, "docker-compose": container, "podman": container, "nerdctl": container,
		"kubectl": pod, "oc": pod,
		"ssh": {
			valued:        names("-i|-p|-o|-l|-F|-J|-L|-R|-D|-b|-c|-E|-e|-I|-m|-O|-Q|-S|-W|-w|-B"),
			carriesNoVars: true,
		},
	}
)

// commandStart returns the place of the first word after those of a container or a host, and that of the word that
// names the program instead; -1: none.
func commandStart(words []string) (start, entry int) {
	entry = -1
	for at, w := range words {
		of, ok := withOperands[path.Base(w)]
		if !ok || at > start && !isWrapper(words[at-1]) && !startsCommand(words, at) {
			continue
		}
		i := at + 1
		if of.runs != nil {
			for i < len(words) && !slices.Contains(of.runs, words[i]) {
				i++
			}
			i++
		}
		found := -1
		for i < len(words) && strings.HasPrefix(words[i], "-") && words[i] != "--" {
			name, _, joined := strings.Cut(words[i], "=")
			if name == of.entry && of.entry != "" {
				found = i
			}
			if i++; !joined && of.takes(name) {
				i++
			}
		}
		if i >= len(words) {
			continue
		}
		if words[i] == "--" {
			start = i + 1
		} else {
			start = i + 1
			if start < len(words) && words[start] == "--" {
				start++
			}
		}
		if found >= 0 {
			entry = found
		}
	}
	return start, entry
}

// startsCommand reports whether a word is the first one of the command that the words before it start.
func startsCommand(words []string, at int) bool {
	for _, w := range words[:at] {
		if launcherOf(w) != "" || slices.Contains(names("sudo|timeout|env|time|nohup|sshpass"), path.Base(w)) {
			return true
		}
	}
	return false
}

// takes reports whether a flag has the next word as its value.
func (of operandsOf) takes(name string) bool {
	switch {
	case of.valued != nil:
		return slices.Contains(of.valued, name)
	case strings.HasPrefix(name, "--"):
		return !slices.Contains(of.plain, name)
	case strings.Trim(name[1:], of.plainLetters) == "":
		return false
	}
	return len(name) == 2 // else the value is in the word
}

// unwrapped returns the words with the program that --entrypoint names behind the image.
func unwrapped(words []string) []string {
	start, entry := commandStart(words)
	if entry < 0 || start > len(words) {
		return words
	}
	name, value, joined := strings.Cut(words[entry], "=")
	if !joined && name != "" {
		value = words[entry+1]
	}
	return slices.Concat(words[:start], []string{value}, words[start:])
}

// before reads the words before the tool's name: variables after env, or after -x of mpirun, or
// with names in capitals. It ignores the rest.
func (l *Line) before(words []string) {
	var others []string
	sets, passes := false, false
	var dropped []string
	if by := isolating(words); by != "" && len(l.env) > 0 {
		for _, v := range l.env {
			dropped = append(dropped, v.Name)
		}
		before := l.env
		l.env = nil
		for i, w := range words {
			if i > 0 && (words[i-1] == "-e" || words[i-1] == "--env") {
				at := slices.IndexFunc(before, func(v Variable) bool { return v.Name == w })
				if at >= 0 {
					l.env = append(l.env, before[at])
					dropped = slices.DeleteFunc(dropped, func(name string) bool { return name == w })
				}
			}
		}
		if len(dropped) > 0 {
			l.notes = append(l.notes, Note{by + " does not pass on variables of the script: " +
				strings.Join(dropped, ", "), true})
		}
	}
	l.unset(words)
	for i, w := range words {
		list := []string{w}
		for _, flag := range []string{"--env=", "-e", "--export="} {
			if of, ok := strings.CutPrefix(w, flag); ok {
				list = strings.Split(of, ",")
				if flag != "--export=" {
					list = []string{of}
				}
				break
			}
		}
		if passes {
			l.setEnv(words[i-1], w)
			passes = false
			continue
		}
		if i > 0 && (words[i-1] == "-genv" || words[i-1] == "-env") {
			passes = true
			continue
		}
		found := false
		for _, one := range list {
			m := assignment().FindStringSubmatch(one)
			if m != nil && (sets || len(list) > 1 || upperCase().MatchString(one)) {
				l.setEnv(m[1], m[2])
				found = true
			}
		}
		if found {
			sets = true
			continue
		}
		sets = path.Base(w) == "env" || w == "-x"
		others = append(others, w)
	}
	if found := launcherCallOf(words); found.by != "" {
		l.launch = found
	}
	l.ofWrappers = append(l.ofWrappers, skipped(others)...)
}

// unset removes the variables that env takes from the command behind it.
func (l *Line) unset(words []string) {
	at := slices.IndexFunc(words, func(w string) bool { return path.Base(w) == "env" })
	for i := at + 1; at >= 0 && i < len(words) && strings.HasPrefix(words[i], "-"); i++ {
		flag, name, joined := strings.Cut(words[i], "=")
		switch {
		case flag == "-i", flag == "-", flag == "--ignore-environment":
			l.env = nil
			continue
		case len(flag) > 2 && strings.HasPrefix(flag, "-u"):
			name = flag[2:]
		case flag != "-u" && flag != "--unset":
			continue
		case !joined && i+1 < len(words):
			i++
			name = words[i]
		}
		l.env = slices.DeleteFunc(l.env, func(v Variable) bool { return v.Name == name })
	}
}

// isolating returns the wrapper that gives a command none of the script's variables; "": none does.
func isolating(words []string) string {
	for i, w := range words {
		name := path.Base(w)
		switch {
		case i > 0 && !isWrapper(words[i-1]) && !startsCommand(words, i):
		case withOperands[name].carriesNoVars, name == "pdsh", name == "clush":
			return name
		case name == "sudo" && !slices.ContainsFunc(words[i:], func(w string) bool {
			return w == "-E" || strings.HasPrefix(w, "--preserve-env")
		}):
			return name
		}
	}
	return ""
}

// setEnv sets a variable of the call; the last value counts.
func (l *Line) setEnv(name, v string) {
	l.env = slices.DeleteFunc(l.env, func(e Variable) bool { return e.Name == name })
	l.env = append(l.env, Variable{Name: name, Value: v})
}

// find returns the tool that a command calls, the position of its name and the number of words of the
// name; nil if there is none. Of several names, the longest counts.
func (s *script) find(words []string) (found *tool, at, taken int) {
	if len(words) == 0 {
		return nil, 0, 0
	}
	from, to := 0, 1
	if wraps(words) { // words before it may also have the tool's name
		from, _ = commandStart(words)
		from, to = max(from, 1), len(words)
	}
	for _, t := range s.tools {
		for _, program := range t.called() {
			name := strings.Fields(program)
			for i := from; i < to; i++ {
				if len(name) > taken && startsWith(words[i:], name) && !isValue(words[from:], i-from, name) {
					found, at, taken = t, i, len(name)
				}
			}
		}
	}
	return found, at, taken
}

// isValue reports whether a name is the value of a flag, since it comes once more after it.
func isValue(words []string, at int, name []string) bool {
	if at == 0 || !strings.HasPrefix(words[at-1], "-") {
		return false
	}
	for i := at + 1; i < len(words); i++ {
		if startsWith(words[i:], name) {
			return true
		}
	}
	return false
}

// startsWith reports whether words begin with a program's name; paths of the first are of no account.
func startsWith(words, name []string) bool {
	if len(words) < len(name) || !slices.Equal(words[1:len(name)], name[1:]) {
		return false
	}
	return path.Base(words[0]) == name[0] || len(name) > 2 && unexpanded(words[0]) // $VLLM bench serve
}

func wraps(words []string) bool {
	return len(words) > 0 && isWrapper(words[0])
}

// mentioned reports whether a word is itself a command line of a tool.
func (s *script) mentioned(w string) bool {
	return strings.ContainsAny(w, " \t\n") && slices.ContainsFunc(s.tools, func(t *tool) bool {
		return slices.ContainsFunc(t.called(), func(p string) bool { return strings.Contains(w, p) })
	})
}
