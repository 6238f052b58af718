// Package house has tests only: they hold the rules of the whole repository, such as import directions, names, the
// sizes of hubs and the licences of what is linked in.
package house
