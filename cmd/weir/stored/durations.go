package stored

import (
	"os"
	"path/filepath"
	"slices"

	"weir/results"
)

// rememberedSessions is how many sessions, the latest first, are looked at for
// how long cases take.
const rememberedSessions = 20

// Durations tells how long a launch of a case took on average, in seconds by
// case id, from the session directories in a folder. What cannot be read there
// is left out: a forecast is a courtesy.
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
