package launcher

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/cmd/weir/exit"
)

// Check checks the values of the flags after Choose, whether the launcher uses them or not.
func (f *Flags) Check() error {
	if f.launcher != "" && !slices.Contains(launchers, f.launcher) {
		return exit.Usage("--launcher %s: must be one of %s", f.launcher, strings.Join(launchers, ", "))
	}
	if _, err := f.waiting(); err != nil {
		return err
	}
	if f.listen != "" {
		if err := checkAddress(f.listen); err != nil {
			return exit.Usage("--listen %s: %w", f.listen, err)
		}
	}
	if err := f.tls.Check(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(kubeFlags)) {
		if flag := f.config.flagOf(Kubernetes, name); flag.Changed && f.launcher != Kubernetes {
			return exit.Usage("--%s is for --launcher kubernetes", flag.Name)
		}
	}
	return f.checkHosts()
}

// checkAddress checks HOST:PORT; the host may be empty.
func checkAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return errors.New("must be HOST:PORT, as 10.0.0.1:7000 or :7000")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("the port %q is not a number from 0 to 65535", port)
	}
	return nil
}
