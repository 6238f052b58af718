package importer

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// uses says what words or commands need to be evaluated, without evaluating them: package expand and package interp
// take what is not set for empty, and a text that is no number for 0.
type uses struct {
	of      variables
	known   bool            // every variable that they read has a value, and they only compute
	assumed bool            // a value follows from a default
	assigns bool            // words assign variables, as ${NAME:=DEFAULT} and $((i++))
	names   map[string]bool // of variables that they read
	own     map[string]bool // variables that the commands set before they read them
	texts   map[string]bool // those of own that are no numbers
	counted map[string]bool // arrays with names: all elements are counted or changed
	keyed   map[string]bool // arrays with names that are read otherwise
	within  []string        // functions around the node
	size    int             // expansions of texts
	each    map[string]bool // variables of loops over words
	growth  int             // how often a value may be in a text that follows from it
	ranges  int             // in braces
}

// usesOf returns what nodes need.
func (v variables) usesOf(all ...syntax.Node) *uses {
	u := &uses{
		of: v, known: true, growth: 1, names: map[string]bool{}, own: map[string]bool{}, texts: map[string]bool{},
		counted: map[string]bool{}, keyed: map[string]bool{}, each: map[string]bool{},
	}
	for _, n := range all {
		u.add(n)
	}
	return u
}

func (v variables) assumes(n syntax.Node) bool { return v.usesOf(n).assumed }

// defaultsIn returns the variables of a node that have a default, or follow from one.
func (v variables) defaultsIn(n syntax.Node) (all []string) {
	for name := range v.usesOf(n).names {
		if known, has := v[name]; known.assumed || !has && syntax.ValidName(name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

func (u *uses) add(top syntax.Node) {
	u.ownIn(top)
	syntax.Walk(top, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			for _, r := range braceRange().FindAllString(n.Value, -1) {
				u.ranges++
				u.require(u.ranges == 1 && shortRange(r))
			}
		case *syntax.ParamExp:
			u.parameter(n)
		case *syntax.ArithmExp:
			u.arithmetic(n.X)
			return false
		case *syntax.ArithmCmd:
			u.arithmetic(n.X)
			return false
		case *syntax.LetClause:
			for _, e := range n.Exprs {
				u.arithmetic(e)
			}
			return false
		case *syntax.ForClause:
			if loop, ok := n.Loop.(*syntax.CStyleLoop); ok {
				for _, e := range []syntax.ArithmExpr{loop.Init, loop.Cond, loop.Post} {
					u.require(e != nil)
					u.arithmetic(e)
				}
				u.loop(n.Do)
				return false
			}
			iter, ok := n.Loop.(*syntax.WordIter)
			if u.require(ok && !n.Select && iter.InPos.IsValid()); !ok {
				return false
			}
			u.words(iter.Items...)
			for _, w := range iter.Items {
				u.add(w)
			}
			name, sets := iter.Name.Value, variables{}
			sets.set(name, "", true)
			sets.forgetIn(&syntax.Block{Stmts: n.Do})
			u.each[name] = sets[name].Set
			u.loop(n.Do)
			delete(u.each, name)
			return false
		case *syntax.WhileClause:
			u.loop(slices.Concat(n.Cond, n.Do))
			return false
		case *syntax.Stmt:
			u.require(!n.Background && !n.Coprocess && !n.Disown)
			u.passesOn(n)
		case *syntax.Assign:
			u.assign(n)
			return false
		case *syntax.DeclClause:
			for _, a := range n.Args {
				u.require(a.Name != nil || slices.Contains([]string{"-a", "-A", "-r", "-x", "-g"}, litOf(a.Value)))
			}
		case *syntax.UnaryTest:
			u.require(n.Op != syntax.TsFdTerm && n.Op != syntax.TsOptSet && n.Op != syntax.TsRefVar)
			if w, ok := n.X.(*syntax.Word); ok && n.Op == syntax.TsVarSet {
				u.require(syntax.ValidName(w.Lit()))
				u.read(w.Lit(), true)
			}
		case *syntax.BinaryTest:
			w, _ := n.Y.(*syntax.Word)
			u.require(n.Op != syntax.TsReMatch || !quotes(w)) // which the interpreter takes for a pattern
			if x, ok := n.X.(*syntax.Word); ok && w != nil && slices.Contains(comparisons, n.Op.String()) {
				u.operand(x)
				u.operand(w)
				u.require(!syntax.ValidName(x.Lit()) && !syntax.ValidName(w.Lit()))
			}
		case *syntax.CallExpr:
			u.call(n)
		case *syntax.CmdSubst:
			u.require(!n.TempFile && !n.ReplyVar)
		case *syntax.ProcSubst, *syntax.ExtGlob, *syntax.CoprocClause, *syntax.TestDecl, *syntax.FuncDecl,
			*syntax.FlagsArithm:
			u.require(false)
			return false
		}
		return true
	})
}

func (u *uses) require(ok bool) { u.known = u.known && ok }

// ownIn keeps the variables that commands set by themselves.
func (u *uses) ownIn(top syntax.Node) {
	syntax.Walk(top, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.WordIter:
			u.own[n.Name.Value] = true
		case *syntax.Assign:
			if n.Name != nil && !n.Append && n.Index == nil && (n.Value == nil || !mentions(n.Value, n.Name.Value)) {
				u.own[n.Name.Value] = true
				text := unquotedWord(n.Value, func(syntax.WordPart) string { return "$" })
				if text != "" && text != "$" && !numeric().MatchString(text) {
					u.texts[n.Name.Value] = true
				}
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 && slices.Contains(names("read|mapfile|readarray|getopts"), n.Args[0].Lit()) {
				for _, w := range n.Args[1:] {
					u.own[w.Lit()] = u.own[w.Lit()] || syntax.ValidName(w.Lit())
				}
			}
		}
		return true
	})
}

// read adds a variable; a default counts if it is not set.
func (u *uses) read(name string, hasDefault bool) {
	u.names[name] = true
	if u.own[name] {
		return
	}
	known, has := u.of.resolved(name)
	u.assumed = u.assumed || known.assumed
	switch {
	case known.Set:
	case len(u.within) > 0 && (isCount(name) || slices.Contains([]string{"@", "*", "#"}, name)): // of the call
	case has && known.unset && hasDefault: // by unset, or an array without elements
	case !hasDefault || u.of.unknown(name):
		u.known = false
	case !isCount(name) || !u.of["#"].Set: // otherwise the call is known, and lacks the argument
		u.assumed = true
	}
}

// defaults are the operators of a default; those of an assignment are the last two.
var defaults = []syntax.ParExpOperator{
	syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull,
	syntax.AssignUnset, syntax.AssignUnsetOrNull,
}

func (u *uses) parameter(n *syntax.ParamExp) {
	if n.Param == nil || n.Width || n.IsSet || n.Names != 0 {
		u.require(false)
		return
	}
	name := n.Param.Value
	if !u.each[name] {
		u.size++
	}
	if name == "*" {
		name = "@"
	}
	hasDefault := n.Exp != nil && slices.Contains(defaults, n.Exp.Op)
	u.assigns = u.assigns || hasDefault && slices.Contains(defaults[4:], n.Exp.Op)
	u.read(name, hasDefault)
	known, _ := u.of.resolved(name)
	if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
		u.require(slices.Contains(names("E|U|u|L"), litOf(n.Exp.Word)))
	}
	index, _ := n.Index.(*syntax.Word)
	all := name == "@" || slices.Contains([]string{"@", "*"}, litOf(index))
	switch {
	case n.Excl && !all: // the name of another
		u.require(n.Index == nil && syntax.ValidName(known.Str) && known.Kind == expand.String)
		u.read(known.Str, false)
		return
	case all && known.Kind == expand.Associative && !n.Excl && (n.Length || n.Exp != nil || n.Repl != nil):
		u.counted[name] = true
	case all && known.Kind == expand.Associative:
		u.keyed[name] = true
		u.require(n.Slice == nil)
	case all && known.Kind == expand.String && n.Length:
		u.require(false)
	case n.Index != nil && !all && known.Kind != expand.Associative:
		u.arithmetic(n.Index)
	case n.Index != nil && !all:
		u.keyed[name] = true
	}
	for name := range u.counted {
		u.require(!u.keyed[name])
	}
	if n.Repl != nil { // package expand takes # and % for texts
		u.require(!strings.ContainsAny(litOf(n.Repl.Orig)[:min(1, len(litOf(n.Repl.Orig)))], "#%") || n.Repl.All)
	}
	if n.Slice != nil {
		u.arithmetic(n.Slice.Offset)
		u.arithmetic(n.Slice.Length)
		negative, isUnary := n.Slice.Length.(*syntax.UnaryArithm)
		u.require(!isUnary || negative.Op != syntax.Minus)
	}
}

// assign adds an assignment, but those that package interp does not make.
func (u *uses) assign(a *syntax.Assign) {
	switch {
	case a.Name == nil || a.Naked:
	case a.Append:
		known, has := u.of[a.Name.Value]
		u.require(a.Index == nil && (a.Array == nil) == !known.isArray() || !has && a.Index == nil)
		u.require(!known.integer && known.Kind != expand.Associative && known.Kind != expand.NameRef)
		if has {
			u.read(a.Name.Value, false)
		}
	case u.of[a.Name.Value].integer || u.of[a.Name.Value].Kind == expand.NameRef:
		u.require(false)
	case a.Array != nil:
		u.require(u.of[a.Name.Value].Kind != expand.Associative)
	case a.Index != nil:
		known, has := u.of[a.Name.Value]
		if has {
			u.read(a.Name.Value, known.unset)
		}
		if known.Kind != expand.Associative {
			u.arithmetic(a.Index)
		}
	}
	before := u.size
	if index, ok := a.Index.(*syntax.Word); ok && u.of[a.Name.Value].Kind == expand.Associative {
		u.add(index)
	}
	if a.Value != nil {
		u.add(a.Value)
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			u.words(e.Value)
			u.arithmetic(e.Index)
			if e.Value != nil {
				u.add(e.Value)
			}
		}
	}
	if a.Append {
		u.size++
	}
	u.grows(u.size - before)
}

// words adds that words are no names of files.
func (u *uses) words(all ...*syntax.Word) {
	for _, w := range all {
		u.require(w == nil || !namesFiles(w))
	}
}

// onlyPart returns the part of a word that has one.
func onlyPart(w *syntax.Word) syntax.WordPart {
	if w == nil || len(w.Parts) != 1 {
		return nil
	}
	if q, ok := w.Parts[0].(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		return q.Parts[0]
	}
	return w.Parts[0]
}

// call adds what a command uses beside its words: the body of a function.
func (u *uses) call(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		u.require(!slices.ContainsFunc(n.Assigns, func(a *syntax.Assign) bool { return a.Name.Value == "IFS" }))
		return
	}
	u.words(n.Args...)
	name := n.Args[0].Lit()
	f := u.of[functionEntry(name)].function
	switch {
	case f != nil && (f.several || slices.Contains(u.within, name)):
		u.require(false)
	case f != nil:
		u.within = append(u.within, name)
		u.add(f.decl.Body)
		u.within = u.within[:len(u.within)-1]
	case slices.Contains(asking, name):
		u.assumed = true // a host may lack it
	case name == "getopts" || name == "shift":
		u.read("@", false)
	case name == "unset" || name == "[" || name == "test":
		for _, w := range n.Args[1:] {
			if name == "unset" && syntax.ValidName(w.Lit()) {
				u.own[w.Lit()] = true
			}
			u.require(!slices.Contains(names("-v|-t|-R"), w.Lit()))
		}
		u.require(name != "unset" || !slices.ContainsFunc(n.Args, func(w *syntax.Word) bool { return w.Lit() == "-n" }))
	}
}
