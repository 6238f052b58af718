package stored

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/weir-bench/weir/results"
)

// rememberedSessions is the number of sessions, the latest first, that Durations reads.
const rememberedSessions = 20

// Durations is the mean duration of a launch in seconds, by case ID, from the session directories in a
// folder. Unreadable documents are left out.
func Durations(dir string) map[string]float64 {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	sum, count := map[string]float64{}, map[string]float64{}
	read := 0
	for _, e := range slices.Backward(entries) { // names begin with the time
		if read == rememberedSessions {
			break
		}
		doc, err := results.Read(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		read++
		for _, c := range doc.Cases {
			for _, l := range c.Launches {
				if l.Status == results.OK && !l.Simulated {
					sum[c.ID] += l.Duration
					count[c.ID]++
				}
			}
		}
	}
	for id := range sum {
		sum[id] /= count[id]
	}
	return sum
}
