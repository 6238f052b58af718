package importer

import (
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// Values that only the shell of a script knows become variables of the scenario, where the run needs them.

// shellVariable matches an expansion of a variable without operators.
var shellVariable = lazyregexp.New(`\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})`)

// notText matches what a shell evaluates beside variables; a price of $5 is a text.
var notText = lazyregexp.New("\\$[({]|`")

// texted returns a text with variables of the scenario in place of unknown shell variables.
func (c *call) texted(where, text string) value {
	return c.withVariables(where, text, func(name string) string {
		own := strings.ToLower(name)
		c.variable(own)
		return "${var." + own + "}"
	})
}

// withVariables replaces the unknown shell variables of a text.
func (c *call) withVariables(where, text string, as func(name string) string) value {
	if !unexpanded(text) {
		return literal(text)
	}
	var b strings.Builder
	last := 0
	for _, at := range shellVariable().FindAllStringSubmatchIndex(text, -1) {
		from, to := at[2], at[3]
		if from < 0 {
			from, to = at[4], at[5]
		}
		b.WriteString(escape.Replace(text[last:at[0]]) + as(text[from:to]))
		last = at[1]
	}
	if notText().MatchString(shellVariable().ReplaceAllString(text, "")) {
		c.fail("%s: %q%s", where, text, ofShell(text))
	}
	return expression(b.String() + escape.Replace(text[last:]))
}

// variable declares a variable of the scenario.
func (c *call) variable(name string) {
	if !c.run.hasVariable(name) {
		c.run.variables = append(c.run.variables, name)
		c.note("variable %s: its value is not in the command line; give --var %s=VALUE", name, name)
	}
}

// secretText returns a text with unknown shell variables that are read where the client starts, and stored nowhere.
func (c *call) secretText(where, text string) value {
	return c.withVariables(where, text, func(name string) string {
		if c.run.variable(name) == nil {
			c.run.env = append(c.run.env, Variable{Name: name, secret: true})
			c.note("%s: variable %s is read where the client starts; an agent needs --allow-env %s", where, name, name)
		}
		return "${client.env." + name + "}"
	})
}

// refuseUnexpanded fails if a command line that the scenario runs has what only a shell knows: no shell runs it. fio
// replaces some names itself.
func (c *call) refuseUnexpanded() {
	roles, _ := c.run.options["roles"].(mapping)
	for _, role := range roles {
		keys, _ := role.value.(mapping)
		for _, key := range keys {
			line, _ := key.value.(list)
			for _, v := range line {
				word, _ := v.(literal)
				text := strings.NewReplacer("$jobname", "", "$jobnum", "", "$filenum", "", "$clientuid", "").Replace(string(word))
				switch {
				case unexpanded(text):
					c.fail("%q%s", string(word), ofShell(text))
				case fileNames().MatchString(text) && !strings.Contains(text, "://"):
					c.fail("%q: no shell puts the names of files there; write them", text)
				}
			}
		}
	}
}

// fileNames matches a word that a shell replaces by names of files.
var fileNames = lazyregexp.New(`^~/|^[<>]\(|^[^\s"'{}()]*[*?][^\s"'{}()]*$`)

// newEachTime matches a seed that differs each time.
var newEachTime = lazyregexp.New("^(\\$\\(date\\b.*|`date\\b.*|\\$\\{?(RANDOM|SRANDOM|EPOCHSECONDS|SECONDS)\\}?|\\$\\$)$")

// seedNewEachTime reports whether a value of a flag is a seed that differs each time, so that no other is wrong.
func (f *flag) seedNewEachTime(v string) bool {
	return f.fate == asOption && f.says == "seed" && newEachTime().MatchString(v)
}
