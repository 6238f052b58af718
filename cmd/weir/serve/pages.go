package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// addresses are those of the server's pages.
var addresses = reporters.Addresses{
	Session: func(file string) string { return reporters.QueryOf("session", "file", file) },
	Running: func(name string) string { return reporters.QueryOf("running", "session", name) },
	Series:  func(scenario string) string { return reporters.QueryOf("series", "scenario", scenario) },
	Trend: func(scenario, key, metric string) string {
		return reporters.QueryOf("trend", "scenario", scenario, "case", key, "metric", metric)
	},
	Compare: "compare",
}

// home is the list of sessions.
const home = "./"

// The settings of trends and comparisons, as those of weir history trend and weir compare by default.
const (
	significance = 0.05
	magnitude    = 0.03
	margin       = 0.03
)

// folder is the served folder. Names of files in requests are those of its list, and nothing else is opened.
type folder struct {
	history.Store
}

func pages(of history.Store) http.Handler {
	f := folder{of}
	mux := http.NewServeMux()
	for path, page := range map[string]func(*http.Request) (func(io.Writer) error, error){
		"/{$}": f.list, "/session": f.session, "/running": f.running, "/series": f.series, "/trend": f.trend,
		"/compare": f.compare,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			write, err := page(r)
			switch {
			case err != nil:
				code := http.StatusNotFound
				if errors.Is(err, errPicked) {
					code = http.StatusBadRequest
				}
				written(w, code, func(w io.Writer) error { return reporters.ProblemHTML(w, err, home) })
			case write == nil: // the session has results now
				http.Redirect(w, r, addresses.Session(filepath.Join(r.URL.Query().Get("session"), resultsName)),
					http.StatusSeeOther)
			default:
				written(w, http.StatusOK, write)
			}
		})
	}
	return mux
}

const resultsName = "results.json"

func (f folder) list(*http.Request) (func(io.Writer) error, error) {
	entries, problems, err := f.List()
	if err != nil {
		return nil, err
	}
	running, err := f.withoutResults()
	return func(w io.Writer) error {
		return reporters.SessionsHTML(w, f.Dir, running, entries, problems, addresses)
	}, err
}

// withoutResults are the folders of sessions that are running, or were interrupted.
func (f folder) withoutResults() (names []string, err error) {
	all, err := os.ReadDir(f.Dir)
	for _, e := range slices.Backward(all) {
		has := func(name string) bool {
			_, err := os.Stat(filepath.Join(f.Dir, e.Name(), name))
			return err == nil
		}
		if e.IsDir() && has(ledger.PlanName) && has(ledger.EventsName) && !has(resultsName) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// document is one of the list, by its file.
func (f folder) document(file string) (*results.Document, error) {
	entries, _, err := f.List()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(entries, func(e history.Entry) bool { return e.File == file }) {
		return nil, fmt.Errorf("there is no session %q", file)
	}
	return stored.Read(filepath.Join(f.Dir, file), io.Discard)
}

func (f folder) session(r *http.Request) (func(io.Writer) error, error) {
	file := r.URL.Query().Get("file")
	doc, err := f.document(file)
	if err != nil {
		return nil, err
	}
	var beside fs.FS // of the session
	if filepath.Base(file) == resultsName {
		beside = os.DirFS(filepath.Dir(filepath.Join(f.Dir, file)))
	}
	return func(w io.Writer) error { return reporters.HTMLBeside(w, doc, beside, home) }, nil
}

// running shows a session by its events so far; nil: it has results.
func (f folder) running(r *http.Request) (func(io.Writer) error, error) {
	name := r.URL.Query().Get("session")
	names, err := f.withoutResults()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, name) {
		if _, err := f.document(filepath.Join(name, resultsName)); err != nil {
			return nil, err
		}
		return nil, nil
	}
	plan, err := planner.Read(filepath.Join(f.Dir, name, ledger.PlanName))
	if err != nil {
		return nil, err
	}
	follower := screen.NewFollower(plan)
	found := troubles{discarded: map[string]int{}}
	if err := eachEvent(filepath.Join(f.Dir, name, ledger.EventsName), func(e event.Event) {
		follower.OnEvent(e)
		found.add(e)
	}); err != nil {
		return nil, err
	}
	state := follower.Running()
	state.Troubles = found.all
	for i, c := range plan.Cases {
		state.Cases[i].Discarded = found.discarded[c.Key]
	}
	return func(w io.Writer) error { return reporters.RunningHTML(w, state, home) }, nil
}

// eachEvent reads the complete lines of a file of events.
func eachEvent(path string, do func(event.Event)) error {
	file, err := bounded.Open(path, bounded.Result)
	if err != nil {
		return err
	}
	defer file.Close()
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if !bytes.HasSuffix(line, []byte("\n")) {
			return nil // being written, or the end
		}
		var e event.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		do(e)
		if err != nil {
			return err
		}
	}
}

func (f folder) series(r *http.Request) (func(io.Writer) error, error) {
	entries, _, err := f.List()
	if err != nil {
		return nil, err
	}
	scenario := r.URL.Query().Get("scenario")
	for _, e := range slices.Backward(entries) {
		if e.Scenario == scenario {
			doc, err := f.document(e.File)
			return func(w io.Writer) error { return reporters.SeriesHTML(w, doc, home, addresses) }, err
		}
	}
	return nil, fmt.Errorf("there is no session of scenario %q", scenario)
}

func (f folder) trend(r *http.Request) (func(io.Writer) error, error) {
	q := r.URL.Query()
	t, err := f.Trend(history.Query{
		Case: q.Get("case"), Metric: q.Get("metric"), Scenario: q.Get("scenario"),
		Significance: significance, Magnitude: magnitude,
	})
	return func(w io.Writer) error { return reporters.TrendHTML(w, t, home, addresses) }, err
}

// errPicked is returned for a number of sessions that cannot be compared.
var errPicked = fmt.Errorf("pick 2 to %d sessions", reporters.MostCompared)

// compare compares the picked sessions with the oldest of them.
func (f folder) compare(r *http.Request) (func(io.Writer) error, error) {
	picked := r.URL.Query()["session"]
	if len(picked) < 2 || len(picked) > reporters.MostCompared {
		return nil, fmt.Errorf("%w, and %d are picked", errPicked, len(picked))
	}
	type session struct {
		file string
		doc  *results.Document
	}
	var of []session
	for _, file := range picked {
		doc, err := f.document(file)
		if err != nil {
			return nil, err
		}
		of = append(of, session{file, doc})
	}
	slices.SortStableFunc(of, func(a, b session) int {
		return a.doc.Session.Started.Compare(b.doc.Session.Started)
	})
	var all []*results.Comparison
	for _, next := range of[1:] {
		c, err := gate.Compare(of[0].doc, next.doc, gate.CompareOptions{Margin: margin})
		if err != nil {
			return nil, err
		}
		c.Base.File, c.New.File = of[0].file, next.file
		all = append(all, c)
	}
	return func(w io.Writer) error { return reporters.ComparisonHTML(w, home, all...) }, nil
}
