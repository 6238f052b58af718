package reporters

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// browser starts Chromium, or skips the test where there is none.
func browser(t testing.TB) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{
		"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell",
	} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium is installed (scripts/setup browser installs Debian's)")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path),
		chromedp.DisableGPU)
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which root cannot have
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	// without a timeout: its end would be the browser's
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900)); err != nil {
		t.Fatalf("starting %s: %v", path, err)
	}
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// do takes steps in the browser.
func do(t testing.TB, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// ask has the browser evaluate an expression; of a promise it is what it becomes.
func ask[T any](t testing.TB, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// browserLog has the errors and requests of a browser.
type browserLog struct {
	sync.Mutex
	complaints, requests []string
}

func listen(t testing.TB, ctx context.Context) *browserLog {
	t.Helper()
	w := &browserLog{}
	err := chromedp.Listen(ctx, func(event any) {
		w.Lock()
		defer w.Unlock()
		switch e := event.(type) {
		case *log.EventEntryAdded:
			w.complaints = append(w.complaints, e.Entry.Text)
		case *runtime.EventConsoleAPICalled:
			w.complaints = append(w.complaints, fmt.Sprintf("console.%s", e.Type))
		case *runtime.EventExceptionThrown:
			w.complaints = append(w.complaints, e.ExceptionDetails.Text)
		case *network.EventRequestWillBeSent:
			w.requests = append(w.requests, e.Request.URL)
		}
	})
	if err == nil {
		_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// taken is what was reported since the last call.
func (w *browserLog) taken() (complaints, requests []string) {
	w.Lock()
	defer w.Unlock()
	complaints, requests = w.complaints, w.requests
	w.complaints, w.requests = nil, nil
	return complaints, requests
}

func pageFile(t testing.TB, name string, doc *results.Document) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".html")
	r, _ := Lookup("html")
	if err := r.WriteFile(path, doc); err != nil {
		t.Fatal(err)
	}
	return path
}

// colors has the browser prefer light or dark pages.
func colors(t testing.TB, ctx context.Context, scheme string) {
	t.Helper()
	wish := emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, wish); err != nil {
		t.Fatal(err)
	}
}

// In a chart the pointer reads a point out, a click in the legend hides a series, a button makes an
// axis linear, others zoom, and nobody complains; in windows wide and narrow, light and dark.
func TestChartsInABrowser(t *testing.T) {
	doc := session(64, 3)
	path := pageFile(t, "charts", doc)
	ctx := browser(t)
	observed := listen(t, ctx)
	for _, width := range []int64{1400, 400} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("%d/%s", width, scheme), func(t *testing.T) {
				colors(t, ctx, scheme)
				do(t, ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+path))
				type point struct{ X, Y float64 }
				at := ask[struct {
					Point      point
					Series     int
					Top, Table float64
				}](t, ctx, `(async () => {
					const first = document.documentElement.weirCharts.values().next().value;
					first.place.scrollIntoView({ block: 'center', behavior: 'instant' });
					first.draw();
					await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
					const r = first.place.getBoundingClientRect();
					const s = first.chart.getOption().series.findIndex((s) => s.type === 'line');
					const value = first.chart.getOption().series[s].data[5].value;
					const [x, y] = first.chart.convertToPixel({ gridIndex: 0 }, value);
					return { Point: { X: r.left + x, Y: r.top + y },
						Series: first.readable.length, Top: r.top + scrollY,
						Table: document.querySelector('#run-1 table').getBoundingClientRect().top + scrollY };
				})()`)
				do(t, ctx, chromedp.MouseEvent(chromedp.MouseMoved, at.Point.X-30, at.Point.Y),
					chromedp.MouseEvent(chromedp.MouseMoved, at.Point.X, at.Point.Y))
				const first = `document.documentElement.weirCharts.values().next().value`
				after := `await new Promise((done) => setTimeout(done, 200)); `
				tip := ask[string](t, ctx, `(async () => { `+after+`
					return document.querySelector('.tip') ? document.querySelector('.tip').textContent : ''; })()`)
				if !strings.Contains(tip, "GB/s (96% CI ") || !strings.Contains(tip, "launches: ") {
					t.Errorf("the pointer reads out %q", tip)
				}
				do(t, ctx, chromedp.Click(`.legend > button[type=button]`))
				left := ask[int](t, ctx, `(async () => { `+after+` return `+first+`.readable.length; })()`)
				if want := at.Series * 3 / 4; left != want {
					t.Errorf("without one of four series there are %d points of %d", left, at.Series)
				}
				log := `(() => { const o = ` + first + `.chart.getOption(); return [o.xAxis[0].type, o.yAxis[0].type].join(); })()`
				before := ask[string](t, ctx, log)
				do(t, ctx, chromedp.Click(`.chart-tools button[aria-label^="log y"]`))
				if now := ask[string](t, ctx, log); before != "log,log" || now != "log,value" {
					t.Errorf("axes were %s and are %s", before, now)
				}
				span := `(() => { const v = ` + first + `.view.x; return v[1] / v[0]; })()`
				all := ask[float64](t, ctx, span)
				do(t, ctx, chromedp.Click(`.chart-tools button[aria-label^="+: zoom in"]`))
				if some := ask[float64](t, ctx, span); !(some < all) {
					t.Errorf("zoomed in the axis goes to %v times its start instead of %v", some, all)
				}
				if complaints, _ := observed.taken(); len(complaints) > 0 {
					t.Errorf("complaints: %q", complaints)
				}
				if at.Table > 700 || at.Top < at.Table {
					t.Errorf("results begin %v and charts %v below the top", at.Table, at.Top)
				}
			})
		}
	}
}

// On a desk and in a hand, by day and by night: no complaint, no request but for the
// page, nothing wider than the window, and the verdict can be read. WEIR_SCREENSHOTS names a
// folder that gets pictures of all of them.
func TestPageInABrowser(t *testing.T) {
	phase.Long(t)
	ctx := browser(t)
	observed := listen(t, ctx)
	type page struct {
		name, path string
		says       []string
		drawn      bool
	}
	var pages []page
	for _, name := range documents {
		doc := read(t, name)
		pages = append(pages, page{
			name, pageFile(t, name, doc), []string{headline(doc), labelled(doc.Session.Status)}, doc.Ran(),
		})
	}
	course := page{"trend", filepath.Join(t.TempDir(), "trend.html"), []string{"✗ worse", "1 change of level"}, true}
	err := results.WriteWith(course.path, func(w io.Writer) error { return TrendHTML(w, fallen(), "", Addresses{}) })
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(pages, course) {
		path := p.path
		for _, width := range []int64{1400, 400} {
			for _, scheme := range []string{"light", "dark"} {
				t.Run(fmt.Sprintf("%s/%d/%s", p.name, width, scheme), func(t *testing.T) {
					colors(t, ctx, scheme)
					do(t, ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+path))
					at := ask[struct {
						Text        string   `json:"text"`
						Page        float64  `json:"page"`
						Wide        float64  `json:"wide"`
						Paper       string   `json:"paper"`
						Drawings    int      `json:"drawings"`
						Unreachable []string `json:"unreachable"`
					}](t, ctx, `(async () => ({
						text: document.body.innerText, page: document.documentElement.scrollWidth, wide: innerWidth,
						paper: getComputedStyle(document.body).backgroundColor,
						drawings: await `+chartsDrawn+`,
						unreachable: Array.from(document.querySelectorAll('.box, .canvas, button, input, summary, a')).filter((e) => e.tabIndex < 0).map((e) => e.outerHTML),
					}))()`)
					complaints, requests := observed.taken()
					if len(complaints) > 0 {
						t.Errorf("complaints: %q", complaints)
					}
					if !slices.Equal(requests, []string{"file://" + path}) {
						t.Errorf("requests: %q", requests)
					}
					if at.Page > at.Wide {
						t.Errorf("the page is %v wide in a window of %v", at.Page, at.Wide)
					}
					for _, s := range p.says {
						if !strings.Contains(at.Text, s) {
							t.Errorf("%q cannot be read: %.300s", s, at.Text)
						}
					}
					if want := map[string]string{"light": "rgb(255, 255, 255)",
						"dark": "rgb(21, 24, 27)"}[scheme]; at.Paper != want {
						t.Errorf("the page is %s, want %s", at.Paper, want)
					}
					if at.Drawings == 0 && p.drawn {
						t.Error("no drawing can be seen")
					}
					if len(at.Unreachable) > 0 {
						t.Errorf("out of the keyboard's reach: %q", at.Unreachable)
					}
					screenshot(t, ctx, fmt.Sprintf("%s-%d-%s.png", p.name, width, scheme))
				})
			}
		}
	}
}

// chartsDrawn has all charts of a page drawn and is how many have something in them: not all of their
// pixels are alike.
const chartsDrawn = `(async () => {
	const charts = document.documentElement.weirCharts;
	let n = 0;
	for (const c of charts ? charts.values() : []) {
		c.draw();
		if (!c.chart) continue;
		c.chart.getZr().flush();
		const canvas = c.place.querySelector('canvas');
		const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
		if (pixels.some((p) => p !== pixels[0])) n++;
	}
	return n;
})()`

func screenshot(t *testing.T, ctx context.Context, name string) {
	dir := os.Getenv("WEIR_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

// On paper the page is light whatever the reader's screen is, what is folded is there, and nothing is covered or cut.
func TestPageOnPaper(t *testing.T) {
	ctx := browser(t)
	wish := emulation.SetEmulatedMediaParams{
		Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, wish); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate("file://"+pageFile(t, "paper", read(t, "failed"))))
	if got := ask[string](t, ctx, `getComputedStyle(document.body).backgroundColor`); got != "rgb(255, 255, 255)" {
		t.Errorf("the paper is %s", got)
	}
	if text := ask[string](t, ctx, `document.body.innerText`); !strings.Contains(text,
		"--only 'bandwidth[block_size=4KiB]'") || strings.Contains(text, "↕") {
		t.Error("what is folded is not printed, or what cannot be clicked is")
	}
	if got := ask[string](t, ctx, `getComputedStyle(document.querySelector('td.v')).position`); got != "static" {
		t.Errorf("the column of verdicts is %s and covers others", got)
	}
	widths := `Math.max(...Array.from(document.querySelectorAll('canvas'), (c) => c.getBoundingClientRect().width))`
	if got := ask[float64](t, ctx, `(dispatchEvent(new Event('beforeprint')), `+widths+`)`); got < 100 || got > 690 {
		t.Errorf("charts are %v px wide, and a sheet of paper has 700", got)
	}
	if got := ask[float64](t, ctx, `(dispatchEvent(new Event('afterprint')), `+widths+`)`); got < 800 {
		t.Errorf("after printing charts are %v px wide", got)
	}
}

// A table sorts by amounts, not by letters, and says so; a filter keeps the rows that have
// all words; a chart reads out its points by the arrow keys.
func TestPageSortsFiltersAndReadsOut(t *testing.T) {
	doc := session(40, 3)
	for i, c := range doc.Cases { // which no order of letters would sort
		c.Launches[0].WorkingSet = &results.WorkingSet{Node: 1 << (10 + i*7%20), Cache: 32 << 20}
	}
	ctx := browser(t)
	observed := listen(t, ctx)
	const button = "#run-1 th:nth-child(2) button"
	cells := func(column int) []string {
		return ask[[]string](t, ctx, fmt.Sprintf(`Array.from(document.querySelectorAll('#run-1 tbody')[0].rows, (r) => r.cells[%d].textContent)`,
			column-1))
	}
	column := func() []string { return cells(2) }
	do(t, ctx, chromedp.Navigate("file://"+pageFile(t, "session", doc)))
	sizes := column()
	do(t, ctx, chromedp.Focus(button), chromedp.KeyEvent(kb.Enter))
	sorted, order := column(), ask[string](t, ctx,
		`document.querySelector('#run-1 th:nth-child(2)').getAttribute('aria-sort')`)
	do(t, ctx, chromedp.Click(button))
	back := column()
	do(t, ctx, chromedp.Click("#run-1 th:nth-child(4) button"))
	walked := cells(4)
	do(t, ctx, chromedp.SendKeys(`#run-1 input[type=search]`, "512KiB ucx"))
	shown := ask[string](t, ctx, `new Promise((done) => setTimeout(() => done(
		Array.from(document.querySelectorAll('#run-1 tbody')[0].rows).filter((r) => r.getClientRects().length).map((r) => r.cells[0].textContent + ' ' + r.cells[1].textContent).join('|')), 300))`)
	exact := ask[string](t, ctx, `(async () => {
		const input = document.querySelector('#run-1 input[type=search]');
		input.value = 'block_size=4KiB';
		input.dispatchEvent(new Event('input'));
		await new Promise((done) => setTimeout(done, 300));
		return Array.from(new Set(Array.from(document.querySelector('#run-1 tbody').querySelectorAll('tr:not([hidden])'), (r) => r.cells[1].textContent))).join();
	})()`)
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector('#charts-run-1 .canvas').focus()`),
		chromedp.KeyEvent(kb.ArrowRight))
	const readout = `document.querySelector('#charts-run-1 .readout').textContent`
	first := ask[string](t, ctx, readout)
	do(t, ctx, chromedp.KeyEvent(kb.ArrowRight))
	second := ask[string](t, ctx, readout)
	if complaints, _ := observed.taken(); len(complaints) > 0 {
		t.Errorf("complaints: %q", complaints)
	}
	want := slices.Clone(sizes)
	slices.SortStableFunc(want, bySize)
	if !slices.Equal(sorted, want) || order != "ascending" {
		t.Errorf("sorted %s: %v, want %v", order, sorted, want)
	}
	slices.Reverse(want)
	if !slices.Equal(back, want) {
		t.Errorf("sorted back %v, want %v", back, want)
	}
	if !slices.IsSortedFunc(walked, func(a, b string) int {
		x, _, hot := strings.Cut(a, ", ")
		y, _, cold := strings.Cut(b, ", ")
		if !hot || !cold {
			t.Fatalf("%q or %q is no working set", a, b)
		}
		return bySize(x, y)
	}) {
		t.Errorf("working sets are sorted %q", walked)
	}
	if shown != "ucx 512KiB" {
		t.Errorf("the filter shows %q", shown)
	}
	if exact != "4KiB" {
		t.Errorf("the filter block_size=4KiB shows %q", exact)
	}
	if !strings.Contains(first, "GB/s") || first == second || !strings.Contains(second, "GB/s") {
		t.Errorf("the chart reads out %q, then %q", first, second)
	}
}

// Under a policy that forbids scripts and styles (that of Jenkins for what it
// archives) the page says all the same what it has to say, and that charts need scripts.
func TestPageWithoutScriptsAndStyles(t *testing.T) {
	doc := read(t, "failed")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'; img-src 'self'; style-src 'self';")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := HTML(w, doc); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	ctx := browser(t)
	observed := listen(t, ctx)
	do(t, ctx, chromedp.Navigate(server.URL))
	at := ask[struct {
		Text    string `json:"text"`
		Font    string `json:"font"`
		Buttons int    `json:"buttons"`
		Charts  int    `json:"charts"`
	}](t, ctx, `({
		text: document.body.textContent, buttons: document.querySelectorAll('button').length,
		font: getComputedStyle(document.body).fontSize, charts: document.querySelectorAll('canvas').length,
	})`)
	for _, want := range []string{"✗ failed", headline(doc), "bandwidth[block_size=4KiB]", "9.4% above 2 GB/s"} {
		if !strings.Contains(at.Text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if at.Buttons != 0 || at.Font != "16px" {
		t.Errorf("the policy did not hold: %+v", at)
	}
	if at.Charts != 0 || !strings.Contains(at.Text, "Charts need scripts") {
		t.Errorf("%d charts, and the page does not say that they need scripts", at.Charts)
	}
	complaints, requests := observed.taken()
	if len(complaints) == 0 {
		t.Error("the browser reports no violation of the policy: the log of the other tests is empty in any case")
	}
	if !slices.Equal(requests, []string{server.URL + "/"}) {
		t.Errorf("requests: %q", requests)
	}
	screenshot(t, ctx, "bare.png")
}

// The page of ten thousand cases opens; how long that takes is in the log.
func TestLargePageOpens(t *testing.T) {
	phase.Long(t)
	path := pageFile(t, "large", session(10_000, 5))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() >= 10e6 {
		t.Errorf("the page has %d bytes", info.Size())
	}
	ctx := browser(t)
	begin := time.Now()
	do(t, ctx, chromedp.Navigate("file://"+path))
	loaded := ask[float64](t, ctx, `performance.timing.loadEventEnd - performance.timing.navigationStart`)
	painted := ask[float64](t, ctx, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))`)
	took := time.Since(begin)
	opened := ask[float64](t, ctx, `new Promise((done) => {
		const before = performance.now();
		document.querySelector('#run-1 details').open = true;
		requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - before)));
	})`)
	t.Logf("%.1f MB: loaded after %.0f ms, painted after %.0f ms; its table unfolds in %.0f ms",
		float64(info.Size())/1e6, loaded, painted, opened)
	if took > 20*time.Second {
		t.Errorf("opened after %v", took)
	}
}
