package reporters

import (
	"strings"
	"time"

	"github.com/weir-bench/weir/history"
)

// pointLabels are labels of sessions on an axis, all different: their days, their times if several were on one day, or
// else their times with the ends of their names.
func pointLabels(points []history.Point) []string {
	layouts := []string{time.DateOnly, "01-02 15:04", "01-02 15:04:05"}
	day := func(p history.Point) string { return p.Started.UTC().Format(time.DateOnly) }
	if len(points) > 1 && day(points[0]) == day(points[len(points)-1]) {
		layouts = []string{"15:04", time.TimeOnly}
	}
	for _, layout := range layouts {
		var all []string
		seen := map[string]bool{}
		for _, p := range points {
			text := p.Started.UTC().Format(layout)
			all, seen[text] = append(all, text), true
		}
		if len(seen) == len(points) {
			return all
		}
	}
	var all []string
	for _, p := range points {
		name := p.Session[strings.LastIndexByte(p.Session, '-')+1:]
		all = append(all, plain(p.Started.UTC().Format(layouts[0])+" "+name))
	}
	return all
}
