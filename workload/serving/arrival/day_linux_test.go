package arrival

import (
	"testing"
	"time"
)

func TestAgesWhileTheTimeOfDayIsSet(t *testing.T) {
	const ms, hour, noon = time.Millisecond, time.Hour, int64(1_800_000_000_000_000_000)
	d := &day{ahead: noon}
	for _, step := range []struct {
		what    string
		at      time.Duration // of the reading
		arrived time.Duration // when the stamp was made
		before  time.Duration // by which the time of day was set then
		set     time.Duration // by which it is set now
		want    time.Duration
	}{
		{"first", 10 * ms, 4 * ms, 0, 0, 6 * ms},
		{"a reading that took long", 20 * ms, 19 * ms, 0, 50 * time.Microsecond, ms + 50*time.Microsecond},
		{"set forwards between arrival and reading", 30 * ms, 25 * ms, 0, hour, 0},
		{"after that", 40 * ms, 35 * ms, hour, hour, 5 * ms},
		{"arrived before it was set", 41 * ms, 25 * ms, 0, hour, 0},
		{"set back between arrival and reading", 50 * ms, 45 * ms, hour, -hour, 0},
		{"after that", 60 * ms, 58 * ms, -hour, -hour, 2 * ms},
		{"set before the arrival", 70 * ms, 69 * ms, 24 * hour, 24 * hour, 0},
		{"set forwards and back", 80 * ms, 75 * ms, 48 * hour, 24 * hour, 0},
		{"set back and forwards", 90 * ms, 85 * ms, -hour, 24 * hour, 0},
	} {
		got := d.age(noon+int64(step.at+step.set), step.at, noon+int64(step.arrived+step.before))
		if got != step.want {
			t.Errorf("%s: %v instead of %v", step.what, got, step.want)
		}
	}
}
