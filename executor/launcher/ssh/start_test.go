package ssh

import (
	"errors"
	"testing"
)

// Each of several hosts that fail has a line of its own.
func TestFailedHosts(t *testing.T) {
	a, b := errors.New("a: logging in: refused"), errors.New("b: logging in: no route")
	for want, errs := range map[string][]error{
		"starting agents over ssh: a: logging in: refused":                                             {a},
		"starting agents over ssh failed on 2 hosts:\na: logging in: refused\nb: logging in: no route": {a, b},
	} {
		if err := failedHosts(errs); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := failedHosts(nil); err != nil {
		t.Error(err)
	}
}
