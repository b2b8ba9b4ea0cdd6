//go:build !unix

package rusage

import "os"

// Peak returns 0: this system does not tell the peak of a process that has ended.
func Peak(*os.ProcessState) int64 { return 0 }
