package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"weir/cmd/weir/exit"
	"weir/cmd/weir/input"
	"weir/cmd/weir/run"
	"weir/dsl"
	"weir/executor/ledger"
	"weir/gate"
	"weir/history"
	"weir/quantity"
	"weir/reporters"
)

// ciFlags are the flags that weir ci has for every provider.
type ciFlags struct {
	variables input.Variables
	runners   []string
	image     string
	timeout   string
	open      run.Inconclusive
}

func newCI() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ci",
		Short: "print a CI job that runs a scenario",
		Long: `ci prints a job definition that runs a scenario, keeps its reports whatever comes
of it, and fails by the exit code of weir run. An inconclusive session (exit code
3) does not fail it: in GitLab the job is yellow, in Jenkins unstable, in GitHub it
passes with a warning. --inconclusive and --inconclusive-streak decide otherwise; for a
streak the job keeps its sessions in the cache. Where assertions mention a baseline and
the repository has none, the job keeps the last good result of the main branch in the
cache and compares with it; the first time there is none, and those assertions are
skipped. Runners have weir
installed, or fetch it from the variable WEIR_URL. With --site the job names the same
file, which is there in the repository or on the runner; a site of WEIR_SITE or of the
user's own is not carried over.`,
		Example: `  weir ci github examples/quickstart.yaml > .github/workflows/weir.yaml
  weir ci gitlab examples/quickstart.yaml > .gitlab-ci.yml
  weir ci jenkins examples/quickstart.yaml > Jenkinsfile`,
	}
	cmd.AddCommand(
		newCIOf("github", "print a GitHub workflow that runs a scenario",
			"  weir ci github examples/quickstart.yaml --runner self-hosted --runner h100 > .github/workflows/weir.yaml"),
		newCIOf("gitlab", "print a GitLab CI job that runs a scenario",
			"  weir ci gitlab examples/variables.yaml --var least='2 GB/s' --runner bare-metal > .gitlab-ci.yml"),
		newCIOf("jenkins", "print a Jenkins pipeline that runs a scenario",
			"  weir ci jenkins examples/quickstart.yaml --runner linux --inconclusive-streak 5 > Jenkinsfile"),
	)
	return cmd
}

func newCIOf(provider, short, example string) *cobra.Command {
	var f ciFlags
	cmd := &cobra.Command{
		Use: provider + " SCENARIO", Short: short, Example: example, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.open.Check(cmd.Flags()); err != nil {
				return err
			}
			job, err := f.job(cmd, provider, args[0])
			if err != nil {
				return err
			}
			text, err := job.render(provider)
			if err != nil {
				return exit.With(gate.ExitInternal, err)
			}
			if _, err := fmt.Fprint(cmd.OutOrStdout(), text); err != nil {
				return exit.With(gate.ExitExecution, fmt.Errorf("writing the job: %w", err))
			}
			return nil
		},
	}
	f.variables.Add(cmd.Flags())
	f.open.Add(cmd.Flags())
	cmd.Flags().StringArrayVar(&f.runners, "runner", nil,
		"`LABEL` that the runner must have, in GitLab its tag (repeatable)")
	cmd.Flags().StringVar(&f.image, "image", "", "container `IMAGE` to run in")
	cmd.Flags().StringVar(&f.timeout, "timeout", "50m", "total `TIME` of weir; the job has ten minutes more")
	return cmd
}

// ciDir is the session directory of a job, whose name its uploads know.
const ciDir = "weir-out/ci"

// ciBaseline is where a job keeps the last good result of the main branch.
const ciBaseline = "weir-baseline"

// ciHistory is where a job keeps its sessions, where a policy counts those in a row.
const ciHistory = history.DefaultDir

// committed says whether the scenario names a baseline that is there already.
func committed(file string) bool {
	_, err := os.Stat(file)
	return file != "" && err == nil
}

// ciJob is what the templates have holes for; all of it can stand in YAML as it is.
type ciJob struct {
	Made, Title, Job string
	Install, Run     string // shell
	Agent, Script    string // of Jenkins: Groovy, and all of the shell
	Dir              string
	Runner, Tags     string
	Image            string
	Minutes          int
	Baseline         string // directory of the last good result of the main branch; "": nothing is compared with one
	History          string // directory of earlier sessions; "": nobody counts streaks
}

// job makes a job of a scenario that can be planned.
func (f *ciFlags) job(cmd *cobra.Command, provider, arg string) (*ciJob, error) {
	if filepath.IsAbs(arg) {
		return nil, exit.Usage("%s: write the path as it is from the root of the repository, which is where the job runs",
			arg)
	}
	limit, err := quantity.ParseTime(f.timeout)
	if err == nil && limit <= 0 {
		err = fmt.Errorf("%q leaves no time", f.timeout)
	}
	if err != nil {
		return nil, exit.Usage("--timeout: %w", err)
	}
	options, err := f.variables.Options()
	if err != nil {
		return nil, err
	}
	p, sources, diags, err := input.Read(arg, options)
	if err != nil {
		return nil, err
	}
	if err := dsl.WriteDiagnostics(cmd.ErrOrStderr(), "text", diags, sources); err != nil {
		return nil, exit.With(gate.ExitExecution, fmt.Errorf("writing diagnostics: %w", err))
	}
	if diags.HasErrors() {
		return nil, exit.Code(gate.ExitUsage)
	}
	keep := ""
	if text := ledger.UsesBaseline(p); text != "" && !committed(p.Baseline) {
		keep = ciBaseline
	}
	run := f.command(provider, arg, keep)
	for _, text := range append([]string{run, f.image}, f.runners...) { // all that is in made, too
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) ||
			strings.Contains(text, "${{") {
			return nil, exit.Usage("%q cannot stand in a job definition: it has a line break, another character that does not print, or ${{",
				text)
		}
	}
	job := &ciJob{
		Made: f.made(provider, arg), Title: yamlText("weir: " + p.Scenario.Name), Job: "weir-" + p.Scenario.Name,
		Run: run, Dir: ciDir, Runner: "ubuntu-latest", Minutes: int(time.Duration(limit)/time.Minute) + 10,
		Baseline: keep, Agent: f.groovyAgent(),
	}
	if p.OpenGates(f.open.Flags).Streak > 0 {
		job.History = ciHistory
		job.Run += " --history " + ciHistory
	}
	if len(f.runners) > 0 {
		job.Tags = yamlList(f.runners)
		job.Runner = job.Tags
	}
	if f.image != "" {
		job.Image = yamlText(f.image)
	}
	return job, nil
}

// made is the command line that makes this job.
func (f *ciFlags) made(provider, scenario string) string {
	words := append([]string{"weir", "ci", provider, shellWord(scenario)}, f.settings()...)
	for _, r := range f.runners {
		words = append(words, "--runner", shellWord(r))
	}
	if f.image != "" {
		words = append(words, "--image", shellWord(f.image))
	}
	return strings.Join(words, " ")
}

// settings are the flags that weir ci and the weir run of its job share.
func (f *ciFlags) settings() []string {
	words := []string{"--timeout", shellWord(f.timeout)}
	for _, v := range f.variables.Files {
		words = append(words, "--var-file", shellWord(v))
	}
	for _, v := range f.variables.Vars {
		words = append(words, "--var", shellWord(v))
	}
	if as := f.open.Flags.As; as != "" {
		words = append(words, "--inconclusive", as)
	}
	if n := f.open.Flags.Streak; n > 0 {
		words = append(words, "--inconclusive-streak", strconv.Itoa(n))
	}
	if site := f.variables.Site.File(); site != "" {
		words = append(words, "--site", shellWord(site))
	}
	return words
}

// command is weir's command line in the job, as shell text.
func (f *ciFlags) command(provider, scenario, baseline string) string {
	words := append([]string{"weir", "run", shellWord(scenario), "--out", ciDir}, f.settings()...)
	if baseline != "" {
		words = append(words, "--baseline", baseline+"/results.json", "--baseline-missing", dsl.SkipMissing)
	}
	wanted := []string{"csv", "html", "openmetrics"} // besides what weir run writes anyway
	if provider == "github" {
		wanted = append(wanted, "github")
	}
	for _, format := range wanted {
		if _, ok := reporters.Lookup(format); ok {
			words = append(words, "--report", format)
		}
	}
	return strings.Join(words, " ")
}

//go:embed templates
var ciTemplates embed.FS

func (j *ciJob) render(provider string) (string, error) {
	parse := func(file string) (string, error) {
		functions := template.FuncMap{"indent": indent, "groovy": groovyText}
		t, err := template.New(file).Funcs(functions).ParseFS(ciTemplates, "templates/"+file)
		if err != nil {
			return "", fmt.Errorf("reading the template of the job: %w", err)
		}
		var b strings.Builder
		if err := t.Execute(&b, j); err != nil {
			return "", fmt.Errorf("filling in the template of the job: %w", err)
		}
		return b.String(), nil
	}
	var err error
	if j.Install, err = parse("ci.sh"); err != nil {
		return "", err
	}
	if provider != "jenkins" {
		return parse(provider + ".yaml")
	}
	if j.Script, err = parse("jenkins.sh"); err != nil {
		return "", err
	}
	return parse("jenkins.groovy")
}

// groovyText is a text as a Groovy string without interpolation.
func groovyText(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
	if strings.Contains(s, "\n") {
		return "'''" + s + "'''"
	}
	return "'" + s + "'"
}

// groovyAgent is where a Jenkins pipeline runs: on agents with all labels, in a container if there is an image.
func (f *ciFlags) groovyAgent() string {
	label := groovyText(strings.Join(f.runners, " && "))
	switch {
	case f.image != "" && len(f.runners) > 0:
		return fmt.Sprintf("{ docker { image %s; label %s } }", groovyText(f.image), label)
	case f.image != "":
		return fmt.Sprintf("{ docker { image %s } }", groovyText(f.image))
	case len(f.runners) > 0:
		return fmt.Sprintf("{ label %s }", label)
	}
	return "any"
}

// indent puts so many spaces before each line.
func indent(n int, text string) string {
	space := strings.Repeat(" ", n)
	return space + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+space)
}

// shellWord is a text as one word of a POSIX shell.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./:=,@", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// yamlText is a text as a YAML scalar: JSON's strings are YAML's.
func yamlText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string cannot fail
	}
	return string(b)
}

func yamlList(list []string) string {
	var texts []string
	for _, s := range list {
		texts = append(texts, yamlText(s))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
