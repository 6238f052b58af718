package reporters

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// Each case and each finding has an id of its own on a page, and a link to it.
func TestPageHasLinksToCasesAndFindings(t *testing.T) {
	for _, name := range documents {
		doc := read(t, name)
		seen := map[string]bool{}
		page := parsePage(t, doc)
		for _, e := range append(page.all("tr"), page.all("details")...) {
			id := e.attribute("id")
			if id != "" && seen[id] {
				t.Errorf("%s: two rows or findings are %q", name, id)
			}
			seen[id] = true
		}
		for _, c := range doc.Cases {
			if id := newDraft(nil).anchor("case", plain(c.Key)); !seen[id] {
				t.Errorf("%s: no row is %q", name, id)
			}
		}
	}
}

// A link to what is folded or filtered out shows it; the link of a row names it.
func TestLinksReveal(t *testing.T) {
	ctx := browser(t)
	observed := listen(t, ctx)
	page := "file://" + pageFile(t, "links", read(t, "failed"))
	do(t, ctx, chromedp.Navigate(page))
	link := ask[string](t, ctx, `(() => {
		const row = Array.from(document.querySelectorAll('details:not([open]) tr[id]')).pop();
		return row.querySelector('a.at').getAttribute('href');
	})()`)
	const shown = `(() => {
		const to = document.querySelector(':target'), r = to.getBoundingClientRect();
		return to.localName === 'tr' && r.height > 0 && r.top >= 0 && r.bottom <= innerHeight;
	})()`
	do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(page+link))
	if !ask[bool](t, ctx, shown) {
		t.Errorf("%s is not shown when the page is opened", link)
	}
	do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(page))
	if !ask[bool](t, ctx, `(async () => {
		const id = decodeURIComponent('`+link+`'.slice(1));
		document.getElementById(id).hidden = true;
		location.hash = '`+link+`';
		await new Promise((done) => setTimeout(done, 200));
		return `+shown+`;
	})()`) {
		t.Errorf("%s is not shown when it is followed", link)
	}
	if complaints, _ := observed.taken(); len(complaints) > 0 {
		t.Errorf("complaints: %q", complaints)
	}
}
