package reporters

import (
	"fmt"
	"strings"
)

// anchor is the id of a case or a finding on a page, the same for every session with the same keys: links to it keep
// their meaning when the page is written anew.
func (d *draft) anchor(kind string, names ...string) string {
	id := kind + "-" + strings.Join(strings.Fields(strings.Join(names, " ")), "_")
	d.ids[id]++
	if n := d.ids[id]; n > 1 {
		return fmt.Sprintf("%s-%d", id, n)
	}
	return id
}

// findingAnchor is the id of a finding.
func (d *draft) findingAnchor(f finding) string { return d.anchor("finding", f.where, f.name) }
