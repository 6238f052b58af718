package importer

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// tell keeps the fate of a command. All passes of a loop have one.
func (s *script) tell(n syntax.Node, command, became string) *Fate {
	if f := s.fateOf[n]; f != nil {
		return f
	}
	if s.fateOf == nil {
		s.fateOf = map[syntax.Node]*Fate{}
	}
	f := &Fate{Line: s.lineOf(n), Command: command, Became: became}
	s.fates, s.fateOf[n] = append(s.fates, f), f
	return f
}

// unread tells the fate of a command that calls no tool.
func (s *script) unread(text string, n *syntax.CallExpr, written, words []string) {
	command := strings.Join(written, " ")
	if file := s.writes(text, n); file != "" {
		const lost = "writes %s, and the scenario does not: a command of setup can"
		fate := s.tell(n, command, fmt.Sprintf("nothing: it "+lost, file))
		s.keepFile(text, n, file, fate, s.lose("line %d "+lost, s.lineOf(n), file))
		return
	}
	if len(words) == 0 { // all of them are empty variables
		s.tell(n, command, measuresNothing)
		return
	}
	if s.ofOtherFile(n, command, words) {
		return
	}
	if strings.HasPrefix(words[0], "-") {
		s.tell(n, command, "nothing: a shell runs it as a command of its own, since a comment or a line without \\ ends the one before")
		s.lose("line %d begins with %s: a shell takes it for a command of its own, so no flag of the command before, "+
			"which ends at a comment or a line without \\", s.lineOf(n), words[0])
		return
	}
	became := s.fateOfOther(words)
	isFlag := func(w string) bool { return strings.HasPrefix(w, "-") }
	if unexpanded(words[0]) && slices.ContainsFunc(words[1:], isFlag) {
		became = "nothing: only the shell knows what it runs"
		s.lose("line %d: only the shell knows which program %s is; the scenario does not run it", s.lineOf(n), words[0])
	}
	if name := path.Base(words[0]); (name == "awk" || name == "gawk" || name == "jq") && judges().MatchString(command) {
		s.lose("line %d judges what programs print, and the scenario does not: write that as an assertion, for example "+
			"assert: [bandwidth >= 90 Gb/s]", s.lineOf(n))
	}
	named, runs := s.namedIn(words)
	name := path.Base(words[0])
	says := "it names " + named + ", but weir does not know what " + name + " does with it"
	switch in := s.inManifest(text, n, words); {
	case in != "":
		s.refuse(n, command, "weir does not read manifests, and this one runs "+in)
	case slices.Contains(runsTexts, name) && s.mentioned(s.unknownSource(n)):
		s.refuse(n, command, "weir does not know the commands that "+name+" reads")
	case became != noBenchmark && name != "trap" || named == "":
		s.tell(n, command, became)
		s.others = append(s.others, otherCommand{n, became, strings.Join(words, " "), len(s.lines), s.around > 0})
	case runs:
		s.refuse(n, command, says)
	default:
		s.tell(n, command, "nothing: "+says)
	}
}

// judges matches a program of awk that exits by a comparison, and a call of jq that fails by its result.
var judges = lazyregexp.New(`(?s)[<>=!]=?.*\bexit\b|\bexit\b.*[<>]|^\S*jq .*(?:-\w*e\w*|--exit-status)\b`)

// ofOtherFile tells of a line of a Makefile or of a workflow, which is no command of a shell.
func (s *script) ofOtherFile(n *syntax.CallExpr, command string, words []string) bool {
	rest, why := words, ""
	switch first := words[0]; {
	case first == "-" && len(words) > 1 && strings.HasSuffix(words[1], ":"):
		rest, why = words[2:], "weir reads no steps of a workflow"
	case strings.HasSuffix(first, ":") && first != ":":
		rest, why = words[1:], "weir reads no keys of a workflow and no rules of a Makefile"
	case strings.HasPrefix(first, "@"):
		rest = slices.Concat([]string{strings.TrimLeft(first, "@-+")}, words[1:])
		why = "weir reads no recipes of a Makefile"
	default:
		return false
	}
	if t, _, _ := s.find(rest); t != nil {
		s.refuse(n, command, why+": write the command of "+t.name+" as a line of its own")
	} else {
		s.tell(n, command, "nothing: "+why)
	}
	return true
}

// refuse tells that a command which runs a tool is not imported.
func (s *script) refuse(n *syntax.CallExpr, command, why string) {
	at := s.prefix()
	if s.file != "" {
		at = fmt.Sprintf("%s:%d: ", s.file, s.lineOf(n))
	}
	s.tell(n, command, "nothing: "+why).wrong = errors.New(at + why)
}

// runsOthers are programs that run the command in their arguments.
var runsOthers = names("xargs|parallel|parallel-ssh|pssh|tmux|screen|watch|trap|at|find|hyperfine|su|script|flock|chroot|" +
	"bwrap|cgexec|doas|entr|bsub|qsub|rsh|dsh|expect|dtach")

// namedIn returns the program of a tool that the arguments of a command name, and whether the command runs it.
func (s *script) namedIn(words []string) (program string, runs bool) {
	other := slices.Contains(runsOthers, path.Base(words[0]))
	for i, w := range words[1:] {
		for _, t := range s.tools {
			for _, called := range t.called() {
				name, rest, isText := strings.Fields(called), words[i+1:], false
				if fields := strings.Fields(w); len(fields) > 1 {
					at := slices.IndexFunc(fields, func(f string) bool { return path.Base(f) == name[0] })
					rest, isText = fields[max(at, 0):], at > 0
				}
				if startsWith(rest, name) && len(called) > len(program) {
					flags := slices.ContainsFunc(rest, func(w string) bool { return strings.HasPrefix(w, "-") })
					program, runs = called, other || flags && !isText
				}
			}
		}
	}
	return program, runs
}

// lose warns of what the scenario does not do.
func (s *script) lose(format string, args ...any) Note {
	n := Note{fmt.Sprintf(format, args...), true}
	if !slices.Contains(s.lost, n) {
		s.lost = append(s.lost, n)
	}
	return n
}

const (
	measuresNothing = "nothing: it measures nothing"
	readsOutput     = "nothing: weir reads what programs print itself"
	preparesHost    = "nothing: it prepares the host; see checks and services"
	laterLines      = "variables of later lines"
	noBenchmark     = "nothing: no benchmark that weir reads"
)

// fatesOfOthers are the fates of commands that are no benchmarks.
var fatesOfOthers = map[string]string{
	"source|.":   "nothing: weir reads a file that lies beside the script; what another exports belongs into env of the runs",
	"sleep|wait": "nothing: weir waits for the end of each run, and until its services are ready",

	"echo|printf|cd|set|shift|seq|mkdir|date|tee|cat|module|ls|rm|cp|mv|touch|chmod|exit|return": measuresNothing,
	"break|continue|true|false|:|[|test|read|unset|trap|kill|pkill|killall|pgrep|which|command":  measuresNothing,
	"type|ulimit|shopt|hostname|lscpu|nvidia-smi|ibstat|ibv_devinfo|ibdev2netdev|lspci|uname":    measuresNothing,
	"free|df|clear|pushd|popd|local|getopts|man":                                                 measuresNothing,

	"grep|egrep|awk|gawk|sed|cut|head|tail|sort|uniq|tr|wc|jq|bc|column|paste|less|more|nl": readsOutput,

	"pip|pip3|apt-get|apt|yum|dnf|conda|git|make|cmake|docker|podman|helm|wget|tar|unzip": preparesHost,
	"modprobe|sysctl|mount": preparesHost,

	"kubectl|oc": "nothing: weir starts and removes its own objects, see launcher and services",
	"etcdctl":    "nothing: option etcd of workload command starts an etcd of its own",
}

func fateOfName(name string) string {
	for of, says := range fatesOfOthers {
		if slices.Contains(names(of), name) {
			return says
		}
	}
	return noBenchmark
}

// fateOfOther is the fate of a command that is no benchmark.
func (s *script) fateOfOther(words []string) string {
	name := path.Base(words[0])
	became := fateOfName(name)
	if name == "sed" && slices.Contains(words, "-i") {
		return preparesHost
	}
	if in := withOperands[name]; in.entry != "" && len(words) > 1 && slices.Contains(in.runs, words[1]) {
		became = "nothing: no command of a benchmark that weir reads follows the container"
	}
	if startsModel(words) {
		return "nothing: it starts a server of a model; services of a scenario do"
	}
	if became != noBenchmark {
		return became
	}
	if of, ok := textArgument(words); ok {
		if unexpanded(of.text) {
			return "nothing: only the shell knows what it runs"
		}
		return became
	}
	if (name == "bash" || name == "sh") && len(words) > 1 || strings.HasSuffix(words[0], ".sh") {
		return "nothing: the file is not read; import it by itself"
	}
	return became
}

// informs are flags with which programs of tools say something and end; those of one letter if they are alone.
var informs = names("--version|--help|-help|-version|--enghelp|--cmdhelp|--showcmd|--parse-only|-h|-v|-V")

// measuresNot returns the fate of a call of a tool that measures nothing; "": it does.
func (l *Line) measuresNot() string {
	of := readCurl(l.args)
	switch {
	case l.tool == curl && !of.loads() && of.sends:
		return "nothing: weir loads /v1/completions and /v1/chat/completions alone"
	case l.tool == curl && !of.loads():
		return "nothing: it measures nothing, since it asks no model"
	case l.tool == fio && slices.ContainsFunc(l.args, func(w string) bool { return strings.HasPrefix(w, "--server") }):
		return "nothing: it starts a server"
	case l.tool != curl && slices.ContainsFunc(l.args, func(w string) bool {
		flag, _, _ := strings.Cut(w, "=")
		return slices.Contains(informs, flag) && (len(flag) > 2 || len(l.args) == 1)
	}):
		return measuresNothing
	}
	return ""
}

// startsModel reports whether a command starts a server of a model.
func startsModel(words []string) bool {
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch name := path.Base(w); {
		case name == "vllm" && next == "serve", name == "trtllm-serve", name == "llama-server",
			w == "-m" && slices.Contains(modelServers, next):
			return true
		}
	}
	return false
}

// modelServers are modules of Python that start one.
var modelServers = names("sglang.launch_server|vllm.entrypoints.openai.api_server|dynamo.frontend|dynamo.vllm|dynamo.sglang")

// tellCommand tells the fate of a command that is not read as a call.
func (s *script) tellCommand(text string, n *syntax.CallExpr, became string) {
	if s.any {
		s.tell(n, strings.Join(asWritten(text, n), " "), became)
	}
}

// tellUnreached tells the commands that do not run with the values that are known.
func (s *script) tellUnreached(text string, f *syntax.File) {
	if !s.any {
		return
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		if n, ok := n.(*syntax.CallExpr); ok && len(n.Args) > 0 && !s.reached[n] {
			s.tellCommand(text, n, "nothing: with the values of its variables the script does not reach it")
		}
		return true
	})
}

// tellGate tells of an exit with an error that depends on what a program printed: the scenario asserts nothing for it.
func (s *script) tellGate(at syntax.Node, conditions, branches []*syntax.Stmt) {
	fails := s.finds("", blockOf(branches), 0, func(_ string, c *syntax.CallExpr) bool {
		return len(c.Args) == 2 && c.Args[0].Lit() == "exit" && c.Args[1].Lit() != "0"
	})
	var of, reads []string
	for _, cond := range conditions {
		syntax.Walk(cond, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.ParamExp:
				if n.Param != nil && s.known.unknown(n.Param.Value) {
					of = append(of, "the value of "+n.Param.Value)
				}
			case *syntax.CallExpr:
				if len(n.Args) > 0 && fateOfName(path.Base(n.Args[0].Lit())) == readsOutput {
					reads = append(reads, "what "+path.Base(n.Args[0].Lit())+" reads")
				}
			}
			return true
		})
	}
	if len(of) == 0 {
		of = reads
	}
	slices.Sort(of)
	if of = slices.Compact(of); fails && len(of) > 0 {
		s.lost = slices.DeleteFunc(slices.Clone(s.lost), func(n Note) bool {
			return strings.HasPrefix(n.Text, fmt.Sprintf("line %d judges ", s.lineOf(at)))
		})
		s.lose("line %d fails the script by %s, and the scenario does not: write that as an assertion, "+
			"for example assert: [bandwidth >= 90 Gb/s]", s.lineOf(at), strings.Join(of, " and "))
	}
}
