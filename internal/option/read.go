package option

import "fmt"

// Getter returns the value of an option of a case, or the option's default.
type Getter func(name string) any

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
