package quantity

import (
	"strconv"
	"strings"
	"time"
)

// ShortSize formats a size with four digits.
func ShortSize(v float64) string {
	unit := "B"
	for _, next := range []string{"kB", "MB", "GB", "TB", "PB"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, next
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + " " + unit
}

// ShortTime formats a time to the second, or with four digits below a minute.
func ShortTime(t Time) string {
	d := time.Duration(t)
	if d >= time.Minute {
		return ShortSeconds(d.Round(time.Second).Seconds())
	}
	for unit := time.Second; unit > 1; unit /= 10 {
		if d >= unit {
			return d.Round(unit / 1000).String()
		}
	}
	return d.String()
}

// ShortSeconds formats a duration without the zeros that Go appends: 5m, not 5m0s.
func ShortSeconds(seconds float64) string {
	s := time.Duration(seconds * float64(time.Second)).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	return strings.Replace(s, "h0m", "h", 1)
}
