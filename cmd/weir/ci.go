package main

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/input"
	"github.com/weir-bench/weir/cmd/weir/run"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/reporters"
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
		Long: `ci prints a job definition that runs a scenario, always keeps its reports, and fails by
the exit code of weir run. An inconclusive session (exit code 3) does not fail the job:
in GitLab it is yellow, in Jenkins unstable, in GitHub it passes with a warning.
--inconclusive and --inconclusive-streak change that; for a streak, the job keeps its
sessions in the cache. Nor does it fail if all launches were disturbed, as on busy
runners: the variable WEIR_DISTURBED=keep counts them. If assertions mention a baseline
that is not in the repository, the job keeps the first good result of the main branch
in the cache and compares with it, until it is told to renew it; in the first run these
assertions are skipped. Runners have weir installed, or fetch it from the URL in the
variable WEIR_URL. With --site, the job uses the same file, which must be in the
repository or on the runner; the site of WEIR_SITE or of the user is not used. Jobs run
at the root of the repository: paths in them are relative to it.`,
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
		"required runner `LABELS` (GitLab: tags): a,b; repeatable")
	cmd.Flags().StringVar(&f.image, "image", "", "container `IMAGE` to run in")
	cmd.Flags().StringVar(&f.timeout, "timeout", "50m", "total `TIME` of weir; the job may take 10 minutes longer")
	return cmd
}

// ciDir is the session directory of a job; the upload steps of the templates name it too.
const ciDir = "weir-out/ci"

// ciBaseline is the directory of the baseline: a good result of the main branch.
const ciBaseline = "weir-baseline"

// ciHistory is the directory of a job's earlier sessions, for --inconclusive-streak.
const ciHistory = history.DefaultDir

// committed reports whether a job will find the file of a baseline: it exists and git tracks it. Outside a
// repository that is not known.
func committed(file string) (is, known bool) {
	if _, err := os.Stat(file); file == "" || err != nil {
		return false, true
	}
	git := exec.Command("git", "ls-files", "--", filepath.Base(file))
	git.Dir = filepath.Dir(file)
	tracked, err := git.Output()
	return err != nil || len(tracked) > 0, err == nil
}

// runnerNeeds lists what a plan needs of the machine that runs it and a runner of a provider may lack: the
// libraries of fabrics, GPUs, other nodes and endpoints.
func runnerNeeds(p *planner.Plan) string {
	var needs []string
	add := func(text string) {
		if !slices.Contains(needs, text) {
			needs = append(needs, text)
		}
	}
	if n := p.Cluster.Nodes; n > 1 {
		add(fmt.Sprintf("%d nodes", n))
	}
	for _, c := range p.Cases {
		if c.Status != planner.Planned {
			continue
		}
		name, _ := c.Options["fabric"].(string)
		if f, ok := fabric.Find(name); ok && len(f.Libraries) > 0 {
			add("fabric " + name)
		}
		if url, _ := c.Options["url"].(string); strings.HasPrefix(url, "http") {
			add("an endpoint at " + url)
		}
	}
	if n := p.Cluster.GPUsPerNode; n > 0 {
		add(fmt.Sprintf("%d GPUs", n))
	}
	return strings.Join(needs, ", ")
}

// ciJob has the values for the templates, quoted for YAML where needed.
type ciJob struct {
	Made, Title, Job string
	Group            string // of concurrent jobs
	Install, Run     string // shell
	Agent, Script    string // of Jenkins: Groovy, and all of the shell
	Dir              string
	Runner, Tags     string
	Image            string
	Minutes          int
	Baseline         string // directory of the baseline; "": no comparison
	History          string // directory of earlier sessions; "": no streaks are counted
	Unmeasured       string // text of a report of a session that has measured nothing
}

// job plans a scenario and makes its job.
func (f *ciFlags) job(cmd *cobra.Command, provider, arg string) (*ciJob, error) {
	files, err := f.files(arg)
	if err != nil {
		return nil, err
	}
	labels, err := labelsOf(f.runners)
	if err != nil {
		return nil, err
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
	p, err := input.ReadShown(cmd, arg, options)
	if err != nil {
		return nil, err
	}
	keep := ""
	if text := ledger.UsesBaseline(p); text != "" {
		how := fmt.Sprintf("the file %s of the repository", p.Baseline)
		is, known := committed(p.Baseline)
		switch {
		case !known:
			how = fmt.Sprintf("the file %s, which has to be in the repository", p.Baseline)
		case !is:
			keep, how = ciBaseline, "the first good result of the main branch, kept in the job's cache"
			if provider == "jenkins" {
				how = "the first good result that is of no pull request, kept in the workspace, or below WEIR_BASELINES"
			}
			if _, err := os.Stat(p.Baseline); p.Baseline != "" && err == nil {
				how += ": git does not track " + p.Baseline
			}
		}
		cmd.PrintErrf("note: %q compares with %s\n", text, how)
	}
	if needs := runnerNeeds(p); needs != "" {
		cmd.PrintErrf("note: the runner needs %s\n", needs)
	}
	run := f.command(provider, files, keep)
	for _, text := range append([]string{run, f.image}, labels...) { // made has no other text
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) ||
			strings.Contains(text, "${{") {
			return nil, exit.Usage("%q cannot be part of a job definition: it has ${{, a line break or another unprintable character",
				text)
		}
	}
	job := &ciJob{
		Made: f.made(provider, files), Title: yamlText("weir: " + p.Scenario.Name), Job: "weir-" + p.Scenario.Name,
		Group: yamlText("weir-" + p.Scenario.Name + "-${{ github.ref }}"),
		Run:   run, Dir: ciDir, Runner: "ubuntu-latest", Minutes: int(time.Duration(limit)/time.Minute) + 10,
		Baseline: keep, Agent: groovyAgent(f.image, labels), Unmeasured: reporters.NothingUsable,
	}
	if p.OpenGates(f.open.Flags).Streak > 0 {
		job.History = ciHistory
		job.Run += " --history " + ciHistory
	}
	if len(labels) > 0 {
		job.Tags = yamlList(labels)
		job.Runner = job.Tags
	}
	if f.image != "" {
		job.Image = yamlText(f.image)
	}
	return job, nil
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
