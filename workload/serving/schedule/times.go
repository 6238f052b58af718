package schedule

import (
	"fmt"
	"math"
)

// Limits of a load.
const (
	MaxRequests = 1 << 22
	maxTime     = 1 << 53 // ns, which is 104 days: float64 represents all integers up to here
)

// Open is an open load: its schedule does not depend on earlier answers.
type Open struct {
	Arrivals Arrivals
	Rate     float64 // requests per second
	Ramp     *Ramp   // instead of Rate
	Requests int     // it ends after this many; 0: Duration decides
	Duration int64   // ns; requests are scheduled before its end; 0: Requests decides
	Seed     uint64
	Launch   uint64 // each has its own random gaps
}

// Check validates a load without computing its times.
func (o Open) Check() error {
	atOnce := o.Arrivals.Kind == Burst && o.Arrivals.Size == 0
	switch {
	case o.Requests <= 0 && o.Duration <= 0:
		return fmt.Errorf("a load ends after requests or after a duration: say one of them")
	case o.Requests < 0 || o.Duration < 0:
		return fmt.Errorf("a load has no negative number of requests and no negative duration")
	case o.Requests > MaxRequests:
		return fmt.Errorf("%d requests are more than %d", o.Requests, MaxRequests)
	case o.Duration > maxTime:
		return fmt.Errorf("a load takes 104 days at most")
	case atOnce && o.Requests == 0:
		return fmt.Errorf("with arrivals burst all requests are due at once: say how many there are, or how many a burst has")
	case atOnce:
		return nil
	case o.Ramp != nil:
		return o.Ramp.check()
	case !(o.Rate > 0 && o.Rate <= MaxRate):
		return fmt.Errorf("an open load has a rate above 0 and up to %v/s, and this is %v/s", MaxRate, o.Rate)
	}
	return nil
}

// Times returns the scheduled times of its requests, in order.
func (o Open) Times() ([]int64, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Arrivals.Kind == Burst && o.Arrivals.Size == 0 {
		return make([]int64, o.Requests), nil
	}
	var list []int64
	for next := o.Arrivals.operational(random(o.Seed, o.Launch)); o.Requests == 0 || len(list) < o.Requests; {
		at := o.due(next())
		if o.Duration > 0 && at >= float64(o.Duration) {
			break
		}
		if !(at < maxTime) {
			return nil, fmt.Errorf("request %d of this load is due after more than 104 days, or never", len(list)+1)
		}
		if len(list) == MaxRequests {
			return nil, fmt.Errorf("this load has more than %d requests: lower its rate or its duration", MaxRequests)
		}
		list = append(list, int64(at))
	}
	return list, nil
}

// due returns when this many requests have been scheduled, in whole ns.
func (o Open) due(x float64) float64 {
	if o.Ramp != nil {
		return math.Round(o.Ramp.due(x))
	}
	return math.Round(x * 1e9 / o.Rate)
}

// Client returns which of several clients sends the request of an index: they take turns. For conversations it is the
// index of the conversation, as one client sends all of its turns.
func Client(index, clients int) int { return index % clients }

// Slots returns the requests that one of several clients may have in flight, of the limit for all of them.
func Slots(concurrency, client, clients int) int {
	n := concurrency / clients
	if client < concurrency%clients {
		n++
	}
	return n
}
