package schedule

import (
	"fmt"
	"math"
)

// Limits of a load.
const (
	MostRequests = 1 << 22
	mostTime     = 1 << 53 // ns, which is 104 days: a float64 has all whole numbers up to here
)

// Open is an open load: its requests are due whatever became of those before.
type Open struct {
	Arrivals Arrivals
	Rate     float64 // requests per second
	Ramp     *Ramp   // instead of Rate
	Requests int     // it ends after so many; 0: Duration says
	Duration int64   // ns; requests are due before it is over; 0: Requests says
	Seed     uint64
}

// Check says what is wrong with a load without making its times.
func (o Open) Check() error {
	atOnce := o.Arrivals.Kind == Burst && o.Arrivals.Size == 0
	switch {
	case o.Requests <= 0 && o.Duration <= 0:
		return fmt.Errorf("a load ends after requests or after a duration: say one of them")
	case o.Requests < 0 || o.Duration < 0:
		return fmt.Errorf("a load has no negative number of requests and no negative duration")
	case o.Requests > MostRequests:
		return fmt.Errorf("%d requests are more than %d", o.Requests, MostRequests)
	case o.Duration > mostTime:
		return fmt.Errorf("a load takes 104 days at most")
	case atOnce && o.Requests == 0:
		return fmt.Errorf("with arrivals burst all requests are due at once: say how many there are, or how many a burst has")
	case atOnce:
		return nil
	case o.Ramp != nil:
		return o.Ramp.check()
	case !(o.Rate > 0 && o.Rate <= MostRate):
		return fmt.Errorf("an open load has a rate above 0 and up to %v/s, and this is %v/s", MostRate, o.Rate)
	}
	return nil
}

// Times are when its requests are due, the earliest first.
func (o Open) Times() ([]int64, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Arrivals.Kind == Burst && o.Arrivals.Size == 0 {
		return make([]int64, o.Requests), nil
	}
	var list []int64
	for next := o.Arrivals.operational(o.Seed); o.Requests == 0 || len(list) < o.Requests; {
		at := o.due(next())
		if o.Duration > 0 && at >= float64(o.Duration) {
			break
		}
		if !(at < mostTime) {
			return nil, fmt.Errorf("request %d of this load is due after more than 104 days, or never", len(list)+1)
		}
		if len(list) == MostRequests {
			return nil, fmt.Errorf("this load has more than %d requests: lower its rate or its duration", MostRequests)
		}
		list = append(list, int64(at))
	}
	return list, nil
}

// due is when so many requests have been due, in whole ns.
func (o Open) due(x float64) float64 {
	if o.Ramp != nil {
		return math.Round(o.Ramp.due(x))
	}
	return math.Round(x * 1e9 / o.Rate)
}

// Client is which of several clients on one schedule sends the request of an index: they take
// turns. Of conversations it is the index of the conversation, whose turns one client sends.
func Client(index, clients int) int { return index % clients }

// Slots are the requests that one of several clients may have in flight, of those that all
// may have together.
func Slots(concurrency, client, clients int) int {
	n := concurrency / clients
	if client < concurrency%clients {
		n++
	}
	return n
}
