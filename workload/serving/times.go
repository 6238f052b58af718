package serving

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving/schedule"
)

// Times returns the scheduled times of the requests, or first turns of conversations, of an open load, in ns. Each
// launch has its own random gaps, so that their chance is noise between launches.
func (s *Spec) Times(rate float64, launch int) ([]int64, error) {
	if s.trace != "" {
		rows, err := s.rows()
		if err != nil {
			return nil, err
		}
		times, err := schedule.Times(rows, s.TimeScale)
		for i, at := range times {
			if s.Duration > 0 && at >= int64(s.Duration) || s.Requests > 0 && i == int(s.Requests) {
				return times[:i], err
			}
		}
		return times, err
	}
	o, err := s.open(rate)
	if err != nil {
		return nil, err
	}
	o.Launch = uint64(launch)
	return o.Times()
}

func (s *Spec) open(rate float64) (o schedule.Open, err error) {
	o = schedule.Open{Rate: rate, Duration: int64(s.Duration), Seed: s.Seed}
	if s.Requests > 0 {
		o.Requests = s.conversations()
	}
	if o.Arrivals, err = schedule.ParseArrivals(s.Arrivals); err != nil {
		return o, err
	}
	if s.Ramp != "" {
		r, err := schedule.ParseRamp(s.Ramp)
		if err != nil {
			return o, fmt.Errorf("ramp: %w", err)
		}
		o.Ramp = &r
	}
	return o, nil
}

// CheckSchedule validates the times of an open load.
func (s *Spec) CheckSchedule() error {
	if s.trace != "" {
		_, err := s.Times(0, 0)
		return err
	}
	o, err := s.open(s.Rate)
	if err == nil {
		err = o.Check()
	}
	return err
}

// conversations returns the number of conversations for this many requests.
func (s *Spec) conversations() int { return (int(s.Requests) + s.Turns - 1) / s.Turns }

func (s *Spec) rows() ([]schedule.Row, error) {
	if s.trace == "" {
		return nil, nil
	}
	content, err := file(s.trace)
	if err != nil {
		return nil, err
	}
	return schedule.ReadTrace(content)
}

// expected returns the number of requests of a case with these options, before any launch; 0: unknown.
func expected(options map[string]any) int {
	s, err := workload.Decoded(Kind, options, Decode)
	if err != nil || s.Search != nil {
		return 0
	}
	within := math.Inf(1)
	if s.Open() && s.Rate > 0 && s.Duration > 0 {
		within = math.Round(s.Rate*s.Duration.Seconds()) * float64(s.Turns)
	}
	switch {
	case s.Requests > 0:
		return int(min(float64(s.Requests), within))
	case s.trace != "":
		times, _ := s.Times(0, 0)
		return len(times) * s.Turns
	case s.Rate > 0:
		return int(within)
	}
	return 0
}

// Longer returns the duration, and the number of requests if the case has one, with which a load has enough requests.
// Random arrivals have three standard deviations of a Poisson process more.
func (behaviour) Longer(options map[string]any, n, want int64) string {
	s, err := workload.Decoded(Kind, options, Decode)
	if err != nil || s.Search != nil || s.Duration == 0 || n == 0 {
		return ""
	}
	if arrivals, err := schedule.ParseArrivals(s.Arrivals); err == nil && arrivals.Random() {
		want += int64(math.Ceil(3 * math.Sqrt(float64(want))))
	}
	perSecond := float64(n) / s.Duration.Seconds()
	if s.Open() && s.Rate > 0 {
		perSecond = s.Rate * float64(s.Turns)
	} else if s.Requests > 0 && n >= s.Requests {
		return "" // the duration was not over
	}
	longer := time.Duration(math.Ceil(float64(want)/perSecond)) * time.Second
	switch {
	case longer <= s.Duration:
		return ""
	case s.Requests > 0 && s.Requests < want:
		return fmt.Sprintf("duration: %.0fs and requests: %d", longer.Seconds(), want)
	}
	return fmt.Sprintf("duration: %.0fs", longer.Seconds())
}

// LeastTime returns when the last request of an open load is due, or the duration of a closed one that has no number of
// requests.
func (behaviour) LeastTime(v option.Values) time.Duration {
	s, err := Decode(v)
	switch {
	case err != nil || s.Search != nil:
		return 0
	case s.Concurrency == 0:
		times, err := s.Times(s.Rate, 0)
		if err != nil || len(times) == 0 {
			return 0
		}
		return time.Duration(times[len(times)-1])
	case s.Requests == 0:
		return s.Duration
	}
	return 0
}
