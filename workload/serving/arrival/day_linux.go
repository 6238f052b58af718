package arrival

import (
	"sync"
	"time"
)

// epoch is where the monotonic times begin that a day takes.
var epoch = time.Now()

// host is the time of day of this host.
var host = &day{ahead: epoch.UnixNano()}

// day notices when the time of day is set: it then changes its distance to the monotonic clock, which follows it in
// all else.
type day struct {
	mu     sync.Mutex
	ahead  int64         // of the monotonic clock, in ns
	steady time.Duration // on the monotonic clock: since when ahead has had this value, as far as is known
}

// readTime is the longest time between the two readings of a clock that counts as none.
const readTime = 100 * time.Microsecond

// age returns how long before a reading of both clocks a time of day was; 0: that is not known, because the time of day
// was set in between.
func (d *day) age(now int64, monotonic time.Duration, stamp int64) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	ahead := now - int64(monotonic)
	if time.Duration(ahead-d.ahead).Abs() > readTime {
		d.ahead, d.steady = ahead, monotonic
	}
	age := time.Duration(now - stamp)
	if age < 0 || age > monotonic-d.steady {
		return 0
	}
	return age
}
