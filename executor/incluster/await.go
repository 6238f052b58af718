package incluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// mostFailures in a row are a cluster's hiccup; one more is its answer.
const mostFailures = 5

var errTooLong = errors.New("waited long enough")

// await waits until all objects have come to what is asked of them, or something breaks.
func (s *Service) await(ctx context.Context) error {
	spec := s.r.Spec
	if len(spec.Wait) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, spec.Within, errTooLong)
	defer cancel()
	told, failures := "", 0
	for {
		missing, err := s.missing(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil && failures == mostFailures:
			return err
		case err != nil:
			failures++
		case missing == "":
			return nil
		default:
			failures = 0
			if text := "waiting for " + missing; text != told {
				s.say("%s", text)
				told = text
			}
		}
		if err := s.pods.wrong(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			if !errors.Is(context.Cause(ctx), errTooLong) {
				return context.Cause(ctx)
			}
			return fmt.Errorf("after %v still %s", spec.Within, told)
		case <-time.After(pollTime):
		}
	}
}

// missing says which objects are not yet as they are to be; "": all of them are.
func (s *Service) missing(ctx context.Context) (string, error) {
	var all []string
	for _, want := range s.r.Spec.Wait {
		ctx, cancel := context.WithTimeout(ctx, answerTime)
		out, _, err := s.client.Run(ctx, nil, "get", want.Object, "--output", "json", "--ignore-not-found")
		cancel()
		if err != nil {
			return "", err
		}
		why := "there is none yet" // its operator makes it
		if len(out) > 0 {
			var o object
			if err := json.Unmarshal(out, &o); err != nil {
				return "", fmt.Errorf("reading what kubectl get said: %w", err)
			}
			var ok bool
			if ok, why = met(o, want.Is); ok {
				continue
			}
		}
		all = append(all, fmt.Sprintf("%s to be %s (%s)", want.Object, want.Is, why))
	}
	text := strings.Join(all, "; ")
	if waits := s.pods.waits(); text != "" && waits != "" {
		text += "; " + waits
	}
	return text, nil
}
