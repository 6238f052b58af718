package command

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/workload/command"
)

// value returns the value of a name of the launch.
func (r *rank) value(name string) (string, error) {
	if port, ok := command.Port(name); ok {
		if n, known := r.numbers[port]; known {
			return strconv.Itoa(n), nil
		}
		return "", errors.New("no rank has such a port")
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

// given returns a variable that the agent sets in the environment of its ranks.
func given(variable string) (string, error) {
	if path := os.Getenv(variable); path != "" {
		return path, nil
	}
	return "", fmt.Errorf("the agent gave no %s", variable)
}

// environment returns the program's environment: the rank's without the variables of weir's engine, and the role's.
func (r *rank) environment() ([]string, error) {
	drop := map[string]bool{
		engine.LaunchScratch: true, engine.SessionScratch: true, engine.EtcdURL: true,
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

// reserved are sockets that hold ports, by name, without listening: no other process gets these ports, and no readiness
// check takes the sockets for a server.
type reserved map[string]held

type held struct{ socket, port int }

// reserve allocates a free TCP port for each name.
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

// hold binds a socket for IPv6 and IPv4, or for IPv4 if the kernel has no IPv6.
func hold() (held, error) {
	h, err := bind(unix.AF_INET6, &unix.SockaddrInet6{})
	if err != nil {
		h, err = bind(unix.AF_INET, &unix.SockaddrInet4{})
	}
	return h, err
}

func bind(family int, anywhere unix.Sockaddr) (held, error) {
	syscall.ForkLock.RLock() // until children cannot inherit it
	socket, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(socket)
	}
	syscall.ForkLock.RUnlock()
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
