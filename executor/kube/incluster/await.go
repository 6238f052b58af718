package incluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/weir-bench/weir/executor/kube"
)

// await waits until all objects meet their conditions, or a pod fails.
func (s *Service) await(ctx context.Context) error {
	spec := s.r.Spec
	if len(spec.Wait) == 0 {
		return nil
	}
	tell := func(missing string) { s.say("waiting for %s", missing) }
	err := kube.Await(ctx, pollTime, spec.Within, tell, func(ctx context.Context) (string, error, error) {
		missing, err := s.missing(ctx)
		if err == nil && missing == "" {
			return "", nil, nil
		}
		return missing, err, s.pods.wrong()
	})
	if long, ok := errors.AsType[*kube.TooLong](err); ok {
		return fmt.Errorf("after %v still waiting for %s", spec.Within, long.Missing)
	}
	return err
}

// missing describes the objects that do not meet their conditions yet, or is "".
func (s *Service) missing(ctx context.Context) (string, error) {
	var all []string
	for _, want := range s.r.Spec.Wait {
		ctx, cancel := context.WithTimeout(ctx, answerTime)
		out, _, err := s.client.Run(ctx, nil, "get", want.Object, "--output", "json", "--ignore-not-found")
		cancel()
		if err != nil {
			return "", err
		}
		why := "there is none yet"
		if len(out) > 0 {
			var o object
			if err := json.Unmarshal(out, &o); err != nil {
				return "", fmt.Errorf("reading the output of kubectl get: %w", err)
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
