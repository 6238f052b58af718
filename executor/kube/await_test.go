package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// What a wait asks, tells and gives up on. Each answer is "" for nothing missing, "?" for a hiccup,
// "!" for another error, and else what is missing; the last one stays.
func TestAwait(t *testing.T) {
	stop := errors.New("stopped")
	for name, c := range map[string]struct {
		answers, reports string
		want             error
	}{
		"nothing is missing":    {"", "", nil},
		"told once":             {"a a b b a ", "a b a", nil},
		"hiccups pass":          {"? ? ? ? ? a ? ? ? ? ? ", "a", nil},
		"no hiccup":             {"a ? ? ? ? ? ?", "a", errors.New("hiccup")},
		"another error":         {"a !", "a", errors.New("broken")},
		"too long":              {"a b b", "a b", &TooLong{"b"}},
		"too long, only hiccup": {"? a ?", "a", errors.New("hiccup")},
		"stopped":               {"a stop b", "a", stop},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			answers := strings.Split(c.answers, " ")
			var reports []string
			err := Await(ctx, time.Millisecond, 200*time.Millisecond,
				func(text string) { reports = append(reports, text) },
				func(context.Context) (string, error, error) {
					a := answers[0]
					if len(answers) > 1 {
						answers = answers[1:]
					}
					switch a {
					case "?":
						return "", errors.New("hiccup"), nil
					case "!":
						return "", nil, errors.New("broken")
					case "stop":
						cancel(stop)
					}
					return a, nil, nil
				})
			if fmt.Sprint(err) != fmt.Sprint(c.want) || strings.Join(reports, " ") != c.reports {
				t.Errorf("it reported %q and gave %v, want %q and %v", reports, err, c.reports, c.want)
			}
		})
	}
}
