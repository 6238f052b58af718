package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/placeholder"
)

// checkNames rejects a text with an unknown name.
func checkNames(text string) error {
	names, err := placeholder.Names(text)
	if err != nil {
		return err
	}
	for _, name := range names {
		_, isPort := Port(name)
		_, isRole := Address(name)
		_, _, isService := OfService(name)
		if !isPort && !isRole && !isService && !option.OfRuns(name) && !slices.Contains(late, name) {
			return fmt.Errorf("there is no %s", placeholder.Of(name))
		}
	}
	return nil
}

// Port returns NAME of port.NAME.
func Port(name string) (string, bool) {
	port, ok := strings.CutPrefix(name, portPrefix)
	return port, ok && roleName().MatchString(port)
}

// Address returns NAME of role.NAME.address.
func Address(name string) (string, bool) {
	role, ok := strings.CutPrefix(name, rolePrefix)
	role, ends := strings.CutSuffix(role, addressSuffix)
	return role, ok && ends && roleName().MatchString(role)
}

// OfService splits service.NAME.url, .address and .port.PORT.
func OfService(name string) (service, what string, ok bool) {
	rest, ok := strings.CutPrefix(name, servicePrefix)
	service, what, _ = strings.Cut(rest, ".")
	port, isPort := Port(what)
	return service, what, ok && roleName().MatchString(service) &&
		(what == "url" || what == "address" || isPort && port != "")
}

// texts returns all texts of a program that may contain names of a launch.
func (p *Program) texts() []string {
	all := append(slices.Clone(p.Command), p.Ready.Command...)
	for _, v := range p.Env {
		all = append(all, v.Value)
	}
	return append(all, p.Ready.Listens, p.Ready.HTTP, p.Ready.Contains, p.Ready.File, p.Ready.Etcd)
}

// names returns the names of a launch in its texts.
func (p *Program) names() []string {
	var all []string
	for _, text := range p.texts() {
		names, _ := placeholder.Names(text) // they have been validated
		all = append(all, names...)
	}
	return all
}

// Mentions reports whether a text of the program contains a name.
func (p *Program) Mentions(name string) bool { return slices.Contains(p.names(), name) }

// PortsOf returns the names of the ports that a role's rank allocates: those that its readiness says it listens on, and
// ports that no earlier role mentions.
func (s *Spec) PortsOf(rank int) []string {
	owner := map[string]int{}
	claim := func(rank int, names []string) {
		for _, name := range names {
			port, ok := Port(name)
			if _, taken := owner[port]; ok && !taken {
				owner[port] = rank
			}
		}
	}
	for i, r := range s.Roles {
		names, _ := placeholder.Names(r.Ready.Listens)
		claim(i, names)
	}
	for i := range s.Roles {
		claim(i, s.Roles[i].names())
	}
	if s.Serves != nil {
		names, _ := placeholder.Names(s.Serves.URL)
		claim(0, names)
	}
	var own []string
	for port, of := range owner {
		if of == rank {
			own = append(own, port)
		}
	}
	slices.Sort(own)
	return own
}
