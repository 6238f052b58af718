package option

import "slices"

// CountOption returns an option of type Count with its default and bounds.
func CountOption(name string, otherwise, least, most int64) Option {
	return Option{Name: name, Type: Count, Default: otherwise, Min: least, Max: most}
}

// EnumOption returns an option with a list of values; the first is the default.
func EnumOption(name string, values ...string) Option {
	return Option{Name: name, Type: Enum, Default: values[0], Values: values}
}

// OfProcess marks options as fixed for the processes of a launch (Option.Process).
func OfProcess(options ...Option) []Option {
	options = slices.Clone(options)
	for i := range options {
		options[i].Process = true
	}
	return options
}

// NamesOf returns the names of options. Files are left out, since their contents are in option
// Into.
func NamesOf(options []Option) (names []string) {
	for _, o := range options {
		if o.Type != File {
			names = append(names, o.Name)
		}
	}
	return names
}
