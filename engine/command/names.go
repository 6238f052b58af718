package command

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"weir/engine"
	"weir/fabric"
	"weir/workload/command"
)

// value is that of a name of the launch.
func (r *rank) value(name string) (string, error) {
	if port, ok := command.Port(name); ok {
		if n, known := r.numbers[port]; known {
			return strconv.Itoa(n), nil
		}
		return "", errors.New("no rank has found such a port")
	}
	if role, ok := command.Address(name); ok {
		i := slices.IndexFunc(r.spec.Roles, func(o command.Role) bool { return o.Name == role })
		if i < 0 {
			return "", errors.New("there is no such role")
		}
		return r.news.HostOf(i), nil
	}
	if value, ok := r.launch.Names[name]; ok {
		return value, nil
	}
	if service, what, ok := command.OfService(name); ok && r.spec.Serves != nil && service == r.role.Name {
		return r.own(what)
	}
	switch name {
	case command.LaunchID:
		return r.launch.ID, nil
	case command.LaunchScratch:
		return given(engine.LaunchScratch)
	case command.SessionScratch:
		return given(engine.SessionScratch)
	case command.EtcdURL:
		return given(engine.EtcdURL)
	}
	return "", errors.New("it has no value here")
}

// given is what the agent tells its ranks in their environment.
func given(variable string) (string, error) {
	if path := os.Getenv(variable); path != "" {
		return path, nil
	}
	return "", fmt.Errorf("the agent gave no %s", variable)
}

// environment is that of the program: the rank's without what weir's own engine needs, and
// the role's.
func (r *rank) environment() ([]string, error) {
	drop := map[string]bool{
		engine.LaunchScratch: true, engine.SessionScratch: true, engine.EtcdURL: true, engine.EtcdLookup: true,
	}
	for _, pair := range fabric.RankEnv() {
		name, _, _ := strings.Cut(pair, "=")
		drop[name] = true
	}
	values := map[string]string{}
	for _, pair := range os.Environ() {
		if name, value, ok := strings.Cut(pair, "="); ok && !drop[name] {
			values[name] = value
		}
	}
	for _, v := range r.role.Env {
		value, err := r.expand(v.Value)
		if err != nil {
			return nil, err
		}
		values[v.Name] = value
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, name+"="+values[name])
	}
	return all, nil
}

// reserved are sockets that hold ports, by name, and do not listen: nobody else is given
// them, and no readiness check takes them for a server.
type reserved map[string]held

type held struct{ socket, port int }

// reserve finds a free port of TCP for each name.
func reserve(names []string) (reserved, error) {
	r := reserved{}
	for _, name := range names {
		h, err := hold()
		if err != nil {
			r.release()
			return nil, fmt.Errorf("finding a free port for %s: %w", name, err)
		}
		r[name] = h
	}
	return r, nil
}

// hold binds a socket for IPv6 and IPv4, or for IPv4 where the kernel has no other.
func hold() (held, error) {
	h, err := bind(unix.AF_INET6, &unix.SockaddrInet6{})
	if err != nil {
		h, err = bind(unix.AF_INET, &unix.SockaddrInet4{})
	}
	return h, err
}

func bind(family int, anywhere unix.Sockaddr) (held, error) {
	socket, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return held{}, err
	}
	err = unix.Bind(socket, anywhere)
	var at unix.Sockaddr
	if err == nil {
		at, err = unix.Getsockname(socket)
	}
	if err != nil {
		unix.Close(socket)
		return held{}, err
	}
	h := held{socket: socket}
	switch at := at.(type) {
	case *unix.SockaddrInet6:
		h.port = at.Port
	case *unix.SockaddrInet4:
		h.port = at.Port
	}
	return h, nil
}

func (r reserved) numbers() map[string]int {
	all := map[string]int{}
	for name, h := range r {
		all[name] = h.port
	}
	return all
}

func (r reserved) release() {
	for _, h := range r {
		unix.Close(h.socket)
	}
	clear(r)
}
