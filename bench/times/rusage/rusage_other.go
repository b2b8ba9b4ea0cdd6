//go:build !unix

package rusage

import "os"

// Peak returns 0: this system does not report it.
func Peak(*os.ProcessState) int64 { return 0 }
