package plugin

import (
	"fmt"
	"os"
)

// openPath returns a path of the open file itself, whatever is at its own by
// now, and true; or the path and false.
func openPath(f *os.File, path string) (string, bool) {
	// The first three are the plugin's standard streams by the time it is
	// executed.
	if f.Fd() < 3 {
		return path, false
	}
	of := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if _, err := os.Stat(of); err != nil {
		return path, false
	}
	return of, true
}
