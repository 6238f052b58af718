package reporters

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// axeCore returns the script of axe-core, which checks pages for what keyboards and screen readers need. scripts/setup
// browser fetches it.
func axeCore(t *testing.T) string {
	t.Helper()
	files, _ := filepath.Glob("../.build/axe-core-*/package/axe.min.js")
	if len(files) == 0 {
		t.Skip("there is no axe-core (scripts/setup browser fetches it where there is npm)")
	}
	script, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// axe-core finds nothing in the page of a session, wide and narrow, in light and dark.
func TestPageIsAccessible(t *testing.T) {
	script := axeCore(t)
	ctx := browser(t)
	for _, name := range []string{"failed", "traffic", "empty"} {
		page := "file://" + pageFile(t, name, read(t, name))
		for i, scheme := range []string{"light", "dark", "light", "dark"} {
			colors(t, ctx, scheme)
			do(t, ctx, chromedp.EmulateViewport([]int64{1400, 400}[i/2], 900), chromedp.Navigate(page))
			ask[bool](t, ctx, script+"; true")
			found := ask[[]string](t, ctx, `axe.run().then((r) => r.violations.map((v) => v.id + ': ' + v.help + ': ' +
				v.nodes.map((n) => n.html.slice(0, 200)).join(' ')))`)
			for _, v := range found {
				t.Errorf("%s, %s: %s", name, scheme, v)
			}
		}
	}
}
