// Package results is the versioned result document: what a session ran, what it measured and how it was judged. The
// gate judges it and the reporters show it; both read nothing else.
//
// Other programs may import this package to read documents. Members are added within a version of the schema, and
// none changes its meaning.
package results

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/results/assertion"
)

// Schema is the version of the document that this package reads and writes.
const Schema = "weir.results/v1"

// Document is one session.
type Document struct {
	Schema   string   `json:"schema" schema:"enum=weir.results/v1"`
	Session  Session  `json:"session"`
	Weir     Version  `json:"weir"`
	Scenario Scenario `json:"scenario"`
	Plan     Plan     `json:"plan"`
	// Site is nil without a site file.
	Site *Site `json:"site,omitzero" doc:"What the site file that was used says of the cluster."`
	// Quantiles is nil in documents of older versions.
	Quantiles   *Quantiles          `json:"quantiles,omitzero" doc:"By which definition quantiles were computed. Absent from documents of older versions, whose quantiles of transfers are of the rounded rank."`
	Environment Environment         `json:"environment"`
	Checks      []Check             `json:"checks"`
	Cases       []*Case             `json:"cases"`
	Assertions  []*AssertionVerdict `json:"assertions" doc:"Assertions over several cases."`
	Summary     Summary             `json:"summary"`
	// Baseline is the session that assertions compare with; nil without one.
	Baseline *Baseline `json:"baseline,omitzero" doc:"Another session's measurements, copied so that the verdicts can be reproduced from this document alone."`
	// Noise is the noise of cases by the scenario's history.
	Noise []CaseNoise `json:"noise,omitempty" doc:"What earlier sessions say of how the metrics of cases vary; verdicts use it as a floor."`
	// Previous is the change since an earlier session, if one is known.
	Previous *Previous `json:"previous,omitzero" doc:"What has changed since an earlier session of the scenario. No verdict rests on it."`
	// Gains are a table for each run with variants and a baseline among them.
	Gains []*Gains `json:"gains,omitempty" doc:"What variants are worth against the one that is the baseline: a table for each run that sweeps them. No verdict rests on it."`
	// Claims are what documents say of cases, beside what was found.
	Claims []*Claim `json:"claims,omitempty" doc:"What documents say of cases, beside what was found. No verdict rests on it."`
	// Commands are the setup and teardown commands that ran, in order.
	Commands []Command `json:"commands,omitempty" doc:"The setup and teardown commands that ran, in order."`
	// Services are the starts of services, in the order of their ends.
	Services []Service `json:"services,omitempty" doc:"Each start of a service, in the order of their ends."`
	// Artifacts were kept from nodes, or requested.
	Artifacts []Artifact `json:"artifacts,omitempty" doc:"What was kept of nodes, and what was to be."`
	// Metrics define the measurements. Documents of older versions have none and use this version's
	// definitions.
	Metrics []MetricTable `json:"metrics,omitempty" doc:"What defines the numbers of launches: a table for each workload that was measured, and one for each run that declares its own metrics. Absent from documents of older versions."`
	// Seal detects changes after writing; see ReadVerified.
	Seal string `json:"seal,omitempty" doc:"Digest of the seals of all cases and of everything outside of them. Absent from documents of older versions." schema:"ref=seal"`

	// ReadUnsealed says that the document had no seal.
	ReadUnsealed bool `json:"-"`
}

// Baseline is another session's measurements, copied here so that verdicts can be reproduced from this
// document alone.
type Baseline struct {
	Session     string         `json:"session"`
	File        string         `json:"file"`
	Fingerprint string         `json:"fingerprint" doc:"Of its environment." schema:"ref=digest"`
	Cases       []BaselineCase `json:"cases"`
	// Imported baselines are compared with whatever their environment was.
	Imported bool `json:"imported,omitzero" doc:"Another tool measured it: its environment is unknown, and is not compared."`
	// Missing is SkipMissing if assertions on cases that the baseline lacks are skipped; Absent says why there
	// is no baseline document.
	Missing string `json:"missing,omitempty" doc:"skip: assertions that mention what the baseline lacks are skipped, and no errors." schema:"enum=skip"`
	Absent  string `json:"absent,omitempty" doc:"Why there is no baseline, where its absence is no error."`
	// Sessions are of those that were kept beside the baseline.
	Sessions []CaseNoise `json:"sessions,omitempty" doc:"How metrics vary between the sessions that were kept beside the baseline, which a failure allows for."`
	// Differences are of its environment to this session's; its side is Base.
	Differences []Difference `json:"differences,omitempty" doc:"What of the environment of the baseline (base) and of this session (new) is not the same; \"\" is that a side lacks it."`
}

// SkipMissing is the value of Baseline.Missing that skips assertions on missing cases.
const SkipMissing = "skip"

// BaselineCase is one case of a baseline: its successful launches.
type BaselineCase struct {
	Key      string         `json:"key"`
	Launches []MetricValues `json:"launches" doc:"The metrics of the launches that succeeded."`
	// Disturbed launches counted at most for the assertions of their own session.
	Disturbed int `json:"disturbed,omitzero" doc:"Launches that succeeded, but were disturbed: they are not compared with." schema:"minimum=0"`
}

// Command is one setup or teardown command on one node.
type Command struct {
	Name     string    `json:"name"`
	Stage    string    `json:"stage" schema:"enum=setup|teardown"`
	Scope    string    `json:"scope" schema:"enum=session|run|launch"`
	Of       string    `json:"of,omitempty" doc:"The run, or the launch as GROUP/INDEX."`
	Node     string    `json:"node"`
	Started  time.Time `json:"started"`
	Duration float64   `json:"duration_s" schema:"minimum=0"`
	Status   string    `json:"status" schema:"enum=ok|failed"`
	Reason   string    `json:"reason,omitempty"`
	Log      []string  `json:"log,omitempty" doc:"The last lines of its output."`
}

// Service is one start of a service.
type Service struct {
	Name    string    `json:"name"`
	Node    string    `json:"node"`
	Fresh   string    `json:"fresh" doc:"How often it is started anew." schema:"enum=session|run|variant|launch"`
	For     string    `json:"for,omitempty" doc:"What it was started for: the run, the value of axis variant, or the launch as GROUP/INDEX."`
	Started time.Time `json:"started"`
	Ready   float64   `json:"ready_s,omitzero" doc:"From its start until it was ready. Absent if it never was." schema:"minimum=0"`
	Lasted  float64   `json:"lasted_s" doc:"From its start to its end." schema:"minimum=0"`
	Status  string    `json:"status" doc:"ok: it was told to end." schema:"enum=ok|failed"`
	Failure *Failure  `json:"failure,omitzero"`
	Log     string    `json:"log" doc:"The file of its output, below the session directory."`
	Binding *Binding  `json:"seat,omitzero" doc:"What it has of its node to itself, where the scenario asks for that."`
}

// FailsSession reports whether the command failed and the session with it. A command that failed before a launch
// failed that launch only.
func (c Command) FailsSession() bool {
	return c.Status != OK && !(c.Stage == "setup" && c.Scope == "launch")
}

// Session says when and how the session ran.
type Session struct {
	ID       string    `json:"id"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Status   string    `json:"status" schema:"enum=passed|failed|inconclusive|error|aborted"`
	ExitCode int       `json:"exit_code" schema:"enum=0|1|3|4|5|6|7|8|124|130|143"`
	Reason   string    `json:"reason,omitempty" doc:"Of an error or abort of the whole session."`
	Argv     []string  `json:"argv"`
	// Again is a command that repeats the session: argv without the selection of cases and result paths.
	// Absent from documents of older versions.
	Again []string `json:"again,omitempty" doc:"A command that runs all of it again: argv less what chooses cases and says where results go."`
	// Inconclusive is the policy for inconclusive gates.
	Inconclusive *assertion.Inconclusive `json:"inconclusive,omitzero" doc:"What becomes of gates that the launches leave open, where they do not say so themselves; absent: they stay inconclusive."`
	// Simulated says that some launch came from the simulated engine.
	Simulated bool `json:"simulated,omitzero" doc:"Some launch came from the simulated engine."`
	// Imported says that another tool measured it, so that its environment is unknown.
	Imported bool `json:"imported,omitzero" doc:"Another tool measured it: its environment is unknown."`
	// Resumed is the id of the session that this one continued.
	Resumed string `json:"resumed,omitempty" doc:"The id of the session that this one went on with."`
}

// Policy returns the policy for inconclusive gates.
func (s Session) Policy() assertion.Inconclusive {
	if s.Inconclusive == nil {
		return assertion.Inconclusive{}
	}
	return *s.Inconclusive
}

// Session statuses.
const (
	Passed       = "passed"
	Failed       = "failed"
	Inconclusive = "inconclusive"
	Errored      = "error"
	Aborted      = "aborted"
)

// Version is the version of the program that ran the session.
type Version struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

// Scenario names what was run.
type Scenario struct {
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	File        string            `json:"file"`
	Digest      string            `json:"digest" schema:"ref=digest"`
	Variables   map[string]string `json:"variables"`
	// VariantNotes are the notes of the variants that runs sweep.
	VariantNotes map[string]string `json:"variant_notes,omitempty" doc:"Notes of the variants that runs sweep, by name."`
}

// Plan summarises the executed plan.
type Plan struct {
	Digest   string `json:"digest" schema:"ref=digest"`
	Cases    int    `json:"cases"`
	Excluded int    `json:"excluded"`
}

// Environment is the hardware and software of the session.
type Environment struct {
	Nodes       []Node `json:"nodes"`
	Fingerprint string `json:"fingerprint" schema:"ref=digest"`
	// Variables are library variables of the shell, passed to every node.
	Variables map[string]string `json:"variables,omitempty" doc:"Library variables of the shell that every node was given, by name."`
}

// ClockOffset is a node's clock minus the coordinator's, in seconds, with an error bound.
type ClockOffset struct {
	Value float64 `json:"value"`
	Bound float64 `json:"bound" doc:"Of the error." schema:"minimum=0"`
}

// Check is one preflight check on one node.
type Check struct {
	Name     string `json:"name"`
	Node     string `json:"node" doc:"Empty: it is about the cluster."`
	Status   string `json:"status" schema:"enum=ok|failed"`
	Reason   string `json:"reason,omitempty"`
	Severity string `json:"severity,omitempty" doc:"skip: that it failed skips all cases and is no error; warn: it is reported, and nothing follows from it." schema:"enum=skip|warn"`
	Remedy   string `json:"remedy,omitempty" doc:"What to do about it; only of one that failed."`
}

// SkipCases is the severity of a check that skips all cases if it fails.
const SkipCases = "skip"

// OnlyWarns is the severity of a check that is reported but has no consequence.
const OnlyWarns = "warn"

// FailsSession reports whether the check failed and the session with it.
func (c Check) FailsSession() bool { return c.Status != OK && c.Severity != SkipCases && !c.Warns() }

// Warns reports whether the check failed without consequence.
func (c Check) Warns() bool { return c.Status != OK && c.Severity == OnlyWarns }

// Label is its name, and where it was made.
func (c Check) Label() string {
	if c.Node == "" {
		return c.Name + " of the cluster"
	}
	return c.Name + " on " + c.Node
}

// Failed is the session's text for a failed check.
func (c Check) Failed() string {
	if c.Node == "" {
		return fmt.Sprintf("check %q of the cluster failed: %s", c.Name, c.Why())
	}
	return fmt.Sprintf("check %q failed on node %s: %s", c.Name, c.Node, c.Why())
}

// Why is the reason of a failed check, with the remedy.
func (c Check) Why() string {
	if c.Remedy == "" {
		return c.Reason
	}
	return c.Reason + " (remedy: " + c.Remedy + ")"
}

// Case is one case of the plan, run or not.
type Case struct {
	Key       string            `json:"key" doc:"Readable and stable: run[axis=value,…]."`
	ID        string            `json:"id" schema:"ref=digest"`
	Run       string            `json:"run"`
	Stage     string            `json:"stage,omitempty" doc:"Heading that its run is shown under."`
	Workload  string            `json:"workload"`
	Axes      map[string]any    `json:"axes"`
	AxisOrder []string          `json:"axis_order" doc:"As the author wrote them, outermost first."`
	Options   map[string]any    `json:"options" doc:"Resolved, sizes with their units."`
	File      string            `json:"file,omitempty" doc:"Of the scenario that has the run."`
	Line      int               `json:"line,omitzero" doc:"At which the run begins in it." schema:"minimum=1"`
	Files     map[string]string `json:"files,omitempty" doc:"Files from which options took their values, by option, as the scenario names them. Their contents are in options, as digests where they are long."`
	Env       map[string]string `json:"env"`
	Later     []string          `json:"later,omitempty" doc:"Options, and variables as env.NAME, whose text is an expression over values of other runs; launches have these values."`
	Unset     []string          `json:"unset,omitempty" doc:"Variables that it leaves unset, whatever the shell has."`
	Secrets   []string          `json:"secrets,omitempty" doc:"Variables that hold secrets, whose values are not in env."`
	Status    string            `json:"status" schema:"enum=ok|error|skipped|excluded"`
	Reason    string            `json:"reason"`
	Invalid   string            `json:"invalid,omitempty" doc:"Why the gate cannot use what was measured."`
	Reasons   []Reason          `json:"reasons,omitempty" doc:"Of invalid; none in documents of older versions."`
	Link      *OfLink           `json:"link,omitzero" doc:"How much of the nominal links of the site was reached."`
	MayFail   *MayFail          `json:"may_fail,omitzero" doc:"Why the case may be an error or miss its assertions, where the scenario says so."`
	Launches  []*Launch         `json:"launches"`
	// Made is the number of launches that Launches must have; 0 if unknown.
	Made int `json:"made,omitzero" doc:"How many launches there must be."`
	// WarmUp is nil if launches are steady, or if there are too few to tell.
	WarmUp     *WarmUp               `json:"warm_up,omitzero" doc:"That launches were not steady from their start on. No verdict rests on it."`
	Metrics    Named[MetricEstimate] `json:"metrics"`
	Assertions []*AssertionVerdict   `json:"assertions"`
	Seal       string                `json:"seal,omitempty" doc:"Digest of what the document says of the case, in canonical form: shows that it was changed." schema:"ref=seal"`
}

// Case and launch statuses.
const (
	OK       = "ok"
	Error    = "error"
	Skipped  = "skipped"
	Excluded = "excluded"
)

// NotRun is the reason of a skipped case that the session did not reach. With a colon and a cause it is
// the reason of one that was due but not run: the session ended, or a dependency failed.
const NotRun = "not run"

// NotReached reports whether the case was due but not run, so that its values are unknown. Cases left out
// by a condition, a selection or their author are not.
func (c *Case) NotReached() bool {
	return c.Status == Skipped && (c.Reason == NotRun || strings.HasPrefix(c.Reason, NotRun+": "))
}

// Launch is the case's part of one launch.
type Launch struct {
	Index    int       `json:"index"`
	Started  time.Time `json:"started"`
	Duration float64   `json:"duration_s" schema:"minimum=0"`
	Status   string    `json:"status" schema:"enum=ok|error"`
	Failure  *Failure  `json:"failure,omitzero"`
	// Finished is the number of ranks that had run and checked the case in a failed launch.
	Finished int      `json:"ranks_finished,omitzero" doc:"How many ranks had run and checked the case, in a launch that failed."`
	Nodes    []string `json:"nodes" doc:"Of rank 0, 1, …."`
	// Bindings are the exclusive resources of each rank, by rank; none if the scenario does not ask for any.
	Bindings []Binding `json:"seats,omitempty" doc:"What each rank has of its node to itself, by rank, where the scenario asks for that."`
	// Moved lists nodes that differ from those of the previous launch.
	Moved     []Move `json:"moved,omitempty" doc:"Nodes that are not those of the launch before, and why."`
	Fabric    string `json:"fabric,omitempty"`
	Transport string `json:"transport,omitempty" doc:"What the fabric really used, in words."`
	// Variables are the library variables of its ranks, by name; absent from documents of older versions.
	Variables []Variable `json:"variables,omitempty" doc:"Library variables of its ranks: environment variables that change what a library does."`
	// Ignored are variables without effect.
	Ignored []Ignored `json:"ignored_env,omitempty" doc:"Environment variables that did nothing."`
	// FabricReason says why weir chose this fabric, if the scenario left the choice open.
	FabricReason string `json:"fabric_reason,omitempty" doc:"Why this fabric, where the scenario left the choice to weir."`
	// Values are values of other runs used by options, variables and texts of the case.
	Values map[string]string `json:"values,omitempty" doc:"What options, variables and texts of the case use of other runs, by expression: of medians over their launches."`
	// Transports carried its data and control messages, as the fabric's library names them; nil in documents
	// of older versions.
	Transports []Transport `json:"transports,omitempty" doc:"The ways that data and other messages took, as the fabric's library names them."`
	// Provider are the facts that the fabric's library reports of its provider; nil in documents of older
	// versions, and for fabrics without any.
	Provider []ProviderFact `json:"provider,omitempty" doc:"What the fabric's library says of its provider, read back by the ranks that moved data."`
	// Libraries are absent from documents of older versions, and for fabrics that load none.
	Libraries []Library `json:"libraries,omitempty" doc:"Libraries of the fabric that the ranks had loaded when they had measured, the fabric's own first."`
	// MemoryNodes are absent if the scenario leaves placement of buffers to the kernel.
	MemoryNodes []MemoryNode `json:"memory_nodes,omitempty" doc:"The NUMA nodes that the buffers were on, read back from the kernel, where the scenario asks for a node."`
	// GPUs are the GPUs with buffers, by rank; absent without any.
	GPUs []string `json:"gpus,omitempty" doc:"The GPU of each rank, by its address on the bus, where buffers are in the memory of GPUs."`
	// WorkingSet is absent from documents of older versions, in fabric sim, and for workload traffic_sequence.
	WorkingSet *WorkingSet `json:"working_set,omitzero" doc:"Bytes that the requests go over before they come back to the first."`
	// Errors are causes of failed operations, the most frequent first; none if a failed operation ends the
	// launch.
	Errors []Cause `json:"errors,omitempty" doc:"Why single operations of the launch failed, the most frequent first."`
	// Notes are anomalies of successful operations, the most frequent first.
	Notes   []Cause      `json:"notes,omitempty" doc:"What is odd about single operations of the launch that did not fail, the most frequent first."`
	Metrics MetricValues `json:"metrics" doc:"One value per metric, in the unit of the metric's registry entry."`
	// Distributions are by family of quantile metrics; absent from documents of older versions.
	Distributions Distributions `json:"distributions,omitempty" doc:"How the values lie that quantiles are of, by the name that these have in common."`
	Samples       []string      `json:"samples" doc:"Files below the session directory."`
	// SamplesDigest is a digest of the content of these files (see DigestSamples); "" without files.
	SamplesDigest string `json:"samples_digest,omitempty" doc:"Of the content of the samples files, ordered by name: of the SHA-256 of each." schema:"ref=digest"`
	// Ranks are the initiating ranks; if more than MostRanks, the slowest. Their number is Initiators. Absent
	// from documents of older versions.
	Ranks      []RankShare `json:"ranks,omitempty" doc:"Ranks that initiated; of more than 64 the 16 slowest. Of traffic the bytes and times of all iterations with stamps."`
	Initiators int         `json:"initiators,omitzero" doc:"How many ranks initiated."`
	// SlowestPair is of a traffic matrix.
	SlowestPair *Pair `json:"slowest_pair,omitzero" doc:"The cell of a traffic matrix that was delivered at the least bandwidth (GB/s), with its mean time from the common start."`
	// Played is when the case's pattern ran in each iteration of its sequence: start and end in seconds from
	// the iteration's start.
	Played [][2]float64 `json:"played,omitempty" doc:"When the pattern of the case was played in each iteration of its sequence: start and end in seconds from the start of the iteration."`
	// Waits are the waits of ranks for each other, by operation; absent above MostRanks ranks.
	Waits []Waits `json:"waits,omitempty" doc:"How long ranks waited for each other in each operation; none of more than 64 ranks."`
	// Pieces are absent with too few requests or iterations, and from commands.
	Pieces []float64 `json:"pieces,omitempty" doc:"Speed in 16 equal parts, in their order: bandwidth in GB/s of the time in which all initiators moved, or of the iterations; of a load requests per second and slot, 1 / mean latency."`
	// Timeline is of a launch with a changing group of ranks.
	Timeline *Timeline `json:"timeline,omitzero" doc:"What happened to a group of ranks that changes, and its steps."`
	Verified bool      `json:"verified"`
	// Simulated says that nothing was moved: the values come from a declared model.
	Simulated bool `json:"simulated,omitzero" doc:"Nothing was moved: the numbers follow from a declared model."`
	// Processors is nil if unknown.
	Processors *Processors `json:"processors,omitzero" doc:"What ranks had of their processors in the case, and what else was on the nodes."`
	// Disturbance is set whether or not the launch counts.
	Disturbance *Disturbance `json:"disturbance,omitzero" doc:"What kept the launch from the processors that it measured with; a launch that counts all the same was kept by --disturbed keep, or because that can change nothing of what is asserted."`
	// Discarded says why the launch does not count although it succeeded; "": it counts.
	Discarded string `json:"void,omitempty" doc:"Why the launch does not count although it succeeded: its ranks did not have their processors. Another one was made instead, within the budget."`
	// Retried says that the launch failed and was made again.
	Retried bool `json:"retried,omitzero" doc:"The launch failed, does not count, and was made again."`
	// Counters are the node counters of throttling and errors that moved while it ran, sorted. Absent from
	// documents of older versions; see Node.Counters.
	Counters []Counter `json:"counters,omitempty" doc:"Counters of the nodes that moved between the start of the launch's first process and the end of its last, sorted by node, device and name."`
	// Shared are metrics that were measured once for all cases of the launch.
	Shared []string `json:"shared,omitempty" doc:"Metrics that were measured once for the launch, which has other cases too: they have the same value."`
	// RateWindow is absent if no rate has a window, and from documents of older versions.
	RateWindow string `json:"rate_window,omitempty" doc:"Span that the rates of a load are of: its steady part, or the whole where that was asked for or it had too few waves. A steady part begins and ends with the end of a request (steady_ends); that of older versions begins when all slots are taken, and lacks the last wave (steady)." schema:"enum=steady_ends|steady|whole"`
	// Load is the share of the launch's time during which its background load ran; nil without one.
	Load *float64 `json:"load,omitzero" doc:"Share of the time during which its background load was running." schema:"minimum=0,maximum=1"`
	// Resumed says that the launch was made by the session that this one continues.
	Resumed bool `json:"resumed,omitzero" doc:"The launch was made by the session that this one goes on with."`
}

// Cause is a cause of failed operations with their number.
type Cause struct {
	Text  string `json:"cause"`
	Count int    `json:"count" schema:"minimum=1"`
}

// Failure is what ended a launch.
type Failure struct {
	Rank  int    `json:"rank" doc:"-1: no single rank." schema:"minimum=-1"`
	Node  string `json:"node,omitempty"`
	Phase string `json:"phase"` // ready | connect | run | verify | teardown | …
	// Kind classifies the failure for retries: see FailureKinds. "" in documents of older versions.
	Kind  string   `json:"kind,omitempty" schema:"enum=setup|ready|connect|crash|timeout|lost|fault|wrong|disturbed"`
	Cause string   `json:"cause"`
	Log   []string `json:"log,omitempty" doc:"The last lines of the rank's log."`
}

// The kinds of failures. All but Fault, Wrong and Disturbed are failures of the infrastructure: retry repeats
// launches with those, unless its key on names kinds, of which fault is one.
const (
	FailedSetup = "setup"     // a setup command failed
	FailedReady = "ready"     // ranks did not start or open their fabric
	FailedLink  = "connect"   // ranks did not connect
	Crashed     = "crash"     // a rank process died
	TimedOut    = "timeout"   // a deadline passed, or a rank made no progress
	NodeLost    = "lost"      // a node or its agent was lost
	Fault       = "fault"     // the engine reported an error
	Disturbed   = "disturbed" // it lacked processor time, and --disturbed is fail
	Wrong       = "wrong"     // data failed verification, or metrics could not be computed
)

// FailureKinds are the kinds that a retry may name.
var FailureKinds = []string{FailedSetup, FailedReady, FailedLink, Crashed, TimedOut, NodeLost, Fault}

// LaunchName is a launch's name for people, counted from 1; its index and file names count from 0.
func LaunchName(index int) string { return fmt.Sprintf("launch %d", index+1) }

// Evaluating is the phase of failures found in measurements.
const Evaluating = "evaluate"

// String is the failure in one line: rank, node, phase and cause.
func (f *Failure) String() string {
	subject := ""
	if f.Rank >= 0 {
		subject = fmt.Sprintf("rank %d", f.Rank)
	}
	if f.Node != "" && (f.Rank >= 0 || !strings.Contains(f.Cause, f.Node)) { // the cause of a lost node names it
		subject = strings.TrimSpace(subject + " on " + f.Node)
	}
	if subject != "" {
		subject += ", "
	}
	if subject == "" && f.Phase == Evaluating {
		return f.Cause // no process failed, and no other failure has this phase
	}
	return fmt.Sprintf("%sphase %s: %s", subject, f.Phase, f.Cause)
}

// MetricEstimate is a metric over the launches of a case, in the registry's unit. Value is the centre of
// CI on the scale of verdicts: the geometric mean; for metrics that may be 0, or with a value of zero or
// less, the arithmetic mean. Mean is always arithmetic.
type MetricEstimate struct {
	Unit   string  `json:"unit"`
	N      int     `json:"n" doc:"Launches." schema:"minimum=1"`
	Value  float64 `json:"value" doc:"What ci is an interval for: of a quantile that of the values of all launches together, where they have distributions; else the geometric mean; the arithmetic mean of a metric of which 0 is a measurement as any other, and if a launch gave zero or less."`
	Median float64 `json:"median"`
	Mean   float64 `json:"mean"`
	CV     float64 `json:"cv" doc:"Standard deviation over mean, between launches." schema:"minimum=0"`
	// CI is nil below two launches.
	CI         *[2]float64 `json:"ci" doc:"Where an assertion is about the metric, the interval by which it is judged."`
	Confidence float64     `json:"confidence" schema:"ref=confidence"`
	// Looks is as in Observed.
	Looks  int    `json:"looks,omitzero" doc:"How many looks share the error that the confidence leaves, where there are several." schema:"minimum=2"`
	Better string `json:"better" schema:"enum=higher|lower|none"`
	// Components are absent if only the variance of launches is known.
	Components []Variance `json:"components,omitempty" doc:"What the metric varies by at each level that is known."`
	// Samples is 0 for metrics that are no quantiles, or if not recorded.
	Samples int64 `json:"samples,omitzero" doc:"Of a quantile: how many values of a launch it is of, in the launch that has fewest." schema:"minimum=1"`
}

// Ran reports whether any case was run, with any result.
func (d *Document) Ran() bool {
	return slices.ContainsFunc(d.Cases, func(c *Case) bool { return c.Status != Skipped && c.Status != Excluded })
}

// Case returns the case with a key, or nil.
func (d *Document) Case(key string) *Case {
	for _, c := range d.Cases {
		if c.Key == key {
			return c
		}
	}
	return nil
}
