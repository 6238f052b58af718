package workload

import "slices"

// CountOption is an option that counts, with its default, least and most.
func CountOption(name string, otherwise, least, most int64) Option {
	return Option{Name: name, Type: Count, Default: otherwise, Min: least, Max: most}
}

// EnumOption is an option that has one of some values, by default the first.
func EnumOption(name string, values ...string) Option {
	return Option{Name: name, Type: Enum, Default: values[0], Values: values}
}

// OfProcess are options that hold for the processes of a launch (Option.Process).
func OfProcess(options ...Option) []Option {
	options = slices.Clone(options)
	for i := range options {
		options[i].Process = true
	}
	return options
}

// NamesOf are the names of options. Files have none: what they hold stands in the option Into.
func NamesOf(options []Option) (names []string) {
	for _, o := range options {
		if o.Type != File {
			names = append(names, o.Name)
		}
	}
	return names
}
