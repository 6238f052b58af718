package workload

import "fmt"

// Getter gives the value of an option of a case, or the option's default.
type Getter func(name string) any

// Get reads the values of a case. Instead of a value that is not known yet it gives one that the
// option might have.
func (k *Kind) Get(v Values) Getter {
	return func(name string) any {
		x, given := v[name]
		if _, deferred := x.(Deferred); given && !deferred {
			return x
		}
		o, _ := k.Option(name)
		if given {
			return o.standIn()
		}
		return o.Default
	}
}

// Read stores options that are texts and counts.
func (get Getter) Read(texts map[string]*string, counts map[string]*int64) error {
	for name, p := range texts {
		s, ok := get(name).(string)
		if !ok {
			return fmt.Errorf("option %s is %T, not a string", name, get(name))
		}
		*p = s
	}
	for name, p := range counts {
		n, ok := get(name).(int64)
		if !ok {
			return fmt.Errorf("option %s is %T, not a count", name, get(name))
		}
		*p = n
	}
	return nil
}
