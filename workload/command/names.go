package command

import (
	"fmt"
	"slices"
	"strings"

	"weir/placeholder"
	"weir/workload"
)

// checkNames refuses a text with a name that no launch has.
func checkNames(text string) error {
	names, err := placeholder.Names(text)
	if err != nil {
		return err
	}
	for _, name := range names {
		_, isPort := Port(name)
		_, isRole := Address(name)
		_, _, isService := OfService(name)
		if !isPort && !isRole && !isService && !workload.OfRuns(name) && !slices.Contains(late, name) {
			return fmt.Errorf("there is no %s", placeholder.Of(name))
		}
	}
	return nil
}

// Port is the NAME of port.NAME.
func Port(name string) (string, bool) {
	port, ok := strings.CutPrefix(name, portPrefix)
	return port, ok && roleName.MatchString(port)
}

// Address is the NAME of role.NAME.address.
func Address(name string) (string, bool) {
	role, ok := strings.CutPrefix(name, rolePrefix)
	role, ends := strings.CutSuffix(role, addressSuffix)
	return role, ok && ends && roleName.MatchString(role)
}

// OfService takes service.NAME.url, .address and .port.PORT apart.
func OfService(name string) (service, what string, ok bool) {
	rest, ok := strings.CutPrefix(name, servicePrefix)
	service, what, _ = strings.Cut(rest, ".")
	port, isPort := Port(what)
	return service, what, ok && roleName.MatchString(service) &&
		(what == "url" || what == "address" || isPort && port != "")
}

// texts are all texts of a role that may have names of a launch.
func (r *Role) texts() []string {
	all := append(slices.Clone(r.Command), r.Ready.Command...)
	for _, v := range r.Env {
		all = append(all, v.Value)
	}
	return append(all, r.Ready.Listens, r.Ready.HTTP, r.Ready.Contains, r.Ready.File, r.Ready.Etcd)
}

// names are those of a launch in the role's texts.
func (r *Role) names() []string {
	var all []string
	for _, text := range r.texts() {
		names, _ := placeholder.Names(text) // which were read with them
		all = append(all, names...)
	}
	return all
}

// Mentions says whether a role has a use for a name.
func (r *Role) Mentions(name string) bool { return slices.Contains(r.names(), name) }

// PortsOf are the names of the ports that a role's rank finds free ones for: those that it
// listens on as far as its readiness tells, and of others those that it is the first to
// mention.
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
